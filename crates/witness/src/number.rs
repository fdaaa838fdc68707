//! Numbers in inputs, reduced to field elements.

use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp};

/// The forms of a number, for messages.
pub(crate) const EXPECTED: &str = "expected a whole number, in quotes if it is above 2^64: decimal, or hexadecimal, octal or binary after 0x, 0o or 0b";

/// The limbs in 32 little-endian bytes.
pub(crate) fn limbs(bytes: &[u8; 32]) -> [u64; 4] {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    limbs
}

/// The element in 32 little-endian bytes; `None` if it is not below the modulus.
pub(crate) fn element<P: ScalarPrime>(bytes: &[u8; 32]) -> Option<Fp<P>> {
    Fp::from_canonical(limbs(bytes))
}

/// A whole number of any size modulo the field's prime: decimal digits, or those after `0x`, `0o` or `0b`, after an optional minus
/// and between optional white space. `None` for anything else.
pub(crate) fn parse<P: ScalarPrime>(text: &str) -> Option<Fp<P>> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.as_bytes() {
        [b'0', b'x' | b'X', digits @ ..] => positional(digits, 16, 15),
        [b'0', b'o' | b'O', digits @ ..] => positional(digits, 8, 20),
        [b'0', b'b' | b'B', digits @ ..] => positional(digits, 2, 60),
        digits => positional(digits, 10, 19),
    }?;
    Some(if negative { -magnitude } else { magnitude })
}

/// The value of digits by Horner's rule. `chunk` digits of the base fit 64 bits.
fn positional<P: ScalarPrime>(digits: &[u8], base: u32, chunk: usize) -> Option<Fp<P>> {
    if digits.is_empty() {
        return None;
    }
    let mut value = Fp::ZERO;
    for digits in digits.chunks(chunk) {
        let (mut part, mut scale) = (0_u64, 1_u64);
        for digit in digits {
            part = part * u64::from(base) + u64::from(char::from(*digit).to_digit(base)?);
            scale *= u64::from(base);
        }
        value = value * Fp::from(scale) + Fp::from(part);
    }
    Some(value)
}
