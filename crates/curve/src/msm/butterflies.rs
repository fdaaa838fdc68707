//! Sums and differences of pairs of points, as transforms of points need them.

use super::{
    batch_add::{AddPairs, Adder, InversionBatch, PointRows, Ref},
    fill,
};
use crate::{Affine, Curve};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Packable, dispatch};
use proofmill_run::parallel;

/// The pairs of a task: their rows fit the second-level cache.
const TASK: usize = 1 << 11;

/// Replaces each pair `(a, b)` by `(a + b, a - b)`. Runs on the ambient rayon pool.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn sums_and_differences<C: Curve<Base: Packable>>(
    level: Level,
    a: &mut [Affine<C>],
    b: &mut [Affine<C>],
) {
    assert_eq!(a.len(), b.len(), "pairs");
    let share = a.len().div_ceil(parallel::threads()).clamp(1, TASK);
    parallel::for_each(a.chunks_mut(share).zip(b.chunks_mut(share)), |(a, b)| {
        dispatch!(level, engine => part(engine, a, b));
    });
}

fn part<E: Engine, C: Curve<Base: Packable>>(engine: E, a: &mut [Affine<C>], b: &mut [Affine<C>]) {
    let count = a.len();
    let mut rows = PointRows::new(2 * count, 1, 2 * count);
    let (rows_of_a, rows_of_b) = rows.bases_mut().split_at_mut(count);
    fill(engine, a, rows_of_a);
    fill(engine, b, rows_of_b);
    let mut batch = InversionBatch::new(4 * count);
    let mut adder = Adder::new(engine, rows.parts(1).remove(0), &mut batch);
    adder.clear(a.iter().chain(b.iter()).any(Affine::is_infinity));
    // Sums and differences in one list, so that they share inversions; a sign costs nothing.
    let pair = |negative: bool| move |i| [Ref::new(i, false), Ref::new(count + i, negative)];
    let mut pairs = Vec::with_capacity(2 * count);
    pairs.extend((0..count).map(pair(false)));
    pairs.extend((0..count).map(pair(true)));
    let first = adder.add_pairs(&mut pairs);
    let results: Vec<Ref> = (first..first + 2 * count).map(|row| Ref::new(row, false)).collect();
    let (sums, differences) = results.split_at(count);
    adder.write(sums, a);
    adder.write(differences, b);
}
