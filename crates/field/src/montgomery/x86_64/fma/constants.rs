//! Constants of a field in balanced radix 2^W.

use super::{
    super::radix52::{MAX, power_of_two, words},
    starts,
};
use crate::montgomery::{Limbs, Prime, limbs::sbb};

/// One value in four lanes.
type Splat<T> = [T; 4];

/// The most columns of any field.
const COLUMNS: usize = 16;

/// What the kernels read. tools/constgen knows the order.
#[repr(C, align(32))]
pub(super) struct Constants<const N: usize> {
    /// 1.5 * 2^(W + 52): a product that is added to it is rounded to a multiple of 2^W.
    rest: Splat<f64>,
    /// `rest + low`.
    rest_and_low: Splat<f64>,
    /// The lowest W bits.
    mask: Splat<u64>,
    /// 2^52: its bits, or a digit of W bits, are 2^52 plus the digit.
    magic: Splat<f64>,
    /// 2^52 + 2^(W - 1).
    offset: Splat<f64>,
    /// 1.5 * 2^52.
    low: Splat<f64>,
    /// `-p^-1 mod 2^W`, balanced.
    inverse: Splat<f64>,
    /// The reciprocal of p / 2^(W (N - 1)).
    top_inverse: Splat<f64>,
    /// 2^-W.
    base_inverse: Splat<f64>,
    modulus: [Splat<f64>; N],
    /// `2^-(W j) mod p`, for the j digits that are removed by their residues.
    jump: [Splat<f64>; N],
    product: [Splat<u64>; COLUMNS],
    square: [Splat<u64>; COLUMNS],
}

/// The constants of the field `P` in `N` limbs.
pub struct Radix<P, const N: usize>(std::marker::PhantomData<P>);

impl<P: Prime, const N: usize> Radix<P, N> {
    /// Bits of a limb.
    pub(super) const BITS: u32 = if N == 5 { 51 } else { 48 };
    pub(super) const MASK: u64 = (1 << Self::BITS) - 1;
    /// The Montgomery form's power of two.
    pub(super) const R: u32 = Self::BITS * N as u32;
    /// Whether R is the same as in memory.
    pub(super) const SAME_R: bool = Self::R == 64 * P::Limbs::LEN as u32;
    /// Whether products of reduced values are above p: then they are reduced too.
    pub(super) const DENSE: bool = P::BITS == Self::R;
    pub(super) const MODULUS: [f64; N] = {
        let modulus = digits(&words::<P>(&P::MODULUS), Self::BITS);
        let mut digit = 0;
        while digit + 1 < N {
            let most = (2u64 << Self::BITS) as f64 + 6.0 * modulus[digit].abs();
            assert!(most <= (1u64 << 53) as f64, "reductions are exact");
            digit += 1;
        }
        modulus
    };
    /// 2^R mod p: one.
    pub(super) const ONE: [f64; N] = Self::power(Self::R);
    /// A product with this converts the 64-bit Montgomery form to this one.
    pub(super) const ENTER: [f64; N] = Self::power(2 * Self::R - 64 * P::Limbs::LEN as u32);
    /// A product with this converts this Montgomery form to the 64-bit one.
    pub(super) const LEAVE: [f64; N] = Self::power(64 * P::Limbs::LEN as u32);
    pub(super) const CONSTANTS: Constants<N> = {
        let low = 1.5 * (1u64 << 52) as f64;
        let rest = low * (1u64 << Self::BITS) as f64;
        let base_inverse = 1.0 / (1u64 << Self::BITS) as f64;
        let top = Self::MODULUS[N - 1] + Self::MODULUS[N - 2] * base_inverse;
        let half = (1u64 << (Self::BITS - 1)) as f64;
        let removed = if N == 5 { 2 } else { 4 };
        let jump = Self::centred(inverse_power_of_two::<P>(removed * Self::BITS));
        let inverse = (P::INV << (64 - Self::BITS)) as i64 >> (64 - Self::BITS);
        let (mut product, mut square) = ([[0; 4]; COLUMNS], [[0; 4]; COLUMNS]);
        let mut column = 0;
        while column < 2 * N {
            product[column] = [if N == 5 { starts::PRODUCT_5[column] } else { starts::PRODUCT_8[column] }; 4];
            square[column] = [if N == 5 { starts::SQUARE_5[column] } else { starts::SQUARE_8[column] }; 4];
            column += 1;
        }
        Constants {
            rest: [rest; 4],
            rest_and_low: [rest + low; 4],
            mask: [Self::MASK; 4],
            magic: [(1u64 << 52) as f64; 4],
            offset: [(1u64 << 52) as f64 + half; 4],
            low: [low; 4],
            inverse: [inverse as f64; 4],
            top_inverse: [1.0 / top; 4],
            base_inverse: [base_inverse; 4],
            modulus: splat(&Self::MODULUS),
            jump: splat(&jump),
            product,
            square,
        }
    };

    const fn power(exponent: u32) -> [f64; N] {
        Self::centred(power_of_two::<P>(exponent))
    }

    /// The digits of an element, or of it less p if that is smaller.
    pub(super) const fn centred(element: [u64; MAX]) -> [f64; N] {
        let less = subtract(&words::<P>(&P::MODULUS), &element);
        if subtract(&less, &element)[MAX - 1] >> 63 == 0 {
            return digits(&element, Self::BITS);
        }
        let mut digits = digits(&less, Self::BITS);
        let mut i = 0;
        while i < N {
            digits[i] = -digits[i];
            i += 1;
        }
        digits
    }
}

const fn splat<const N: usize>(digits: &[f64; N]) -> [Splat<f64>; N] {
    let mut lanes = [[0.0; 4]; N];
    let mut i = 0;
    while i < N {
        lanes[i] = [digits[i]; 4];
        i += 1;
    }
    lanes
}

/// Balanced digits of `bits` bits, all but the last from -2^(bits - 1) to 2^(bits - 1) - 1.
const fn digits<const N: usize>(words: &[u64; MAX], bits: u32) -> [f64; N] {
    let mut digits = [0.0; N];
    let mut carry = 0;
    let mut i = 0;
    while i < N {
        let (word, shift) = (bits as usize * i / 64, bits * i as u32 % 64);
        let mut digit = words[word] >> shift;
        if shift + bits > 64 && word + 1 < MAX {
            digit |= words[word + 1] << (64 - shift);
        }
        digit = (digit & ((1 << bits) - 1)) + carry;
        carry = (i + 1 < N && digit >> (bits - 1) != 0) as u64;
        digits[i] = digit as f64 - (carry << bits) as f64;
        i += 1;
    }
    digits
}

const fn subtract(a: &[u64; MAX], b: &[u64; MAX]) -> [u64; MAX] {
    let mut difference = [0; MAX];
    let mut borrow = false;
    let mut i = 0;
    while i < MAX {
        (difference[i], borrow) = sbb(a[i], b[i], borrow);
        i += 1;
    }
    difference
}

/// `2^-exponent mod p`.
const fn inverse_power_of_two<P: Prime>(exponent: u32) -> [u64; MAX] {
    let p = words::<P>(&P::MODULUS);
    let mut value = [0; MAX];
    value[0] = 1;
    let mut i = 0;
    while i < exponent {
        let mut carry = 0;
        let odd = value[0] & 1;
        let mut j = 0;
        while j < MAX {
            let sum = value[j] as u128 + (p[j] * odd) as u128 + carry;
            value[j] = sum as u64;
            carry = sum >> 64;
            j += 1;
        }
        j = 0;
        while j < MAX {
            value[j] = value[j] >> 1 | if j + 1 < MAX { value[j + 1] << 63 } else { 0 };
            j += 1;
        }
        i += 1;
    }
    value
}
