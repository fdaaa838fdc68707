//! Rows of one AVX-512 vector, eight products at a time with IFMA's 52-bit multiplier.
//!
//! Representation: limb i, radix 2^52, in lane i; L = 6 limbs for four 64-bit words and 8 for six, Montgomery form with
//! R = 2^(52 L). Limbs are signed and no carries are propagated between products: sums, differences and doubles are one
//! vector operation. Products transpose eight rows to columns, multiply as [`radix52`](super::radix52) does for lanes, and
//! transpose back.
//!
//! Bounds. A *term* has limbs of at most 2^52 + 2^13 and a value of at most 2p, either sign. Products, loaded elements and
//! results of `reduced` are terms; a sum or difference of up to 1000 of them has limbs
//! below 2^62 and a value between -K p and K p with K = 2^11. Before a product, K p is added, which makes the value lie in
//! [0, 2^12 p), and limbs are carried upwards. A product of two such values is below `(1 + 2^24 p / R) p`, which is below
//! 1.01 p: R / p is 2^35 for BLS12-381's Fq and 2^57 or more for the fields of four words. (BN254 on 5 limbs would leave
//! 2^6.) Its limbs leave the columns below 2^58 and are carried once, each to the next: below 2^52 + 2^6.

use super::{
    lane_limbs::{LaneLimbs, MAX},
    radix52::{
        MASK, Radix52, limbs_of_multiple, multiple, multiply, power_of_two, scaled, simd, splat, transpose,
    },
    single::{SingleRow, canonical},
};
use crate::montgomery::{Limbs, Prime};
use proofmill_cpu::Avx512Ifma;
use std::{arch::x86_64::*, marker::PhantomData};

/// The limbs in columns for products.
type Columns<P> = <<P as Prime>::Limbs as Limbs>::Single52;

/// Constants on the same number of limbs.
type Constants<P> = Radix52<P, Columns<P>>;

/// A row: limb i in lane i.
pub(in crate::montgomery) type Row52 = __m512i;

struct Bounds<P>(PhantomData<P>);

impl<P: Prime> Bounds<P> {
    const L: usize = Constants::<P>::L;
    /// `K p`.
    const OFFSET: [u64; MAX] = {
        assert!(52 * Self::L as u32 >= P::BITS + 31, "2^24 p / R is below 1/100");
        multiple(&Constants::<P>::P1, 1 << 11)
    };
    /// All bits except those that a limb carries to the next; the top limb carries nothing.
    const KEEP: [u64; MAX] = {
        let mut keep = [MASK; MAX];
        keep[Self::L - 1] = u64::MAX;
        keep
    };
    /// The limbs that carry.
    const CARRYING: u8 = (1 << (Self::L - 1)) - 1;
    /// Quotients by p are estimated in units of 2^TOP: p has 17 bits of them.
    const TOP: u32 = P::BITS - 17;
    const TOP_LIMB: usize = (Self::TOP / 52) as usize;
    const TOP_BIT: u32 = Self::TOP % 52;
    /// `2^46 / (p / 2^TOP + 1)`.
    const RECIPROCAL: u64 = {
        let p = &Constants::<P>::P1;
        let mut top = p[Self::TOP_LIMB] >> Self::TOP_BIT;
        if Self::TOP_LIMB + 1 < Self::L {
            top |= p[Self::TOP_LIMB + 1] << (52 - Self::TOP_BIT);
        }
        (1 << 46) / (top + 1)
    };
    /// A scalar Montgomery product with this converts the 64-bit form to this one.
    const ENTER: [u64; MAX] = power_of_two::<P>(52 * Self::L as u32);
    /// A scalar Montgomery product with this converts this form to the 64-bit one.
    const LEAVE: [u64; MAX] = power_of_two::<P>(2 * 64 * P::Limbs::LEN as u32 - 52 * Self::L as u32);
}

/// The array by value: LLVM up to 22 can lower the alignment of a vector on the stack to that of an array which an unaligned load
/// copies to it (llvm/llvm-project 208092), and aligned stores to it fault.
#[inline(always)]
fn vector(_: Avx512Ifma, limbs: &[u64; MAX]) -> __m512i {
    // SAFETY: both are eight words, and any words are a vector.
    unsafe { std::mem::transmute::<[u64; MAX], __m512i>(*limbs) }
}

/// Moves every limb one lane up.
#[inline(always)]
fn up(token: Avx512Ifma, limbs: __m512i) -> __m512i {
    simd!(token; _mm512_maskz_alignr_epi64::<7>(0xfe, limbs, limbs))
}

/// Transposes rows to columns, adds `K p` and carries: the factors of a product.
#[inline(always)]
fn enter<P: Prime>(token: Avx512Ifma, rows: &[__m512i; 8]) -> Columns<P> {
    let columns = transpose(token, *rows);
    let mut factor = Columns::<P>::ZERO;
    let mut carry = simd!(token; _mm512_setzero_si512());
    for (i, limb) in factor.as_mut().iter_mut().enumerate() {
        simd! { token;
            let sum = _mm512_add_epi64(_mm512_add_epi64(columns[i], splat(token, Bounds::<P>::OFFSET[i])), carry);
            carry = _mm512_srai_epi64::<52>(sum);
            *limb = if i + 1 < Bounds::<P>::L { _mm512_and_si512(sum, splat(token, MASK)) } else { sum };
        }
    }
    factor
}

/// Transposes the columns of a product to rows; each limb's carry is added to the next.
#[inline(always)]
fn leave<P: Prime>(token: Avx512Ifma, product: Columns<P>) -> [__m512i; 8] {
    let mut columns = [simd!(token; _mm512_setzero_si512()); 8];
    let limbs = product.as_ref();
    for i in 0..Bounds::<P>::L {
        simd! { token;
            columns[i] = if i + 1 < Bounds::<P>::L { _mm512_and_si512(limbs[i], splat(token, MASK)) } else { limbs[i] };
            if i > 0 {
                columns[i] = _mm512_add_epi64(columns[i], _mm512_srli_epi64::<52>(limbs[i - 1]));
            }
        }
    }
    transpose(token, columns)
}

/// Multiplies `K` groups of eight rows.
#[inline(always)]
fn multiply_groups<P: Prime, const K: usize>(token: Avx512Ifma, a: &mut [[__m512i; 8]], b: &[[__m512i; 8]]) {
    let (mut x, mut y) = ([Columns::<P>::ZERO; K], [Columns::<P>::ZERO; K]);
    for k in 0..K {
        x[k] = enter::<P>(token, &a[k]);
        y[k] = enter::<P>(token, &b[k]);
    }
    let products = multiply::<P, Columns<P>, K>(token, &x, &y);
    for (rows, product) in a.iter_mut().zip(products) {
        *rows = leave::<P>(token, product);
    }
}

impl<P: Prime> SingleRow<P> for Row52 {
    type Token = Avx512Ifma;
    const MOST_TERMS: u64 = 1000;
    const GROUP: usize = 8;

    #[inline(always)]
    fn zero(token: Avx512Ifma) -> Self {
        simd!(token; _mm512_setzero_si512())
    }

    #[inline(always)]
    fn one(token: Avx512Ifma) -> Self {
        vector(token, &Constants::<P>::ONE)
    }

    #[inline(always)]
    fn plus(self, token: Avx512Ifma, rhs: Self) -> Self {
        simd!(token; _mm512_add_epi64(self, rhs))
    }

    #[inline(always)]
    fn minus(self, token: Avx512Ifma, rhs: Self) -> Self {
        simd!(token; _mm512_sub_epi64(self, rhs))
    }

    /// Adds `K p` and subtracts the multiple of p given by the top bits: the rest is below 1.1 p and at least -0.01 p.
    #[inline(always)]
    fn reduced(self, token: Avx512Ifma) -> Self {
        simd! { token;
            let sum = _mm512_add_epi64(self, vector(token, &Bounds::<P>::OFFSET));
            let carry = _mm512_maskz_srai_epi64::<52>(Bounds::<P>::CARRYING, sum);
            let limbs = _mm512_add_epi64(_mm512_and_si512(sum, vector(token, &Bounds::<P>::KEEP)), up(token, carry));
            let index = splat(token, Bounds::<P>::TOP_LIMB as u64);
            let mut top = _mm512_sra_epi64(
                _mm512_permutexvar_epi64(index, limbs),
                _mm_cvtsi64_si128(Bounds::<P>::TOP_BIT.into()),
            );
            if Bounds::<P>::TOP_LIMB + 1 < Bounds::<P>::L {
                let above = _mm512_permutexvar_epi64(splat(token, Bounds::<P>::TOP_LIMB as u64 + 1), limbs);
                let shift = _mm_cvtsi64_si128((52 - Bounds::<P>::TOP_BIT).into());
                top = _mm512_add_epi64(top, _mm512_sll_epi64(above, shift));
            }
            let quotient = _mm512_srli_epi64::<46>(_mm512_mul_epu32(top, splat(token, Bounds::<P>::RECIPROCAL)));
            let p = vector(token, &Constants::<P>::P1);
            let low = _mm512_madd52lo_epu64(_mm512_setzero_si512(), quotient, p);
            let high = _mm512_madd52hi_epu64(_mm512_setzero_si512(), quotient, p);
            _mm512_sub_epi64(_mm512_sub_epi64(limbs, low), up(token, high))
        }
    }

    #[inline(always)]
    fn multiply(token: Avx512Ifma, a: &mut [Self], b: &[Self]) {
        let (mut a, mut b) = (a.as_chunks_mut::<8>().0, b.as_chunks::<8>().0);
        while let ([_, _, ..], [_, _, ..]) = (&*a, b) {
            let (first, rest) = a.split_at_mut(2);
            multiply_groups::<P, 2>(token, first, &b[..2]);
            (a, b) = (rest, &b[2..]);
        }
        if !a.is_empty() {
            multiply_groups::<P, 1>(token, a, b);
        }
    }

    #[inline(always)]
    fn load(token: Avx512Ifma, element: &P::Limbs) -> Self {
        vector(token, &limbs_of_multiple::<P>(token.adx(), element, &Bounds::<P>::ENTER))
    }

    #[inline(always)]
    fn store(self, token: Avx512Ifma) -> P::Limbs {
        let mut limbs = [0; MAX];
        let reduced = SingleRow::<P>::reduced(self, token);
        simd!(token; _mm512_storeu_epi64(limbs.as_mut_ptr().cast(), reduced));
        scaled::<P>(
            token.adx(),
            &canonical::<P>(limbs.into_iter().take(Bounds::<P>::L), 52),
            &Bounds::<P>::LEAVE,
        )
    }

    #[inline(always)]
    fn select(token: Avx512Ifma, choice: bool, chosen: Self, other: Self) -> Self {
        let mask = u8::from(choice).wrapping_neg();
        simd!(token; _mm512_mask_blend_epi64(mask, other, chosen))
    }
}
