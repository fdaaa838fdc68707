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
//!
//! ```
//! use proofmill_field::bn254::Fr;
//! use proofmill_plonk::{Arithmetisation, Circuit};
//!
//! let mut circuit = Circuit::new(Arithmetisation::Turbo);
//! let square = circuit.public_input(Fr::from(9));
//! let root = circuit.witness(Fr::from(3));
//! let product = circuit.mul(root, root);
//! circuit.assert_equal(product, square);
//! circuit.check().expect("3 is a root of 9");
//! ```
#![forbid(unsafe_code)]

mod arithmetisation;
mod circuit;
mod error;
pub mod fflonk;
mod key;
mod memory;
mod polynomial;
mod proof;
mod prove;
mod setup;
pub mod solidity;
mod transcript;
mod verify;

pub use arithmetisation::gates::{
    Gate,
    column::{Cell, Cells, Column, Selector},
};
pub use arithmetisation::layout::Layout;
pub use arithmetisation::lookup::LookupArgument;
pub use arithmetisation::r1cs::{Decomposition, Derivations, Row, RowCount, ZeroTerms};
pub use arithmetisation::system::System;
pub use arithmetisation::{gates, r1cs};
pub use circuit::check::{LayoutChecker, check_layout};
pub use circuit::unsatisfied::Unsatisfied;
pub use circuit::workload;
pub use circuit::{
    Arithmetisation, Bit, Circuit, GadgetReport, MerkleNode, Multiples, Point, Report, Table, TableNumber,
    TableReport, Variable,
};
pub use error::{MalformedError, PlonkError, SystemError, VerifyError};
pub use key::circuit_file;
pub use key::circuit_file::setup_circuit;
pub use key::circuit_key::{CircuitKey, CircuitKeyHeader, CircuitKeyWriter, DerivationTerm};
pub use key::{Commit, FixedColumns, ProvingKey};
pub use proof::{Proof, VerifyingKey};
pub use proofmill_run::{Memory, Progress, UnknownName};
pub use prove::{ProveOptions, prove, prove_with_commitments, prove_with_rng};
pub use setup::{power, setup};
pub use verify::verify;
