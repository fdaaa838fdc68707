//! Extensions above the quadratic one: the tower of pairings.

mod terms;
mod tower;

pub use terms::Terms;
pub use tower::{Dodecic, Sextic, Tower, frobenius_coefficients};
