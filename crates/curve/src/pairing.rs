//! The optimal ate pairing on BN254 (Vercauteren, "Optimal pairings", eprint 2008/096).
//!
//! `e(P, Q) = (f_(6x+2),Q(P) l_1 l_2)^((p^12 - 1) / r)`, l_1 and l_2 the lines through `[6x+2] Q` and the
//! Frobenius images of Q. Lines in homogeneous coordinates (Aranha, Karabina, Longa, Gebotys, Lopez, "Faster explicit
//! formulas for computing pairings over ordinary curves", eprint 2010/526; Costello, Lange, Naehrig,
//! eprint 2009/615). Final exponentiation: Fuentes-Castaneda, Knapp, Rodriguez-Henriquez, "Faster hashing to
//! G2" (SAC 2011), which raises to the multiple `2x (6x^2 + 3x + 1)` of the exponent's hard part; all of circom's tools and
//! arkworks do the same, so that values agree.
//!
//! Times depend on the points: for public data.

use crate::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{
    Algebra, Backend, Engine, Field, Prime,
    bn254::{Fq, Fq2, Fq12, FqParams},
};
use proofmill_simd::{Level, dispatch};
use std::sync::LazyLock;

/// BN254's parameter x.
pub(crate) const X: u64 = 4_965_661_367_192_848_881;

/// Signed digits of 6x + 2, no two neighbours nonzero, the top one, which is 1, left out.
static LOOP: LazyLock<Vec<i8>> = LazyLock::new(|| signed_digits(6 * u128::from(X) + 2, 2));

/// Digits of x of this width: 13 products and 3 for the table, where the non-adjacent form takes 23.
const WIDTH: u32 = 4;
/// Signed odd digits of x below `2^(WIDTH - 1)`, the top one, which is 1, left out.
static EXPONENT: LazyLock<Vec<i8>> = LazyLock::new(|| signed_digits(u128::from(X), WIDTH));

/// The non-adjacent form of a width, least significant digit first, without the top digit.
fn signed_digits(mut value: u128, width: u32) -> Vec<i8> {
    let mut digits = Vec::new();
    while value != 0 {
        let window = (value & ((1 << width) - 1)) as i8;
        let digit = match window {
            _ if value & 1 == 0 => 0,
            _ if window < 1 << (width - 1) => window,
            _ => window - (1 << width),
        };
        value = value.wrapping_sub(digit as u128) >> 1;
        digits.push(digit);
    }
    let top = digits.pop();
    debug_assert_eq!(top, Some(1));
    digits
}

/// `xi^((p^k - 1) / 6)` for k = 1, 2, 3.
static GAMMAS: LazyLock<[Fq2; 3]> = LazyLock::new(|| {
    // (p - 1) / 6 by long division; p = 1 mod 6.
    let mut exponent = FqParams::MODULUS;
    let mut remainder = 0;
    for word in exponent.iter_mut().rev() {
        let dividend = u128::from(remainder) << 64 | u128::from(*word);
        (*word, remainder) = ((dividend / 6) as u64, (dividend % 6) as u64);
    }
    let gamma = Fq2::new(Fq::from(9u64), Fq::ONE).pow_vartime(&exponent);
    let norm = gamma * gamma.conjugate();
    [gamma, norm, norm * gamma]
});

/// The Frobenius constants for a backend.
#[derive(Clone, Copy)]
struct Frobenius<B: Backend>([Fq2<B>; 3]);

impl<B: Backend> Frobenius<B> {
    fn new(backend: B) -> Self {
        Self(GAMMAS.map(|gamma| fq2(backend, gamma)))
    }

    fn apply(&self, f: Fq12<B>, power: u32) -> Fq12<B> {
        f.frobenius(power, self.0[power as usize - 1])
    }

    /// The image of a point of the twist: untwist, Frobenius map, twist.
    fn twisted(&self, point: &Affine<G2<B>>) -> Affine<G2<B>> {
        let square = self.0[0].square();
        Affine { x: point.x.conjugate() * square, y: point.y.conjugate() * square * self.0[0] }
    }
}

fn fq2<B: Backend>(backend: B, x: Fq2) -> Fq2<B> {
    Fq2::new(x.c0.with_backend(backend), x.c1.with_backend(backend))
}

/// An element of the target group's field.
pub type Gt = Fq12;

/// `e(p, q)`. The points must be on their curves, q in the subgroup; infinity gives 1.
pub fn pairing(level: Level, p: &Affine<G1>, q: &Affine<G2>) -> Gt {
    multi_pairing(level, &[(*p, *q)])
}

/// The product of `e(p, q)` over all pairs, with one final exponentiation.
pub fn multi_pairing(level: Level, pairs: &[(Affine<G1>, Affine<G2>)]) -> Gt {
    let value = dispatch!(level, engine => {
        let backend = engine.backend();
        let frobenius = Frobenius::new(backend);
        portable(final_exponentiation(miller_loop(backend, &frobenius, pairs), &frobenius))
    });
    value
}

/// Whether the product of `e(p, q)` over all pairs is 1.
pub fn pairing_product_is_one(level: Level, pairs: &[(Affine<G1>, Affine<G2>)]) -> bool {
    multi_pairing(level, pairs) == Gt::one()
}

fn portable<B: Backend>(value: Fq12<B>) -> Gt {
    let sextic = |x: proofmill_field::Sextic<FqParams, Fq<B>>| {
        proofmill_field::Sextic::new(x.c.map(|c| Fq2::new(c.c0.portable(), c.c1.portable())))
    };
    Gt { c0: sextic(value.c0), c1: sextic(value.c1) }
}

/// One pair on its way through the loop.
struct Walk<B: Backend> {
    p: (Fq<B>, Fq<B>),
    q: Affine<G2<B>>,
    t: Homogeneous<B>,
}

/// A point of the twist with `x = X/Z`, `y = Y/Z`.
struct Homogeneous<B: Backend> {
    x: Fq2<B>,
    y: Fq2<B>,
    z: Fq2<B>,
}

/// A line's coefficients: times y_P, times x_P, and constant.
type Line<B> = [Fq2<B>; 3];

impl<B: Backend> Homogeneous<B> {
    /// Doubles the point and gives the tangent; the coordinates are the sources' times 4, which spares halves.
    fn double(&mut self) -> Line<B> {
        let a = self.x * self.y;
        let b = self.y.square();
        let c = self.z.square();
        let e = <G2<B> as crate::Curve>::B * (c.double() + c);
        let f = e.double() + e;
        let h = (self.y + self.z).square() - (b + c);
        let j = self.x.square();
        let ee = e.double().square();
        self.x = (a * (b - f)).double();
        self.y = (b + f).square() - (ee.double() + ee);
        self.z = (b * h).double().double();
        [-h, j.double() + j, e - b]
    }

    /// Adds an affine point and gives the chord.
    fn add(&mut self, q: &Affine<G2<B>>) -> Line<B> {
        let theta = self.y - q.y * self.z;
        let lambda = self.x - q.x * self.z;
        let c = theta.square();
        let d = lambda.square();
        let e = lambda * d;
        let f = self.z * c;
        let g = self.x * d;
        let h = e + f - g.double();
        self.x = lambda * h;
        self.y = theta * (g - h) - e * self.y;
        self.z *= e;
        [lambda, -theta, theta * q.x - lambda * q.y]
    }
}

impl<B: Backend> Walk<B> {
    fn multiply(&self, f: Fq12<B>, [y, x, constant]: Line<B>) -> Fq12<B> {
        f.mul_by_line([y.scale(self.p.1), x.scale(self.p.0), constant])
    }
}

fn miller_loop<B: Backend>(
    backend: B,
    frobenius: &Frobenius<B>,
    pairs: &[(Affine<G1>, Affine<G2>)],
) -> Fq12<B> {
    let finite = pairs.iter().filter(|(p, q)| !p.is_infinity() && !q.is_infinity());
    let mut walks: Vec<Walk<B>> = finite
        .map(|(p, q)| {
            let q = Affine { x: fq2(backend, q.x), y: fq2(backend, q.y) };
            let p = (p.x.with_backend(backend), p.y.with_backend(backend));
            Walk { p, q, t: Homogeneous { x: q.x, y: q.y, z: Fq2::ONE } }
        })
        .collect();
    let mut f = Fq12::one();
    for (i, digit) in LOOP.iter().rev().enumerate() {
        if i > 0 {
            f = f.square();
        }
        for walk in &mut walks {
            let line = walk.t.double();
            f = walk.multiply(f, line);
            if *digit != 0 {
                let q = if *digit > 0 { walk.q } else { -walk.q };
                let line = walk.t.add(&q);
                f = walk.multiply(f, line);
            }
        }
    }
    for walk in &mut walks {
        let first = frobenius.twisted(&walk.q);
        let second = -frobenius.twisted(&first);
        for q in [first, second] {
            let line = walk.t.add(&q);
            f = walk.multiply(f, line);
        }
    }
    f
}

/// `f^((p^12 - 1) / r * 2x (6x^2 + 3x + 1))`; 1 for zero, which no Miller loop gives.
fn final_exponentiation<B: Backend>(f: Fq12<B>, frobenius: &Frobenius<B>) -> Fq12<B> {
    let Some(inverse) = f.invert() else { return Fq12::one() };
    let f = f.conjugate() * inverse;
    let f = frobenius.apply(f, 2) * f;
    let y0 = power_of_minus_x(f);
    let y1 = y0.cyclotomic_square();
    let y3 = y1.cyclotomic_square() * y1;
    let y4 = power_of_minus_x(y3);
    let y6 = power_of_minus_x(y4.cyclotomic_square()).conjugate();
    let y8 = y6 * y4 * y3.conjugate();
    let y9 = y8 * y1;
    let y11 = y8 * y4 * f;
    let y13 = frobenius.apply(y9, 1) * y11;
    let y14 = frobenius.apply(y8, 2) * y13;
    frobenius.apply(f.conjugate() * y9, 3) * y14
}

/// `f^(-x)` in the cyclotomic subgroup, where the conjugate is the inverse.
fn power_of_minus_x<B: Backend>(f: Fq12<B>) -> Fq12<B> {
    // f, f^3, f^5, f^7.
    let mut odd_powers = [f; 1 << (WIDTH - 2)];
    let square = f.cyclotomic_square();
    for i in 1..odd_powers.len() {
        odd_powers[i] = odd_powers[i - 1] * square;
    }
    let mut power = f;
    for digit in EXPONENT.iter().rev() {
        power = power.cyclotomic_square();
        let odd_power = odd_powers[usize::from(digit.unsigned_abs() / 2)];
        match digit.signum() {
            1 => power = power * odd_power,
            -1 => power = power * odd_power.conjugate(),
            _ => {}
        }
    }
    power.conjugate()
}

impl Affine<G2> {
    /// Whether a point of the curve is in the subgroup of order r: `[x + 1] P + psi([x] P) + psi^2([x] P) =
    /// psi^3([2x] P)` (Dai, Lin, Zhao, Zhou, "Fast subgroup membership testings for G1, G2 and GT on pairing-friendly
    /// curves", eprint 2022/348, with the criterion for BN curves), psi the Frobenius map on the twist.
    pub fn is_in_subgroup(&self) -> bool {
        let frobenius = Frobenius::new(proofmill_simd::Portable);
        let multiple = self.mul_words_vartime(&[X]);
        let once = frobenius.twisted(&multiple.to_affine());
        let twice = frobenius.twisted(&once);
        let thrice = frobenius.twisted(&twice);
        let left = multiple.add_affine(self).add_affine(&once).add_affine(&twice);
        left == crate::Jacobian::from(thrice).double()
    }
}
