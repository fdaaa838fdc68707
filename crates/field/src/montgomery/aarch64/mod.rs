//! AArch64 kernels.

#[macro_use]
mod chains;
pub(super) mod umulh;
mod wide;

use super::{Backend, Limbs, Prime};
use chains::Constants;
use proofmill_cpu::{Neon, Portable};
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

    // Canonical sums take fewer instructions than what compilers make of others.
    #[inline(always)]
    fn add_lazily<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        self.add_mod::<P>(a, b)
    }

    #[inline(always)]
    fn sub_lazily<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        self.sub_mod::<P>(a, b)
    }

    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        P::Limbs::mul::<P>(a, b)
    }

    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        P::Limbs::square::<P>(a)
    }

    const SUMS_OF_PRODUCTS: bool = false;

    #[inline(always)]
    fn sum_of_products<P: Prime, const K: usize>(self, pairs: &[[[&P::Limbs; 2]; 2]; K]) -> P::Limbs {
        Portable.sum_of_products::<P, K>(pairs)
    }

    /// One by one, by Karatsuba's method.
    #[inline(always)]
    fn sum_of_quadratics<P: Prime, const K: usize>(self, factors: [[&[P::Limbs; 2]; 2]; K]) -> [P::Limbs; 2] {
        let mut sum = [P::Limbs::ZERO; 2];
        for (k, [a, b]) in factors.into_iter().enumerate() {
            let product = P::Limbs::mul_quadratic::<P>(a, b);
            sum = if k == 0 {
                product
            } else {
                std::array::from_fn(|i| self.add_mod::<P>(&sum[i], &product[i]))
            };
        }
        sum
    }
}
