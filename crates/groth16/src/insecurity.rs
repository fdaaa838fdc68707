//! Keys for which anyone can forge proofs, as far as their points show it.
//!
//! The equation is `e(A, B) = e(alpha, beta) e(I, gamma) e(C, delta)` with the sum I of the public signals' points. Each key that is
//! found here has a solution that needs no witness:
//!
//! * delta = gamma: A = alpha, B = beta, C = -I. This is snarkjs's key before the first contribution, where both are the generator.
//! * delta = -gamma: the same with C = I.
//! * alpha is infinity: A = C = I, B = gamma + delta.
//! * alpha and beta are 1, as in powers of tau without contributions, whose tau is 1 too: then everyone knows the logarithm l of I,
//!   and A = C = 1, B = 1 + l + delta (numbers times the generators).
//! * The constant's point is infinity: for signals that are all zero I vanishes, and A = alpha, B = beta + delta, C = alpha.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::VerifyingKey;
use proofmill_circom::CircomCurve;
use proofmill_curve::{Affine, Curve};

/// Why anyone can forge proofs for a key, as far as its points show it: `None` does not mean that nobody can.
pub fn insecurity<C: CircomCurve>(key: &VerifyingKey<C>) -> Option<&'static str> {
    let VerifyingKey { alpha_1, beta_2, gamma_2, delta_2, ic } = key;
    if is_known(alpha_1) || is_known(beta_2) {
        return Some("alpha and beta are known: nobody contributed to its powers of tau");
    }
    if [*gamma_2, -*gamma_2].contains(delta_2) {
        return Some("delta equals gamma: nobody contributed to the key");
    }
    let constant_vanishes = ic.first().is_some_and(Affine::is_infinity);
    constant_vanishes.then_some("the point of the constant is infinity")
}

/// Whether the point is infinity, the generator or its negative.
fn is_known<C: Curve>(point: &Affine<C>) -> bool {
    [C::GENERATOR, -C::GENERATOR, Affine::INFINITY].contains(point)
}
