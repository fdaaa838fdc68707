//! The values of a tape: most are small integers, and calculated as such.

use super::{Binary, Unary};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp};
use zeroize::Zeroize;

/// A field element, in one of two forms.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number<P: ScalarPrime> {
    /// A small integer; a negative one stands for itself plus the modulus.
    Small(i64),
    /// Any element, small ones included.
    Element(Fp<P>),
}

impl<P: ScalarPrime> Number<P> {
    pub(crate) const ZERO: Self = Self::Small(0);

    pub(crate) fn element(self) -> Fp<P> {
        match self {
            // Most are bits.
            Self::Small(0) => Fp::ZERO,
            Self::Small(1) => Fp::ONE,
            Self::Small(value) => {
                let magnitude = Fp::from(value.unsigned_abs());
                if value < 0 { -magnitude } else { magnitude }
            }
            Self::Element(element) => element,
        }
    }

    #[inline(always)]
    pub(super) fn is_zero(self) -> bool {
        match self {
            Self::Small(value) => value == 0,
            Self::Element(element) => element == Fp::ZERO,
        }
    }

    #[inline(always)]
    pub(super) fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a == b,
            (a, b) => a.element() == b.element(),
        }
    }

    pub(super) fn unary(operation: Unary, a: Self) -> Self {
        match (operation, a) {
            (Unary::Negate, Self::Small(a)) if a != i64::MIN => Self::Small(-a),
            (operation, a) => Self::Element(operation.evaluate(a.element())),
        }
    }

    #[inline(always)]
    pub(super) fn binary(operation: Binary, a: Self, b: Self) -> Self {
        if let (Self::Small(a), Self::Small(b)) = (a, b)
            && let Some(result) = operation.evaluate_small(a, b)
        {
            return Self::Small(result);
        }
        Self::binary_of_elements(operation, a.element(), b.element())
    }

    fn binary_of_elements(operation: Binary, a: Fp<P>, b: Fp<P>) -> Self {
        let result = operation.evaluate(a, b);
        match operation {
            // Products of large elements are large.
            Binary::Multiply | Binary::Divide | Binary::Add | Binary::Subtract | Binary::Power => {
                Self::Element(result)
            }
            _ => result.into(),
        }
    }
}

impl<P: ScalarPrime> From<Fp<P>> for Number<P> {
    /// The number of this element, in the small form if it is small.
    fn from(element: Fp<P>) -> Self {
        let small = |element: Fp<P>| match element.to_canonical() {
            [low, 0, 0, 0] => i64::try_from(low).ok(),
            _ => None,
        };
        match (small(element), small(-element)) {
            (Some(value), _) => Self::Small(value),
            (None, Some(value)) => Self::Small(-value),
            (None, None) => Self::Element(element),
        }
    }
}

impl<P: ScalarPrime> Zeroize for Number<P> {
    fn zeroize(&mut self) {
        // All bytes, whichever form it has.
        *self = Self::Element(Fp::ZERO);
        if let Self::Element(element) = self {
            element.zeroize();
        }
    }
}

/// A sum of products.
pub(super) struct ProductSum<P: ScalarPrime> {
    small: i128,
    /// The sum of the terms that are not small.
    element: Option<Fp<P>>,
}

impl<P: ScalarPrime> ProductSum<P> {
    pub(super) const ZERO: Self = Self { small: 0, element: None };

    #[inline(always)]
    pub(super) fn add_small(&mut self, product: i128) {
        match self.small.checked_add(product) {
            Some(sum) => self.small = sum,
            None => {
                self.add(of_integer(product));
            }
        }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, element: Fp<P>) {
        self.element = Some(match self.element {
            Some(sum) => sum + element,
            None => element,
        });
    }

    #[inline(always)]
    pub(super) fn value(self) -> Number<P> {
        match (self.element, i64::try_from(self.small)) {
            (None, Ok(small)) => Number::Small(small),
            (None, Err(_)) => Number::Element(of_integer(self.small)),
            (Some(element), Ok(0)) => Number::Element(element),
            (Some(element), _) => Number::Element(element + of_integer(self.small)),
        }
    }
}

fn of_integer<P: ScalarPrime>(value: i128) -> Fp<P> {
    let magnitude = value.unsigned_abs();
    let (high, low) = ((magnitude >> 64) as u64, magnitude as u64);
    let mut element = Fp::from(low);
    if high != 0 {
        element += Fp::from_canonical([0, high, 0, 0]).unwrap_or(Fp::ZERO);
    }
    if value < 0 { -element } else { element }
}
