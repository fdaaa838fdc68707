//! Elements in the order of a tile's memory.

use super::{
    LANES, LIMBS, SignedField,
    field::{digits_of, element},
};
use proofmill_field::{Fp, Prime};

/// A bundle of field elements, limb by limb: first the lowest limb of all elements, then the next. With 32 elements the words are a
/// cuboid of 8 limbs, 4 vectors and 8 lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The words by limb, vector and lane.
    words: Vec<[i32; LANES]>,
    vectors: usize,
}

impl Bundle {
    /// Zeros: `LANES * vectors` elements.
    pub fn zeros(vectors: usize) -> Self {
        Self { words: vec![[0; LANES]; LIMBS * vectors], vectors }
    }

    /// Elements as bundles of `LANES * vectors`, in their order; the last bundle is filled up with zeros. Fields that [`SignedField`]
    /// refuses are refused by the compiler.
    ///
    /// # Panics
    /// If bundles have no vectors.
    pub fn of<P: Prime<Limbs = [u64; 4]>>(elements: &[Fp<P>], vectors: usize) -> Vec<Self> {
        let bundle = |elements: &[Fp<P>]| {
            let mut bundle = Self::zeros(vectors);
            let each = elements.iter().enumerate();
            each.for_each(|(index, element)| bundle.set_digits(index, digits_of(*element)));
            bundle
        };
        elements.chunks(LANES * vectors).map(bundle).collect()
    }

    /// The elements of bundles, with the zeros that fill up the last one; fields as for [`of`](Self::of).
    pub fn to_elements<P: Prime<Limbs = [u64; 4]>>(bundles: &[Self]) -> Vec<Fp<P>> {
        let each = bundles.iter().flat_map(|bundle| (0..bundle.elements()).map(|index| bundle.digits(index)));
        each.map(element).collect()
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        LANES * self.vectors
    }

    /// The number of vectors that a limb of all elements takes.
    pub fn vectors(&self) -> usize {
        self.vectors
    }

    /// The limbs of the elements of a vector.
    #[inline(always)]
    pub(crate) fn limbs(&self, vector: usize) -> impl Iterator<Item = &[i32; LANES]> {
        self.words[vector..].iter().step_by(self.vectors)
    }

    /// The limbs of the elements of a vector.
    #[inline(always)]
    pub(crate) fn limbs_mut(&mut self, vector: usize) -> impl Iterator<Item = &mut [i32; LANES]> {
        self.words[vector..].iter_mut().step_by(self.vectors)
    }

    /// Sets one element to an integer below the modulus; the form is as given, not Montgomery's.
    ///
    /// # Panics
    /// If there is no such element, or the integer is not below the modulus.
    pub fn set(&mut self, index: usize, integer: [u64; 4], field: &SignedField) {
        self.set_digits(index, field.digits(integer));
    }

    /// The limbs of one element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn digits(&self, index: usize) -> [i32; LIMBS] {
        std::array::from_fn(|limb| self.words[limb * self.vectors + index / LANES][index % LANES])
    }

    /// Sets the limbs of one element.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn set_digits(&mut self, index: usize, digits: [i32; LIMBS]) {
        for (limb, digit) in digits.into_iter().enumerate() {
            self.words[limb * self.vectors + index / LANES][index % LANES] = digit;
        }
    }

    /// One element as an integer below the modulus.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn get(&self, index: usize, field: &SignedField) -> [u64; 4] {
        field.residue(self.digits(index))
    }
}
