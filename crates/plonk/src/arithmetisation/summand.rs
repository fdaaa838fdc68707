//! Summands of the identity that a proof shows, as formulas.

use crate::{Cells, Column};
use proofmill_field::{Algebra, bn254::Fr};

/// Receives the summands of the identity.
pub(crate) trait SummandSink<A: Algebra> {
    /// Adds `column * factor`. The column of a selector that is not in the key is zero.
    fn linear(&mut self, column: Column, factor: A);
    /// Adds a value.
    fn constant(&mut self, value: A);

    /// Whether columns have values here ([`Self::value`]), so that summands can be added up directly.
    #[inline(always)]
    fn has_values(&self) -> bool {
        false
    }

    /// The value of the column, or `None` if it is zero on all rows or unknown here.
    #[inline(always)]
    fn value(&self, _: Column) -> Option<A> {
        None
    }
}

/// The challenges of a proof. Those not drawn yet are zero.
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

/// The challenges in the form that the formulas use, and field constants.
#[derive(Clone, Debug)]
pub(crate) struct FormulaParameters<A> {
    pub(crate) beta: A,
    pub(crate) gamma: A,
    /// beta times the multiplier of each wire's coset.
    pub(crate) beta_multipliers: [A; 4],
    /// Folds the columns of a table.
    pub(crate) eta: A,
    pub(crate) delta: A,
    pub(crate) epsilon: A,
    /// Powers of alpha, from power 0.
    pub(crate) alpha: Vec<A>,
    /// The constants of each gate of the system.
    pub(crate) constants: Vec<Vec<A>>,
}

impl<A: Copy> FormulaParameters<A> {
    /// Applies `f` to every value.
    pub(crate) fn map<B>(&self, mut f: impl FnMut(A) -> B) -> FormulaParameters<B> {
        let Self { beta, gamma, beta_multipliers: [k0, k1, k2, k3], eta, delta, epsilon, .. } = *self;
        FormulaParameters {
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

/// The formulas of an argument (a gate, the permutation, lookups). Each argument is a type of its own, so
/// that its loops over rows are compiled separately.
pub(crate) trait Summand: Copy + Send + Sync {
    /// Adds the summands of the identity to `sink`.
    fn terms<A: Algebra>(
        self,
        cells: &impl Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut impl SummandSink<A>,
    );
}

/// An argument with a running product or sum.
pub(crate) trait Growing: Summand {
    /// The factor or the summand from one row to the next, as numerator and denominator.
    fn growth<A: Algebra>(self, cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> [A; 2];
}

/// The powers of alpha of the permutation argument's two constraints; the first gate has power 0.
pub(crate) const PERMUTATION_POWERS: [usize; 2] = [1, 2];
/// The powers of alpha of the lookup argument's two constraints.
pub(crate) const LOOKUP_POWERS: [usize; 2] = [3, 4];
