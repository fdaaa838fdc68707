//! Prepared powers: every section against the powers of tau, by sums over domains. `.ci/snarkjs.sh` compares the bytes with what
//! snarkjs prepares.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proofmill_circom::{PointCheck, Points, Ptau};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, Jacobian,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_srs::{Srs, write_insecure_prepared};

const POWER: u32 = 3;

fn decode<C: Curve<Base: proofmill_circom::Coordinate>>(points: Points<'_, C>) -> Vec<Affine<C>> {
    points.decode(Level::best(), PointCheck::InSubgroup).unwrap()
}

/// The sum over a domain of the Lagrange points, each times the power `exponent` of its root: tau^exponent.
fn interpolated<C: Curve<Scalar = Fr>>(domain: &[Affine<C>], exponent: u64) -> Affine<C> {
    let root = Fr::root_of_unity(domain.len().ilog2()).unwrap().pow_vartime(&[exponent]);
    let mut power = Fr::ONE;
    let mut sum = Jacobian::from(Affine::INFINITY);
    for point in domain {
        sum = sum.add(&point.mul_vartime(&power));
        power *= root;
    }
    sum.to_affine()
}

#[test]
fn lagrange_points_interpolate_the_powers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ptau");
    write_insecure_prepared(Level::best(), &path, POWER).unwrap();
    Srs::open(&path).unwrap().check(Level::best()).unwrap();
    let ptau = Ptau::open(&path).unwrap();
    assert!(ptau.is_prepared() && ptau.insecurity().is_some());
    let tau = decode(ptau.tau_g1().unwrap());
    let tau_2 = decode(ptau.tau_g2().unwrap());
    let [alpha, beta] = [ptau.alpha_tau_g1(), ptau.beta_tau_g1()].map(|points| decode(points.unwrap()));
    assert_eq!([tau.len(), tau_2.len(), alpha.len(), beta.len()], [15, 8, 8, 8]);
    let pairing = |a: Affine<G1>, b: Affine<G2>| proofmill_pairing::pairing(Level::best(), &a, &b);
    assert_eq!(pairing(beta[0], G2::GENERATOR), pairing(G1::GENERATOR, ptau.beta_g2().unwrap()));
    for i in 0..8 {
        for points in [&tau, &alpha, &beta] {
            assert_eq!(pairing(points[i], G2::GENERATOR), pairing(points[0], tau_2[i]));
        }
    }
    for log_n in 0..=POWER {
        let domain = decode(ptau.lagrange_tau_g1(log_n).unwrap());
        let domain_2 = decode(ptau.lagrange_tau_g2(log_n).unwrap());
        let domain_alpha = decode(ptau.lagrange_alpha_tau_g1(log_n).unwrap());
        let domain_beta = decode(ptau.lagrange_beta_tau_g1(log_n).unwrap());
        for i in 0..1u64 << log_n {
            let at = i as usize;
            assert_eq!(interpolated(&domain, i), tau[at], "{log_n} {i}");
            assert_eq!(interpolated(&domain_2, i), tau_2[at]);
            assert_eq!(interpolated(&domain_alpha, i), alpha[at]);
            assert_eq!(interpolated(&domain_beta, i), beta[at]);
        }
    }
    let largest = decode(ptau.lagrange_tau_g1(POWER + 1).unwrap());
    for i in 0..15 {
        assert_eq!(interpolated(&largest, i), tau[i as usize]);
    }
    assert!(interpolated(&largest, 15).is_infinity(), "the highest power counts as zero");
}
