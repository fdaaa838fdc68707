//! BLS12-381's pairing: x doublings and additions; x is negative, so that the value is inverted, for which the conjugate
//! does.
//!
//! Final exponentiation: Hayashida, Hayasaka, Teruya, "Efficient final exponentiation via cyclotomic structure for
//! pairings over families of elliptic curves" (eprint 2020/875), which raises to 3 times the exponent:
//! `3 (p^4 - p^2 + 1) / r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3`. arkworks and blst do the same.

use super::{Ate, Constants, Gt, Pairing, compute, miller::Walk};
use crate::{
    Affine, Curve,
    bls12_381::{G1, G2, MINUS_X},
};
use proofmill_field::{
    Algebra, Dodecic, Quadratic,
    bls12_381::{Fq, FqParams},
};
use proofmill_simd::Level;
use std::sync::LazyLock;

impl Pairing for G1 {
    type Prime = FqParams;
    type G2 = G2;

    fn multi_pairing(level: Level, pairs: &[(Affine<Self>, Affine<G2>)]) -> Gt<Self> {
        compute(level, pairs)
    }
}

type Fq12<A> = Dodecic<FqParams, A>;

/// The bits of -x below the top one, least significant first: only five are 1, fewer than any signed form has.
static DIGITS: [i8; 63] = {
    let mut digits = [0; 63];
    let mut i = 0;
    while i < 63 {
        digits[i] = (MINUS_X >> i & 1) as i8;
        i += 1;
    }
    digits
};

impl Ate for G1 {
    fn digits() -> &'static [i8] {
        &DIGITS
    }

    fn constants() -> &'static Constants<Fq> {
        static CONSTANTS: LazyLock<Constants<Fq>> = LazyLock::new(|| Constants::new(G2::B));
        &CONSTANTS
    }

    /// Times 4 (1 + u).
    #[inline(always)]
    fn mul_by_b<A: Algebra>(_: &Constants<A>, x: Quadratic<A>) -> Quadratic<A> {
        Quadratic::new(x.c0 - x.c1, x.c0 + x.c1).double().double()
    }

    #[inline(always)]
    fn mul_by_line<A: Algebra>(f: Fq12<A>, [at_y, at_x, constant]: [Quadratic<A>; 3]) -> Fq12<A> {
        f.mul_by_line_m([constant, at_x, at_y])
    }

    #[inline(always)]
    fn finish<A: Algebra>(_: &Constants<A>, _: &mut [Walk<A>], f: Fq12<A>) -> Fq12<A> {
        f.conjugate()
    }

    #[inline(always)]
    fn hard_part<A: Algebra>(constants: &Constants<A>, f: Fq12<A>) -> Fq12<A> {
        let [g1, g2, _] = constants.gammas;
        let t = power_of_x_less_one(power_of_x_less_one(f));
        let t = power_of_x(t) * t.frobenius(1, g1);
        let t = power_of_x(power_of_x(t)) * t.frobenius(2, g2) * t.conjugate();
        t * f.cyclotomic_square() * f
    }
}

#[inline(always)]
fn power_of_x_less_one<A: Algebra>(f: Fq12<A>) -> Fq12<A> {
    power_of_x(f) * f.conjugate()
}

/// `f^x` in the cyclotomic subgroup, where the conjugate is the inverse.
#[inline(never)]
fn power_of_x<A: Algebra>(f: Fq12<A>) -> Fq12<A> {
    A::outlined(
        #[inline(always)]
        || {
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
