//! NumPy arrays: borrowed as slices, and results that are handed over.
//!
//! An argument is borrowed only if it already has the type and layout that the kernels read: anything else is refused with a
//! message that says how to convert it, so that no copy is made that the caller does not see. NumPy cannot keep other threads from
//! writing to an array that is being read: the documentation asks callers not to.

use crate::error::Fault;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods,
    PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use proofmill::field::{Fp, Prime, bls12_381, bn254};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
};
use rayon::prelude::*;

/// A borrowed array: contiguous in C order, aligned, of the machine's byte order.
pub(crate) struct Array<'py, T: Element> {
    array: PyReadonlyArrayDyn<'py, T>,
    name: &'static str,
}

impl<'py, T: Element> Array<'py, T> {
    /// Borrows an argument.
    ///
    /// # Errors
    /// `TypeError` for anything but an array of `T`, `ValueError` for one of another layout.
    pub(crate) fn borrow(name: &'static str, object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let expected = dtype::<T>(object.py());
        let Ok(untyped) = object.cast::<PyUntypedArray>() else {
            let found = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "{name}: expected a NumPy array of {expected}, found {found}; numpy.asarray({name}, dtype=numpy.{expected}) makes one"
            )));
        };
        let found = untyped.dtype();
        if !found.is_equiv_to(&expected) {
            return Err(PyTypeError::new_err(format!(
                "{name}: expected an array of {expected}, found {found}; {name}.astype(numpy.{expected}) converts it"
            )));
        }
        if !untyped.is_c_contiguous() || !(untyped.is_aligned() || untyped.len() == 0) {
            let problem = if untyped.is_c_contiguous() { "aligned" } else { "contiguous in C order" };
            return Err(PyValueError::new_err(format!(
                "{name}: expected an array that is {problem}; {name}.copy(order=\"C\") makes one"
            )));
        }
        let array = object.cast::<PyArrayDyn<T>>()?.try_readonly();
        let array =
            array.map_err(|_| PyValueError::new_err(format!("{name}: the array is being written to")))?;
        Ok(Self { array, name })
    }

    /// The lengths of the axes.
    pub(crate) fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    /// The elements in C order.
    pub(crate) fn data(&self) -> &[T] {
        // An error is impossible: the layout was checked.
        self.array.as_slice().unwrap_or_default()
    }

    /// The lengths of N axes.
    ///
    /// # Errors
    /// `ValueError` with the expected shape for another number of axes.
    pub(crate) fn axes<const N: usize>(&self, shape: &str) -> PyResult<[usize; N]> {
        self.shape().try_into().map_err(|_| self.refuse(shape))
    }

    /// An error about the shape.
    pub(crate) fn refuse(&self, expected: &str) -> PyErr {
        let found: Vec<_> = self.shape().iter().map(usize::to_string).collect();
        let comma = if found.len() == 1 { "," } else { "" };
        PyValueError::new_err(format!(
            "{}: expected shape {expected}, found ({}{comma})",
            self.name,
            found.join(", ")
        ))
    }
}

/// A one-dimensional array that owns these elements. Nothing is copied.
pub(crate) fn vector<T: Element>(py: Python<'_>, elements: Vec<T>) -> Bound<'_, PyArray1<T>> {
    elements.into_pyarray(py)
}

/// A matrix of rows of `columns` elements, which owns them. Nothing is copied.
pub(crate) fn matrix<T: Element>(
    py: Python<'_>,
    elements: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    let rows = elements.len() / columns.max(1);
    elements.into_pyarray(py).reshape([rows, columns])
}

/// A matrix of rows of this many elements, or a vector without a number of columns.
pub(crate) fn shaped<'py, T: Element>(
    py: Python<'py>,
    elements: Vec<T>,
    columns: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match columns {
        None => vector(py, elements).into_any(),
        Some(columns) => matrix(py, elements, columns)?.into_any(),
    })
}

/// A value of some 64-bit words: a field element, or a coordinate in an extension field; each integer with its least significant
/// word first.
pub(crate) trait WordValue: Sized + Send {
    /// The number of words.
    const WORDS: usize;
    /// `None` for an integer that is not below the modulus.
    fn read(words: &[u64]) -> Option<Self>;
    fn write(&self, words: &mut Vec<u64>);
}

impl<P: Prime> WordValue for Fp<P> {
    const WORDS: usize = Self::BYTES / 8;

    fn read(words: &[u64]) -> Option<Self> {
        let mut limbs = P::Limbs::default();
        limbs.as_mut().copy_from_slice(words);
        Self::from_canonical(limbs)
    }

    fn write(&self, words: &mut Vec<u64>) {
        words.extend_from_slice(self.to_canonical().as_ref());
    }
}

macro_rules! quadratic {
    ($($type:ty),*) => {$(
        impl WordValue for $type {
            const WORDS: usize = 2 * <$type>::HALF;

            fn read(words: &[u64]) -> Option<Self> {
                let (c0, c1) = words.split_at(words.len() / 2);
                Some(Self { c0: WordValue::read(c0)?, c1: WordValue::read(c1)? })
            }

            fn write(&self, words: &mut Vec<u64>) {
                self.c0.write(words);
                self.c1.write(words);
            }
        }
    )*};
}

/// The words of a coefficient of an extension field's element.
trait Half {
    const HALF: usize;
}

impl Half for bn254::Fq2 {
    const HALF: usize = bn254::Fq::WORDS;
}

impl Half for bls12_381::Fq2 {
    const HALF: usize = bls12_381::Fq::WORDS;
}

quadratic!(bn254::Fq2, bls12_381::Fq2);

/// Decodes many values. Runs on all threads.
///
/// # Errors
/// Names the first value that is refused, and `expected`.
pub(crate) fn decode<T: Send>(
    name: &str,
    words: &[u64],
    each: usize,
    expected: &str,
    read: impl Fn(&[u64]) -> Option<T> + Sync + Send,
) -> Result<Vec<T>, Fault> {
    // Not worth other threads.
    const FEW: usize = 64;
    let values: Option<Vec<T>> = if words.len() <= FEW * each {
        words.chunks_exact(each).map(&read).collect()
    } else {
        words.par_chunks_exact(each).with_min_len(FEW).map(&read).collect()
    };
    values.ok_or_else(|| {
        let index = words.par_chunks_exact(each).position_first(|words| read(words).is_none());
        Fault::Value(format!(
            "{name}: expected {expected}, found another value at index {}",
            index.unwrap_or_default()
        ))
    })
}

/// Decodes field elements.
pub(crate) fn elements<T: WordValue>(name: &str, words: &[u64]) -> Result<Vec<T>, Fault> {
    decode(name, words, T::WORDS, "integers below the field's modulus", T::read)
}

/// Encodes values. Runs on all threads.
pub(crate) fn encode<T: WordValue + Sync>(values: &[T]) -> Vec<u64> {
    const PIECE: usize = 1 << 12;
    let pieces = values.par_chunks(PIECE).flat_map_iter(|values| {
        let mut words = Vec::with_capacity(values.len() * T::WORDS);
        values.iter().for_each(|value| value.write(&mut words));
        words
    });
    pieces.collect()
}
