//! The types of a level ([`Engine`]), and the fields with vectors at every level: prime fields in Montgomery
//! form and their quadratic extensions.

use super::{Backend, Fp, Prime};
use crate::algebra::{Field, LANES, Lanes, Quadratic, Select};
use proofmill_cpu::Token;
use std::fmt::Debug;

/// The arithmetic of a level: a backend for scalars and packed types for lanes.
pub trait Engine: Token {
    /// The instructions of scalar elements.
    type Backend: Backend + Token;
    /// As many elements as the level's vector instructions process, one where it has none.
    type Vector<P: Prime>: Vector<Fp<P>, Token = Self>;
    /// [`LANES`] elements, for data that must be a multiple of a cache line at every level.
    type Packed<P: Prime>: Scale<Fp<P>, Token = Self>;
    /// One element, for a formula that runs once, such as a single pairing: in the form in which the level multiplies a few
    /// independent pairs fastest ([`Algebra::quadratics`](crate::Algebra::quadratics)), a scalar or a vector of its limbs.
    ///
    /// Where sums are not reduced, [`Algebra::MOST_TERMS`](crate::Algebra::MOST_TERMS) limits their terms; the formulas of towers and pairings
    /// stay below the limits.
    type Single<P: Prime>: Lanes<Fp<P>, Token = Self> + Select;

    /// As many points of BLS12-381, or fewer, take less time one by one than in lanes that they leave empty for the most part.
    const FEW: usize = 1;

    /// The scalar backend's token.
    fn backend(self) -> Self::Backend;

    /// The lanes that hold an odd integer of 0..p: bit i for lane i. Takes reduced values.
    #[inline(always)]
    fn odd_lanes<P: Prime>(lanes: Self::Vector<P>) -> u8 {
        let mut elements = [Fp::ZERO; LANES];
        lanes.store(&mut elements);
        let integers = elements[..Self::Vector::<P>::WIDTH].iter().map(|element| element.to_canonical());
        integers.enumerate().fold(0, |odd, (lane, integer)| odd | ((integer.as_ref()[0] & 1) as u8) << lane)
    }

    /// The pairs whose first and whose second words are odd: bit i for pair i.
    #[inline(always)]
    fn odd_words(self, pairs: &[[u32; 2]]) -> [u8; 2] {
        let mut odd = [0; 2];
        for (i, pair) in pairs.iter().enumerate() {
            odd[0] |= ((pair[0] & 1) as u8) << i;
            odd[1] |= ((pair[1] & 1) as u8) << i;
        }
        odd
    }
}

/// A field with vectors at every level.
pub trait Packable: Field {
    /// An element's limbs in Montgomery form, canonical or not.
    type Limbs: Copy + Default + Debug + Send + Sync + 'static;
    /// The field's vectors at a level, of at most [`LANES`] elements; of one element if the level has no vector instructions.
    type Lanes<E: Engine>: Vector<Self, Token = E>;

    /// The limbs of elements, as they are in memory.
    fn as_limbs(elements: &[Self]) -> &[Self::Limbs];
}

/// A field's vectors at a level.
pub type LanesOf<F, E> = <F as Packable>::Lanes<E>;

/// Elements of the field `F` in lanes.
///
/// Operators take and return reduced values. `add_lazy` and `sub_lazy` may be nested twice (for example the sum of two
/// differences) before the result must be multiplied; otherwise their operands must be reduced.
pub trait Vector<F: Packable>: Lanes<F> + Select {
    /// Reads unconverted limbs, from `element(i)` for lane i: the lanes then hold the elements times a constant of the
    /// vector type, which linear maps preserve. The cheapest way to load.
    fn gather<'a>(token: Self::Token, element: impl Fn(usize) -> &'a F::Limbs) -> Self;

    /// The inverse of [`gather`](Self::gather), into `element` of each row, for values below 2^(64 LEN); not canonical.
    fn scatter<R>(self, rows: &mut [R], element: impl Fn(&mut R) -> &mut F::Limbs);

    /// [`gather`](Self::gather) from a slice.
    #[inline(always)]
    fn load_bits(token: Self::Token, elements: &[F::Limbs]) -> Self {
        Self::gather(
            token,
            #[inline(always)]
            |lane| &elements[lane],
        )
    }

    /// [`scatter`](Self::scatter) to a slice.
    #[inline(always)]
    fn store_bits(self, elements: &mut [F::Limbs]) {
        self.scatter(
            elements,
            #[inline(always)]
            |limbs| limbs,
        );
    }

    /// As [`store_bits`](Self::store_bits), for a reduced value; stores canonical limbs.
    fn store_scaled(self, elements: &mut [F]);

    /// The negated reduced value in the lanes whose bit is set; may only be added or subtracted.
    #[inline(always)]
    fn negate_lanes(mask: u8, value: Self) -> Self {
        Self::select(mask, -value, value)
    }

    /// The lanes that hold zero: bit i for lane i. Takes sums and differences of reduced values.
    fn zero_lanes(self) -> u8;
}

/// Elements in lanes that are multiplied by constants.
///
/// A product by a constant c is the sum of each digit of the element times a multiple of c, known modulo p: c times the digit's weight.
/// Such a sum has only one digit more than p, so that two digits are left to reduce; a product of two variables has five. This takes
/// seven tenths of the operations.
pub trait Scale<F: Packable>: Vector<F> {
    /// A constant, prepared as a factor.
    type Factor: Copy + Send + Sync + 'static;

    /// Prepares a constant; costs up to eight scalar multiplications.
    fn factor(token: Self::Token, constant: F) -> Self::Factor;

    /// The constant in every lane.
    fn splat(token: Self::Token, factor: &Self::Factor) -> Self;

    /// A product by a constant; its bound is that of a product of variables, or better.
    fn scale(self, factor: &Self::Factor) -> Self;

    /// Products by constants, to be used only as operands of sums.
    fn scale_terms(values: [Self; 2], factors: [&Self::Factor; 2]) -> [Self; 2];
}

/// The limbs of two elements in whole cache lines, so that no part of a fetched line is unused: for points of a curve.
/// Scratch of one computation, not a format.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Row<F: Packable>(pub [F::Limbs; 2]);

impl<P: Prime> Packable for Fp<P> {
    type Limbs = P::Limbs;
    type Lanes<E: Engine> = E::Vector<P>;

    #[inline(always)]
    fn as_limbs(elements: &[Self]) -> &[P::Limbs] {
        const { Self::assert_layout() };
        // SAFETY: `Fp` has the layout of its limbs.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
    }
}

impl<P: Prime> Packable for Quadratic<Fp<P>> {
    type Limbs = [P::Limbs; 2];
    type Lanes<E: Engine> = Quadratic<E::Vector<P>>;

    #[inline(always)]
    fn as_limbs(elements: &[Self]) -> &[[P::Limbs; 2]] {
        const { Fp::<P>::assert_layout() };
        // SAFETY: `Quadratic` is `repr(C)`, and `Fp` has the layout of its limbs.
        unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
    }
}

impl<P: Prime, V: Vector<Fp<P>>> Vector<Quadratic<Fp<P>>> for Quadratic<V> {
    #[inline(always)]
    fn gather<'a>(token: V::Token, element: impl Fn(usize) -> &'a [P::Limbs; 2]) -> Self {
        let c0 = V::gather(
            token,
            #[inline(always)]
            |lane| &element(lane)[0],
        );
        let c1 = V::gather(
            token,
            #[inline(always)]
            |lane| &element(lane)[1],
        );
        Self::new(c0, c1)
    }

    #[inline(always)]
    fn scatter<R>(self, rows: &mut [R], element: impl Fn(&mut R) -> &mut [P::Limbs; 2]) {
        self.c0.scatter(
            rows,
            #[inline(always)]
            |row| &mut element(row)[0],
        );
        self.c1.scatter(
            rows,
            #[inline(always)]
            |row| &mut element(row)[1],
        );
    }

    #[inline(always)]
    fn store_scaled(self, elements: &mut [Quadratic<Fp<P>>]) {
        let (mut c0, mut c1) = ([Fp::ZERO; LANES], [Fp::ZERO; LANES]);
        self.c0.store_scaled(&mut c0[..V::WIDTH]);
        self.c1.store_scaled(&mut c1[..V::WIDTH]);
        for (i, element) in elements[..V::WIDTH].iter_mut().enumerate() {
            *element = Quadratic::new(c0[i], c1[i]);
        }
    }

    #[inline(always)]
    fn negate_lanes(mask: u8, value: Self) -> Self {
        Self::new(V::negate_lanes(mask, value.c0), V::negate_lanes(mask, value.c1))
    }

    #[inline(always)]
    fn zero_lanes(self) -> u8 {
        let zeros = self.c0.zero_lanes();
        if zeros == 0 { 0 } else { zeros & self.c1.zero_lanes() }
    }
}
