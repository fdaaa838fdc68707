//! `proofmill.msm`: multi-scalar multiplication.

use crate::{
    arrays::{Array, WordValue, decode, elements, encode, vector},
    error::Fault,
    work::ThreadsAndLevel,
};
use numpy::PyArray1;
use proofmill::{
    curve::{Affine, Msm, bls12_381, bn254},
    msm::msm,
};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The most points of a sum.
const MOST: usize = (1 << 30) - 1;

/// The sum for any curve.
fn sum<'py, C>(
    points: &Bound<'py, PyAny>,
    scalars: &Bound<'py, PyAny>,
    choice: ThreadsAndLevel,
) -> PyResult<Bound<'py, PyArray1<u64>>>
where
    C: Msm<Base: WordValue, Scalar: WordValue>,
{
    let py = points.py();
    let (width, scalar) = (2 * C::Base::WORDS, C::Scalar::WORDS);
    let points = Array::<u64>::borrow("points", points)?;
    let scalars = Array::<u64>::borrow("scalars", scalars)?;
    match (points.shape(), scalars.shape()) {
        ([count, words], _) if *words != width || *count > MOST => {
            return Err(points.refuse(&format!("(n, {width})")));
        }
        ([_, _], [_, words]) if *words != scalar => return Err(scalars.refuse(&format!("(n, {scalar})"))),
        ([a, _], [b, _]) if a != b => {
            return Err(PyValueError::new_err(format!(
                "scalars: expected one for each of {a} points, found {b}"
            )));
        }
        ([_, _], [_, _]) => (),
        ([_, _], _) => return Err(scalars.refuse(&format!("(n, {scalar})"))),
        _ => return Err(points.refuse(&format!("(n, {width})"))),
    }
    let (points, scalars) = (points.data(), scalars.data());
    let words = choice.compute(py, || {
        let expected = format!("points of {}", C::NAME);
        let points = decode("points", points, width, &expected, |words| {
            let (x, y) = words.split_at(words.len() / 2);
            let point = Affine::<C> { x: WordValue::read(x)?, y: WordValue::read(y)? };
            point.is_on_curve().then_some(point)
        })?;
        let scalars: Vec<C::Scalar> = elements("scalars", scalars)?;
        let sum = msm::<C>(&points, &scalars).to_affine();
        Ok::<_, Fault>(encode(&[sum.x, sum.y]))
    })?;
    Ok(vector(py, words))
}

/// Implements the function of a curve.
macro_rules! curves {
    ($($name:ident: $curve:ty, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            ///
            /// Coordinates and scalars are integers below their modulus, each with its least significant word first; an element a + b u of
            /// an extension field is a, then b. Zeros are the point at infinity. Points are checked to be on the curve, not to be in its
            /// subgroup. Runs on all threads, without the GIL; the time depends on the scalars.
            ///
            /// Raises TypeError, ValueError.
            #[pyfunction]
            #[pyo3(signature = (points, scalars, *, threads=None, level=None))]
            fn $name<'py>(
                points: &Bound<'py, PyAny>,
                scalars: &Bound<'py, PyAny>,
                threads: Option<usize>,
                level: Option<&str>,
            ) -> PyResult<Bound<'py, PyArray1<u64>>> {
                sum::<$curve>(points, scalars, ThreadsAndLevel::new(threads, level)?)
            }
        )*

        pub(crate) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
            let module = PyModule::new(py, "proofmill.msm")?;
            module.setattr("__doc__", "Multi-scalar multiplication: sums of points, each times a scalar.")?;
            $(module.add_function(wrap_pyfunction!($name, &module)?)?;)*
            Ok(module)
        }
    };
}

curves! {
    bn254_g1: bn254::G1, "The sum of scalars times points of BN254's G1: uint64 of shapes (n, 4) and (n, 8), to uint64 of shape (8,).";
    bn254_g2: bn254::G2, "The sum of scalars times points of BN254's G2: uint64 of shapes (n, 4) and (n, 16), to uint64 of shape (16,).";
    bls12_381_g1: bls12_381::G1, "The sum of scalars times points of BLS12-381's G1: uint64 of shapes (n, 4) and (n, 12), to uint64 of shape (12,).";
    bls12_381_g2: bls12_381::G2, "The sum of scalars times points of BLS12-381's G2: uint64 of shapes (n, 4) and (n, 24), to uint64 of shape (24,).";
}
