//! Eight elements in AVX-512 lanes, multiplied by IFMA's 52-bit multiplier.
//!
//! Representation: limb i of all eight elements is one vector, radix 2^52, L = 5 limbs for four 64-bit words
//! and 8 for six. Limbs are normalised (below 2^52, held in 64-bit lanes). Montgomery form with R = 2^(52 L),
//! so the spare bits s = log2(R / p) (6.4 on BN254, 5.1 on BLS12-381 Fr, 35 on its Fq) absorb unreduced values.
//!
//! Bounds, in multiples of p. *Reduced* means below 1.7. A product of operands below A and B is below
//! `1 + A B / 2^s`, hence reduced as long as A B <= 0.7 * 2^s (59 on BN254). `add_lazy` adds bounds,
//! `sub_lazy` adds 2 (its right operand must be reduced): sums of two differences, 7.4 * 7.4 < 59, may be
//! multiplied on BN254 and BLS12-381 Fq; on BLS12-381 Fr (0.7 * 2^s = 24) single differences may. `+` and `-` reduce: the quotient by p is estimated from the top limb, in units of
//! 2^(BITS - 1) < 0.7 p, and the multiple to subtract is looked up in a table of eight, which leaves less
//! than one p plus one unit.
//!
//! Method: product scanning, then word-by-word Montgomery reduction (Gueron, Krasnov, "Accelerating big
//! integer arithmetic using Intel IFMA extensions", ARITH 2016; Koc, Acar, Kaliski 1996 for the reduction): 4 L^2 multiply-adds.

use crate::{
    Algebra, Fp,
    limbs::Limbs,
    packed::{LANES, Packed, Vector},
    prime::Prime,
};
use proofmill_simd::Avx512Ifma;
use std::{
    arch::x86_64::*,
    marker::PhantomData,
    ops::{Add, Mul, Neg, Sub},
};

/// Vectors of limbs: `[__m512i; 5]` or `[__m512i; 8]`.
pub trait LaneLimbs: Copy + Send + Sync + AsRef<[__m512i]> + AsMut<[__m512i]> + 'static {
    /// How many limbs of 52 bits.
    const LEN: usize;
    /// All zero.
    const ZERO: Self;
}

impl LaneLimbs for [__m512i; 5] {
    const LEN: usize = 5;
    // SAFETY: all-zero bits are a vector.
    const ZERO: Self = unsafe { std::mem::zeroed() };
}

impl LaneLimbs for [__m512i; 8] {
    const LEN: usize = 8;
    // SAFETY: all-zero bits are a vector.
    const ZERO: Self = unsafe { std::mem::zeroed() };
}

/// Most limbs that any field has.
const MAX: usize = 8;
const MASK: u64 = (1 << 52) - 1;

/// Constants of the field `P` in radix 2^52.
struct Radix52<P>(PhantomData<P>);

impl<P: Prime> Radix52<P> {
    const L: usize = <P::Limbs as Limbs>::Lanes52::LEN;
    const P1: [u64; MAX] = split(&words::<P>(&P::MODULUS));
    const P2: [u64; MAX] = multiple(&Self::P1, 2);
    const P4: [u64; MAX] = multiple(&Self::P1, 4);
    /// `-p^-1 mod 2^52`.
    const INV: u64 = P::INV & MASK;
    /// `2^(52 L) mod p`: one.
    const ONE: [u64; MAX] = split(&power_of_two::<P>(52 * Self::L as u32));
    /// Multiplying by this takes 64-bit Montgomery form to this one.
    const ENTER: [u64; MAX] = split(&power_of_two::<P>(2 * 52 * Self::L as u32 - 64 * P::Limbs::LEN as u32));
    /// Multiplying by this takes this Montgomery form to the 64-bit one.
    const LEAVE: [u64; MAX] = split(&power_of_two::<P>(64 * P::Limbs::LEN as u32));
    /// Where the top limb's quotient digit begins: units of `2^(BITS - 1)`.
    const QUOTIENT_SHIFT: u32 = P::BITS - 1 - 52 * (Self::L as u32 - 1);
    /// Whether the table below reaches 5.25 p, so that a product of reduced values less two reduced values (below
    /// 1.1 + 4, after adding 4 p) is reduced at once.
    const WIDE: bool = multiple(&Self::P1, 21)[Self::L - 1] < 4 << (Self::QUOTIENT_SHIFT + 3);
    /// Limb by limb, `floor(i 2^(BITS - 1) / p) p` for i in 0..8.
    const MULTIPLES: [[u64; 8]; MAX] = {
        let mut table = [[0; 8]; MAX];
        let mut i = 0;
        while i < 8 {
            // Two units of the top limb are left for the borrow that the lower limbs may still hold (what they
            // may still carry, 2^6, only adds as much to the bound).
            let mut k = 0;
            while multiple(&Self::P1, k + 1)[Self::L - 1] + 2 <= (i as u64) << Self::QUOTIENT_SHIFT {
                k += 1;
            }
            let product = multiple(&Self::P1, k);
            let mut limb = 0;
            while limb < Self::L {
                table[limb][i] = product[limb];
                limb += 1;
            }
            i += 1;
        }
        table
    };
}

const fn words<P: Prime>(limbs: &P::Limbs) -> [u64; MAX] {
    let mut words = [0; MAX];
    let mut i = 0;
    while i < P::Limbs::LEN {
        // SAFETY: `Limbs` is sealed to `[u64; LEN]`.
        words[i] = unsafe { *std::ptr::from_ref(limbs).cast::<u64>().add(i) };
        i += 1;
    }
    words
}

/// 64-bit words to 52-bit limbs.
const fn split(words: &[u64; MAX]) -> [u64; MAX] {
    let mut limbs = [0; MAX];
    let mut i = 0;
    while i < MAX {
        let (word, bit) = (52 * i / 64, 52 * i % 64);
        let mut limb = words[word] >> bit;
        if bit > 12 && word + 1 < MAX {
            limb |= words[word + 1] << (64 - bit);
        }
        limbs[i] = limb & MASK;
        i += 1;
    }
    limbs
}

const fn multiple(limbs: &[u64; MAX], factor: u64) -> [u64; MAX] {
    let mut product = [0; MAX];
    let mut carry = 0;
    let mut i = 0;
    while i < MAX {
        let sum = limbs[i] * factor + carry;
        product[i] = sum & MASK;
        carry = sum >> 52;
        i += 1;
    }
    product
}

/// `2^exponent mod p` in 64-bit words.
const fn power_of_two<P: Prime>(exponent: u32) -> [u64; MAX] {
    let p = words::<P>(&P::MODULUS);
    let mut value = [0; MAX];
    value[0] = 1;
    let mut i = 0;
    while i < exponent {
        let mut doubled = [0; MAX];
        let mut reduced = [0; MAX];
        let mut borrow = false;
        let mut j = 0;
        while j < MAX {
            doubled[j] = value[j] << 1 | if j > 0 { value[j - 1] >> 63 } else { 0 };
            (reduced[j], borrow) = crate::limbs::sbb(doubled[j], p[j], borrow);
            j += 1;
        }
        value = if borrow { doubled } else { reduced };
        i += 1;
    }
    value
}

/// [`LANES`] elements of `P` in vectors; see the module's head for bounds.
#[derive(Clone, Copy)]
pub struct IfmaLanes<P: Prime>(<P::Limbs as Limbs>::Lanes52);

// Every function below is to be reached from `Avx512Ifma::vectorize` alone. `Engine` names this type for that token
// only, but its loads take no token: code that names the type without holding one stops with an invalid-opcode
// exception on a CPU without AVX-512.
macro_rules! simd {
    ($($body:tt)*) => {
        // SAFETY: as said above: generic code gets this type from `Engine for Avx512Ifma`, with its token.
        unsafe { $($body)* }
    };
}

#[inline(always)]
fn splat(value: u64) -> __m512i {
    simd!(_mm512_set1_epi64(value as i64))
}

impl<P: Prime> IfmaLanes<P> {
    const L: usize = Radix52::<P>::L;

    #[inline(always)]
    fn constant(limbs: &[u64; MAX]) -> Self {
        let mut lanes = <P::Limbs as Limbs>::Lanes52::ZERO;
        for (lane, limb) in lanes.as_mut().iter_mut().zip(limbs) {
            *lane = splat(*limb);
        }
        Self(lanes)
    }

    /// Carries signed limbs upwards; the value must not be negative.
    #[inline(always)]
    fn normalize(mut self) -> Self {
        let limbs = self.0.as_mut();
        for i in 0..Self::L - 1 {
            simd! {
                let carry = _mm512_srai_epi64(limbs[i], 52);
                limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], carry);
                limbs[i] = _mm512_and_si512(limbs[i], splat(MASK));
            }
        }
        self
    }

    /// Limb-wise sum, not normalised.
    #[inline(always)]
    fn plus(mut self, rhs: &Self) -> Self {
        for (a, b) in self.0.as_mut().iter_mut().zip(rhs.0.as_ref()) {
            *a = simd!(_mm512_add_epi64(*a, *b));
        }
        self
    }

    /// Limb-wise difference, not normalised.
    #[inline(always)]
    fn minus(mut self, rhs: &Self) -> Self {
        for (a, b) in self.0.as_mut().iter_mut().zip(rhs.0.as_ref()) {
            *a = simd!(_mm512_sub_epi64(*a, *b));
        }
        self
    }

    /// `chosen` in the lanes whose bit is set, `self` elsewhere.
    #[inline(always)]
    fn blend(mut self, mask: u8, chosen: &Self) -> Self {
        for (a, b) in self.0.as_mut().iter_mut().zip(chosen.0.as_ref()) {
            *a = simd!(_mm512_mask_blend_epi64(mask, *a, *b));
        }
        self
    }

    /// Reduces a value of signed limbs in `[0, 4p)`.
    #[inline(always)]
    fn reduce(mut self) -> Self {
        let limbs = self.0.as_mut();
        simd! {
            let quotient = _mm512_srl_epi64(limbs[Self::L - 1], _mm_cvtsi64_si128(Radix52::<P>::QUOTIENT_SHIFT.into()));
            for (limb, multiples) in limbs.iter_mut().zip(&Radix52::<P>::MULTIPLES) {
                let table = _mm512_loadu_epi64(multiples.as_ptr().cast());
                *limb = _mm512_sub_epi64(*limb, _mm512_permutexvar_epi64(quotient, table));
            }
        }
        self.normalize()
    }

    /// `K` independent products, interleaved so that their latencies overlap; not normalised.
    #[inline(always)]
    fn mul_interleaved<const K: usize>(a: &[Self; K], b: &[Self; K]) -> [Self; K] {
        simd! {
            let mut columns = [[_mm512_setzero_si512(); K]; 2 * MAX];
            for i in 0..Self::L {
                for j in 0..Self::L {
                    for k in 0..K {
                        let (x, y) = (a[k].0.as_ref()[j], b[k].0.as_ref()[i]);
                        columns[i + j][k] = _mm512_madd52lo_epu64(columns[i + j][k], x, y);
                        columns[i + j + 1][k] = _mm512_madd52hi_epu64(columns[i + j + 1][k], x, y);
                    }
                }
            }
            Self::reduce_columns(columns)
        }
    }

    /// `K` independent squares, interleaved: each cross product once, on doubled limbs; not normalised.
    #[inline(always)]
    fn square_interleaved<const K: usize>(a: &[Self; K]) -> [Self; K] {
        simd! {
            let mut columns = [[_mm512_setzero_si512(); K]; 2 * MAX];
            for i in 0..Self::L {
                for j in i + 1..Self::L {
                    for k in 0..K {
                        let (x, y) = (a[k].0.as_ref()[i], a[k].0.as_ref()[j]);
                        columns[i + j][k] = _mm512_madd52lo_epu64(columns[i + j][k], x, y);
                        columns[i + j + 1][k] = _mm512_madd52hi_epu64(columns[i + j + 1][k], x, y);
                    }
                }
            }
            for column in &mut columns[1..2 * Self::L] {
                for sum in column {
                    *sum = _mm512_add_epi64(*sum, *sum);
                }
            }
            for i in 0..Self::L {
                for k in 0..K {
                    let x = a[k].0.as_ref()[i];
                    columns[2 * i][k] = _mm512_madd52lo_epu64(columns[2 * i][k], x, x);
                    columns[2 * i + 1][k] = _mm512_madd52hi_epu64(columns[2 * i + 1][k], x, x);
                }
            }
            Self::reduce_columns(columns)
        }
    }

    /// Montgomery reduction of products given by columns of weight 2^(52 i), each below 2^58; limbs as large come out.
    #[inline(always)]
    fn reduce_columns<const K: usize>(mut columns: [[__m512i; K]; 2 * MAX]) -> [Self; K] {
        simd! {
            let inv = splat(Radix52::<P>::INV);
            for i in 0..Self::L {
                let mut m = [_mm512_setzero_si512(); K];
                for (m, column) in m.iter_mut().zip(&columns[i]) {
                    *m = _mm512_madd52lo_epu64(*m, *column, inv);
                }
                for j in 0..Self::L {
                    let p = splat(Radix52::<P>::P1[j]);
                    for k in 0..K {
                        if j > 0 {
                            columns[i + j][k] = _mm512_madd52lo_epu64(columns[i + j][k], m[k], p);
                        }
                        columns[i + j + 1][k] = _mm512_madd52hi_epu64(columns[i + j + 1][k], m[k], p);
                    }
                }
                // The low half of m p[0] only fills the column to the next multiple of 2^52.
                let (low, high) = columns.split_at_mut(i + 1);
                for (done, next) in low[i].iter().zip(&mut high[0]) {
                    let carry = _mm512_srli_epi64(_mm512_add_epi64(*done, splat(MASK)), 52);
                    *next = _mm512_add_epi64(*next, carry);
                }
            }
            let mut products = [Self(<P::Limbs as Limbs>::Lanes52::ZERO); K];
            for (k, product) in products.iter_mut().enumerate() {
                for (limb, column) in product.0.as_mut().iter_mut().zip(&columns[Self::L..]) {
                    *limb = column[k];
                }
            }
            products
        }
    }

    /// 52-bit limbs of eight elements whose 64-bit words are given word by word.
    #[inline(always)]
    fn from_words(words: &[__m512i]) -> Self {
        let mut lanes = <P::Limbs as Limbs>::Lanes52::ZERO;
        for (i, limb) in lanes.as_mut().iter_mut().enumerate() {
            let (word, bit) = (52 * i / 64, 52 * i as u64 % 64);
            *limb = simd! {
                match words.get(word + 1) {
                    Some(next) if bit > 12 => _mm512_shrdv_epi64(words[word], *next, splat(bit)),
                    _ => _mm512_srlv_epi64(words[word], splat(bit)),
                }
            };
            if i + 1 < Self::L {
                *limb = simd!(_mm512_and_si512(*limb, splat(MASK)));
            }
        }
        Self(lanes)
    }

    /// 64-bit words of the eight elements, word by word; the values must be below 2^(64 N).
    #[inline(always)]
    fn to_words(self, words: &mut [__m512i]) {
        let limbs = self.0.as_ref();
        for (i, word) in words.iter_mut().enumerate() {
            let (limb, bit) = (64 * i / 52, 64 * i as u64 % 52);
            simd! {
                // The lower limb's bits at the top of their word, the next limb's above them.
                let low = _mm512_slli_epi64::<12>(limbs[limb]);
                *word = _mm512_shrdv_epi64(low, limbs[limb + 1], splat(12 + bit));
                if 104 - bit < 64 {
                    let top = _mm512_sllv_epi64(limbs[limb + 2], splat(104 - bit));
                    *word = _mm512_or_si512(*word, top);
                }
            }
        }
    }

    /// The canonical representative of a reduced value.
    #[inline(always)]
    fn canonical(self) -> Self {
        let reduced = self.minus(&Self::constant(&Radix52::<P>::P1)).normalize();
        let negative = simd!(_mm512_movepi64_mask(reduced.0.as_ref()[Self::L - 1]));
        reduced.blend(negative, &self)
    }
}

/// Which first and which second words are odd, bit i for pair i.
#[inline(always)]
pub(crate) fn odd_words(_: Avx512Ifma, pairs: &[[u32; 2]]) -> [u8; 2] {
    let pairs: &[[u32; 2]; LANES] = &pairs.as_chunks().0[0];
    simd! {
        let odd = _mm512_test_epi32_mask(_mm512_loadu_epi32(pairs.as_ptr().cast()), _mm512_set1_epi32(1));
        [_pext_u32(odd.into(), 0x5555) as u8, _pext_u32(odd.into(), 0xaaaa) as u8]
    }
}

/// Rows of eight words to columns and back.
#[inline(always)]
fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    simd! {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        let pairs = [
            _mm512_unpacklo_epi64(r0, r1), _mm512_unpackhi_epi64(r0, r1),
            _mm512_unpacklo_epi64(r2, r3), _mm512_unpackhi_epi64(r2, r3),
            _mm512_unpacklo_epi64(r4, r5), _mm512_unpackhi_epi64(r4, r5),
            _mm512_unpacklo_epi64(r6, r7), _mm512_unpackhi_epi64(r6, r7),
        ];
        let mut columns = [_mm512_setzero_si512(); 8];
        for odd in 0..2 {
            let [a, b, c, d] = [pairs[odd], pairs[2 + odd], pairs[4 + odd], pairs[6 + odd]];
            let ab_low = _mm512_shuffle_i64x2::<0x88>(a, b);
            let ab_high = _mm512_shuffle_i64x2::<0xdd>(a, b);
            let cd_low = _mm512_shuffle_i64x2::<0x88>(c, d);
            let cd_high = _mm512_shuffle_i64x2::<0xdd>(c, d);
            columns[odd] = _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low);
            columns[4 + odd] = _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low);
            columns[2 + odd] = _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high);
            columns[6 + odd] = _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high);
        }
        columns
    }
}

/// Transposes the 4 x 4 words in each half of four vectors.
#[inline(always)]
fn transpose_halves([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    simd! {
        let [ab_even, ab_odd] = [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)];
        let [cd_even, cd_odd] = [_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d)];
        let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        [
            _mm512_permutex2var_epi64(ab_even, low, cd_even),
            _mm512_permutex2var_epi64(ab_odd, low, cd_odd),
            _mm512_permutex2var_epi64(ab_even, high, cd_even),
            _mm512_permutex2var_epi64(ab_odd, high, cd_odd),
        ]
    }
}

impl<P: Prime> Add for IfmaLanes<P> {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        self.plus(&rhs).reduce()
    }
}

impl<P: Prime> Sub for IfmaLanes<P> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        self.plus(&Self::constant(&Radix52::<P>::P2)).minus(&rhs).reduce()
    }
}

impl<P: Prime> Neg for IfmaLanes<P> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::zero() - self
    }
}

impl<P: Prime> Mul for IfmaLanes<P> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, rhs: Self) -> Self {
        let [product] = Self::mul_interleaved(&[self], &[rhs]);
        product.normalize()
    }
}

impl<P: Prime> Algebra for IfmaLanes<P> {
    #[inline(always)]
    fn zero() -> Self {
        Self(<P::Limbs as Limbs>::Lanes52::ZERO)
    }

    #[inline(always)]
    fn one() -> Self {
        Self::constant(&Radix52::<P>::ONE)
    }

    #[inline(always)]
    fn square(self) -> Self {
        let [square] = Self::square_interleaved(&[self]);
        square.normalize()
    }

    #[inline(always)]
    fn mul_pair(a: [Self; 2], b: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::mul_interleaved(&a, &b);
        [first.normalize(), second.normalize()]
    }

    #[inline(always)]
    fn mul_sub_pair(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::mul_interleaved(&a, &b);
        [first - c[0], second - c[1]]
    }

    #[inline(always)]
    fn square_pair(a: [Self; 2]) -> [Self; 2] {
        let [first, second] = Self::square_interleaved(&a);
        [first.normalize(), second.normalize()]
    }

    #[inline(always)]
    fn square_sub_two_pair(a: [Self; 2], b: [Self; 2], c: [Self; 2]) -> [Self; 2] {
        let mut squares = Self::square_interleaved(&a);
        for (k, square) in squares.iter_mut().enumerate() {
            *square = if Radix52::<P>::WIDE {
                square.plus(&Self::constant(&Radix52::<P>::P4)).minus(&b[k]).minus(&c[k]).reduce()
            } else {
                *square - b[k] - c[k]
            };
        }
        squares
    }

    #[inline(always)]
    fn add_lazy(self, rhs: Self) -> Self {
        self.plus(&rhs).normalize()
    }

    #[inline(always)]
    fn sub_lazy(self, rhs: Self) -> Self {
        self.plus(&Self::constant(&Radix52::<P>::P2)).minus(&rhs).normalize()
    }
}

impl<P: Prime> Packed<P> for IfmaLanes<P> {
    type Splat = [u64; MAX];

    #[inline(always)]
    fn prepare(element: Fp<P>) -> [u64; MAX] {
        // A scalar product by 2^(52 L) leaves the 64-bit form for this one.
        let factor = const { power_of_two::<P>(52 * Radix52::<P>::L as u32) };
        let mut limbs = P::Limbs::ZERO;
        limbs.as_mut().copy_from_slice(&factor[..P::Limbs::LEN]);
        let entered = element.to_montgomery().mul_mont_portable(&limbs, &P::MODULUS, P::INV);
        split(&words::<P>(&entered))
    }

    #[inline(always)]
    fn splat(element: &[u64; MAX]) -> Self {
        Self::constant(element)
    }

    #[inline(always)]
    fn load(elements: &[Fp<P>; LANES]) -> Self {
        Self::load_bits(Fp::as_limbs(elements)) * Self::constant(&Radix52::<P>::ENTER)
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>; LANES]) {
        let mut limbs = [P::Limbs::ZERO; LANES];
        (self * Self::constant(&Radix52::<P>::LEAVE)).canonical().store_bits(&mut limbs);
        *elements = limbs.map(Fp::from_limbs);
    }

    #[inline(always)]
    fn store_scaled(self, elements: &mut [Fp<P>; LANES]) {
        let mut limbs = [P::Limbs::ZERO; LANES];
        self.canonical().store_bits(&mut limbs);
        *elements = limbs.map(Fp::from_limbs);
    }

    #[inline(always)]
    fn load_bits(elements: &[P::Limbs; LANES]) -> Self {
        let words = elements.as_ptr().cast::<i64>();
        let n = P::Limbs::LEN;
        let mut columns = [simd!(_mm512_setzero_si512()); 8];
        simd! {
            if n == 4 {
                let [a, b, c, d] = [0, 8, 16, 24].map(#[inline(always)] |at| _mm512_loadu_epi64(words.add(at)));
                let low = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
                let high = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
                let [ab01, cd01] = [_mm512_permutex2var_epi64(a, low, b), _mm512_permutex2var_epi64(c, low, d)];
                let [ab23, cd23] = [_mm512_permutex2var_epi64(a, high, b), _mm512_permutex2var_epi64(c, high, d)];
                columns[0] = _mm512_shuffle_i64x2::<0x44>(ab01, cd01);
                columns[1] = _mm512_shuffle_i64x2::<0xee>(ab01, cd01);
                columns[2] = _mm512_shuffle_i64x2::<0x44>(ab23, cd23);
                columns[3] = _mm512_shuffle_i64x2::<0xee>(ab23, cd23);
            } else {
                let lanes = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), splat(n as u64));
                for (i, column) in columns[..n].iter_mut().enumerate() {
                    *column = _mm512_i64gather_epi64::<8>(lanes, words.add(i));
                }
            }
        }
        Self::from_words(&columns[..n])
    }

    #[inline(always)]
    fn store_bits(self, elements: &mut [P::Limbs; LANES]) {
        let words = elements.as_mut_ptr().cast::<i64>();
        let n = P::Limbs::LEN;
        let mut columns = [simd!(_mm512_setzero_si512()); 8];
        self.to_words(&mut columns[..n]);
        simd! {
            if n == 4 {
                let [w0, w1, w2, w3] = [columns[0], columns[1], columns[2], columns[3]];
                let ab01 = _mm512_shuffle_i64x2::<0x44>(w0, w1);
                let cd01 = _mm512_shuffle_i64x2::<0xee>(w0, w1);
                let ab23 = _mm512_shuffle_i64x2::<0x44>(w2, w3);
                let cd23 = _mm512_shuffle_i64x2::<0xee>(w2, w3);
                let low = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
                let high = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
                _mm512_storeu_epi64(words, _mm512_permutex2var_epi64(ab01, low, ab23));
                _mm512_storeu_epi64(words.add(8), _mm512_permutex2var_epi64(ab01, high, ab23));
                _mm512_storeu_epi64(words.add(16), _mm512_permutex2var_epi64(cd01, low, cd23));
                _mm512_storeu_epi64(words.add(24), _mm512_permutex2var_epi64(cd01, high, cd23));
            } else {
                let lanes = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), splat(n as u64));
                for (i, column) in columns[..n].iter().enumerate() {
                    _mm512_i64scatter_epi64::<8>(words.add(i), lanes, *column);
                }
            }
        }
    }
}

impl<P: Prime> Vector<P> for IfmaLanes<P> {
    const WIDTH: usize = LANES;

    #[inline(always)]
    fn broadcast(element: Fp<P>) -> Self {
        Self::splat(&Self::prepare(element))
    }

    #[inline(always)]
    fn load_slice(elements: &[Fp<P>]) -> Self {
        Self::load(&elements.as_chunks().0[0])
    }

    #[inline(always)]
    fn store_slice(self, elements: &mut [Fp<P>]) {
        self.store(&mut elements.as_chunks_mut().0[0]);
    }

    #[inline(always)]
    fn gather<'a>(element: impl Fn(usize) -> &'a P::Limbs) -> Self {
        let n = P::Limbs::LEN;
        let mut words = [simd!(_mm512_setzero_si512()); 8];
        if n == 4 {
            // Lanes i and i + 4 in one vector.
            let mut halves = [simd!(_mm512_setzero_si512()); 4];
            for (i, half) in halves.iter_mut().enumerate() {
                let [low, high] = [element(i), element(i + 4)];
                *half = simd! {
                    let low = _mm256_loadu_si256(std::ptr::from_ref(low).cast());
                    let high = _mm256_loadu_si256(std::ptr::from_ref(high).cast());
                    _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(low), 0xf0, high)
                };
            }
            words[..4].copy_from_slice(&transpose_halves(halves));
        } else {
            for (lane, row) in words.iter_mut().enumerate() {
                let words = std::ptr::from_ref(element(lane)).cast();
                *row = simd!(_mm512_maskz_loadu_epi64(row_mask(n), words));
            }
            words = transpose(words);
        }
        Self::from_words(&words[..n])
    }

    #[inline(always)]
    fn scatter<R: AsMut<[P::Limbs]>>(self, rows: &mut [R], index: usize) {
        let n = P::Limbs::LEN;
        let mut words = [simd!(_mm512_setzero_si512()); 8];
        self.to_words(&mut words[..n]);
        if n == 4 {
            let [w0, w1, w2, w3, ..] = words;
            let halves = transpose_halves([w0, w1, w2, w3]);
            for (i, half) in halves.into_iter().enumerate() {
                simd! {
                    let low = std::ptr::from_mut(&mut rows[i].as_mut()[index]);
                    _mm256_storeu_si256(low.cast(), _mm512_castsi512_si256(half));
                    let high = std::ptr::from_mut(&mut rows[i + 4].as_mut()[index]);
                    _mm256_storeu_si256(high.cast(), _mm512_extracti64x4_epi64::<1>(half));
                }
            }
        } else {
            for (row, vector) in rows.iter_mut().zip(transpose(words)) {
                let words = std::ptr::from_mut(&mut row.as_mut()[index]).cast();
                simd!(_mm512_mask_storeu_epi64(words, row_mask(n), vector));
            }
        }
    }

    #[inline(always)]
    fn negate_lanes(mask: u8, mut value: Self) -> Self {
        for (limb, p2) in value.0.as_mut().iter_mut().zip(&Radix52::<P>::P2) {
            *limb = simd!(_mm512_mask_sub_epi64(*limb, mask, splat(*p2), *limb));
        }
        value
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        // Zero has few representatives below 6p; most values differ from all of them in the lowest limb.
        let limbs = self.0.as_ref();
        let table = const { &multiples::<P>() };
        let mut candidates = 0;
        for wanted in table {
            candidates |= simd!(_mm512_cmpeq_epi64_mask(limbs[0], splat(wanted[0])));
        }
        let mut zeros = 0;
        if candidates != 0 {
            for wanted in table {
                let mut equal = candidates;
                for (limb, wanted) in limbs.iter().zip(wanted) {
                    equal = simd!(_mm512_mask_cmpeq_epi64_mask(equal, *limb, splat(*wanted)));
                }
                zeros |= equal;
            }
        }
        zeros
    }

    #[inline(always)]
    fn odd_lanes(self) -> u8 {
        // A product with the integer 1 takes the Montgomery factor away.
        let integer = (self * Self::constant(&[1, 0, 0, 0, 0, 0, 0, 0])).canonical();
        simd!(_mm512_test_epi64_mask(integer.0.as_ref()[0], splat(1)))
    }

    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        other.blend(mask, &chosen)
    }
}

const fn multiples<P: Prime>() -> [[u64; MAX]; 6] {
    let mut table = [[0; MAX]; 6];
    let mut i = 0;
    while i < 6 {
        table[i] = multiple(&Radix52::<P>::P1, i as u64);
        i += 1;
    }
    table
}

/// The first `words` lanes, at most eight.
#[inline(always)]
fn row_mask(words: usize) -> u8 {
    (if words >= 8 { 0xff } else { (1u32 << words) - 1 }) as u8
}
