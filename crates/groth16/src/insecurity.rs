//! Keys for which anyone can forge proofs, as far as they show it.
//!
//! The equation is `e(A, B) = e(alpha, beta) e(I, gamma) e(C, delta)` with the sum I of the public signals' points. Each key that is
//! found here by its points has a solution that needs no witness:
//!
//! * delta = gamma: A = alpha, B = beta, C = -I. This is snarkjs's key before the first contribution, where both are the generator.
//! * gamma = k delta for a known k: the same with C = -k I; delta = k gamma: C = -I / k. Small k of either sign are tried.
//! * beta = k gamma: A = C = k alpha + I, B = gamma + delta; beta = k delta: A = I, B = gamma, C = -k alpha; likewise for 1 / k.
//! * gamma is infinity: A = alpha, B = beta + delta, C = alpha, for all signals. With delta at infinity, C does not matter.
//! * alpha is infinity: A = C = I, B = gamma + delta.
//! * alpha and beta are 1, as in powers of tau without contributions, whose tau is 1 too: then everyone knows the logarithm l of I,
//!   and A = C = 1, B = 1 + l + delta (numbers times the generators).
//! * The constant's point is infinity: for signals that are all zero I vanishes, and A = alpha, B = beta + delta, C = alpha.
//!
//! A proving key also has a list of contributions: if all are beacons, delta is the product of what everyone can compute.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Groth16Curve, VerifyingKey};
use proofmill_circom::{CircomCurve, Contributors, Groth16Zkey};
use proofmill_curve::{Affine, Curve, Jacobian};

/// The largest factor between two points that is searched for. Any known factor would do for a forger.
const LARGEST_FACTOR: usize = 32;

/// Why anyone can forge proofs for a key, as far as its points show it: `None` does not mean that nobody can.
pub fn insecurity<C: CircomCurve>(key: &VerifyingKey<C>) -> Option<&'static str> {
    let VerifyingKey { alpha_1, beta_2, gamma_2, delta_2, ic } = key;
    if is_known(alpha_1) || is_known(beta_2) {
        return Some("alpha and beta are known: nobody contributed to its powers of tau");
    }
    if gamma_2.is_infinity() || delta_2.is_infinity() {
        return Some("gamma or delta is infinity");
    }
    if [*gamma_2, -*gamma_2].contains(delta_2) {
        return Some("delta equals gamma: nobody contributed to the key");
    }
    if are_small_multiples(gamma_2, delta_2) {
        return Some("one of delta and gamma is a small multiple of the other");
    }
    if are_small_multiples(beta_2, gamma_2) || are_small_multiples(beta_2, delta_2) {
        return Some("beta is a small multiple of gamma or delta, or they are of it");
    }
    let constant_vanishes = ic.first().is_some_and(Affine::is_infinity);
    constant_vanishes.then_some("the point of the constant is infinity")
}

/// Why anyone can forge proofs for a proving key, as far as its list of contributions shows it. A list that cannot be read shows nothing.
pub fn insecurity_of_contributions<C: Groth16Curve>(key: &Groth16Zkey<C>) -> Option<&'static str> {
    let only_beacons = matches!(key.contributors(), Ok(Some(Contributors::OnlyBeacons)));
    only_beacons.then_some("only beacons contributed to the key, and their secrets are public")
}

/// Whether one point is the other one times a number of at most 32, of either sign.
pub fn are_small_multiples<C: Curve>(a: &Affine<C>, b: &Affine<C>) -> bool {
    let multiples = |point: Affine<C>| {
        let next = move |sum: &Jacobian<C>| Some(sum.add_affine(&point));
        std::iter::successors(Some(Jacobian::from(point)), next).take(LARGEST_FACTOR)
    };
    // b = a / k is a = k b, which needs no division: multiples of both points are tried.
    let multiples: Vec<_> = multiples(*a).chain(multiples(*b)).collect();
    let multiples = Jacobian::batch_to_affine(&multiples);
    let (of_a, of_b) = multiples.split_at(LARGEST_FACTOR);
    let is_among = |point: &Affine<C>, multiples: &[Affine<C>]| {
        multiples.iter().any(|multiple| [*point, -*point].contains(multiple))
    };
    is_among(b, of_a) || is_among(a, of_b)
}

/// Whether the point is infinity, the generator or its negative.
fn is_known<C: Curve>(point: &Affine<C>) -> bool {
    [C::GENERATOR, -C::GENERATOR, Affine::INFINITY].contains(point)
}
