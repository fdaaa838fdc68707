//! AIRs to be proven, each a type of its own, and one type of all.

use p3_air::{Air, AirBuilder, BaseAir, WindowAccess};
use p3_field::{Field, PrimeCharacteristicRing};
use p3_goldilocks::Goldilocks;
use p3_matrix::dense::RowMajorMatrix;
use std::borrow::Cow;

/// Two columns; the first two values and the last one are public.
#[derive(Clone, Copy)]
pub(crate) struct Fibonacci;

impl Fibonacci {
    pub(crate) fn trace(log_rows: usize) -> (RowMajorMatrix<Goldilocks>, [Goldilocks; 3]) {
        let mut row = [Goldilocks::ZERO, Goldilocks::ONE];
        let mut values = Vec::new();
        for _ in 0..1 << log_rows {
            values.extend(row);
            row = [row[1], row[0] + row[1]];
        }
        let public = [values[0], values[1], values[values.len() - 1]];
        (RowMajorMatrix::new(values, 2), public)
    }
}

impl<F> BaseAir<F> for Fibonacci {
    fn width(&self) -> usize {
        2
    }

    fn num_public_values(&self) -> usize {
        3
    }
}

impl<AB: AirBuilder> Air<AB> for Fibonacci {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let [first, second, last] = [0, 1, 2].map(|index| builder.public_values()[index]);
        let (local, next) = (main.current_slice(), main.next_slice());
        builder.when_first_row().assert_eq(local[0], first);
        builder.when_first_row().assert_eq(local[1], second);
        builder.when_transition().assert_eq(next[0], local[1]);
        builder.when_transition().assert_eq(next[1], local[0] + local[1]);
        builder.when_last_row().assert_eq(local[1], last);
    }
}

/// Each column is a power of the one before; each row follows from the row before.
#[derive(Clone, Copy)]
pub(crate) struct Powers {
    pub(crate) columns: usize,
    pub(crate) degree: u64,
}

impl Powers {
    pub(crate) fn trace(&self, log_rows: usize) -> RowMajorMatrix<Goldilocks> {
        let (mut values, mut first) = (Vec::new(), Goldilocks::TWO);
        for _ in 0..1 << log_rows {
            values.push(first);
            for _ in 1..self.columns {
                let last = values[values.len() - 1];
                values.push(last.exp_u64(self.degree) + Goldilocks::ONE);
            }
            first = values[values.len() - 1] - first;
        }
        RowMajorMatrix::new(values, self.columns)
    }
}

impl<F> BaseAir<F> for Powers {
    fn width(&self) -> usize {
        self.columns
    }
}

impl<AB: AirBuilder> Air<AB> for Powers {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let (local, next) = (main.current_slice(), main.next_slice());
        for column in 1..self.columns {
            let power: AB::Expr = local[column - 1].into();
            builder.assert_eq(local[column], power.exp_u64(self.degree) + AB::Expr::ONE);
        }
        builder.when_transition().assert_eq(next[0], local[self.columns - 1] - local[0]);
    }
}

/// A column that grows by constants of a period of four rows, times a constant of a period of two.
#[derive(Clone, Copy)]
pub(crate) struct RoundConstants;

const CONSTANTS: [u64; 4] = [3, 1, 4, 1];
const FACTORS: [u64; 2] = [5, 9];

impl RoundConstants {
    pub(crate) fn trace(&self, log_rows: usize) -> RowMajorMatrix<Goldilocks> {
        let mut value = Goldilocks::ONE;
        let rows = (0..1 << log_rows).map(|row: usize| {
            let before = value;
            value =
                (value + Goldilocks::from_u64(CONSTANTS[row % 4])) * Goldilocks::from_u64(FACTORS[row % 2]);
            before
        });
        RowMajorMatrix::new_col(rows.collect())
    }
}

impl<F: PrimeCharacteristicRing> BaseAir<F> for RoundConstants {
    fn width(&self) -> usize {
        1
    }

    fn num_periodic_columns(&self) -> usize {
        2
    }

    fn periodic_columns(&self) -> Cow<'_, [Vec<F>]> {
        let constants = |values: &[u64]| values.iter().map(|value| F::from_u64(*value)).collect();
        Cow::Owned(vec![constants(&CONSTANTS), constants(&FACTORS)])
    }
}

impl<AB: AirBuilder> Air<AB> for RoundConstants {
    fn eval(&self, builder: &mut AB) {
        let main = builder.main();
        let [constant, factor]: [AB::Expr; 2] = [0, 1].map(|index| builder.periodic_values()[index].into());
        let (local, next) = (main.current_slice()[0], main.next_slice()[0]);
        builder.when_transition().assert_eq(next, (constant + local) * factor);
    }
}

/// A column that grows by a fixed column of squares and by its next value.
#[derive(Clone, Copy)]
pub(crate) struct Preprocessed {
    pub(crate) log_rows: usize,
}

impl Preprocessed {
    fn square(row: usize) -> u64 {
        (row * row) as u64
    }

    pub(crate) fn trace(log_rows: usize) -> RowMajorMatrix<Goldilocks> {
        let sums = (0..1 << log_rows).scan(0, |sum, row| {
            let before = *sum;
            *sum += Self::square(row) + Self::square(row + 1);
            Some(Goldilocks::from_u64(before))
        });
        RowMajorMatrix::new_col(sums.collect())
    }
}

impl<F: Field> BaseAir<F> for Preprocessed {
    fn width(&self) -> usize {
        1
    }

    fn preprocessed_width(&self) -> usize {
        1
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        let squares = (0..1 << self.log_rows).map(|row| F::from_u64(Self::square(row)));
        Some(RowMajorMatrix::new_col(squares.collect()))
    }
}

impl<AB: AirBuilder<F: Field>> Air<AB> for Preprocessed {
    fn eval(&self, builder: &mut AB) {
        let (main, fixed) = (builder.main(), builder.preprocessed().clone());
        let (local, next) = (main.current_slice()[0], main.next_slice()[0]);
        let (square, next_square) = (fixed.current_slice()[0], fixed.next_slice()[0]);
        builder.when_transition().assert_eq(next, local + square + next_square);
    }
}

/// Two columns, the second of which is the product of the first and of a fixed column; no constraint reads the next row.
#[derive(Clone, Copy)]
pub(crate) struct Products {
    pub(crate) log_rows: usize,
}

impl Products {
    fn factor(row: usize) -> u64 {
        (3 * row + 1) as u64
    }

    pub(crate) fn trace(log_rows: usize) -> RowMajorMatrix<Goldilocks> {
        let row =
            |row: usize| [row as u64 + 7, (row as u64 + 7) * Self::factor(row)].map(Goldilocks::from_u64);
        RowMajorMatrix::new((0..1 << log_rows).flat_map(row).collect(), 2)
    }
}

impl<F: Field> BaseAir<F> for Products {
    fn width(&self) -> usize {
        2
    }

    fn main_next_row_columns(&self) -> Vec<usize> {
        vec![]
    }

    fn preprocessed_width(&self) -> usize {
        1
    }

    fn preprocessed_next_row_columns(&self) -> Vec<usize> {
        vec![]
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        let factors = (0..1 << self.log_rows).map(|row| F::from_u64(Self::factor(row)));
        Some(RowMajorMatrix::new_col(factors.collect()))
    }
}

impl<AB: AirBuilder<F: Field>> Air<AB> for Products {
    fn eval(&self, builder: &mut AB) {
        let (main, fixed) = (builder.main(), builder.preprocessed().clone());
        let (local, factor) = (main.current_slice(), fixed.current_slice()[0]);
        builder.assert_eq(local[1], local[0] * factor);
    }
}

/// Any of them. One type, because Plonky3's provers and verifiers are compiled again for each.
#[allow(dead_code, reason = "benchmarks use the others")]
#[derive(Clone, Copy)]
pub(crate) enum Example {
    Fibonacci(Fibonacci),
    Powers(Powers),
    RoundConstants(RoundConstants),
    Preprocessed(Preprocessed),
    Products(Products),
}

/// Evaluates an expression with `$air` bound to the AIR.
macro_rules! of_example {
    ($example:expr, $air:ident => $value:expr) => {
        match $example {
            Example::Fibonacci($air) => $value,
            Example::Powers($air) => $value,
            Example::RoundConstants($air) => $value,
            Example::Preprocessed($air) => $value,
            Example::Products($air) => $value,
        }
    };
}

impl<F: Field> BaseAir<F> for Example {
    fn width(&self) -> usize {
        of_example!(self, air => BaseAir::<F>::width(air))
    }

    fn num_public_values(&self) -> usize {
        of_example!(self, air => BaseAir::<F>::num_public_values(air))
    }

    fn main_next_row_columns(&self) -> Vec<usize> {
        of_example!(self, air => BaseAir::<F>::main_next_row_columns(air))
    }

    fn preprocessed_width(&self) -> usize {
        of_example!(self, air => BaseAir::<F>::preprocessed_width(air))
    }

    fn preprocessed_next_row_columns(&self) -> Vec<usize> {
        of_example!(self, air => BaseAir::<F>::preprocessed_next_row_columns(air))
    }

    fn preprocessed_trace(&self) -> Option<RowMajorMatrix<F>> {
        of_example!(self, air => air.preprocessed_trace())
    }

    fn num_periodic_columns(&self) -> usize {
        of_example!(self, air => BaseAir::<F>::num_periodic_columns(air))
    }

    fn periodic_columns(&self) -> Cow<'_, [Vec<F>]> {
        of_example!(self, air => air.periodic_columns())
    }
}

impl<AB: AirBuilder<F: Field>> Air<AB> for Example {
    fn eval(&self, builder: &mut AB) {
        of_example!(self, air => air.eval(builder));
    }
}
