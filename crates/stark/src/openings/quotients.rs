//! The quotients that FRI tests: `sum_z 1 / (z - x) sum_m (c_(m, z) - f_(m, z) sum_i p_(m, i) m_i(x))` for the rows x of matrices m of
//! one height, which are opened at points z.
//!
//! The rows' combinations are computed once for all points of a matrix. Vectors are across columns, two rows at a time: the factors of 64
//! vectors stay in the first-level cache while a block of rows goes by. In narrow matrices, where the sum of a vector's lanes would take
//! longer than the products, vectors are across rows.

use super::{
    BLOCK, Coset, Planes,
    coset::inverses,
    gather,
    sums::{MOST_TERMS, Sum, limbs},
    total, vector_start,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, LANES, Lanes, dispatch_goldilocks,
    goldilocks::{Extension, ExtensionField, Goldilocks, GoldilocksEngine, GoldilocksLanes, U64s},
};
use proofmill_run::parallel;

/// A matrix with the claims on its columns.
#[derive(Clone, Debug)]
pub struct Claimed<'a, const N: usize> {
    /// The rows.
    pub words: &'a [u64],
    /// The number of columns.
    pub width: usize,
    /// The factor of each column in the combination. There may be more factors than columns.
    pub powers: &'a [Extension<Goldilocks, N>],
    /// The claims, one per point.
    pub claims: Vec<Claim<N>>,
}

/// A claim on the combination of a matrix's columns.
#[derive(Clone, Copy, Debug)]
pub struct Claim<const N: usize> {
    /// The index of the point.
    pub point: usize,
    /// The claimed value of the combination at the point, times the factor.
    pub value: Extension<Goldilocks, N>,
    /// The factor of the combination.
    pub factor: Extension<Goldilocks, N>,
}

/// The number of vectors of a row whose products are added before a reduction.
const CHUNK: usize = 64;

/// Matrices of fewer columns are narrow. At least [`LANES`].
const NARROW: usize = 32;

/// The number of blocks of a task.
const BLOCKS: usize = 4;

/// The combination of the columns in each row.
///
/// # Panics
/// If the words are not whole rows, or if there is not one factor for each column.
pub fn combine<const N: usize>(
    level: Level,
    words: &[u64],
    width: usize,
    powers: &[Extension<Goldilocks, N>],
) -> Vec<Extension<Goldilocks, N>> {
    assert!(words.len().is_multiple_of(width) && powers.len() == width, "a factor for each column");
    let table = dispatch_goldilocks!(level, engine => factors(engine, powers));
    let mut results = vec![Extension([Goldilocks::ZERO; N]); words.len() / width];
    let task = BLOCKS * BLOCK;
    parallel::for_each(words.chunks(task * width).zip(results.chunks_mut(task)), |(words, results)| {
        for (words, results) in words.chunks(BLOCK * width).zip(results.chunks_mut(BLOCK)) {
            let mut combined = [[0; BLOCK]; N];
            dispatch_goldilocks!(level, engine => combine_block(engine, words, width, &table, &mut combined));
            write(&combined, results);
        }
    });
    results
}

fn write<const N: usize>(planes: &Planes<N>, elements: &mut [Extension<Goldilocks, N>]) {
    for (row, element) in elements.iter_mut().enumerate() {
        *element = Extension(std::array::from_fn(|d| Goldilocks::new(planes[d][row])));
    }
}

/// The sum of the matrices' quotients in each row.
///
/// # Panics
/// If a matrix has another height, if there are fewer factors than columns, or if a point is in the coset.
pub fn quotients<const N: usize>(
    level: Level,
    coset: &Coset,
    log_rows: u32,
    matrices: &[Claimed<'_, N>],
    points: &[Extension<Goldilocks, N>],
) -> Vec<Extension<Goldilocks, N>>
where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    let rows = 1_usize << log_rows;
    assert!(matrices.iter().all(|matrix| rows * matrix.width == matrix.words.len()), "2^{log_rows} rows");
    let table = coset.table(1);
    let tables: Vec<_> = matrices
        .iter()
        .map(|matrix| {
            let powers = &matrix.powers[..matrix.width];
            dispatch_goldilocks!(level, engine => factors(engine, powers))
        })
        .collect();
    let mut results = vec![Extension([Goldilocks::ZERO; N]); rows];
    let tasks = (0..).step_by(BLOCKS * BLOCK).zip(results.chunks_mut(BLOCKS * BLOCK));
    parallel::for_each(tasks, |(first, results)| {
        let mut sums: Vec<Planes<N>> = Vec::new();
        for (first, results) in (first..).step_by(BLOCK).zip(results.chunks_mut(BLOCK)) {
            sums.clear();
            sums.resize(points.len(), [[0; BLOCK]; N]);
            for (matrix, table) in matrices.iter().zip(&tables) {
                let words = &matrix.words[first * matrix.width..][..results.len() * matrix.width];
                let mut combined = [[0; BLOCK]; N];
                dispatch_goldilocks!(level, engine => {
                    combine_block(engine, words, matrix.width, table, &mut combined);
                    subtract(engine, &combined, &matrix.claims, &mut sums);
                });
            }
            let mut quotients = [[0; BLOCK]; N];
            // The claims at a point were added: one factor `1 / (z - x)` serves all matrices.
            for (point, sums) in points.iter().zip(&sums) {
                let element = coset.element(first);
                let mut factors = [[0; BLOCK]; N];
                dispatch_goldilocks!(level, engine => {
                    inverses(engine, &table, element, *point, false, &mut factors);
                    add_products(engine, sums, &factors, &mut quotients);
                });
            }
            write(&quotients, results);
        }
    });
    results
}

/// For each coefficient, the limbs of the factors: six vectors for each vector of columns. In [narrow](NARROW) matrices, the six limbs of
/// each column.
fn factors<E: GoldilocksEngine, const N: usize>(_: E, powers: &[Extension<Goldilocks, N>]) -> [Vec<u64>; N] {
    let (lanes, width) = (E::U64s::WIDTH, powers.len());
    std::array::from_fn(|d| {
        if width < NARROW {
            return powers.iter().flat_map(|power| limbs(power.0[d])).collect();
        }
        let mut table = vec![0; width.div_ceil(lanes) * 6 * lanes];
        for (vector, table) in table.chunks_exact_mut(6 * lanes).enumerate() {
            let start = vector_start::<E>(vector, width);
            // Columns that the vector before has, too, keep the factor zero here.
            for lane in vector * lanes - start..lanes {
                let limbs = limbs(powers[start + lane].0[d]);
                limbs.iter().enumerate().for_each(|(i, limb)| table[i * lanes + lane] = *limb);
            }
        }
        table
    })
}

/// The combinations of a block's rows.
fn combine_block<E: GoldilocksEngine, const N: usize>(
    engine: E,
    words: &[u64],
    width: usize,
    factors: &[Vec<u64>; N],
    combined: &mut Planes<N>,
) {
    const { assert!(CHUNK <= MOST_TERMS && LANES <= MOST_TERMS && LANES <= NARROW) };
    let lanes = E::U64s::WIDTH;
    if width < NARROW {
        return combine_narrow(engine, words, width, factors, combined);
    }
    let vectors = width.div_ceil(lanes);
    let rows = words.len() / width;
    for first in (0..vectors).step_by(CHUNK) {
        let chunk = first..vectors.min(first + CHUNK);
        // Factors that are loaded serve two rows.
        for row in (0..rows).step_by(2) {
            // An odd last row is computed twice.
            let pair = [row, (row + 1).min(rows - 1)];
            let of_pair = [&words[pair[0] * width..][..width], &words[pair[1] * width..][..width]];
            let mut totals = [[[0; LANES]; 2]; N];
            engine.run(
                #[inline(always)]
                || {
                    let lanes = E::U64s::WIDTH;
                    for d in 0..N {
                        let mut sums = [Sum::zero(engine); 2];
                        let table = &factors[d][chunk.start * 6 * lanes..chunk.end * 6 * lanes];
                        for (vector, limbs) in (chunk.start..).zip(table.chunks_exact(6 * lanes)) {
                            let start = vector_start::<E>(vector, width);
                            let a = E::U64s::load(engine, &of_pair[0][start..]);
                            let b = E::U64s::load(engine, &of_pair[1][start..]);
                            let mut factor = [a; 6];
                            for i in 0..6 {
                                factor[i] = E::U64s::load(engine, &limbs[i * lanes..]);
                            }
                            sums[0].add([a, a.high_half()], factor);
                            sums[1].add([b, b.high_half()], factor);
                        }
                        for k in 0..2 {
                            sums[k].reduced().store(&mut totals[d][k]);
                        }
                    }
                },
            );
            for (totals, combined) in totals.iter().zip(&mut *combined) {
                let before = pair.map(|row| Goldilocks::new(combined[row]));
                for k in 0..2 {
                    combined[pair[k]] = (before[k] + total(&totals[k])).to_canonical();
                }
            }
        }
    }
}

/// The combinations of a block's rows in a [narrow](NARROW) matrix.
fn combine_narrow<E: GoldilocksEngine, const N: usize>(
    engine: E,
    words: &[u64],
    width: usize,
    factors: &[Vec<u64>; N],
    combined: &mut Planes<N>,
) {
    // The columns of one group of columns stay in the first-level cache.
    let mut columns = [[0; BLOCK]; LANES];
    for first in (0..width).step_by(LANES) {
        let columns = &mut columns[..LANES.min(width - first)];
        for (column, values) in columns.iter_mut().enumerate() {
            *values = gather(words, width, first + column);
        }
        engine.run(
            #[inline(always)]
            || {
                for row in (0..BLOCK).step_by(E::U64s::WIDTH) {
                    let mut sums = [Sum::zero(engine); N];
                    for (column, values) in (first..).zip(columns.iter()) {
                        let a = E::U64s::load(engine, &values[row..]);
                        for d in 0..N {
                            let limbs = &factors[d][6 * column..][..6];
                            let mut factor = [a; 6];
                            for i in 0..6 {
                                factor[i] = E::U64s::splat(engine, limbs[i]);
                            }
                            sums[d].add([a, a.high_half()], factor);
                        }
                    }
                    for d in 0..N {
                        let before = GoldilocksLanes::<E::U64s>::load(engine, &combined[d][row..]);
                        (before + sums[d].reduced()).store(&mut combined[d][row..]);
                    }
                }
            },
        );
    }
}

#[inline(always)]
fn load<E: GoldilocksEngine, const N: usize>(
    engine: E,
    planes: &Planes<N>,
    row: usize,
) -> Extension<E::Vector, N> {
    let mut element = Extension([E::Vector::zero(engine); N]);
    for d in 0..N {
        element.0[d] = E::Vector::load(engine, &planes[d][row..]);
    }
    element
}

#[inline(always)]
fn store<E: GoldilocksEngine, const N: usize>(
    element: Extension<E::Vector, N>,
    planes: &mut Planes<N>,
    row: usize,
) {
    for d in 0..N {
        element.0[d].store(&mut planes[d][row..]);
    }
}

/// Adds a matrix's claimed values, less its combinations, to the sums of their points.
fn subtract<E: GoldilocksEngine, const N: usize>(
    engine: E,
    combined: &Planes<N>,
    claims: &[Claim<N>],
    sums: &mut [Planes<N>],
) where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    for claim in claims {
        let sums = &mut sums[claim.point];
        engine.run(
            #[inline(always)]
            || {
                let mut value = Extension([E::Vector::zero(engine); N]);
                let mut factor = value;
                for d in 0..N {
                    value.0[d] = E::Vector::broadcast(engine, claim.value.0[d].to_canonical());
                    factor.0[d] = E::Vector::broadcast(engine, claim.factor.0[d].to_canonical());
                }
                for row in (0..BLOCK).step_by(E::U64s::WIDTH) {
                    let product = Extension::<Goldilocks, N>::product(factor, load(engine, combined, row));
                    store::<E, N>(load(engine, sums, row) + value - product, sums, row);
                }
            },
        );
    }
}

fn add_products<E: GoldilocksEngine, const N: usize>(
    engine: E,
    sums: &Planes<N>,
    factors: &Planes<N>,
    quotients: &mut Planes<N>,
) where
    Extension<Goldilocks, N>: ExtensionField<N>,
{
    engine.run(
        #[inline(always)]
        || {
            for row in (0..BLOCK).step_by(E::U64s::WIDTH) {
                let product = Extension::<Goldilocks, N>::product(
                    load::<E, N>(engine, sums, row),
                    load(engine, factors, row),
                );
                store::<E, N>(load(engine, quotients, row) + product, quotients, row);
            }
        },
    );
}
