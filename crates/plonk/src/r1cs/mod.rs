//! From the constraints of an R1CS file to rows, in any arithmetisation.
//!
//! Public signals come first, each on wire 1 of a row of its own. Variables `1..` are R1CS's wires; variable 0, there the
//! constant one, is no variable on rows: constants are in `q_c`. Variables beyond R1CS's are sums that rows need,
//! [derived](Derivations) from the witness.

mod derivations;
mod equation;
mod standard;
mod wide;

pub use derivations::Derivations;
pub use standard::{Decomposition, Row};

use crate::{Arithmetisation, Layout, PlonkError, layout::LOG_N};
use proofmill_circom::R1cs;

/// More rows have no domain.
const MOST_ROWS: usize = 1 << *LOG_N.end();

/// More wires leave no room for the derived variables, of which there are at most as many as rows, in 32 bits.
const MOST_WIRES: u32 = u32::MAX - (1 << 28);

/// The rows that hold exactly for the witnesses of the circuit, and how their variables are computed from a witness.
///
/// The standard arithmetisation's are those of [`Decomposition`], the wide arithmetisations' those of fewest rows that a
/// simple packing finds.
///
/// # Errors
/// [`PlonkError::TooLarge`].
pub fn layout(r1cs: &R1cs, arithmetisation: Arithmetisation) -> Result<(Layout, Derivations), PlonkError> {
    match arithmetisation {
        Arithmetisation::Standard => Ok(Decomposition::of(r1cs)?.into_layout()),
        Arithmetisation::Turbo | Arithmetisation::Ultra => wide::layout(r1cs),
    }
}
