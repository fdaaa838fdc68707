//! Constants of a field in balanced radix 2^W.

use super::{
    super::{
        lane_limbs::MAX,
        radix52::{power_of_two, scaled, words},
    },
    digits::{COLUMNS, DigitFormat, FmaConstants, KINDS, MOST},
};
use crate::montgomery::{Fp, Limbs, Prime, limbs::sbb};
use proofmill_cpu::Avx2;
use std::marker::PhantomData;

/// The constants of the field `P` in the digits `D`. Arrays hold the digits in their first places.
pub(super) struct Radix<P, D>(PhantomData<(P, D)>);

impl<P: Prime, D: DigitFormat> Radix<P, D> {
    pub(super) const MASK: u64 = (1 << D::BITS) - 1;
    /// The Montgomery form's power of two.
    pub(super) const R: u32 = D::BITS * D::LEN as u32;
    /// Whether R is the same as in memory.
    pub(super) const SAME_R: bool = Self::R == 64 * P::Limbs::LEN as u32;
    /// Whether products of reduced values are above p: then they are reduced too.
    pub(super) const DENSE: bool = P::BITS == Self::R;
    pub(super) const MODULUS: [f64; MAX] = {
        let modulus = Self::digits(&words::<P>(&P::MODULUS));
        let mut digit = 0;
        while digit + 1 < D::LEN {
            let most = (2u64 << D::BITS) as f64 + 6.0 * modulus[digit].abs();
            assert!(most <= (1u64 << 53) as f64, "reductions are exact");
            digit += 1;
        }
        modulus
    };
    /// The reciprocal of p / 2^(W (N - 1)).
    pub(super) const RECIPROCAL: f64 = {
        let below = Self::MODULUS[D::LEN - 2] / (1u64 << D::BITS) as f64;
        1.0 / (Self::MODULUS[D::LEN - 1] + below)
    };
    /// 2^R mod p: one.
    pub(super) const ONE: [f64; MAX] = Self::power(Self::R);
    /// A product with this converts the 64-bit Montgomery form to this one.
    pub(super) const ENTER: [f64; MAX] = Self::power(2 * Self::R - 64 * P::Limbs::LEN as u32);
    /// A product with this converts this Montgomery form to the 64-bit one.
    pub(super) const LEAVE: [f64; MAX] = Self::power(64 * P::Limbs::LEN as u32);
    pub(super) const CONSTANTS: &'static FmaConstants = &const {
        let low = 1.5 * (1u64 << 52) as f64;
        let rest = low * (1u64 << D::BITS) as f64;
        let base_inverse = 1.0 / (1u64 << D::BITS) as f64;
        let inverse = (P::INV << (64 - D::BITS)) as i64 >> (64 - D::BITS);
        let jump = Self::centred(inverse_power_of_two::<P>(D::REMOVED * D::BITS));
        let last = D::LEN - 1;
        assert!(
            2 * D::REMOVED < D::LEN as u32 || 0.15 * Self::MODULUS[last] > jump[last].abs(),
            "products are at most A B p / R + 0.6"
        );
        let mut list = List::EMPTY
            // A product that is added to it is rounded to a multiple of 2^W.
            .with(rest.to_bits())
            .with((rest + low).to_bits())
            .with(Self::MASK)
            // Its bits, or a digit of W bits, are 2^52 plus the digit.
            .with(((1u64 << 52) as f64).to_bits())
            .with(((1u64 << 52) as f64 + (1u64 << (D::BITS - 1)) as f64).to_bits())
            .with(low.to_bits())
            .with((inverse as f64).to_bits())
            .with(Self::RECIPROCAL.to_bits())
            .with(base_inverse.to_bits());
        let mut digit = 0;
        while digit < 2 * D::LEN {
            let [modulus, jump] = [&Self::MODULUS, &jump];
            let limbs = if digit < D::LEN { modulus } else { jump };
            list = list.with(limbs[digit % D::LEN].to_bits());
            digit += 1;
        }
        let mut column = 0;
        while column < KINDS * COLUMNS {
            let starts = D::STARTS[column / COLUMNS];
            let used = column % COLUMNS < starts.len();
            list = list.with(if used { starts[column % COLUMNS] } else { 0 });
            column += 1;
        }
        FmaConstants(list.vectors)
    };

    /// `2^(W (i + SCALED)) mod p`: what multiple i of a constant begins with.
    pub(super) const WEIGHTS: [[u64; MAX]; MAX] = {
        let mut weights = [[0; MAX]; MAX];
        let mut digit = 0;
        while digit < D::LEN {
            weights[digit] = power_of_two::<P>(D::BITS * (digit as u32 + D::SCALED as u32));
            digit += 1;
        }
        weights
    };

    /// The digits of an element times `weight`, a power of two.
    pub(super) fn multiple(token: Avx2, element: Fp<P>, weight: &[u64; MAX]) -> [f64; MAX] {
        Self::centred(words::<P>(&scaled::<P>(token.adx(), &element.to_montgomery(), weight)))
    }

    const fn power(exponent: u32) -> [f64; MAX] {
        Self::centred(power_of_two::<P>(exponent))
    }

    /// The digits of an element, or of it less p if that is smaller.
    pub(super) const fn centred(element: [u64; MAX]) -> [f64; MAX] {
        let less = subtract(&words::<P>(&P::MODULUS), &element);
        if subtract(&less, &element)[MAX - 1] >> 63 == 0 {
            return Self::digits(&element);
        }
        let mut digits = Self::digits(&less);
        let mut i = 0;
        while i < D::LEN {
            digits[i] = -digits[i];
            i += 1;
        }
        digits
    }

    /// Balanced digits, all but the last from -2^(W - 1) to 2^(W - 1) - 1.
    const fn digits(words: &[u64; MAX]) -> [f64; MAX] {
        let bits = D::BITS;
        let mut digits = [0.0; MAX];
        let mut carry = 0;
        let mut i = 0;
        while i < D::LEN {
            let (word, shift) = (bits as usize * i / 64, bits * i as u32 % 64);
            let mut digit = words[word] >> shift;
            if shift + bits > 64 && word + 1 < MAX {
                digit |= words[word + 1] << (64 - shift);
            }
            digit = (digit & Self::MASK) + carry;
            carry = (i + 1 < D::LEN && digit >> (bits - 1) != 0) as u64;
            digits[i] = digit as f64 - (carry << bits) as f64;
            i += 1;
        }
        digits
    }
}

/// Constants in lanes, appended one after another.
struct List {
    vectors: [[u64; 4]; MOST],
    len: usize,
}

impl List {
    const EMPTY: Self = Self { vectors: [[0; 4]; MOST], len: 0 };

    const fn with(mut self, value: u64) -> Self {
        self.vectors[self.len] = [value; 4];
        self.len += 1;
        self
    }
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
