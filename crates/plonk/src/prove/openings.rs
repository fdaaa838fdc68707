//! Round 5: the values at xi and xi omega, and the opening proofs.

use super::ProverState;
use crate::{
    Cell, Column, PlonkError,
    arithmetisation::linearisation::{Linearisation, opening_factors},
    memory::{CowScalars, Scalars},
    polynomial::{add_multiple, divide_by_linear, evaluate},
};
use proofmill_field::{Field, bn254::Fr};
use std::collections::BTreeMap;

impl ProverState<'_> {
    /// The coefficients of a column of the witness or the key.
    fn polynomial(&self, column: Column) -> Result<CowScalars<'_>, PlonkError> {
        match self.polynomials.get(&column) {
            Some(coefficients) => Ok(CowScalars::from(coefficients)),
            None => self.key.coefficients(self.level, column),
        }
    }

    /// The values of the opened cells.
    pub(super) fn round5_evaluate(&mut self) -> Result<Vec<Fr>, PlonkError> {
        self.phase("open");
        let xi = self.challenges.xi;
        let value = |&Cell { next, column }: &Cell| {
            // The next row is at omega X: its cell has the value of the column at xi omega.
            let x = if next { xi * self.domain.root() } else { xi };
            Ok(evaluate(self.level, &self.polynomial(column)?, x))
        };
        self.system.opened().iter().map(value).collect()
    }

    /// The quotient polynomials of the folded openings at xi and at xi omega.
    pub(super) fn round5_open(
        &mut self,
        quotient: Vec<Scalars>,
        evaluations: &[Fr],
        public: &[Fr],
    ) -> Result<[Scalars; 2], PlonkError> {
        self.phase("open");
        let key = self.key.verifying_key();
        // xi is a hash; it is in the domain with negligible probability.
        let linearisation = Linearisation::new(key, public, &self.challenges, evaluations);
        let Linearisation { columns, quotient: quotient_factors, constant } =
            linearisation.ok_or(PlonkError::NotProven)?;
        let mut folded = [columns, BTreeMap::new()];
        // The linearisation has the value -constant at xi, so no value of it is sent.
        let mut values = [-constant, Fr::ZERO];
        for ((cell, factor), value) in opening_factors(self.system, self.challenges.v).zip(evaluations) {
            *folded[usize::from(cell.next)].entry(cell.column).or_default() += factor;
            values[usize::from(cell.next)] += factor * *value;
        }
        let points = [self.challenges.xi, self.challenges.xi * self.domain.root()];
        // Round 5 of the paper: W = (sum of factors times polynomials - value) / (X - point).
        let length = self.domain.len() + self.system.extra_powers();
        let mut openings = [self.storage().scalars(length)?, self.storage().scalars(length)?];
        // The summand -Z_H t of the linearisation; it opens only at xi.
        for (part, factor) in quotient.into_iter().zip(quotient_factors) {
            add_multiple(self.level, &mut openings[0], factor, &part);
        }
        for (i, sum) in openings.iter_mut().enumerate() {
            for (column, factor) in &folded[i] {
                add_multiple(self.level, sum, *factor, &self.polynomial(*column)?);
            }
            sum[0] -= values[i];
            // The remainder is not zero if the witness is wrong and was not checked; verification then
            // refuses the proof.
            let _ = divide_by_linear(self.level, sum, points[i]);
            sum.release(0..length);
        }
        Ok(openings)
    }
}
