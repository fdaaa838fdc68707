//! PLONK (Gabizon, Williamson, Ciobotaru, eprint 2019/953) over BN254, compatible with snarkjs 0.7.6: the same
//! keys byte for byte, proofs that its verifiers accept, its proofs verified.
//!
//! * [`setup`] turns R1CS constraints and powers of tau into a proving key; [`Circuit`] is the decomposition.
//! * [`prove`] and [`verify`] are the protocol; [`ProvingKey`] is a mapped file, [`VerifyingKey`] and
//!   [`Proof`] are values.
//! * [`Arithmetisation`] is what a row must satisfy; the rounds are written against it.
#![forbid(unsafe_code)]

mod arithmetisation;
mod challenges;
mod compile;
mod error;
mod key;
mod linearisation;
mod permutation;
mod polynomial;
mod proof;
mod prove;
mod setup;
mod verify;

pub use arithmetisation::{Arithmetisation, SELECTORS, Standard, WIRES};
pub use compile::{Circuit, Row};
pub use error::{MalformedError, PlonkError};
pub use key::ProvingKey;
pub use proof::{Evaluations, Proof, VerifyingKey};
pub use prove::{ProveOptions, prove, prove_with_rng};
pub use setup::setup;
pub use verify::verify;
