//! Fields whose elements eight lanes can hold: prime fields and their quadratic extensions.

use crate::{Algebra, Engine, Field, Fp, LANES, Packed, Prime, Quadratic};

/// A field with a packed form at every level, and pairs of its elements as rows of memory (points of a curve).
///
/// A row holds two elements as the lanes' own Montgomery form, in 64-bit words, not canonical
/// (`Packed::store_bits`): it is scratch of one computation, not a format.
pub trait Packable: Field {
    /// Two elements in memory.
    type Row: Copy + Default + PartialEq + Send + Sync + 'static;
    /// [`LANES`] elements at a level.
    type Lanes<E: Engine>: Algebra;

    /// The elements as they are.
    fn load<E: Engine>(elements: &[Self; LANES]) -> Self::Lanes<E>;
    /// Writes canonical elements.
    fn store<E: Engine>(lanes: Self::Lanes<E>, elements: &mut [Self; LANES]);
    /// The two elements of each row.
    fn load_pairs<E: Engine>(rows: [&Self::Row; LANES]) -> [Self::Lanes<E>; 2];
    /// The first element of each row.
    fn load_firsts<E: Engine>(rows: [&Self::Row; LANES]) -> Self::Lanes<E>;
    /// Writes the two elements of each row.
    fn store_pairs<E: Engine>(pairs: [Self::Lanes<E>; 2], rows: &mut [Self::Row; LANES]);
    /// Which lanes hold zero; takes sums and differences of reduced values.
    fn zero_lanes<E: Engine>(lanes: Self::Lanes<E>) -> u8;
    /// `chosen` in the lanes whose bit is set, `other` elsewhere.
    fn select<E: Engine>(mask: u8, chosen: Self::Lanes<E>, other: Self::Lanes<E>) -> Self::Lanes<E>;
}

impl<P: Prime> Packable for Fp<P> {
    type Row = [P::Limbs; 2];
    type Lanes<E: Engine> = E::Packed<P>;

    #[inline(always)]
    fn load<E: Engine>(elements: &[Self; LANES]) -> E::Packed<P> {
        E::Packed::<P>::load(elements)
    }

    #[inline(always)]
    fn store<E: Engine>(lanes: E::Packed<P>, elements: &mut [Self; LANES]) {
        lanes.store(elements);
    }

    #[inline(always)]
    fn load_pairs<E: Engine>(rows: [&Self::Row; LANES]) -> [E::Packed<P>; 2] {
        E::Packed::<P>::load_rows(rows)
    }

    #[inline(always)]
    fn load_firsts<E: Engine>(rows: [&Self::Row; LANES]) -> E::Packed<P> {
        let mut first_of = [std::array::from_ref(&rows[0][0]); LANES];
        for (first, row) in first_of.iter_mut().zip(rows) {
            *first = std::array::from_ref(&row[0]);
        }
        let [firsts] = E::Packed::<P>::load_rows(first_of);
        firsts
    }

    #[inline(always)]
    fn store_pairs<E: Engine>(pairs: [E::Packed<P>; 2], rows: &mut [Self::Row; LANES]) {
        E::Packed::<P>::store_rows(pairs, rows);
    }

    #[inline(always)]
    fn zero_lanes<E: Engine>(lanes: E::Packed<P>) -> u8 {
        lanes.zero_lanes()
    }

    #[inline(always)]
    fn select<E: Engine>(mask: u8, chosen: E::Packed<P>, other: E::Packed<P>) -> E::Packed<P> {
        E::Packed::<P>::select(mask, chosen, other)
    }
}

impl<P: Prime> Packable for Quadratic<Fp<P>> {
    type Row = [P::Limbs; 4];
    type Lanes<E: Engine> = Quadratic<E::Packed<P>>;

    #[inline(always)]
    fn load<E: Engine>(elements: &[Self; LANES]) -> Self::Lanes<E> {
        let (mut c0, mut c1) = ([Fp::ZERO; LANES], [Fp::ZERO; LANES]);
        for (i, element) in elements.iter().enumerate() {
            (c0[i], c1[i]) = (element.c0, element.c1);
        }
        Quadratic::new(E::Packed::<P>::load(&c0), E::Packed::<P>::load(&c1))
    }

    #[inline(always)]
    fn store<E: Engine>(lanes: Self::Lanes<E>, elements: &mut [Self; LANES]) {
        let (mut c0, mut c1) = ([Fp::ZERO; LANES], [Fp::ZERO; LANES]);
        lanes.c0.store(&mut c0);
        lanes.c1.store(&mut c1);
        for (element, (c0, c1)) in elements.iter_mut().zip(c0.into_iter().zip(c1)) {
            *element = Self::new(c0, c1);
        }
    }

    #[inline(always)]
    fn load_pairs<E: Engine>(rows: [&Self::Row; LANES]) -> [Self::Lanes<E>; 2] {
        let [x0, x1, y0, y1] = E::Packed::<P>::load_rows(rows);
        [Quadratic::new(x0, x1), Quadratic::new(y0, y1)]
    }

    #[inline(always)]
    fn load_firsts<E: Engine>(rows: [&Self::Row; LANES]) -> Self::Lanes<E> {
        let mut first_of = [&rows[0].as_chunks::<2>().0[0]; LANES];
        for (first, row) in first_of.iter_mut().zip(rows) {
            *first = &row.as_chunks::<2>().0[0];
        }
        let [x0, x1] = E::Packed::<P>::load_rows(first_of);
        Quadratic::new(x0, x1)
    }

    #[inline(always)]
    fn store_pairs<E: Engine>([x, y]: [Self::Lanes<E>; 2], rows: &mut [Self::Row; LANES]) {
        E::Packed::<P>::store_rows([x.c0, x.c1, y.c0, y.c1], rows);
    }

    #[inline(always)]
    fn zero_lanes<E: Engine>(lanes: Self::Lanes<E>) -> u8 {
        let zeros = lanes.c0.zero_lanes();
        if zeros == 0 { 0 } else { zeros & lanes.c1.zero_lanes() }
    }

    #[inline(always)]
    fn select<E: Engine>(mask: u8, chosen: Self::Lanes<E>, other: Self::Lanes<E>) -> Self::Lanes<E> {
        Quadratic::new(
            E::Packed::<P>::select(mask, chosen.c0, other.c0),
            E::Packed::<P>::select(mask, chosen.c1, other.c1),
        )
    }
}
