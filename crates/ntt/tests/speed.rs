//! Smoke test that transforms are fast in lanes.

use proofmill_field::{bn254::Fr, goldilocks::Goldilocks};
use proofmill_ntt::{
    Domain,
    goldilocks::{GoldilocksDomain, Order},
};
use proofmill_testing::{assert_levels_win, rng};

/// Measured on a Zen 5: 5.4.
#[test]
fn ntt_2_14() {
    let domain = Domain::new(14).unwrap();
    let mut rng = rng(1);
    let values: Vec<Fr> = (0..domain.len()).map(|_| Fr::random(&mut rng)).collect();
    assert_levels_win(&[("avx512ifma", 2.0)], |level| domain.ntt(level, &mut values.clone()));
}

/// Measured on a Zen 5, unchecked: 2.3, 5.3 and 7.5; the standard library's checks slow the lanes in tests.
#[test]
fn goldilocks_ntt_2_14() {
    let domain = GoldilocksDomain::new(14).unwrap();
    let mut rng = rng(1);
    let values: Vec<_> = (0..domain.len()).map(|_| Goldilocks::random(&mut rng)).collect();
    assert_levels_win(&[("avx2", 1.1), ("avx512", 1.5), ("avx512ifma", 2.0)], |level| {
        domain.ntt(level, &mut values.clone(), Order::BitReversed);
    });
}
