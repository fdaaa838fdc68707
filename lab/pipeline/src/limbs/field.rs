//! A prime field's constants in signed limbs.

use super::{LIMBS, tile::QUOTIENT_SHIFT, to_digits};
use crate::PipelineError;
use proofmill_field::{Fp, Prime, PrimeField};

/// Bits of a modulus p: elements may then be as large as 2 p, and their highest limb still fits.
pub const BITS: u32 = 254;

/// The constants of a prime field whose elements are eight signed limbs, times R = 2^256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedField {
    /// The modulus p, little-endian.
    pub(super) words: [u64; 4],
    /// The modulus in signed limbs.
    pub(super) modulus: [i32; LIMBS],
    /// `-1/p` modulo 2^32.
    pub(super) inverse: i32,
    /// `2^QUOTIENT_SHIFT / p_top`, rounded, where p_top is `p / 2^224`: below 2^31, since p has 254 bits.
    pub(super) reciprocal: i32,
    /// `R^2 mod p` in signed limbs.
    pub(super) square: [i32; LIMBS],
}

impl SignedField {
    /// The constants for an odd modulus in little-endian words.
    ///
    /// # Errors
    /// Moduli that are even or do not have [`BITS`] bits.
    pub fn new(modulus: [u64; 4]) -> Result<Self, PipelineError> {
        let bits = modulus
            .iter()
            .rev()
            .fold(0, |bits, word| if bits > 0 { bits + 64 } else { 64 - word.leading_zeros() });
        if modulus[0] & 1 == 0 || bits != BITS {
            return Err(PipelineError::Modulus { bits });
        }
        // Newton's iteration doubles the number of right bits; p is its own inverse modulo 8.
        let low = modulus[0] as u32;
        let inverse =
            (0..4).fold(low, |inverse, _| inverse.wrapping_mul(2u32.wrapping_sub(low.wrapping_mul(inverse))));
        let square = (0..512).fold([1, 0, 0, 0], |power, _| reduced(added(power, power).0, modulus));
        let top = (modulus[3] as f64 + modulus[2] as f64 / 2f64.powi(64)) / 2f64.powi(32);
        Ok(Self {
            words: modulus,
            modulus: to_digits(modulus, false),
            inverse: inverse.wrapping_neg() as i32,
            reciprocal: (2f64.powi(QUOTIENT_SHIFT as i32) / top).round() as i32,
            square: centred(square, modulus),
        })
    }

    /// The constants of a field.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of<F: PrimeField>() -> Result<Self, PipelineError> {
        let minus_one = (-F::ONE).to_words();
        let words = minus_one.as_ref();
        let mut modulus = [0; 4];
        if words.len() != modulus.len() {
            return Err(PipelineError::Modulus { bits: F::BITS });
        }
        modulus.copy_from_slice(words);
        // The largest element is even.
        modulus[0] += 1;
        Self::new(modulus)
    }

    /// The modulus, little-endian.
    pub fn modulus(&self) -> [u64; 4] {
        self.words
    }

    /// The limbs of an integer below the modulus, or of that integer minus the modulus: the one that is nearer
    /// to zero.
    ///
    /// # Panics
    /// If the integer is not below the modulus.
    pub fn digits(&self, integer: [u64; 4]) -> [i32; LIMBS] {
        assert!(is_below(integer, self.words), "an integer below the modulus");
        centred(integer, self.words)
    }

    /// The integer below the modulus that limbs are congruent to.
    pub fn residue(&self, digits: [i32; LIMBS]) -> [u64; 4] {
        residue(digits, self.words)
    }
}

/// The limbs of an element: those of [`SignedField::digits`] for its Montgomery form.
pub(crate) fn digits_of<P: Prime<Limbs = [u64; 4]>>(element: Fp<P>) -> [i32; LIMBS] {
    const { assert!(P::BITS == BITS, "a field of tiles") };
    centred(element.to_montgomery(), P::MODULUS)
}

/// The element of limbs.
pub(super) fn element<P: Prime<Limbs = [u64; 4]>>(digits: [i32; LIMBS]) -> Fp<P> {
    const { assert!(P::BITS == BITS, "a field of tiles") };
    Fp::constant(residue(digits, P::MODULUS))
}

/// The integer below a modulus that limbs are congruent to.
fn residue(digits: [i32; LIMBS], modulus: [u64; 4]) -> [u64; 4] {
    let (mut words, mut carry) = ([0; 4], 0);
    for (i, digit) in digits.into_iter().enumerate() {
        let sum = i64::from(digit) + carry;
        words[i / 2] |= u64::from(sum as u32) << (32 * (i % 2));
        carry = sum >> 32;
    }
    // At most three times, since limbs hold less than 3 p.
    while carry < 0 {
        let (sum, overflows) = added(words, modulus);
        (words, carry) = (sum, carry + i64::from(overflows));
    }
    reduced(words, modulus)
}

/// The integer modulo p, by subtractions.
fn reduced(mut integer: [u64; 4], modulus: [u64; 4]) -> [u64; 4] {
    while !is_below(integer, modulus) {
        integer = subtracted(integer, modulus).0;
    }
    integer
}

/// The digits of an integer, or of it minus the modulus: the one that is nearer to zero.
fn centred(integer: [u64; 4], modulus: [u64; 4]) -> [i32; LIMBS] {
    let negative = subtracted(modulus, integer).0;
    if is_below(negative, integer) { to_digits(negative, true) } else { to_digits(integer, false) }
}

fn is_below(a: [u64; 4], b: [u64; 4]) -> bool {
    subtracted(a, b).1
}

/// `a - b` modulo 2^256, and whether it is negative.
fn subtracted(mut a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = a.borrowing_sub(b, borrow);
    }
    (a, borrow)
}

/// `a + b` modulo 2^256, and whether it is larger.
fn added(mut a: [u64; 4], b: [u64; 4]) -> ([u64; 4], bool) {
    let mut carry = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, carry) = a.carrying_add(b, carry);
    }
    (a, carry)
}
