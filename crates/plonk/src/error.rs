//! What can go wrong.

use crate::{named::UnknownName, unsatisfied::Unsatisfied};
use proofmill_circom::CircomError;
use std::{io, path::PathBuf};

/// Why there is no key or no proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlonkError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] CircomError),
    /// The verification key is none.
    #[error(transparent)]
    Key(#[from] MalformedError),
    /// The reference string is damaged.
    #[error(transparent)]
    Srs(#[from] proofmill_srs::SrsError),
    /// The circuit has no constraint, so there is nothing to prove.
    #[error("expected a circuit with constraints, found none")]
    NoConstraints,
    /// The circuit has no domain.
    #[error("expected a circuit of at most 2^26 rows, found more")]
    TooLarge,
    /// The reference string is too short.
    #[error("the circuit's {gates} gates need powers of tau of 2^{needed}, found 2^{found}")]
    TooFewPowers {
        /// Gates of the circuit.
        gates: usize,
        /// Logarithm of the domain's size.
        needed: u32,
        /// Logarithm of what there is.
        found: u32,
    },
    /// The proving key's domain has no room for the blinding or no extension by 4 in the scalar field.
    #[error("proving key: expected a domain of 2^3 to 2^26, found 2^{log_n}")]
    Domain {
        /// Logarithm of the domain's size.
        log_n: u32,
    },
    /// The witness is of another circuit.
    #[error("expected a witness of {expected} values, found {found}")]
    WitnessLength {
        /// Wires of the circuit.
        expected: usize,
        /// Values there are.
        found: usize,
    },
    /// The witness does not satisfy the circuit: the first row that does not hold.
    #[error("the witness does not satisfy {0} (rows are counted from 0; public inputs come first)")]
    Unsatisfied(Unsatisfied),
    /// The proving key's permutation is not that of its wires.
    #[error("proving key: the permutation does not connect the wires of gate {gate} as the wire maps do")]
    CopyConstraint {
        /// The first gate where they differ.
        gate: usize,
    },
    /// The reference string has too few powers.
    #[error("the circuit needs {needed} powers of tau, found {found}")]
    ShortReference {
        /// Powers that the key needs.
        needed: usize,
        /// Powers there are.
        found: usize,
    },
    /// The proof that was made does not verify: an unsatisfied witness that was not checked, or a proving key
    /// that contradicts itself.
    #[error("the proof does not verify: the witness is wrong or the proving key contradicts itself")]
    NotProven,
    /// A temporary file cannot be had.
    #[error("{}: cannot keep vectors in a temporary file: {source}", folder.display())]
    Scratch {
        /// Where it was to be.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system gives no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}

/// Why names of gates, lookups and fixed columns are not those of an arithmetisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// No gate has this name.
    #[error("expected a gate, found {0:?}")]
    Gate(String),
    /// Rows of so many wires have other gates, or the order is another.
    #[error("{wires} wires have no such gates, or in another order")]
    Gates {
        /// Wires of a row.
        wires: u32,
    },
    /// No lookup argument has this name.
    #[error(transparent)]
    Lookup(#[from] UnknownName),
    /// Rows of so many wires look nothing up.
    #[error("{wires} wires have no lookups")]
    NoLookups {
        /// Wires of a row.
        wires: u32,
    },
    /// No fixed column of these gates has this name.
    #[error("expected a fixed column, found {0:?}")]
    Column(String),
    /// Fixed columns are repeated or not in order.
    #[error("a fixed column is there twice, or in another order")]
    Columns,
}

/// Why a proof is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The proof is well formed and wrong.
    #[error("the proof is not valid for these public inputs and this verification key")]
    Rejected,
    /// There is nothing to check: something is no proof, no key or not its public inputs at all.
    #[error(transparent)]
    Malformed(#[from] MalformedError),
}

/// Why something is not a proof, a key or a list of public inputs at all, as opposed to a proof that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedError {
    /// A point is not where it should be.
    #[error("{name} is not on its curve, or not in its subgroup")]
    Point {
        /// The point's name.
        name: String,
    },
    /// There are too many or too few public inputs.
    #[error("expected {expected} public inputs, found {found}")]
    PublicInputs {
        /// What the key says.
        expected: u32,
        /// What there are.
        found: usize,
    },
    /// There are too many or too few points or values.
    #[error("expected a proof of {} points and {} values, found {} and {}", expected.0, expected.1, found.0, found.1)]
    Proof {
        /// Points and values of the key's system.
        expected: (usize, usize),
        /// What there are.
        found: (usize, usize),
    },
    /// The key's names belong to no arithmetisation.
    #[error("verification key: {0}")]
    System(SystemError),
    /// The key's reference string has the secret zero, for which every opening is proven.
    #[error("verification key: X_2 is infinity")]
    NoSecret,
    /// Wires' labels are not told apart.
    #[error("verification key: the multipliers of wires {} and {} put them on one coset", wires.0 + 1, wires.1 + 1)]
    Multipliers {
        /// The first such wires, counted from 0.
        wires: (usize, usize),
    },
    /// The key's sizes belong to no circuit.
    #[error("verification key: {public} public inputs on a domain of 2^{log_n}")]
    Key {
        /// Logarithm of the domain's size.
        log_n: u32,
        /// Public inputs.
        public: u32,
    },
}
