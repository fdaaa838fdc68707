//! Multi-scalar multiplication: Pippenger's bucket method with signed digits. All additions are affine,
//! in lanes, and share inversions.
//!
//! * Scalars are split into signed digits ([`digits`]).
//! * Points are added to their buckets' sums in batches ([`accumulator`]). A point whose bucket is in the batch waits for a later one.
//! * Where few buckets have most of the points, or there are few buckets, the points are sorted by their digits, and a bucket's are
//!   summed as a balanced tree: every round pairs the points of all buckets of a chunk, and adds all pairs in one pass of
//!   [`batch_add`]. So a bucket that holds all points (equal scalars) is as parallel as thousands of small ones.
//! * `sum of i * bucket_i` is reduced by halving ([`buckets`]): again rounds of independent additions.
//!
//! Cost: one affine addition (about 6 multiplications) per point and window, 2 per bucket and window. Work is
//! divided among threads by window and, if there are more threads than windows, by ranges of points.
//!
//! Bases are read tile by tile; each tile is added to all windows' buckets before the next. So scratch is bounded, and rows stay
//! in the cache while they are read once per window.
//!
//! Scratch: for each point of a tile its row of 2 coordinates, 2 bytes of digit per window (about 100 bytes on G1) and for every
//! thread up to 50 bytes; for every thread 2 rows per bucket; and one row per bucket, for each window if there are several tiles: up to
//! 60 MB on G1 for each range of points, and 8 MB for each thread.
//!
//! Time depends on the scalars.

mod accumulator;
mod batch_add;
mod buckets;
mod butterflies;
mod digits;
mod fixed_base;

pub(crate) use butterflies::sums_and_differences;
pub use fixed_base::FixedBase;

use crate::{Affine, Curve, Jacobian, bls12_381, bn254, grumpkin::Grumpkin};
use batch_add::{Adder, InversionBatch, PointRows};
use buckets::{Buckets, WindowAdder};
use digits::{BLOCK, ScalarDigits, ScalarWindows};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Field, LANES, Lanes, LanesOf, Packable, PrimeField, Row, dispatch};
use proofmill_run::parallel;
use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A curve whose multi-scalar multiplication is compiled in this crate, once for every level.
pub trait Msm: Curve<Base: Packable> {
    /// As [`msm`], for bases from any source.
    ///
    /// # Panics
    /// See [`msm`].
    fn msm(level: Level, bases: &dyn Bases<Self>, scalars: &[Self::Scalar]) -> Jacobian<Self>;
}

/// The source of a sum's bases: a slice, or a file that is decoded as it is read.
pub trait Bases<C: Curve>: Sync {
    /// The number of bases.
    fn count(&self) -> usize;
    /// Writes the bases starting at index `start`. Called exactly once for every base, by several threads.
    fn read(&self, start: usize, bases: &mut [Affine<C>]);
}

impl<C: Curve> Bases<C> for &[Affine<C>] {
    fn count(&self) -> usize {
        self.len()
    }

    fn read(&self, start: usize, bases: &mut [Affine<C>]) {
        bases.copy_from_slice(&self[start..start + bases.len()]);
    }
}

/// Implements [`Msm`] for curves.
macro_rules! compile {
    ($($curve:ty),*) => {$(
        impl Msm for $curve {
            fn msm(level: Level, bases: &dyn Bases<Self>, scalars: &[Self::Scalar]) -> Jacobian<Self> {
                pippenger(level, bases, scalars)
            }
        }
    )*};
}

compile!(bn254::G1, bn254::G2, Grumpkin, bls12_381::G1, bls12_381::G2);

/// The sum of `scalars[i] * bases[i]`. Runs on the ambient rayon pool.
///
/// Any length, infinity among the bases, zero scalars, and repeated and opposite points are allowed.
///
/// # Panics
/// If the slices' lengths differ or are 2^30 or more.
pub fn msm<C: Msm>(level: Level, bases: &[Affine<C>], scalars: &[C::Scalar]) -> Jacobian<C> {
    C::msm(level, &bases, scalars)
}

fn pippenger<C: Curve<Base: Packable>>(
    level: Level,
    bases: &dyn Bases<C>,
    scalars: &[C::Scalar],
) -> Jacobian<C> {
    assert_eq!(bases.count(), scalars.len(), "as many bases as scalars");
    assert!(scalars.len() < 1 << 30, "at most 2^30 points");
    // Zeros add to no bucket: only the other scalars count for the width of windows.
    let active = scalars.iter().filter(|scalar| !scalar.is_zero()).count();
    if active >= SMALLEST {
        let (bits, sums) = dispatch!(level, engine => window_sums(engine, bases, scalars, active));
        // Horner's rule, from the top window down: a window counts 2^bits times the next one.
        let times_radix = |sum: Jacobian<C>| (0..bits).fold(sum, |sum, _| sum.double());
        return sums.iter().fold(Jacobian::INFINITY, |total, sum| times_radix(total).add(sum));
    }
    // Too few points for buckets. Blocks bound the memory, because bases may come from a file.
    let mut block = vec![Affine::INFINITY; BLOCK.min(scalars.len())];
    let sum_block = |(index, scalars): (usize, &[C::Scalar])| -> Jacobian<C> {
        let bases_of_block = &mut block[..scalars.len()];
        bases.read(index * BLOCK, bases_of_block);
        let active = bases_of_block.iter().zip(scalars).filter(|(_, scalar)| !scalar.is_zero());
        active.map(|(base, scalar)| base.mul_vartime(scalar)).sum()
    };
    scalars.chunks(BLOCK).enumerate().map(sum_block).sum()
}

/// Below this many points, double-and-add is as fast.
const SMALLEST: usize = 4;

/// The bytes of a range's bases that are added to the buckets of all windows before the next are read: they stay in the third-level
/// cache.
const TILE: usize = 1 << 24;

/// The bits of a window, and for each window, the top one first, the sum of its digits times the bases, for `active` nonzero scalars.
pub(crate) fn window_sums<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &dyn Bases<C>,
    scalars: &[C::Scalar],
    active: usize,
) -> (u32, Vec<Jacobian<C>>) {
    window_sums_in_tiles(engine, bases, scalars, active, TILE / size_of::<Row<C::Base>>())
}

/// As [`window_sums`], in tiles of about `tile` bases.
fn window_sums_in_tiles<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &dyn Bases<C>,
    scalars: &[C::Scalar],
    active: usize,
    tile: usize,
) -> (u32, Vec<Jacobian<C>>) {
    let threads = parallel::threads();
    let windows = ScalarWindows::for_points(active, C::Scalar::BITS);
    // A task is one window of one range: several ranges only for more threads than windows.
    let ranges = threads.div_ceil(windows.count()).clamp(1, active.div_ceil(SMALLEST_RANGE));
    // Each range has its own buckets, so the width is chosen for the points of a range.
    let windows = ScalarWindows::for_points(active.div_ceil(ranges), C::Scalar::BITS);
    let range_len = scalars.len().div_ceil(ranges).next_multiple_of(BLOCK);
    let starts = (0..scalars.len()).step_by(range_len);
    let ranges: Vec<Range<usize>> = starts.map(|start| start..scalars.len().min(start + range_len)).collect();
    let tasks = windows.count() * ranges.len();
    // Each range's bases are read tile by tile, into the same rows.
    let tiles = range_len.div_ceil(tile);
    let tile_len = range_len.div_ceil(tiles).next_multiple_of(BLOCK);
    let points = tile_len.min(active);
    let adders = threads.min(tasks);
    // Buckets that no other tile adds to are summed at once.
    let places = if tiles == 1 { adders } else { tasks };
    let (mut rows, kept) = PointRows::with_kept(
        ranges.len() * tile_len,
        places,
        Buckets::count(windows),
        adders,
        WindowAdder::sums::<Row<C::Base>>(windows, points),
    );
    let buckets: Vec<_> = kept.into_iter().map(|kept| Mutex::new(Buckets::new(kept))).collect();
    let mut digits = ScalarDigits::new(windows, ranges.len() * tile_len);
    let scratch = || (InversionBatch::new(points), WindowAdder::new::<Row<C::Base>>(points));
    let mut scratch: Vec<_> = (0..adders).map(|_| scratch()).collect();
    let mut sums = Vec::new();
    for start in (0..range_len).step_by(tile_len) {
        let of_range = |range: &Range<usize>| {
            let start = range.start + start;
            start.min(range.end)..(start + tile_len).min(range.end)
        };
        let tiles_of_ranges: Vec<Range<usize>> = ranges.iter().map(of_range).collect();
        read_tiles(engine, bases, scalars, &tiles_of_ranges, tile_len, rows.bases_mut(), &mut digits);
        let last = start + tile_len >= range_len;
        // Threads take tasks from a counter: fixed shares would wait for the slowest one.
        let next = AtomicUsize::new(0);
        let adders = rows.parts(adders).into_iter().zip(&mut scratch).enumerate();
        let parts = parallel::map(adders, |(index, (rows, (batch, window_adder)))| {
            let mut adder = Adder::new(engine, rows, batch);
            let next_sum = || {
                // Window by window, top window first.
                let task = next.fetch_add(1, Ordering::Relaxed);
                let window = windows.count().checked_sub(task / ranges.len() + 1)?;
                let range = task % ranges.len();
                let place = if tiles == 1 { index } else { task };
                let mut buckets = buckets[place].lock().unwrap_or_else(PoisonError::into_inner);
                let first = range * tile_len;
                let bases = first..first + tiles_of_ranges[range].len();
                window_adder.add(&mut adder, &mut buckets, &digits, window, bases);
                Some((task, last.then(|| window_adder.weigh(&mut adder, &mut buckets))))
            };
            std::iter::from_fn(next_sum).collect::<Vec<_>>()
        });
        // Tiles before the last have no sums yet; each list replaces the one before.
        sums = parts.concat();
    }
    // Back to the order of tasks, in which the ranges of a window are adjacent.
    sums.sort_unstable_by_key(|(task, _)| *task);
    let sums = sums.chunks(ranges.len()).map(|parts| parts.iter().filter_map(|(_, sum)| *sum).sum());
    (windows.bits(), sums.collect())
}

/// Reads the bases of each range's tile into `tile_len` rows of its own, and cuts their scalars into digits.
fn read_tiles<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &dyn Bases<C>,
    scalars: &[C::Scalar],
    tiles: &[Range<usize>],
    tile_len: usize,
    rows: &mut [Row<C::Base>],
    digits: &mut ScalarDigits,
) {
    let blocks = rows.chunks_mut(BLOCK).zip(digits.blocks_mut()).enumerate();
    let blocks = blocks.filter_map(|(index, block)| {
        let tile = &tiles[index * BLOCK / tile_len];
        let start = tile.start + index * BLOCK % tile_len;
        (start < tile.end).then(|| (start..tile.end.min(start + BLOCK), block))
    });
    let mut blocks: Vec<_> = blocks.collect();
    // Four tasks per thread keep all threads busy to the end at little overhead.
    let share = blocks.len().div_ceil(4 * parallel::threads()).max(1);
    parallel::for_each(blocks.chunks_mut(share), |blocks| {
        let mut block = vec![Affine::INFINITY; BLOCK.min(scalars.len())];
        for (range, (rows, digits)) in blocks {
            let bases_of_block = &mut block[..range.len()];
            bases.read(range.start, bases_of_block);
            fill(engine, bases_of_block, &mut rows[..range.len()]);
            let pairs = bases_of_block.iter().zip(&scalars[range.clone()]);
            // Infinity gets digits of zero, so that additions see finite bases only.
            let active =
                pairs.map(|(base, scalar)| if base.is_infinity() { C::Scalar::ZERO } else { *scalar });
            engine.run(
                #[inline(always)]
                || digits.cut(active),
            );
        }
    });
}

/// Smaller ranges would cost more in buckets than they gain.
const SMALLEST_RANGE: usize = 1 << 10;

/// Writes the bases as rows in the lanes' form.
fn fill<E: Engine, C: Curve<Base: Packable>>(engine: E, bases: &[Affine<C>], rows: &mut [Row<C::Base>]) {
    engine.run(
        #[inline(always)]
        || {
            let width = LanesOf::<C::Base, E>::WIDTH;
            for (rows, bases) in rows.chunks_mut(width).zip(bases.chunks(width)) {
                let (mut xs, mut ys) = ([C::Base::ZERO; LANES], [C::Base::ZERO; LANES]);
                for ((x, y), base) in xs.iter_mut().zip(&mut ys).zip(bases) {
                    (*x, *y) = (base.x, base.y);
                }
                let mut block = [Row::default(); LANES];
                let lanes = [
                    LanesOf::<C::Base, E>::load(engine, &xs[..width]),
                    LanesOf::<C::Base, E>::load(engine, &ys[..width]),
                ];
                batch_add::scatter::<C::Base, E, _>(
                    &lanes,
                    &mut block,
                    #[inline(always)]
                    |row| row,
                );
                rows.copy_from_slice(&block[..rows.len()]);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_field::bn254::Fr;
    use proofmill_testing::{for_each_level, for_each_pool, rng};

    /// Against one tile, which is compared with arkworks in `tests/it/msm.rs`.
    #[test]
    fn tiles_of_any_length() {
        type C = bn254::G1;
        let len = 5 * BLOCK + 77;
        let mut rng = rng(1);
        // Few bases, so that sums are equal, opposite and infinite.
        let few: Vec<_> = (0..4).map(|i| C::GENERATOR.mul_vartime(&Fr::from(i)).to_affine()).collect();
        let few: Vec<_> = few.iter().flat_map(|point| [*point, -*point]).collect();
        let bases: Vec<_> = (0..len).map(|i| few[i % few.len()]).collect();
        let uniform: Vec<_> = (0..len).map(|_| Fr::random(&mut rng)).collect();
        let sparse = |i: usize| if i % 700 < 3 { uniform[i] } else { Fr::ZERO };
        let shapes = [
            uniform.clone(),
            vec![uniform[0]; len],
            (0..len).map(|i| Fr::from(i as u64 % 3)).collect(),
            (0..len).map(sparse).collect(),
        ];
        for scalars in &shapes {
            let active = scalars.iter().filter(|scalar| !scalar.is_zero()).count();
            for_each_level(|level| {
                let sums = |tile| -> Vec<Affine<C>> {
                    let bases = bases.as_slice();
                    let (_, sums) = dispatch!(level, engine => window_sums_in_tiles(engine, &bases, scalars, active, tile));
                    sums.iter().map(Jacobian::to_affine).collect()
                };
                for_each_pool(&[1, 2, 5], |threads| {
                    let expected = sums(len);
                    for tile in [1, BLOCK, 2 * BLOCK + 1, len - 1] {
                        assert_eq!(sums(tile), expected, "tiles of {tile}, {level}, {threads} threads");
                    }
                });
            });
        }
    }
}
