//! The values of columns at points: barycentric interpolation (Berrut, Trefethen, "Barycentric Lagrange interpolation", 2004).
//!
//! `f(z) = (z^n - s^n) / (n s^n) * sum_x f(x) x / (z - x)` over the coset of shift s and order n. The weights of a block of rows
//! are computed once for all matrices; the vectors are across columns, or across rows of narrow matrices. Each word is loaded
//! from memory once for all points.

use super::{
    BLOCK, Coset, Planes,
    coset::inverses,
    gather,
    sums::{Limbs, MOST_TERMS, Sum, limbs},
    total, vector_start,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, Invert, LANES, Lanes, dispatch_goldilocks,
    goldilocks::{
        Extension, ExtensionField, Goldilocks, GoldilocksEngine, GoldilocksVector, Planes as Halves, U64s,
        constant_planes,
    },
};
use proofmill_run::parallel;
use std::ops::Range;

/// A matrix and the points at which its columns are opened.
#[derive(Clone, Debug)]
pub struct Opened<'a> {
    /// The rows, which may be more than are needed.
    pub words: &'a [u64],
    /// The number of columns.
    pub width: usize,
    /// The indices of the points.
    pub points: Vec<usize>,
}

/// The largest number of blocks that one task sums.
const BLOCKS: usize = 16;

/// The number of rows that are read for each pair of vectors of columns before the next pair.
const ROWS: usize = 16;

/// The weights of a block's rows for one coefficient of one point.
struct Weights {
    words: [u64; BLOCK],
    limbs: [Limbs; BLOCK],
}

/// For each matrix and each of its points, the values of the columns. A column is a polynomial of degree below `2^log_rows`; its values on
/// the coset of that order are the first rows.
///
/// # Panics
/// If a matrix has too few rows, or if a point is in the coset.
pub fn evaluate<const N: usize>(
    level: Level,
    coset: &Coset,
    log_rows: u32,
    matrices: &[Opened<'_>],
    points: &[Extension<Goldilocks, N>],
) -> Vec<Vec<Vec<Extension<Goldilocks, N>>>>
where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    let rows = 1_usize << log_rows;
    let table = coset.table(1);
    let sums = sums(level, rows, matrices, |first, weights| {
        for (point, planes) in points.iter().zip(weights) {
            let element = coset.element(first);
            dispatch_goldilocks!(level, engine => inverses(engine, &table, element, *point, true, planes));
        }
    });
    // The factor in front of the sums, `(z^n - s^n) / (n s^n)`; the weights were `x / (z - x)`.
    let (n, s) = ([rows as u64], coset.shift());
    let s_n = s.pow_vartime(&n);
    let scale = (s_n * Goldilocks::new(rows as u64)).invert_vartime().expect("neither is zero");
    let scales = points.iter().map(|point| (point.pow_vartime(&n) - Extension::from_base(s_n)).scale(scale));
    let scales: Vec<_> = scales.collect();
    let of_matrix = |(matrix, mut values): (&Opened<'_>, Vec<Vec<Extension<Goldilocks, N>>>)| {
        for (point, values) in matrix.points.iter().zip(&mut values) {
            values.iter_mut().for_each(|value| *value *= scales[*point]);
        }
        values
    };
    matrices.iter().zip(sums).map(of_matrix).collect()
}

/// For each point of a matrix, the sums of the columns times the weights of their rows. `weights` is given the index of a point, and a
/// range of rows.
pub fn weighted_sums<const N: usize>(
    level: Level,
    matrix: &Opened<'_>,
    weights: impl Fn(usize, Range<usize>) -> Vec<Extension<Goldilocks, N>> + Sync,
) -> Vec<Vec<Extension<Goldilocks, N>>> {
    let rows = matrix.words.len() / matrix.width;
    let mut sums = sums(level, rows, std::slice::from_ref(matrix), |first, of_points| {
        for (point, planes) in of_points.iter_mut().enumerate() {
            for (row, weight) in weights(point, first..rows.min(first + BLOCK)).iter().enumerate() {
                planes.iter_mut().zip(weight.0).for_each(|(plane, word)| plane[row] = word.to_canonical());
            }
        }
    });
    sums.swap_remove(0)
}

/// For each matrix and each of its points, the sums of the columns times the weights of their rows. `weigh` is given the first row of a
/// block, and writes the weights of all points.
///
/// # Panics
/// If a matrix has too few rows.
fn sums<const N: usize>(
    level: Level,
    rows: usize,
    matrices: &[Opened<'_>],
    weigh: impl Fn(usize, &mut [Planes<N>]) + Sync,
) -> Vec<Vec<Vec<Extension<Goldilocks, N>>>> {
    assert!(matrices.iter().all(|matrix| rows * matrix.width <= matrix.words.len()), "{rows} rows");
    let points = matrices.iter().flat_map(|matrix| &matrix.points).max().map_or(0, |last| last + 1);
    let share = BLOCK * rows.div_ceil(BLOCK).div_ceil(4 * parallel::threads()).min(BLOCKS);
    let empty = || -> Vec<Vec<Vec<Goldilocks>>> {
        let of = |matrix: &Opened<'_>| vec![vec![Goldilocks::ZERO; matrix.width]; N * matrix.points.len()];
        matrices.iter().map(of).collect()
    };
    let tasks = parallel::map(parallel::ranges(rows, share), |range| {
        let mut sums = empty();
        for first in range.clone().step_by(BLOCK) {
            let count = BLOCK.min(range.end - first);
            let mut planes: Vec<Planes<N>> = vec![[[0; BLOCK]; N]; points];
            weigh(first, &mut planes);
            let weights = planes.iter().flatten().map(|words| Weights {
                words: *words,
                limbs: words.map(|word| limbs(Goldilocks::new(word))),
            });
            let weights: Vec<_> = weights.collect();
            for (matrix, sums) in matrices.iter().zip(&mut sums) {
                let Opened { words, width, points } = matrix;
                let words = &words[first * width..][..count * width];
                let of_points = points.iter().flat_map(|point| &weights[point * N..][..N]);
                let weights: Vec<_> = of_points.collect();
                dispatch_goldilocks!(level, engine => add(engine, words, *width, &weights, sums));
            }
        }
        sums
    });
    let mut sums = empty();
    for part in tasks {
        let parts = part.iter().flatten().flatten();
        sums.iter_mut().flatten().flatten().zip(parts).for_each(|(sum, part)| *sum += *part);
    }
    let of_matrix = |(matrix, sums): (&Opened<'_>, &Vec<Vec<Goldilocks>>)| {
        let of_point = |sums: &[Vec<Goldilocks>]| {
            (0..matrix.width).map(|column| Extension(std::array::from_fn(|d| sums[d][column]))).collect()
        };
        sums.chunks(N).map(of_point).collect()
    };
    matrices.iter().zip(&sums).map(of_matrix).collect()
}

/// Adds the sums of a block's rows times their weights.
fn add<E: GoldilocksEngine>(
    engine: E,
    words: &[u64],
    width: usize,
    weights: &[&Weights],
    sums: &mut [Vec<Goldilocks>],
) {
    const { assert!(BLOCK <= MOST_TERMS) };
    // Vectors are across columns, or across rows where a row is less than a vector.
    if width >= E::U64s::WIDTH {
        return add_wide(engine, words, width, weights, sums);
    }
    for column in 0..width {
        let values = gather(words, width, column);
        for (weights, sums) in weights.iter().zip(&mut *sums) {
            let mut lanes = [0; LANES];
            engine.run(
                #[inline(always)]
                || {
                    let mut sum = Halves::splat(engine, constant_planes::<E::Vector>(0));
                    for row in (0..BLOCK).step_by(E::U64s::WIDTH) {
                        let value = E::Vector::load(engine, &values[row..]);
                        sum = sum + value.product_planes(E::Vector::load(engine, &weights.words[row..]));
                    }
                    E::Vector::from_planes(sum).store(&mut lanes);
                },
            );
            sums[column] += total(&lanes);
        }
    }
}

fn add_wide<E: GoldilocksEngine>(
    engine: E,
    words: &[u64],
    width: usize,
    weights: &[&Weights],
    sums: &mut [Vec<Goldilocks>],
) {
    let rows = words.len() / width;
    let pairs = width.div_ceil(2 * E::U64s::WIDTH);
    // For each pair of vectors and each of the weights, two sums of three vectors.
    let mut state = vec![0; pairs * weights.len() * 6 * E::U64s::WIDTH];
    engine.run(
        #[inline(always)]
        || {
            let lanes = E::U64s::WIDTH;
            // A pair of vectors has its sums in registers for a group of rows, then in memory.
            for group in (0..rows).step_by(ROWS) {
                let len = ROWS.min(rows - group);
                let mut places = state.chunks_exact_mut(6 * lanes);
                for pair in 0..pairs {
                    let columns =
                        [vector_start::<E>(2 * pair, width), vector_start::<E>(2 * pair + 1, width)];
                    for weights in weights {
                        let Some(place) = places.next() else { return };
                        let mut parts = [Sum::zero(engine); 2];
                        for (k, part) in parts.iter_mut().enumerate() {
                            for i in 0..3 {
                                part.0[i] = E::U64s::load(engine, &place[(3 * k + i) * lanes..]);
                            }
                        }
                        for (r, limbs) in weights.limbs[group..][..len].iter().enumerate() {
                            let row = &words[(group + r) * width..][..width];
                            let a = E::U64s::load(engine, &row[columns[0]..]);
                            let b = E::U64s::load(engine, &row[columns[1]..]);
                            let mut splat = [a; 6];
                            for i in 0..6 {
                                splat[i] = E::U64s::splat(engine, limbs[i]);
                            }
                            parts[0].add([a, a.high_half()], splat);
                            parts[1].add([b, b.high_half()], splat);
                        }
                        for (k, part) in parts.iter().enumerate() {
                            for i in 0..3 {
                                part.0[i].store(&mut place[(3 * k + i) * lanes..]);
                            }
                        }
                    }
                }
            }
            for (index, place) in state.chunks_exact_mut(3 * lanes).enumerate() {
                let mut part = Sum::zero(engine);
                for i in 0..3 {
                    part.0[i] = E::U64s::load(engine, &place[i * lanes..]);
                }
                part.reduced().store(&mut place[..lanes]);
                let (vector, plane) = (index % 2 + index / 2 / weights.len() * 2, index / 2 % weights.len());
                let (start, fresh) = (vector_start::<E>(vector, width), vector * lanes);
                for lane in 0..lanes {
                    // Columns that the vector before has, too, were added there.
                    if start + lane >= fresh {
                        sums[plane][start + lane] += Goldilocks::new(place[lane]);
                    }
                }
            }
        },
    );
}
