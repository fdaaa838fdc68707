//! Equations: a sum with at most one product is zero. One row, or a few consecutive ones, can express an
//! equation.

use super::Derivations;
use proofmill_field::{Field, Invert, bn254::Fr};
use std::collections::HashMap;

/// A sum of factors times variables, and a constant. Variables are ascending and distinct, factors not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LinearCombination {
    pub(super) terms: Vec<(u32, Fr)>,
    pub(super) constant: Fr,
}

impl LinearCombination {
    /// The combination of terms in any order; variable 0 is the constant one.
    pub(super) fn new(terms: impl Iterator<Item = (u32, Fr)>) -> Self {
        let mut terms: Vec<_> = terms.collect();
        terms.sort_unstable_by_key(|(variable, _)| *variable);
        terms.dedup_by(|(variable, factor), (kept, sum)| {
            let same = variable == kept;
            if same {
                *sum += *factor;
            }
            same
        });
        terms.retain(|(_, factor)| !factor.is_zero());
        let constant = if terms.first().is_some_and(|(variable, _)| *variable == 0) {
            terms.remove(0).1
        } else {
            Fr::ZERO
        };
        Self { terms, constant }
    }

    /// `left_factor * left + right_factor * right`.
    pub(super) fn weighted(left_factor: Fr, left: &Self, right_factor: Fr, right: &Self) -> Self {
        let scaled = |factor: Fr, of: &Self| {
            let constant = (0, factor * of.constant);
            let terms: Vec<_> =
                of.terms.iter().map(|(variable, value)| (*variable, factor * *value)).collect();
            terms.into_iter().chain([constant])
        };
        Self::new(scaled(left_factor, left).chain(scaled(right_factor, right)))
    }
}

/// `factor * x * y + sum = 0` or `sum = 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QuadraticEquation {
    /// The factor, x and y.
    pub(super) product: Option<(Fr, [u32; 2])>,
    pub(super) sum: LinearCombination,
}

/// The equations of constraints, and the derivations of additional variables.
#[derive(Debug)]
pub(super) struct Equations {
    pub(super) list: Vec<QuadraticEquation>,
    pub(super) derivations: Derivations,
    /// The variables that replace sums in products, by the limbs of the sum's terms, scaled so that the first
    /// factor is one.
    factors: HashMap<Vec<(u32, [u64; 4])>, u32>,
}

impl Equations {
    /// No equations, for a circuit with `wires` wires.
    pub(super) fn new(wires: u32) -> Self {
        Self { list: Vec::new(), derivations: Derivations::new(wires), factors: HashMap::new() }
    }

    /// Adds the equations of the constraint `a * b = c`.
    pub(super) fn constrain(&mut self, [a, b, c]: [LinearCombination; 3]) {
        if a.terms.is_empty() {
            return self.sum(LinearCombination::weighted(a.constant, &b, -Fr::ONE, &c));
        }
        if b.terms.is_empty() {
            return self.sum(LinearCombination::weighted(b.constant, &a, -Fr::ONE, &c));
        }
        // (k x + a0) (l y + b0) = k l x y + b0 k x + a0 l y + a0 b0; the last three terms are a0 b + b0 a -
        // a0 b0.
        let (a0, b0) = (a.constant, b.constant);
        let a = self.factor(a);
        let b = self.factor(b);
        let (x, k) = a.terms[0];
        let (y, l) = b.terms[0];
        let mut sum = LinearCombination::weighted(b0, &a, a0, &b);
        sum.constant -= a0 * b0;
        let sum = LinearCombination::weighted(Fr::ONE, &sum, -Fr::ONE, &c);
        self.list.push(QuadraticEquation { product: Some((k * l, [x, y])), sum });
    }

    fn sum(&mut self, sum: LinearCombination) {
        if sum != LinearCombination::default() {
            self.list.push(QuadraticEquation { product: None, sum });
        }
    }

    /// Reduces the combination to one term: a variable for its sum, new unless the same sum has one already.
    fn factor(&mut self, combination: LinearCombination) -> LinearCombination {
        let LinearCombination { mut terms, constant } = combination;
        let (_, leading) = terms[0];
        if terms.len() == 1 {
            return LinearCombination { terms, constant };
        }
        let inverse = leading.invert_vartime().unwrap_or_default();
        terms.iter_mut().for_each(|(_, factor)| *factor *= inverse);
        let key = terms.iter().map(|(variable, factor)| (*variable, factor.to_montgomery())).collect();
        let variable = *self.factors.entry(key).or_insert_with(|| {
            let variable = self.derivations.push(terms.iter().copied());
            terms.push((variable, -Fr::ONE));
            self.list.push(QuadraticEquation {
                product: None,
                sum: LinearCombination { terms, constant: Fr::ZERO },
            });
            variable
        });
        LinearCombination { terms: vec![(variable, leading)], constant }
    }
}
