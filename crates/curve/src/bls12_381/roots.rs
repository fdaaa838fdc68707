//! Square roots in BLS12-381's base fields, as many at a time as a level has lanes.
//!
//! p is 3 mod 4, so everything is one power, `x^((p - 3)/4)`: with `e = (u v^3)^((p - 3)/4)` the square of `u v e` is
//! `u/v` or `-u/v` (RFC 9380, appendix F.2.1.2). In Fq2 the complex method (Scott, "Implementing cryptographic pairings",
//! 2007; Adj, Rodriguez-Henriquez, eprint 2012/685, algorithm 9) takes two such powers in Fq and no inversion: `u/v` is
//! `(a + b i)/n` with `a + b i = u conj(v)` and n the norm of v, and a root of the norm is `s/n` with `s^2 = a^2 + b^2`.
//! The square of the root's first coefficient is `(a + s)/(2n)`; if that is not a square, then its negative is the square
//! of the second coefficient. For `U = a + s`, `V = 2n` and `e = (U V^3)^((p - 3)/4)` the coefficients are `U V e` and
//! `b V e`, up to order and sign, because `U V^3 e^2` is 1 or -1. If `u/v` is not a square, the same is done with Z u/v,
//! where Z is the field's fixed non-square; a root of its norm follows from s without another power, because -N(Z) is a
//! square of Fq.

use super::map_constants as constants;
use crate::formulas::doubled;
use proofmill_field::{
    Algebra, Engine, Lanes, Packable, Prime, Quadratic, Select, Vector,
    bls12_381::{Fq, Fq2, FqParams},
};

/// Elements of Fq in lanes.
type FqLanes<E> = <E as Engine>::Vector<FqParams>;

/// Roots of ratios in lanes.
#[derive(Clone, Copy)]
pub struct Root<A> {
    /// The lanes whose ratio is a square.
    pub square: u8,
    /// One of its two roots; in the other lanes, a root of Z times the ratio.
    pub root: A,
}

/// A base field of one of the groups.
pub trait Roots: Packable {
    /// A non-square, RFC 9380's Z.
    const Z: Self;

    /// Roots of `u/v` for nonzero v, for `K` independent ratios; K = 2 hides latency.
    #[inline(always)]
    fn roots_of_ratios<E: Engine, const K: usize>(
        u: &[Self::Lanes<E>; K],
        v: &[Self::Lanes<E>; K],
    ) -> [Root<Self::Lanes<E>>; K] {
        Self::Lanes::<E>::outlined(
            u[0].token(),
            #[inline(always)]
            || Self::roots_inlined(u, v),
        )
    }

    /// [`roots_of_ratios`](Self::roots_of_ratios), not as a function of its own.
    fn roots_inlined<E: Engine, const K: usize>(
        u: &[Self::Lanes<E>; K],
        v: &[Self::Lanes<E>; K],
    ) -> [Root<Self::Lanes<E>>; K];

    /// RFC 9380's `sgn0` (section 4.1): bit i for lane i.
    fn signs<E: Engine>(x: Self::Lanes<E>) -> u8;

    /// The elements larger than their negatives: as integers in 0..p, comparing the coefficient of u first.
    fn larger<E: Engine>(x: Self::Lanes<E>) -> u8;

    /// Doubles a point in Jacobian coordinates so many times, in the form in which the level multiplies a few independent pairs fastest;
    /// false, and the point as it was, if scalars are faster.
    fn double_single<S: Engine>(_: S, _: &mut [Self; 3], _: u32) -> bool {
        false
    }
}

impl Roots for Fq {
    const Z: Self = Self::constant(constants::G1_CURVE[2]);

    #[inline(always)]
    fn roots_inlined<E: Engine, const K: usize>(
        u: &[FqLanes<E>; K],
        v: &[FqLanes<E>; K],
    ) -> [Root<FqLanes<E>>; K] {
        let engine = u[0].token();
        let mut products = *u;
        let mut powers = *u;
        for k in 0..K {
            products[k] = u[k] * v[k];
            powers[k] = products[k] * v[k].square();
        }
        let powers = power(&powers);
        let other = FqLanes::<E>::broadcast(engine, Fq::constant(constants::G1_ROOT));
        let mut roots = [Root { square: 0, root: u[0] }; K];
        for k in 0..K {
            let root = products[k] * powers[k];
            let square = (root.square() * v[k] - u[k]).zero_lanes();
            roots[k] = Root { square, root: FqLanes::<E>::select(square, root, root * other) };
        }
        roots
    }

    #[inline(always)]
    fn signs<E: Engine>(x: FqLanes<E>) -> u8 {
        E::odd_lanes(x)
    }

    #[inline(always)]
    fn larger<E: Engine>(x: FqLanes<E>) -> u8 {
        // 2x is odd if p was subtracted.
        E::odd_lanes(x.double())
    }
}

impl Roots for Fq2 {
    const Z: Self =
        Self { c0: Fq::constant(constants::G2_CURVE[4]), c1: Fq::constant(constants::G2_CURVE[5]) };

    #[inline(always)]
    fn roots_inlined<E: Engine, const K: usize>(
        u: &[Quadratic<FqLanes<E>>; K],
        v: &[Quadratic<FqLanes<E>>; K],
    ) -> [Root<Quadratic<FqLanes<E>>>; K] {
        let select = FqLanes::<E>::select;
        let engine = u[0].token();
        let mut ratios = *u;
        let [mut norms, mut denominators] = [[FqLanes::<E>::zero(engine); K]; 2];
        for k in 0..K {
            ratios[k] = u[k] * v[k].conjugate();
            norms[k] = ratios[k].norm();
            denominators[k] = v[k].norm().double();
        }
        let mut powers = power(&norms);
        let z = Quadratic::broadcast(engine, Self::Z);
        let other = FqLanes::<E>::broadcast(engine, Fq::constant(constants::G2_ROOT));
        let mut roots = [Root { square: 0, root: u[0] }; K];
        let mut sums = norms;
        for k in 0..K {
            let norm_root = powers[k] * norms[k];
            let square = (norm_root.square() - norms[k]).zero_lanes();
            let norm_root = select(square, norm_root, norm_root * other);
            ratios[k] = Quadratic::select(square, ratios[k], ratios[k] * z);
            let sum = ratios[k].c0 + norm_root;
            // Zero only if b is zero; then the other root of the norm is used.
            sums[k] = select(sum.zero_lanes(), ratios[k].c0 - norm_root, sum);
            powers[k] = sums[k] * denominators[k] * denominators[k].square();
            roots[k].square = square;
        }
        let powers = power(&powers);
        for k in 0..K {
            let scaled = powers[k] * denominators[k];
            let [root, other] = FqLanes::<E>::mul_pair([sums[k], ratios[k].c1], [scaled, scaled]);
            let real = (root.square() * denominators[k] - sums[k]).zero_lanes();
            roots[k].root = Quadratic::new(select(real, root, -other), select(real, other, root));
        }
        roots
    }

    #[inline(always)]
    fn signs<E: Engine>(x: Quadratic<FqLanes<E>>) -> u8 {
        E::odd_lanes(x.c0) | x.c0.zero_lanes() & E::odd_lanes(x.c1)
    }

    #[inline(always)]
    fn larger<E: Engine>(x: Quadratic<FqLanes<E>>) -> u8 {
        Fq::larger::<E>(x.c1) | x.c1.zero_lanes() & Fq::larger::<E>(x.c0)
    }

    fn double_single<S: Engine>(single: S, coordinates: &mut [Self; 3], count: u32) -> bool {
        if S::Single::<FqParams>::MOST_TERMS == u64::MAX {
            // A scalar.
            return false;
        }
        single.run(
            #[inline(always)]
            || {
                let [x, y, z] = *coordinates;
                let mut point: [Quadratic<S::Single<FqParams>>; 3] = [
                    Quadratic::broadcast(single, x),
                    Quadratic::broadcast(single, y),
                    Quadratic::broadcast(single, z),
                ];
                for _ in 0..count {
                    point = doubled(point);
                }
                for (element, coordinate) in point.into_iter().zip(coordinates) {
                    element.store(std::slice::from_mut(coordinate));
                }
            },
        );
        true
    }
}

/// The bits of a window: 375 squares, 66 products and 16 for the table; windows of 4 bits take 86 products.
const WINDOW: u32 = 5;

/// The odd digits of an exponent, highest first, each with the number of squarings before it.
struct Windows {
    digits: [(u8, u8); 80],
    count: usize,
    /// The squarings after the last digit.
    last: u8,
}

/// Sliding windows of (p - 3)/4.
const WINDOWS: Windows = {
    let mut windows = Windows { digits: [(0, 0); 80], count: 0, last: 0 };
    // (p - 3)/4 is p without its lowest two bits, both of which are 1.
    let mut bit = FqParams::BITS;
    let mut squarings = 0;
    while bit > 2 {
        bit -= 1;
        squarings += 1;
        if is_set(bit) {
            let mut digit = 1u8;
            let mut lowest = bit;
            let mut next = bit;
            let mut value = 1u8;
            while next > 2 && bit - next + 1 < WINDOW {
                next -= 1;
                value = value << 1 | is_set(next) as u8;
                if value & 1 == 1 {
                    (digit, lowest) = (value, next);
                }
            }
            squarings += (bit - lowest) as u8;
            windows.digits[windows.count] = (squarings, digit);
            windows.count += 1;
            bit = lowest;
            squarings = 0;
        }
    }
    windows.last = squarings;
    windows
};

const fn is_set(bit: u32) -> bool {
    FqParams::MODULUS[bit as usize / 64] >> (bit % 64) & 1 == 1
}

/// `x^((p - 3)/4)`, for K independent elements.
#[inline(always)]
fn power<A: Algebra, const K: usize>(x: &[A; K]) -> [A; K] {
    A::outlined(
        x[0].token(),
        #[inline(always)]
        || power_inlined(x),
    )
}

#[inline(always)]
fn power_inlined<A: Algebra, const K: usize>(x: &[A; K]) -> [A; K] {
    let squares = A::square_repeatedly(*x, 1);
    let mut odd_powers = [*x; 1 << (WINDOW - 1)];
    for i in 1..odd_powers.len() {
        odd_powers[i] = odd_powers[i - 1];
        multiply(&mut odd_powers[i], &squares);
    }
    let [(_, first), rest @ ..] = &WINDOWS.digits[..WINDOWS.count] else { return *x };
    let mut power = odd_powers[*first as usize / 2];
    for (squarings, digit) in rest {
        power = A::square_repeatedly(power, u32::from(*squarings));
        multiply(&mut power, &odd_powers[*digit as usize / 2]);
    }
    A::square_repeatedly(power, u32::from(WINDOWS.last))
}

#[inline(always)]
fn multiply<A: Algebra, const K: usize>(x: &mut [A; K], y: &[A; K]) {
    if K == 2 {
        [x[0], x[1]] = A::mul_pair([x[0], x[1]], [y[0], y[1]]);
    } else {
        for (x, y) in x.iter_mut().zip(y) {
            *x = *x * *y;
        }
    }
}
