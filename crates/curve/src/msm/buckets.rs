//! One window: adds its points to buckets and reduces the buckets to one sum.

use super::{
    accumulator::BucketAccumulator,
    batch_add::{AddPairs, Adder, KeptSums, Ref},
    digits::{ScalarDigits, ScalarWindows},
};
use crate::{Affine, Curve, Jacobian, Xyzz};
use proofmill_field::{Engine, Packable, Row};
use std::{array, ops::Range};

/// The points whose sums are computed together: their rounds' results stay in the second-level cache, and are small compared
/// with the points.
fn chunk<R>(points: usize) -> usize {
    (24 * points).clamp(1 << 12, 1 << 20) / size_of::<R>()
}

/// The sums of a window's buckets so far.
pub(super) struct Buckets {
    /// Each bucket's sum, at its index in `kept`; `NONE` if it is empty.
    sums: Vec<Ref>,
    kept: KeptSums,
    /// Whether a sum may be infinity.
    infinity: bool,
}

impl Buckets {
    /// Empty buckets, whose sums will be in [`count`](Self::count) rows.
    pub(super) fn new(kept: KeptSums) -> Self {
        Self { sums: Vec::new(), kept, infinity: false }
    }

    /// The number of a window's buckets.
    pub(super) fn count(windows: ScalarWindows) -> usize {
        windows.largest() + 1
    }
}

/// Points whose sum is computed: `len` points of a sequence in which segments follow each other, and one more or
/// [`Ref::NONE`]. In the end that one is the sum, `NONE` if there were no points.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    len: u32,
    single: Ref,
}

impl Segment {
    /// The next `len` points.
    pub(super) fn of(len: usize) -> Self {
        Self { len: len as u32, single: Ref::NONE }
    }

    /// And one more point, or [`Ref::NONE`].
    pub(super) fn and(self, single: Ref) -> Self {
        Self { single, ..self }
    }

    /// The sum of a segment that was summed.
    pub(super) fn sum(&self) -> Option<Ref> {
        Some(self.single).filter(|sum| *sum != Ref::NONE)
    }
}

/// Adds points to a window's buckets, and sums the buckets, in the same memory for one window after another.
pub(super) struct WindowAdder {
    chunk: usize,
    accumulator: BucketAccumulator,
    /// The points that the accumulator does not add, sorted by the digit's absolute value.
    sorted: Vec<Ref>,
    /// The end of each absolute value's points.
    ends: Vec<u32>,
    pairs: Vec<[Ref; 2]>,
    segments: Vec<Segment>,
    /// The bucket of each segment.
    owners: Vec<usize>,
    /// The buckets' sums, then those of pairs of buckets, and so on.
    halves: Vec<Option<Ref>>,
    /// The odd ones of all these sums.
    odd: Vec<Ref>,
}

impl WindowAdder {
    /// Memory for up to `points` points with nonzero digits at a time, whose rows are `R`.
    pub(super) fn new<R>(points: usize) -> Self {
        let (sorted, ends, pairs, segments, owners, halves, odd) = Default::default();
        Self {
            chunk: chunk::<R>(points),
            accumulator: BucketAccumulator::default(),
            sorted,
            ends,
            pairs,
            segments,
            owners,
            halves,
            odd,
        }
    }

    /// The most sums in use at a time, except those of buckets.
    pub(super) fn sums<R>(windows: ScalarWindows, points: usize) -> usize {
        chunk::<R>(points).min(points).max(2 * Buckets::count(windows))
    }

    /// Adds the bases of a range to the buckets of their digits.
    pub(super) fn add(
        &mut self,
        adder: &mut dyn AddPairs,
        buckets: &mut Buckets,
        digits: &ScalarDigits,
        window: usize,
        range: Range<usize>,
    ) {
        let Buckets { sums, kept, .. } = buckets;
        let zero = digits.zero(window);
        let blocks = digits.of_window(window, range).map(|(start, fields)| {
            let point =
                move |(i, field): (usize, &u16)| (field.abs_diff(zero), Ref::new(start + i, *field < zero));
            fields.iter().enumerate().map(point)
        });
        sums.resize(Buckets::count(digits.windows()), Ref::NONE);
        adder.clear(buckets.infinity);
        // With many buckets most points find theirs free: sorting would only cost time.
        if BucketAccumulator::pays(adder, sums.len()) {
            let rest = self.accumulator.add(adder, sums, kept, blocks);
            sort(rest.iter().copied(), sums.len(), &mut self.ends, &mut self.sorted);
        } else {
            sort(blocks.flatten(), sums.len(), &mut self.ends, &mut self.sorted);
        }
        let mut bucket = 0;
        // A segment is the points of one bucket within a chunk, plus the sum of the bucket so far.
        for start in (0..self.sorted.len()).step_by(self.chunk) {
            let chunk = start..(start + self.chunk).min(self.sorted.len());
            self.segments.clear();
            self.owners.clear();
            let mut at = chunk.start;
            while at < chunk.end {
                // Past buckets whose points are all done, and empty ones.
                while self.ends[bucket] as usize <= at {
                    bucket += 1;
                }
                let end = (self.ends[bucket] as usize).min(chunk.end);
                self.segments.push(Segment::of(end - at).and(buckets.sums[bucket]));
                self.owners.push(bucket);
                at = end;
            }
            sum_segments(adder, &self.sorted[chunk], &mut self.segments, &mut self.pairs);
            for (segment, bucket) in self.segments.iter().zip(&self.owners) {
                buckets.sums[*bucket] = adder.copy(segment.single, buckets.kept.place(*bucket));
            }
            // The sums were copied to kept rows, so the next chunk can use the scratch rows again.
            adder.clear(adder.infinity());
        }
        buckets.infinity = adder.infinity();
    }

    /// The sum of `i * buckets[i]`; the buckets are empty afterwards.
    ///
    /// By halving: with `b'_j = b_2j + b_(2j+1)`, the sum is `2 * sum of j * b'_j` plus the sum of the odd buckets.
    /// The odd buckets of every level are stored and summed together at the end.
    pub(super) fn weigh<C: Curve<Base: Packable>, E: Engine>(
        &mut self,
        adder: &mut Adder<'_, C::Base, E>,
        buckets: &mut Buckets,
    ) -> Jacobian<C> {
        let sums = self.halve(adder, buckets).iter().rev().map(|segment| {
            let mut sum = [Affine::INFINITY];
            if let Some(reference) = segment.sum() {
                adder.write(&[reference], &mut sum);
            }
            sum[0]
        });
        horner(&sums.collect::<Vec<_>>())
    }

    /// The sums of the odd buckets of every level.
    fn halve(&mut self, adder: &mut dyn AddPairs, buckets: &mut Buckets) -> &[Segment] {
        let Self { pairs, segments, odd, .. } = self;
        adder.clear(std::mem::take(&mut buckets.infinity));
        let sums = buckets.sums.drain(..);
        let buckets = &mut self.halves;
        buckets.clear();
        buckets.extend(sums.map(|sum| Some(sum).filter(|sum| *sum != Ref::NONE)));
        odd.clear();
        segments.clear();
        while buckets.len() > 1 {
            // At level l an odd bucket counts 2^l times: one segment per level, for Horner's rule.
            let start = odd.len();
            odd.extend(buckets.iter().skip(1).step_by(2).flatten());
            segments.push(Segment::of(odd.len() - start));
            // Not pair 0: bucket 0 has weight 0, and bucket 1 was taken as an odd one.
            pairs.clear();
            pairs.extend(
                buckets.as_chunks().0.iter().skip(1).filter_map(|[even, odd]| Some([(*even)?, (*odd)?])),
            );
            let mut sums = (adder.add_pairs(pairs)..).map(|row| Ref::new(row, false));
            // In place, because entry j is not in a later pair. A lone sum moves up unchanged.
            for j in 0..buckets.len().div_ceil(2) {
                buckets[j] = match &buckets[2 * j..buckets.len().min(2 * j + 2)] {
                    _ if j == 0 => None,
                    [Some(_), Some(_)] => sums.next(),
                    pair => pair.iter().flatten().next().copied(),
                };
            }
            buckets.truncate(buckets.len().div_ceil(2));
        }
        sum_segments(adder, odd, segments, pairs);
        segments
    }
}

/// The sum of the points, each times two to the number of those after it.
fn horner<C: Curve>(points: &[Affine<C>]) -> Jacobian<C> {
    points.iter().fold(Xyzz::INFINITY, |total, point| total.double().add_affine(point)).into()
}

/// Sorts points by their buckets, from 0 to `count` - 1, into `sorted`, and writes the end of each bucket's points. Points of bucket 0 are
/// ignored.
fn sort(
    points: impl Iterator<Item = (u16, Ref)> + Clone,
    count: usize,
    ends: &mut Vec<u32>,
    sorted: &mut Vec<Ref>,
) {
    ends.clear();
    ends.resize(count, 0);
    // A counting sort, linear in the points: first the size of each bucket.
    points.clone().for_each(|(bucket, _)| ends[usize::from(bucket)] += 1);
    ends[0] = 0;
    // Second, the start of each bucket.
    let mut total = 0;
    for end in ends.iter_mut() {
        let start = total;
        total += *end;
        *end = start;
    }
    sorted.resize(total as usize, Ref::NONE);
    // Third, each point to its place, which moves the start of its bucket to the end.
    points.filter(|(bucket, _)| *bucket != 0).for_each(|(bucket, point)| {
        let end = &mut ends[usize::from(bucket)];
        sorted[*end as usize] = point;
        *end += 1;
    });
}

/// Sums each segment, all together, round by round, each as a balanced tree; the references are those of the segments one
/// after another.
pub(super) fn sum_segments(
    adder: &mut dyn AddPairs,
    refs: &[Ref],
    segments: &mut [Segment],
    pairs: &mut Vec<[Ref; 2]>,
) {
    let singles = segments.iter().filter(|segment| segment.single != Ref::NONE).count();
    let mut points = refs.len() + singles;
    pair_up(
        segments,
        points,
        pairs,
        #[inline(always)]
        |i| match refs.get(i..i + 2 * PAIRS) {
            Some(block) => array::from_fn(|j| [block[2 * j], block[2 * j + 1]]),
            None => array::from_fn(|j| [2 * j, 2 * j + 1].map(|j| *refs.get(i + j).unwrap_or(&Ref::NONE))),
        },
    );
    while !pairs.is_empty() {
        points -= pairs.len();
        // Sums lie in consecutive rows in the order of the segments, so their index is known.
        let first = adder.add_pairs(pairs);
        pair_up(
            segments,
            points,
            pairs,
            #[inline(always)]
            |i| array::from_fn(|j| [2 * j, 2 * j + 1].map(|j| Ref::new(first + i + j, false))),
        );
    }
}

/// Pairs are made this many at a time, so that short segments need no loop.
const PAIRS: usize = 8;

/// Replaces the pairs by those of the segments' points; `points` is their number, and `block` gives the sequence's points
/// from an index on, in pairs, and anything beyond its end.
fn pair_up(
    segments: &mut [Segment],
    points: usize,
    pairs: &mut Vec<[Ref; 2]>,
    block: impl Fn(usize) -> [[Ref; 2]; PAIRS],
) {
    // Blocks are written whole, so the last one may exceed the pairs.
    pairs.resize(points / 2 + PAIRS, [Ref::NONE; 2]);
    let (mut at, mut count) = (0, 0);
    for Segment { len, single } in segments {
        let (start, half, odd) = (at, *len as usize / 2, *len % 2 == 1);
        at += *len as usize;
        // What a block writes beyond `half` is overwritten by the next segment, or cut off.
        for k in (0..half.max(1)).step_by(PAIRS) {
            pairs[count + k..][..PAIRS].copy_from_slice(&block(start + 2 * k));
        }
        count += half;
        // Without branches, since lengths are random.
        let last = block(at.saturating_sub(1))[0][0];
        pairs[count] = [last, *single];
        let both = odd & (*single != Ref::NONE);
        let rest = if both { Ref::NONE } else { last };
        *single = if odd { rest } else { *single };
        count += usize::from(both);
        *len = half as u32 + u32::from(both);
    }
    pairs.truncate(count);
}

const _: () = assert!(size_of::<Row<proofmill_field::bn254::Fq>>() == 64, "a point is a cache line");
