//! Affine additions in lanes that share one inversion a batch.
//!
//! `lambda = (y2 - y1) / (x2 - x1)`, `x3 = lambda^2 - x1 - x2`, `y3 = lambda (x1 - x3) - y1`; the inverses by
//! Montgomery's trick ("Speeding the Pollard and elliptic curve methods of factorization", 1987, section 10.3.1), one product chain per lane: 3 products an
//! addition for them, 2 products and a square for the rest. Two groups of lanes go together so that the
//! latencies of their products overlap; four spill too much (1.2 times slower).
//!
//! Doublings, opposite points and infinity are found where `x2 - x1` is zero and mended by lane masks.

use proofmill_field::{Algebra, Engine, LANES, Packable, batch_invert};
use proofmill_simd::prefetch;

/// A point to add: where it lies and whether its opposite is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ref(u32);

impl Ref {
    const NEGATIVE: u32 = 1;
    const SUM: u32 = 2;

    /// Base `index` or its opposite.
    pub(super) fn base(index: usize, negative: bool) -> Self {
        Self((index as u32) << 2 | u32::from(negative))
    }

    fn sum(index: usize) -> Self {
        Self((index as u32) << 2 | Self::SUM)
    }
}

/// Adds points that lie among the bases or among earlier sums.
pub(super) struct Adder<'a, F: Packable, E: Engine> {
    engine: E,
    bases: &'a [F::Row],
    sums: Vec<F::Row>,
    /// Whether a sum may be infinity; the bases never are.
    infinity: bool,
    /// Products of the denominators before each group.
    prefixes: Vec<F::Lanes<E>>,
    repairs: Vec<Repair<F::Lanes<E>>>,
}

/// Lanes of a group that the plain formula gets wrong.
#[derive(Clone, Copy)]
struct Repair<L> {
    group: usize,
    /// Equal points: the tangent instead of the chord.
    double: u8,
    /// Opposite points: infinity.
    opposite: u8,
    /// The first point is infinity.
    first: u8,
    /// The second point is infinity.
    second: u8,
    denominator: L,
}

/// Eight pairs to add side by side.
type Group = [[Ref; 2]; LANES];

/// Groups that share an inversion, an even number: enough to make it cheap, few enough for the second-level
/// cache.
const BATCH: usize = 512;
/// How many groups ahead points are fetched from memory.
const PREFETCH: usize = 16;
/// The same on the way back, when they come from the second-level cache.
const PREFETCH_BACK: usize = 4;

impl<'a, F: Packable, E: Engine> Adder<'a, F, E> {
    pub(super) fn new(engine: E, bases: &'a [F::Row]) -> Self {
        Self { engine, bases, sums: Vec::new(), infinity: false, prefixes: Vec::new(), repairs: Vec::new() }
    }

    /// How many sums are kept.
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Adds each pair; the results are the sums from the former [`len`](Self::len) on, in order. The pairs
    /// are filled up to whole groups of lanes on the way.
    pub(super) fn add_pairs(&mut self, pairs: &mut Vec<[Ref; 2]>) -> impl Iterator<Item = Ref> + use<F, E> {
        let (start, end) = (self.len(), self.len() + pairs.len());
        if let Some(last) = pairs.last().copied() {
            pairs.resize(pairs.len().next_multiple_of(2 * LANES), last);
        }
        for batch in pairs.as_chunks().0.chunks(BATCH) {
            let engine = self.engine;
            engine.run(
                #[inline(always)]
                || self.add_batch::<2>(batch),
            );
        }
        self.sums.truncate(end);
        (start..end).map(Ref::sum)
    }

    /// Forgets the sums from `start` on but those named, which are renamed.
    pub(super) fn keep(&mut self, start: usize, refs: &mut [Ref]) {
        let mut kept = Vec::new();
        for reference in refs.iter_mut().filter(|reference| reference.0 & Ref::SUM != 0) {
            let index = (reference.0 >> 2) as usize;
            if index >= start {
                *reference = Ref(Ref::sum(start + kept.len()).0 | reference.0 & Ref::NEGATIVE);
                kept.push(self.sums[index]);
            }
        }
        self.sums.truncate(start);
        self.sums.extend_from_slice(&kept);
    }

    /// The coordinates of a point.
    pub(super) fn coordinates(&self, reference: Ref) -> [F; 2] {
        let mut coordinates = [[F::ZERO; LANES]; 2];
        self.engine.run(
            #[inline(always)]
            || {
                let [x, y] = self.load::<0>(&[[reference; 2]; LANES]);
                F::store::<E>(x, &mut coordinates[0]);
                F::store::<E>(y, &mut coordinates[1]);
            },
        );
        coordinates.map(|lanes| lanes[0])
    }

    #[inline(always)]
    fn row(&self, reference: Ref) -> &F::Row {
        let rows = if reference.0 & Ref::SUM == 0 { self.bases.as_ptr() } else { self.sums.as_ptr() };
        let index = (reference.0 >> 2) as usize;
        debug_assert!(index < if reference.0 & Ref::SUM == 0 { self.bases.len() } else { self.sums.len() });
        // SAFETY: references to bases are made by `Ref::base` for an index below their count (`sort`), references
        // to sums by `add_pairs` and `keep`, after which only `keep` shortens the sums.
        unsafe { &*rows.add(index) }
    }

    /// The rows of the first (side 0) or second points of a group.
    #[inline(always)]
    fn rows<const SIDE: usize>(&self, group: &Group) -> [&F::Row; LANES] {
        let mut rows = [self.row(group[0][SIDE]); LANES];
        for (row, pair) in rows.iter_mut().zip(group) {
            *row = self.row(pair[SIDE]);
        }
        rows
    }

    /// The coordinates of the first (side 0) or second points of a group.
    #[inline(always)]
    fn load<const SIDE: usize>(&self, group: &Group) -> [F::Lanes<E>; 2] {
        let [x, y] = F::load_pairs::<E>(self.rows::<SIDE>(group));
        let mut negative = 0;
        for (lane, pair) in group.iter().enumerate() {
            negative |= (pair[SIDE].0 & Ref::NEGATIVE) << lane;
        }
        if negative == 0 { [x, y] } else { [x, F::select::<E>(negative as u8, -y, y)] }
    }

    #[inline(always)]
    fn add_batch<const K: usize>(&mut self, groups: &[Group]) {
        let start = self.sums.len();
        self.sums.resize(start + groups.len() * LANES, F::Row::default());
        self.prefixes.resize(groups.len().max(self.prefixes.len()), F::Lanes::<E>::one());
        self.repairs.clear();
        let mut products = [F::Lanes::<E>::one(); K];
        for group in (0..groups.len()).step_by(K) {
            if let Some(ahead) = groups.get(group + PREFETCH..group + PREFETCH + K) {
                for group in ahead {
                    self.prefetch(group);
                }
            }
            let mut denominators = [F::Lanes::<E>::one(); K];
            for (k, denominator) in denominators.iter_mut().enumerate() {
                *denominator = self.denominator(groups, group + k);
            }
            self.prefixes[group..group + K].copy_from_slice(&products);
            products = mul_each(products, denominators);
        }
        let mut inverses = invert_chains::<F, E, K>(products);
        for group in (0..groups.len()).step_by(K).rev() {
            if group >= PREFETCH_BACK {
                for group in &groups[group - PREFETCH_BACK..group - PREFETCH_BACK + K] {
                    self.prefetch(group);
                }
            }
            inverses = self.add_groups(groups, group, start, inverses);
        }
    }

    #[inline(always)]
    fn prefetch(&self, group: &Group) {
        for pair in group {
            prefetch(self.row(pair[0]));
            prefetch(self.row(pair[1]));
        }
    }

    /// `x2 - x1`, with what makes it invertible in special lanes.
    #[inline(always)]
    fn denominator(&mut self, groups: &[Group], group: usize) -> F::Lanes<E> {
        let pairs = &groups[group];
        let x1 = F::load_firsts::<E>(self.rows::<0>(pairs));
        let x2 = F::load_firsts::<E>(self.rows::<1>(pairs));
        let difference = x2.sub_lazy(x1);
        let equal = F::zero_lanes::<E>(difference);
        if equal == 0 && !self.infinity {
            return difference;
        }
        let ([_, y1], [_, y2]) = (self.load::<0>(pairs), self.load::<1>(pairs));
        let infinite = [
            F::zero_lanes::<E>(x1) & F::zero_lanes::<E>(y1),
            F::zero_lanes::<E>(x2) & F::zero_lanes::<E>(y2),
        ];
        let same = equal & !infinite[0] & !infinite[1];
        let double = same & F::zero_lanes::<E>(y2.sub_lazy(y1));
        let opposite = same & !double;
        if double | opposite | infinite[0] | infinite[1] == 0 {
            return difference;
        }
        self.infinity |= opposite != 0;
        let denominator = F::select::<E>(double, y1 + y1, difference);
        let denominator =
            F::select::<E>(opposite | infinite[0] | infinite[1], F::Lanes::<E>::one(), denominator);
        let [first, second] = infinite;
        self.repairs.push(Repair { group, double, opposite, first, second, denominator });
        denominator
    }

    /// Adds the K groups from `group` on, given the inverses of the products of all denominators up to theirs;
    /// gives the inverses for the groups before.
    #[inline(always)]
    fn add_groups<const K: usize>(
        &mut self,
        groups: &[Group],
        group: usize,
        start: usize,
        inverses: [F::Lanes<E>; K],
    ) -> [F::Lanes<E>; K] {
        let zero = F::Lanes::<E>::zero();
        let (mut first, mut second) = ([[zero; K]; 2], [[zero; K]; 2]);
        let (mut denominators, mut numerators, mut prefixes) = ([zero; K], [zero; K], [zero; K]);
        for k in 0..K {
            [first[0][k], first[1][k]] = self.load::<0>(&groups[group + k]);
            [second[0][k], second[1][k]] = self.load::<1>(&groups[group + k]);
            denominators[k] = second[0][k].sub_lazy(first[0][k]);
            numerators[k] = second[1][k].sub_lazy(first[1][k]);
            prefixes[k] = self.prefixes[group + k];
        }
        let mut repairs = [None; K];
        if self.repairs.last().is_some_and(|repair| repair.group >= group) {
            for k in (0..K).rev() {
                repairs[k] = self.repairs.pop_if(|repair| repair.group == group + k);
                if let Some(repair) = repairs[k] {
                    denominators[k] = repair.denominator;
                    let square = first[0][k].square();
                    numerators[k] = F::select::<E>(repair.double, square + square + square, numerators[k]);
                }
            }
        }
        let own = mul_each(inverses, prefixes);
        let inverses = mul_each(inverses, denominators);
        let lambda = mul_each(own, numerators);
        let mut x3 = square_each(lambda);
        let mut falls = [zero; K];
        for k in 0..K {
            x3[k] = x3[k].sub_two(first[0][k], second[0][k]);
            falls[k] = first[0][k].sub_lazy(x3[k]);
        }
        let mut y3 = mul_each(lambda, falls);
        for k in 0..K {
            y3[k] = y3[k] - first[1][k];
            let mut sum = [x3[k], y3[k]];
            if let Some(repair) = repairs[k] {
                for (i, sum) in sum.iter_mut().enumerate() {
                    *sum = F::select::<E>(repair.opposite, zero, *sum);
                    *sum = F::select::<E>(repair.second, first[i][k], *sum);
                    *sum = F::select::<E>(repair.first, second[i][k], *sum);
                }
            }
            let at = start + (group + k) * LANES;
            let (rows, _) = self.sums[at..at + LANES].as_chunks_mut();
            F::store_pairs::<E>(sum, &mut rows[0]);
        }
        inverses
    }
}

/// K independent products, an even number.
#[inline(always)]
fn mul_each<A: Algebra, const K: usize>(a: [A; K], b: [A; K]) -> [A; K] {
    let mut products = a;
    for k in (0..K).step_by(2) {
        [products[k], products[k + 1]] = A::mul_pair([a[k], a[k + 1]], [b[k], b[k + 1]]);
    }
    products
}

/// K independent squares, an even number.
#[inline(always)]
fn square_each<A: Algebra, const K: usize>(a: [A; K]) -> [A; K] {
    let mut squares = a;
    for k in (0..K).step_by(2) {
        [squares[k], squares[k + 1]] = A::square_pair([a[k], a[k + 1]]);
    }
    squares
}

/// The inverses of K chains' products, by one scalar inversion.
#[inline(always)]
fn invert_chains<F: Packable, E: Engine, const K: usize>(products: [F::Lanes<E>; K]) -> [F::Lanes<E>; K] {
    let mut prefixes = products;
    for k in 1..K {
        prefixes[k] = prefixes[k - 1] * products[k];
    }
    let mut inverse = invert_lanes::<F, E>(prefixes[K - 1]);
    let mut inverses = products;
    for k in (1..K).rev() {
        inverses[k] = inverse * prefixes[k - 1];
        inverse = inverse * products[k];
    }
    inverses[0] = inverse;
    inverses
}

/// Lane by lane inverses of nonzero values, by one scalar inversion.
#[inline(always)]
fn invert_lanes<F: Packable, E: Engine>(lanes: F::Lanes<E>) -> F::Lanes<E> {
    let mut elements = [F::ZERO; LANES];
    F::store::<E>(lanes, &mut elements);
    batch_invert(&mut elements);
    F::load::<E>(&elements)
}
