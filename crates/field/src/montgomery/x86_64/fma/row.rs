//! Rows of digits of 48 bits in two vectors, four products at a time.
//!
//! Six digits for four words of 64 bits, eight for six; the others are zero. Montgomery form with R = 2^(48 N).
//!
//! Bounds. A *term* has digits of at most 2^47 + 2^5 and a value of at most 0.6 p, either sign. A sum has up to T = 39 terms. Before a
//! product, and in `reduced`, the nearest multiple of p, at most 24 p, is subtracted as
//! [`Digits::reduce`](super::digits::Digits::reduce) does it: digits stay below `T (2^47 + 2^5) + 24 * 2^47 < 2^53`, and their carries are
//! at most 2^5. So a product's factors are at most 0.51 p, and their digits at most 2^47 + 2^5. Loaded elements are reduced, because
//! they may be almost p and their digits are not balanced.

use super::{
    super::{
        lane_limbs::MAX,
        radix52::{power_of_two, scaled},
        single::{SingleRow, canonical},
    },
    LOW,
    constants::Radix,
    digits::{Columns, DigitFormat, simd, splat},
    transpose,
};
use crate::montgomery::{Limbs, Prime};
use proofmill_cpu::Avx2;
use std::arch::x86_64::*;

/// A row: digits 0 to 3 and 4 to 7.
pub(in crate::montgomery) type Row48 = [__m256d; 2];

/// Four rows for products.
type ColumnsOf<P> = <<P as Prime>::Limbs as Limbs>::Columns48;

type Of<P> = Radix<P, ColumnsOf<P>>;

const BITS: u32 = 48;

#[inline(always)]
fn row(token: Avx2, digits: &[f64; MAX]) -> Row48 {
    simd!(token; [_mm256_loadu_pd(digits.as_ptr()), _mm256_loadu_pd(digits[4..].as_ptr())])
}

/// Transposes rows to columns and reduces them: the factors of a product.
#[inline(always)]
fn enter<P: Prime>(token: Avx2, rows: &[Row48; 4]) -> ColumnsOf<P> {
    let mut columns = ColumnsOf::<P>::ZERO;
    for (half, columns) in columns.as_mut().chunks_mut(4).enumerate() {
        let digits = transpose_digits(token, [rows[0][half], rows[1][half], rows[2][half], rows[3][half]]);
        columns.copy_from_slice(&digits[..columns.len()]);
    }
    ColumnsOf::<P>::reduce(token, Of::<P>::CONSTANTS, &columns)
}

/// Transposes the columns of a product to rows.
#[inline(always)]
fn leave<P: Prime>(token: Avx2, columns: &ColumnsOf<P>) -> [Row48; 4] {
    let zero = splat(token, 0.0);
    let mut rows = [[zero; 2]; 4];
    for (half, columns) in columns.as_ref().chunks(4).enumerate() {
        let mut digits = [zero; 4];
        digits[..columns.len()].copy_from_slice(columns);
        for (row, digits) in rows.iter_mut().zip(transpose_digits(token, digits)) {
            row[half] = digits;
        }
    }
    rows
}

#[inline(always)]
fn transpose_digits(token: Avx2, [a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    simd! { token;
        let [a, b] = [_mm256_castpd_si256(a), _mm256_castpd_si256(b)];
        let [c, d] = [_mm256_castpd_si256(c), _mm256_castpd_si256(d)];
        let [a, b, c, d] = transpose(token, [a, b, c, d]);
        let [a, b] = [_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)];
        [a, b, _mm256_castsi256_pd(c), _mm256_castsi256_pd(d)]
    }
}

impl<P: Prime> SingleRow<P> for Row48 {
    type Token = Avx2;
    const MOST_TERMS: u64 = {
        let (terms, multiple, mut digit) = (39, 24.0, 0);
        while digit < Of::<P>::MODULUS.len() {
            let most =
                terms as f64 * ((1u64 << 47) + (1 << 5)) as f64 + multiple * Of::<P>::MODULUS[digit].abs();
            assert!(most <= (1u64 << 53) as f64, "reductions are exact");
            digit += 1;
        }
        terms
    };
    const GROUP: usize = 4;

    #[inline(always)]
    fn zero(token: Avx2) -> Self {
        [splat(token, 0.0); 2]
    }

    #[inline(always)]
    fn one(token: Avx2) -> Self {
        row(token, &Of::<P>::ONE)
    }

    #[inline(always)]
    fn plus(self, token: Avx2, rhs: Self) -> Self {
        simd!(token; [_mm256_add_pd(self[0], rhs[0]), _mm256_add_pd(self[1], rhs[1])])
    }

    #[inline(always)]
    fn minus(self, token: Avx2, rhs: Self) -> Self {
        simd!(token; [_mm256_sub_pd(self[0], rhs[0]), _mm256_sub_pd(self[1], rhs[1])])
    }

    #[inline(always)]
    fn reduced(self, token: Avx2) -> Self {
        let p = row(token, &Of::<P>::MODULUS);
        let low = splat(token, LOW);
        let rest = splat(token, LOW * (1u64 << BITS) as f64);
        let base_inverse = splat(token, 1.0 / (1u64 << BITS) as f64);
        let short = ColumnsOf::<P>::LEN == 6;
        simd! { token;
            let top = if short {
                _mm256_permute4x64_pd::<0x55>(self[1])
            } else {
                _mm256_permute4x64_pd::<0xff>(self[1])
            };
            let quotient = _mm256_sub_pd(_mm256_fmadd_pd(top, splat(token, Of::<P>::RECIPROCAL), low), low);
            let digits = [_mm256_fnmadd_pd(quotient, p[0], self[0]), _mm256_fnmadd_pd(quotient, p[1], self[1])];
            // What each digit carries to the next, times 2^48; the last one carries nothing.
            let high = _mm256_sub_pd(_mm256_add_pd(digits[1], rest), rest);
            let zero = _mm256_setzero_pd();
            let carries = [
                _mm256_sub_pd(_mm256_add_pd(digits[0], rest), rest),
                if short { _mm256_blend_pd::<0b1110>(high, zero) } else { _mm256_blend_pd::<0b1000>(high, zero) },
            ];
            let up = [_mm256_permute4x64_pd::<0x93>(carries[0]), _mm256_permute4x64_pd::<0x93>(carries[1])];
            let carried = [_mm256_blend_pd::<1>(up[0], up[1]), _mm256_blend_pd::<1>(up[1], up[0])];
            [
                _mm256_fmadd_pd(carried[0], base_inverse, _mm256_sub_pd(digits[0], carries[0])),
                _mm256_fmadd_pd(carried[1], base_inverse, _mm256_sub_pd(digits[1], carries[1])),
            ]
        }
    }

    #[inline(always)]
    fn multiply(token: Avx2, a: &mut [Self], b: &[Self]) {
        for (a, b) in a.as_chunks_mut::<4>().0.iter_mut().zip(b.as_chunks::<4>().0) {
            let [x, y] = [enter::<P>(token, a), enter::<P>(token, b)];
            *a = leave::<P>(token, &ColumnsOf::<P>::product(token, Of::<P>::CONSTANTS, &x, &y));
        }
    }

    #[inline(always)]
    fn load(token: Avx2, element: &P::Limbs) -> Self {
        let mut words = [0; MAX];
        words[..P::Limbs::LEN].copy_from_slice(element.as_ref());
        if !Of::<P>::SAME_R {
            let factor = const { power_of_two::<P>(Of::<P>::R) };
            words[..P::Limbs::LEN].copy_from_slice(scaled::<P>(token.adx(), element, &factor).as_ref());
        }
        // No branch, because the element may be secret.
        let mut digits = [0.0; MAX];
        for (i, digit) in digits.iter_mut().take(ColumnsOf::<P>::LEN).enumerate() {
            let (word, bit) = (48 * i / 64, 48 * i % 64);
            let bits = (u128::from(words[word + 1]) << 64 | u128::from(words[word])) >> bit;
            *digit = (bits as u64 & ((1 << BITS) - 1)) as i64 as f64;
        }
        SingleRow::<P>::reduced(row(token, &digits), token)
    }

    #[inline(always)]
    fn store(self, token: Avx2) -> P::Limbs {
        let mut digits = [0.0; MAX];
        let reduced = SingleRow::<P>::reduced(self, token);
        simd! { token;
            _mm256_storeu_pd(digits.as_mut_ptr(), reduced[0]);
            _mm256_storeu_pd(digits[4..].as_mut_ptr(), reduced[1]);
        }
        // By an addition, because casts of a double compare it with the limits of integers.
        let integer = |digit: f64| (digit + LOW).to_bits().wrapping_sub(LOW.to_bits()) as i64;
        let element = canonical::<P>(digits.into_iter().take(ColumnsOf::<P>::LEN).map(integer), BITS);
        if Of::<P>::SAME_R {
            return element;
        }
        scaled::<P>(
            token.adx(),
            &element,
            const { &power_of_two::<P>(128 * P::Limbs::LEN as u32 - Of::<P>::R) },
        )
    }

    #[inline(always)]
    fn select(token: Avx2, choice: bool, chosen: Self, other: Self) -> Self {
        simd! { token;
            let mask = _mm256_castsi256_pd(_mm256_set1_epi64x(-i64::from(choice)));
            [_mm256_blendv_pd(other[0], chosen[0], mask), _mm256_blendv_pd(other[1], chosen[1], mask)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bls12_381, bn254};
    use num_bigint::{BigInt, BigUint};
    use proofmill_cpu::Token;
    use rand_chacha::{
        ChaCha8Rng,
        rand_core::{RngCore, SeedableRng},
    };

    const TERMS: f64 = <Row48 as SingleRow<bn254::FqParams>>::MOST_TERMS as f64;

    fn integer(digits: &[f64; MAX]) -> BigInt {
        digits.iter().rev().fold(BigInt::ZERO, |value, digit| {
            assert_eq!(digit.fract(), 0.0);
            (value << BITS) + *digit as i64
        })
    }

    fn digits(token: Avx2, row: &Row48) -> [f64; MAX] {
        let mut digits = [0.0; MAX];
        simd! { token;
            _mm256_storeu_pd(digits.as_mut_ptr(), row[0]);
            _mm256_storeu_pd(digits[4..].as_mut_ptr(), row[1]);
        }
        digits
    }

    /// A sum of terms whose digits are at edges or random, and whose value is up to 0.6 p for each term.
    fn sum<P: Prime>(rng: &mut ChaCha8Rng) -> [f64; MAX] {
        let last = ColumnsOf::<P>::LEN - 1;
        let most = TERMS * ((1u64 << 47) + (1 << 5)) as f64;
        let top = (0.6 * TERMS * Of::<P>::MODULUS[last]).floor() - TERMS;
        let mut digit = |most: f64| match rng.next_u32() % 8 {
            0 => most,
            1 => -most,
            2 => most.min((1u64 << 47) as f64),
            3 => -1.0,
            4 => 0.0,
            _ => (rng.next_u64() as i64 as f64 / 2f64.powi(63) * most).round(),
        };
        std::array::from_fn(|i| match i {
            _ if i < last => digit(most),
            _ if i == last => digit(top),
            _ => 0.0,
        })
    }

    fn check<P: Prime>() {
        let Some(token) = Avx2::detect() else { return };
        let limbs = P::MODULUS;
        let words = limbs.as_ref().iter().flat_map(|word| [*word as u32, (word >> 32) as u32]);
        let p: BigInt = BigUint::new(words.collect()).into();
        let inverse = BigInt::from(2).modpow(&(&p - 1 - Of::<P>::R), &p);
        let mut rng = ChaCha8Rng::seed_from_u64(48);
        for _ in 0..4_000 {
            let mut sums = || -> [[f64; MAX]; 4] { std::array::from_fn(|_| sum::<P>(&mut rng)) };
            let [a, b] = [sums(), sums()];
            let (products, reduced) = token.run(
                #[inline(always)]
                || {
                    let mut rows = a.map(|digits| row(token, &digits));
                    let reduced = rows.map(|row| digits(token, &SingleRow::<P>::reduced(row, token)));
                    SingleRow::<P>::multiply(token, &mut rows, &b.map(|digits| row(token, &digits)));
                    (rows.map(|row| digits(token, &row)), reduced)
                },
            );
            for i in 0..4 {
                let (x, y) = (integer(&a[i]), integer(&b[i]));
                for (result, expected, most) in
                    [(&products[i], &x * y * &inverse, 60), (&reduced[i], x.clone(), 51)]
                {
                    let value = integer(result);
                    assert_eq!((&value - expected) % &p, BigInt::ZERO, "{} {:?} {:?}", P::NAME, a[i], b[i]);
                    assert!(value.magnitude() * 100u32 <= p.magnitude() * most as u32, "{} {value}", P::NAME);
                    let half = ((1u64 << 47) + (1 << 5)) as f64;
                    assert!(result[..ColumnsOf::<P>::LEN - 1].iter().all(|digit| digit.abs() <= half));
                }
            }
        }
    }

    #[test]
    fn sums_of_the_most_terms() {
        check::<bn254::FqParams>();
        check::<bn254::FrParams>();
        check::<bls12_381::FrParams>();
        check::<bls12_381::FqParams>();
    }
}
