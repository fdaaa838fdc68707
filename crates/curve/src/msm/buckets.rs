//! One window: its points into buckets, its buckets into one sum.

use super::{
    Row,
    batch_add::{Adder, Ref},
    digits::Digits,
};
use crate::{Affine, Curve, Jacobian, Xyzz};
use proofmill_field::{Engine, Packable};

/// Points whose sums are built together; their rounds' results stay in the second-level cache.
const CHUNK: usize = 1 << 14;

/// The sum of `digit * base` over one window.
pub(super) fn sum_window<C: Curve<Base: Packable>, E: Engine>(
    mut adder: Adder<'_, C::Base, E>,
    digits: &Digits,
    window: usize,
) -> Jacobian<C> {
    let (mut sorted, ends) = sort(digits, window);
    let buckets = sum_buckets(&mut adder, &mut sorted, &ends);
    drop(sorted);
    weigh::<C, E>(&mut adder, buckets)
}

/// The points of nonzero digit by the digit's absolute value, and where each value's points end.
fn sort(digits: &Digits, window: usize) -> (Vec<Ref>, Vec<u32>) {
    let mut ends = vec![0u32; digits.windows().largest() + 1];
    let digits: Vec<i32> =
        digits.of_window(window).inspect(|digit| ends[digit.unsigned_abs() as usize] += 1).collect();
    ends[0] = 0;
    let mut total = 0;
    for end in &mut ends {
        let start = total;
        total += *end;
        *end = start;
    }
    let mut sorted = vec![Ref::base(0, false); total as usize];
    for (index, digit) in digits.into_iter().enumerate() {
        if digit != 0 {
            let end = &mut ends[digit.unsigned_abs() as usize];
            sorted[*end as usize] = Ref::base(index, digit < 0);
            *end += 1;
        }
    }
    (sorted, ends)
}

/// A run of points, in an array of references, that belong together.
#[derive(Clone, Copy)]
struct Segment {
    owner: usize,
    start: usize,
    len: usize,
}

/// The sum of each bucket, `None` where it is empty.
fn sum_buckets<F: Packable, E: Engine>(
    adder: &mut Adder<'_, F, E>,
    sorted: &mut [Ref],
    ends: &[u32],
) -> Vec<Option<Ref>> {
    let mut partial: Vec<(usize, Ref)> = Vec::with_capacity(ends.len());
    let (mut bucket, mut segments) = (0, Vec::new());
    for start in (0..sorted.len()).step_by(CHUNK) {
        let chunk = start..(start + CHUNK).min(sorted.len());
        segments.clear();
        let mut at = chunk.start;
        while at < chunk.end {
            while ends[bucket] as usize <= at {
                bucket += 1;
            }
            let end = (ends[bucket] as usize).min(chunk.end);
            segments.push(Segment { owner: bucket, start: at, len: end - at });
            at = end;
        }
        let base = adder.len();
        sum_segments(adder, sorted, &mut segments);
        let mut refs: Vec<Ref> = segments.iter().map(|segment| sorted[segment.start]).collect();
        adder.keep(base, &mut refs);
        partial.extend(segments.iter().map(|segment| segment.owner).zip(refs));
    }
    // Buckets that straddle chunks have several partial sums, side by side.
    let mut refs: Vec<Ref> = partial.iter().map(|(_, reference)| *reference).collect();
    let mut segments: Vec<Segment> = Vec::new();
    for (start, (owner, _)) in partial.iter().enumerate() {
        match segments.last_mut() {
            Some(last) if last.owner == *owner => last.len += 1,
            _ => segments.push(Segment { owner: *owner, start, len: 1 }),
        }
    }
    sum_segments(adder, &mut refs, &mut segments);
    let mut buckets = vec![None; ends.len()];
    for segment in segments {
        buckets[segment.owner] = Some(refs[segment.start]);
    }
    buckets
}

/// Sums each segment as a balanced tree, all segments together, round by round; the sum of a segment ends up
/// at its start.
fn sum_segments<F: Packable, E: Engine>(
    adder: &mut Adder<'_, F, E>,
    refs: &mut [Ref],
    segments: &mut [Segment],
) {
    let mut pairs = Vec::new();
    loop {
        pairs.clear();
        for segment in segments.iter() {
            let (chunks, _) = refs[segment.start..segment.start + segment.len].as_chunks();
            pairs.extend_from_slice(chunks);
        }
        if pairs.is_empty() {
            return;
        }
        let mut sums = adder.add_pairs(&mut pairs);
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

/// The sum of `i * buckets[i]`.
///
/// Halving: with `b'_j = b_2j + b_(2j+1)`, the sum is `2 * sum of j * b'_j` plus the sum of the odd buckets.
/// Every level's odd buckets wait, and are summed together at the end.
fn weigh<C: Curve<Base: Packable>, E: Engine>(
    adder: &mut Adder<'_, C::Base, E>,
    mut buckets: Vec<Option<Ref>>,
) -> Jacobian<C> {
    let (mut odd, mut segments) = (Vec::new(), Vec::new());
    while buckets.len() > 1 {
        let start = odd.len();
        odd.extend(buckets.iter().skip(1).step_by(2).flatten());
        segments.push(Segment { owner: segments.len(), start, len: odd.len() - start });
        let mut pairs: Vec<[Ref; 2]> = buckets
            .as_chunks()
            .0
            .iter()
            .skip(1)
            .filter_map(|[even, odd]| Some([(*even)?, (*odd)?]))
            .collect();
        let mut sums = adder.add_pairs(&mut pairs);
        let halves = buckets.chunks(2).enumerate().map(|(j, pair)| match pair {
            _ if j == 0 => None,
            [Some(_), Some(_)] => sums.next(),
            pair => pair.iter().flatten().next().copied(),
        });
        buckets = halves.collect();
    }
    let waiting = segments.iter().filter(|segment| segment.len > 0).copied();
    let mut waiting: Vec<Segment> = waiting.collect();
    sum_segments(adder, &mut odd, &mut waiting);
    let mut sums = vec![Affine::<C>::INFINITY; segments.len()];
    for segment in waiting {
        let [x, y] = adder.coordinates(odd[segment.start]);
        sums[segment.owner] = Affine { x, y };
    }
    sums.iter().rev().fold(Xyzz::INFINITY, |total, sum| total.double().add_affine(sum)).into()
}

const _: () = assert!(size_of::<Row<crate::bn254::G1>>() == 64, "a point is a cache line");
