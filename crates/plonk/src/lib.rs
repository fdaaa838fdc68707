//! PLONK (Gabizon, Williamson, Ciobotaru, eprint 2019/953) over BN254, compatible with snarkjs 0.7.6: setup
//! writes the same keys byte for byte, snarkjs's verifiers accept the proofs, and snarkjs's proofs verify
//! here.
//!
//! * [`setup`] makes a proving key from R1CS constraints and powers of tau; [`r1cs`] translates constraints
//!   into rows.
//! * [`prove`] and [`verify`] are the protocol. [`ProvingKey`] is a mapped file; [`VerifyingKey`] and
//!   [`Proof`] are values in memory.
//! * [`solidity`] writes verifier contracts.
//! * [`Gate`] lists the constraints that a row can have; [`Circuit`] builds rows.
#![forbid(unsafe_code)]

mod called;
mod challenges;
mod check;
mod circuit;
mod circuit_key;
mod error;
pub mod fflonk;
pub mod gates;
mod json;
mod key;
pub mod key_file;
mod layout;
mod linearisation;
mod lookup;
mod memory;
mod named;
mod open;
mod partial_rounds;
mod permutation;
mod polynomial;
mod proof;
mod prove;
pub mod r1cs;
mod setup;
pub mod solidity;
mod summand;
mod system;
mod transcript;
mod unsatisfied;
mod verify;
pub mod workload;

pub use check::{LayoutChecker, check_layout};
pub use circuit::{
    Arithmetisation, Bit, Circuit, GadgetReport, MerkleNode, Multiples, Point, Report, Table, TableNumber,
    TableReport, Variable,
};
pub use circuit_key::{CircuitKey, CircuitKeyHeader, CircuitKeyWriter, DerivationTerm};
pub use error::{MalformedError, PlonkError, SystemError, VerifyError};
pub use gates::{
    Gate,
    column::{Cell, Cells, Column, Selector},
};
pub use key::{Commit, FixedColumns, ProvingKey};
pub use key_file::setup_circuit;
pub use layout::Layout;
pub use lookup::LookupArgument;
pub use memory::{Memory, Storage};
pub use named::UnknownName;
pub use proof::{Proof, VerifyingKey};
pub use proofmill_progress::Progress;
pub use prove::{ProveOptions, prove, prove_with_commitments, prove_with_rng};
pub use r1cs::{Decomposition, Derivations, Row, RowCount, ZeroTerms};
pub use setup::{power, setup};
pub use system::System;
pub use unsatisfied::Unsatisfied;
pub use verify::verify;
