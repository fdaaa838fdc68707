//! Memory modes.

use crate::named;

/// The amount of data that a prover keeps in memory: less memory costs time. Every mode gives the same proof.
///
/// A PLONK key keeps every fixed column as coefficients, as values on the domain and as values on the quotient's cosets (fast), without the
/// latter (balanced), or as coefficients only (low). A STARK's prover keeps the trace's extension (fast), or its coefficients, from which it
/// computes parts of the extension when they are needed (balanced). With `low` it keeps a quarter of the trace, and the rest in temporary
/// files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// All that is needed more than once.
    Fast,
    /// The parts that take longest to compute.
    #[default]
    Balanced,
    /// As little as possible.
    Low,
}

impl Memory {
    /// All modes, from the most memory to the least.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Low];
}

named!(Memory, "a memory mode", Fast => "fast", Balanced => "balanced", Low => "low");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_to_the_variant_that_prints_them() {
        assert!(Memory::ALL.iter().all(|each| each.to_string().parse() == Ok(*each)));
        let error = "slow\n".parse::<Memory>().expect_err("refused").to_string();
        assert_eq!(error, "expected a memory mode (fast, balanced or low), found \"slow\\n\"");
    }
}
