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

    /// `(a_0 b_0 + a_1 b_1) / 2^(64 LEN) mod p`; an operand may be p. Only for `P::BITS <= 64 LEN - 2`.
    fn sum_of_products<P: Prime>(self, a: &[P::Limbs; 2], b: [&P::Limbs; 2]) -> P::Limbs;
}

impl Backend for Portable {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.mul_mont_portable(b, &P::MODULUS, P::INV)
    }

    #[inline(always)]
    fn sum_of_products<P: Prime>(self, a: &[P::Limbs; 2], b: [&P::Limbs; 2]) -> P::Limbs {
        Limbs::sum_of_products_portable(a, b, &P::MODULUS, P::INV)
    }
}
