//! Additions of points to their buckets' sums, in batches that have every bucket at most once.

use super::{
    batch_add::{AddPairs, KeptSums, Ref, SumRow},
    digits::BLOCK,
};
use std::mem;

/// The state of a bucket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Empty,
    /// A point elsewhere, or the negative of the one in its place.
    Point,
    /// The sum in its place.
    Sum,
    /// An addition in the batch, whose sum will be in its place.
    Batched,
}

/// Memory of a batch.
#[derive(Default)]
pub(super) struct BucketAccumulator {
    states: Vec<State>,
    /// The summands of each addition, and the rows of the sums.
    pairs: Vec<[Ref; 2]>,
    places: Vec<SumRow>,
    /// Points whose bucket was in the batch, with their buckets.
    deferred: Vec<(u16, Ref)>,
    /// Deferred points that are tried again.
    retried: Vec<(u16, Ref)>,
}

impl BucketAccumulator {
    /// Whether [`add`](Self::add) is faster than sorting: with fewer buckets, too many points meet one that is in the batch.
    pub(super) fn pays(adder: &dyn AddPairs, buckets: usize) -> bool {
        buckets >= 2 * adder.batch_len()
    }

    /// Adds points, in blocks of up to [`BLOCK`], to the sums of their buckets, which are in `kept` before and afterwards; ignores those of
    /// bucket 0. Returns those that are left, if few buckets have most of the points.
    pub(super) fn add<B: Iterator<Item = (u16, Ref)>>(
        &mut self,
        adder: &mut dyn AddPairs,
        sums: &mut [Ref],
        kept: &mut KeptSums,
        blocks: impl Iterator<Item = B>,
    ) -> &[(u16, Ref)] {
        self.states.clear();
        self.states.extend(sums.iter().enumerate().map(|(bucket, sum)| match *sum {
            Ref::NONE => State::Empty,
            sum if sum == kept.place(bucket).sum() => State::Sum,
            _ => State::Point,
        }));
        self.deferred.clear();
        let mut points = 0;
        // The first pass: every point is batched, put into its empty bucket, or deferred.
        for block in blocks {
            points += BLOCK;
            self.push(adder, sums, kept, block);
        }
        self.add_batch(adder, kept);
        // More passes while each at least halves the rest. Otherwise few buckets have most of the
        // points, and one addition per bucket and batch would leave the lanes empty.
        while !self.deferred.is_empty() && self.deferred.len() <= points / 2 {
            let retried = mem::replace(&mut self.deferred, mem::take(&mut self.retried));
            self.deferred.clear();
            points = retried.len();
            for block in retried.chunks(BLOCK) {
                self.push(adder, sums, kept, block.iter().copied());
            }
            self.add_batch(adder, kept);
            self.retried = retried;
        }
        // Single points are copied, because the next tile overwrites the rows of the bases.
        for (bucket, (sum, state)) in sums.iter_mut().zip(&self.states).enumerate() {
            match state {
                State::Sum => *sum = kept.place(bucket).sum(),
                State::Point => *sum = adder.copy(*sum, kept.place(bucket)),
                State::Batched | State::Empty => (),
            }
        }
        &self.deferred
    }

    /// Puts points into the batch, and adds it if another block might not fit.
    #[inline(always)]
    fn push(
        &mut self,
        adder: &mut dyn AddPairs,
        sums: &mut [Ref],
        kept: &mut KeptSums,
        points: impl Iterator<Item = (u16, Ref)>,
    ) {
        for (bucket, point) in points {
            let index = usize::from(bucket);
            let state = &mut self.states[index];
            match *state {
                _ if bucket == 0 => (),
                // The first point of a bucket is only noted: no addition.
                State::Empty => (*state, sums[index]) = (State::Point, point),
                // The sum it would be added to is not computed yet.
                State::Batched => self.deferred.push((bucket, point)),
                State::Point | State::Sum => {
                    let place = kept.place(index);
                    let sum = if *state == State::Sum { place.sum() } else { sums[index] };
                    self.pairs.push([sum, point]);
                    self.places.push(place);
                    *state = State::Batched;
                }
            }
        }
        if self.pairs.len() + BLOCK > adder.batch_len() {
            self.add_batch(adder, kept);
        }
    }

    fn add_batch(&mut self, adder: &mut dyn AddPairs, kept: &KeptSums) {
        for place in &self.places {
            self.states[kept.index(*place)] = State::Sum;
        }
        adder.add_pairs_to(&mut self.pairs, &mut self.places);
        self.pairs.clear();
        self.places.clear();
    }
}
