//! STARKs over the Goldilocks field: proofs that a trace satisfies an AIR.
//!
//! [`prove`] and [`verify`] are the protocol of Plonky3's `uni-stark` 0.9.0-rc.2 with FRI, message by message. The one difference is that
//! the transcript begins with a digest of the AIR. Without the digest, a proof of one is a proof of the other
//! ([`Constraints::as_in_plonky3`]).
//!
//! An [`air::Air`] is run once on symbols and captured as a graph. The graph becomes a program that evaluates constraints on blocks of
//! rows, in the vectors of the level that the CPU has. [`airs`] has AIRs that are ready for use.
//!
//! The degree of the extension is a constant in types and functions. [`Config`] chooses it at run time, for proofs as bytes, and refuses
//! proofs that prove too few bits. An [`AirDocument`] is an AIR as JSON.
//!
//! Committed columns are opened at points of an extension by the kernels of [`openings`], which `proofmill-p3` uses, too.
//!
//! [`security`] computes how many bits of security are proven for parameters of the protocol.
//!
//! Proofs hide nothing, unless parameters are [blinded](Parameters::blinded): then proofs are zero-knowledge. The time of a proof depends
//! on the trace.
//!
//! ```
//! use proofmill_stark::{Constraints, air::{Air, Row}};
//!
//! /// Each row of one column is the square of the row before.
//! struct Squares;
//!
//! impl Air for Squares {
//!     fn columns(&self) -> usize {
//!         1
//!     }
//!     fn constrain(&self, row: Row) {
//!         (row.is_transition() * (row.next(0) - row.column(0) * row.column(0))).must_vanish();
//!     }
//! }
//!
//! let constraints = Constraints::new(&Squares).expect("an AIR of one column");
//! ```

pub mod air;
pub mod airs;
mod commitment;
mod config;
mod domain;
mod error;
mod extension;
pub mod openings;
mod proof;
pub mod protocol;
mod prove;
pub mod security;
mod tables;
mod trace;
mod transcript;
mod verify;

pub use air::constraints::Constraints;
pub use air::file::{AirDocument, DocumentError};
pub use config::{Config, Proven};
pub use error::{StarkError, TooWeak, VerifyError};
pub use proof::encoding::{DecodeError, Header};
pub use proof::{OpenedRows, OpenedValues, OpeningProof, Proof, Round};
pub use proofmill_run::{Memory, Run};
pub use prove::{PreprocessedKey, prove};
pub use security::{Grinding, Parameters};
pub use tables::{
    TableValues, Tables, TablesKey, TablesProof, TablesVerifyingKey, prove_tables, verify_tables,
};
pub use trace::blinding::SALT;
pub use trace::cosets::Cosets;
pub use trace::divided::{Ask, Question};
pub use trace::{ReadValues, Trace};
pub use transcript::hash::{StarkHash, digest_bits, stark_hash};
pub use transcript::{Challenger, DRAW_BITS, PoseidonBn254Challenger};
pub use verify::verify;
