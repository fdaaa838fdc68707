//! Proven security of a configuration: a DEEP-ALI STARK whose openings are batched by powers of one challenge and tested by FRI.
//!
//! ```
//! use proofmill_stark::security::{Parameters, Shape};
//!
//! let shape = Shape { log_rows: 20, columns: 100, constraints: 100, degree: 3 };
//! let security = Parameters::default().security(&shape)?;
//! assert!(security.bits() >= 100.0);
//! # Ok::<(), proofmill_stark::security::InvalidConfiguration>(())
//! ```
//!
//! Security is that of every round on its own (round-by-round soundness): `-log2` of the probability that one challenge rescues a
//! false proof, plus the bits of the proof of work in front of that challenge. The least of all rounds counts, next to collisions
//! of the hash. Only theorems are used, for two radii of decoding ([`Regime`]); nothing rests on the conjecture of proximity gaps
//! up to capacity, which is refuted (eprint 2025/2046, 2025/2010). `docs/stark.md` derives every formula.
//!
//! A verifier takes [`Parameters`] from its own program, never from a proof.

mod bounds;
mod configuration;
mod report;

pub use bounds::Regime;
pub use configuration::{Grinding, InvalidConfiguration, Parameters, Shape, TablesShape};
pub(crate) use configuration::{LARGEST_DEGREE, MOST};
pub use report::{RegimeReport, Report, Round, SearchError, Term};
