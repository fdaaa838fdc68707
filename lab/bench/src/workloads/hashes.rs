//! Hashes over BN254's scalar field that are also used in circuits: Pedersen and Poseidon of two elements.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::elements,
};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_hash::{
    PoseidonBn254,
    pedersen::{pedersen, pedersen_many},
    poseidon_bn254::poseidon,
};

pub(crate) fn table() -> Vec<KernelEntry> {
    vec![
        chain("pedersen-chain", pedersen),
        chain("poseidon-chain", |left, right| poseidon(&[left, right])),
        many("pedersen", pedersen_many),
        many("poseidon", |level, pairs| PoseidonBn254::of_width(3).hash_many(level, pairs.as_flattened())),
    ]
}

/// A chain of `size` hashes, each of the previous hash and an element; the same at every level.
fn chain(name: &str, hash: fn(Fr, Fr) -> Fr) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| Ok(elements(rng, size)),
        |_, _| Ok(Fr::ZERO),
        move |elements: &Vec<Fr>, last, _, _| {
            *last = elements.iter().fold(Fr::ZERO, |last, element| hash(last, *element));
            Ok(())
        },
        encoded,
    )
    .entry(format!("bn254_hashes/{name}"), KernelLevels::Portable)
}

/// A hash function for many pairs.
type Hash = fn(Level, &[[Fr; 2]]) -> Vec<Fr>;

/// Hashes of `size` pairs.
fn many(name: &str, hash: Hash) -> KernelEntry {
    KernelFunctions::new(
        |rng, size| {
            let elements = elements(rng, 2 * size);
            Ok(elements.as_chunks().0.to_vec())
        },
        |_, _| Ok(Vec::new()),
        move |pairs: &Vec<[Fr; 2]>, hashes, level, _| {
            *hashes = hash(level, pairs);
            Ok(())
        },
        |hashes: &Vec<Fr>| encoded(&hashes[..]),
    )
    .entry(format!("bn254_hashes/{name}"), KernelLevels::PrimeFields)
}
