//! The verifier's challenges.

use proofmill_field::bn254::Fr;

/// All challenges of a proof; those not drawn yet are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Challenges {
    pub(crate) eta: Fr,
    pub(crate) beta: Fr,
    pub(crate) gamma: Fr,
    pub(crate) delta: Fr,
    pub(crate) epsilon: Fr,
    pub(crate) alpha: Fr,
    pub(crate) xi: Fr,
    pub(crate) v: Fr,
    pub(crate) u: Fr,
}
