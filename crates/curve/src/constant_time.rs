//! Multiples of points by secret scalars on BLS12-381: no branch and no address depends on the scalar.
//!
//! Points are added by complete formulas ([`projective`](crate::projective)). Each level computes with the type that multiplies a
//! single element's few products fastest, which at `avx512ifma` fills vectors with the products of one addition.
//!
//! Scalars are cut into signed digits of five bits; each digit's multiple is found by reading the whole table under masks.
//!
//! * The generator of G1 has a table of multiples for each of its 52 digits: 52 additions, nothing doubled.
//! * In G2, psi multiplies by x = -X with X = 0xd201000000010000 (Galbraith, Lin, Scott, "Endomorphisms for faster elliptic
//!   curve cryptography", eprint 2008/194; Galbraith, Scott, eprint 2008/117, for pairing-friendly curves). A scalar
//!   below r = X^4 - X^2 + 1 has four digits in base X, each of 64 bits, so that `s Q = sum a_i (-psi)^i Q`: 52 additions
//!   between 60 shared doublings. (The four sums side by side in lanes, each with its doublings, take 1.5 times as long.)
//!
//! Division by X is by its reciprocal (Moller, Granlund, "Improved division by invariant integers", IEEE Transactions on
//! Computers 60, 2011, algorithm 4), because the CPU's own takes a time that depends on its operands. The result is divided by
//! Z with a power, not with a Euclidean algorithm: Z's value would tell of the scalar (Naccache, Smart, Stern, "Projective
//! coordinates leak", eprint 2003/191).

use crate::{
    Affine, Curve,
    bls12_381::{G1, G2, points::X, source_group::PSI},
    projective::{Projective, is_equal, magnitude, signed_digits, twelve, twelve_xi},
};
use proofmill_field::{
    Algebra, Backend, Engine, Prime, Quadratic, Single, Vector,
    bls12_381::{Fq, Fq2, FqParams},
};
use proofmill_simd::{Level, dispatch};
use std::{hint::black_box, sync::LazyLock};
use zeroize::Zeroizing;

/// Bits of a digit.
const WINDOW: usize = 5;
/// Multiples in a table besides zero: digits are -15 to 16.
const MOST: usize = 1 << (WINDOW - 1);
/// Digits of a scalar below r.
const SCALAR_DIGITS: usize = 52;
/// Digits of a part of 64 bits.
const PART_DIGITS: usize = 13;
/// Parts of a scalar in base X.
const PARTS: usize = 4;
/// `floor((2^128 - 1) / X) - 2^64`.
const X_RECIPROCAL: u64 = (u128::MAX / X as u128) as u64;

/// `scalar * G` for the standard generator of G1; the scalar by its little-endian words, below the group's order.
pub fn multiple_of_generator(level: Level, scalar: &[u64; 4]) -> Affine<G1> {
    let value = dispatch!(level, engine => generator_multiple(engine.backend(), scalar));
    value
}

/// `scalar * point` for a point of G2's subgroup, which is public; the scalar by its little-endian words, below
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
        // The rest is below X^(4 - i).
        for word in rest[..PARTS - i].iter_mut().rev() {
            (*word, *part) = divide_by_x(*part, *word);
        }
    }
    parts
}

/// x^(p - 2), which is 1/x or zero: the exponent alone decides on the time.
fn invert<B: Backend>(x: Fq<B>) -> Fq<B> {
    const EXPONENT: [u64; 6] = {
        let mut words = FqParams::MODULUS;
        words[0] -= 2;
        words
    };
    x.pow_vartime(&EXPONENT)
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
    let select = <Fq<B> as Vector<FqParams>>::select;
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
        sum = sum.add(&entry, twelve);
    }
    let inverse = invert(sum.z);
    Affine { x: (sum.x * inverse).portable(), y: (sum.y * inverse).portable() }
}

/// An element of G2's base field in the form that suits one formula.
type Element<E> = Quadratic<<E as Engine>::Single<FqParams>>;

/// Multiples 0 to 16 of a point.
type Table<E> = [Projective<Element<E>>; MOST + 1];

fn g2_multiple<E: Engine>(engine: E, point: &Affine<G2>, scalar: &[u64; 4]) -> Affine<G2> {
    let parts = base_x(scalar);
    let digits = Zeroizing::new(parts.map(|part| signed_digits::<PART_DIGITS>(&[part], WINDOW)));
    let [x, y, z] = engine.run(
        #[inline(always)]
        || {
            let sum = sum_of_parts(engine, point, &digits);
            [store::<E>(sum.x), store::<E>(sum.y), store::<E>(sum.z)]
        },
    );
    let enter =
        |x: Fq2| Quadratic::new(x.c0.with_backend(engine.backend()), x.c1.with_backend(engine.backend()));
    let z = enter(z);
    let inverse = z.conjugate().scale(invert(z.norm()));
    let leave = |x: Quadratic<Fq<E::Backend>>| Fq2::new(x.c0.portable(), x.c1.portable());
    Affine { x: leave(enter(x) * inverse), y: leave(enter(y) * inverse) }
}

#[inline(always)]
fn load<E: Engine>(engine: E, element: Fq2) -> Element<E> {
    Quadratic::new(E::Single::load(engine, element.c0), E::Single::load(engine, element.c1))
}

#[inline(always)]
fn store<E: Engine>(element: Element<E>) -> Fq2 {
    Quadratic::new(element.c0.store(), element.c1.store())
}

#[inline(always)]
fn select<E: Engine>(choice: u8, chosen: Element<E>, other: Element<E>) -> Element<E> {
    Quadratic::new(
        E::Single::select(choice, chosen.c0, other.c0),
        E::Single::select(choice, chosen.c1, other.c1),
    )
}

/// The sum of each part's multiple of its image of the point.
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
            sum = sum.double(twelve_xi);
        }
        for (table, digits) in tables.iter().zip(digits) {
            sum = sum.add(&find::<E>(table, digits[window]), twelve_xi);
        }
    }
    sum
}

/// Multiples of the images of a point under `(-psi)^i`.
#[inline(always)]
fn tables<E: Engine>(engine: E, point: &Affine<G2>) -> [Table<E>; PARTS] {
    let base = Projective { x: load(engine, point.x), y: load(engine, point.y), z: Algebra::one(engine) };
    let mut table = [Projective::infinity(engine); MOST + 1];
    table[1] = base;
    for i in 1..=MOST / 2 {
        table[2 * i] = table[i].double(twelve_xi);
        if 2 * i < MOST {
            table[2 * i + 1] = table[2 * i].add(&base, twelve_xi);
        }
    }
    let mut tables = [table; PARTS];
    let [x_factor, y_factor] = [load(engine, PSI[0]), load(engine, PSI[1])];
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

/// The multiple that a digit names.
#[inline(always)]
fn find<E: Engine>(table: &Table<E>, digit: i8) -> Projective<Element<E>> {
    let (wanted, negative) = magnitude(digit);
    let mut entry = table[0];
    for (i, candidate) in (1..).zip(&table[1..]) {
        let found = is_equal(wanted, i);
        entry.x = select::<E>(found, candidate.x, entry.x);
        entry.y = select::<E>(found, candidate.y, entry.y);
        entry.z = select::<E>(found, candidate.z, entry.z);
    }
    entry.y = select::<E>(negative, -entry.y, entry.y);
    entry
}
