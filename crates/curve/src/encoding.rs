//! Errors of encoded points.

use proofmill_field::FieldError;

/// Why bytes do not encode a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// A coordinate is not an element of the base field.
    #[error("{group}: coordinate at byte {offset}: {source}")]
    Coordinate {
        /// The group of the expected point.
        group: &'static str,
        /// The offset of the coordinate.
        offset: usize,
        /// The error of the coordinate.
        source: FieldError,
    },
    /// The first bit is not set in a compressed point, or is set in an uncompressed one.
    #[error("{group}: expected {expected} point, found the first bit of the other form")]
    WrongForm {
        /// The group of the expected point.
        group: &'static str,
        /// `a compressed` or `an uncompressed`.
        expected: &'static str,
    },
    /// The bit of infinity is set, and other bits are too.
    #[error("{0}: expected zeros beside the bit of infinity")]
    Infinity(&'static str),
    /// The bit that selects a compressed point's y is set in an uncompressed point.
    #[error("{0}: expected no bit for the sign of an uncompressed point")]
    Sign(&'static str),
    /// The coordinates do not satisfy the curve's equation, or no point has this x.
    #[error("{0}: expected a point, found coordinates off the curve")]
    NotOnCurve(&'static str),
    /// The point is on the curve, but not in the subgroup.
    #[error("{0}: expected a point of the subgroup, found one outside it")]
    NotInSubgroup(&'static str),
}
