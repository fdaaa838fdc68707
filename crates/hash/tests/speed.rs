//! Smoke test that permutations are fast in lanes.

use proofmill_field::bn254::Fr;
use proofmill_hash::{
    Digest, Keccak, Poseidon, Poseidon2, PoseidonBn254, Sponge, TreeHash, pedersen::pedersen_many,
};
use proofmill_testing::{assert_levels_win, rng};
use rand::RngCore;

/// Half of the speedups on a Zen 5 with the slowest permutation.
const FACTORS: [(&str, f64); 3] = [("avx2", 1.1), ("avx512", 2.1), ("avx512ifma", 2.7)];

/// Rows of one permutation each.
fn wins(hash: &dyn TreeHash) {
    let mut rng = rng(1);
    let rows: Vec<u64> = (0..8 * 512).map(|_| rng.next_u64() >> 1).collect();
    assert_levels_win(&FACTORS, |level| {
        let mut digests = vec![Digest::default(); 512];
        hash.hash_rows(level, &rows, 8, &mut digests);
        std::hint::black_box(&digests);
    });
}

#[test]
fn poseidon() {
    wins(&Sponge(Poseidon));
}

#[test]
fn poseidon2_of_width_8() {
    wins(&Sponge(Poseidon2::<8>));
}

#[test]
fn poseidon2_of_width_12() {
    wins(&Sponge(Poseidon2::<12>));
}

/// Rows of one permutation each.
#[test]
fn keccak() {
    let mut rng = rng(1);
    let rows: Vec<u64> = (0..17 * 512).map(|_| rng.next_u64()).collect();
    assert_levels_win(&[("avx2", 1.1), ("avx512", 2.0)], |level| {
        let mut digests = vec![Digest::default(); 512];
        Keccak.hash_rows(level, &rows, 17, &mut digests);
        std::hint::black_box(&digests);
    });
}

/// Measured on a Zen 5: 7 for Poseidon and 3 for Pedersen when built for release.
#[test]
fn over_bn254() {
    let mut rng = rng(1);
    let inputs: Vec<Fr> = (0..1 << 12).map(|_| Fr::random(&mut rng)).collect();
    assert_levels_win(&[("avx2", 1.2), ("avx512ifma", 2.5)], |level| {
        std::hint::black_box(PoseidonBn254::of_width(3).hash_many(level, &inputs));
    });
    assert_levels_win(&[("avx512ifma", 1.5)], |level| {
        std::hint::black_box(pedersen_many(level, inputs.as_chunks().0));
    });
}
