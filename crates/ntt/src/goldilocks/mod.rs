//! Transforms over the Goldilocks field.

mod bit_reversal;
pub mod butterflies;
mod domain;
mod evaluation;
mod tile;

pub use domain::GoldilocksDomain;
pub use evaluation::evaluate;

/// The order of a transform's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Value i belongs to `root^i`.
    Natural,
    /// Value i belongs to the root to the power of i with its bits reversed; this saves a permutation.
    BitReversed,
}
