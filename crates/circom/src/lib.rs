//! Files of the circom and snarkjs world: r1cs, wtns, zkey, ptau, JSON, what a WASM says of itself; and their container, for other formats in it.
//!
//! Binary files are mapped into memory. Opening one checks its header and the lengths of its sections. Large sections are views
//! ([`Points`], [`Scalars`]) that are decoded and checked in parallel, whole or by ranges, when they are needed. Inputs may be
//! hostile: for any bytes the result is a value or a [`CircomError`], a message of one line with problem and position. No
//! allocation exceeds the file's size by more than a small factor, and nothing panics.
//!
//! ```no_run
//! use proofmill_circom::R1csFile;
//! use std::path::Path;
//!
//! # fn main() -> Result<(), proofmill_circom::CircomError> {
//! let circuit = <R1csFile>::open(Path::new("circuit.r1cs"))?;
//! println!("{} constraints", circuit.header().constraints);
//! # Ok(())
//! # }
//! ```
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod binfile;
mod contributors;
mod curve;
mod decode;
mod describe;
mod error;
mod file_kind;
mod json;
mod modulus;
mod parameters;
mod ptau;
mod r1cs;
mod sym;
mod wasm;
mod writer;
mod wtns;
mod zkey;

pub use binfile::{BinFile, ContainerOrText, Cursor, Section, SectionEntry, Text};
pub use contributors::{Contributors, shown_name};
pub use curve::{CircomCurve, PairingCurve};
pub use decode::{Coordinate, Form, PointCheck, Points, ScalarPrime, Scalars, decode_each};
pub use describe::{Contribution, Contributions, Description, SectionDescription, describe, describe_file};
pub use error::{CircomError, Place, SectionName};
pub use file_kind::{Content, FileKind};
pub use json::{
    AnyPlonkProof, AnyPlonkVerificationKey, CircuitProof, CircuitVerificationKey, FflonkProof,
    FflonkVerificationKey, Groth16Proof, Groth16VerificationKey, JsonDescription, PlonkProof,
    PlonkVerificationKey, describe_json, parse_public, public_text, read_public, write_groth16_json,
    write_ptau_json, write_r1cs_json, write_witness_json,
};
pub use parameters::Beacon;
/// For [`over_curve`].
#[doc(hidden)]
pub use proofmill_curve as curves;
pub use ptau::{
    FirstPowers, KnowledgeProof, Ptau, PtauContribution, PtauHeader, PtauPoints, PtauWriter, UNPREPARED,
};
pub use r1cs::{R1cs, R1csFile, R1csHeader, SparseMatrix, Terms, write_r1cs};
pub use sym::{Symbol, Symbols};
pub use wasm::{WasmDescription, describe_wasm};
pub use writer::{BinWriter, SectionWriter};
pub use wtns::{decode_witness, read_witness, write_witness};
pub use zkey::{
    Addition, Coefficient, Coefficients, Column, FflonkHeader, FflonkWriter, FflonkZkey, GateCounts,
    GateHeader, GateSections, GateWriter, GateZkey, Groth16Header, Groth16Points, Groth16Writer, Groth16Zkey,
    Matrix, PlonkHeader, PlonkWriter, PlonkZkey, Polynomial, Selector, Zkey, ZkeyContribution,
    ZkeyContributions,
};
