//! One element for formulas that run once: a pairing, not a thousand.

use crate::{Algebra, Backend, Fp, Prime, Vector};

/// How many terms of a [`Single`] may add up before a multiplication.
pub const MOST_TERMS: u64 = 1000;

/// One element of the field `P`, in the form in which a level multiplies a few independent pairs of them fastest
/// ([`Algebra::quadratics`]): a scalar, or a vector of its limbs.
///
/// Where sums are not reduced, at most [`MOST_TERMS`] reduced terms may add up before a multiplication: products count one each,
/// as do elements loaded and those that `reduced` gives, and differences as much as sums. The tower's formulas stay below it.
pub trait Single<P: Prime>: Algebra {
    /// The element as it is.
    fn load(token: Self::Token, element: Fp<P>) -> Self;

    /// The element, canonical.
    fn store(self) -> Fp<P>;

    /// `chosen` for 1, `other` for 0: without a branch, so that the choice may be secret.
    fn select(choice: u8, chosen: Self, other: Self) -> Self;
}

impl<P: Prime, B: Backend> Single<P> for Fp<P, B> {
    #[inline(always)]
    fn load(backend: B, element: Fp<P>) -> Self {
        element.with_backend(backend)
    }

    #[inline(always)]
    fn store(self) -> Fp<P> {
        self.portable()
    }

    #[inline(always)]
    fn select(choice: u8, chosen: Self, other: Self) -> Self {
        <Self as Vector<P>>::select(choice, chosen, other)
    }
}
