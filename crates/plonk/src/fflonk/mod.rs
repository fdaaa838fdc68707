//! fflonk (Gabizon, Williamson, eprint 2021/1167) over BN254, compatible with `snarkjs fflonk` 0.7.6.
//!
//! The constraints are those of PLONK in the standard arithmetisation: the same rows, permutation and checks.
//! Commitments and openings differ. Polynomials `f_j` are combined to `C(X) = sum of X^j f_j(X^m)`, so that one
//! commitment holds m of them: C0 the selectors and the permutation (m = 8), C1 the wires and the quotient of
//! the gates (m = 4), C2 the grand product and the quotients of the permutation (m = 3). The values of all
//! `f_j` at xi give the value of C at the m-th roots of xi. Two points, W1 and W2, open all three commitments, and a
//! verifier multiplies five points instead of PLONK's 18. The prover's commitments are of size 8n and 9n.
//!
//! `challenges.rs` documents the transcript, `equation.rs` the verifier's equation.

mod challenges;
mod equation;
mod key;
mod prove;
mod setup;
pub mod solidity;
mod verify;

pub use key::ProvingKey;
pub use proofmill_circom::{FflonkProof as Proof, FflonkVerificationKey as VerifyingKey};
pub use prove::{prove, prove_with_commitments, prove_with_rng};
pub use setup::{power, setup};
pub use verify::verify;

use std::ops::RangeInclusive;

/// Why anyone may forge proofs for this key, as far as the key shows it: `None` does not mean that tau is unknown.
pub fn insecurity(key: &VerifyingKey) -> Option<&'static str> {
    crate::proof::insecurity(key.insecure_setup, &key.x_2)
}

/// Logarithms of the sizes of supported domains: at least snarkjs's smallest; 9n + 18 powers of tau must fit in the
/// largest `.ptau` file, which has 2^29 - 1.
const LOG_N: RangeInclusive<u32> = 3..=25;

/// Rows at the end of the domain where the wires have random values, two per wire.
const FREE_ROWS: usize = 2;

/// Powers of tau for a domain of n points: C2, the largest combination, has 9n coefficients (snarkjs keeps 18 more).
const fn powers(n: usize) -> usize {
    9 * n + 18
}
