//! What can go wrong.

use proofmill_circom::CircomError;

/// Why there is no proof, or why a proof is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Groth16Error {
    /// A file is not what it should be.
    #[error(transparent)]
    File(#[from] CircomError),
    /// The witness is of another circuit.
    #[error("the witness has {found} values, the circuit of the proving key has {expected} wires")]
    WitnessLength {
        /// Wires of the key.
        expected: u32,
        /// Values of the witness.
        found: usize,
    },
    /// The witness does not satisfy the circuit: its proof would not verify.
    #[error(
        "the witness does not satisfy the circuit; give its .r1cs to learn the first constraint that fails"
    )]
    Unsatisfied,
    /// As many public signals as the key wants were not given.
    #[error("expected {expected} public signals, found {found}")]
    PublicLength {
        /// Of the verification key.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// The proof is well formed and wrong.
    #[error("the proof is not valid for these public signals and this verification key")]
    Rejected,
    /// The powers of tau lack the Lagrange polynomials that a set-up starts from.
    #[error("the powers of tau are not prepared for phase 2: run snarkjs powersoftau prepare phase2")]
    Unprepared,
    /// The reference string is too short.
    #[error(
        "the circuit's {rows} constraints and public signals need powers of tau of 2^{needed}, found 2^{found}"
    )]
    TooFewPowers {
        /// Constraints, public signals and the constant.
        rows: u64,
        /// Logarithm of the domain's size.
        needed: u32,
        /// Logarithm of what there is.
        found: u32,
    },
    /// The file has no room for the count.
    #[error("the circuit has {found} coefficients in A and B, a proving key holds less than 2^32")]
    TooManyCoefficients {
        /// Those of the circuit, and one for each public signal.
        found: u64,
    },
    /// A point that must not be there.
    #[error("{0}")]
    Malformed(&'static str),
    /// A point of the proof that must not be there.
    #[error("{0}")]
    MalformedProof(&'static str),
    /// The operating system gave no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}
