//! The instructions of scalar elements.

use super::{Limbs, Prime};
use proofmill_cpu::Portable;
use std::fmt::Debug;

/// The instructions of a scalar element's arithmetic: the second parameter of [`Fp`](crate::Fp), which holds the
/// token.
pub trait Backend: Copy + Debug + PartialEq + Eq + Send + Sync + 'static {
    /// `(a + b) mod p` for canonical operands.
    #[inline(always)]
    fn add_mod<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.add_mod(b, &P::MODULUS)
    }

    /// `(a - b) mod p` for canonical operands.
    #[inline(always)]
    fn sub_mod<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.sub_mod(b, &P::MODULUS)
    }

    /// `a * b / 2^(64 LEN) mod p` for canonical operands.
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs;

    /// `a^2 / 2^(64 LEN) mod p` for a canonical operand.
    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        self.mul_mont::<P>(a, a)
    }

    /// `(a_0 + a_1 i)(b_0 + b_1 i) / 2^(64 LEN) mod p` with `i^2 = -1`, for canonical operands. Only for `P::BITS <= 64 LEN - 2`.
    fn mul_quadratic<P: Prime>(self, a: &[P::Limbs; 2], b: &[P::Limbs; 2]) -> [P::Limbs; 2];
}

/// [`Backend::mul_quadratic`] by two sums of two products: four products but only two reductions and no sums beforehand.
#[inline(always)]
pub(super) fn quadratic_by_sums<P: Prime>(
    backend: impl Backend,
    a: &[P::Limbs; 2],
    b: &[P::Limbs; 2],
    sum: impl Fn(&[P::Limbs; 2], [&P::Limbs; 2]) -> P::Limbs,
) -> [P::Limbs; 2] {
    let opposite = backend.sub_mod::<P>(&P::Limbs::ZERO, &b[1]);
    [sum(a, [&b[0], &opposite]), sum(a, [&b[1], &b[0]])]
}

impl Backend for Portable {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.mul_mont_portable(b, &P::MODULUS, P::INV)
    }

    #[inline(always)]
    fn mul_quadratic<P: Prime>(self, a: &[P::Limbs; 2], b: &[P::Limbs; 2]) -> [P::Limbs; 2] {
        quadratic_by_sums::<P>(
            self,
            a,
            b,
            #[inline(always)]
            |a, b| Limbs::sum_of_products_portable(a, b, &P::MODULUS, P::INV),
        )
    }
}
