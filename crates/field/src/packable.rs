//! Fields whose elements eight lanes can hold: prime fields and their quadratic extensions.

use crate::{Algebra, Engine, Field, Fp, LANES, Prime, Quadratic, Vector};

/// A field with a packed form at every level, and pairs of its elements as rows of memory (points of a curve).
///
/// A row holds two elements as the lanes' own Montgomery form, in 64-bit words, not canonical
/// (`Packed::store_bits`): it is scratch of one computation, not a format.
pub trait Packable: Field {
    /// Two elements in memory.
    type Row: Copy + Default + Send + Sync + 'static;
    /// As many elements as a level's [`Vector`] has; slices of elements and rows below are as long.
    type Lanes<E: Engine>: Algebra<Token = E>;

    /// How many elements that is.
    fn width<E: Engine>() -> usize;
    /// The elements as they are.
    fn load<E: Engine>(engine: E, elements: &[Self]) -> Self::Lanes<E>;
    /// Writes canonical elements.
    fn store<E: Engine>(lanes: Self::Lanes<E>, elements: &mut [Self]);
    /// Element `index`, 0 or 1, of `row(i)` for lane i.
    fn gather<'a, E: Engine>(engine: E, row: impl Fn(usize) -> &'a Self::Row, index: usize)
    -> Self::Lanes<E>;
    /// Writes the two elements of each row.
    fn scatter_pair<E: Engine>(pair: [Self::Lanes<E>; 2], rows: &mut [Self::Row]);
    /// Which lanes hold zero; takes sums and differences of reduced values.
    fn zero_lanes<E: Engine>(lanes: Self::Lanes<E>) -> u8;
    /// `chosen` in the lanes whose bit is set, `other` elsewhere.
    fn select<E: Engine>(mask: u8, chosen: Self::Lanes<E>, other: Self::Lanes<E>) -> Self::Lanes<E>;
    /// The opposite of a reduced value in the lanes whose bit is set; fit only to be added or subtracted.
    fn negate_lanes<E: Engine>(mask: u8, value: Self::Lanes<E>) -> Self::Lanes<E>;
}

/// `N` elements' limbs in whole cache lines, so that none is fetched in vain.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Row<L, const N: usize>([L; N]);

impl<L: Copy + Default, const N: usize> Default for Row<L, N> {
    fn default() -> Self {
        Self([L::default(); N])
    }
}

impl<L, const N: usize> AsMut<[L]> for Row<L, N> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [L] {
        &mut self.0
    }
}

impl<P: Prime> Packable for Fp<P> {
    type Row = Row<P::Limbs, 2>;
    type Lanes<E: Engine> = E::Vector<P>;

    #[inline(always)]
    fn width<E: Engine>() -> usize {
        E::Vector::<P>::WIDTH
    }

    #[inline(always)]
    fn load<E: Engine>(engine: E, elements: &[Self]) -> E::Vector<P> {
        E::Vector::<P>::load_slice(engine, elements)
    }

    #[inline(always)]
    fn store<E: Engine>(lanes: E::Vector<P>, elements: &mut [Self]) {
        lanes.store_slice(elements);
    }

    #[inline(always)]
    fn gather<'a, E: Engine>(engine: E, row: impl Fn(usize) -> &'a Self::Row, index: usize) -> E::Vector<P> {
        E::Vector::<P>::gather(
            engine,
            #[inline(always)]
            |lane| &row(lane).0[index],
        )
    }

    #[inline(always)]
    fn scatter_pair<E: Engine>([x, y]: [E::Vector<P>; 2], rows: &mut [Self::Row]) {
        x.scatter(rows, 0);
        y.scatter(rows, 1);
    }

    #[inline(always)]
    fn zero_lanes<E: Engine>(lanes: E::Vector<P>) -> u8 {
        lanes.zero_lanes()
    }

    #[inline(always)]
    fn select<E: Engine>(mask: u8, chosen: E::Vector<P>, other: E::Vector<P>) -> E::Vector<P> {
        E::Vector::<P>::select(mask, chosen, other)
    }

    #[inline(always)]
    fn negate_lanes<E: Engine>(mask: u8, value: E::Vector<P>) -> E::Vector<P> {
        E::Vector::<P>::negate_lanes(mask, value)
    }
}

impl<P: Prime> Packable for Quadratic<Fp<P>> {
    type Row = Row<P::Limbs, 4>;
    type Lanes<E: Engine> = Quadratic<E::Vector<P>>;

    #[inline(always)]
    fn width<E: Engine>() -> usize {
        E::Vector::<P>::WIDTH
    }

    #[inline(always)]
    fn load<E: Engine>(engine: E, elements: &[Self]) -> Self::Lanes<E> {
        let (mut c0, mut c1) = ([Fp::ZERO; LANES], [Fp::ZERO; LANES]);
        for (i, element) in elements.iter().enumerate() {
            (c0[i], c1[i]) = (element.c0, element.c1);
        }
        Quadratic::new(
            E::Vector::<P>::load_slice(engine, &c0[..elements.len()]),
            E::Vector::<P>::load_slice(engine, &c1[..elements.len()]),
        )
    }

    #[inline(always)]
    fn store<E: Engine>(lanes: Self::Lanes<E>, elements: &mut [Self]) {
        let (mut c0, mut c1) = ([Fp::ZERO; LANES], [Fp::ZERO; LANES]);
        lanes.c0.store_slice(&mut c0[..elements.len()]);
        lanes.c1.store_slice(&mut c1[..elements.len()]);
        for (element, (c0, c1)) in elements.iter_mut().zip(c0.into_iter().zip(c1)) {
            *element = Self::new(c0, c1);
        }
    }

    #[inline(always)]
    fn gather<'a, E: Engine>(
        engine: E,
        row: impl Fn(usize) -> &'a Self::Row,
        index: usize,
    ) -> Self::Lanes<E> {
        let c0 = E::Vector::<P>::gather(
            engine,
            #[inline(always)]
            |lane| &row(lane).0[2 * index],
        );
        let c1 = E::Vector::<P>::gather(
            engine,
            #[inline(always)]
            |lane| &row(lane).0[2 * index + 1],
        );
        Quadratic::new(c0, c1)
    }

    #[inline(always)]
    fn scatter_pair<E: Engine>([x, y]: [Self::Lanes<E>; 2], rows: &mut [Self::Row]) {
        for (k, coefficient) in [x.c0, x.c1, y.c0, y.c1].into_iter().enumerate() {
            coefficient.scatter(rows, k);
        }
    }

    #[inline(always)]
    fn zero_lanes<E: Engine>(lanes: Self::Lanes<E>) -> u8 {
        let zeros = lanes.c0.zero_lanes();
        if zeros == 0 { 0 } else { zeros & lanes.c1.zero_lanes() }
    }

    #[inline(always)]
    fn select<E: Engine>(mask: u8, chosen: Self::Lanes<E>, other: Self::Lanes<E>) -> Self::Lanes<E> {
        Quadratic::new(
            E::Vector::<P>::select(mask, chosen.c0, other.c0),
            E::Vector::<P>::select(mask, chosen.c1, other.c1),
        )
    }

    #[inline(always)]
    fn negate_lanes<E: Engine>(mask: u8, value: Self::Lanes<E>) -> Self::Lanes<E> {
        Quadratic::new(
            E::Vector::<P>::negate_lanes(mask, value.c0),
            E::Vector::<P>::negate_lanes(mask, value.c1),
        )
    }
}
