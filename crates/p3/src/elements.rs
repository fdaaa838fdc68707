//! Plonky3's elements and ours.

use p3_field::{ExtensionField, PackedValue, PrimeField64};
use p3_goldilocks::Goldilocks;
use proofmill_field::goldilocks::{Extension, Goldilocks as Element};
use std::mem::ManuallyDrop;

/// Our element for an element of Plonky3, whose word may be above p.
pub(crate) fn element(value: Goldilocks) -> Element {
    Element::new(value.as_canonical_u64())
}

/// Plonky3's element for an element of ours.
pub(crate) fn value(element: Element) -> Goldilocks {
    Goldilocks::new(element.to_canonical())
}

/// Our elements, in the same memory.
pub(crate) fn into_elements(values: Vec<Goldilocks>) -> Vec<Element> {
    values.into_iter().map(element).collect()
}

/// Plonky3's elements, in the same memory.
pub(crate) fn into_values(elements: Vec<Element>) -> Vec<Goldilocks> {
    const { assert!(size_of::<Goldilocks>() == 8 && align_of::<Goldilocks>() == align_of::<Element>()) };
    let mut elements = ManuallyDrop::new(elements);
    // SAFETY: the vector is not used again, and both types, of these versions, are `repr(transparent)` over the word.
    unsafe { Vec::from_raw_parts(elements.as_mut_ptr().cast(), elements.len(), elements.capacity()) }
}

/// Our element of the extension; both have powers of one generator as their basis.
pub(crate) fn ours<C: ExtensionField<Goldilocks>, const N: usize>(challenge: C) -> Extension<Element, N> {
    Extension(std::array::from_fn(|i| element(challenge.as_basis_coefficients_slice()[i])))
}

/// Plonky3's element of the extension.
pub(crate) fn theirs<C: ExtensionField<Goldilocks>, const N: usize>(
    value_of_ours: Extension<Element, N>,
) -> C {
    C::from_basis_coefficients_fn(|i| value(value_of_ours.0[i]))
}

/// The words of elements, which may be above p.
pub(crate) fn words(values: &[Goldilocks]) -> &[u64] {
    const { assert!(size_of::<Goldilocks>() == 8 && align_of::<Goldilocks>() == align_of::<u64>()) };
    // SAFETY: Plonky3's type, of this version and no other, is `repr(transparent)` over the word.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// Runs a function on the words of packed values, element by element, and writes them back.
pub(crate) fn with_words<T: PackedValue, const WIDTH: usize>(
    state: &mut [T; WIDTH],
    to_word: impl Fn(T::Value) -> u64,
    from_word: impl Fn(u64) -> T::Value,
    run: impl FnOnce(&mut [u64]),
) {
    // A single state needs no allocation.
    let (mut single, mut many) = ([0; WIDTH], Vec::new());
    let words = if T::WIDTH == 1 {
        &mut single[..]
    } else {
        many.resize(WIDTH * T::WIDTH, 0);
        &mut many
    };
    for (words, element) in words.chunks_exact_mut(T::WIDTH).zip(state.iter()) {
        words.iter_mut().zip(element.as_slice()).for_each(|(word, value)| *word = to_word(*value));
    }
    run(words);
    for (words, element) in words.chunks_exact(T::WIDTH).zip(state) {
        element.as_slice_mut().iter_mut().zip(words).for_each(|(value, word)| *value = from_word(*word));
    }
}
