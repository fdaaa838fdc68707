//! Round 5: the values at xi and xi omega, and the polynomials that prove them.

use super::Prover;
use crate::{
    Cell, Column, PlonkError,
    linearisation::{Linearisation, opening_factors},
    polynomial::{divide_by_linear, evaluate, linear_combination},
};
use proofmill_field::{Field, bn254::Fr};
use std::{borrow::Cow, collections::BTreeMap};

impl Prover<'_> {
    /// The coefficients of any column that has some.
    fn polynomial(&self, column: Column) -> Result<Cow<'_, [Fr]>, PlonkError> {
        match self.polynomials.get(&column) {
            Some(coefficients) => Ok(Cow::Borrowed(coefficients)),
            None => self.key.coefficients(self.level, column),
        }
    }

    /// The opened cells' values.
    pub(super) fn round5_evaluate(&mut self) -> Result<Vec<Fr>, PlonkError> {
        self.phase("open");
        let xi = self.challenges.xi;
        let value = |&Cell { next, column }: &Cell| {
            let x = if next { xi * self.domain.root() } else { xi };
            Ok(evaluate(self.level, &self.polynomial(column)?, x))
        };
        self.system.opened().iter().map(value).collect()
    }

    /// The quotients of the folded openings at xi and at xi omega.
    pub(super) fn round5_open(
        &mut self,
        quotient: Vec<Vec<Fr>>,
        evaluations: &[Fr],
        public: &[Fr],
    ) -> Result<[Vec<Fr>; 2], PlonkError> {
        self.phase("open");
        let key = self.key.verifying_key();
        // Nobody but the hash function can put xi into the domain.
        let linearisation = Linearisation::new(key, public, &self.challenges, evaluations);
        let Linearisation { columns, quotient: quotient_factors, constant } =
            linearisation.ok_or(PlonkError::NotProven)?;
        let mut folded = [columns, BTreeMap::new()];
        let mut values = [-constant, Fr::ZERO];
        for ((cell, factor), value) in opening_factors(self.system, self.challenges.v).zip(evaluations) {
            *folded[usize::from(cell.next)].entry(cell.column).or_default() += factor;
            values[usize::from(cell.next)] += factor * *value;
        }
        let parts = quotient_factors.into_iter().zip(quotient.iter().map(Vec::as_slice)).collect();
        let points = [self.challenges.xi, self.challenges.xi * self.domain.root()];
        let mut openings = [Vec::new(), Vec::new()];
        let mut parts = [parts, Vec::new()];
        for i in 0..2 {
            let mut sum = self.sum(&folded[i], std::mem::take(&mut parts[i]))?;
            sum[0] -= values[i];
            // Not zero if the witness is wrong and was not checked; the proof is then refused.
            let _ = divide_by_linear(self.level, &mut sum, points[i]);
            openings[i] = sum;
        }
        Ok(openings)
    }

    /// The sum of columns and of other polynomials times factors, a few columns at a time: those of the key may have to be
    /// read.
    fn sum(&self, columns: &BTreeMap<Column, Fr>, others: Vec<(Fr, &[Fr])>) -> Result<Vec<Fr>, PlonkError> {
        let length = self.domain.len() + self.system.extra_powers();
        let mut sum = linear_combination(self.level, length, &others);
        for (column, factor) in columns {
            let polynomial = self.polynomial(*column)?;
            crate::polynomial::add_multiple(self.level, &mut sum, *factor, &polynomial);
        }
        Ok(sum)
    }
}
