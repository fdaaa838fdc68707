//! Parameters of the protocol, which a verifier takes from its own side, never from a proof.

use crate::StarkError;
use proofmill_field::goldilocks::Goldilocks;

/// Bits of proof of work before a challenge: each makes it twice as expensive to try another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grinding {
    /// Before the point outside of the domain.
    pub out_of_domain: u32,
    /// Before the challenge that combines all openings.
    pub batching: u32,
    /// Before the challenge of each round of FRI.
    pub folding: u32,
    /// Before the queries.
    pub queries: u32,
}

/// How traces are extended and tested for low degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The logarithm of the ratio of the extended domain to the trace, at least 1.
    pub log_blowup: u32,
    /// The logarithm of the most values that a round of FRI folds to one: 1 to 4.
    pub log_arity: u32,
    /// The logarithm of the number of coefficients of the polynomial that FRI ends with.
    pub log_final_length: u32,
    /// The number of rows that are opened.
    pub queries: usize,
    /// The layers of a tree's commitment above the root: a commitment has `2^cap_height` digests, if the tree has as many.
    pub cap_height: u32,
    /// Proofs of work.
    pub grinding: Grinding,
}

/// Proofs of work of more bits would never end.
const MOST_GRINDING: u32 = 40;

impl Parameters {
    /// Refuses parameters that prove nothing or that no machine can use.
    pub(crate) fn check(&self) -> Result<(), StarkError> {
        let Grinding { out_of_domain, batching, folding, queries } = self.grinding;
        let grinding = out_of_domain.max(batching).max(folding).max(queries);
        let ranges = [
            ("blowup, logarithm", self.log_blowup as usize, 1, 8),
            ("arity, logarithm", self.log_arity as usize, 1, 4),
            ("final polynomial's length, logarithm", self.log_final_length as usize, 0, 16),
            ("queries", self.queries, 1, 1 << 16),
            ("cap height", self.cap_height as usize, 0, 16),
            ("grinding", grinding as usize, 0, MOST_GRINDING as usize),
        ];
        for (name, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let expected = format!("{name}: expected {least} to {most}, found {value}");
                return Err(StarkError::Parameters(expected));
            }
        }
        Ok(())
    }

    /// The logarithm of the most rows of a trace.
    pub(crate) fn most_log_rows(&self) -> u32 {
        Goldilocks::TWO_ADICITY - self.log_blowup
    }

    /// The logarithms of the arities of FRI's rounds for words of `2^log_height` values.
    pub(crate) fn arities(&self, log_height: u32) -> Vec<u32> {
        let mut left = log_height.saturating_sub(self.log_blowup + self.log_final_length);
        let mut arities = Vec::new();
        while left > 0 {
            arities.push(left.min(self.log_arity));
            left -= left.min(self.log_arity);
        }
        arities
    }

    /// The logarithm of the number of digests of a commitment to `2^log_rows` rows.
    pub(crate) fn log_cap(&self, log_rows: u32) -> u32 {
        self.cap_height.min(log_rows)
    }
}
