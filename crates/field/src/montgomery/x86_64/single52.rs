//! One element in one AVX-512 vector; up to eight independent products at a time, with IFMA's 52-bit multiplier.
//!
//! Representation: limb i, radix 2^52, in lane i; L = 6 limbs for four 64-bit words and 8 for six, Montgomery form with
//! R = 2^(52 L). Limbs are signed and no carries are propagated between products: sums, differences and doubles are one
//! vector operation. Products transpose eight rows to columns, multiply as [`radix52`](super::radix52) does for lanes, and
//! transpose back.
//!
//! Bounds. A *term* has limbs of at most 2^52 + 2^13 and a value of at most 2p, either sign. Products, loaded elements and
//! results of `reduced` are terms; a sum or difference of up to [`MOST_TERMS`](crate::MOST_TERMS) = 1000 of them has limbs
//! below 2^62 and a value between -K p and K p with K = 2^11. Before a product, K p is added, which makes the value lie in
//! [0, 2^12 p), and limbs are carried upwards. A product of two such values is below `(1 + 2^24 p / R) p`, which is below
//! 1.01 p: R / p is 2^35 for BLS12-381's Fq and 2^57 or more for the fields of four words. (BN254 on 5 limbs would leave
//! 2^6.) Its limbs leave the columns below 2^58 and are carried once, each to the next: below 2^52 + 2^6.
//!
//! The number of terms in the formulas of towers and pairings is checked by running them over an algebra of counts
//! (crates/field/tests/towers.rs, crates/pairing/src/terms.rs): they stay below 1000.

use super::{
    lane_limbs::{LaneLimbs, MAX},
    radix52::{MASK, Radix52, multiple, multiply, power_of_two, simd, splat, split, transpose, words},
};
use crate::{
    algebra::{Algebra, Lanes, Quadratic, Quadratics, Select},
    montgomery::{Backend, Fp, Limbs, Prime},
};
use proofmill_cpu::{Avx512Ifma, Token};
use std::{
    arch::x86_64::*,
    marker::PhantomData,
    mem::MaybeUninit,
    ops::{Add, Mul, Neg, Sub},
};

/// One element of `P`; see the module's head for bounds.
#[derive(Clone, Copy)]
pub struct Single52<P> {
    limbs: __m512i,
    token: Avx512Ifma,
    field: PhantomData<P>,
}

/// The limbs in columns for products.
type Columns<P> = <<P as Prime>::Limbs as Limbs>::Single52;

/// Constants on the same number of limbs.
type Constants<P> = Radix52<P, Columns<P>>;

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

#[inline(always)]
fn vector(token: Avx512Ifma, limbs: &[u64; MAX]) -> __m512i {
    simd!(token; _mm512_loadu_epi64(limbs.as_ptr().cast()))
}

/// Moves every limb one lane up.
#[inline(always)]
fn up(token: Avx512Ifma, limbs: __m512i) -> __m512i {
    simd!(token; _mm512_maskz_alignr_epi64::<7>(0xfe, limbs, limbs))
}

/// The scalar product with a constant of [`Bounds`]. A function, because formulas load a dozen elements.
#[inline(never)]
fn scaled<P: Prime>(token: Avx512Ifma, element: &P::Limbs, factor: &[u64; MAX]) -> P::Limbs {
    let mut limbs = P::Limbs::ZERO;
    limbs.as_mut().copy_from_slice(&factor[..P::Limbs::LEN]);
    token.adx().mul_mont::<P>(element, &limbs)
}

impl<P: Prime> Single52<P> {
    #[inline(always)]
    fn new(token: Avx512Ifma, limbs: __m512i) -> Self {
        Self { limbs, token, field: PhantomData }
    }
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

/// The capacity of a batch in rows.
const ROWS: usize = 64;

/// Pairs of factors, one per row; products replace the first factors.
struct Batch<P> {
    a: [MaybeUninit<__m512i>; ROWS],
    b: [MaybeUninit<__m512i>; ROWS],
    token: Avx512Ifma,
    field: PhantomData<P>,
}

impl<P: Prime> Batch<P> {
    #[inline(always)]
    fn new(token: Avx512Ifma) -> Self {
        Self { a: [MaybeUninit::uninit(); ROWS], b: [MaybeUninit::uninit(); ROWS], token, field: PhantomData }
    }

    #[inline(always)]
    fn set(&mut self, row: usize, a: Single52<P>, b: Single52<P>) {
        self.a[row].write(a.limbs);
        self.b[row].write(b.limbs);
    }

    /// Row `row`, which must have been [`set`](Self::set).
    #[inline(always)]
    fn get(&self, row: usize) -> Single52<P> {
        // SAFETY: the formulas of this module set every row that they read.
        Single52::new(self.token, unsafe { self.a[row].assume_init() })
    }

    /// Multiplies the first `len` rows, all of which must have been set.
    #[inline(always)]
    fn multiply(&mut self, len: usize) {
        let zero = Single52::zero(self.token);
        for row in len..len.next_multiple_of(8) {
            self.set(row, zero, zero);
        }
        self.multiply_groups(len.div_ceil(8));
    }

    /// Multiplies eight rows at a time; they must have been set.
    #[inline(never)]
    fn multiply_groups(&mut self, groups: usize) {
        <Single52<P> as Algebra>::outlined(
            self.token,
            #[inline(always)]
            || {
                let mut group = 0;
                while group + 2 <= groups {
                    self.multiply_interleaved::<2>(group);
                    group += 2;
                }
                if group < groups {
                    self.multiply_interleaved::<1>(group);
                }
            },
        );
    }

    /// Multiplies `K` groups of rows from this one on.
    #[inline(always)]
    fn multiply_interleaved<const K: usize>(&mut self, group: usize) {
        let (mut a, mut b) = ([Columns::<P>::ZERO; K], [Columns::<P>::ZERO; K]);
        for k in 0..K {
            // SAFETY: the rows were set; they are whole cache lines.
            let [x, y] = unsafe {
                let rows = [
                    self.a.as_chunks::<8>().0[group + k].as_ptr(),
                    self.b.as_chunks::<8>().0[group + k].as_ptr(),
                ];
                [rows[0].cast::<[__m512i; 8]>().read(), rows[1].cast::<[__m512i; 8]>().read()]
            };
            a[k] = enter::<P>(self.token, &x);
            b[k] = enter::<P>(self.token, &y);
        }
        let products = multiply::<P, Columns<P>, K>(self.token, &a, &b);
        let token = self.token;
        for (k, product) in products.iter().enumerate() {
            for (row, product) in
                self.a.as_chunks_mut::<8>().0[group + k].iter_mut().zip(leave::<P>(token, *product))
            {
                row.write(product);
            }
        }
    }
}

impl<P: Prime> Add for Single52<P> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self::new(self.token, simd!(self.token; _mm512_add_epi64(self.limbs, rhs.limbs)))
    }
}

impl<P: Prime> Sub for Single52<P> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self::new(self.token, simd!(self.token; _mm512_sub_epi64(self.limbs, rhs.limbs)))
    }
}

impl<P: Prime> Neg for Single52<P> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::zero(self.token) - self
    }
}

impl<P: Prime> Mul for Single52<P> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        let mut batch = Batch::new(self.token);
        batch.set(0, self, rhs);
        batch.multiply(1);
        batch.get(0)
    }
}

impl<P: Prime> Algebra for Single52<P> {
    type Token = Avx512Ifma;

    #[inline(always)]
    fn token(&self) -> Avx512Ifma {
        self.token
    }

    #[inline(always)]
    fn zero(token: Avx512Ifma) -> Self {
        Self::new(token, simd!(token; _mm512_setzero_si512()))
    }

    #[inline(always)]
    fn one(token: Avx512Ifma) -> Self {
        Self::new(token, vector(token, &Constants::<P>::ONE))
    }

    #[inline(always)]
    fn mul_pair(a: [Self; 2], b: [Self; 2]) -> [Self; 2] {
        let mut batch = Batch::new(a[0].token);
        batch.set(0, a[0], b[0]);
        batch.set(1, a[1], b[1]);
        batch.multiply(2);
        [batch.get(0), batch.get(1)]
    }

    #[inline(always)]
    fn square_pair(a: [Self; 2]) -> [Self; 2] {
        Self::mul_pair(a, a)
    }

    #[inline(always)]
    fn mul_quadratic(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        let [product] = Self::mul_quadratics(a.token(), [[a, b]]);
        product
    }

    #[inline(always)]
    fn mul_quadratics<const N: usize>(
        token: Avx512Ifma,
        factors: [[&Quadratic<Self>; 2]; N],
    ) -> [Quadratic<Self>; N] {
        let (products, [], []) = Self::quadratics(token, factors, [], []);
        products
    }

    /// Products with Karatsuba's three products, squares with `(c0 + c1)(c0 - c1)` and `c0 c1`.
    #[inline(always)]
    fn quadratics<const N: usize, const S: usize, const M: usize>(
        token: Avx512Ifma,
        factors: [[&Quadratic<Self>; 2]; N],
        squares: [&Quadratic<Self>; S],
        multiples: [(&Quadratic<Self>, &Self); M],
    ) -> Quadratics<Self, N, S, M> {
        const { assert!(3 * N + 2 * S + 2 * M <= ROWS) };
        let mut batch = Batch::new(token);
        for (i, [a, b]) in factors.iter().enumerate() {
            batch.set(3 * i, a.c0, b.c0);
            batch.set(3 * i + 1, a.c1, b.c1);
            batch.set(3 * i + 2, a.c0 + a.c1, b.c0 + b.c1);
        }
        for (i, a) in squares.iter().enumerate() {
            batch.set(3 * N + 2 * i, a.c0 + a.c1, a.c0 - a.c1);
            batch.set(3 * N + 2 * i + 1, a.c0, a.c1);
        }
        for (i, (a, factor)) in multiples.iter().enumerate() {
            batch.set(3 * N + 2 * S + 2 * i, a.c0, **factor);
            batch.set(3 * N + 2 * S + 2 * i + 1, a.c1, **factor);
        }
        batch.multiply(3 * N + 2 * S + 2 * M);
        let zero = Quadratic::zero(token);
        let mut results = ([zero; N], [zero; S], [zero; M]);
        for (i, product) in results.0.iter_mut().enumerate() {
            let [v0, v1, cross] = [batch.get(3 * i), batch.get(3 * i + 1), batch.get(3 * i + 2)];
            *product = Quadratic::new(v0 - v1, cross - v0 - v1);
        }
        for (i, square) in results.1.iter_mut().enumerate() {
            let at = 3 * N + 2 * i;
            *square = Quadratic::new(batch.get(at), batch.get(at + 1).double());
        }
        for (i, multiple) in results.2.iter_mut().enumerate() {
            let at = 3 * N + 2 * S + 2 * i;
            *multiple = Quadratic::new(batch.get(at), batch.get(at + 1));
        }
        results
    }

    /// Adds `K p` and subtracts the multiple of p given by the top bits: the rest is below 1.1 p and at least -0.01 p.
    #[inline(always)]
    fn reduced(self) -> Self {
        let token = self.token;
        simd! { token;
            let sum = _mm512_add_epi64(self.limbs, vector(token, &Bounds::<P>::OFFSET));
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
            Self::new(token, _mm512_sub_epi64(_mm512_sub_epi64(limbs, low), up(token, high)))
        }
    }

    #[inline(always)]
    fn outlined<R>(token: Avx512Ifma, formula: impl FnOnce() -> R) -> R {
        token.call(formula)
    }
}

impl<P: Prime> Lanes<Fp<P>> for Single52<P> {
    const WIDTH: usize = 1;

    #[inline(always)]
    fn load(token: Avx512Ifma, elements: &[Fp<P>]) -> Self {
        let entered = scaled::<P>(token, &elements[0].to_montgomery(), &Bounds::<P>::ENTER);
        Self::new(token, vector(token, &split(&words::<P>(&entered))))
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>]) {
        let mut limbs = [0; MAX];
        simd!(self.token; _mm512_storeu_epi64(limbs.as_mut_ptr().cast(), self.reduced().limbs));
        elements[0] = Fp::constant(scaled::<P>(self.token, &canonical::<P>(&limbs), &Bounds::<P>::LEAVE));
    }

    #[inline(always)]
    fn broadcast(token: Avx512Ifma, element: Fp<P>) -> Self {
        Self::load(token, &[element])
    }
}

impl<P: Prime> Select for Single52<P> {
    #[inline(always)]
    fn select(choice: u8, chosen: Self, other: Self) -> Self {
        let token = other.token;
        let mask = (choice & 1).wrapping_neg();
        Self::new(token, simd!(token; _mm512_mask_blend_epi64(mask, other.limbs, chosen.limbs)))
    }
}

/// The canonical 64-bit words of signed limbs of a value in (-p, 1.2 p).
fn canonical<P: Prime>(limbs: &[i64; MAX]) -> P::Limbs {
    let mut words = P::Limbs::ZERO;
    let mut carry = 0;
    for (i, limb) in limbs.iter().enumerate().take(Bounds::<P>::L) {
        let sum = *limb + Constants::<P>::P1[i] as i64 + carry;
        carry = sum >> 52;
        let (limb, word, bit) = (sum as u64 & MASK, 52 * i / 64, 52 * i % 64);
        let above = u128::from(limb) << bit;
        for (word, part) in words.as_mut().iter_mut().skip(word).zip([above as u64, (above >> 64) as u64]) {
            *word |= part;
        }
    }
    debug_assert_eq!(carry, 0, "not negative");
    // Below 2.2 p. No branch, because the value may be secret.
    let once = words.add_mod(&P::Limbs::ZERO, &P::MODULUS);
    once.add_mod(&P::Limbs::ZERO, &P::MODULUS)
}
