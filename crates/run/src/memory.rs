//! Memory modes.

use crate::named;

/// How much a prover keeps in memory: less memory costs time. Every mode gives the same proof.
///
/// Of a PLONK key, every fixed column is kept as coefficients, as values on the domain and as values on the quotient's cosets (fast), without
/// the latter (balanced), or as coefficients only (low). Of a STARK's trace, its extension is kept (fast), its coefficients, from
/// which parts of the extension are computed when they are needed (balanced), or a quarter of it, and the rest in temporary files (low).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// All that is needed more than once.
    Fast,
    /// What takes longest to compute.
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
