//! The operations of graphs: those of circom's expressions. Comparisons take numbers above p/2 as negative. Shifts by a negative number go the other way.
//! Bits are those of the canonical integer, cut to the length of the modulus. Division by zero gives zero.
//!
//! Source: circom's documentation, "Basic Operators", and circom-witnesscalc's field.rs.

use proofmill_circom::ScalarPrime;
use proofmill_field::{Algebra, Field, Fp, Invert};
use std::cmp::Ordering;

type Limbs = [u64; 4];

/// Bits of the modulus.
fn bits<P: ScalarPrime>() -> u32 {
    let [.., high] = P::MODULUS;
    u64::BITS * 4 - high.leading_zeros()
}

/// An operation on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// The additive inverse.
    Negate,
    /// The operand itself.
    Identity,
    /// All bits that the modulus has, inverted.
    BitNot,
}

/// An operation on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "circom's operators")]
pub enum Binary {
    Multiply,
    Divide,
    Add,
    Subtract,
    Power,
    IntegerDivide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    And,
    Or,
    ShiftLeft,
    ShiftRight,
    BitOr,
    BitAnd,
    BitXor,
}

impl Unary {
    /// All operations, by their codes; the first two are those of circom-witnesscalc.
    const ALL: [Self; 3] = [Self::Negate, Self::Identity, Self::BitNot];

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    /// The result.
    pub fn evaluate<P: ScalarPrime>(self, a: Fp<P>) -> Fp<P> {
        match self {
            Self::Negate => -a,
            Self::Identity => a,
            Self::BitNot => within_bits(a.to_canonical().map(|limb| !limb)),
        }
    }
}

impl Binary {
    /// All operations, by their codes, which are those of circom-witnesscalc.
    pub const ALL: [Self; 20] = [
        Self::Multiply,
        Self::Divide,
        Self::Add,
        Self::Subtract,
        Self::Power,
        Self::IntegerDivide,
        Self::Remainder,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::Greater,
        Self::LessOrEqual,
        Self::GreaterOrEqual,
        Self::And,
        Self::Or,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::BitOr,
        Self::BitAnd,
        Self::BitXor,
    ];

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(super) fn code(self) -> u8 {
        self as u8
    }

    /// Whether the result is 0 or 1 for any operands.
    pub(crate) fn is_truth(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::Greater
                | Self::LessOrEqual
                | Self::GreaterOrEqual
                | Self::And
                | Self::Or
        )
    }

    /// Whether the operands may be exchanged.
    pub(crate) fn commutes(self) -> bool {
        matches!(
            self,
            Self::Multiply
                | Self::Add
                | Self::Equal
                | Self::NotEqual
                | Self::And
                | Self::Or
                | Self::BitOr
                | Self::BitAnd
                | Self::BitXor
        )
    }

    /// The result.
    pub fn evaluate<P: ScalarPrime>(self, a: Fp<P>, b: Fp<P>) -> Fp<P> {
        let truth = |holds: bool| Fp::from(u64::from(holds));
        let bitwise = |operation: fn(u64, u64) -> u64| {
            let (mut a, b) = (a.to_canonical(), b.to_canonical());
            a.iter_mut().zip(b).for_each(|(a, b)| *a = operation(*a, b));
            reduced(a)
        };
        match self {
            Self::Multiply => a * b,
            Self::Divide => b.invert_vartime().map_or(Fp::ZERO, |inverse| a * inverse),
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Power => a.pow_vartime(&b.to_canonical()),
            Self::IntegerDivide => reduced(divide(a.to_canonical(), b.to_canonical()).0),
            Self::Remainder => reduced(divide(a.to_canonical(), b.to_canonical()).1),
            Self::Equal => truth(a == b),
            Self::NotEqual => truth(a != b),
            Self::Less => truth(signed(a, b).is_lt()),
            Self::Greater => truth(signed(a, b).is_gt()),
            Self::LessOrEqual => truth(signed(a, b).is_le()),
            Self::GreaterOrEqual => truth(signed(a, b).is_ge()),
            Self::And => truth(a != Fp::ZERO && b != Fp::ZERO),
            Self::Or => truth(a != Fp::ZERO || b != Fp::ZERO),
            Self::ShiftLeft => shift(a, b, -b),
            Self::ShiftRight => shift(a, -b, b),
            Self::BitOr => bitwise(|a, b| a | b),
            Self::BitAnd => bitwise(|a, b| a & b),
            Self::BitXor => bitwise(|a, b| a ^ b),
        }
    }
}

impl Binary {
    /// The result for small signed integers, the most frequent case; `None` if it needs field arithmetic or more than 64 bits.
    #[inline]
    pub(crate) fn evaluate_small(self, a: i64, b: i64) -> Option<i64> {
        // Negative numbers stand for integers near the modulus, with other bits and quotients.
        let natural = a >= 0 && b >= 0;
        Some(match self {
            Self::Add => a.checked_add(b)?,
            Self::Subtract => a.checked_sub(b)?,
            Self::Multiply => a.checked_mul(b)?,
            Self::Equal => (a == b).into(),
            Self::NotEqual => (a != b).into(),
            Self::Less => (a < b).into(),
            Self::Greater => (a > b).into(),
            Self::LessOrEqual => (a <= b).into(),
            Self::GreaterOrEqual => (a >= b).into(),
            Self::And => (a != 0 && b != 0).into(),
            Self::Or => (a != 0 || b != 0).into(),
            Self::IntegerDivide if natural => a.checked_div(b)?,
            Self::Remainder if natural => a.checked_rem(b)?,
            Self::BitAnd if natural => a & b,
            Self::BitOr if natural => a | b,
            Self::BitXor if natural => a ^ b,
            Self::ShiftRight if natural && b < 64 => a >> b,
            _ => return None,
        })
    }
}

/// The element of little-endian bytes, of any number.
pub(super) fn from_bytes<P: ScalarPrime>(bytes: &[u8]) -> Fp<P> {
    let base = Fp::from(256);
    bytes.iter().rev().fold(Fp::ZERO, |value, byte| value * base + Fp::from(u64::from(*byte)))
}

fn compare(a: &Limbs, b: &Limbs) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// The order of two elements as signed numbers.
fn signed<P: ScalarPrime>(a: Fp<P>, b: Fp<P>) -> Ordering {
    let half = shifted_right(P::MODULUS, 1);
    let negative = |value: &Limbs| compare(value, &half).is_gt();
    let (a, b) = (a.to_canonical(), b.to_canonical());
    // A negative number is less than any other, so the flags are compared in reverse.
    negative(&b).cmp(&negative(&a)).then_with(|| compare(&a, &b))
}

/// `a` shifted left if `left` is a number of bits below those of the modulus, or right if `right` is; otherwise 0.
fn shift<P: ScalarPrime>(a: Fp<P>, left: Fp<P>, right: Fp<P>) -> Fp<P> {
    let count = |distance: Fp<P>| match distance.to_canonical() {
        [count, 0, 0, 0] if count < u64::from(bits::<P>()) => Some(count as u32),
        _ => None,
    };
    let value = a.to_canonical();
    match (count(left), count(right)) {
        (Some(count), _) => within_bits(shifted_left(value, count)),
        (None, Some(count)) => reduced(shifted_right(value, count)),
        (None, None) => Fp::ZERO,
    }
}

fn shifted_left(value: Limbs, count: u32) -> Limbs {
    let bit = |position: u32| value.get((position / 64) as usize).map_or(0, |limb| limb >> (position % 64));
    std::array::from_fn(|limb| {
        let start = 64 * limb as u32;
        // The 64 bits from `start - count`.
        match start.checked_sub(count) {
            Some(from) => {
                bit(from) | if from % 64 == 0 { 0 } else { bit((from / 64 + 1) * 64) << (64 - from % 64) }
            }
            None if count - start < 64 => value.first().map_or(0, |limb| limb << (count - start)),
            None => 0,
        }
    })
}

fn shifted_right(value: Limbs, count: u32) -> Limbs {
    let limb = |index: usize| value.get(index).copied().unwrap_or(0);
    let (limbs, bits) = ((count / 64) as usize, count % 64);
    std::array::from_fn(|index| {
        let low = limb(index + limbs) >> bits;
        low | if bits == 0 { 0 } else { limb(index + limbs + 1) << (64 - bits) }
    })
}

/// `a - b`, and whether that is negative.
fn subtract(mut a: Limbs, b: &Limbs) -> (Limbs, bool) {
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        let (difference, first) = a.overflowing_sub(*b);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (*a, borrow) = (difference, first || second);
    }
    (a, borrow)
}

/// The element of an integer that is cut to the bits of the modulus.
fn within_bits<P: ScalarPrime>([low, second, third, high]: Limbs) -> Fp<P> {
    reduced([low, second, third, high & (u64::MAX >> (256 - bits::<P>()))])
}

/// An integer with no more bits than the modulus, which is less than twice the modulus, as an element.
fn reduced<P: ScalarPrime>(value: Limbs) -> Fp<P> {
    Fp::from_canonical(value)
        .or_else(|| Fp::from_canonical(subtract(value, &P::MODULUS).0))
        .unwrap_or(Fp::ZERO)
}

/// Quotient and remainder, both 0 if `b` is: limb by limb. Source: Knuth, The Art of Computer Programming, 4.3.1, algorithm D.
fn divide(a: Limbs, b: Limbs) -> (Limbs, Limbs) {
    let zeros = leading_zeros(&b);
    if zeros == 256 {
        return ([0; 4], [0; 4]);
    }
    // With the divisor's highest bit set, a quotient's limb is at most two below its estimate by the highest limbs.
    let divisor = shifted_left(b, zeros);
    let high = if zeros == 0 { [0; 4] } else { shifted_right(a, 256 - zeros) };
    let (mut quotient, mut remainder) = ([0; 4], [0; 4]);
    let limbs = high.into_iter().rev().chain(shifted_left(a, zeros).into_iter().rev());
    for limb in limbs {
        let digit;
        (digit, remainder) = divide_limb(remainder, limb, &divisor);
        let [first, second, third, _] = quotient;
        quotient = [digit, first, second, third];
    }
    (quotient, shifted_right(remainder, zeros))
}

/// The number of zero bits above the highest that is not.
fn leading_zeros(value: &Limbs) -> u32 {
    let zero_limbs = value.iter().rev().take_while(|limb| **limb == 0).count() as u32;
    let highest = value.iter().rev().find(|limb| **limb != 0);
    64 * zero_limbs + highest.map_or(0, |limb| limb.leading_zeros())
}

/// Divides `remainder * 2^64 + limb`. The remainder must be less than the divisor, and the divisor's highest bit must be set.
fn divide_limb(remainder: Limbs, limb: u64, divisor: &Limbs) -> (u64, Limbs) {
    let ([r0, r1, r2, r3], [.., highest]) = (remainder, *divisor);
    let dividend = [limb, r0, r1, r2];
    if r3 == 0 && compare(&dividend, divisor).is_lt() {
        return (0, dividend);
    }
    let estimate = (u128::from(r3) << 64 | u128::from(r2)) / u128::from(highest);
    let mut digit = u64::try_from(estimate).unwrap_or(u64::MAX);
    let (mut rest, mut borrow) = (dividend, 0_u128);
    for (rest, limb) in rest.iter_mut().zip(divisor) {
        let product = u128::from(digit) * u128::from(*limb) + borrow;
        let (difference, less) = rest.overflowing_sub(product as u64);
        (*rest, borrow) = (difference, (product >> 64) + u128::from(less));
    }
    // The fifth limb: negative as long as the digit is too large.
    let mut top = i128::from(r3) - borrow as i128;
    while top < 0 {
        digit -= 1;
        let mut carry = 0;
        for (rest, limb) in rest.iter_mut().zip(divisor) {
            let sum = u128::from(*rest) + u128::from(*limb) + carry;
            (*rest, carry) = (sum as u64, sum >> 64);
        }
        top += carry as i128;
    }
    (digit, rest)
}
