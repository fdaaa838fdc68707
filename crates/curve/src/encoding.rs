//! Why bytes are refused.

use proofmill_field::FieldError;

/// Why bytes are not a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// A coordinate is not an element of the base field.
    #[error("{group}: coordinate at byte {offset}: {source}")]
    Coordinate {
        /// Of which group a point was expected.
        group: &'static str,
        /// Where the coordinate begins.
        offset: usize,
        /// What is wrong with it.
        source: FieldError,
    },
    /// The first bit says that a compressed point is not compressed, or that an uncompressed one is.
    #[error("{group}: expected {expected} point, found the first bit of the other form")]
    WrongForm {
        /// Of which group a point was expected.
        group: &'static str,
        /// `a compressed` or `an uncompressed`.
        expected: &'static str,
    },
    /// The bit of infinity is set, and others beside it.
    #[error("{0}: expected zeros beside the bit of infinity")]
    Infinity(&'static str),
    /// The bit that chooses a compressed point's y is set on an uncompressed one.
    #[error("{0}: expected no bit for the sign of an uncompressed point")]
    Sign(&'static str),
    /// The coordinates do not satisfy the curve's equation, or no point has this x.
    #[error("{0}: expected a point, found coordinates off the curve")]
    NotOnCurve(&'static str),
    /// The point is on the curve, but not in the subgroup.
    #[error("{0}: expected a point of the subgroup, found one outside it")]
    NotInSubgroup(&'static str),
}
