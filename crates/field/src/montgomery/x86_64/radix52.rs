//! Integers in radix 2^52, eight in lanes: constants of a field, and products with IFMA's 52-bit multiplier.
//!
//! One vector holds limb i of all eight. Montgomery form with R = 2^(52 L) for L limbs. Operands' limbs are normalised
//! (below 2^52, held in 64-bit lanes).
//!
//! Method: limb by limb of one operand, Montgomery reduction in between (Gueron, Krasnov, "Accelerating big integer arithmetic using
//! Intel IFMA extensions", ARITH 2016; the coarsely integrated operand scanning of Koc, Acar, Kaliski 1996): 4 L^2 multiply-adds.
//! All but the last two limbs c are removed as `c (2^-52 mod p)`, which needs no quotient and so waits for less. That adds up to
//! 2^52 p. The last two limbs, removed by quotients, leave 2^-52 p of it.

use super::lane_limbs::{LaneLimbs, MAX};
use crate::{
    montgomery::{Backend, Limbs, Prime, limbs::sbb},
    unrolled::unrolled,
};
use proofmill_cpu::{Adx, Avx512Ifma};
use std::{
    arch::{asm, x86_64::*},
    marker::PhantomData,
};

/// Removes limb `$i`, a constant, of all.
macro_rules! remove_limb {
    ($i:ident, $token:expr, $columns:expr) => {
        if const { $i + 2 < V::LEN } {
            remove_by_inverse::<P, V, K>($token, $columns, $i);
        } else {
            remove_by_quotient::<P, V, K>($token, $columns, $i);
        }
    };
}

/// Intrinsics whose instructions the token proves.
macro_rules! simd {
    ($token:expr; $($body:tt)*) => {{
        let _: Avx512Ifma = $token;
        // SAFETY: the token proves every feature. Loads and stores use arrays that are as long as the data read or written.
        unsafe { $($body)* }
    }};
}

pub(super) use simd;

#[inline(always)]
pub(super) fn splat(token: Avx512Ifma, value: u64) -> __m512i {
    simd!(token; _mm512_set1_epi64(value as i64))
}

pub(super) const MASK: u64 = (1 << 52) - 1;

/// The limbs that are removed from a product by a constant.
pub(super) const SCALED: usize = 2;

/// Constants of the field `P` in radix 2^52, on the number of limbs of `V`.
pub(super) struct Radix52<P, V>(PhantomData<(P, V)>);

impl<P: Prime, V: LaneLimbs> Radix52<P, V> {
    pub(super) const L: usize = V::LEN;
    pub(super) const P1: [u64; MAX] = split(&words::<P>(&P::MODULUS));
    pub(super) const P2: [u64; MAX] = multiple(&Self::P1, 2);
    pub(super) const P4: [u64; MAX] = multiple(&Self::P1, 4);
    /// `-p^-1 mod 2^52`.
    pub(super) const INV: u64 = P::INV & MASK;
    /// `2^-52 mod p`: `(INV p + 1) / 2^52`.
    pub(super) const RADIX_INVERSE: [u64; MAX] = {
        let mut inverse = [0; MAX];
        let mut carry = 1;
        let mut i = 0;
        while i < Self::L {
            let sum = Self::P1[i] as u128 * Self::INV as u128 + carry;
            if i > 0 {
                inverse[i - 1] = sum as u64 & MASK;
            }
            carry = sum >> 52;
            i += 1;
        }
        inverse[Self::L - 1] = carry as u64;
        inverse
    };
    /// `2^(52 L) mod p`: one.
    pub(super) const ONE: [u64; MAX] = split(&power_of_two::<P>(52 * Self::L as u32));
    /// A product with this converts the 64-bit Montgomery form to this one.
    pub(super) const ENTER: [u64; MAX] =
        split(&power_of_two::<P>(2 * 52 * Self::L as u32 - 64 * P::Limbs::LEN as u32));
    /// A product with this converts this Montgomery form to the 64-bit one.
    pub(super) const LEAVE: [u64; MAX] = split(&power_of_two::<P>(64 * P::Limbs::LEN as u32));
    /// The position of the top limb's quotient digit: the logarithm of its unit.
    pub(super) const QUOTIENT_SHIFT: u32 =
        quotient_shift(Self::P1[Self::L - 1], P::BITS - 52 * (Self::L as u32 - 1));
    /// Whether the table below reaches 5.25 p, so that a product of reduced values minus two reduced values (below
    /// 1.1 + 4, after adding 4 p) is reduced in one step.
    pub(super) const WIDE: bool = multiple(&Self::P1, 21)[Self::L - 1] < 4 << (Self::QUOTIENT_SHIFT + 3);
    /// `2^(BITS + 4) p`, more than 16 p^2, in 52-bit limbs.
    pub(super) const SQUARE: [u64; 2 * MAX] = {
        let (mut limbs, shift) = ([0; 2 * MAX], P::BITS + 4);
        let mut i = 0;
        while i < Self::L {
            let (at, bit) = (i + shift as usize / 52, shift % 52);
            limbs[at] |= Self::P1[i] << bit & MASK;
            limbs[at + 1] = Self::P1[i] >> (52 - bit);
            i += 1;
        }
        limbs
    };
    /// `2^(52 (i + SCALED)) mod p` in 64-bit words: what the multiples of a constant by which limb i is multiplied begin with.
    pub(super) const WEIGHTS: [[u64; MAX]; MAX] = {
        let mut weights = [[0; MAX]; MAX];
        let mut limb = 0;
        while limb < Self::L {
            weights[limb] = power_of_two::<P>(52 * (limb + SCALED) as u32);
            limb += 1;
        }
        weights
    };
    /// Limb by limb, `floor(i unit / p) p` for i in 0..8.
    pub(super) const MULTIPLES: [[u64; 8]; MAX] = {
        let mut table = [[0; 8]; MAX];
        let mut i = 0;
        while i < 8 {
            // Two units of the top limb are left for the borrow that the lower limbs may still hold (the carry that they
            // may still hold, 2^6, only adds as much to the bound).
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

/// The unit of quotients is the largest power of two below p, or half of it if eight halves reach 3.7 p: p is then below
/// 1.09 of that power, and remainders below p plus one unit would not stay below 2 p.
const fn quotient_shift(top: u64, bits: u32) -> u32 {
    assert!(bits >= 13, "carries of the lower limbs are small against the top limb");
    let halves = 37 * (top + 1) <= 10 << (bits + 1);
    bits - 1 - halves as u32
}

pub(super) const fn words<P: Prime>(limbs: &P::Limbs) -> [u64; MAX] {
    let mut words = [0; MAX];
    let mut i = 0;
    while i < P::Limbs::LEN {
        // SAFETY: `Limbs` is sealed to `[u64; LEN]`.
        words[i] = unsafe { *std::ptr::from_ref(limbs).cast::<u64>().add(i) };
        i += 1;
    }
    words
}

/// The scalar product of an element and a constant, divided by the power of two of 64-bit Montgomery forms: `2^exponent mod p` makes an
/// element an integer times 2^exponent. A function, because formulas load a dozen elements.
#[inline(never)]
pub(super) fn scaled<P: Prime>(token: Adx, element: &P::Limbs, factor: &[u64; MAX]) -> P::Limbs {
    let mut limbs = P::Limbs::ZERO;
    limbs.as_mut().copy_from_slice(&factor[..P::Limbs::LEN]);
    token.mul_mont::<P>(element, &limbs)
}

/// The 52-bit limbs of an element times a power of two, given modulo p: see [`scaled`].
pub(super) fn limbs_of_multiple<P: Prime>(token: Adx, element: &P::Limbs, power: &[u64; MAX]) -> [u64; MAX] {
    split(&words::<P>(&scaled::<P>(token, element, power)))
}

/// From 64-bit words to 52-bit limbs.
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

pub(super) const fn multiple(limbs: &[u64; MAX], factor: u64) -> [u64; MAX] {
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
pub(super) const fn power_of_two<P: Prime>(exponent: u32) -> [u64; MAX] {
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
            (reduced[j], borrow) = sbb(doubled[j], p[j], borrow);
            j += 1;
        }
        value = if borrow { doubled } else { reduced };
        i += 1;
    }
    value
}

/// Carries signed limbs upwards; the value must not be negative.
#[inline(always)]
pub(super) fn normalize<V: LaneLimbs>(token: Avx512Ifma, mut value: V) -> V {
    let limbs = value.as_mut();
    unrolled!(i in V::LEN - 1, 8 => {
        simd! { token;
            let carry = _mm512_srai_epi64(limbs[i], 52);
            limbs[i + 1] = _mm512_add_epi64(limbs[i + 1], carry);
            limbs[i] = _mm512_and_si512(limbs[i], splat(token, MASK));
        }
    });
    value
}

/// Columns of weight 2^(52 i) of `K` values.
type Columns<const K: usize> = [[__m512i; K]; 2 * MAX];

#[inline(always)]
fn empty_columns<const K: usize>() -> Columns<K> {
    // SAFETY: all-zero bits are vectors.
    const { unsafe { std::mem::zeroed() } }
}

/// Keeps the compiler from moving operations on the columns from `first` on to the other side of this point. Otherwise LLVM (22)
/// computes one column of one value after the other; the terms of each sum wait for each other. Then several products in one loop take
/// 1.4 times as long.
#[inline]
#[target_feature(enable = "avx512f")]
fn keep_order<V: LaneLimbs, const K: usize>(columns: &mut Columns<K>, first: usize) {
    let end = (first + V::LEN + 1).min(2 * V::LEN);
    let columns = columns[first..end].as_flattened_mut();
    unrolled!(chunk in 3, 4 => {
        if let Some([a, b, c, d, e, f]) = columns.get_mut(6 * chunk..).and_then(<[_]>::first_chunk_mut) {
            // SAFETY: no instruction.
            unsafe {
                asm!(
                    "# {} {} {} {} {} {}",
                    inout(zmm_reg) * a,
                    inout(zmm_reg) * b,
                    inout(zmm_reg) * c,
                    inout(zmm_reg) * d,
                    inout(zmm_reg) * e,
                    inout(zmm_reg) * f,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
        }
    });
    if columns.len() % 6 >= 3
        && let Some([a, b, c]) = columns.get_mut(columns.len() / 6 * 6..).and_then(<[_]>::first_chunk_mut)
    {
        // SAFETY: no instruction.
        unsafe {
            asm!(
                "# {} {} {}",
                inout(zmm_reg) * a,
                inout(zmm_reg) * b,
                inout(zmm_reg) * c,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
    }
}

/// `K` independent products, interleaved so that their latencies overlap; not normalised.
#[inline(always)]
pub(super) fn multiply<P: Prime, V: LaneLimbs, const K: usize>(
    token: Avx512Ifma,
    a: &[V; K],
    b: &[V; K],
) -> [V; K] {
    let mut columns = empty_columns();
    unrolled!(i in V::LEN, 8 => {
        add_row(token, &mut columns, a, b, i);
        remove_limb!(i, token, &mut columns);
    });
    upper_limbs(&columns, V::LEN)
}

/// The columns of `K` independent products, each below 2^56.
#[inline(always)]
fn columns_of<V: LaneLimbs, const K: usize>(token: Avx512Ifma, a: &[V; K], b: &[V; K]) -> Columns<K> {
    let mut columns = empty_columns();
    unrolled!(i in V::LEN, 8 => {
        add_row(token, &mut columns, a, b, i);
    });
    columns
}

/// Adds the products by limb `i` of `b`.
#[inline(always)]
fn add_row<V: LaneLimbs, const K: usize>(
    token: Avx512Ifma,
    columns: &mut Columns<K>,
    a: &[V; K],
    b: &[V; K],
    i: usize,
) {
    simd! { token;
        unrolled!(j in V::LEN, 8 => {
            unrolled!(k in K, 2 => {
                let (x, y) = (a[k].as_ref()[j], b[k].as_ref()[i]);
                columns[i + j][k] = _mm512_madd52lo_epu64(columns[i + j][k], x, y);
                columns[i + j + 1][k] = _mm512_madd52hi_epu64(columns[i + j + 1][k], x, y);
            });
        });
        keep_order::<V, K>(columns, i);
    }
}

/// The product in the quadratic extension by Karatsuba's method, whose sums are those of columns, so that there are two reductions; not
/// normalised. `sums` are those of coefficients. Operands whose product is at most 16 p^2.
#[inline(always)]
pub(super) fn multiply_quadratic<P: Prime, V: LaneLimbs>(
    token: Avx512Ifma,
    a: &[V; 2],
    b: &[V; 2],
    sums: [V; 2],
) -> [V; 2] {
    let products = columns_of(token, a, b);
    let [a, b] = sums;
    let cross = columns_of(token, &[a], &[b]);
    let mut columns = products;
    unrolled!(i in 2 * V::LEN, 16 => {
        let ([v0, v1], [cross]) = (products[i], cross[i]);
        columns[i] = simd! { token;
            [
                // Not negative.
                _mm512_add_epi64(_mm512_sub_epi64(v0, v1), splat(token, Radix52::<P, V>::SQUARE[i])),
                _mm512_sub_epi64(_mm512_sub_epi64(cross, v0), v1),
            ]
        };
    });
    reduce_columns::<P, V, 2>(token, columns)
}

/// `K` independent products by constants, interleaved; not normalised. Limb j of `factors[k]`'s multiple i is at `L i + j`. A result
/// is below p (1 + 2^-49).
#[inline(always)]
pub(super) fn scale<P: Prime, V: LaneLimbs, const K: usize>(
    token: Avx512Ifma,
    a: &[V; K],
    factors: &[&V::Factor; K],
) -> [V; K] {
    simd! { token;
        let mut columns = empty_columns();
        unrolled!(i in V::LEN, 8 => {
            unrolled!(j in V::LEN, 8 => {
                unrolled!(k in K, 2 => {
                    let (x, y) = (a[k].as_ref()[i], splat(token, factors[k].as_ref()[V::LEN * i + j]));
                    columns[j][k] = _mm512_madd52lo_epu64(columns[j][k], x, y);
                    columns[j + 1][k] = _mm512_madd52hi_epu64(columns[j + 1][k], x, y);
                });
            });
            keep_order::<V, K>(&mut columns, 0);
        });
        unrolled!(i in SCALED, 2 => {
            remove_by_quotient::<P, V, K>(token, &mut columns, i);
        });
        upper_limbs(&columns, SCALED)
    }
}

/// `K` independent squares, interleaved; each cross product is computed once, on doubled limbs; not normalised.
#[inline(always)]
pub(super) fn square<P: Prime, V: LaneLimbs, const K: usize>(token: Avx512Ifma, a: &[V; K]) -> [V; K] {
    simd! { token;
        let mut columns = empty_columns();
        unrolled!(i in V::LEN, 8 => {
            unrolled!(j in V::LEN, 8 => {
                if const { j > i } {
                    unrolled!(k in K, 2 => {
                        let (x, y) = (a[k].as_ref()[i], a[k].as_ref()[j]);
                        columns[i + j][k] = _mm512_madd52lo_epu64(columns[i + j][k], x, y);
                        columns[i + j + 1][k] = _mm512_madd52hi_epu64(columns[i + j + 1][k], x, y);
                    });
                }
            });
            keep_order::<V, K>(&mut columns, i);
        });
        unrolled!(i in 2 * V::LEN, 16 => {
            unrolled!(k in K, 2 => {
                columns[i][k] = _mm512_add_epi64(columns[i][k], columns[i][k]);
            });
        });
        unrolled!(i in V::LEN, 8 => {
            unrolled!(k in K, 2 => {
                let x = a[k].as_ref()[i];
                columns[2 * i][k] = _mm512_madd52lo_epu64(columns[2 * i][k], x, x);
                columns[2 * i + 1][k] = _mm512_madd52hi_epu64(columns[2 * i + 1][k], x, x);
            });
        });
        reduce_columns::<P, V, K>(token, columns)
    }
}

/// Montgomery reduction of values that are not negative, given by columns, each from -2^58 to 2^58; the result's limbs have the same
/// bound.
#[inline(always)]
fn reduce_columns<P: Prime, V: LaneLimbs, const K: usize>(
    token: Avx512Ifma,
    mut columns: Columns<K>,
) -> [V; K] {
    unrolled!(i in V::LEN, 8 => {
        remove_limb!(i, token, &mut columns);
    });
    upper_limbs(&columns, V::LEN)
}

#[inline(always)]
fn upper_limbs<V: LaneLimbs, const K: usize>(columns: &Columns<K>, removed: usize) -> [V; K] {
    let mut products = [V::ZERO; K];
    unrolled!(k in K, 2 => {
        unrolled!(i in V::LEN, 8 => {
            products[k].as_mut()[i] = columns[removed + i][k];
        });
    });
    products
}

/// Adds to the columns above column `i`, which is the lowest, what equals it modulo p: all steps but the last two add `c (2^-52 mod p)` for
/// its lower 52 bits c.
#[inline(always)]
fn remove_by_inverse<P: Prime, V: LaneLimbs, const K: usize>(
    token: Avx512Ifma,
    columns: &mut Columns<K>,
    i: usize,
) {
    simd! { token;
        unrolled!(j in V::LEN, 8 => {
            let inverse = splat(token, Radix52::<P, V>::RADIX_INVERSE[j]);
            unrolled!(k in K, 2 => {
                let low = columns[i][k];
                columns[i + j + 1][k] = _mm512_madd52lo_epu64(columns[i + j + 1][k], low, inverse);
                if const { j == 0 } {
                    let carry = _mm512_srai_epi64(low, 52);
                    columns[i + 1][k] = _mm512_add_epi64(columns[i + 1][k], carry);
                }
                columns[i + j + 2][k] = _mm512_madd52hi_epu64(columns[i + j + 2][k], low, inverse);
            });
        });
        keep_order::<V, K>(columns, i + 1);
    }
}

/// As [`remove_by_inverse`], by Montgomery's quotient: the last two steps.
#[inline(always)]
fn remove_by_quotient<P: Prime, V: LaneLimbs, const K: usize>(
    token: Avx512Ifma,
    columns: &mut Columns<K>,
    i: usize,
) {
    simd! { token;
        let mut m = columns[i];
        unrolled!(k in K, 2 => {
            m[k] = _mm512_madd52lo_epu64(_mm512_setzero_si512(), m[k], splat(token, Radix52::<P, V>::INV));
        });
        unrolled!(j in V::LEN, 8 => {
            let p = splat(token, Radix52::<P, V>::P1[j]);
            unrolled!(k in K, 2 => {
                if const { j > 0 } {
                    columns[i + j][k] = _mm512_madd52lo_epu64(columns[i + j][k], m[k], p);
                }
                columns[i + j + 1][k] = _mm512_madd52hi_epu64(columns[i + j + 1][k], m[k], p);
            });
        });
        // The low half of m p[0] only completes the column to the next multiple of 2^52.
        unrolled!(k in K, 2 => {
            let carry = _mm512_srai_epi64(_mm512_add_epi64(columns[i][k], splat(token, MASK)), 52);
            columns[i + 1][k] = _mm512_add_epi64(columns[i + 1][k], carry);
        });
        keep_order::<V, K>(columns, i + 1);
    }
}

/// Transposes rows of eight words to columns and back.
#[inline(always)]
pub(super) fn transpose(token: Avx512Ifma, rows: [__m512i; 8]) -> [__m512i; 8] {
    simd! { token;
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

#[cfg(test)]
mod tests {
    use super::quotient_shift;

    /// The bounds of `ifma.rs`, for top limbs of 13 bits.
    #[test]
    fn quotients_have_eight_digits_and_leave_reduced_values() {
        for top in 1 << 12..1 << 13 {
            let unit = 1u64 << quotient_shift(top, 13);
            assert!(100 * unit < 93 * (top + 1), "a remainder is below 1.93 p for {top:#x}");
            let largest_sum = (2 * (top + unit)).max(3 * top + unit).max(37 * top / 10);
            assert!(largest_sum < 8 * unit, "a table of eight suffices for {top:#x}");
        }
    }
}
