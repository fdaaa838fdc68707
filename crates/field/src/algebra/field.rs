//! Fields: what algebras of scalars can do besides.

use super::Algebra;
use std::{
    fmt::Debug,
    ops::{AddAssign, MulAssign, SubAssign},
};

/// An algebra with decidable equality whose elements have inverses, except zero.
pub trait Invert: Algebra + Eq {
    /// The multiplicative inverse; `None` for zero. Time depends on the value.
    fn invert_vartime(&self) -> Option<Self>;
}

/// A field whose elements every CPU can compute with, so that they need no token: scalar elements and their extensions.
pub trait Field: Invert + Debug + Default + AddAssign + SubAssign + MulAssign {
    /// The neutral element of addition.
    const ZERO: Self;

    /// The neutral element of multiplication.
    const ONE: Self;

    /// Whether this is the neutral element of addition.
    fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }
}

/// A field whose square roots we can take.
pub trait SquareRoot: Field {
    /// One of the two square roots, or zero's only one; `None` for a non-square. Time depends on the value.
    fn sqrt_vartime(&self) -> Option<Self>;
}

/// A prime field: its elements are integers below a modulus.
pub trait PrimeField: Field {
    /// Little-endian 64-bit words of an integer below the modulus.
    type Words: Copy + AsRef<[u64]> + Send + Sync;
    /// Bits of the modulus.
    const BITS: u32;

    /// The integer in `0..p`.
    fn to_words(&self) -> Self::Words;
}

/// Replaces every nonzero element by its inverse and leaves zeros alone, with one inversion
/// (Montgomery's trick: 3 multiplications an element). Allocates one element of scratch per element.
pub fn batch_invert_vartime<F: Invert>(elements: &mut [F]) {
    let Some(token) = elements.first().map(F::token) else { return };
    let (zero, mut product) = (F::zero(token), F::one(token));
    let mut prefixes = Vec::with_capacity(elements.len());
    for element in elements.iter().filter(|element| **element != zero) {
        prefixes.push(product);
        product = product * *element;
    }
    let Some(mut inverse) = product.invert_vartime() else { unreachable!("a product of nonzero elements") };
    for element in elements.iter_mut().rev().filter(|element| **element != zero) {
        let Some(prefix) = prefixes.pop() else { unreachable!("one prefix per nonzero element") };
        let next = inverse * *element;
        *element = inverse * prefix;
        inverse = next;
    }
}
