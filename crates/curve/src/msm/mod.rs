//! Multi-scalar multiplication: Pippenger's bucket method with signed digits, whose additions are all affine,
//! in lanes, and share their inversions.
//!
//! * Scalars are cut into signed digits ([`digits`]). A window's points are sorted by their digit.
//! * A bucket's points are summed as a balanced tree: every round pairs the points of all buckets of a chunk,
//!   and adds all pairs by one pass of [`batch_add`]. No batch holds a bucket's running sum twice, and a bucket
//!   that holds everything (equal scalars) is as parallel as thousands of small ones.
//! * `sum of i * bucket_i` is reduced by halving ([`buckets`]): again rounds of independent additions.
//!
//! Cost: one affine addition (about 6 multiplications) a point and window, 2 a bucket and window. Work is
//! split over threads by window and, when there are more threads than windows, by ranges of points.
//!
//! Scratch: for each point its row of 2 coordinates and 2 bytes of digit for each window (about 100 bytes
//! on G1), and for every thread up to 40 bytes a point of its range and 3 rows a bucket.
//!
//! Time depends on the scalars.

mod batch_add;
mod buckets;
mod digits;
mod fixed_base;

pub use fixed_base::FixedBase;

use crate::{Affine, Curve, Jacobian, bls12_381, bn254, grumpkin::Grumpkin};
use batch_add::Rows;
use buckets::WindowAdder;
use digits::{BLOCK, Digits, Windows};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Field, LANES, Lanes, LanesOf, Packable, PrimeField, Row, dispatch};
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

/// A curve whose multi-scalar multiplication is compiled here, once for every level.
pub trait Msm: Curve<Base: Packable> {
    /// As [`msm`], of bases from anywhere.
    ///
    /// # Panics
    /// As [`msm`].
    fn msm(level: Level, bases: &dyn Bases<Self>, scalars: &[Self::Scalar]) -> Jacobian<Self>;
}

/// Where the bases of a sum come from: a slice, or a file that is decoded on the way.
pub trait Bases<C: Curve>: Sync {
    /// How many.
    fn count(&self) -> usize;
    /// Writes the bases from number `start` on. Called once for every base, by several threads.
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

/// Curves whose code is generated in this crate.
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
/// Any length, infinity among the bases, zero scalars, repeated and opposite points are all fine.
///
/// # Panics
/// If the slices differ in length or hold 2^30 elements or more.
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
        return dispatch!(level, engine => msm_at(engine, bases, scalars, active));
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

/// As [`msm`], where `active` scalars are not zero.
fn msm_at<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &dyn Bases<C>,
    scalars: &[C::Scalar],
    active: usize,
) -> Jacobian<C> {
    let threads = rayon::current_num_threads();
    let windows = Windows::for_points(active, C::Scalar::BITS);
    let ranges = threads.div_ceil(windows.count()).clamp(1, active.div_ceil(SMALLEST_RANGE));
    let windows = Windows::for_points(active.div_ceil(ranges), C::Scalar::BITS);
    let range_len = scalars.len().div_ceil(ranges).next_multiple_of(BLOCK);
    let starts = (0..scalars.len()).step_by(range_len);
    let ranges: Vec<Range<usize>> = starts.map(|start| start..scalars.len().min(start + range_len)).collect();
    // Window by window, the top one first.
    let tasks = windows.count() * ranges.len();
    let adders = threads.min(tasks);
    let points = range_len.min(active);
    let sums = WindowAdder::<C::Base, E>::sums(windows, points);
    let mut rows = Rows::new(scalars.len(), adders, sums);
    let mut digits = Digits::new(windows, scalars.len());
    let blocks = rows.bases_mut().par_chunks_mut(BLOCK).zip(digits.blocks_mut());
    blocks.zip(scalars.par_chunks(BLOCK)).enumerate().for_each_init(
        || vec![Affine::INFINITY; BLOCK],
        |block, (index, ((rows, mut digits), scalars))| {
            let bases_of_block = &mut block[..scalars.len()];
            bases.read(index * BLOCK, bases_of_block);
            fill(engine, bases_of_block, rows);
            for (i, (base, scalar)) in bases_of_block.iter().zip(scalars).enumerate() {
                digits.cut(i, if base.is_infinity() { C::Scalar::ZERO } else { *scalar });
            }
        },
    );
    let next = AtomicUsize::new(0);
    let parts = rows.parts(adders).into_par_iter().with_max_len(1);
    let sums = parts.flat_map_iter(|rows| {
        let mut adder = WindowAdder::new(engine, rows, points);
        let (next, digits, ranges) = (&next, &digits, &ranges);
        std::iter::from_fn(move || {
            let task = next.fetch_add(1, Ordering::Relaxed);
            let window = windows.count().checked_sub(task / ranges.len() + 1)?;
            Some((task, adder.sum(digits, window, ranges[task % ranges.len()].clone())))
        })
    });
    let mut sums: Vec<(usize, Jacobian<C>)> = sums.collect();
    sums.sort_unstable_by_key(|(task, _)| *task);
    // Horner, top window first.
    let mut total = Jacobian::INFINITY;
    for sums in sums.chunks(ranges.len()) {
        for _ in 0..windows.bits() {
            total = total.double();
        }
        total = total.add(&sums.iter().map(|(_, sum)| *sum).sum());
    }
    total
}

/// Splitting ranges further would cost more in buckets than it gains.
const SMALLEST_RANGE: usize = 1 << 10;

/// The bases as rows of the lanes' form.
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
