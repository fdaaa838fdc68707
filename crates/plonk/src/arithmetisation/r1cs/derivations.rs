//! Variables that are linear combinations of others.

use crate::PlonkError;
use proofmill_circom::Addition;
use proofmill_field::{Field, bn254::Fr};
use proofmill_run::parallel;
use std::ops::Range;

/// The derivation of the variables that are not in a witness, in order: each is a sum of factors times
/// earlier variables. Uses 40 bytes per term and 8 per variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivations {
    /// The number of the first derived variable, which is also the number of values in a witness.
    first: u32,
    /// Variable `first + i` has the terms `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    terms: Vec<(u32, Fr)>,
}

/// The smallest number of derived variables per task.
const LEAST_IN_TASK: usize = 1 << 12;

impl Derivations {
    /// No derivations, for a witness of `first` values.
    pub fn new(first: u32) -> Self {
        Self { first, offsets: vec![0], terms: Vec::new() }
    }

    /// Adds the variable that is this sum of factors times variables, and returns its number.
    ///
    /// # Panics
    /// If a term's variable is not an earlier one, or if there are 2^32 variables.
    pub fn push(&mut self, terms: impl IntoIterator<Item = (u32, Fr)>) -> u32 {
        let variable = u32::try_from(self.first as usize + self.len()).expect("fewer than 2^32 variables");
        let start = self.terms.len();
        self.terms.extend(terms);
        assert!(self.terms[start..].iter().all(|(term, _)| *term < variable), "variables come in order");
        self.offsets.push(self.terms.len());
        variable
    }

    /// The derivations given by the number of terms of each variable and the terms of all of them, stored
    /// contiguously. `None` if a term's variable is not an earlier one, or if the sum of the counts is not
    /// the number of terms.
    pub fn from_parts(first: u32, counts: &[u32], terms: Vec<(u32, Fr)>) -> Option<Self> {
        let mut offsets = vec![0];
        let (mut left, mut end) = (terms.as_slice(), 0);
        for (variable, count) in (u64::from(first)..).zip(counts) {
            let sum = left.split_off(..*count as usize)?;
            if sum.iter().any(|(term, _)| u64::from(*term) >= variable) {
                return None;
            }
            end += sum.len();
            offsets.push(end);
        }
        (left.is_empty() && u32::try_from(first as usize + counts.len()).is_ok()).then_some(Self {
            first,
            offsets,
            terms,
        })
    }

    /// The derivations in a proving key of the standard arithmetisation, for a witness of `first` values.
    ///
    /// # Panics
    /// As [`Self::push`].
    pub fn from_additions(first: u32, additions: impl IntoIterator<Item = Addition>) -> Self {
        let mut derivations = Self::new(first);
        for Addition { left, right, left_factor, right_factor } in additions {
            derivations.push([(left, left_factor), (right, right_factor)]);
        }
        derivations
    }

    /// The number of derived variables.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no derived variables.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the first derived variable, which is also the number of values in a witness.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The terms of each derived variable, in order, as variables and factors.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[(u32, Fr)]> + Clone {
        self.offsets.windows(2).map(|ends| &self.terms[ends[0]..ends[1]])
    }

    /// The values of all variables: 0 for variable 0 (a witness has the constant one there), then the
    /// witness, then the derived variables. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::WitnessLength`].
    pub fn assign(&self, witness: &[Fr]) -> Result<Vec<Fr>, PlonkError> {
        let expected = self.first as usize;
        if witness.len() != expected {
            return Err(PlonkError::WitnessLength { expected, found: witness.len() });
        }
        let mut values = Vec::with_capacity(expected + self.len());
        values.extend_from_slice(witness);
        if let Some(constant) = values.first_mut() {
            *constant = Fr::ZERO;
        }
        values.resize(expected + self.len(), Fr::ZERO);
        let (given, mut left) = values.split_at_mut(expected);
        let given = &*given;
        let tasks = self.independent().into_iter().map(|range| {
            let derived = left.split_off_mut(..range.len()).expect("ranges cover the derived variables");
            (range, derived)
        });
        parallel::for_each(tasks, |(range, derived)| self.compute(range, given, derived));
        Ok(values)
    }

    /// Ranges of derived variables that do not refer to derived variables of other ranges. There are many,
    /// since the derivations for one constraint depend only on the witness.
    fn independent(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let mut end = self.len();
        // The earliest derived variable that the variables from `start` on refer to.
        let mut earliest = end;
        for start in (0..end).rev() {
            for (variable, _) in &self.terms[self.offsets[start]..self.offsets[start + 1]] {
                if let Some(derived) = variable.checked_sub(self.first) {
                    earliest = earliest.min(derived as usize);
                }
            }
            if start == 0 || (earliest >= start && end - start >= LEAST_IN_TASK) {
                ranges.push(start..end);
                end = start;
            }
        }
        ranges.reverse();
        ranges
    }

    /// Computes a range of derived variables that refers to no other range.
    fn compute(&self, range: Range<usize>, given: &[Fr], derived: &mut [Fr]) {
        let first = given.len() + range.start;
        for (i, variable) in range.enumerate() {
            let mut sum = Fr::ZERO;
            for &(term, factor) in &self.terms[self.offsets[variable]..self.offsets[variable + 1]] {
                let term = term as usize;
                let value = if term < given.len() { given[term] } else { derived[term - first] };
                sum += if factor == Fr::ONE { value } else { factor * value };
            }
            derived[i] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enough sums for several tasks, in groups that depend on each other.
    #[test]
    fn every_value_is_the_sum_of_its_terms() {
        for group in [1, 3, 1000, 20_000] {
            let mut derivations = Derivations::new(3);
            let mut expected = vec![Fr::ZERO, Fr::from(5), Fr::from(7)];
            for i in 0..20_000u32 {
                let last = if i % group == 0 { 2 } else { 3 + i - 1 };
                let factor = Fr::from(u64::from(i % 5));
                assert_eq!(derivations.push([(1, factor), (last, Fr::ONE)]), 3 + i);
                expected.push(factor * Fr::from(5) + expected[last as usize]);
            }
            let witness = [Fr::ONE, Fr::from(5), Fr::from(7)];
            assert_eq!(derivations.assign(&witness).expect("values"), expected, "groups of {group}");
            let ranges = derivations.independent();
            assert!(ranges.iter().all(|range| range.len() >= LEAST_IN_TASK || range.start == 0));
            assert_eq!(ranges.len() > 1, group < 20_000);
            assert!(derivations.assign(&witness[1..]).is_err());
        }
    }

    #[test]
    fn an_empty_list_derives_nothing() {
        let derivations = Derivations::new(1);
        assert_eq!(derivations.assign(&[Fr::ONE]).expect("values"), [Fr::ZERO]);
        assert!(derivations.is_empty());
    }
}
