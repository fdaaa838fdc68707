//! Writes known answers of plonky2's Poseidon for Proofmill's tests, for edge cases and random elements:
//! `cargo run --release --example plonky2_answers > ../../../crates/hash/tests/data/plonky2-poseidon.json`.

#![forbid(unsafe_code)]

use plonky2::{
    hash::{
        hash_types::HashOut,
        poseidon::{Poseidon, PoseidonHash},
    },
    plonk::config::Hasher,
};
use plonky2_field::{
    goldilocks_field::GoldilocksField,
    types::{Field, PrimeField64},
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};

/// The modulus.
const P: u64 = 0xffff_ffff_0000_0001;

/// Values around which carries and borrows change.
const EDGES: [u64; 8] = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, P - (1 << 32), P - 1];

fn hex(elements: &[GoldilocksField]) -> String {
    let words: Vec<String> =
        elements.iter().map(|element| format!("\"{:x}\"", element.to_canonical_u64())).collect();
    format!("[{}]", words.join(","))
}

/// Inputs of `len` elements, each with the output of `answer`.
fn cases(len: usize, count: usize, answer: impl Fn(&[GoldilocksField]) -> Vec<GoldilocksField>) -> String {
    let rng = &mut ChaCha20Rng::seed_from_u64(len as u64);
    let mut case = |number: usize| {
        let mut element = |i: usize| {
            let edge = EDGES[if number < 8 { number } else { rng.next_u64() as usize % 8 }];
            let random = rng.next_u64() % P;
            let is_edge = number < 8 || (number < 16 && i.is_multiple_of(2));
            GoldilocksField::from_canonical_u64(if is_edge { edge } else { random })
        };
        let input: Vec<_> = (0..len).map(&mut element).collect();
        format!("  {{\"in\":{},\"out\":{}}}", hex(&input), hex(&answer(&input)))
    };
    let cases: Vec<String> = (0..count).map(&mut case).collect();
    format!("[\n{}\n]", cases.join(",\n"))
}

fn main() {
    let permutations =
        cases(12, 40, |input| GoldilocksField::poseidon(input.try_into().expect("a state")).to_vec());
    let nodes = cases(8, 40, |input| {
        let [left, right] = [0, 4].map(|start| HashOut::from_partial(&input[start..start + 4]));
        PoseidonHash::two_to_one(left, right).elements.to_vec()
    });
    println!("{{\"permutation\":{permutations},\n\"nodes\":{nodes}}}");
}
