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
//! Scratch: for each point with a nonzero scalar a copy of it and of its scalar, a row of 2 coordinates and 32
//! bytes of digits, and for
//! every thread 12 bytes a point and 2 rows a bucket.
//!
//! Time depends on the scalars.

mod batch_add;
mod buckets;
mod digits;

use crate::{
    Affine, Curve, Jacobian,
    bn254::{G1, G2},
    grumpkin::Grumpkin,
};
use batch_add::Adder;
use buckets::sum_window;
use digits::{Digits, Windows};
use proofmill_field::{Engine, Field, LANES, Packable, PrimeField};
use proofmill_simd::{Level, dispatch};
use rayon::prelude::*;

/// A curve whose multi-scalar multiplication is compiled here, once for every level.
pub trait Msm: Curve<Base: Packable> {
    /// As [`msm`].
    fn msm(level: Level, bases: &[Affine<Self>], scalars: &[Self::Scalar]) -> Jacobian<Self>;
}

impl Msm for G1 {
    fn msm(level: Level, bases: &[Affine<Self>], scalars: &[Self::Scalar]) -> Jacobian<Self> {
        pippenger(level, bases, scalars)
    }
}

impl Msm for G2 {
    fn msm(level: Level, bases: &[Affine<Self>], scalars: &[Self::Scalar]) -> Jacobian<Self> {
        pippenger(level, bases, scalars)
    }
}

impl Msm for Grumpkin {
    fn msm(level: Level, bases: &[Affine<Self>], scalars: &[Self::Scalar]) -> Jacobian<Self> {
        pippenger(level, bases, scalars)
    }
}

/// The sum of `scalars[i] * bases[i]`. Runs on the ambient rayon pool.
///
/// Any length, infinity among the bases, zero scalars, repeated and opposite points are all fine.
///
/// # Panics
/// If the slices differ in length or hold 2^30 elements or more.
pub fn msm<C: Msm>(level: Level, bases: &[Affine<C>], scalars: &[C::Scalar]) -> Jacobian<C> {
    C::msm(level, bases, scalars)
}

fn pippenger<C: Curve<Base: Packable>>(
    level: Level,
    bases: &[Affine<C>],
    scalars: &[C::Scalar],
) -> Jacobian<C> {
    assert_eq!(bases.len(), scalars.len(), "as many bases as scalars");
    assert!(bases.len() < 1 << 30, "at most 2^30 points");
    let (bases, scalars) = active(bases, scalars);
    if bases.len() < SMALLEST {
        return bases.iter().zip(&scalars).map(|(base, scalar)| base.mul_vartime(scalar)).sum();
    }
    dispatch!(level, engine => msm_at(engine, &bases, &scalars))
}

/// Below this many points, double-and-add is as fast.
const SMALLEST: usize = 4;

/// Leaves out what adds nothing.
fn active<C: Curve>(bases: &[Affine<C>], scalars: &[C::Scalar]) -> (Vec<Affine<C>>, Vec<C::Scalar>) {
    let pairs = bases.iter().zip(scalars);
    pairs.filter(|(base, scalar)| !scalar.is_zero() && !base.is_infinity()).unzip()
}

fn msm_at<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &[Affine<C>],
    scalars: &[C::Scalar],
) -> Jacobian<C> {
    let threads = rayon::current_num_threads();
    let windows = Windows::for_points(bases.len(), C::Scalar::BITS);
    let ranges = threads.div_ceil(windows.count()).clamp(1, bases.len().div_ceil(SMALLEST_RANGE));
    let range_len = bases.len().div_ceil(ranges);
    let windows = Windows::for_points(range_len, C::Scalar::BITS);
    let parts = bases.par_chunks(range_len).zip(scalars.par_chunks(range_len));
    let parts: Vec<_> =
        parts.map(|(bases, scalars)| (rows(engine, bases), Digits::new(windows, scalars))).collect();
    let tasks: Vec<(usize, usize)> = (0..windows.count())
        .rev()
        .flat_map(|window| (0..parts.len()).map(move |part| (window, part)))
        .collect();
    let sums: Vec<Jacobian<C>> = tasks
        .par_iter()
        .with_max_len(1)
        .map(|&(window, part)| {
            let (rows, digits) = &parts[part];
            sum_window(Adder::new(engine, rows), digits, window)
        })
        .collect();
    // Horner, top window first.
    let mut total = Jacobian::INFINITY;
    for sums in sums.chunks(parts.len()) {
        for _ in 0..windows.bits() {
            total = total.double();
        }
        total = total.add(&sums.iter().copied().sum());
    }
    total
}

/// Splitting ranges further would cost more in buckets than it gains.
const SMALLEST_RANGE: usize = 1 << 10;

type Row<C> = <<C as Curve>::Base as Packable>::Row;

/// The bases as rows of the lanes' form.
fn rows<E: Engine, C: Curve<Base: Packable>>(engine: E, bases: &[Affine<C>]) -> Vec<Row<C>> {
    let mut rows = vec![Row::<C>::default(); bases.len()];
    rows.par_chunks_mut(1 << 10).zip(bases.par_chunks(1 << 10)).for_each(|(rows, bases)| {
        engine.run(
            #[inline(always)]
            || {
                for (rows, bases) in rows.chunks_mut(LANES).zip(bases.chunks(LANES)) {
                    let (mut xs, mut ys) = ([C::Base::ZERO; LANES], [C::Base::ZERO; LANES]);
                    for ((x, y), base) in xs.iter_mut().zip(&mut ys).zip(bases) {
                        (*x, *y) = (base.x, base.y);
                    }
                    let mut block = [Row::<C>::default(); LANES];
                    let lanes = [C::Base::load::<E>(&xs), C::Base::load::<E>(&ys)];
                    C::Base::store_pairs::<E>(lanes, &mut block);
                    rows.copy_from_slice(&block[..rows.len()]);
                }
            },
        );
    });
    rows
}
