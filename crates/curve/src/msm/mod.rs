//! Multi-scalar multiplication: Pippenger's bucket method with signed digits. All additions are affine,
//! in lanes, and share inversions.
//!
//! * Scalars are split into signed digits ([`digits`]). A window's points are sorted by their digits.
//! * A bucket's points are summed as a balanced tree: every round pairs the points of all buckets of a chunk,
//!   and adds all pairs in one pass of [`batch_add`]. No batch needs a bucket's running sum twice, and a bucket
//!   that holds all points (equal scalars) is as parallel as thousands of small ones.
//! * `sum of i * bucket_i` is reduced by halving ([`buckets`]): again rounds of independent additions.
//!
//! Cost: one affine addition (about 6 multiplications) per point and window, 2 per bucket and window. Work is
//! divided among threads by window and, if there are more threads than windows, by ranges of points.
//!
//! Scratch: for each point its row of 2 coordinates, and 2 bytes of digit per window (about 100 bytes
//! on G1), and for every thread up to 40 bytes per point of its range and 3 rows per bucket.
//!
//! Time depends on the scalars.

mod batch_add;
mod buckets;
mod butterflies;
mod digits;
mod fixed_base;

pub(crate) use butterflies::sums_and_differences;
pub use fixed_base::FixedBase;

use crate::{Affine, Curve, Jacobian, bls12_381, bn254, grumpkin::Grumpkin};
use batch_add::Rows;
use buckets::WindowAdder;
use digits::{BLOCK, Digits, Windows};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Field, LANES, Lanes, LanesOf, Packable, PrimeField, Row, dispatch};
use proofmill_parallel as parallel;
use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
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
    let active = scalars.iter().filter(|scalar| !scalar.is_zero()).count();
    if active >= SMALLEST {
        let (bits, sums) = dispatch!(level, engine => window_sums(engine, bases, scalars, active));
        // Horner's rule.
        let times_radix = |sum: Jacobian<C>| (0..bits).fold(sum, |sum, _| sum.double());
        return sums.iter().fold(Jacobian::INFINITY, |total, sum| times_radix(total).add(sum));
    }
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

/// The bits of a window, and for each window, the top one first, the sum of its digits times the bases, for `active` nonzero scalars.
pub(crate) fn window_sums<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &dyn Bases<C>,
    scalars: &[C::Scalar],
    active: usize,
) -> (u32, Vec<Jacobian<C>>) {
    let threads = parallel::threads();
    let windows = Windows::for_points(active, C::Scalar::BITS);
    let ranges = threads.div_ceil(windows.count()).clamp(1, active.div_ceil(SMALLEST_RANGE));
    let windows = Windows::for_points(active.div_ceil(ranges), C::Scalar::BITS);
    let range_len = scalars.len().div_ceil(ranges).next_multiple_of(BLOCK);
    let starts = (0..scalars.len()).step_by(range_len);
    let ranges: Vec<Range<usize>> = starts.map(|start| start..scalars.len().min(start + range_len)).collect();
    // Window by window, top window first.
    let tasks = windows.count() * ranges.len();
    let adders = threads.min(tasks);
    let points = range_len.min(active);
    let sums = WindowAdder::<C::Base, E>::sums(windows, points);
    let mut rows = Rows::new(scalars.len(), adders, sums);
    let mut digits = Digits::new(windows, scalars.len());
    let blocks = rows.bases_mut().chunks_mut(BLOCK).zip(digits.blocks_mut()).zip(scalars.chunks(BLOCK));
    let mut blocks: Vec<_> = blocks.enumerate().collect();
    let share = blocks.len().div_ceil(4 * threads);
    parallel::for_each(blocks.chunks_mut(share), |blocks| {
        let mut block = vec![Affine::INFINITY; BLOCK.min(scalars.len())];
        for (index, ((rows, digits), scalars)) in blocks {
            let bases_of_block = &mut block[..scalars.len()];
            bases.read(*index * BLOCK, bases_of_block);
            fill(engine, bases_of_block, rows);
            for (i, (base, scalar)) in bases_of_block.iter().zip(*scalars).enumerate() {
                digits.cut(i, if base.is_infinity() { C::Scalar::ZERO } else { *scalar });
            }
        }
    });
    drop(blocks);
    let next = AtomicUsize::new(0);
    let parts = parallel::map(rows.parts(adders), |rows| {
        let mut adder = WindowAdder::new(engine, rows, points);
        let next_sum = || {
            let task = next.fetch_add(1, Ordering::Relaxed);
            let window = windows.count().checked_sub(task / ranges.len() + 1)?;
            Some((task, adder.sum(&digits, window, ranges[task % ranges.len()].clone())))
        };
        std::iter::from_fn(next_sum).collect::<Vec<_>>()
    });
    let mut sums: Vec<(usize, Jacobian<C>)> = parts.concat();
    sums.sort_unstable_by_key(|(task, _)| *task);
    let sums = sums.chunks(ranges.len()).map(|parts| parts.iter().map(|(_, sum)| *sum).sum());
    (windows.bits(), sums.collect())
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
                batch_add::scatter::<C::Base, E>(lanes, &mut block);
                rows.copy_from_slice(&block[..rows.len()]);
            }
        },
    );
}
