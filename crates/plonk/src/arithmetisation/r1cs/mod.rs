//! Translates the constraints of an R1CS file to rows, in any arithmetisation.
//!
//! Public signals come first, each on wire 1 of a row of its own. Variables `1..` are R1CS's wires. Variable
//! 0, which is R1CS's constant one, marks an unused cell; constants are in `q_c`. Further variables are sums
//! that rows need, [derived](Derivations) from the witness.

mod derivations;
mod equation;
mod standard;
mod wide;

pub use derivations::Derivations;
pub(crate) use standard::log_n;
pub use standard::{Decomposition, Row, RowCount, ZeroTerms};

use super::layout::LOG_N;
use crate::{Arithmetisation, Layout, PlonkError};
use proofmill_circom::R1cs;

/// The largest number of rows that a domain can have.
const MOST_ROWS: usize = 1 << *LOG_N.end();

/// The largest number of wires that leaves room in 32 bits for the derived variables; there are at most as
/// many of those as rows.
const MOST_WIRES: u32 = u32::MAX - (1 << 28);

/// The rows that hold exactly for the witnesses of the circuit, and the derivations of the additional
/// variables.
///
/// The standard arithmetisation uses the rows of [`Decomposition`]; the wide ones use a simple packing that
/// keeps the number of rows low.
///
/// # Errors
/// [`PlonkError::TooLarge`].
pub fn layout(r1cs: &R1cs, arithmetisation: Arithmetisation) -> Result<(Layout, Derivations), PlonkError> {
    match arithmetisation {
        Arithmetisation::Standard => Ok(Decomposition::of(r1cs, ZeroTerms::Kept)?.into_layout()),
        Arithmetisation::Turbo | Arithmetisation::Ultra => wide::layout(r1cs),
    }
}
