//! The linearisation polynomial: the identity at xi as a combination of committed polynomials (r(X) in
//! section 8.3 of the paper).
//!
//! With the opened cells replaced by their values at xi, the identity is linear in columns whose commitments
//! are known. The prover adds up polynomials, the verifier points.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{
    lookup::TABLE_COLUMNS,
    summand::{Challenges, FormulaParameters, SummandSink},
};
use crate::{Cell, Cells, Column, System, VerifyingKey, polynomial::repeated_square};
use proofmill_field::{Algebra, Field, batch_invert_vartime, bn254::Fr};
use std::collections::BTreeMap;

/// The factors of the committed polynomials. The combination plus `constant` is zero at xi.
#[derive(Clone, Debug)]
pub(crate) struct Linearisation<A = Fr> {
    /// The factors of columns.
    pub(crate) columns: BTreeMap<Column, A>,
    /// The factors of the quotient's parts.
    pub(crate) quotient: Vec<A>,
    /// The constant term (r_0 in the paper).
    pub(crate) constant: A,
}

/// Values at xi that the verifier computes itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifierValues<A> {
    pub(crate) xi: A,
    /// `xi^n`.
    pub(crate) xi_n: A,
    /// `L_1(xi)`.
    pub(crate) first_lagrange: A,
    /// `PI(xi)`.
    pub(crate) public_input: A,
}

impl Linearisation {
    /// The factors for these challenges (v and u are not used), or `None` if xi is in the domain, where the
    /// identity is no evidence. `public` has the length given in the key, which is at most the size of the
    /// domain. `evaluations` has one value for each opened cell of the system.
    pub(crate) fn new(
        key: &VerifyingKey,
        public: &[Fr],
        challenges: &Challenges,
        evaluations: &[Fr],
    ) -> Option<Self> {
        let xi = challenges.xi;
        let xi_n = repeated_square(xi, key.log_n);
        let vanishing = xi_n - Fr::ONE;
        if vanishing.is_zero() {
            return None;
        }
        let (first_lagrange, public_input) = public_input(key.log_n, public, xi, vanishing)?;
        let parameters = key.system.parameters(challenges, key.multipliers);
        let known = VerifierValues { xi, xi_n, first_lagrange, public_input };
        Some(Self::of_values(&key.system, &parameters, known, evaluations))
    }
}

impl<A: Algebra> Linearisation<A> {
    /// The factors for values of any type. `evaluations` has one value for each opened cell of the system.
    pub(crate) fn of_values(
        system: &System,
        parameters: &FormulaParameters<A>,
        known: VerifierValues<A>,
        evaluations: &[A],
    ) -> Self {
        // The last summand of r in the paper: `-Z_H(xi) (t_lo + xi^n t_mid + xi^(2n) t_hi)`.
        let powers = std::iter::successors(Some(known.xi_n - A::one(known.xi_n.token())), |power| {
            Some(*power * known.xi_n)
        });
        let quotient = powers.take(system.parts()).map(|power| -power).collect();
        let cells = Evaluated { system, evaluations, known };
        // PI is not in any column: it begins the constant, which is r_0 of the paper.
        let mut sum = Collected { system, columns: BTreeMap::new(), constant: known.public_input };
        system.terms(&cells, parameters, &mut sum);
        let Collected { columns, constant, .. } = sum;
        Self { columns, quotient, constant }
    }

    /// Adds the openings at xi (folded by powers of v) and, times u, those at xi omega: the combination that
    /// the opening proofs prove. Its columns include no folded ones; its constant is minus the folded value.
    pub(crate) fn with_openings(self, system: &System, evaluations: &[A], v: A, u: A, eta: A) -> Self {
        let Self { mut columns, quotient, mut constant } = self;
        for ((cell, factor), evaluation) in opening_factors(system, v).zip(evaluations) {
            // u keeps the two openings apart: an error in one cannot cancel an error in the other.
            let factor = if cell.next { u * factor } else { factor };
            constant = constant - factor * *evaluation;
            add(&mut columns, cell.column, factor);
        }
        Self { columns: unfolded(columns, eta), quotient, constant }
    }
}

/// Adds to the factor of a column.
fn add<A: Algebra>(columns: &mut BTreeMap<Column, A>, column: Column, factor: A) {
    let sum = columns.entry(column).or_insert_with(|| A::zero(factor.token()));
    *sum = *sum + factor;
}

/// The values at xi.
struct Evaluated<'a, A> {
    system: &'a System,
    evaluations: &'a [A],
    known: VerifierValues<A>,
}

impl<A: Algebra> Evaluated<'_, A> {
    /// The value of an opened cell. Cells that are not opened occur only in factors of columns that are not
    /// in the key.
    fn value(&self, cell: Cell) -> A {
        let place = self.system.opened().binary_search(&cell).ok();
        place
            .and_then(|place| self.evaluations.get(place))
            .copied()
            .unwrap_or_else(|| A::zero(self.known.xi.token()))
    }
}

impl<A: Algebra> Cells<A> for Evaluated<'_, A> {
    fn here(&self, column: Column) -> A {
        match column {
            Column::Point => self.known.xi,
            Column::FirstLagrange => self.known.first_lagrange,
            _ => self.value(Cell { next: false, column }),
        }
    }

    fn after(&self, column: Column) -> A {
        self.value(Cell { next: true, column })
    }
}

/// Collects the summands by column.
struct Collected<'a, A> {
    system: &'a System,
    columns: BTreeMap<Column, A>,
    constant: A,
}

impl<A: Algebra> SummandSink<A> for Collected<'_, A> {
    fn linear(&mut self, column: Column, factor: A) {
        if !self.system.lacks(column) {
            add(&mut self.columns, column, factor);
        }
    }

    fn constant(&mut self, value: A) {
        self.constant = self.constant + value;
    }
}

/// `L_1(xi)` and `PI(xi) = -sum of public[i] L_(i+1)(xi)`, where `vanishing = xi^n - 1` is not zero and
/// `L_i(xi) = omega^(i-1) vanishing / (n (xi - omega^(i-1)))`.
pub(crate) fn public_input(log_n: u32, public: &[Fr], xi: Fr, vanishing: Fr) -> Option<(Fr, Fr)> {
    let root = Fr::root_of_unity(log_n)?;
    let roots = std::iter::successors(Some(Fr::ONE), |power| Some(*power * root));
    let size = Fr::from(1 << log_n);
    // L_1 is needed even without public inputs.
    let mut lagrange: Vec<Fr> =
        roots.clone().take(public.len().max(1)).map(|power| size * (xi - power)).collect();
    batch_invert_vartime(&mut lagrange);
    for (value, power) in lagrange.iter_mut().zip(roots) {
        *value = *value * power * vanishing;
    }
    let sum = public.iter().zip(&lagrange).fold(Fr::ZERO, |sum, (input, value)| sum - *input * *value);
    Some((*lagrange.first()?, sum))
}

/// The factors that fold the opened cells, in their order: v, v^2, ... at xi, and 1, v, ... at xi omega.
pub(crate) fn opening_factors<A: Algebra>(system: &System, v: A) -> impl Iterator<Item = (Cell, A)> {
    let powers = |first| std::iter::successors(Some(first), move |power| Some(*power * v));
    let at = |next| system.opened().iter().copied().filter(move |cell| cell.next == next);
    at(false).zip(powers(v)).chain(at(true).zip(powers(A::one(v.token()))))
}

/// Replaces the factors of folded columns by those of the columns they are folded from.
fn unfolded<A: Algebra>(columns: BTreeMap<Column, A>, eta: A) -> BTreeMap<Column, A> {
    let mut all = columns;
    if let Some(mut factor) = all.remove(&Column::Table) {
        for column in TABLE_COLUMNS {
            add(&mut all, column, factor);
            factor = factor * eta;
        }
    }
    all
}
