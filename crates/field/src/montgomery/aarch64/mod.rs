//! AArch64 kernels.

#[macro_use]
mod chains;
pub(super) mod umulh;
mod wide;

use super::{Backend, Prime};
use chains::Constants;
use proofmill_cpu::Neon;
use umulh::Chains;

impl<P: Prime> Constants<P::Limbs> for P {
    const P: P::Limbs = P::MODULUS;
    const NEGATED_INVERSE: u64 = P::INV;
}

/// MUL and UMULH are part of every AArch64 CPU, like NEON.
impl Backend for Neon {
    #[inline(always)]
    fn add_mod<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::add::<P>(a, b)
    }

    #[inline(always)]
    fn sub_mod<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::sub::<P>(a, b)
    }

    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::mul::<P>(a, b)
    }

    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        P::Limbs::square::<P>(a)
    }

    #[inline(always)]
    fn mul_quadratic<P: Prime>(self, a: &[P::Limbs; 2], b: &[P::Limbs; 2]) -> [P::Limbs; 2] {
        P::Limbs::mul_quadratic::<P>(a, b)
    }
}
