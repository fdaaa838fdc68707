//! BN254's pairing: after `6x + 2` doublings and additions, the lines through the resulting point and Q's Frobenius images.
//!
//! Final exponentiation: Fuentes-Castaneda, Knapp, Rodriguez-Henriquez, "Faster hashing to G2" (SAC 2011), which
//! raises to the multiple `2x (6x^2 + 3x + 1)` of the exponent's hard part; all of circom's tools use the same.

use crate::{
    Ate, Constants, Gt, Pairing, compute,
    miller::{LineCoefficients, MillerValue, Walk},
    signed_digits,
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2, X},
};
use proofmill_field::{
    Algebra, Dodecic, Lanes, Quadratic, Sextic, Tower,
    bn254::{Fq, FqParams},
};
use std::sync::LazyLock;

/// The width of x's digits: 13 products and 3 for the table, where the non-adjacent form takes 23.
const WIDTH: u32 = 4;
/// Signed odd digits of x below `2^(WIDTH - 1)`, without the top one, which is 1.
static EXPONENT: LazyLock<Vec<i8>> = LazyLock::new(|| signed_digits(u128::from(X), WIDTH));

impl Pairing for G1 {
    type Prime = FqParams;

    fn multi_pairing(level: Level, pairs: &[(Affine<Self>, Affine<G2>)]) -> Gt<Self> {
        compute(level, pairs)
    }
}

type Fq12<A> = Dodecic<FqParams, A>;

impl Ate for G1 {
    /// Sixteen pairs in lanes take 0.53 of the time of single ones at `avx512ifma`, 0.7 at `avx2`.
    const LANES_FROM: usize = 8;
    const SCALARS_BEFORE_DOUBLES: bool = true;

    /// The digits of 6x + 2, with no two adjacent nonzero ones.
    fn digits() -> &'static [i8] {
        static DIGITS: LazyLock<Vec<i8>> = LazyLock::new(|| signed_digits(6 * u128::from(X) + 2, 2));
        &DIGITS
    }

    fn constants() -> &'static Constants<Fq> {
        static CONSTANTS: LazyLock<Constants<Fq>> = LazyLock::new(|| Constants::new(G2::B));
        &CONSTANTS
    }

    #[inline(always)]
    fn mul_by_b<A: Algebra>(constants: &Constants<A>, x: Quadratic<A>) -> Quadratic<A> {
        constants.b * x
    }

    #[inline(always)]
    fn mul_by_line<A: Algebra>(f: Fq12<A>, line: LineCoefficients<A>) -> Fq12<A> {
        f.mul_by_line(line)
    }

    /// The coefficients are those of 1, w and w^3.
    #[inline(always)]
    fn product_of_lines<A: Algebra>(
        [p, q, r]: LineCoefficients<A>,
        [pq, pr, qr]: LineCoefficients<A>,
    ) -> Fq12<A> {
        let constant = p + FqParams::mul_by_xi(r);
        Dodecic { c0: Sextic::new([constant, q, qr]), c1: Sextic::new([pq, pr, Quadratic::zero(p.token())]) }
    }

    #[inline(always)]
    fn last_lines<A: Algebra>(
        constants: &Constants<A>,
        walks: &mut [Walk<A>],
        value: &mut MillerValue<Self, A>,
    ) {
        value.add_to_all(
            walks,
            #[inline(always)]
            // The line through Q's Frobenius image.
            |walk| twisted(constants, walk.q),
        );
        value.add_to_all(
            walks,
            #[inline(always)]
            |walk| {
                // The line through the negative of the second image.
                let [x, y] = twisted(constants, twisted(constants, walk.q));
                [x, -y]
            },
        );
    }

    #[inline(always)]
    fn finish<A: Algebra>(f: Fq12<A>) -> Fq12<A> {
        f
    }

    #[inline(always)]
    fn hard_part<A: Lanes<Fq>>(constants: &Constants<A>, f: Fq12<A>) -> Fq12<A> {
        // The exponent in base p: (12 x^3 + 12 x^2 + 6 x + 1) + (12 x^3 + 6 x^2 + 4 x) p
        // + (12 x^3 + 6 x^2 + 6 x) p^2 + (12 x^3 + 6 x^2 + 4 x - 1) p^3.
        // The comments below name exponents of f.
        let [g1, g2, g3] = constants.gammas;
        let y0 = power_of_minus_x(f);
        // -2 x
        let y1 = y0.cyclotomic_square();
        // -6 x
        let y3 = y1.cyclotomic_square() * y1;
        // 6 x^2
        let y4 = power_of_minus_x(y3);
        // 12 x^3
        let y6 = power_of_minus_x(y4.cyclotomic_square()).conjugate();
        // 12 x^3 + 6 x^2 + 6 x
        let y8 = y6 * y4 * y3.conjugate();
        // 12 x^3 + 6 x^2 + 4 x
        let y9 = y8 * y1;
        // 12 x^3 + 12 x^2 + 6 x + 1
        let y11 = y8 * y4 * f;
        let y13 = y9.frobenius(1, g1) * y11;
        let y14 = y8.frobenius(2, g2) * y13;
        (f.conjugate() * y9).frobenius(3, g3) * y14
    }
}

/// The image of a point of the twist: untwist, Frobenius map, twist.
#[inline(always)]
fn twisted<A: Algebra>(constants: &Constants<A>, [x, y]: [Quadratic<A>; 2]) -> [Quadratic<A>; 2] {
    // gamma is w^(p - 1): its square is for x and its cube for y, which w^2 and w^3 untwist.
    let gamma = constants.gammas[0];
    let square = gamma.square();
    [x.conjugate() * square, y.conjugate() * (square * gamma)]
}

/// `f^(-x)` in the cyclotomic subgroup, where the conjugate is the inverse.
#[inline(never)]
fn power_of_minus_x<A: Algebra>(f: Fq12<A>) -> Fq12<A> {
    A::outlined(
        f.token(),
        #[inline(always)]
        || {
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
        },
    )
}
