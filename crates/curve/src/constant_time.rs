//! Multiples of points by secret scalars on BLS12-381: no branch and no address depends on the scalar.
//!
//! Addition and doubling are the complete formulas of Renes, Costello, Batina, "Complete addition formulas for prime order
//! elliptic curves" (eprint 2015/1060), algorithms 7 and 9 for a = 0: homogeneous coordinates `x = X/Z`, `y = Y/Z`, infinity
//! (0 : 1 : 0), no case distinguished. They hold for all points of odd order, in particular in both subgroups.
//!
//! Scalars are cut into signed digits of five bits; each digit's multiple is found by reading the whole table under masks.
//!
//! * The generator of G1 has a table of multiples for each of its 52 digits: 52 additions, nothing doubled.
//! * In G2, psi multiplies by x = -X with X = 0xd201000000010000 (Galbraith, Lin, Scott, "Endomorphisms for faster elliptic
//!   curve cryptography", eprint 2008/194; Galbraith, Scott, eprint 2008/117, for pairing-friendly curves). A scalar
//!   below r = X^4 - X^2 + 1 has four digits in base X, each of 64 bits, so that `s Q = sum a_i (-psi)^i Q`. The four sums run
//!   side by side in lanes, or, where there are none, one after the other between shared doublings.
//!
//! Division by X is by its reciprocal (Moller, Granlund, "Improved division by invariant integers", IEEE Transactions on
//! Computers 60, 2011, algorithm 4), because the CPU's own takes a time that depends on its operands. The result is divided by
//! Z with a power, not with a Euclidean algorithm: Z's value would tell of the scalar (Naccache, Smart, Stern, "Projective
//! coordinates leak", eprint 2003/191).

use crate::{
    Affine, Curve,
    bls12_381::{G1, G2},
};
use proofmill_field::{
    Algebra, Backend, Engine, Field, Packable, Prime, Quadratic, Vector,
    bls12_381::{Fq, Fq2, FqParams},
};
use proofmill_simd::{Level, dispatch};
use std::{hint::black_box, sync::LazyLock};
use zeroize::{Zeroize, Zeroizing};

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
/// The absolute value of the curve's parameter.
const X: u64 = 0xd201_0000_0001_0000;
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

/// A point with `x = X/Z`, `y = Y/Z`.
#[derive(Clone, Copy)]
struct Projective<A> {
    x: A,
    y: A,
    z: A,
}

impl<A: Algebra> Projective<A> {
    #[inline(always)]
    fn infinity() -> Self {
        Self { x: A::zero(), y: A::one(), z: A::zero() }
    }

    /// Algorithm 7, given the product with 3b.
    #[inline(always)]
    fn add(&self, rhs: &Self, triple_b: impl Fn(A) -> A) -> Self {
        let [xx, yy] = A::mul_pair([self.x, self.y], [rhs.x, rhs.y]);
        let [zz, xy] = A::mul_pair([self.z, self.x.add_lazy(self.y)], [rhs.z, rhs.x.add_lazy(rhs.y)]);
        let [yz, xz] = A::mul_pair(
            [self.y.add_lazy(self.z), self.x.add_lazy(self.z)],
            [rhs.y.add_lazy(rhs.z), rhs.x.add_lazy(rhs.z)],
        );
        let xy = xy - (xx + yy);
        let yz = yz - (yy + zz);
        let bxz = triple_b(xz - (xx + zz));
        let bzz = triple_b(zz);
        let xx3 = xx.double() + xx;
        let (sum, difference) = (yy + bzz, yy - bzz);
        let [a, b] = A::mul_pair([xy, yz], [difference, bxz]);
        let [c, d] = A::mul_pair([bxz, difference], [xx3, sum]);
        let [e, f] = A::mul_pair([sum, xx3], [yz, xy]);
        Self { x: a - b, y: c + d, z: e + f }
    }

    /// Algorithm 9, given the product with 3b.
    #[inline(always)]
    fn double(&self, triple_b: impl Fn(A) -> A) -> Self {
        let [yy, zz] = A::square_pair([self.y, self.z]);
        let [xy, yz] = A::mul_pair([self.x, self.y], [self.y, self.z]);
        let bzz = triple_b(zz);
        let yy8 = yy.double().double().double();
        let difference = yy - (bzz.double() + bzz);
        let [a, b] = A::mul_pair([difference, difference], [xy, yy + bzz]);
        let [c, d] = A::mul_pair([bzz, yz], [yy8, yy8]);
        Self { x: a.double(), y: b + c, z: d }
    }
}

/// `12 x`: three times G1's constant, 4.
#[inline(always)]
fn twelve<A: Algebra>(x: A) -> A {
    let four = x.double().double();
    four.double() + four
}

/// `12 (1 + u) x`: three times G2's constant.
#[inline(always)]
fn twelve_xi<A: Algebra>(x: Quadratic<A>) -> Quadratic<A> {
    twelve(Quadratic::new(x.c0 - x.c1, x.c0 + x.c1))
}

/// 1 where a = b, else 0.
#[inline(always)]
fn is_equal(a: u8, b: u8) -> u8 {
    (u16::from(a ^ b).wrapping_sub(1) >> 15) as u8
}

/// A signed digit's absolute value, and 1 if it is negative.
#[inline(always)]
fn magnitude(digit: i8) -> (u8, u8) {
    let negative = digit >> 7;
    // The barrier keeps the compiler from learning that the mask has two values, and from branching on it.
    let negative = black_box(negative);
    (((digit ^ negative) - negative) as u8, (negative & 1) as u8)
}

/// An integer's digits in base 32, from -15 to 16, least significant first; `N` digits hold the words and a carry.
fn signed_digits<const N: usize>(words: &[u64]) -> [i8; N] {
    let mut digits = [0; N];
    let mut carry = 0;
    for (i, digit) in digits.iter_mut().enumerate() {
        let (word, bit) = (WINDOW * i / 64, WINDOW * i % 64);
        let mut window = words.get(word).map_or(0, |word| word >> bit);
        if bit + WINDOW > 64 {
            window |= words.get(word + 1).map_or(0, |word| word << (64 - bit));
        }
        let value = (window & (2 * MOST as u64 - 1)) as i8 + carry;
        carry = (value + MOST as i8 - 1) >> WINDOW;
        *digit = value - (carry << WINDOW);
    }
    digits
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

/// What psi multiplies conjugate coordinates by: `xi^(-(p - 1)/3)` and `xi^(-(p - 1)/2)`, xi = 1 + u.
static PSI: LazyLock<[Fq2; 2]> = LazyLock::new(|| {
    let xi = Fq2::new(Fq::ONE, Fq::ONE);
    [3, 2].map(|divisor| {
        let mut exponent = FqParams::MODULUS;
        let mut remainder = 0;
        for word in exponent.iter_mut().rev() {
            let dividend = remainder << 64 | u128::from(*word);
            (*word, remainder) = ((dividend / divisor) as u64, dividend % divisor);
        }
        xi.pow_vartime(&exponent).invert().unwrap_or_default()
    })
});

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
    let mut digits = signed_digits::<SCALAR_DIGITS>(scalar);
    let mut sum = Projective::<Fq<B>>::infinity();
    for (table, digit) in GENERATOR.iter().zip(&digits) {
        let (wanted, negative) = magnitude(*digit);
        let mut entry = Projective::infinity();
        for (i, point) in (1..).zip(table) {
            let found = is_equal(wanted, i);
            entry.x = select(found, point.x.with_backend(backend), entry.x);
            entry.y = select(found, point.y.with_backend(backend), entry.y);
        }
        entry.z = select(is_equal(wanted, 0), Fq::ZERO, Fq::ONE);
        entry.y = select(negative, -entry.y, entry.y);
        sum = sum.add(&entry, twelve);
    }
    digits.zeroize();
    let inverse = invert(sum.z);
    Affine { x: (sum.x * inverse).portable(), y: (sum.y * inverse).portable() }
}

/// As many points as the engine's vectors have lanes.
type Lanes<E> = Projective<Quadratic<<E as Engine>::Vector<FqParams>>>;

/// Multiples 0 to 16 of each lane's point.
type Table<E> = [Lanes<E>; MOST + 1];

fn g2_multiple<E: Engine>(engine: E, point: &Affine<G2>, scalar: &[u64; 4]) -> Affine<G2> {
    let mut parts = base_x(scalar);
    let mut digits = Zeroizing::new(parts.map(|part| signed_digits::<PART_DIGITS>(&[part])));
    parts.zeroize();
    let mut sums = engine.run(
        #[inline(always)]
        || {
            let sum = sum_of_parts::<E>(point, &digits);
            let mut sums = [[Fq2::ZERO; 8]; 3];
            for (lanes, sum) in [sum.x, sum.y, sum.z].into_iter().zip(&mut sums) {
                Fq2::store::<E>(lanes, &mut sum[..Fq2::width::<E>()]);
            }
            sums
        },
    );
    digits.zeroize();
    let result = sum_of_lanes(engine.backend(), &sums, Fq2::width::<E>().min(PARTS));
    sums.iter_mut().flatten().for_each(|element| *element = Fq2::ZERO);
    result
}

/// Sums whose total is the multiple.
#[inline(always)]
fn sum_of_parts<E: Engine>(point: &Affine<G2>, digits: &[[i8; PART_DIGITS]; PARTS]) -> Lanes<E> {
    let width = Fq2::width::<E>();
    let tables = tables::<E>(point);
    let mut sum = Lanes::<E>::infinity();
    for window in (0..PART_DIGITS).rev() {
        for _ in 0..if window + 1 < PART_DIGITS { WINDOW } else { 0 } {
            sum = sum.double(twelve_xi);
        }
        for (table, digits) in tables.iter().zip(digits.chunks(width)) {
            sum = sum.add(&find::<E>(table, digits, window), twelve_xi);
        }
    }
    sum
}

/// A table for each group of parts: in lane l of group g, multiples of `(-psi)^(g WIDTH + l)` of the point.
#[inline(always)]
fn tables<E: Engine>(point: &Affine<G2>) -> Vec<Table<E>> {
    let width = Fq2::width::<E>();
    let mut images = [*point; 8];
    let [x_factor, y_factor] = *PSI;
    for i in 1..width.min(PARTS) {
        let Affine { x, y } = images[i - 1];
        images[i] = Affine { x: x.conjugate() * x_factor, y: -(y.conjugate() * y_factor) };
    }
    let base = Lanes::<E> {
        x: Fq2::load::<E>(&images.map(|point| point.x)[..width]),
        y: Fq2::load::<E>(&images.map(|point| point.y)[..width]),
        z: Algebra::one(),
    };
    let mut table = [Lanes::<E>::infinity(); MOST + 1];
    table[1] = base;
    for i in 1..=MOST / 2 {
        table[2 * i] = table[i].double(twelve_xi);
        if 2 * i < MOST {
            table[2 * i + 1] = table[2 * i].add(&base, twelve_xi);
        }
    }
    let mut tables = vec![table];
    let [x_factor, y_factor] = [x_factor, y_factor].map(
        #[inline(always)]
        |factor| Fq2::load::<E>(&[factor; 8][..width]),
    );
    while tables.len() * width < PARTS {
        let last = tables.len() - 1;
        let mut next = tables[last];
        for entry in &mut next {
            *entry = Projective {
                x: entry.x.conjugate() * x_factor,
                y: -(entry.y.conjugate() * y_factor),
                z: entry.z.conjugate(),
            };
        }
        tables.push(next);
    }
    tables
}

/// The multiples that a window's digits name, one digit a lane.
#[inline(always)]
fn find<E: Engine>(table: &Table<E>, digits: &[[i8; PART_DIGITS]], window: usize) -> Lanes<E> {
    let mut found = [0; MOST + 1];
    let mut signs = 0;
    for (lane, digits) in digits.iter().enumerate() {
        let (wanted, negative) = magnitude(digits[window]);
        signs |= negative << lane;
        for (i, found) in (0..).zip(&mut found) {
            *found |= is_equal(wanted, i) << lane;
        }
    }
    let mut entry = table[0];
    for (found, candidate) in found.iter().zip(table).skip(1) {
        entry.x = Fq2::select::<E>(*found, candidate.x, entry.x);
        entry.y = Fq2::select::<E>(*found, candidate.y, entry.y);
        entry.z = Fq2::select::<E>(*found, candidate.z, entry.z);
    }
    entry.y = Fq2::select::<E>(signs, -entry.y, entry.y);
    entry
}

/// The affine sum of points whose coordinates are X, Y, Z.
fn sum_of_lanes<B: Backend>(backend: B, sums: &[[Fq2; 8]; 3], count: usize) -> Affine<G2> {
    let enter = |x: Fq2| Quadratic::new(x.c0.with_backend(backend), x.c1.with_backend(backend));
    let lane = |i: usize| Projective { x: enter(sums[0][i]), y: enter(sums[1][i]), z: enter(sums[2][i]) };
    let sum = (1..count).fold(lane(0), |sum, i| sum.add(&lane(i), twelve_xi));
    let inverse = sum.z.conjugate().scale(invert(sum.z.norm()));
    let leave = |x: Quadratic<Fq<B>>| Fq2::new(x.c0.portable(), x.c1.portable());
    Affine { x: leave(sum.x * inverse), y: leave(sum.y * inverse) }
}
