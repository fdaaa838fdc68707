//! Eight elements in AVX-512 lanes, multiplied with IFMA's 52-bit multiplier ([`radix52`]).
//!
//! Representation: limb i of all eight elements is one vector, radix 2^52, L = 5 limbs for four 64-bit words
//! and 8 for six. Limbs are normalised (below 2^52, held in 64-bit lanes). Montgomery form with R = 2^(52 L),
//! so the spare bits s = log2(R / p) (6.4 on BN254, 5.1 on BLS12-381 Fr, 35 on its Fq) absorb unreduced values.
//!
//! Bounds, in multiples of p. *Reduced* means below 1.7 for these fields. A product of operands below A and B is below
//! `1 + 2^-51 + A B / 2^s`, hence reduced as long as A B <= 0.7 * 2^s (59 on BN254), one by a constant ([`Scale`]) below `1 + 2^-49` for any
//! value of normalised limbs. `add_lazy` adds bounds,
//! `sub_lazy` adds 2 (its right operand must be reduced): sums of two differences, 7.4 * 7.4 < 59, may be
//! multiplied on BN254 and BLS12-381 Fq; on BLS12-381 Fr (0.7 * 2^s = 24) only single differences may. `+` and `-` reduce:
//! the quotient by p is estimated from the top limb, in units of 2^(BITS - 1) < 0.7 p, and the multiple to subtract is
//! looked up in a table of eight, which leaves less than one p plus one unit. For any modulus that is below 1.93: where p
//! is close to 2^(BITS - 1), the unit is half as large.

use super::{
    lane_limbs::{LaneLimbs, MAX},
    radix52::{
        self, MASK, Radix52, SCALED, limbs_of_multiple, multiple, power_of_two, simd, splat, transpose,
    },
};
use crate::{
    algebra::{Algebra, LANES, Lanes, Quadratic, Select},
    montgomery::{Fp, Limbs, Packable, Prime, Scale, Vector},
    unrolled::unrolled,
};
use proofmill_cpu::{Avx512Ifma, Token};
use std::{
    arch::x86_64::*,
    ops::{Add, Mul, Neg, Sub},
};

/// [`LANES`] elements of `P` in vectors; see the module's head for bounds.
#[derive(Clone, Copy)]
pub struct IfmaLanes<P: Prime> {
    limbs: <P::Limbs as Limbs>::Lanes52,
    token: Avx512Ifma,
}

/// Constants on the lanes' number of limbs.
type Constants<P> = Radix52<P, <<P as Prime>::Limbs as Limbs>::Lanes52>;

#[inline(always)]
fn unwrap<P: Prime, const K: usize>(lanes: &[IfmaLanes<P>; K]) -> [<P::Limbs as Limbs>::Lanes52; K] {
    let mut limbs = [<P::Limbs as Limbs>::Lanes52::ZERO; K];
    unrolled!(k in K, 2 => {
        limbs[k] = lanes[k].limbs;
    });
    limbs
}

impl<P: Prime> IfmaLanes<P> {
    const L: usize = Constants::<P>::L;

    #[inline(always)]
    fn constant(token: Avx512Ifma, limbs: &[u64]) -> Self {
        let mut lanes = Self::zero(token);
        unrolled!(i in Constants::<P>::L, 8 => {
            lanes.limbs.as_mut()[i] = splat(token, limbs[i]);
        });
        lanes
    }

    /// Carries signed limbs upwards; the value must not be negative.
    #[inline(always)]
    fn normalize(self) -> Self {
        Self { limbs: radix52::normalize(self.token, self.limbs), ..self }
    }

    /// `K` independent products, interleaved so that their latencies overlap; not normalised.
    #[inline(always)]
    fn mul_interleaved<const K: usize>(a: &[Self; K], b: &[Self; K]) -> [Self; K] {
        let Some(Self { token, .. }) = a.first() else { return *a };
        let products = radix52::multiply::<P, _, K>(*token, &unwrap(a), &unwrap(b));
        let mut lanes = *a;
        unrolled!(k in K, 2 => {
            lanes[k].limbs = products[k];
        });
        lanes
    }

    /// `K` independent squares, interleaved in the same way.
    #[inline(always)]
    fn square_interleaved<const K: usize>(a: &[Self; K]) -> [Self; K] {
        let Some(Self { token, .. }) = a.first() else { return *a };
        let squares = radix52::square::<P, _, K>(*token, &unwrap(a));
        let mut lanes = *a;
        unrolled!(k in K, 2 => {
            lanes[k].limbs = squares[k];
        });
        lanes
    }

    /// Limb-wise sum, not normalised.
    #[inline(always)]
    fn plus(mut self, rhs: &Self) -> Self {
        let (a, b) = (self.limbs.as_mut(), rhs.limbs.as_ref());
        unrolled!(i in Constants::<P>::L, 8 => {
            a[i] = simd!(self.token; _mm512_add_epi64(a[i], b[i]));
        });
        self
    }

    /// Limb-wise difference, not normalised.
    #[inline(always)]
    fn minus(mut self, rhs: &Self) -> Self {
        let (a, b) = (self.limbs.as_mut(), rhs.limbs.as_ref());
        unrolled!(i in Constants::<P>::L, 8 => {
            a[i] = simd!(self.token; _mm512_sub_epi64(a[i], b[i]));
        });
        self
    }

    /// `chosen` in the lanes whose bit is set, otherwise `self`.
    #[inline(always)]
    fn blend(mut self, mask: u8, chosen: &Self) -> Self {
        let (a, b) = (self.limbs.as_mut(), chosen.limbs.as_ref());
        unrolled!(i in Constants::<P>::L, 8 => {
            a[i] = simd!(self.token; _mm512_mask_blend_epi64(mask, a[i], b[i]));
        });
        self
    }

    /// Reduces a value of signed limbs in `[0, 4p)`.
    #[inline(always)]
    fn reduce(mut self) -> Self {
        let limbs = self.limbs.as_mut();
        simd! { self.token;
            let quotient = _mm512_srl_epi64(limbs[Self::L - 1], _mm_cvtsi64_si128(Constants::<P>::QUOTIENT_SHIFT.into()));
            // A loop, for the compiler to unroll later: unrolled here, products of many pairings take 1.04 of the time.
            for (limb, multiples) in limbs.iter_mut().zip(&Constants::<P>::MULTIPLES) {
                let table = _mm512_loadu_epi64(multiples.as_ptr().cast());
                *limb = _mm512_sub_epi64(*limb, _mm512_permutexvar_epi64(quotient, table));
            }
        }
        self.normalize()
    }

    /// The 52-bit limbs of eight elements, given as 64-bit words, word by word.
    #[inline(always)]
    fn from_words(token: Avx512Ifma, words: &[__m512i]) -> Self {
        let mut lanes = Self::zero(token);
        let limbs = lanes.limbs.as_mut();
        unrolled!(i in Constants::<P>::L, 8 => {
            let (word, bit) = (52 * i / 64, 52 * i as u64 % 64);
            limbs[i] = simd! { token;
                match words.get(word + 1) {
                    Some(next) if bit > 12 => _mm512_shrdv_epi64(words[word], *next, splat(token, bit)),
                    _ => _mm512_srlv_epi64(words[word], splat(token, bit)),
                }
            };
            if i + 1 < Self::L {
                limbs[i] = simd!(token; _mm512_and_si512(limbs[i], splat(token, MASK)));
            }
        });
        lanes
    }

    /// The 64-bit words of the eight elements, word by word; the values must be below 2^(64 N).
    #[inline(always)]
    fn to_words(self, words: &mut [__m512i]) {
        let Self { limbs, token } = &self;
        let (limbs, token) = (limbs.as_ref(), *token);
        for (i, word) in words.iter_mut().enumerate() {
            let (limb, bit) = (64 * i / 52, 64 * i as u64 % 52);
            simd! { token;
                // The bits of the lower limb at the top of their word, those of the next limb above them.
                let low = _mm512_slli_epi64::<12>(limbs[limb]);
                *word = _mm512_shrdv_epi64(low, limbs[limb + 1], splat(token, 12 + bit));
                if 104 - bit < 64 {
                    let top = _mm512_sllv_epi64(limbs[limb + 2], splat(token, 104 - bit));
                    *word = _mm512_or_si512(*word, top);
                }
            }
        }
    }

    /// The canonical representative of a reduced value.
    #[inline(always)]
    fn canonical(self) -> Self {
        let reduced = self.minus(&Self::constant(self.token, &Constants::<P>::P1)).normalize();
        let negative = simd!(self.token; _mm512_movepi64_mask(reduced.limbs.as_ref()[Self::L - 1]));
        reduced.blend(negative, &self)
    }

    /// See [`Engine::odd_lanes`](crate::Engine::odd_lanes).
    #[inline(always)]
    pub(crate) fn odd_lanes(self) -> u8 {
        // A product with the integer 1 removes the Montgomery factor.
        let integer = (self * Self::constant(self.token, &[1, 0, 0, 0, 0, 0, 0, 0])).canonical();
        simd!(self.token; _mm512_test_epi64_mask(integer.limbs.as_ref()[0], splat(self.token, 1)))
    }
}

/// The pairs whose first and whose second words are odd: bit i for pair i.
#[inline(always)]
pub(crate) fn odd_words(token: Avx512Ifma, pairs: &[[u32; 2]]) -> [u8; 2] {
    let pairs: &[[u32; 2]; LANES] = &pairs.as_chunks().0[0];
    simd! { token;
        let odd = _mm512_test_epi32_mask(_mm512_loadu_epi32(pairs.as_ptr().cast()), _mm512_set1_epi32(1));
        [_pext_u32(odd.into(), 0x5555) as u8, _pext_u32(odd.into(), 0xaaaa) as u8]
    }
}

/// Transposes the 4 x 4 words in each half of four vectors.
#[inline(always)]
fn transpose_halves(token: Avx512Ifma, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    simd! { token;
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
        self.sub_term(rhs).reduce()
    }
}

impl<P: Prime> Neg for IfmaLanes<P> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::zero(self.token) - self
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
    type Token = Avx512Ifma;
    const CALLS_PRODUCTS: bool = true;
    /// Those of six words are 10 KB of instructions, and their operands do not fit the registers.
    const CALLS_QUADRATICS: bool = P::Limbs::LEN > 4;

    #[inline(always)]
    fn token(&self) -> Avx512Ifma {
        self.token
    }

    #[inline(always)]
    fn zero(token: Avx512Ifma) -> Self {
        Self { limbs: <P::Limbs as Limbs>::Lanes52::ZERO, token }
    }

    #[inline(always)]
    fn one(token: Avx512Ifma) -> Self {
        Self::constant(token, &Constants::<P>::ONE)
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
    fn karatsuba(a: &Quadratic<Self>, b: &Quadratic<Self>) -> Quadratic<Self> {
        let token = a.c0.token;
        let sums = [a.c0.add_lazy(a.c1), b.c0.add_lazy(b.c1)];
        let [c0, c1] = radix52::multiply_quadratic::<P, _>(
            token,
            &unwrap(&[a.c0, a.c1]),
            &unwrap(&[b.c0, b.c1]),
            unwrap(&sums),
        );
        Quadratic::new(Self { limbs: c0, token }.normalize(), Self { limbs: c1, token }.normalize())
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
        unrolled!(k in 2, 2 => {
            squares[k] = if Constants::<P>::WIDE {
                squares[k]
                    .plus(&Self::constant(squares[k].token, &Constants::<P>::P4))
                    .minus(&b[k])
                    .minus(&c[k])
                    .reduce()
            } else {
                squares[k] - b[k] - c[k]
            };
        });
        squares
    }

    #[inline(always)]
    fn outlined<R>(token: Avx512Ifma, formula: impl FnOnce() -> R) -> R {
        token.call(formula)
    }

    #[inline(always)]
    fn add_term(self, rhs: Self) -> Self {
        self.plus(&rhs)
    }

    #[inline(always)]
    fn sub_term(self, rhs: Self) -> Self {
        self.plus(&Self::constant(self.token, &Constants::<P>::P2)).minus(&rhs)
    }

    #[inline(always)]
    fn add_lazy(self, rhs: Self) -> Self {
        self.plus(&rhs).normalize()
    }

    #[inline(always)]
    fn sub_lazy(self, rhs: Self) -> Self {
        self.sub_term(rhs).normalize()
    }
}

impl<P: Prime> Lanes<Fp<P>> for IfmaLanes<P> {
    const WIDTH: usize = LANES;

    #[inline(always)]
    fn load(token: Avx512Ifma, elements: &[Fp<P>]) -> Self {
        Self::load_bits(token, Fp::as_limbs(elements)) * Self::constant(token, &Constants::<P>::ENTER)
    }

    #[inline(always)]
    fn store(self, elements: &mut [Fp<P>]) {
        let mut limbs = [P::Limbs::ZERO; LANES];
        (self * Self::constant(self.token, &Constants::<P>::LEAVE)).canonical().store_bits(&mut limbs);
        write(elements, limbs);
    }

    #[inline(always)]
    fn broadcast(token: Avx512Ifma, element: Fp<P>) -> Self {
        let one = const { power_of_two::<P>(52 * Constants::<P>::L as u32) };
        Self::constant(token, &limbs_of_multiple::<P>(token.adx(), &element.to_montgomery(), &one))
    }
}

impl<P: Prime> Select for IfmaLanes<P> {
    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        other.blend(mask, &chosen)
    }
}

impl<P: Prime> Vector<Fp<P>> for IfmaLanes<P> {
    #[inline(always)]
    fn gather<'a>(token: Avx512Ifma, element: impl Fn(usize) -> &'a P::Limbs) -> Self {
        let n = P::Limbs::LEN;
        let mut words = [simd!(token; _mm512_setzero_si512()); 8];
        if n == 4 {
            // Lanes i and i + 4 in one vector.
            let mut halves = [simd!(token; _mm512_setzero_si512()); 4];
            for (i, half) in halves.iter_mut().enumerate() {
                let [low, high] = [element(i), element(i + 4)];
                *half = simd! { token;
                    let low = _mm256_loadu_si256(std::ptr::from_ref(low).cast());
                    let high = _mm256_loadu_si256(std::ptr::from_ref(high).cast());
                    _mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(low), 0xf0, high)
                };
            }
            words[..4].copy_from_slice(&transpose_halves(token, halves));
        } else {
            for (lane, row) in words.iter_mut().enumerate() {
                let words = std::ptr::from_ref(element(lane)).cast();
                *row = simd!(token; _mm512_maskz_loadu_epi64(row_mask(n), words));
            }
            words = transpose(token, words);
        }
        Self::from_words(token, &words[..n])
    }

    #[inline(always)]
    fn scatter<R>(self, rows: &mut [R], element: impl Fn(&mut R) -> &mut P::Limbs) {
        let n = P::Limbs::LEN;
        let mut words = [simd!(self.token; _mm512_setzero_si512()); 8];
        self.to_words(&mut words[..n]);
        if n == 4 {
            let [w0, w1, w2, w3, ..] = words;
            let halves = transpose_halves(self.token, [w0, w1, w2, w3]);
            for (i, half) in halves.into_iter().enumerate() {
                simd! { self.token;
                    let low = std::ptr::from_mut(element(&mut rows[i]));
                    _mm256_storeu_si256(low.cast(), _mm512_castsi512_si256(half));
                    let high = std::ptr::from_mut(element(&mut rows[i + 4]));
                    _mm256_storeu_si256(high.cast(), _mm512_extracti64x4_epi64::<1>(half));
                }
            }
        } else {
            for (row, vector) in rows[..LANES].iter_mut().zip(transpose(self.token, words)) {
                let words = std::ptr::from_mut(element(row)).cast();
                simd!(self.token; _mm512_mask_storeu_epi64(words, row_mask(n), vector));
            }
        }
    }

    #[inline(always)]
    fn load_bits(token: Avx512Ifma, elements: &[P::Limbs]) -> Self {
        let words = elements[..LANES].as_ptr().cast::<i64>();
        let n = P::Limbs::LEN;
        let mut columns = [simd!(token; _mm512_setzero_si512()); 8];
        simd! { token;
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
                let lanes = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), splat(token, n as u64));
                for (i, column) in columns[..n].iter_mut().enumerate() {
                    *column = _mm512_i64gather_epi64::<8>(lanes, words.add(i));
                }
            }
        }
        Self::from_words(token, &columns[..n])
    }

    #[inline(always)]
    fn store_bits(self, elements: &mut [P::Limbs]) {
        let words = elements[..LANES].as_mut_ptr().cast::<i64>();
        let n = P::Limbs::LEN;
        let mut columns = [simd!(self.token; _mm512_setzero_si512()); 8];
        self.to_words(&mut columns[..n]);
        simd! { self.token;
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
                let lanes = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), splat(self.token, n as u64));
                for (i, column) in columns[..n].iter().enumerate() {
                    _mm512_i64scatter_epi64::<8>(words.add(i), lanes, *column);
                }
            }
        }
    }

    #[inline(always)]
    fn store_scaled(self, elements: &mut [Fp<P>]) {
        let mut limbs = [P::Limbs::ZERO; LANES];
        self.canonical().store_bits(&mut limbs);
        write(elements, limbs);
    }

    #[inline(always)]
    fn negate_lanes(mask: u8, mut value: Self) -> Self {
        let token = value.token;
        let limbs = value.limbs.as_mut();
        unrolled!(i in Constants::<P>::L, 8 => {
            let p2 = splat(token, Constants::<P>::P2[i]);
            limbs[i] = simd!(token; _mm512_mask_sub_epi64(limbs[i], mask, p2, limbs[i]));
        });
        value
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        // Zero has few representatives below 6p; most values differ from all of these in the lowest limb.
        let Self { limbs, token } = &self;
        let (limbs, token) = (limbs.as_ref(), *token);
        let table = const { &multiples::<P>() };
        let mut candidates = 0;
        for wanted in table {
            candidates |= simd!(token; _mm512_cmpeq_epi64_mask(limbs[0], splat(token, wanted[0])));
        }
        let mut zeros = 0;
        if candidates != 0 {
            for wanted in table {
                let mut equal = candidates;
                for (limb, wanted) in limbs.iter().zip(wanted) {
                    equal = simd!(token; _mm512_mask_cmpeq_epi64_mask(equal, *limb, splat(token, *wanted)));
                }
                zeros |= equal;
            }
        }
        zeros
    }
}

impl<P: Prime> Scale<Fp<P>> for IfmaLanes<P> {
    type Factor = <<P::Limbs as Limbs>::Lanes52 as LaneLimbs>::Factor;

    fn factor(token: Avx512Ifma, constant: Fp<P>) -> Self::Factor {
        let mut factor = <<P::Limbs as Limbs>::Lanes52 as LaneLimbs>::ZERO_FACTOR;
        for (multiple, weight) in factor.as_mut().chunks_exact_mut(Self::L).zip(&Constants::<P>::WEIGHTS) {
            let limbs = limbs_of_multiple::<P>(token.adx(), &constant.to_montgomery(), weight);
            multiple.copy_from_slice(&limbs[..Self::L]);
        }
        factor
    }

    #[inline(always)]
    fn splat(token: Avx512Ifma, factor: &Self::Factor) -> Self {
        // Its multiple by 2^(52 L).
        Self::constant(token, &factor.as_ref()[Self::L * (Self::L - SCALED)..])
    }

    #[inline(always)]
    fn scale(self, factor: &Self::Factor) -> Self {
        let [limbs] = radix52::scale::<P, _, 1>(self.token, &[self.limbs], &[factor]);
        Self { limbs, ..self }.normalize()
    }

    #[inline(always)]
    fn scale_terms(mut values: [Self; 2], factors: [&Self::Factor; 2]) -> [Self; 2] {
        let products = radix52::scale::<P, _, 2>(values[0].token, &unwrap(&values), &factors);
        unrolled!(k in 2, 2 => {
            values[k].limbs = products[k];
        });
        values
    }
}

/// Writes canonical limbs as elements.
#[inline(always)]
fn write<P: Prime>(elements: &mut [Fp<P>], limbs: [P::Limbs; LANES]) {
    for (element, limbs) in elements[..LANES].iter_mut().zip(limbs) {
        *element = Fp::constant(limbs);
    }
}

const fn multiples<P: Prime>() -> [[u64; MAX]; 6] {
    let mut table = [[0; MAX]; 6];
    let mut i = 0;
    while i < 6 {
        table[i] = multiple(&Constants::<P>::P1, i as u64);
        i += 1;
    }
    table
}

/// The first `words` lanes, at most eight.
#[inline(always)]
fn row_mask(words: usize) -> u8 {
    (if words >= 8 { 0xff } else { (1u32 << words) - 1 }) as u8
}
