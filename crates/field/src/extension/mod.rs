//! Extensions above the quadratic one: the tower of pairings.

mod sums;
mod terms;
mod tower;

pub use terms::Terms;
pub use tower::{Dodecic, Sextic, Tower, frobenius_coefficients, quartic_squares};
