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

    /// `a + b` for canonical operands, up to a multiple of p: below 2p. Only for `2p < 2^(64 LEN)`.
    #[inline(always)]
    fn add_lazily<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.wrapping_add(b)
    }

    /// `a - b` for canonical operands, up to a multiple of p: below 2p. Only for `2p < 2^(64 LEN)`.
    #[inline(always)]
    fn sub_lazily<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.wrapping_sub(b).wrapping_add(&P::MODULUS)
    }

    /// `a * b / 2^(64 LEN) mod p` for canonical operands. One of them may be below 2p if `4p < 2^(64 LEN)`.
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs;

    /// `a^2 / 2^(64 LEN) mod p` for a canonical operand.
    #[inline(always)]
    fn square_mont<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        self.mul_mont::<P>(a, a)
    }

    /// `a^2 / 2^(64 LEN)` up to a multiple of p, for an operand that is canonical or a result of this method. Results are below 2p.
    #[inline(always)]
    fn square_lazily<P: Prime>(self, a: &P::Limbs) -> P::Limbs {
        self.square_mont::<P>(a)
    }

    /// Whether a product in the quadratic extension is fastest as two sums of products with one reduction each, so that towers
    /// need not save products by more sums.
    const SUMS_OF_PRODUCTS: bool = true;

    /// The sum of `a b + c d` over the pairs `[[a, b], [c, d]]`, divided by `2^(64 LEN)`, mod p, for operands that are canonical or
    /// p itself.
    ///
    /// # Panics
    /// Unless there are at most four pairs and 9p (with four limbs, 5p) fits the limbs.
    fn sum_of_products<P: Prime, const K: usize>(self, pairs: &[[[&P::Limbs; 2]; 2]; K]) -> P::Limbs;

    /// The sum of `(a_0 + a_1 i)(b_0 + b_1 i)` over the factors, with `i^2 = -1`, divided by `2^(64 LEN)`, mod p, for canonical
    /// operands.
    ///
    /// # Panics
    /// As [`sum_of_products`](Self::sum_of_products).
    #[inline(always)]
    fn sum_of_quadratics<P: Prime, const K: usize>(self, factors: [[&[P::Limbs; 2]; 2]; K]) -> [P::Limbs; 2] {
        let mut opposites = [P::Limbs::ZERO; K];
        for (opposite, [_, b]) in opposites.iter_mut().zip(&factors) {
            *opposite = P::MODULUS.wrapping_sub(&b[1]);
        }
        let mut sums = [[[[&opposites[0]; 2]; 2]; K]; 2];
        for k in 0..K {
            let [[a0, a1], [b0, b1]] = factors[k];
            sums[0][k] = [[a0, b0], [a1, &opposites[k]]];
            sums[1][k] = [[a0, b1], [a1, b0]];
        }
        [self.sum_of_products::<P, K>(&sums[0]), self.sum_of_products::<P, K>(&sums[1])]
    }
}

impl Backend for Portable {
    #[inline(always)]
    fn mul_mont<P: Prime>(self, a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.mul_mont_portable(b, &P::MODULUS, P::INV)
    }

    #[inline(always)]
    fn sum_of_products<P: Prime, const K: usize>(self, pairs: &[[[&P::Limbs; 2]; 2]; K]) -> P::Limbs {
        Limbs::sum_of_products_portable(pairs, &P::MODULUS, P::INV)
    }
}
