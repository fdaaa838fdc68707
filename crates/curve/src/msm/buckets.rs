//! One window: its points into buckets, its buckets into one sum.

use super::{
    batch_add::{Adder, Ref, RowsOfAdder},
    digits::{Digits, Windows},
};
use crate::{Affine, Curve, Jacobian, Xyzz};
use proofmill_field::{Engine, LANES, Packable, Row};
use std::ops::Range;

/// Points whose sums are built together: their rounds' results stay in the second-level cache, and take little beside
/// the points themselves.
fn chunk<R>(points: usize) -> usize {
    (24 * points).clamp(1 << 12, 1 << 20) / size_of::<R>()
}

/// Sums windows one after the other, in the same memory.
pub(super) struct WindowAdder<'a, F: Packable, E: Engine> {
    adder: Adder<'a, F, E>,
    chunk: usize,
    /// The points of nonzero digit, by the digit's absolute value.
    sorted: Vec<Ref>,
    /// Where each absolute value's points end.
    ends: Vec<u32>,
    pairs: Vec<[Ref; 2]>,
    segments: Vec<Segment>,
    /// Sums of the parts of buckets that lie in one chunk.
    partial: Vec<Ref>,
    /// The bucket of each partial sum.
    owners: Vec<usize>,
    buckets: Vec<Option<Ref>>,
}

/// A run of points, in an array of references, that belong together.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub(super) start: usize,
    pub(super) len: usize,
}

impl<'a, F: Packable, E: Engine> WindowAdder<'a, F, E> {
    /// For up to `points` points of nonzero digit.
    pub(super) fn new(engine: E, rows: RowsOfAdder<'a, Row<F>>, points: usize) -> Self {
        Self {
            adder: Adder::new(engine, rows, points),
            chunk: chunk::<Row<F>>(points),
            sorted: Vec::new(),
            ends: Vec::new(),
            pairs: Vec::new(),
            segments: Vec::new(),
            partial: Vec::new(),
            owners: Vec::new(),
            buckets: Vec::new(),
        }
    }

    /// How many sums are alive at once while `points` points are summed.
    pub(super) fn sums(windows: Windows, points: usize) -> usize {
        let chunk = chunk::<Row<F>>(points);
        let (buckets, chunks) = (windows.largest() + 1, points.div_ceil(chunk));
        buckets + chunks + chunk.min(points).max(chunks + 2 * buckets) + 2 * LANES
    }

    /// The sum of `digit * base` over one window and a range of points.
    pub(super) fn sum<C: Curve<Base = F>>(
        &mut self,
        digits: &Digits,
        window: usize,
        range: Range<usize>,
    ) -> Jacobian<C> {
        self.adder.clear();
        self.sort(digits, window, range);
        self.sum_buckets();
        self.weigh()
    }

    fn sort(&mut self, digits: &Digits, window: usize, range: Range<usize>) {
        let zero = digits.zero(window);
        let (ends, sorted) = (&mut self.ends, &mut self.sorted);
        ends.clear();
        ends.resize(digits.windows().largest() + 1, 0);
        for (_, fields) in digits.of_window(window, range.clone()) {
            for field in fields {
                ends[usize::from(field.abs_diff(zero))] += 1;
            }
        }
        ends[0] = 0;
        let mut total = 0;
        for end in ends.iter_mut() {
            let start = total;
            total += *end;
            *end = start;
        }
        sorted.resize(total as usize, Ref::new(0, false));
        for (start, fields) in digits.of_window(window, range) {
            for (i, field) in fields.iter().enumerate().filter(|(_, field)| **field != zero) {
                let end = &mut ends[usize::from(field.abs_diff(zero))];
                sorted[*end as usize] = Ref::new(start + i, *field < zero);
                *end += 1;
            }
        }
    }

    /// The sum of each bucket, `None` where it is empty.
    fn sum_buckets(&mut self) {
        self.partial.clear();
        self.owners.clear();
        let mut bucket = 0;
        for start in (0..self.sorted.len()).step_by(self.chunk) {
            let chunk = start..(start + self.chunk).min(self.sorted.len());
            self.segments.clear();
            let mut at = chunk.start;
            while at < chunk.end {
                while self.ends[bucket] as usize <= at {
                    bucket += 1;
                }
                let end = (self.ends[bucket] as usize).min(chunk.end);
                self.segments.push(Segment { start: at, len: end - at });
                self.owners.push(bucket);
                at = end;
            }
            let (sums, kept) = (self.adder.next(), self.partial.len());
            sum_segments(&mut self.adder, &mut self.sorted, &mut self.segments, &mut self.pairs);
            self.partial.extend(self.segments.iter().map(|segment| self.sorted[segment.start]));
            self.adder.keep(sums, &mut self.partial[kept..]);
        }
        // Buckets that straddle chunks have several partial sums, side by side.
        self.segments.clear();
        for (start, run) in self.owners.chunk_by(|a, b| a == b).scan(0, |start, run| {
            *start += run.len();
            Some((*start - run.len(), run))
        }) {
            self.segments.push(Segment { start, len: run.len() });
        }
        sum_segments(&mut self.adder, &mut self.partial, &mut self.segments, &mut self.pairs);
        self.buckets.clear();
        self.buckets.resize(self.ends.len(), None);
        for (segment, owner) in self.segments.iter().zip(self.owners.chunk_by(|a, b| a == b)) {
            self.buckets[owner[0]] = Some(self.partial[segment.start]);
        }
    }

    /// The sum of `i * buckets[i]`.
    ///
    /// Halving: with `b'_j = b_2j + b_(2j+1)`, the sum is `2 * sum of j * b'_j` plus the sum of the odd buckets.
    /// Every level's odd buckets wait, and are summed together at the end.
    fn weigh<C: Curve<Base = F>>(&mut self) -> Jacobian<C> {
        let Self { adder, pairs, segments, buckets, partial: odd, .. } = self;
        odd.clear();
        segments.clear();
        while buckets.len() > 1 {
            let start = odd.len();
            odd.extend(buckets.iter().skip(1).step_by(2).flatten());
            segments.push(Segment { start, len: odd.len() - start });
            pairs.clear();
            pairs.extend(
                buckets.as_chunks().0.iter().skip(1).filter_map(|[even, odd]| Some([(*even)?, (*odd)?])),
            );
            let mut sums = adder.add_pairs(pairs);
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
        let sums = segments.iter().rev().map(|segment| match segment.len {
            0 => Affine::<C>::INFINITY,
            _ => {
                let mut sum = [Affine::INFINITY];
                adder.write(&odd[segment.start..=segment.start], &mut sum);
                sum[0]
            }
        });
        sums.fold(Xyzz::INFINITY, |total, sum| total.double().add_affine(&sum)).into()
    }
}

/// Sums each segment as a balanced tree, all segments together, round by round; the sum of a segment ends up
/// at its start.
pub(super) fn sum_segments<F: Packable, E: Engine>(
    adder: &mut Adder<'_, F, E>,
    refs: &mut [Ref],
    segments: &mut [Segment],
    pairs: &mut Vec<[Ref; 2]>,
) {
    loop {
        pairs.clear();
        for segment in segments.iter() {
            let (chunks, _) = refs[segment.start..segment.start + segment.len].as_chunks();
            pairs.extend_from_slice(chunks);
        }
        if pairs.is_empty() {
            return;
        }
        let mut sums = adder.add_pairs(pairs);
        for segment in segments.iter_mut().filter(|segment| segment.len > 1) {
            let half = segment.len / 2;
            let points = &mut refs[segment.start..segment.start + segment.len];
            if segment.len % 2 == 1 {
                points[half] = points[segment.len - 1];
            }
            for (point, sum) in points[..half].iter_mut().zip(&mut sums) {
                *point = sum;
            }
            segment.len -= half;
        }
    }
}

const _: () = assert!(size_of::<Row<proofmill_field::bn254::Fq>>() == 64, "a point is a cache line");
