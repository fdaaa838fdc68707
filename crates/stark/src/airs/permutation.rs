//! Poseidon2 as a sequence of committed values, for traces and for constraints.

use proofmill_field::{Algebra, Field, Invert, goldilocks::Goldilocks};
use proofmill_hash::poseidon2::{BLOCK, HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Parameters, Poseidon2};
use std::ops::{Add, Mul};

/// The parameters of a width, as elements.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    diagonal: Vec<Goldilocks>,
    constants: Vec<Goldilocks>,
}

impl Permutation {
    pub(super) fn new<const WIDTH: usize>() -> Self
    where
        Poseidon2<WIDTH>: Parameters,
    {
        let half = Goldilocks::from(2_u32).invert_vartime().expect("2 is not zero");
        let diagonal = Poseidon2::<WIDTH>::DIAGONAL.iter().map(|entry| {
            let size =
                Goldilocks::from(entry.factor.unsigned_abs()) * half.pow_vartime(&[entry.halvings.into()]);
            if entry.factor < 0 { -size } else { size }
        });
        Self {
            diagonal: diagonal.collect(),
            constants: Poseidon2::<WIDTH>::ROUND_CONSTANTS
                .iter()
                .map(|word| Goldilocks::new(*word))
                .collect(),
        }
    }

    /// The number of elements of a state.
    pub(super) fn width(&self) -> usize {
        self.diagonal.len()
    }

    /// The number of values that [`apply`](Self::apply) commits to: two for each S-box, except that the last round's outputs are left to
    /// the caller.
    pub(super) const fn committed(width: usize) -> usize {
        (2 * (2 * HALF_FULL_ROUNDS) - 1) * width + 2 * PARTIAL_ROUNDS
    }

    /// Permutes a state whose elements are linear in committed values, or plain elements.
    ///
    /// `commit(value)` gives the column that holds the value; columns are in the order of the calls. The column has degree 1 where the
    /// value has degree 3. An S-box x^7 commits to t = x^3. Its result t^2 x is committed to in turn, in full rounds after the linear
    /// layer. The results of the permutation have degree 3.
    pub(super) fn apply<T>(&self, state: &mut [T], mut commit: impl FnMut(T) -> T)
    where
        T: Copy + From<Goldilocks> + Add<Output = T> + Mul<Output = T>,
    {
        let (before, rest) = self.constants.split_at(HALF_FULL_ROUNDS * self.width());
        let (partial, after) = rest.split_at(PARTIAL_ROUNDS);
        multiply_by_blocks(state);
        for constants in before.chunks_exact(self.width()) {
            s_boxes(state, constants, &mut commit);
            multiply_by_blocks(state);
            commit_all(state, &mut commit);
        }
        for constant in partial {
            s_boxes(&mut state[..1], &[*constant], &mut commit);
            commit_all(&mut state[..1], &mut commit);
            let sum = sum(state.iter());
            for (element, entry) in state.iter_mut().zip(&self.diagonal) {
                *element = sum + *element * T::from(*entry);
            }
        }
        for (index, constants) in after.chunks_exact(self.width()).enumerate() {
            if index > 0 {
                commit_all(state, &mut commit);
            }
            s_boxes(state, constants, &mut commit);
            multiply_by_blocks(state);
        }
    }
}

/// Replaces elements by the seventh powers of their sums with constants, after committing to the third powers.
fn s_boxes<T>(elements: &mut [T], constants: &[Goldilocks], commit: &mut impl FnMut(T) -> T)
where
    T: Copy + From<Goldilocks> + Add<Output = T> + Mul<Output = T>,
{
    for (element, constant) in elements.iter_mut().zip(constants) {
        let x = *element + T::from(*constant);
        let cube = commit(x * x * x);
        *element = cube * cube * x;
    }
}

fn commit_all<T: Copy>(elements: &mut [T], commit: &mut impl FnMut(T) -> T) {
    elements.iter_mut().for_each(|element| *element = commit(*element));
}

/// The linear layer of full rounds: a block times each four elements, plus the sum of all these products.
fn multiply_by_blocks<T: Copy + From<Goldilocks> + Add<Output = T>>(state: &mut [T]) {
    for four in state.as_chunks_mut::<4>().0 {
        let sum = sum(four.iter());
        let before = *four;
        for (row, element) in four.iter_mut().enumerate() {
            // The entries are small: the sum has each element once.
            *element = sum;
            for (column, entry) in BLOCK.iter().enumerate().filter(|(_, entry)| **entry > 1) {
                for _ in 1..*entry {
                    *element = *element + before[(row + column) % 4];
                }
            }
        }
    }
    for i in 0..4 {
        let sum = sum(state[i..].iter().step_by(4));
        state[i..].iter_mut().step_by(4).for_each(|element| *element = *element + sum);
    }
}

fn sum<'a, T: Copy + From<Goldilocks> + Add<Output = T> + 'a>(terms: impl Iterator<Item = &'a T>) -> T {
    terms.fold(T::from(Goldilocks::ZERO), |sum, term| sum + *term)
}
