//! Many multiples of one point, or sums of multiples of a few points. The signed digits of each scalar select points of a
//! table, which are added affinely, in lanes, with shared inversions.
//!
//! The table has `d 2^(c w) base` for every base, every window w of c bits and every d up to `2^(c-1)`; a multiple is the
//! sum of one of them, or its negative, per window (fixed-base windowing: Brickell, Gordon, McCurley, Wilson, "Fast
//! exponentiation with precomputation", 1992). The sums of a chunk are balanced trees, like those of [`msm`](super::msm)'s
//! buckets: 15 additions per multiple with windows of 16 bits.
//!
//! Time depends on the scalars.

use super::{
    batch_add::{AddPairs, Adder, InversionBatch, PointRows, Ref},
    buckets::{Segment, sum_segments},
    digits::ScalarWindows,
    fill,
};
use crate::{Affine, Curve, Jacobian};
use proofmill_cpu::Level;
use proofmill_field::{Engine, Packable, PrimeField, Row, dispatch};
use proofmill_run::parallel;
use std::{
    iter::successors,
    slice::from_ref,
    sync::{Mutex, PoisonError},
};

/// The scalars whose multiples are summed together: enough to share an inversion in the last round, few enough that
/// their points stay in the second-level cache.
const CHUNK: usize = 1 << 10;

/// One or a few points with precomputed tables, to be multiplied by many scalars.
pub struct FixedBase<C: Curve<Base: Packable>> {
    level: Level,
    windows: ScalarWindows,
    bases: usize,
    /// The table, base by base and window by window, followed by each thread's sums.
    rows: PointRows<Row<C::Base>>,
    threads: usize,
}

impl<C: Curve<Base: Packable>> FixedBase<C> {
    /// The table for about `count` multiples on the ambient rayon pool's threads: up to 32 MiB on G1.
    ///
    /// # Panics
    /// If `base` is infinity.
    pub fn new(level: Level, base: &Affine<C>, count: usize) -> Self {
        Self::of_bases(level, from_ref(base), count)
    }

    /// The table for about `count` sums of multiples of at most 16 bases. Each base's part takes as much memory as the
    /// table of a single base.
    ///
    /// # Panics
    /// If a base is infinity, or the number of bases is 0 or above 16.
    pub fn of_bases(level: Level, bases: &[Affine<C>], count: usize) -> Self {
        assert!((1..=16).contains(&bases.len()), "1 to 16 bases, not {}", bases.len());
        assert!(!bases.iter().any(Affine::is_infinity), "bases other than infinity");
        let windows = ScalarWindows::of_bits(window_bits(count), C::Scalar::BITS);
        let threads = parallel::threads();
        let rows = dispatch!(level, engine => table(engine, bases, windows, threads));
        Self { level, windows, bases: bases.len(), rows, threads }
    }

    /// Writes `scalars[i] * base` to `points[i]`; with k bases, the sum of `scalars[k i + j] * bases[j]`. Runs on the
    /// ambient rayon pool.
    ///
    /// # Panics
    /// If there are not k scalars per point.
    pub fn multiply(&mut self, scalars: &[C::Scalar], points: &mut [Affine<C>]) {
        let (level, windows, bases) = (self.level, self.windows, self.bases);
        assert_eq!(scalars.len(), bases * points.len(), "as many points as scalars of a base");
        // A point takes the digits of k scalars: a chunk has fewer points, but as many additions.
        let chunk = CHUNK / bases;
        // The next chunk goes to the first free thread, which keeps its adder and memory.
        let chunks = Mutex::new(scalars.chunks(chunk * bases).zip(points.chunks_mut(chunk)));
        parallel::for_each(self.rows.parts(self.threads), |rows| {
            dispatch!(level, engine => {
                let mut batch = InversionBatch::new(CHUNK * windows.count());
                let mut adder = Adder::new(engine, rows, &mut batch);
                let mut sums = Sums::new(windows, bases);
                loop {
                    let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((scalars, points)) = next else { break };
                    sums.compute::<C, _>(&mut adder, scalars, points);
                }
            });
        });
    }
}

/// The width of windows with the fewest additions, including those for the table.
fn window_bits(count: usize) -> u32 {
    let additions = |bits: u32| (256 / u64::from(bits) + 1) * (count as u64 + (1 << (bits - 1)));
    (2..=16).min_by_key(|bits| additions(*bits)).unwrap_or(2)
}

/// The table, and space for the sums of several adders.
fn table<E: Engine, C: Curve<Base: Packable>>(
    engine: E,
    bases: &[Affine<C>],
    windows: ScalarWindows,
    threads: usize,
) -> PointRows<Row<C::Base>> {
    let (count, largest) = (bases.len() * windows.count(), windows.largest());
    let shifted = |point: &Jacobian<C>| (0..windows.bits()).fold(*point, |point, _| point.double());
    let shifts =
        |base| successors(Some(Jacobian::from(base)), |point| Some(shifted(point))).take(windows.count());
    let shifts: Vec<_> = bases.iter().flat_map(|base| shifts(*base)).collect();
    let len = count * largest;
    // Each round doubles the number of multiples of each window's point: from those up to m it computes m more.
    let mut rounds = PointRows::new(count, 1, len - count);
    // Multiple 1 of each window: 2^(c w) times the base.
    fill(engine, &Jacobian::batch_to_affine(&shifts), rounds.bases_mut());
    let row = |window: usize, digit: usize| match digit {
        1 => window,
        _ => {
            let m = 1 << (digit - 1).ilog2();
            count * m + window * m + digit - m - 1
        }
    };
    for part in rounds.parts(1) {
        let mut batch = InversionBatch::new(len);
        let mut adder = Adder::<C::Base, E>::new(engine, part, &mut batch);
        let mut pairs = Vec::new();
        for m in (0..largest.ilog2()).map(|round| 1 << round) {
            pairs.clear();
            // Multiples i and m give i + m, for all i up to m. The last is a doubling, for which
            // the adder repeats the batch with exceptional cases.
            let of_window = |window| {
                (1..=m).map(move |i| [row(window, i), row(window, m)].map(|row| Ref::new(row, false)))
            };
            pairs.extend((0..count).flat_map(of_window));
            adder.add_pairs(&mut pairs);
        }
    }
    // From the order of the rounds to that of windows and digits, by which sums find their rows.
    let mut rows = PointRows::new(len, threads, CHUNK * windows.count());
    for (index, to) in rows.bases_mut().iter_mut().enumerate() {
        *to = *rounds.row(row(index / largest, index % largest + 1));
    }
    rows
}

/// Memory for the sums of successive chunks.
struct Sums {
    windows: ScalarWindows,
    bases: usize,
    refs: Vec<Ref>,
    segments: Vec<Segment>,
    pairs: Vec<[Ref; 2]>,
    totals: Vec<Ref>,
}

impl Sums {
    fn new(windows: ScalarWindows, bases: usize) -> Self {
        let (refs, segments, pairs, totals) = Default::default();
        Self { windows, bases, refs, segments, pairs, totals }
    }

    fn compute<C: Curve<Base: Packable>, E: Engine>(
        &mut self,
        adder: &mut Adder<'_, C::Base, E>,
        scalars: &[C::Scalar],
        points: &mut [Affine<C>],
    ) {
        adder.clear(false);
        self.refs.clear();
        self.segments.clear();
        let (largest, offset) = (self.windows.largest(), self.windows.offset());
        for scalars in scalars.chunks(self.bases) {
            let start = self.refs.len();
            let digits = scalars.iter().flat_map(|scalar| self.windows.digits(*scalar, offset)).enumerate();
            // One reference per nonzero digit; its sign selects the entry or its negative.
            self.refs.extend(digits.filter(|(_, digit)| *digit != 0).map(|(window, digit)| {
                Ref::new(window * largest + digit.unsigned_abs() as usize - 1, digit < 0)
            }));
            self.segments.push(Segment::of(self.refs.len() - start));
        }
        sum_segments(adder, &self.refs, &mut self.segments, &mut self.pairs);
        self.totals.clear();
        self.totals.extend(self.segments.iter().map(|segment| segment.sum().unwrap_or(Ref::new(0, false))));
        adder.write(&self.totals, points);
        // A sum without nonzero digits has no entries: an arbitrary row stood in for it.
        for (point, _) in points.iter_mut().zip(&self.segments).filter(|(_, segment)| segment.sum().is_none())
        {
            *point = Affine::INFINITY;
        }
    }
}
