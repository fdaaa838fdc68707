//! Smoke tests that multi-scalar multiplication, fixed-base multiplication and hashing are fast in lanes.

use proofmill_curve::{Affine, Curve, FixedBase, Jacobian, bn254::G1, hash_to_curve::hash_to_g2, msm};
use proofmill_field::bn254::Fr;
use proofmill_testing::{assert_levels_win, rng};

/// Measured on a Zen 5: 2.1 in this profile, which does not optimise across crates, 3.2 when built for release.
#[test]
fn msm_2_12() {
    let mut rng = rng(1);
    let scalars: Vec<Fr> = (0..1 << 12).map(|_| Fr::random(&mut rng)).collect();
    let mut next = Jacobian::from(G1::GENERATOR);
    let multiples = std::iter::repeat_with(|| {
        next = next.double().add_affine(&G1::GENERATOR);
        next
    });
    let multiples: Vec<Jacobian<G1>> = multiples.take(scalars.len()).collect();
    let bases: Vec<Affine<G1>> = Jacobian::batch_to_affine(&multiples);
    assert_levels_win(&[("avx512ifma", 1.5)], |level| {
        let _ = msm(level, &bases, &scalars);
    });
}

#[test]
fn fixed_base_2_12() {
    let mut rng = rng(1);
    let scalars: Vec<Fr> = (0..1 << 12).map(|_| Fr::random(&mut rng)).collect();
    assert_levels_win(&[("avx512ifma", 1.5)], |level| {
        let mut points = vec![Affine::INFINITY; scalars.len()];
        FixedBase::new(level, &G1::GENERATOR, scalars.len()).multiply(&scalars, &mut points);
    });
}

/// Measured on a Zen 5: 5.0 when built for release.
#[test]
fn hash_to_g2_of_16() {
    let messages = [[7; 32]; 16];
    let messages = messages.each_ref().map(|message| &message[..]);
    assert_levels_win(&[("avx512ifma", 1.5)], |level| drop(hash_to_g2(level, &messages, b"a tag")));
}
