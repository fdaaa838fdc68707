//! The transcript over BN254.

use proofmill_cpu::Level;
use proofmill_field::{
    bn254::Fr,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_hash::Digest;
use proofmill_stark::{Challenger, PoseidonBn254Challenger};
use proofmill_testing::{for_each_level, for_each_pool};

/// Draws computed with circomlibjs 0.1.7, `buildPoseidonReference()(rate, capacity, 3)` as the permutation, and Node's integers.
#[test]
fn draws_are_those_of_a_sponge_over_circomlibs_permutation() {
    let mut challenger = PoseidonBn254Challenger::default();
    (1..=7).for_each(|word| challenger.observe(Goldilocks::new(word)));
    let digest: Fr = "12345678901234567890123456789".parse().unwrap();
    challenger.observe_digest(&Digest(digest.to_canonical()));
    challenger.observe(Goldilocks::new(MODULUS - 1));
    let drawn = [(); 6].map(|()| challenger.sample().to_canonical());
    assert_eq!(
        drawn,
        [
            11424213848954518653,
            6166200980552293883,
            1105855001174166997,
            12210028661052031367,
            1006093256455274035,
            6282031781314878637
        ]
    );
    assert_eq!(challenger.sample_bits(10), 274);
    challenger.observe(Goldilocks::new(9));
    assert_eq!(challenger.sample().to_canonical(), 18153043092473741780);
    [7, 8, 9].iter().for_each(|digest| challenger.observe_digest(&Digest([*digest, 0, 0, 0])));
    assert_eq!(challenger.sample().to_canonical(), 18183456980534193951);
}

/// Before and after the middle of a block, the first witness is found that passes, and both sides go on alike.
#[test]
fn a_proof_of_work_is_the_least() {
    const BITS: u32 = 9;
    for observed in 0..7 {
        let mut before = PoseidonBn254Challenger::default();
        (0..observed).for_each(|word| before.observe(Goldilocks::new(word)));
        let passes = |witness: u64| before.clone().check_work(BITS, Goldilocks::new(witness));
        let least = (0..).find(|witness| passes(*witness)).unwrap();
        for_each_level(|level| {
            for_each_pool(&[1, 2, 5], |threads| {
                let (mut prover, mut verifier) = (before.clone(), before.clone());
                let witness = prover.work(level, BITS);
                assert_eq!(witness.to_canonical(), least, "{observed} words, {level}, {threads} threads");
                assert!(verifier.check_work(BITS, witness));
                assert_eq!(prover.sample(), verifier.sample());
            });
        });
        let mut unchanged = before.clone();
        assert_eq!(unchanged.work(Level::best(), 0).to_canonical(), 0);
        assert!(unchanged.check_work(0, Goldilocks::new(1)));
        assert_eq!(unchanged.sample(), before.sample());
    }
}
