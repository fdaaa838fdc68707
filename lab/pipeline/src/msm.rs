//! Multi-scalar multiplication by buckets (N. Pippenger, "On the evaluation of powers and related problems", 1976), whose additions run on
//! pipelines.
//!
//! The host cuts scalars into signed digits and sends each point to the bucket of each of its digits. A pipeline takes some thousand cycles for an
//! addition. So a bucket may still be in flight when the next point for it comes: that point waits until its bucket is back. The formula of the
//! pipelines has no case for a sum of points with the same x. Its result then has ZZ = 0, by which the host finds it and adds those two points
//! itself. The buckets' sums are added up by the host.

use crate::{
    DataflowGraph, PipelineError,
    execute::Arithmetic,
    limbs::{Bundle, LANES, LIMBS, SignedField},
};
use proofmill_curve::{Affine, Jacobian, Xyzz, bn254::G1};
use proofmill_field::{
    Field, PrimeField,
    bn254::{Fq, Fr},
};
use serde::Serialize;
use std::{
    collections::{HashMap, VecDeque},
    time::Instant,
};

/// Coordinates of a sum and of a point.
const SUM: usize = 4;
const POINT: usize = 2;

/// How a multiplication runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Bits of a digit: 2 to 20.
    pub digit_bits: u32,
    /// Vectors of a call: the pipelines take that many additions at a time.
    pub vectors: usize,
    /// Calls that are in flight at the same time in all pipelines.
    pub in_flight: usize,
    /// Points that may wait for their buckets. If there are more, calls are sent that are not full.
    pub waiting: usize,
}

/// The counts and the times of a multiplication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MsmStatistics {
    /// The number of calls, including calls that were sent empty because all points waited.
    pub calls: usize,
    /// Additions in them.
    pub additions: usize,
    /// Points that had to wait for their bucket.
    pub waited: usize,
    /// Points that came to an empty bucket, which takes no addition.
    pub first: usize,
    /// Sums of points with the same x, which the host computed.
    pub exceptional: usize,
    /// Seconds of the host for the sums of all buckets.
    pub host_seconds: f64,
}

impl Plan {
    /// The plan for `points` points. The pipelines do `per_second` additions a second, and a call takes `latency` seconds.
    pub fn new(points: usize, vectors: usize, per_second: f64, latency: f64) -> Self {
        let batch = (vectors * LANES) as f64;
        let in_flight = ((latency * per_second / batch).ceil() as usize).max(1);
        let seconds = |bits: &u32| {
            let digits = f64::from((Fr::BITS + 1).div_ceil(*bits));
            let buckets = digits * 2f64.powi(*bits as i32 - 1);
            // A bucket is in flight for the latency, and points come to buckets at random: about half of them are.
            let rate = per_second.min(buckets / latency.max(f64::MIN_POSITIVE) / 2.0);
            digits * points as f64 / rate + buckets * BUCKET_SECONDS
        };
        let digit_bits = (2..=MOST_BITS).min_by(|a, b| seconds(a).total_cmp(&seconds(b))).unwrap_or(2);
        Self { digit_bits, vectors, in_flight, waiting: WAITING }
    }
}

const MOST_BITS: u32 = 20;
/// Seconds of the host for a bucket: two additions.
const BUCKET_SECONDS: f64 = 1e-6;
/// Points that wait: 64 bytes each, so that the memory of the logic around the grid has room for them.
const WAITING: usize = 1 << 14;

/// The sum of all points times their scalars, with its counts and times. The graph is that of the formula `xyzz-plus-affine`,
/// [reduced](DataflowGraph::reduced).
///
/// # Errors
/// As [`run`](crate::execute::run()); numbers of points and scalars that differ; a graph with other sources or sinks; a plan outside of its bounds.
pub fn msm(
    graph: &DataflowGraph,
    arithmetic: Arithmetic,
    points: &[Affine<G1>],
    scalars: &[Fr],
    plan: &Plan,
) -> Result<(Jacobian<G1>, MsmStatistics), PipelineError> {
    check(graph, points.len(), scalars.len(), plan)?;
    let digit_bits = plan.digit_bits;
    let Some(graph) = graph.as_one_node()? else {
        let problem = format!("{} has delays, or too many steps for one node", graph.name);
        return Err(PipelineError::Inputs(problem));
    };
    let field = SignedField::of::<Fq>()?;
    let digits = (Fr::BITS as usize + 1).div_ceil(digit_bits as usize);
    let mut machine = Machine {
        graph: &graph,
        arithmetic,
        plan,
        coordinates: Coordinates::new(&field),
        buckets: vec![[[0; LIMBS]; SUM]; digits << (digit_bits - 1)],
        busy: vec![false; digits << (digit_bits - 1)],
        waiting: HashMap::new(),
        ready: VecDeque::new(),
        flight: VecDeque::new(),
        work: MsmStatistics::default(),
        field: &field,
    };
    let limbs: Vec<_> = points.iter().map(|point| machine.coordinates.of_point(point)).collect();
    let signed: Vec<Vec<i32>> = scalars.iter().map(|scalar| signed_digits(scalar, digit_bits)).collect();
    let top = largest_top(digit_bits);
    let copies = (1 << (digit_bits - 1)) / top;
    // Point by point: its digits are in different buckets. The highest digits are small, so they have several buckets for each number.
    let mut entries = signed.iter().enumerate().flat_map(|(point, signed)| {
        signed.iter().enumerate().filter_map(move |(digit, number)| {
            let copy = if digit + 1 == digits { top * (point % copies) } else { 0 };
            let bucket = (digit << (digit_bits - 1)) + copy + number.unsigned_abs() as usize;
            (*number != 0 && !points[point].is_infinity()).then(|| Entry {
                bucket: bucket - 1,
                point,
                negative: *number < 0,
            })
        })
    });
    machine.fill(&limbs, &mut entries)?;
    let start = Instant::now();
    let sum = machine.sum(digits, top);
    machine.work.host_seconds = start.elapsed().as_secs_f64();
    Ok((sum, machine.work))
}

/// Checks the numbers of points and scalars, the graph's sources and sinks, and the bounds of the plan.
fn check(graph: &DataflowGraph, points: usize, scalars: usize, plan: &Plan) -> Result<(), PipelineError> {
    let refused = |problem: String| Err(PipelineError::Inputs(problem));
    if points != scalars {
        return refused(format!("{points} points and {scalars} scalars: as many are needed"));
    }
    if (graph.sources.len(), graph.sinks.len()) != (SUM + POINT, SUM) {
        return refused(format!(
            "{} is not the sum of a point (X, Y, ZZ, ZZZ) and an affine one",
            graph.name
        ));
    }
    let Plan { digit_bits, vectors, in_flight, .. } = *plan;
    if !(2..=MOST_BITS).contains(&digit_bits) || vectors == 0 || in_flight == 0 {
        return refused(format!(
            "digits of {digit_bits} bits, calls of {vectors} vectors, {in_flight} of them in flight: digits have 2 to {MOST_BITS} bits, and the others are not 0"
        ));
    }
    Ok(())
}

/// Digits from -2^(bits - 1) to 2^(bits - 1), the lowest first.
fn signed_digits(scalar: &Fr, bits: u32) -> Vec<i32> {
    let words = scalar.to_words();
    let bit = |index: u32| words.get(index as usize / 64).map_or(0, |word| word >> (index % 64) & 1) as i32;
    let mut carry = 0;
    let digit = |digit: u32| {
        let plain: i32 = (0..bits).map(|index| bit(digit * bits + index) << index).sum::<i32>() + carry;
        carry = i32::from(plain > 1 << (bits - 1));
        plain - (carry << bits)
    };
    (0..(Fr::BITS + 1).div_ceil(bits)).map(digit).collect()
}

/// The largest highest digit.
fn largest_top(bits: u32) -> usize {
    let largest = signed_digits(&-Fr::ONE, bits).pop().unwrap_or(0);
    // One more, if a digit below it is larger in another scalar.
    (largest.unsigned_abs() as usize + 1).min(1 << (bits - 1))
}

/// A point for a bucket.
#[derive(Clone, Copy, Debug)]
struct Entry {
    bucket: usize,
    point: usize,
    negative: bool,
}

/// An element's limbs.
type Digits = [i32; LIMBS];

/// Elements in the form of pipelines.
struct Coordinates<'a> {
    field: &'a SignedField,
    one: Digits,
}

impl<'a> Coordinates<'a> {
    fn new(field: &'a SignedField) -> Self {
        Self { field, one: field.digits(Fq::ONE.to_montgomery()) }
    }

    /// A point's coordinates, and the negative of its Y.
    fn of_point(&self, point: &Affine<G1>) -> [Digits; POINT + 1] {
        [point.x, point.y, -point.y].map(|element| self.of(element))
    }

    fn of(&self, element: Fq) -> Digits {
        self.field.digits(element.to_montgomery())
    }

    fn element(&self, digits: Digits) -> Fq {
        Fq::from_montgomery(self.field.residue(digits)).unwrap_or(Fq::ZERO)
    }

    fn sum(&self, bucket: &[Digits; SUM]) -> Xyzz<G1> {
        let [x, y, zz, zzz] = bucket.map(|digits| self.element(digits));
        Xyzz { x, y, zz, zzz }
    }
}

/// Points with the limbs of their coordinates.
type Points<'a> = &'a [[Digits; POINT + 1]];

/// A call's entries, and the new sums of their buckets.
type Call = (Vec<Entry>, Vec<Bundle>);

/// The buckets, and the calls in flight.
struct Machine<'a> {
    /// The formula as one node.
    graph: &'a DataflowGraph,
    arithmetic: Arithmetic,
    plan: &'a Plan,
    field: &'a SignedField,
    coordinates: Coordinates<'a>,
    /// Sums, with ZZ = 0 as long as they are empty.
    buckets: Vec<[Digits; SUM]>,
    busy: Vec<bool>,
    /// The points that wait, by bucket.
    waiting: HashMap<usize, VecDeque<Entry>>,
    /// Points whose buckets have come back.
    ready: VecDeque<Entry>,
    flight: VecDeque<Call>,
    work: MsmStatistics,
}

impl Machine<'_> {
    /// Adds all points to their buckets.
    fn fill(
        &mut self,
        points: Points<'_>,
        entries: &mut impl Iterator<Item = Entry>,
    ) -> Result<(), PipelineError> {
        let mut waits = 0;
        loop {
            if self.flight.len() == self.plan.in_flight {
                waits -= self.take_back(points);
            }
            let mut call = Vec::new();
            while call.len() < self.plan.vectors * LANES {
                let next = self.ready.pop_front();
                let Some(entry) =
                    next.or_else(|| if waits < self.plan.waiting { entries.next() } else { None })
                else {
                    break;
                };
                let bucket = entry.bucket;
                if self.busy[bucket] {
                    self.waiting.entry(bucket).or_default().push_back(entry);
                    self.work.waited += 1;
                    waits += 1;
                } else if self.buckets[bucket][2] == [0; LIMBS] {
                    let [x, y] = coordinates(points, entry);
                    self.buckets[bucket] = [x, y, self.coordinates.one, self.coordinates.one];
                    self.work.first += 1;
                    waits -= self.release(bucket);
                } else {
                    self.busy[bucket] = true;
                    call.push(entry);
                }
            }
            if call.is_empty() && self.flight.iter().all(|(entries, _)| entries.is_empty()) {
                debug_assert!(self.waiting.is_empty(), "what waits, waits for a call in flight");
                return Ok(());
            }
            self.work.calls += 1;
            self.work.additions += call.len();
            let sums = self.add(points, &call)?;
            self.flight.push_back((call, sums));
        }
    }

    /// The sums of a call.
    fn add(&self, points: Points<'_>, call: &[Entry]) -> Result<Vec<Bundle>, PipelineError> {
        if call.is_empty() {
            return Ok(Vec::new());
        }
        let mut inputs = vec![Bundle::zeros(self.plan.vectors); SUM + POINT];
        for (index, entry) in call.iter().enumerate() {
            let operands = self.buckets[entry.bucket].into_iter().chain(coordinates(points, *entry));
            inputs.iter_mut().zip(operands).for_each(|(input, digits)| input.set_digits(index, digits));
        }
        let inputs: Vec<_> = inputs.iter().collect();
        self.arithmetic.fire(self.graph, &self.graph.nodes[0], &inputs, self.field)
    }

    /// Takes back the oldest call; returns the number of points that need not wait any more.
    fn take_back(&mut self, points: Points<'_>) -> usize {
        let Some((call, sums)) = self.flight.pop_front() else { return 0 };
        let mut released = 0;
        for (index, entry) in call.into_iter().enumerate() {
            let bucket = &mut self.buckets[entry.bucket];
            let sum: [Digits; SUM] = std::array::from_fn(|sink| sums[sink].digits(index));
            if sum[2] == [0; LIMBS] {
                // Limbs of an element below p in size are 0 only if it is.
                self.work.exceptional += 1;
                let [x, y] = coordinates(points, entry).map(|digits| self.coordinates.element(digits));
                let sum = self.coordinates.sum(bucket).add_affine(&Affine { x, y });
                *bucket = [sum.x, sum.y, sum.zz, sum.zzz].map(|element| self.coordinates.of(element));
            } else {
                *bucket = sum;
            }
            self.busy[entry.bucket] = false;
            released += self.release(entry.bucket);
        }
        released
    }

    /// Lets the next point that waits for a bucket go on; returns the number of such points: 0 or 1.
    fn release(&mut self, bucket: usize) -> usize {
        let Some(waiting) = self.waiting.get_mut(&bucket) else { return 0 };
        let next = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&bucket);
        }
        self.ready.extend(next);
        usize::from(next.is_some())
    }

    /// The sum of all buckets, each times its number and its digit's weight. Of the highest digit, there are several buckets for each
    /// number up to `top`.
    fn sum(&self, digits: usize, top: usize) -> Jacobian<G1> {
        let each = self.buckets.len() / digits;
        let mut total = Xyzz::<G1>::from(Affine::INFINITY);
        for (digit, window) in self.buckets.chunks_exact(each).enumerate().rev() {
            (0..self.plan.digit_bits).for_each(|_| total = total.double());
            let numbers = if digit + 1 == digits { top } else { each };
            let mut above = Xyzz::from(Affine::INFINITY);
            let mut sum = above;
            for number in (0..numbers).rev() {
                let copies = window[number..].iter().step_by(numbers);
                for bucket in copies.filter(|bucket| bucket[2] != [0; LIMBS]) {
                    above = above.add(&self.coordinates.sum(bucket));
                }
                sum = sum.add(&above);
            }
            total = total.add(&sum);
        }
        total.into()
    }
}

/// The coordinates of an entry's point or of its negative.
fn coordinates(points: Points<'_>, entry: Entry) -> [Digits; POINT] {
    let [x, y, negative] = points[entry.point];
    [x, if entry.negative { negative } else { y }]
}
