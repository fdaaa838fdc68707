//! The identity at xi as a combination of committed polynomials (the paper's r(X), section 8.3).
//!
//! With the opened cells replaced by their values at xi, what is left is linear in columns whose commitments everyone has.
//! The prover adds the polynomials up, the verifier the points.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Cell, Cells, Column, System, VerifyingKey, challenges::Challenges, lookup::TABLE_COLUMNS,
    polynomial::repeated_square, system::Sink,
};
use proofmill_field::{Field, batch_invert, bn254::Fr};
use std::collections::BTreeMap;

/// Factors of the committed polynomials; the combination, plus `constant`, is zero at xi.
#[derive(Clone, Debug)]
pub(crate) struct Linearisation {
    /// Of columns.
    pub(crate) columns: BTreeMap<Column, Fr>,
    /// Of the quotient's parts.
    pub(crate) quotient: Vec<Fr>,
    /// What has no polynomial (the paper's r_0).
    pub(crate) constant: Fr,
}

impl Linearisation {
    /// The factors for the challenges (v and u are not used); `None` if xi is in the domain, where the
    /// identity says nothing. `public` has as many values as the key says, the domain as many rows, and `evaluations` are
    /// as many as the system opens cells.
    pub(crate) fn new(
        key: &VerifyingKey,
        public: &[Fr],
        challenges: &Challenges,
        evaluations: &[Fr],
    ) -> Option<Self> {
        let system = &key.system;
        let xi = challenges.xi;
        let xi_n = repeated_square(xi, key.log_n);
        let vanishing = xi_n - Fr::ONE;
        if vanishing.is_zero() {
            return None;
        }
        let (first_lagrange, public_input) = public_input(key.log_n, public, xi, vanishing)?;
        let cells = Evaluated { system, evaluations, xi, first_lagrange };
        let parameters = system.parameters(challenges, key.multipliers);
        let powers = std::iter::successors(Some(vanishing), |power| Some(*power * xi_n));
        let quotient = powers.take(system.parts()).map(|power| -power).collect();
        let mut sum = Collected { system, columns: BTreeMap::new(), constant: public_input };
        system.terms(&cells, &parameters, &mut sum);
        let Collected { columns, constant, .. } = sum;
        Some(Self { columns, quotient, constant })
    }
}

/// Values at xi.
struct Evaluated<'a> {
    system: &'a System,
    evaluations: &'a [Fr],
    xi: Fr,
    first_lagrange: Fr,
}

impl Evaluated<'_> {
    /// An opened cell's value. Cells that are not opened occur only in factors of columns that the key lacks.
    fn value(&self, cell: Cell) -> Fr {
        let place = self.system.opened().binary_search(&cell).ok();
        place.and_then(|place| self.evaluations.get(place)).copied().unwrap_or_default()
    }
}

impl Cells<Fr> for Evaluated<'_> {
    fn here(&self, column: Column) -> Fr {
        match column {
            Column::Point => self.xi,
            Column::FirstLagrange => self.first_lagrange,
            _ => self.value(Cell { next: false, column }),
        }
    }

    fn after(&self, column: Column) -> Fr {
        self.value(Cell { next: true, column })
    }
}

/// The summands by column.
struct Collected<'a> {
    system: &'a System,
    columns: BTreeMap<Column, Fr>,
    constant: Fr,
}

impl Sink<Fr> for Collected<'_> {
    fn linear(&mut self, column: Column, factor: Fr) {
        if !self.system.lacks(column) {
            *self.columns.entry(column).or_default() += factor;
        }
    }

    fn constant(&mut self, value: Fr) {
        self.constant += value;
    }
}

/// `L_1(xi)` and `PI(xi) = -sum of public[i] L_(i+1)(xi)`, where `vanishing = xi^n - 1` is not zero and
/// `L_i(xi) = omega^(i-1) vanishing / (n (xi - omega^(i-1)))`.
fn public_input(log_n: u32, public: &[Fr], xi: Fr, vanishing: Fr) -> Option<(Fr, Fr)> {
    let root = Fr::root_of_unity(log_n)?;
    let roots = std::iter::successors(Some(Fr::ONE), |power| Some(*power * root));
    let size = Fr::from(1 << log_n);
    let mut lagrange: Vec<Fr> =
        roots.clone().take(public.len().max(1)).map(|power| size * (xi - power)).collect();
    batch_invert(&mut lagrange);
    for (value, power) in lagrange.iter_mut().zip(roots) {
        *value = *value * power * vanishing;
    }
    let sum = public.iter().zip(&lagrange).fold(Fr::ZERO, |sum, (input, value)| sum - *input * *value);
    Some((*lagrange.first()?, sum))
}

/// The factors with which the opened cells are folded, in their order: v, v^2, ... at xi, and 1, v, ... at xi omega.
pub(crate) fn opening_factors(system: &System, v: Fr) -> impl Iterator<Item = (Cell, Fr)> {
    let powers = |first| std::iter::successors(Some(first), move |power| Some(*power * v));
    let at = |next| system.opened().iter().copied().filter(move |cell| cell.next == next);
    at(false).zip(powers(v)).chain(at(true).zip(powers(Fr::ONE)))
}

/// The factor of each column that is not folded of others, for factors of columns that may be.
pub(crate) fn unfolded(columns: BTreeMap<Column, Fr>, eta: Fr) -> BTreeMap<Column, Fr> {
    let mut all = columns;
    if let Some(mut factor) = all.remove(&Column::Table) {
        for column in TABLE_COLUMNS {
            *all.entry(column).or_default() += factor;
            factor *= eta;
        }
    }
    all
}
