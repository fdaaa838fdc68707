//! The highest coefficients of the identity, computed from those of its polynomials.

use super::ProverState;
use crate::{
    Cells, Column, PlonkError,
    arithmetisation::{summand::SummandSink, system::MOST_EXCESS},
};
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};
use std::{
    collections::BTreeMap,
    iter::successors,
    ops::{Add, Mul, Neg, Sub},
};

/// The coefficients of `X^top`, `X^(top - 1)` and so on of a polynomial of degree at most `top`. Those of a
/// sum or product depend only on those of its operands.
#[derive(Clone, Copy, Debug)]
struct Leading {
    top: usize,
    coefficients: [Fr; MOST_EXCESS],
}

impl Leading {
    /// The highest coefficients of `all`, in descending order, each times the next of `factors`.
    fn of(all: &[Fr], factors: impl Iterator<Item = Fr>) -> Self {
        let mut coefficients = [Fr::ZERO; MOST_EXCESS];
        for (leading, (coefficient, factor)) in coefficients.iter_mut().zip(all.iter().rev().zip(factors)) {
            *leading = *coefficient * factor;
        }
        Self { top: all.len().saturating_sub(1), coefficients }
    }

    fn constant(value: Fr) -> Self {
        Self::of(&[value], std::iter::once(Fr::ONE))
    }

    /// The coefficient of X^`power`, which must not be below those that are stored.
    fn coefficient(&self, power: usize) -> Fr {
        self.top.checked_sub(power).map_or(Fr::ZERO, |place| self.coefficients[place])
    }
}

impl Add for Leading {
    type Output = Self;

    #[inline(never)]
    fn add(self, rhs: Self) -> Self {
        let (mut high, low) = if self.top < rhs.top { (rhs, self) } else { (self, rhs) };
        // The highest coefficients of the lower one are added to those of the same power.
        let places = high.coefficients.iter_mut().skip(high.top - low.top);
        places.zip(low.coefficients).for_each(|(sum, coefficient)| *sum += coefficient);
        high
    }
}

#[expect(clippy::suspicious_arithmetic_impl, reason = "coefficients of a product are sums")]
impl Mul for Leading {
    type Output = Self;

    #[inline(never)]
    fn mul(self, rhs: Self) -> Self {
        let term = |place: usize| {
            (0..=place).fold(Fr::ZERO, |sum, i| sum + self.coefficients[i] * rhs.coefficients[place - i])
        };
        Self { top: self.top + rhs.top, coefficients: std::array::from_fn(term) }
    }
}

impl Neg for Leading {
    type Output = Self;

    #[inline(never)]
    fn neg(self) -> Self {
        Self { coefficients: self.coefficients.map(Neg::neg), ..self }
    }
}

impl Sub for Leading {
    type Output = Self;

    #[inline(never)]
    fn sub(self, rhs: Self) -> Self {
        self + -rhs
    }
}

impl Algebra for Leading {
    type Token = ();

    fn token(&self) {}

    fn zero((): ()) -> Self {
        Self::constant(Fr::ZERO)
    }

    fn one((): ()) -> Self {
        Self::constant(Fr::ONE)
    }
}

/// The highest coefficients of columns, on a row and on the next.
struct Columns(BTreeMap<Column, [Leading; 2]>);

impl Columns {
    fn cell(&self, column: Column, next: usize) -> Leading {
        self.0.get(&column).map_or_else(|| Leading::zero(()), |pair| pair[next])
    }
}

impl Cells<Leading> for Columns {
    fn here(&self, column: Column) -> Leading {
        self.cell(column, 0)
    }

    fn after(&self, column: Column) -> Leading {
        self.cell(column, 1)
    }
}

struct Total<'a> {
    columns: &'a Columns,
    sum: Leading,
}

impl SummandSink<Leading> for Total<'_> {
    fn linear(&mut self, column: Column, factor: Leading) {
        self.sum = self.sum + factor * self.columns.here(column);
    }

    fn constant(&mut self, value: Leading) {
        self.sum = self.sum + value;
    }
}

impl ProverState<'_> {
    /// The coefficients of the quotient from that of `X^(n parts)` on, lowest first. They equal those of the
    /// identity n powers higher.
    pub(super) fn quotient_beyond_parts(&self) -> Result<Vec<Fr>, PlonkError> {
        let n = self.domain.len();
        let mut columns = Columns(BTreeMap::new());
        for column in self.system.fixed() {
            // The identity has the folded table instead of its columns.
            if !matches!(column, Column::TableColumn(_)) {
                let coefficients = self.key.coefficients(self.level, *column)?;
                columns.0.insert(*column, self.leading(&coefficients));
            }
        }
        for (column, coefficients) in &self.polynomials {
            columns.0.insert(*column, self.leading(coefficients));
        }
        columns.0.insert(Column::Point, self.leading(&[Fr::ZERO, Fr::ONE]));
        // (X^n - 1) / (n (X - 1)) = (1 + X + ... + X^(n-1)) / n.
        let inverse = Fr::from(n as u64).invert_vartime().unwrap_or_default();
        let first_lagrange =
            Leading { top: n - 1, ..Leading::of(&vec![inverse; n.min(MOST_EXCESS)], ones()) };
        columns.0.insert(Column::FirstLagrange, [first_lagrange; 2]);

        let parameters = self.system.parameters(&self.challenges, self.key.verifying_key().multipliers);
        let mut total = Total { columns: &columns, sum: columns.here(Column::PublicInput) };
        self.system.terms(&columns, &parameters.map(Leading::constant), &mut total);
        // The identity is `t X^n - t`, and t itself is too short to reach these powers.
        let lowest = (self.system.parts() + 1) * n;
        Ok((0..self.system.excess()).map(|i| total.sum.coefficient(lowest + i)).collect())
    }

    /// The highest coefficients of the polynomial f(X) with these coefficients, and of f(omega X).
    fn leading(&self, coefficients: &[Fr]) -> [Leading; 2] {
        // f(omega X) has coefficient i of f times omega^i; here the highest comes first.
        let root = self.domain.root();
        let highest = root.pow_vartime(&[coefficients.len().saturating_sub(1) as u64]);
        let inverse = root.invert_vartime().unwrap_or_default();
        let powers = successors(Some(highest), |power| Some(*power * inverse));
        [Leading::of(coefficients, ones()), Leading::of(coefficients, powers)]
    }
}

fn ones() -> impl Iterator<Item = Fr> {
    std::iter::repeat(Fr::ONE)
}
