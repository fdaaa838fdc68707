//! The digits of lanes and the kernels on them: see the head of this folder's `mod.rs`.

use super::{super::lane_limbs::MAX, starts};
use proofmill_cpu::Avx2;
use std::arch::{asm, naked_asm, x86_64::*};

/// Intrinsics whose instructions the token proves.
macro_rules! simd {
    ($token:expr; $($body:tt)*) => {{
        let _: Avx2 = $token;
        // SAFETY: the token proves every feature. Loads and stores use arrays that are as long as the data read or written.
        unsafe { $($body)* }
    }};
}

pub(super) use simd;

#[inline(always)]
pub(super) fn splat(token: Avx2, value: f64) -> __m256d {
    simd!(token; _mm256_set1_pd(value))
}

#[inline(always)]
pub(super) fn splat_bits(token: Avx2, value: u64) -> __m256i {
    simd!(token; _mm256_set1_epi64x(value as i64))
}

/// The most vectors that kernels read.
pub(super) const MOST: usize = 9 + 2 * MAX + KINDS * COLUMNS;

/// Products, squares, and products by constants.
pub(super) const KINDS: usize = 3;

/// The most columns of any field.
pub(super) const COLUMNS: usize = 16;

/// The constants of a field that kernels read, each in four lanes, in the order that tools/constgen knows.
#[repr(C, align(32))]
pub struct FmaConstants(pub(super) [[u64; 4]; MOST]);

/// The format of digits into which integers are cut.
pub trait DigitFormat: 'static {
    /// The number of digits.
    const LEN: usize;
    /// Bits of a digit.
    const BITS: u32;
    /// Digits that products remove by their residues; the others are removed by Montgomery's method.
    const REMOVED: u32;
    /// Digits that products by constants remove; all of them where these are like other products.
    const SCALED: usize;
    /// The initial columns of each kind of product.
    const STARTS: [&[u64]; KINDS];
}

macro_rules! format {
    ($digits:ty, $n:literal, $bits:literal, $removed:literal, $scaled:literal, $starts:expr) => {
        impl DigitFormat for $digits {
            const LEN: usize = $n;
            const BITS: u32 = $bits;
            const REMOVED: u32 = $removed;
            const SCALED: usize = $scaled;
            const STARTS: [&[u64]; KINDS] = $starts;
        }
    };
}

format!([[__m256d; 5]; 2], 5, 51, 2, 2, [&starts::PRODUCT_5, &starts::SQUARE_5, &starts::SCALE_5]);
format!([[__m256d; 8]; 2], 8, 48, 4, 8, [&starts::PRODUCT_8, &starts::SQUARE_8, &[]]);
format!([__m256d; 6], 6, 48, 3, 6, [&starts::PRODUCT_6, &[], &[]]);
format!([__m256d; 8], 8, 48, 4, 8, [&starts::PRODUCT_8, &[], &[]]);

/// Digits of four elements, and the kernels on them.
pub trait Columns: DigitFormat + Copy + Send + Sync + AsRef<[__m256d]> + AsMut<[__m256d]> {
    /// All zero.
    const ZERO: Self;

    /// `a b / R`.
    fn product(token: Avx2, constants: &FmaConstants, a: &Self, b: &Self) -> Self;

    /// As [`Digits::reduce`].
    fn reduce(token: Avx2, constants: &FmaConstants, a: &Self) -> Self;
}

macro_rules! columns {
    ($n:literal, $product:ident, $reduction:ident) => {
        impl Columns for [__m256d; $n] {
            // SAFETY: all-zero bits are a vector.
            const ZERO: Self = unsafe { std::mem::zeroed() };

            #[inline(always)]
            fn product(token: Avx2, constants: &FmaConstants, a: &Self, b: &Self) -> Self {
                simd!(token; $product::call(constants, a, b))
            }

            #[inline(always)]
            fn reduce(token: Avx2, constants: &FmaConstants, a: &Self) -> Self {
                simd!(token; $reduction::call(constants, a))
            }
        }
    };
}

columns!(6, product_6, reduction_6);
columns!(8, product_8, reduction_8);

/// Digits of eight elements: two vectors of four, `[[__m256d; 5]; 2]` or `[[__m256d; 8]; 2]`, and the kernels on them.
pub trait Digits: DigitFormat + Copy + Send + Sync {
    /// Whether the digits of one factor may be sums of two.
    const LOOSE: bool = Self::BITS < 51;
    /// All zero.
    const ZERO: Self;

    /// The digits of the vectors.
    fn vectors(&self) -> [&[__m256d]; 2];

    /// The digits of the vectors.
    fn vectors_mut(&mut self) -> [&mut [__m256d]; 2];

    /// The bits of the digits of four elements, given as 64-bit words, word by word; those that they do not have are zero.
    fn split(token: Avx2, words: &[__m256i; 6]) -> [__m256i; MAX];

    /// The words of four elements, given as the bits of digits; words that they do not have are zero.
    fn join(token: Avx2, digits: &[__m256i; MAX]) -> [__m256i; 6];

    /// `a b / R`.
    fn product(token: Avx2, constants: &FmaConstants, a: &Self, b: &Self) -> Self;

    /// `a^2 / R`.
    fn square(token: Avx2, constants: &FmaConstants, a: &Self) -> Self;

    /// The digits of a constant's multiples.
    type Factor: Copy + Send + Sync + AsRef<[f64]> + AsMut<[f64]> + 'static;
    /// All zero.
    const ZERO_FACTOR: Self::Factor;

    /// `a c`.
    fn scale(token: Avx2, constants: &FmaConstants, a: &Self, c: &Self::Factor) -> Self;

    /// The value less the nearest multiple of p, which is at most 6 p; for digits of at most 2^(W + 1).
    fn reduce(token: Avx2, constants: &FmaConstants, a: &Self) -> Self;
}

macro_rules! digits {
    (
        $n:literal, $split:ident, $join:ident, $product:path, $square:path, $scale:path, $multiples:literal, $reduction:path
    ) => {
        impl Digits for [[__m256d; $n]; 2] {
            // SAFETY: all-zero bits are a vector.
            const ZERO: Self = unsafe { std::mem::zeroed() };

            #[inline(always)]
            fn vectors(&self) -> [&[__m256d]; 2] {
                [&self[0], &self[1]]
            }

            #[inline(always)]
            fn vectors_mut(&mut self) -> [&mut [__m256d]; 2] {
                let [low, high] = self;
                [low, high]
            }

            #[inline(always)]
            fn split(token: Avx2, words: &[__m256i; 6]) -> [__m256i; MAX] {
                $split(token, words)
            }

            #[inline(always)]
            fn join(token: Avx2, digits: &[__m256i; MAX]) -> [__m256i; 6] {
                $join(token, digits)
            }

            #[inline(always)]
            fn product(token: Avx2, constants: &FmaConstants, a: &Self, b: &Self) -> Self {
                simd!(token; $product(constants, a, b))
            }

            #[inline(always)]
            fn square(token: Avx2, constants: &FmaConstants, a: &Self) -> Self {
                simd!(token; $square(constants, a))
            }

            type Factor = [f64; $n * $multiples];
            const ZERO_FACTOR: Self::Factor = [0.0; $n * $multiples];

            #[inline(always)]
            fn scale(token: Avx2, constants: &FmaConstants, a: &Self, c: &Self::Factor) -> Self {
                simd!(token; $scale(constants, a, c))
            }

            #[inline(always)]
            fn reduce(token: Avx2, constants: &FmaConstants, a: &Self) -> Self {
                simd!(token; $reduction(constants, a))
            }
        }
    };
}

/// Calls a kernel of two vectors of five limbs.
macro_rules! call_5 {
    ($kernel:ident, $constants:ident, $result:ident $(, $b:ident)?) => {{
        let [[a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]] = &mut $result;
        asm!(
            "call {}", sym $kernel, in("rdi") $constants, $(in("rsi") $b,)?
            inlateout("ymm0") *a0, inlateout("ymm1") *a1, inlateout("ymm2") *a2, inlateout("ymm3") *a3,
            inlateout("ymm4") *a4, inlateout("ymm5") *b0, inlateout("ymm6") *b1, inlateout("ymm7") *b2,
            inlateout("ymm8") *b3, inlateout("ymm9") *b4, clobber_abi("sysv64"),
        );
    }};
}

/// Calls a kernel of one vector of six limbs.
macro_rules! call_6 {
    ($kernel:ident, $constants:ident, $result:ident $(, $b:ident)?) => {{
        let [a0, a1, a2, a3, a4, a5] = &mut $result;
        asm!(
            "call {}", sym $kernel, in("rdi") $constants, $(in("rsi") $b,)?
            inlateout("ymm0") *a0, inlateout("ymm1") *a1, inlateout("ymm2") *a2, inlateout("ymm3") *a3,
            inlateout("ymm4") *a4, inlateout("ymm5") *a5, clobber_abi("sysv64"),
        );
    }};
}

/// Calls a kernel of one vector of eight limbs.
macro_rules! call_8 {
    ($kernel:ident, $constants:ident, $result:ident $(, $b:ident)?) => {{
        let [a0, a1, a2, a3, a4, a5, a6, a7] = &mut $result;
        asm!(
            "call {}", sym $kernel, in("rdi") $constants, $(in("rsi") $b,)?
            inlateout("ymm0") *a0, inlateout("ymm1") *a1, inlateout("ymm2") *a2, inlateout("ymm3") *a3,
            inlateout("ymm4") *a4, inlateout("ymm5") *a5, inlateout("ymm6") *a6, inlateout("ymm7") *a7,
            clobber_abi("sysv64"),
        );
    }};
}

/// A kernel, in a module of its name: the limbs of its first operand are in registers, where it leaves those of the result.
macro_rules! kernel {
    ($name:ident, $file:literal, $digits:ty, $call:ident $(, $b:ident: $operand:ty)?) => {
        mod $name {
            use super::*;

            #[unsafe(naked)]
            unsafe extern "sysv64" fn kernel() {
                naked_asm!(include_str!($file), options(raw))
            }

            /// # Safety
            /// The CPU must have AVX2 and FMA.
            #[target_feature(enable = "avx2,fma")]
            #[inline]
            pub(super) unsafe fn call(
                constants: &FmaConstants,
                a: &$digits,
                $($b: &$operand,)?
            ) -> $digits {
                let mut result = *a;
                // SAFETY: the kernel reads the constants and the second operand, and keeps what the ABI demands.
                unsafe { $call!(kernel, constants, result $(, $b)?) };
                result
            }
        }
    };
}

kernel!(product_5, "product_5.s", [[__m256d; 5]; 2], call_5, b: [[__m256d; 5]; 2]);
kernel!(square_5, "square_5.s", [[__m256d; 5]; 2], call_5);
kernel!(scale_5, "scale_5.s", [[__m256d; 5]; 2], call_5, c: [f64; 25]);
kernel!(reduction_5, "reduction_5.s", [[__m256d; 5]; 2], call_5);
kernel!(product_6, "product_6.s", [__m256d; 6], call_6, b: [__m256d; 6]);
kernel!(reduction_6, "reduction_6.s", [__m256d; 6], call_6);
kernel!(product_8, "product_8.s", [__m256d; 8], call_8, b: [__m256d; 8]);
kernel!(square_8, "square_8.s", [__m256d; 8], call_8);
kernel!(reduction_8, "reduction_8.s", [__m256d; 8], call_8);
digits!(5, split_5, join_5, product_5::call, square_5::call, scale_5::call, 5, reduction_5::call);
digits!(8, split_8, join_8, products_8, squares_8, scale_8, 1, reductions_8);

/// The kernels of one vector, for both.
macro_rules! both {
    ($name:ident, $kernel:ident $(, $b:ident)?) => {
        /// # Safety
        /// The CPU must have AVX2 and FMA.
        #[target_feature(enable = "avx2,fma")]
        #[inline]
        unsafe fn $name(
            constants: &FmaConstants,
            a: &[[__m256d; 8]; 2],
            $($b: &[[__m256d; 8]; 2],)?
        ) -> [[__m256d; 8]; 2] {
            // SAFETY: guaranteed by the caller.
            unsafe { [$kernel::call(constants, &a[0] $(, &$b[0])?), $kernel::call(constants, &a[1] $(, &$b[1])?)] }
        }
    };
}

both!(products_8, product_8, b);
both!(squares_8, square_8);
both!(reductions_8, reduction_8);

/// A product like others.
///
/// # Safety
/// The CPU must have AVX2 and FMA.
#[target_feature(enable = "avx2,fma")]
#[inline]
unsafe fn scale_8(constants: &FmaConstants, a: &[[__m256d; 8]; 2], c: &[f64; 8]) -> [[__m256d; 8]; 2] {
    let mut digits = [_mm256_setzero_pd(); 8];
    for (digit, c) in digits.iter_mut().zip(c) {
        *digit = _mm256_set1_pd(*c);
    }
    // SAFETY: guaranteed by the caller.
    unsafe { products_8(constants, a, &[digits; 2]) }
}

/// The bits of five digits of 51 bits; the last one has the rest.
#[inline(always)]
fn split_5(token: Avx2, [w0, w1, w2, w3, ..]: &[__m256i; 6]) -> [__m256i; MAX] {
    simd! { token;
        let mask = splat_bits(token, (1 << 51) - 1);
        let zero = _mm256_setzero_si256();
        [
            _mm256_and_si256(*w0, mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<51>(*w0), _mm256_slli_epi64::<13>(*w1)), mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<38>(*w1), _mm256_slli_epi64::<26>(*w2)), mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<25>(*w2), _mm256_slli_epi64::<39>(*w3)), mask),
            _mm256_srli_epi64::<12>(*w3),
            zero,
            zero,
            zero,
        ]
    }
}

/// The inverse of [`split_5`].
#[inline(always)]
fn join_5(token: Avx2, [d0, d1, d2, d3, d4, ..]: &[__m256i; MAX]) -> [__m256i; 6] {
    simd! { token;
        let zero = _mm256_setzero_si256();
        [
            _mm256_or_si256(*d0, _mm256_slli_epi64::<51>(*d1)),
            _mm256_or_si256(_mm256_srli_epi64::<13>(*d1), _mm256_slli_epi64::<38>(*d2)),
            _mm256_or_si256(_mm256_srli_epi64::<26>(*d2), _mm256_slli_epi64::<25>(*d3)),
            _mm256_or_si256(_mm256_srli_epi64::<39>(*d3), _mm256_slli_epi64::<12>(*d4)),
            zero,
            zero,
        ]
    }
}

/// The bits of eight digits of 48 bits.
#[inline(always)]
fn split_8(token: Avx2, words: &[__m256i; 6]) -> [__m256i; MAX] {
    simd! { token;
        let mask = splat_bits(token, (1 << 48) - 1);
        let [w0, w1, w2, w3, w4, w5] = words;
        [
            _mm256_and_si256(*w0, mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<48>(*w0), _mm256_slli_epi64::<16>(*w1)), mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<32>(*w1), _mm256_slli_epi64::<32>(*w2)), mask),
            _mm256_srli_epi64::<16>(*w2),
            _mm256_and_si256(*w3, mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<48>(*w3), _mm256_slli_epi64::<16>(*w4)), mask),
            _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64::<32>(*w4), _mm256_slli_epi64::<32>(*w5)), mask),
            _mm256_srli_epi64::<16>(*w5),
        ]
    }
}

/// The inverse of [`split_8`].
#[inline(always)]
fn join_8(token: Avx2, [d0, d1, d2, d3, d4, d5, d6, d7]: &[__m256i; MAX]) -> [__m256i; 6] {
    simd! { token;
        [
            _mm256_or_si256(*d0, _mm256_slli_epi64::<48>(*d1)),
            _mm256_or_si256(_mm256_srli_epi64::<16>(*d1), _mm256_slli_epi64::<32>(*d2)),
            _mm256_or_si256(_mm256_srli_epi64::<32>(*d2), _mm256_slli_epi64::<16>(*d3)),
            _mm256_or_si256(*d4, _mm256_slli_epi64::<48>(*d5)),
            _mm256_or_si256(_mm256_srli_epi64::<16>(*d5), _mm256_slli_epi64::<32>(*d6)),
            _mm256_or_si256(_mm256_srli_epi64::<32>(*d6), _mm256_slli_epi64::<16>(*d7)),
        ]
    }
}
