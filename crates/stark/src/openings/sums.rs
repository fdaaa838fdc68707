//! Sums of products with factors that are known in advance, without a reduction or a carry per product.
//!
//! For a word `a = l + 2^32 h` and a factor f, `a f = l f + h f'` with `f' = 2^32 f mod p`. Both factors, f and f', are split into limbs of
//! 22 bits. A product of halves and limbs is below 2^54, two of them are added for each term, and 512 terms stay below 2^64. That is 6
//! products and 6 sums for each coefficient, where a product's planes take 4 products and 18 other instructions.

use proofmill_field::goldilocks::{Goldilocks, GoldilocksLanes, U64s};

/// The number of bits of a limb.
const LIMB: u32 = 22;

/// The largest number of terms of a sum.
pub(super) const MOST_TERMS: usize = 512;

/// The limbs of a factor, then the limbs of its product with 2^32.
pub(super) type Limbs = [u64; 6];

pub(super) fn limbs(factor: Goldilocks) -> Limbs {
    let mut limbs = [0; 6];
    for (limbs, factor) in limbs.chunks_exact_mut(3).zip([factor, factor * Goldilocks::new(1 << 32)]) {
        let word = factor.to_canonical();
        for (limb, shift) in limbs.iter_mut().zip([0, LIMB, 2 * LIMB]) {
            *limb = word >> shift & ((1 << LIMB) - 1);
        }
    }
    limbs
}

/// `parts[0] + 2^22 parts[1] + 2^44 parts[2]`.
#[derive(Clone, Copy)]
pub(super) struct Sum<W>(pub(super) [W; 3]);

impl<W: U64s> Sum<W> {
    #[inline(always)]
    pub(super) fn zero(token: W::Token) -> Self {
        Self([W::splat(token, 0); 3])
    }

    /// Adds the products of words and factors. Words are given as themselves and as their high halves, factors as [`Limbs`].
    #[inline(always)]
    pub(super) fn add(&mut self, [low, high]: [W; 2], limbs: [W; 6]) {
        for i in 0..3 {
            self.0[i] = self.0[i].add_product_of_halves(low, limbs[i]);
        }
        for i in 0..3 {
            self.0[i] = self.0[i].add_product_of_halves(high, limbs[3 + i]);
        }
    }

    #[inline(always)]
    pub(super) fn reduced(self) -> GoldilocksLanes<W> {
        let token = self.0[0].token();
        let [p0, p1, p2] = self.0;
        let first = GoldilocksLanes::new(W::splat(token, 1 << LIMB));
        let second = GoldilocksLanes::new(W::splat(token, 1 << (2 * LIMB)));
        GoldilocksLanes::new(p0) + GoldilocksLanes::new(p1) * first + GoldilocksLanes::new(p2) * second
    }
}
