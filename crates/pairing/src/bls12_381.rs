//! BLS12-381's pairing: |x| doublings and additions; x is negative, so the value is inverted, which is the
//! conjugate here.
//!
//! Final exponentiation: Hayashida, Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic structure for
//! pairings over families of elliptic curves" (eprint 2020/875), which raises to 3 times the exponent:
//! `3 (p^4 - p^2 + 1) / r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3`. arkworks and blst use the same.

use crate::{
    Ate, Constants, Gt, Pairing,
    compressed::powers_of_two,
    compute,
    miller::{LineCoefficients, MillerValue, Walk},
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve,
    bls12_381::{G1, G2, X},
};
use proofmill_field::{
    Algebra, Dodecic, Lanes, Quadratic, Sextic, Tower,
    bls12_381::{Fq, FqParams},
};
use std::sync::LazyLock;

impl Pairing for G1 {
    type Prime = FqParams;

    fn multi_pairing(level: Level, pairs: &[(Affine<Self>, Affine<G2>)]) -> Gt<Self> {
        compute(level, pairs)
    }
}

type Fq12<A> = Dodecic<FqParams, A>;

/// The bits of -x below the top one, least significant first: only five are 1, less than in any signed form.
static DIGITS: [i8; 63] = {
    let mut digits = [0; 63];
    let mut i = 0;
    while i < 63 {
        digits[i] = (X >> i & 1) as i8;
        i += 1;
    }
    digits
};

/// The bits of -x above [`LOW_BITS`], least significant first.
static DIGITS_ABOVE: [i8; 15] = {
    let mut digits = [0; 15];
    let mut i = 0;
    while i < 15 {
        digits[i] = (X >> (LOW_BITS[1] as usize + 1 + i) & 1) as i8;
        i += 1;
    }
    digits
};

impl Ate for G1 {
    /// 64 pairs in lanes take the time of single ones at `avx2`, and 0.9 of it at `avx512ifma`; 32 take 1.03 and 0.94.
    const LANES_FROM: usize = 64;
    const SCALARS_BEFORE_DOUBLES: bool = false;

    fn digits() -> &'static [i8] {
        &DIGITS
    }

    fn constants() -> &'static Constants<Fq> {
        static CONSTANTS: LazyLock<Constants<Fq>> = LazyLock::new(|| Constants::new(G2::B));
        &CONSTANTS
    }

    /// The twist's b is 4 (1 + u).
    #[inline(always)]
    fn mul_by_b<A: Algebra>(_: &Constants<A>, x: Quadratic<A>) -> Quadratic<A> {
        Quadratic::new(x.c0 - x.c1, x.c0 + x.c1).double().double()
    }

    #[inline(always)]
    fn mul_by_line<A: Algebra>(f: Fq12<A>, [at_y, at_x, constant]: LineCoefficients<A>) -> Fq12<A> {
        f.mul_by_line_m([constant, at_x, at_y])
    }

    /// The coefficients are those of w^3, w^2 and 1.
    #[inline(always)]
    fn product_of_lines<A: Algebra>(
        [p, q, r]: LineCoefficients<A>,
        [pq, pr, qr]: LineCoefficients<A>,
    ) -> Fq12<A> {
        let constant = r + FqParams::mul_by_xi(p);
        Dodecic { c0: Sextic::new([constant, qr, q]), c1: Sextic::new([Quadratic::zero(p.token()), pr, pq]) }
    }

    #[inline(always)]
    fn last_lines<A: Algebra>(_: &Constants<A>, _: &mut [Walk<A>], _: &mut MillerValue<Self, A>) {}

    #[inline(always)]
    fn finish<A: Algebra>(f: Fq12<A>) -> Fq12<A> {
        f.conjugate()
    }

    #[inline(always)]
    fn hard_part<A: Lanes<Fq>>(constants: &Constants<A>, f: Fq12<A>) -> Fq12<A> {
        let [g1, g2, _] = constants.gammas;
        // The factor (x - 1)^2 of the exponent.
        let t = power_of_x_less_one::<A>(power_of_x_less_one::<A>(f));
        // The factor x + p.
        let t = power_of_x::<A>(t) * t.frobenius(1, g1);
        // The factor x^2 + p^2 - 1.
        let t = power_of_x::<A>(power_of_x::<A>(t)) * t.frobenius(2, g2) * t.conjugate();
        // The summand 3.
        t * f.cyclotomic_square() * f
    }
}

#[inline(always)]
fn power_of_x_less_one<A: Lanes<Fq>>(f: Fq12<A>) -> Fq12<A> {
    power_of_x::<A>(f) * f.conjugate()
}

/// The lowest two bits of -x that are 1; there are long runs of zeros below them.
const LOW_BITS: [u32; 2] = [16, 48];

/// `f^x` in the cyclotomic subgroup, where the conjugate is the inverse.
#[inline(never)]
fn power_of_x<A: Lanes<Fq>>(f: Fq12<A>) -> Fq12<A> {
    A::outlined(
        f.token(),
        #[inline(always)]
        || {
            // Squares up to 2^48 are compressed: one inversion recovers both powers.
            if A::CHEAP_INVERSION
                && let Some([low, mut power]) = powers_of_two::<_, A>(&f, LOW_BITS)
            {
                let mut product = low * power;
                for digit in &DIGITS_ABOVE {
                    power = power.cyclotomic_square();
                    if *digit != 0 {
                        product = product * power;
                    }
                }
                return product.conjugate();
            }
            // Square and multiply from the top bit, which is 1.
            let mut power = f;
            for digit in DIGITS.iter().rev() {
                power = power.cyclotomic_square();
                if *digit != 0 {
                    power = power * f;
                }
            }
            power.conjugate()
        },
    )
}
