//! What may be wrong with an encoded element.

/// Why bytes, limbs or digits are not a field element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The value is not below the modulus.
    #[error("value is not below the modulus of {0}")]
    NotCanonical(&'static str),
    /// The text is not a decimal number.
    #[error("expected a decimal number for {0}")]
    NotDecimal(&'static str),
}
