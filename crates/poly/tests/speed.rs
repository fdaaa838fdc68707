//! The transform is fast in lanes: a smoke test.

use proofmill_field::bn254::Fr;
use proofmill_poly::Domain;
use proofmill_testing::{assert_levels_win, rng};

/// Measured on a Zen 5: 5.4.
#[test]
fn ntt_2_14() {
    let domain = Domain::new(14).unwrap();
    let mut rng = rng(1);
    let values: Vec<Fr> = (0..domain.len()).map(|_| Fr::random(&mut rng)).collect();
    assert_levels_win(&[("avx512ifma", 2.5)], |level| domain.ntt(level, &mut values.clone()));
}
