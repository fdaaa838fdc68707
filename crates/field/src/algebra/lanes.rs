//! Several elements in lanes.

use super::{Algebra, Field, Quadratic};

/// The most lanes of any vector type, and the number of elements of [`Engine::Packed`](crate::Engine::Packed) at every level.
pub const LANES: usize = 8;

/// Several elements in lanes; each operation applies to all of them: scalars, vectors of a level, and extensions of either.
/// `F` is an element's type in memory.
pub trait Lanes<F>: Algebra {
    /// The number of elements, at most [`LANES`].
    const WIDTH: usize;

    /// Whether an inversion costs less than 150 products, which holds where products do not use vector instructions.
    const CHEAP_INVERSION: bool = false;

    /// Reads [`WIDTH`](Self::WIDTH) elements.
    ///
    /// # Panics
    /// If the slice is shorter (also for [`store`](Self::store)).
    fn load(token: Self::Token, elements: &[F]) -> Self;

    /// Writes [`WIDTH`](Self::WIDTH) canonical elements.
    fn store(self, elements: &mut [F]);

    /// One element in every lane.
    fn broadcast(token: Self::Token, element: F) -> Self;
}

/// Selection without a branch: the mask may be secret.
pub trait Select: Copy {
    /// `chosen` in the lanes whose bit is set, `other` elsewhere.
    fn select(mask: u8, chosen: Self, other: Self) -> Self;
}

impl<F: Field, V: Lanes<F>> Lanes<Quadratic<F>> for Quadratic<V> {
    const WIDTH: usize = V::WIDTH;
    const CHEAP_INVERSION: bool = V::CHEAP_INVERSION;

    #[inline(always)]
    fn load(token: V::Token, elements: &[Quadratic<F>]) -> Self {
        let (mut c0, mut c1) = ([F::ZERO; LANES], [F::ZERO; LANES]);
        for (i, element) in elements[..V::WIDTH].iter().enumerate() {
            (c0[i], c1[i]) = (element.c0, element.c1);
        }
        Self::new(V::load(token, &c0[..V::WIDTH]), V::load(token, &c1[..V::WIDTH]))
    }

    #[inline(always)]
    fn store(self, elements: &mut [Quadratic<F>]) {
        let (mut c0, mut c1) = ([F::ZERO; LANES], [F::ZERO; LANES]);
        self.c0.store(&mut c0[..V::WIDTH]);
        self.c1.store(&mut c1[..V::WIDTH]);
        for (i, element) in elements[..V::WIDTH].iter_mut().enumerate() {
            *element = Quadratic::new(c0[i], c1[i]);
        }
    }

    #[inline(always)]
    fn broadcast(token: V::Token, element: Quadratic<F>) -> Self {
        Self::new(V::broadcast(token, element.c0), V::broadcast(token, element.c1))
    }
}

impl<V: Select> Select for Quadratic<V> {
    #[inline(always)]
    fn select(mask: u8, chosen: Self, other: Self) -> Self {
        Self { c0: V::select(mask, chosen.c0, other.c0), c1: V::select(mask, chosen.c1, other.c1) }
    }
}
