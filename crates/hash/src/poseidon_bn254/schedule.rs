//! The permutation with fewer products: an equivalent permutation whose partial rounds have sparse matrices (eprint
//! 2019/458, appendix B).
//!
//! In a partial round only the first element passes the S-box. Constants of the other elements may be added after the
//! linear layer instead, so that each partial round adds one constant.
//!
//! Let `M = [m, v; w, N]` with first entry m. Then `M = [m, v/N; w, 1] [1, 0; 0, N]`, whose right factor does not
//! change the first element: it may act before the S-box, in the matrix of the round before, which becomes
//! `[m, v; N w, N N]`. Repeating this backwards, the k-th round from the last has `v N^-k`, `N^(k-1) w` and ones, and the
//! last full round before them has `[1, 0; 0, N^R] M`. A partial round then takes 2 t + 2 products for t elements in place
//! of t t + 3.

use super::HALF_FULL_ROUNDS;
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};

/// The widest state, in elements.
pub const MAX_WIDTH: usize = 17;

/// Constants in the order of use, as elements or prepared for lanes.
#[derive(Clone, Debug)]
pub(super) struct Schedule<T> {
    width: usize,
    /// The added constants of each full round before the partial ones, element by element.
    before: Vec<T>,
    /// The constants of each partial round.
    partial: Vec<Partial<T>>,
    /// The added constants of each full round after the partial ones.
    after: Vec<T>,
    /// The matrix, row by row.
    matrix: Vec<T>,
    /// The matrix of the last full round before the partial ones.
    last_before: Vec<T>,
}

/// The constants of a partial round.
#[derive(Clone, Debug)]
struct Partial<T> {
    /// The constant added to the first element.
    constant: T,
    /// The first row of the matrix.
    row: Vec<T>,
    /// The first column without its first entry.
    column: Vec<T>,
}

impl Schedule<Fr> {
    /// The schedule from the constants of all rounds and elements, and the matrix.
    pub(super) fn new(width: usize, round_constants: &[Fr], matrix: &[Fr]) -> Self {
        let (before, rest) = round_constants.split_at(HALF_FULL_ROUNDS * width);
        let (partial, after) = rest.split_at(rest.len() - HALF_FULL_ROUNDS * width);
        let mut after = after.to_vec();
        let mut constants = Vec::new();
        let mut moved = vec![Fr::ZERO; width];
        // Only the first element's constant stays; the others go through the linear layer.
        for round in partial.chunks_exact(width) {
            moved.iter_mut().zip(round).for_each(|(moved, constant)| *moved += *constant);
            constants.push(std::mem::take(&mut moved[0]));
            moved = Square::new(matrix).times(&moved);
        }
        // The first full round after the partial ones adds what is left of them.
        after.iter_mut().zip(&moved).for_each(|(constant, moved)| *constant += *moved);
        let block = Square::new(matrix).without_first();
        let inverse = block.inverse();
        let mut row = matrix[1..width].to_vec();
        let mut column: Vec<Fr> = matrix[width..].iter().step_by(width).copied().collect();
        let mut rounds = Vec::new();
        // From the last partial round to the first: rows gain a factor 1/N, columns a factor N.
        for constant in constants.iter().rev() {
            row = inverse.transposed().times(&row);
            let row_with_first = [&matrix[..1], &row].concat();
            rounds.push(Partial { constant: *constant, row: row_with_first, column: column.clone() });
            column = block.times(&column);
        }
        rounds.reverse();
        // What is left of the right factors, [1, 0; 0, N^R], acts in the round before.
        let mut last_before = matrix.to_vec();
        for column in 0..width {
            let below: Vec<Fr> = last_before[width..].iter().skip(column).step_by(width).copied().collect();
            let below = constants.iter().fold(below, |below, _| block.times(&below));
            for (row, entry) in below.into_iter().enumerate() {
                last_before[width * (row + 1) + column] = entry;
            }
        }
        Self { width, before: before.to_vec(), partial: rounds, after, matrix: matrix.to_vec(), last_before }
    }

    /// The same, prepared for lanes.
    pub(super) fn map<T>(&self, prepare: impl Fn(Fr) -> T) -> Schedule<T> {
        let all = |elements: &[Fr]| elements.iter().map(|element| prepare(*element)).collect();
        let partial = |round: &Partial<Fr>| Partial {
            constant: prepare(round.constant),
            row: all(&round.row),
            column: all(&round.column),
        };
        Schedule {
            width: self.width,
            before: all(&self.before),
            partial: self.partial.iter().map(partial).collect(),
            after: all(&self.after),
            matrix: all(&self.matrix),
            last_before: all(&self.last_before),
        }
    }
}

impl<T> Schedule<T> {
    /// Permutes K interleaved states, in the first elements of `states`; `value` converts a prepared constant, and `scale` multiplies by
    /// one, for a sum.
    #[inline(always)]
    pub(super) fn permute<A: Algebra, const K: usize>(
        &self,
        states: &mut [[A; K]; MAX_WIDTH],
        value: impl Fn(&T) -> A + Copy,
        scale: impl Fn([A; K], &T) -> [A; K] + Copy,
    ) {
        let last = HALF_FULL_ROUNDS - 1;
        for (round, constants) in self.before.chunks_exact(self.width).enumerate() {
            let matrix = if round == last { &self.last_before } else { &self.matrix };
            self.full_round(states, constants, matrix, value, scale);
        }
        for round in &self.partial {
            self.partial_round(states, round, value, scale);
        }
        for constants in self.after.chunks_exact(self.width) {
            self.full_round(states, constants, &self.matrix, value, scale);
        }
    }

    /// Adds constants, takes fifth powers of all elements and multiplies by a matrix.
    #[inline(always)]
    pub(super) fn full_round<A: Algebra, const K: usize>(
        &self,
        states: &mut [[A; K]; MAX_WIDTH],
        constants: &[T],
        matrix: &[T],
        value: impl Fn(&T) -> A + Copy,
        scale: impl Fn([A; K], &T) -> [A; K] + Copy,
    ) {
        let mut powers = [[A::zero(states[0][0].token()); K]; MAX_WIDTH];
        for i in 0..self.width {
            powers[i] = fifth_powers(states[i], value(&constants[i]));
        }
        for (i, row) in matrix.chunks_exact(self.width).enumerate() {
            states[i] = scale(powers[0], &row[0]);
            for j in 1..self.width {
                states[i] = sums(states[i], scale(powers[j], &row[j]));
            }
        }
    }

    #[inline(always)]
    fn partial_round<A: Algebra, const K: usize>(
        &self,
        states: &mut [[A; K]; MAX_WIDTH],
        round: &Partial<T>,
        value: impl Fn(&T) -> A + Copy,
        scale: impl Fn([A; K], &T) -> [A; K] + Copy,
    ) {
        let first = fifth_powers(states[0], value(&round.constant));
        states[0] = scale(first, &round.row[0]);
        for i in 1..self.width {
            states[0] = sums(states[0], scale(states[i], &round.row[i]));
            states[i] = sums(states[i], scale(first, &round.column[i - 1]));
        }
    }
}

/// `(x + c)^5`.
#[inline(always)]
fn fifth_powers<A: Algebra, const K: usize>(x: [A; K], c: A) -> [A; K] {
    let mut sum = x;
    for k in 0..K {
        sum[k] = x[k] + c;
    }
    let square = products(sum, sum);
    products(products(square, square), sum)
}

#[inline(always)]
fn sums<A: Algebra, const K: usize>(mut x: [A; K], y: [A; K]) -> [A; K] {
    for k in 0..K {
        x[k] = x[k] + y[k];
    }
    x
}

#[inline(always)]
pub(super) fn products<A: Algebra, const K: usize>(a: [A; K], b: [A; K]) -> [A; K] {
    let mut products = a;
    if K == 2 {
        [products[0], products[1]] = A::mul_pair([a[0], a[1]], [b[0], b[1]]);
    } else {
        for k in 0..K {
            products[k] = a[k] * b[k];
        }
    }
    products
}

/// A square matrix, row by row.
struct Square {
    width: usize,
    entries: Vec<Fr>,
}

impl Square {
    fn new(entries: &[Fr]) -> Self {
        Self { width: entries.len().isqrt(), entries: entries.to_vec() }
    }

    fn rows(&self) -> impl Iterator<Item = &[Fr]> {
        self.entries.chunks_exact(self.width)
    }

    /// The matrix without its first row and column.
    fn without_first(&self) -> Self {
        Self {
            width: self.width - 1,
            entries: self.rows().skip(1).flat_map(|row| &row[1..]).copied().collect(),
        }
    }

    fn transposed(&self) -> Self {
        let column = |i| self.rows().map(move |row| row[i]);
        Self { width: self.width, entries: (0..self.width).flat_map(column).collect() }
    }

    fn times(&self, vector: &[Fr]) -> Vec<Fr> {
        let product = |row: &[Fr]| row.iter().zip(vector).fold(Fr::ZERO, |sum, (a, b)| sum + *a * *b);
        self.rows().map(product).collect()
    }

    /// The inverse by Gauss-Jordan elimination. All square submatrices of this matrix are invertible, so that no
    /// pivot is zero.
    fn inverse(&self) -> Self {
        let width = self.width;
        let unit = |i: usize| (0..width).map(move |j| if i == j { Fr::ONE } else { Fr::ZERO });
        let mut rows: Vec<Vec<Fr>> =
            self.rows().enumerate().map(|(i, row)| row.iter().copied().chain(unit(i)).collect()).collect();
        for pivot in 0..width {
            let Some(inverse) = rows[pivot][pivot].invert_vartime() else { unreachable!("no pivot is zero") };
            rows[pivot].iter_mut().for_each(|entry| *entry *= inverse);
            let with_pivot = rows[pivot].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
                let factor = row[pivot];
                row.iter_mut().zip(&with_pivot).for_each(|(entry, by)| *entry -= factor * *by);
            }
        }
        Self { width, entries: rows.iter().flat_map(|row| &row[width..]).copied().collect() }
    }
}
