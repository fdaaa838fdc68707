//! Vectors of 64-bit words: the operations that an instruction set provides.

use super::{EPSILON, MODULUS};
use proofmill_cpu::Portable;
use std::ops::{Add, BitAnd, BitXor, Sub};

/// A vector of unsigned 64-bit words; sums, differences and shifts are modulo 2^64.
///
/// The default bodies compute a 64-bit product from four products of halves; instruction sets with wider products
/// override them.
///
/// Every vector is made from other vectors or from a token, so each is proof that its CPU has the instructions.
pub trait U64s:
    Copy + Send + Sync + 'static + Add<Output = Self> + Sub<Output = Self> + BitAnd<Output = Self>
{
    /// Proof that the CPU has the instructions of this type.
    type Token: Copy + Send + Sync + 'static;

    /// The number of words.
    const WIDTH: usize;

    /// See [`GoldilocksVector::CHAINS`](super::GoldilocksVector::CHAINS).
    const CHAINS: usize = 12;

    /// Whether formulas should multiply where others shift and add several times: where each word of a product is one
    /// instruction, the low one also with a sum.
    const PREFERS_PRODUCTS: bool = false;

    /// The token that the words hold.
    fn token(&self) -> Self::Token;

    /// Reads `WIDTH` words.
    ///
    /// # Panics
    /// If the slice is shorter (also for [`store`](Self::store)).
    fn load(token: Self::Token, words: &[u64]) -> Self;

    /// Reads `WIDTH` bytes, each into one word.
    ///
    /// # Panics
    /// If the slice is shorter, or `WIDTH` is more than 8.
    #[inline(always)]
    fn load_bytes(token: Self::Token, bytes: &[u8]) -> Self {
        let mut words = [0; 8];
        for i in 0..Self::WIDTH {
            words[i] = bytes[i].into();
        }
        Self::load(token, &words)
    }

    /// Writes `WIDTH` words.
    fn store(self, words: &mut [u64]);

    /// One word in every lane.
    fn splat(token: Self::Token, word: u64) -> Self;

    /// Transposes a square of `WIDTH` rows of `WIDTH` words: reads row k at `from(k)`, writes column k at `to(k)`.
    ///
    /// # Safety
    /// All of these rows must be readable, and the columns writable.
    #[inline(always)]
    unsafe fn transpose(_: Self::Token, from: impl Fn(usize) -> *const u64, to: impl Fn(usize) -> *mut u64) {
        for row in 0..Self::WIDTH {
            for column in 0..Self::WIDTH {
                // SAFETY: the caller promises the rows.
                unsafe { *to(column).add(row) = *from(row).add(column) };
            }
        }
    }

    /// `self << K`.
    fn shl<const K: u32>(self) -> Self;

    /// `self >> K`, filled with zeros.
    fn shr<const K: u32>(self) -> Self;

    /// `self >> K` of signed words between `-2^62` and `2^62`.
    #[inline(always)]
    fn shr_signed<const K: u32>(self) -> Self {
        let token = self.token();
        (self + Self::splat(token, 1 << 62)).shr::<K>() - Self::splat(token, (1 << 62) >> K)
    }

    /// The products of the low 32-bit halves.
    fn mul_halves(self, rhs: Self) -> Self;

    /// The products of the low 32-bit halves as signed numbers.
    #[inline(always)]
    fn mul_signed_halves(self, rhs: Self) -> Self {
        let sign_of =
            |word: Self| Self::splat(word.token(), 0) - (word.shr::<31>() & Self::splat(word.token(), 1));
        let lacking = (sign_of(self) & rhs) + (sign_of(rhs) & self);
        self.mul_halves(rhs) - lacking.shl::<32>()
    }

    /// `self` plus the products of the low 32-bit halves of a and b.
    #[inline(always)]
    fn add_product_of_halves(self, a: Self, b: Self) -> Self {
        self + a.mul_halves(b)
    }

    /// `self + rhs`, plus `2^32 - 1` if that wrapped: the same residue modulo p, if `self` or `rhs` is at most
    /// `2^64 - 2^32`.
    fn add_folded(self, rhs: Self) -> Self;

    /// `self - rhs`, minus `2^32 - 1` if that wrapped: the same residue modulo p, if `rhs` is at most p.
    fn sub_folded(self, rhs: Self) -> Self;

    /// The representative below p.
    fn canonical(self) -> Self;

    /// The high half, in the low half; the bits above it are unspecified.
    #[inline(always)]
    fn high_half(self) -> Self {
        self.shr::<32>()
    }

    /// The low half.
    #[inline(always)]
    fn low_half(self) -> Self {
        self & Self::splat(self.token(), EPSILON)
    }

    /// The low half of `self` as the low half, the low half of `high` as the high half.
    #[inline(always)]
    fn join(self, high: Self) -> Self {
        self.low_half() + high.shl::<32>()
    }

    /// `self (2^32 - 1)` for `self` below 2^32; the high half is ignored.
    #[inline(always)]
    fn mul_epsilon(self) -> Self {
        self.mul_halves(Self::splat(self.token(), EPSILON))
    }

    /// The 128-bit product, low word first.
    #[inline(always)]
    fn mul_wide(self, rhs: Self) -> [Self; 2] {
        let [low, middle, high] = self.mul_parts(rhs);
        [low.join(middle), high]
    }

    /// The low word of the product with a constant.
    #[inline(always)]
    fn mul_low(self, word: u64) -> Self {
        let [low, _] = self.mul_wide(Self::splat(self.token(), word));
        low
    }

    /// `self byte` modulo p, not canonical, for a `byte` below 2^8.
    #[inline(always)]
    fn mul_byte(self, byte: Self) -> Self {
        let (low, high) = (self.mul_halves(byte), self.high_half().mul_halves(byte));
        // Both terms are below 2^41.
        high.shl::<32>().add_folded(low + high.shr::<32>().mul_epsilon())
    }

    /// The 128-bit square, low word first.
    #[inline(always)]
    fn square_wide(self) -> [Self; 2] {
        let high_half = self.high_half();
        let (low, cross, high) =
            (self.mul_halves(self), self.mul_halves(high_half), high_half.mul_halves(high_half));
        // The doubled cross product starts at bit 33.
        let upper = cross + low.shr::<33>();
        [low + cross.shl::<33>(), high + upper.shr::<31>()]
    }

    /// The 128-bit product in three parts: the low halves of the first two are its bits 0..32 and 32..64 (their high halves
    /// are unspecified), the third is its high word.
    #[inline(always)]
    fn mul_parts(self, rhs: Self) -> [Self; 3] {
        let (a, b) = (self.high_half(), rhs.high_half());
        let low = self.mul_halves(rhs);
        let first = a.mul_halves(rhs) + low.shr::<32>();
        let second = self.mul_halves(b) + first.low_half();
        [low, second, a.mul_halves(b) + first.shr::<32>() + second.shr::<32>()]
    }
}

/// The operations on bits that hashes need besides those of [`U64s`].
pub trait Bitwise: U64s + BitXor<Output = Self> {
    /// `self` rotated left by `LEFT` bits, 1 to 63; `RIGHT` is `64 - LEFT`.
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self;

    /// The bits of `self` that `mask` has not.
    fn without(self, mask: Self) -> Self;
}

/// The product with a byte, for instruction sets where a wide product is cheap; its high word is below 2^8.
#[inline(always)]
pub fn mul_byte_by_wide<W: U64s>(a: W, byte: W) -> W {
    let [low, high] = a.mul_wide(byte);
    low.add_folded(high.mul_epsilon())
}

/// A representative of `low + 2^64 high` below 2^64, by `2^64 = 2^32 - 1` and `2^96 = -1` modulo p.
#[inline(always)]
pub(crate) fn reduce_128<W: U64s>([low, high]: [W; 2]) -> W {
    low.sub_folded(high.shr::<32>()).add_folded(high.mul_epsilon())
}

/// The inverse of p modulo 2^64: `p (2^32 + 1) = 2^96 + 1`.
const INVERSE: u64 = (1 << 32) + 1;

/// A representative of `2^-64 (low + 2^64 high)` below 2^64, for any words (Montgomery, "Modular multiplication without trial
/// division", Mathematics of Computation 44 (1985), 519-521).
///
/// `m p` for `m = low INVERSE` has the low word `low`, too, so the difference is 2^64 times that of the high words.
#[inline(always)]
pub(crate) fn reduce_128_montgomery<W: U64s>([low, high]: [W; 2]) -> W {
    let [_, multiple] = low.mul_low(INVERSE).mul_wide(W::splat(low.token(), MODULUS));
    // m is a word, so the high word of m p is below p.
    high.sub_folded(multiple)
}

/// One word, in plain Rust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct U64x1(pub(crate) u64);

impl Add for U64x1 {
    type Output = Self;
    #[inline(always)]
    fn add(self, rhs: Self) -> Self {
        Self(self.0.wrapping_add(rhs.0))
    }
}

impl Sub for U64x1 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, rhs: Self) -> Self {
        Self(self.0.wrapping_sub(rhs.0))
    }
}

impl BitAnd for U64x1 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, rhs: Self) -> Self {
        Self(self.0 & rhs.0)
    }
}

impl BitXor for U64x1 {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, rhs: Self) -> Self {
        Self(self.0 ^ rhs.0)
    }
}

impl Bitwise for U64x1 {
    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(self) -> Self {
        Self(self.0.rotate_left(LEFT as u32))
    }

    #[inline(always)]
    fn without(self, mask: Self) -> Self {
        Self(self.0 & !mask.0)
    }
}

impl U64s for U64x1 {
    type Token = Portable;

    const WIDTH: usize = 1;

    const CHAINS: usize = 4;

    #[inline(always)]
    fn token(&self) -> Portable {
        Portable
    }

    #[inline(always)]
    fn load(_: Portable, words: &[u64]) -> Self {
        Self(words[0])
    }

    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        words[0] = self.0;
    }

    #[inline(always)]
    fn splat(_: Portable, word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    fn shl<const K: u32>(self) -> Self {
        Self(self.0 << K)
    }

    #[inline(always)]
    fn shr<const K: u32>(self) -> Self {
        Self(self.0 >> K)
    }

    #[inline(always)]
    fn shr_signed<const K: u32>(self) -> Self {
        Self((self.0 as i64 >> K) as u64)
    }

    #[inline(always)]
    fn mul_halves(self, rhs: Self) -> Self {
        Self((self.0 & EPSILON) * (rhs.0 & EPSILON))
    }

    #[inline(always)]
    fn mul_signed_halves(self, rhs: Self) -> Self {
        Self((i64::from(self.0 as i32) * i64::from(rhs.0 as i32)) as u64)
    }

    #[inline(always)]
    fn add_folded(self, rhs: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(rhs.0);
        Self(sum.wrapping_add(EPSILON & u64::from(carry).wrapping_neg()))
    }

    #[inline(always)]
    fn sub_folded(self, rhs: Self) -> Self {
        let (difference, borrow) = self.0.overflowing_sub(rhs.0);
        Self(difference.wrapping_sub(EPSILON & u64::from(borrow).wrapping_neg()))
    }

    #[inline(always)]
    fn canonical(self) -> Self {
        let (reduced, borrow) = self.0.overflowing_sub(super::MODULUS);
        Self(if borrow { self.0 } else { reduced })
    }

    #[inline(always)]
    fn mul_wide(self, rhs: Self) -> [Self; 2] {
        let product = u128::from(self.0) * u128::from(rhs.0);
        [Self(product as u64), Self((product >> 64) as u64)]
    }

    #[inline(always)]
    fn mul_byte(self, byte: Self) -> Self {
        mul_byte_by_wide(self, byte)
    }

    #[inline(always)]
    fn square_wide(self) -> [Self; 2] {
        self.mul_wide(self)
    }

    #[inline(always)]
    fn mul_parts(self, rhs: Self) -> [Self; 3] {
        let [low, high] = self.mul_wide(rhs);
        [low, low.shr::<32>(), high]
    }
}
