//! Affine additions in lanes, with one inversion per batch ([`steps`](crate::steps)). Two groups of lanes are interleaved; four spill
//! too much (1.2 times slower).
//!
//! Doublings, opposite points and infinity make the product of a batch's denominators zero; the batch is then
//! retried with exceptional-case handling, which corrects the results with lane masks.

use crate::{
    Affine, Curve,
    steps::{AffineStep, chain, has_zero, invert_chains, sums},
};
use proofmill_field::{Algebra, Engine, LANES, Lanes, LanesOf, Packable, Row, Select, Vector};
use proofmill_memory::{Pages, prefetch};
use std::{marker::PhantomData, ops::Range};

/// A point to add: its row, and whether it is negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Ref(u32);

impl Ref {
    const NEGATIVE: u32 = 1;
    /// No point: there are fewer than 2^31 - 1 rows.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// The point of row `index` or its negative.
    #[inline(always)]
    pub(super) fn new(index: usize, negative: bool) -> Self {
        Self((index as u32) << 1 | u32::from(negative))
    }

    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
}

/// The row of a sum that is to be computed: one of the adder's own, or of a [`KeptSums`] that its caller has.
#[derive(Clone, Copy, Debug)]
pub(super) struct SumRow(u32);

impl SumRow {
    /// The sum, once it is computed.
    #[inline(always)]
    pub(super) fn sum(self) -> Ref {
        Ref::new(self.0 as usize, false)
    }
}

/// The rows of bases, followed by those of sums that are kept and by space for the sums of several adders.
pub(super) struct PointRows<R> {
    rows: Pages<R>,
    bases: usize,
    kept: usize,
}

/// Rows of [`PointRows`] for sums that outlast their adder; no two overlap.
pub(super) struct KeptSums {
    rows: Range<usize>,
}

impl KeptSums {
    /// The row of index `index`.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline(always)]
    pub(super) fn place(&mut self, index: usize) -> SumRow {
        assert!(index < self.rows.len(), "room for the sums to keep");
        SumRow((self.rows.start + index) as u32)
    }

    /// The index of one of these rows.
    pub(super) fn index(&self, place: SumRow) -> usize {
        place.0 as usize - self.rows.start
    }
}

impl<R: Copy + Send + Sync> PointRows<R> {
    /// Space for `bases` points and `adders` times `sums` sums.
    ///
    /// # Panics
    /// If there are 2^31 - 1 rows or more.
    pub(super) fn new(bases: usize, adders: usize, sums: usize) -> Self {
        Self::with_kept(bases, 0, 0, adders, sums).0
    }

    /// As [`new`](Self::new), and `places` times `kept` rows for sums that are kept.
    ///
    /// # Panics
    /// If there are 2^31 - 1 rows or more.
    pub(super) fn with_kept(
        bases: usize,
        places: usize,
        kept: usize,
        adders: usize,
        sums: usize,
    ) -> (Self, Vec<KeptSums>) {
        let len = bases + places * kept + adders * sums;
        assert!(len < (1 << 31) - 1, "fewer than 2^31 - 1 points and sums");
        // SAFETY: rows are arrays of integers.
        let rows = unsafe { Pages::scratch(len) };
        let place = |i| KeptSums { rows: bases + i * kept..bases + (i + 1) * kept };
        (Self { rows, bases, kept: places * kept }, (0..places).map(place).collect())
    }

    pub(super) fn bases_mut(&mut self) -> &mut [R] {
        &mut self.rows[..self.bases]
    }

    /// One row, of a base or a sum.
    pub(super) fn row(&self, index: usize) -> &R {
        &self.rows[index]
    }

    /// One part per adder: each may read all bases, its own sums, and those kept in places that it has.
    pub(super) fn parts(&mut self, adders: usize) -> Vec<RowsOfAdder<'_, R>> {
        let shared = self.bases + self.kept;
        let sums = (self.rows.len() - shared) / adders;
        let start = self.rows.as_mut_ptr();
        let part = |i| {
            let first = shared + i * sums;
            RowsOfAdder { start, shared, own: first..first + sums, rows: PhantomData }
        };
        (0..adders).map(part).collect()
    }
}

/// The bases, shared, the places of kept sums, and one adder's own space for sums.
pub(super) struct RowsOfAdder<'a, R> {
    start: *mut R,
    shared: usize,
    own: Range<usize>,
    rows: PhantomData<&'a mut [R]>,
}

// SAFETY: a part writes only its own rows, which no other part reads, and those of a `KeptSums`, which one part has at a time.
unsafe impl<R: Send + Sync> Send for RowsOfAdder<'_, R> {}

impl<R: Copy> RowsOfAdder<'_, R> {
    #[inline(always)]
    fn get(&self, index: usize) -> &R {
        debug_assert!(index < self.shared || self.own.contains(&index));
        // SAFETY: references to bases are made for indexes below their count, references to sums
        // for places.
        unsafe { &*self.start.add(index) }
    }

    /// The row of a place, to write it.
    #[inline(always)]
    fn place(&mut self, place: SumRow) -> *mut R {
        debug_assert!((place.0 as usize) < self.own.end);
        self.start.wrapping_add(place.0 as usize)
    }
}

/// An [`Adder`] of points of any curve at any level: code that only orders additions is compiled once.
pub(super) trait AddPairs {
    /// Discards all sums except those that are kept; `infinity` says whether infinity may be among these and the bases.
    fn clear(&mut self, infinity: bool);

    /// Whether infinity may be among the points.
    fn infinity(&self) -> bool;

    /// The pairs whose additions share an inversion.
    fn batch_len(&self) -> usize;

    /// Adds each pair, and returns the first result's row; the others follow in order. The pairs are padded to whole groups
    /// of lanes.
    ///
    /// # Panics
    /// If there is not enough space for the sums.
    fn add_pairs(&mut self, pairs: &mut Vec<[Ref; 2]>) -> usize;

    /// Adds each pair and writes the sum to its place, which may be that of one of its points, but of no other pair. Pairs and places are
    /// padded to whole groups of lanes.
    fn add_pairs_to(&mut self, pairs: &mut Vec<[Ref; 2]>, places: &mut Vec<SumRow>);

    /// Copies the point of a reference to a place, and returns the reference to it there.
    fn copy(&mut self, reference: Ref, place: SumRow) -> Ref;
}

/// Adds points, which are bases or earlier sums.
pub(super) struct Adder<'a, F: Packable, E: Engine> {
    engine: E,
    rows: RowsOfAdder<'a, Row<F>>,
    batch: &'a mut InversionBatch<F::Lanes<E>>,
    /// The row of the next sum.
    next: usize,
    /// Whether a sum may be infinity; the bases never are.
    infinity: bool,
}

/// The memory of additions that share an inversion.
pub(super) struct InversionBatch<L> {
    /// The most groups that share an inversion.
    groups: usize,
    steps: Vec<AffineStep<L>>,
    repairs: Vec<Repair>,
    /// The rows of consecutive sums.
    places: Vec<SumRow>,
}

impl<L> InversionBatch<L> {
    /// For additions of up to `points` points, an even number. There are enough groups to make an inversion cheap, but few enough
    /// that their steps stay in the second-level cache and are small compared with the points.
    pub(super) fn new(points: usize) -> Self {
        let groups = 2 + (14 * points).min(1 << 19) / size_of::<AffineStep<L>>() / 2 * 2;
        Self { groups, steps: Vec::new(), repairs: Vec::new(), places: Vec::new() }
    }
}

/// The lanes of a group in which the formula does not give the sum.
#[derive(Clone, Copy)]
struct Repair {
    group: usize,
    /// Opposite points: the sum is infinity.
    opposite: u8,
    /// One point is infinity: the sum is the other, which is the step's first point.
    first: u8,
}

/// Pairs to add in lanes: one for each lane of a vector.
type Group = [[Ref; 2]];

/// The distance in pairs by which points are prefetched.
const PREFETCH: usize = 64;

impl<F: Packable, E: Engine> AddPairs for Adder<'_, F, E> {
    fn clear(&mut self, infinity: bool) {
        self.next = self.rows.own.start;
        self.infinity = infinity;
    }

    fn infinity(&self) -> bool {
        self.infinity
    }

    fn batch_len(&self) -> usize {
        self.batch.groups * LanesOf::<F, E>::WIDTH
    }

    fn add_pairs(&mut self, pairs: &mut Vec<[Ref; 2]>) -> usize {
        let (first, end) = (self.next, self.next + pairs.len());
        assert!(end <= self.rows.own.end, "room for the sums");
        self.next = end;
        let mut places = std::mem::take(&mut self.batch.places);
        places.clear();
        places.extend((first..end).map(|row| SumRow(row as u32)));
        self.add_pairs_to(pairs, &mut places);
        self.batch.places = places;
        first
    }

    fn add_pairs_to(&mut self, pairs: &mut Vec<[Ref; 2]>, places: &mut Vec<SumRow>) {
        assert_eq!(pairs.len(), places.len(), "a place for each sum");
        let pair_of_groups = 2 * LanesOf::<F, E>::WIDTH;
        // Copies of the last pair fill the last groups. A batch reads all points before it writes
        // sums, so that copies write the same sum to the same place.
        if let (Some(pair), Some(place)) = (pairs.last().copied(), places.last().copied()) {
            let padded = pairs.len().next_multiple_of(pair_of_groups);
            pairs.resize(padded, pair);
            places.resize(padded, place);
        }
        // Batches of about equal length.
        let batches = pairs.len().div_ceil(self.batch_len()).max(1);
        let len = pairs.len().div_ceil(batches).next_multiple_of(pair_of_groups).max(pair_of_groups);
        for (pairs, places) in pairs.chunks(len).zip(places.chunks(len)) {
            let engine = self.engine;
            engine.run(
                #[inline(always)]
                || self.add_batch::<2>(pairs, places),
            );
        }
    }

    fn copy(&mut self, reference: Ref, place: SumRow) -> Ref {
        let row = *self.rows.get(reference.index());
        // SAFETY: no other adder uses the row of a place.
        unsafe { self.rows.place(place).write(row) };
        Ref::new(place.0 as usize, reference.0 & Ref::NEGATIVE != 0)
    }
}

impl<'a, F: Packable, E: Engine> Adder<'a, F, E> {
    pub(super) fn new(
        engine: E,
        rows: RowsOfAdder<'a, Row<F>>,
        batch: &'a mut InversionBatch<F::Lanes<E>>,
    ) -> Self {
        Self { engine, next: rows.own.start, rows, batch, infinity: false }
    }

    /// Writes the points of the references.
    pub(super) fn write<C: Curve<Base = F>>(&self, refs: &[Ref], points: &mut [Affine<C>]) {
        self.engine.run(
            #[inline(always)]
            || {
                let width = LanesOf::<F, E>::WIDTH;
                for (refs, points) in refs.chunks(width).zip(points.chunks_mut(width)) {
                    let mut group = [[refs[0]; 2]; LANES];
                    for (pair, reference) in group.iter_mut().zip(refs) {
                        *pair = [*reference; 2];
                    }
                    let (mut x, mut y) = ([F::ZERO; LANES], [F::ZERO; LANES]);
                    self.gather(&group[..width], 0, 0).store(&mut x);
                    self.gather(&group[..width], 0, 1).store(&mut y);
                    for (i, (point, reference)) in points.iter_mut().zip(refs).enumerate() {
                        let negative = reference.0 & Ref::NEGATIVE != 0;
                        *point = Affine { x: x[i], y: if negative { -y[i] } else { y[i] } };
                    }
                }
            },
        );
    }

    /// Coordinate 0 or 1 of the first (side 0) or second (side 1) points of a group.
    #[inline(always)]
    fn gather(&self, group: &Group, side: usize, coordinate: usize) -> F::Lanes<E> {
        LanesOf::<F, E>::gather(
            self.engine,
            #[inline(always)]
            |lane| &self.rows.get((group[lane][side].0 >> 1) as usize).0[coordinate],
        )
    }

    /// The lanes in which the first and in which the second points of a group are negated.
    #[inline(always)]
    fn signs(&self, group: &Group) -> [u8; 2] {
        // SAFETY: a reference is a transparent u32.
        let words = unsafe { &*(std::ptr::from_ref(group) as *const [[u32; 2]]) };
        self.engine.odd_words(words)
    }

    #[inline(always)]
    fn add_batch<const K: usize>(&mut self, pairs: &[[Ref; 2]], places: &[SumRow]) {
        let groups = pairs.len() / LanesOf::<F, E>::WIDTH;
        self.batch.steps.reserve_exact(groups.saturating_sub(self.batch.steps.len()));
        self.batch.steps.resize(groups.max(self.batch.steps.len()), AffineStep::empty(self.engine));
        self.batch.repairs.clear();
        let mut products = None;
        // First without tests for exceptional pairs, which are rare in sums of random points.
        if !self.infinity {
            products = Some(self.multiply_denominators::<K, false>(pairs));
        }
        // A zero denominator, which is rare, makes a product zero.
        let mut products = match products {
            Some(products) if !has_zero::<F, E, K>(&products) => products,
            _ => self.multiply_denominators::<K, true>(pairs),
        };
        products = invert_chains::<F, E, K>(products);
        // Backwards: each group strips its denominators from the inverse (Montgomery's trick).
        for group in (0..groups).step_by(K).rev() {
            products = self.add_groups(group, places, products);
        }
        if !self.batch.repairs.is_empty() {
            // Rare: a function of its own.
            LanesOf::<F, E>::outlined(
                self.engine,
                #[inline(always)]
                || self.repair(places),
            );
        }
    }

    /// The products of the denominators of every K-th group, and the steps; denominators of points that the formula
    /// does not add are replaced only if `CAREFUL`.
    #[inline(always)]
    fn multiply_denominators<const K: usize, const CAREFUL: bool>(
        &mut self,
        pairs: &[[Ref; 2]],
    ) -> [F::Lanes<E>; K] {
        let width = LanesOf::<F, E>::WIDTH;
        let mut steps = std::mem::take(&mut self.batch.steps);
        let products = chain(
            self.engine,
            &mut steps[..pairs.len() / width],
            #[inline(always)]
            |group| {
                // Rows are addressed by digits, in an order that the CPU cannot foresee.
                let ahead = group * width + PREFETCH;
                if let Some(ahead) = pairs.get(ahead..ahead + width) {
                    for reference in ahead.iter().flatten() {
                        prefetch(self.rows.get(reference.index()));
                    }
                }
                let pairs = &pairs[group * width..][..width];
                if CAREFUL {
                    // Rare: a function of its own.
                    LanesOf::<F, E>::outlined(
                        self.engine,
                        #[inline(always)]
                        || self.careful_step(pairs, group),
                    )
                } else {
                    self.step(pairs)
                }
            },
        );
        self.batch.steps = steps;
        products
    }

    /// The step of a group, before its numerator is multiplied by the denominators before.
    #[inline(always)]
    fn step(&self, group: &Group) -> AffineStep<F::Lanes<E>> {
        let [x1, x2] = [self.gather(group, 0, 0), self.gather(group, 1, 0)];
        let signs = self.signs(group);
        let y1 = LanesOf::<F, E>::negate_lanes(signs[0], self.gather(group, 0, 1));
        let y2 = LanesOf::<F, E>::negate_lanes(signs[1], self.gather(group, 1, 1));
        AffineStep::add([x1, y1], [x2, y2])
    }

    /// [`Self::step`] that also doubles equal points, and keeps the denominator invertible in the lanes that
    /// [`Repair`] corrects.
    #[inline(always)]
    fn careful_step(&mut self, pairs: &Group, group: usize) -> AffineStep<F::Lanes<E>> {
        let [x1, x2] = [self.gather(pairs, 0, 0), self.gather(pairs, 1, 0)];
        let [y1, y2] = [self.gather(pairs, 0, 1), self.gather(pairs, 1, 1)];
        let signs = self.signs(pairs);
        let (y1, y2) =
            (LanesOf::<F, E>::select(signs[0], -y1, y1), LanesOf::<F, E>::select(signs[1], -y2, y2));
        let infinite = [x1.zero_lanes() & y1.zero_lanes(), x2.zero_lanes() & y2.zero_lanes()];
        let first = infinite[0] | infinite[1];
        // Equal x: doublings where y is equal too, else opposite points.
        let same = LanesOf::<F, E>::zero_lanes(x2.sub_lazy(x1)) & !first;
        let opposite = same & LanesOf::<F, E>::zero_lanes(y2.add_lazy(y1));
        let double = same & !opposite;
        if opposite | first != 0 {
            self.batch.repairs.push(Repair { group, opposite, first });
        }
        // A later pair may contain this infinity: from here on, batches are careful at once.
        self.infinity |= opposite != 0;
        // The tangent where points are equal, else the chord.
        let square = x1.square();
        let numerator = LanesOf::<F, E>::select(double, square + square + square, y2.sub_factor(y1));
        let denominator = LanesOf::<F, E>::select(double, y1 + y1, x2.sub_lazy(x1));
        let denominator =
            LanesOf::<F, E>::select(opposite | first, F::Lanes::<E>::one(self.engine), denominator);
        // The sum with infinity is the other point: `repair` finds it as the first.
        let [x1, y1] =
            [LanesOf::<F, E>::select(infinite[0], x2, x1), LanesOf::<F, E>::select(infinite[0], y2, y1)];
        AffineStep { x1, y1, x2, denominator, numerator }
    }

    /// Adds the K groups from `group` on, given the inverses of the products of all denominators up to and including theirs;
    /// returns the inverses for the groups before.
    #[inline(always)]
    fn add_groups<const K: usize>(
        &mut self,
        group: usize,
        places: &[SumRow],
        inverses: [F::Lanes<E>; K],
    ) -> [F::Lanes<E>; K] {
        let (sums, inverses) = sums(&self.batch.steps[group..group + K], inverses);
        let width = LanesOf::<F, E>::WIDTH;
        for (k, sum) in sums.iter().enumerate() {
            let places = &places[(group + k) * width..][..width];
            let mut rows = [std::ptr::null_mut(); LANES];
            for (row, place) in rows.iter_mut().zip(places) {
                *row = self.rows.place(*place);
            }
            scatter::<F, E, _>(
                sum,
                &mut rows,
                #[inline(always)]
                // SAFETY: no other adder uses the row of a place.
                |row| unsafe { &mut **row },
            );
        }
        inverses
    }

    /// Writes the sums that the formula does not give.
    #[inline(always)]
    fn repair(&mut self, places: &[SumRow]) {
        let width = LanesOf::<F, E>::WIDTH;
        let (mut infinity, mut first) = ([Row::default(); LANES], [Row::default(); LANES]);
        scatter::<F, E, _>(&[F::Lanes::<E>::zero(self.engine); 2], &mut infinity, |row| row);
        for repair in &self.batch.repairs {
            let AffineStep { x1, y1, .. } = self.batch.steps[repair.group];
            scatter::<F, E, _>(&[x1, y1], &mut first, |row| row);
            for (lane, place) in places[repair.group * width..][..width].iter().enumerate() {
                let sum = self.rows.place(*place);
                // SAFETY: no other adder uses the row of a place.
                unsafe {
                    if repair.opposite >> lane & 1 == 1 {
                        sum.write(infinity[lane]);
                    }
                    if repair.first >> lane & 1 == 1 {
                        sum.write(first[lane]);
                    }
                }
            }
        }
    }
}

/// Writes both coordinates of as many points as there are lanes, to the row of each element of `rows`.
#[inline(always)]
pub(super) fn scatter<F: Packable, E: Engine, R>(
    point: &[LanesOf<F, E>; 2],
    rows: &mut [R],
    row: impl Fn(&mut R) -> &mut Row<F>,
) {
    // By index: the compiler copies vectors of which it makes an iterator.
    for k in 0..2 {
        point[k].scatter(
            rows,
            #[inline(always)]
            |element| &mut row(element).0[k],
        );
    }
}
