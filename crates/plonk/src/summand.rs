//! Summands of the identity that a proof shows, as formulas.

use crate::{Cells, Column};
use proofmill_field::{Algebra, bn254::Fr};

/// Takes the identity's summands.
pub(crate) trait Sink<A: Algebra> {
    /// Adds `column * factor`; the column of a selector that the key lacks is zero.
    fn linear(&mut self, column: Column, factor: A);
    /// Adds a value.
    fn constant(&mut self, value: A);

    /// Whether summands are added up where columns have values, which [`Self::value`] gives.
    #[inline(always)]
    fn has_values(&self) -> bool {
        false
    }

    /// The column's value; `None` if that is zero on all rows, or not known here.
    #[inline(always)]
    fn value(&self, _: Column) -> Option<A> {
        None
    }
}

/// All challenges of a proof; those not drawn yet are zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Challenges {
    pub(crate) eta: Fr,
    pub(crate) beta: Fr,
    pub(crate) gamma: Fr,
    pub(crate) delta: Fr,
    pub(crate) epsilon: Fr,
    pub(crate) alpha: Fr,
    pub(crate) xi: Fr,
    pub(crate) v: Fr,
    pub(crate) u: Fr,
}

/// The challenges as the formulas use them, and field constants.
#[derive(Clone, Debug)]
pub(crate) struct Parameters<A> {
    pub(crate) beta: A,
    pub(crate) gamma: A,
    /// beta times the multiplier of each wire's coset.
    pub(crate) beta_multipliers: [A; 4],
    /// Folds a table's columns.
    pub(crate) eta: A,
    pub(crate) delta: A,
    pub(crate) epsilon: A,
    /// Powers of alpha from 0.
    pub(crate) alpha: Vec<A>,
    /// Of each gate of the system.
    pub(crate) constants: Vec<Vec<A>>,
}

impl<A: Copy> Parameters<A> {
    /// Every value mapped.
    pub(crate) fn map<B>(&self, mut f: impl FnMut(A) -> B) -> Parameters<B> {
        let Self { beta, gamma, beta_multipliers: [k0, k1, k2, k3], eta, delta, epsilon, .. } = *self;
        Parameters {
            beta: f(beta),
            gamma: f(gamma),
            beta_multipliers: [f(k0), f(k1), f(k2), f(k3)],
            eta: f(eta),
            delta: f(delta),
            epsilon: f(epsilon),
            alpha: self.alpha.iter().map(|power| f(*power)).collect(),
            constants: self
                .constants
                .iter()
                .map(|constants| constants.iter().map(|constant| f(*constant)).collect())
                .collect(),
        }
    }
}

/// The formulas of an argument (a gate, the permutation, lookups), a type each so that loops over rows are compiled one by one.
pub(crate) trait Summand: Copy + Send + Sync {
    /// The summands of the identity.
    fn terms<A: Algebra>(self, cells: &impl Cells<A>, parameters: &Parameters<A>, sink: &mut impl Sink<A>);
}

/// A summand with a column that is a running product or sum.
pub(crate) trait Growing: Summand {
    /// What it is multiplied with, or what is added, from a row to the next, as numerator and denominator.
    fn growth<A: Algebra>(self, cells: &impl Cells<A>, parameters: &Parameters<A>) -> [A; 2];
}

/// The powers of alpha of the permutation argument's two constraints; the first gate has 0.
pub(crate) const PERMUTATION_POWERS: [usize; 2] = [1, 2];
/// Those of the lookup argument's.
pub(crate) const LOOKUP_POWERS: [usize; 2] = [3, 4];
