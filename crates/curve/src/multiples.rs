//! Multiples of many points by factors of 64 bits, and sums of points, in lanes.
//!
//! Every lane has one point and adds with complete formulas ([`projective`](crate::projective)), so that no lane needs
//! separate handling. Factors are split into signed digits of four bits, which select one of eight multiples. A sum of multiples shares its doublings among all points of a task.
//!
//! No branch and no address depends on factors. Still, only the steps in lanes were written so, not what is made of their results.

use crate::{
    Affine, Curve, Jacobian, bls12_381, bn254,
    projective::{Projective, is_equal, magnitude, signed_digits, twelve, twelve_xi},
};
use proofmill_cpu::Level;
use proofmill_field::{Algebra, Engine, Field, LANES, Lanes, LanesOf, Packable, Select, dispatch};
use proofmill_run::parallel;

/// The bits of a digit.
const WINDOW: usize = 4;
/// The multiples in a table, without zero.
const MOST: usize = 1 << (WINDOW - 1);
/// The digits of a factor.
const DIGITS: usize = 17;
/// The groups of lanes whose tables stay in the second-level cache: 24 KiB each on G2.
const GROUPS: usize = 16;

/// A curve whose points are added by complete formulas in lanes.
pub trait CompleteCurve: Curve<Base: Packable> {
    /// `3 B x` in lanes.
    fn triple_b<E: Engine>(x: <Self::Base as Packable>::Lanes<E>) -> <Self::Base as Packable>::Lanes<E>;
}

impl CompleteCurve for bls12_381::G1 {
    #[inline(always)]
    fn triple_b<E: Engine>(x: <Self::Base as Packable>::Lanes<E>) -> <Self::Base as Packable>::Lanes<E> {
        twelve(x)
    }
}

impl CompleteCurve for bls12_381::G2 {
    #[inline(always)]
    fn triple_b<E: Engine>(x: <Self::Base as Packable>::Lanes<E>) -> <Self::Base as Packable>::Lanes<E> {
        twelve_xi(x)
    }
}

impl CompleteCurve for bn254::G1 {
    #[inline(always)]
    fn triple_b<E: Engine>(x: <Self::Base as Packable>::Lanes<E>) -> <Self::Base as Packable>::Lanes<E> {
        x.double().double().double() + x
    }
}

impl CompleteCurve for bn254::G2 {
    #[inline(always)]
    fn triple_b<E: Engine>(x: <Self::Base as Packable>::Lanes<E>) -> <Self::Base as Packable>::Lanes<E> {
        let product = x * LanesOf::<Self::Base, E>::broadcast(x.token(), Self::B);
        product.double() + product
    }
}

/// The sum of points; infinity if there are none. Runs on the ambient rayon pool.
pub fn sum_of_points<C: CompleteCurve>(level: Level, points: &[Affine<C>]) -> Jacobian<C> {
    let share = share(points.len(), 64 * GROUPS);
    if points.len() <= share {
        // The pool has only overhead here.
        return dispatch!(level, engine => sum_part(engine, points));
    }
    let part = |points| dispatch!(level, engine => sum_part(engine, points));
    parallel::map(points.chunks(share), part).into_iter().sum()
}

/// The product of each point and its factor. Runs on the ambient rayon pool.
///
/// # Panics
/// If the numbers of factors and points differ.
pub fn multiples_of_points<C: CompleteCurve>(
    level: Level,
    points: &[Affine<C>],
    factors: &[u64],
) -> Vec<Affine<C>> {
    assert_eq!(points.len(), factors.len(), "as many factors as points");
    let share = share(points.len(), GROUPS);
    let mut multiples = vec![Affine::INFINITY; points.len()];
    let parts = points.chunks(share).zip(factors.chunks(share)).zip(multiples.chunks_mut(share));
    parallel::for_each(parts, |((points, factors), affine)| {
        let mut multiples = vec![Jacobian::INFINITY; points.len()];
        dispatch!(level, engine => multiples_part(engine, points, factors, &mut multiples));
        affine.copy_from_slice(&Jacobian::batch_to_affine(&multiples));
    });
    multiples
}

/// The sum of the products of points and factors. Runs on the ambient rayon pool.
///
/// # Panics
/// If the numbers of factors and points differ.
pub fn sum_of_multiples<C: CompleteCurve>(
    level: Level,
    points: &[Affine<C>],
    factors: &[u64],
) -> Jacobian<C> {
    assert_eq!(points.len(), factors.len(), "as many factors as points");
    let share = share(points.len(), GROUPS);
    let parts = points.chunks(share).zip(factors.chunks(share));
    let sums = parallel::map(
        parts,
        |(points, factors)| dispatch!(level, engine => sum_multiples_part(engine, points, factors)),
    );
    sums.into_iter().sum()
}

/// The points of a task: whole groups of lanes, at most `groups`.
fn share(count: usize, groups: usize) -> usize {
    count.div_ceil(parallel::threads()).next_multiple_of(LANES).clamp(LANES, groups * LANES)
}

type Points<C, E> = Projective<LanesOf<<C as Curve>::Base, E>>;

/// Multiples 0 to 8 of each lane's point.
type Table<C, E> = [Points<C, E>; MOST + 1];

/// At most as many points as there are lanes, padded with infinity.
#[inline(always)]
fn load<C: CompleteCurve, E: Engine>(engine: E, points: &[Affine<C>]) -> Points<C, E> {
    let width = LanesOf::<C::Base, E>::WIDTH;
    let (mut x, mut y, mut z) = ([C::Base::ZERO; LANES], [C::Base::ONE; LANES], [C::Base::ZERO; LANES]);
    for (i, point) in points.iter().enumerate() {
        if !point.is_infinity() {
            (x[i], y[i], z[i]) = (point.x, point.y, C::Base::ONE);
        }
    }
    Projective {
        x: LanesOf::<C::Base, E>::load(engine, &x[..width]),
        y: LanesOf::<C::Base, E>::load(engine, &y[..width]),
        z: LanesOf::<C::Base, E>::load(engine, &z[..width]),
    }
}

/// The points of the first lanes.
#[inline(always)]
fn store<C: CompleteCurve, E: Engine>(lanes: Points<C, E>, points: &mut [Jacobian<C>]) {
    let width = LanesOf::<C::Base, E>::WIDTH;
    let [mut x, mut y, mut z] = [[C::Base::ZERO; LANES]; 3];
    lanes.x.store(&mut x[..width]);
    lanes.y.store(&mut y[..width]);
    lanes.z.store(&mut z[..width]);
    for (i, point) in points.iter_mut().enumerate() {
        // (X/Z, Y/Z) is (X Z / Z^2, Y Z^2 / Z^3).
        *point = Jacobian { x: x[i] * z[i], y: y[i] * z[i].square(), z: z[i] };
    }
}

#[inline(always)]
fn total<C: CompleteCurve, E: Engine>(lanes: Points<C, E>) -> Jacobian<C> {
    let mut points = [Jacobian::INFINITY; LANES];
    store::<C, E>(lanes, &mut points[..LanesOf::<C::Base, E>::WIDTH]);
    points.iter().fold(Jacobian::INFINITY, |sum, point| sum.add(point))
}

/// `a + b`.
#[inline(always)]
fn add<C: CompleteCurve, E: Engine>(a: &Points<C, E>, b: &Points<C, E>) -> Points<C, E> {
    a.add(
        b,
        #[inline(always)]
        |x| C::triple_b::<E>(x),
    )
}

/// `2 a`.
#[inline(always)]
fn double<C: CompleteCurve, E: Engine>(a: &Points<C, E>) -> Points<C, E> {
    a.double(
        #[inline(always)]
        |x| C::triple_b::<E>(x),
    )
}

fn sum_part<C: CompleteCurve, E: Engine>(engine: E, points: &[Affine<C>]) -> Jacobian<C> {
    engine.run(
        #[inline(always)]
        || {
            let mut sum = Points::<C, E>::infinity(engine);
            for points in points.chunks(LanesOf::<C::Base, E>::WIDTH) {
                sum = add::<C, E>(&sum, &load(engine, points));
            }
            total::<C, E>(sum)
        },
    )
}

fn multiples_part<C: CompleteCurve, E: Engine>(
    engine: E,
    points: &[Affine<C>],
    factors: &[u64],
    multiples: &mut [Jacobian<C>],
) {
    engine.run(
        #[inline(always)]
        || {
            // Here, where the compiler knows it: `run` is not inlined.
            let width = LanesOf::<C::Base, E>::WIDTH;
            let groups = points.chunks(width).zip(factors.chunks(width)).zip(multiples.chunks_mut(width));
            for ((points, factors), multiples) in groups {
                let tables = [table(engine, points)];
                let digits = [digits(factors)];
                store::<C, E>(ladder::<C, E>(engine, &tables, &digits), multiples);
            }
        },
    );
}

fn sum_multiples_part<C: CompleteCurve, E: Engine>(
    engine: E,
    points: &[Affine<C>],
    factors: &[u64],
) -> Jacobian<C> {
    engine.run(
        #[inline(always)]
        || {
            let width = LanesOf::<C::Base, E>::WIDTH;
            let (mut tables, mut all_digits) = (Vec::new(), Vec::new());
            for (points, factors) in points.chunks(width).zip(factors.chunks(width)) {
                tables.push(table(engine, points));
                all_digits.push(digits(factors));
            }
            total::<C, E>(ladder::<C, E>(engine, &tables, &all_digits))
        },
    )
}

/// The digits of each lane's factor.
fn digits(factors: &[u64]) -> [[i8; DIGITS]; LANES] {
    let mut digits = [[0; DIGITS]; LANES];
    for (digits, factor) in digits.iter_mut().zip(factors) {
        *digits = signed_digits(&[*factor], WINDOW);
    }
    digits
}

/// In each lane, the sum over all groups of the multiple that the digits select.
#[inline(always)]
fn ladder<C: CompleteCurve, E: Engine>(
    engine: E,
    tables: &[Table<C, E>],
    digits: &[[[i8; DIGITS]; LANES]],
) -> Points<C, E> {
    let mut sum = Points::<C, E>::infinity(engine);
    for window in (0..DIGITS).rev() {
        if window + 1 < DIGITS {
            for _ in 0..WINDOW {
                sum = double::<C, E>(&sum);
            }
        }
        // All groups add to one sum, so that its doublings are shared (Straus).
        for (table, digits) in tables.iter().zip(digits) {
            sum = add::<C, E>(&sum, &find::<C, E>(table, digits, window));
        }
    }
    sum
}

#[inline(always)]
fn table<C: CompleteCurve, E: Engine>(engine: E, points: &[Affine<C>]) -> Table<C, E> {
    let base = load(engine, points);
    let mut table = [Points::<C, E>::infinity(engine); MOST + 1];
    table[1] = base;
    for i in 1..=MOST / 2 {
        table[2 * i] = double::<C, E>(&table[i]);
        if 2 * i < MOST {
            table[2 * i + 1] = add::<C, E>(&table[2 * i], &base);
        }
    }
    table
}

/// The multiples for a window's digits, one per lane.
#[inline(always)]
fn find<C: CompleteCurve, E: Engine>(
    table: &Table<C, E>,
    digits: &[[i8; DIGITS]; LANES],
    window: usize,
) -> Points<C, E> {
    let mut found = [0; MOST + 1];
    let mut signs = 0;
    for (lane, digits) in digits.iter().enumerate().take(LanesOf::<C::Base, E>::WIDTH) {
        let (wanted, negative) = magnitude(digits[window]);
        signs |= negative << lane;
        for (i, found) in (0..).zip(&mut found) {
            *found |= is_equal(wanted, i) << lane;
        }
    }
    // Every entry is read and selected by masks: no address depends on the digit.
    let mut entry = table[0];
    for (found, candidate) in found.iter().zip(table).skip(1) {
        entry.x = LanesOf::<C::Base, E>::select(*found, candidate.x, entry.x);
        entry.y = LanesOf::<C::Base, E>::select(*found, candidate.y, entry.y);
        entry.z = LanesOf::<C::Base, E>::select(*found, candidate.z, entry.z);
    }
    entry.y = LanesOf::<C::Base, E>::select(signs, -entry.y, entry.y);
    entry
}
