//! Iterated Poseidon2.

use super::{execution::Execution, permutation::Permutation};
use crate::air::{Air, Expression, Row};
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_hash::{
    permute,
    poseidon2::{Parameters, Poseidon2 as Hash},
};
use proofmill_run::parallel;

/// Poseidon2 of width 8 or 12 with the parameters of [`proofmill_hash::Poseidon2`], applied again and again.
///
/// **Statement.** `rows - 1` permutations lead from the first public state to the second.
///
/// **Public values.** The elements of both states: `2 WIDTH`.
///
/// **A row** is a permutation: its input, and for each S-box x^7 the value x^3 and the result, in full rounds after the linear layer. The
/// results of the last round are not committed to: they are the input of the next row. Width 8 has 172 columns and 188 constraints, width
/// 12 has 236 and 260. All constraints have degree 3 at most; any number of rows is possible.
///
/// Every committed value is a polynomial in the values before it, and every further input is one in the values of the previous row. So the
/// public input determines the whole trace, and no value needs a range. The last row's input is the second public state. Its permutation is
/// computed, but its output has no meaning, because the constraints between rows hold in all rows but the last.
///
/// The columns are laid out as in Plonky3's `p3-poseidon2-air` (`SBOX_REGISTERS = 1`), without the columns of the output.
#[derive(Clone, Debug)]
pub struct Poseidon2<const WIDTH: usize> {
    permutation: Permutation,
}

/// The number of rows of a task.
const TASK: usize = 64;

impl<const WIDTH: usize> Poseidon2<WIDTH>
where
    Hash<WIDTH>: Parameters,
{
    const COLUMNS: usize = WIDTH + Permutation::committed(WIDTH);

    /// The AIR; it does not depend on the number of rows.
    pub fn new() -> Self {
        Self { permutation: Permutation::new::<WIDTH>() }
    }

    /// The states from an input on, in `2^log_rows` rows.
    pub fn trace(&self, log_rows: u32, input: [Goldilocks; WIDTH]) -> Execution {
        let mut states = vec![input; 1 << log_rows];
        for row in 1..states.len() {
            let mut state = states[row - 1];
            permute::<Hash<WIDTH>>(&mut state);
            states[row] = state;
        }
        let mut trace = vec![Goldilocks::ZERO; Self::COLUMNS << log_rows];
        let tasks = trace.chunks_mut(TASK * Self::COLUMNS).zip(states.chunks(TASK));
        parallel::for_each(tasks, |(rows, states)| {
            for (row, state) in rows.chunks_exact_mut(Self::COLUMNS).zip(states) {
                fill(&self.permutation, state, row);
            }
        });
        let output = states[states.len() - 1];
        Execution { trace, public_values: [input, output].concat() }
    }
}

/// Writes the columns of a permutation, and returns its output.
pub(super) fn fill(
    permutation: &Permutation,
    input: &[Goldilocks],
    columns: &mut [Goldilocks],
) -> Vec<Goldilocks> {
    let (inputs, committed) = columns.split_at_mut(input.len());
    inputs.copy_from_slice(input);
    let (mut committed, mut state) = (committed.iter_mut(), input.to_vec());
    permutation.apply(&mut state, |value| {
        *committed.next().expect("a column for each value") = value;
        value
    });
    state
}

/// Constrains the columns of a permutation, which begin with its input, and returns its output, of degree 3.
pub(super) fn constrain(permutation: &Permutation, row: Row) -> Vec<Expression> {
    let width = permutation.width();
    let mut state: Vec<_> = (0..width).map(|column| row.column(column)).collect();
    let mut columns = width..;
    permutation.apply(&mut state, |value| {
        let column = row.column(columns.next().expect("a column for each value"));
        (column - value).must_vanish();
        column
    });
    state
}

impl<const WIDTH: usize> Default for Poseidon2<WIDTH>
where
    Hash<WIDTH>: Parameters,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<const WIDTH: usize> Air for Poseidon2<WIDTH>
where
    Hash<WIDTH>: Parameters,
{
    fn columns(&self) -> usize {
        Self::COLUMNS
    }

    fn public_values(&self) -> usize {
        2 * WIDTH
    }

    fn constrain(&self, row: Row) {
        let output = constrain(&self.permutation, row);
        for (column, output) in output.into_iter().enumerate() {
            let input = row.column(column);
            (row.is_first() * (input - row.public_value(column))).must_vanish();
            (row.is_transition() * (row.next(column) - output)).must_vanish();
            (row.is_last() * (input - row.public_value(WIDTH + column))).must_vanish();
        }
    }
}
