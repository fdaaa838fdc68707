//! How much of what can be computed again is kept.

use crate::named::named;

/// What a proving key keeps, for any of which the same randomness gives the same proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// Every fixed column as coefficients, as values on the domain and as values on the quotient's cosets: 2 + parts vectors of n
    /// scalars each.
    Fast,
    /// Coefficients and values on the domain; one coset at a time.
    #[default]
    Balanced,
    /// Coefficients alone; one coset at a time, and of its columns those that are still needed.
    Low,
}

impl Memory {
    /// All, from the most.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Low];
}

named!(Memory, "a memory mode", Fast => "fast", Balanced => "balanced", Low => "low");
