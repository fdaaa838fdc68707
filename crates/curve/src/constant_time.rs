//! Multiples of points by secret scalars: no branch and no address depends on the scalar.
//!
//! Points are added with complete formulas ([`projective`](crate::projective)). Each level uses the type that multiplies a
//! single element's few products fastest, which at `avx512ifma` fills vectors with the products of one addition.
//!
//! Scalars are split into signed digits of five bits; the multiple of a digit is found by reading the whole table under
//! masks.
//!
//! * [`multiple`] takes any point of odd order on any curve of this crate: five doublings and an addition per digit.
//! * The generator of BLS12-381's G1 has a table of multiples for each of its 52 digits: 52 additions and no doublings.
//! * In BLS12-381's G2, psi multiplies by x = -X with X = 0xd201000000010000 (Galbraith, Lin, Scott, "Endomorphisms for
//!   faster elliptic curve cryptography", eprint 2008/194; Galbraith, Scott, eprint 2008/117, for pairing-friendly curves).
//!   A scalar below r = X^4 - X^2 + 1 has four digits in base X, each of 64 bits, so that `s Q = sum a_i (-psi)^i Q`: 52
//!   additions between 60 shared doublings. (Computing the four sums in lanes, each with its own doublings, takes 1.5 times
//!   as long.)
//!
//! Division by X uses its reciprocal (Moller, Granlund, "Improved division by invariant integers", IEEE Transactions on
//! Computers 60, 2011, algorithm 4), because the time of the CPU's division depends on its operands. The result is divided
//! by Z with a power, not with a Euclidean algorithm: Z's value leaks information about the scalar (Naccache, Smart, Stern,
//! "Projective coordinates leak", eprint 2003/191).

use crate::{
    Affine, Curve, Jacobian,
    bls12_381::{G1, G2, X, source_group::PSI},
    projective::{Projective, is_equal, magnitude, signed_digits, twelve, twelve_xi},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Backend, Engine, Field, Fp, Lanes, LanesOf, Packable, Prime, PrimeField, Quadratic, Select,
    bls12_381::{Fq, Fq2, FqParams},
    dispatch,
};
use std::{hint::black_box, sync::LazyLock};
use zeroize::Zeroizing;

/// The bits of a digit.
const WINDOW: usize = 5;
/// The multiples in a table, without zero: digits are -15 to 16.
const MOST: usize = 1 << (WINDOW - 1);
/// The digits of a scalar below r.
const SCALAR_DIGITS: usize = 52;
/// The digits of a part of 64 bits.
const PART_DIGITS: usize = 13;
/// The parts of a scalar in base X.
const PARTS: usize = 4;
/// `floor((2^128 - 1) / X) - 2^64`.
const X_RECIPROCAL: u64 = (u128::MAX / X as u128) as u64;

/// `scalar * G` for the standard generator of G1; the scalar is given as little-endian words and is below the group's order.
pub fn multiple_of_generator(level: Level, scalar: &[u64; 4]) -> Affine<G1> {
    let value = dispatch!(level, engine => generator_multiple(engine.backend(), scalar));
    value
}

/// `scalar * point` for a public point of G2's subgroup; the scalar is given as little-endian words and is below
/// the group's order.
pub fn multiple_in_g2(level: Level, point: &Affine<G2>, scalar: &[u64; 4]) -> Affine<G2> {
    let value = dispatch!(level, engine => g2_multiple(engine, point, scalar));
    value
}

/// `(high 2^64 + low) / X` and the remainder, for high < X.
fn divide_by_x(high: u64, low: u64) -> (u64, u64) {
    let product = u128::from(X_RECIPROCAL) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let (mut quotient, fraction) = (((product >> 64) as u64).wrapping_add(1), product as u64);
    let mut remainder = low.wrapping_sub(quotient.wrapping_mul(X));
    // All ones where a < b.
    let below = |a: u64, b: u64| black_box((u128::from(a).wrapping_sub(u128::from(b)) >> 64) as u64);
    let too_large = below(fraction, remainder);
    quotient = quotient.wrapping_add(too_large);
    remainder = remainder.wrapping_add(X & too_large);
    let too_small = !below(remainder, X);
    quotient = quotient.wrapping_sub(too_small);
    (quotient, remainder.wrapping_sub(X & too_small))
}

/// The digits of a scalar below r in base X, least significant first.
fn base_x(scalar: &[u64; 4]) -> Zeroizing<[u64; PARTS]> {
    let mut rest = Zeroizing::new(*scalar);
    let mut parts = Zeroizing::new([0; PARTS]);
    for (i, part) in parts.iter_mut().enumerate() {
        // The remaining value is below X^(4 - i).
        for word in rest[..PARTS - i].iter_mut().rev() {
            (*word, *part) = divide_by_x(*part, *word);
        }
    }
    parts
}

/// `scalar * point` for a point of odd order on a curve `y^2 = x^3 + b`. The point may be secret too.
pub fn multiple<C: Curve<Base: Packable>>(
    level: Level,
    point: &Jacobian<C>,
    scalar: &C::Scalar,
) -> Jacobian<C> {
    const { assert!((C::Scalar::BITS as usize) < SCALAR_DIGITS * WINDOW, "room for the carry") };
    let digits = Zeroizing::new(signed_digits::<SCALAR_DIGITS>(scalar.to_words().as_ref(), WINDOW));
    dispatch!(level, engine => multiple_in_scalars(engine.backend(), point, &digits))
}

/// The affine coordinates, with one of the inversions below; zeros for infinity.
pub fn to_affine<C: Curve>(point: &Jacobian<C>, invert: impl Fn(C::Base) -> C::Base) -> Affine<C> {
    let inverse = invert(point.z);
    let square = inverse.square();
    Affine { x: point.x * square, y: point.y * square * inverse }
}

/// x^(p - 2), which is 1/x or zero: the time depends only on the exponent.
pub fn invert<P: Prime, B: Backend>(x: Fp<P, B>) -> Fp<P, B> {
    let mut exponent = P::MODULUS;
    exponent.as_mut()[0] -= 2;
    x.pow_vartime(exponent.as_ref())
}

/// 1/x or zero in the quadratic extension.
pub fn invert_quadratic<P: Prime, B: Backend>(x: Quadratic<Fp<P, B>>) -> Quadratic<Fp<P, B>> {
    x.conjugate().scale(invert(x.norm()))
}

/// For an engine of one lane.
fn multiple_in_scalars<C: Curve<Base: Packable>, E: Engine>(
    engine: E,
    point: &Jacobian<C>,
    digits: &[i8; SCALAR_DIGITS],
) -> Jacobian<C> {
    let load = |element| LanesOf::<C::Base, E>::load(engine, &[element]);
    let b = load(C::B);
    let triple_b = b.double() + b;
    let triple_b = |x| triple_b * x;
    // (X/Z^2, Y/Z^3) is (X Z/Z^3, Y/Z^3).
    let [x, y, z] = [load(point.x), load(point.y), load(point.z)];
    let table = table(Projective { x: x * z, y, z: z.square() * z }, triple_b);
    let mut sum = Projective::infinity(engine);
    for (i, digit) in digits.iter().rev().enumerate() {
        for _ in 0..if i > 0 { WINDOW } else { 0 } {
            sum = sum.double(triple_b);
        }
        sum = sum.add(&find(&table, *digit), triple_b);
    }
    // (X/Z, Y/Z) is (X Z/Z^2, Y Z^2/Z^3).
    Jacobian { x: store(sum.x * sum.z), y: store(sum.y * sum.z.square()), z: store(sum.z) }
}

/// Multiples 1 to 16 of `32^i G`, for each digit of a scalar.
static GENERATOR: LazyLock<Vec<[Affine<G1>; MOST]>> = LazyLock::new(|| {
    let mut base = crate::Jacobian::from(G1::GENERATOR);
    let mut points = Vec::new();
    for _ in 0..SCALAR_DIGITS {
        let mut multiple = base;
        for _ in 0..MOST {
            points.push(multiple);
            multiple = multiple.add(&base);
        }
        base = points[points.len() - 1].double();
    }
    crate::Jacobian::batch_to_affine(&points).as_chunks().0.to_vec()
});

fn generator_multiple<B: Backend>(backend: B, scalar: &[u64; 4]) -> Affine<G1> {
    let select = Fq::<B>::select;
    let digits = Zeroizing::new(signed_digits::<SCALAR_DIGITS>(scalar, WINDOW));
    let (zero, one) = (Fq::zero(backend), Fq::one(backend));
    let mut sum = Projective::<Fq<B>>::infinity(backend);
    for (table, digit) in GENERATOR.iter().zip(&*digits) {
        let (wanted, negative) = magnitude(*digit);
        let mut entry = Projective::infinity(backend);
        for (i, point) in (1..).zip(table) {
            let found = is_equal(wanted, i);
            entry.x = select(found, point.x.with_backend(backend), entry.x);
            entry.y = select(found, point.y.with_backend(backend), entry.y);
        }
        entry.z = select(is_equal(wanted, 0), zero, one);
        entry.y = select(negative, -entry.y, entry.y);
        sum = sum.add(
            &entry,
            #[inline(always)]
            |x| twelve(x),
        );
    }
    let inverse = invert(sum.z);
    Affine { x: (sum.x * inverse).portable(), y: (sum.y * inverse).portable() }
}

/// An element of G2's base field in the form for a single formula.
type Element<E> = Quadratic<<E as Engine>::Single<FqParams>>;

/// Multiples 0 to 16 of a point.
type Table<A> = [Projective<A>; MOST + 1];

fn g2_multiple<E: Engine>(engine: E, point: &Affine<G2>, scalar: &[u64; 4]) -> Affine<G2> {
    let parts = base_x(scalar);
    let digits = Zeroizing::new(parts.map(|part| signed_digits::<PART_DIGITS>(&[part], WINDOW)));
    let [x, y, z] = engine.run(
        #[inline(always)]
        || {
            let sum = sum_of_parts(engine, point, &digits);
            [store(sum.x), store(sum.y), store(sum.z)]
        },
    );
    let enter =
        |x: Fq2| Quadratic::new(x.c0.with_backend(engine.backend()), x.c1.with_backend(engine.backend()));
    let inverse = invert_quadratic(enter(z));
    let leave = |x: Quadratic<Fq<E::Backend>>| Fq2::new(x.c0.portable(), x.c1.portable());
    Affine { x: leave(enter(x) * inverse), y: leave(enter(y) * inverse) }
}

/// The sum over the parts of their multiples of the point's images.
#[inline(always)]
fn sum_of_parts<E: Engine>(
    engine: E,
    point: &Affine<G2>,
    digits: &[[i8; PART_DIGITS]; PARTS],
) -> Projective<Element<E>> {
    let tables = tables(engine, point);
    let mut sum = Projective::infinity(engine);
    for window in (0..PART_DIGITS).rev() {
        for _ in 0..if window + 1 < PART_DIGITS { WINDOW } else { 0 } {
            sum = sum.double(
                #[inline(always)]
                |x| twelve_xi(x),
            );
        }
        for (table, digits) in tables.iter().zip(digits) {
            sum = sum.add(
                &find(table, digits[window]),
                #[inline(always)]
                |x| twelve_xi(x),
            );
        }
    }
    sum
}

/// Multiples of a point's images under `(-psi)^i`.
#[inline(always)]
fn tables<E: Engine>(engine: E, point: &Affine<G2>) -> [Table<Element<E>>; PARTS] {
    let base = Projective {
        x: Quadratic::broadcast(engine, point.x),
        y: Quadratic::broadcast(engine, point.y),
        z: Algebra::one(engine),
    };
    let multiples = table(
        base,
        #[inline(always)]
        |x| twelve_xi(x),
    );
    let mut tables = [multiples; PARTS];
    let [x_factor, y_factor] = [Quadratic::broadcast(engine, PSI[0]), Quadratic::broadcast(engine, PSI[1])];
    for part in 1..PARTS {
        for i in 1..=MOST {
            let Projective { x, y, z } = tables[part - 1][i];
            let ([x, y], []) =
                Algebra::products(engine, [[&x.conjugate(), &x_factor], [&y.conjugate(), &y_factor]], []);
            tables[part][i] = Projective { x, y: -y, z: z.conjugate() };
        }
    }
    tables
}

/// The element of a one-lane vector.
#[inline(always)]
fn store<F: Field, A: Lanes<F>>(lane: A) -> F {
    let mut element = [F::ZERO];
    lane.store(&mut element);
    element[0]
}

/// Multiples of a point, given the product with 3b.
#[inline(always)]
fn table<A: Algebra>(base: Projective<A>, triple_b: impl Fn(A) -> A + Copy) -> Table<A> {
    let mut table = [Projective::infinity(base.x.token()); MOST + 1];
    table[1] = base;
    for i in 1..=MOST / 2 {
        table[2 * i] = table[i].double(triple_b);
        if 2 * i < MOST {
            table[2 * i + 1] = table[2 * i].add(&base, triple_b);
        }
    }
    table
}

/// The multiple for a digit.
#[inline(always)]
fn find<A: Algebra + Select>(table: &Table<A>, digit: i8) -> Projective<A> {
    let (wanted, negative) = magnitude(digit);
    let mut entry = table[0];
    for (i, candidate) in (1..).zip(&table[1..]) {
        let found = is_equal(wanted, i);
        entry.x = A::select(found, candidate.x, entry.x);
        entry.y = A::select(found, candidate.y, entry.y);
        entry.z = A::select(found, candidate.z, entry.z);
    }
    entry.y = A::select(negative, -entry.y, entry.y);
    entry
}
