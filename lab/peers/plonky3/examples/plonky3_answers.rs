//! Writes known answers of Plonky3's Poseidon2 for Proofmill's tests, for edge cases and random elements:
//! `cargo run --release --example plonky3_answers > ../../../crates/hash/tests/data/plonky3-poseidon2.json`.

#![forbid(unsafe_code)]

use p3_field::PrimeField64;
use p3_goldilocks::{Goldilocks, default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12};
use p3_symmetric::{
    CryptographicHasher, CryptographicPermutation, PaddingFreeSponge, PseudoCompressionFunction,
    TruncatedPermutation,
};
use rand_chacha::{
    ChaCha20Rng,
    rand_core::{RngCore, SeedableRng},
};

/// The modulus.
const P: u64 = 0xffff_ffff_0000_0001;

/// Values around which carries and borrows change.
const EDGES: [u64; 8] = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, P - (1 << 32), P - 1];

/// Lengths of rows: below, at and above the rates of both widths.
const LENGTHS: [usize; 12] = [0, 1, 3, 4, 5, 7, 8, 9, 12, 16, 17, 40];

/// Random elements; if `edges`, every other one is an edge case.
fn elements(len: usize, edges: bool, rng: &mut impl RngCore) -> Vec<Goldilocks> {
    let mut element = |i| {
        let edge = EDGES[rng.next_u64() as usize % EDGES.len()];
        Goldilocks::new(if edges && i % 2 == 0 { edge } else { rng.next_u64() % P })
    };
    (0..len).map(&mut element).collect()
}

fn hex(elements: &[Goldilocks]) -> String {
    let words: Vec<String> =
        elements.iter().map(|element| format!("\"{:x}\"", element.as_canonical_u64())).collect();
    format!("[{}]", words.join(","))
}

fn list(cases: impl Iterator<Item = (Vec<Goldilocks>, Vec<Goldilocks>)>) -> String {
    let cases: Vec<String> = cases
        .map(|(input, output)| format!("  {{\"in\":{},\"out\":{}}}", hex(&input), hex(&output)))
        .collect();
    format!("[\n{}\n]", cases.join(",\n"))
}

fn answers<const WIDTH: usize, const RATE: usize>(
    permutation: impl CryptographicPermutation<[Goldilocks; WIDTH]>,
) -> String {
    let rng = &mut ChaCha20Rng::seed_from_u64(WIDTH as u64);
    let mut states: Vec<Vec<Goldilocks>> =
        EDGES.iter().map(|edge| vec![Goldilocks::new(*edge); WIDTH]).collect();
    states.push((0..WIDTH as u64).map(Goldilocks::new).collect());
    states.extend((0..24).map(|i| elements(WIDTH, i % 2 == 0, rng)));
    let permuted = states.into_iter().map(|input| {
        let state: [Goldilocks; WIDTH] = input.as_slice().try_into().expect("a state");
        (input, permutation.permute(state).to_vec())
    });
    let permuted = list(permuted);
    let sponge = PaddingFreeSponge::<_, WIDTH, RATE, 4>::new(permutation.clone());
    let rows =
        LENGTHS.iter().flat_map(|length| [(*length, false), (*length, true)]).map(|(length, edges)| {
            let row = elements(length, edges, rng);
            let digest = sponge.hash_iter(row.iter().copied());
            (row, digest.to_vec())
        });
    let rows = list(rows);
    let compression = TruncatedPermutation::<_, 2, 4, WIDTH>::new(permutation);
    let nodes = (0..8).map(|i| {
        let children = elements(8, i % 2 == 0, rng);
        let [left, right] = [0, 4].map(|start| children[start..][..4].try_into().expect("a digest"));
        (children, compression.compress([left, right]).to_vec())
    });
    format!("{{\"permutation\":{permuted},\n\"rows\":{rows},\n\"nodes\":{}}}", list(nodes))
}

fn main() {
    let narrow = answers::<8, 4>(default_goldilocks_poseidon2_8());
    let wide = answers::<12, 8>(default_goldilocks_poseidon2_12());
    println!("{{\"width_8\":{narrow},\n\"width_12\":{wide}}}");
}
