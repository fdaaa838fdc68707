//! From a section's bytes to field elements and points, in parallel. One pass also checks each value and releases the mapped
//! pages that it has read, so that memory holds a section only once.
//!
//! Scalars come as integers below the modulus (r1cs, wtns) or as Montgomery limbs (zkey); coordinates are
//! always Montgomery limbs. Points are checked to be on the curve eight at a time with the level's lanes:
//! `y^2 - x^3 - b` is zero, or x and y are, which stands for infinity.

use crate::{binfile::Section, error::CircomError};
use proofmill_cpu::{Level, Token};
use proofmill_curve::{Affine, Curve, bls12_381, bn254};
use proofmill_field::{
    Algebra, Engine, Field, FieldError, Fp, LANES, Lanes, LanesOf, Packable, Prime, Vector,
    bls12_381 as bls12_381_fields,
    bn254::{self as bn254_fields, FrParams},
    dispatch,
};
use proofmill_run::parallel;
use std::{borrow::Cow, marker::PhantomData, mem::MaybeUninit, ops::Range};

/// Bytes of an encoded scalar.
pub(crate) const FR_BYTES: usize = 32;

/// Elements that one task decodes: 1 MiB of G1 points, enough that the overhead of a task and of a release is negligible.
const BLOCK: usize = 1 << 14;

/// The encoding of the scalars in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Integers below the modulus, 32 little-endian bytes.
    Canonical,
    /// The limbs of the Montgomery form, 32 little-endian bytes.
    Montgomery,
}

/// The checks on a point, in addition to coordinates below the modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointCheck {
    /// The point is on the curve. G1 needs no other check.
    OnCurve,
    /// The point is also in the subgroup of prime order: in G2 a scalar multiplication.
    InSubgroup,
}

/// The prime of a curve's scalars: of four limbs, so that a scalar has 32 bytes.
pub trait ScalarPrime: Prime<Limbs = [u64; 4]> {}

impl ScalarPrime for FrParams {}
impl ScalarPrime for bls12_381_fields::FrParams {}

/// Scalars stored contiguously in a section.
#[derive(Clone, Copy, Debug)]
pub struct Scalars<'a, P = FrParams> {
    section: Section<'a>,
    form: Form,
    prime: PhantomData<P>,
}

impl<'a, P: ScalarPrime> Scalars<'a, P> {
    /// `section`'s length must be a multiple of 32.
    pub fn new(section: Section<'a>, form: Form) -> Self {
        debug_assert!(section.len().is_multiple_of(FR_BYTES));
        Self { section, form, prime: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.section.len() / FR_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.section.is_empty()
    }

    /// The elements in a range of indices.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] if there are fewer.
    pub fn slice(&self, range: Range<usize>) -> Result<Self, CircomError> {
        Ok(Self { section: slice_elements(&self.section, range, FR_BYTES)?, ..*self })
    }

    /// Decodes all elements on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a value that is not below the modulus.
    pub fn decode(&self, level: Level) -> Result<Vec<Fp<P>>, CircomError> {
        let form = self.form;
        decode_blocks(self.section, 0, FR_BYTES, |_, bytes, out| {
            dispatch!(level, engine => engine.run(
                #[inline(always)]
                || scalar_block(engine, form, bytes, out)
            ))
        })
    }

    /// Decodes the scalars at indices `first`, `first + step`, ... on the ambient rayon pool, until `out` is full or less than
    /// a whole step is left. The offset in an error is that of the step.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for a value that is not below the modulus.
    ///
    /// # Panics
    /// If `first` is not below `step`.
    pub fn decode_strided(&self, first: usize, step: usize, out: &mut [Fp<P>]) -> Result<(), CircomError> {
        assert!(first < step, "the first element is in the first step");
        let (form, size) = (self.form, step * FR_BYTES);
        // SAFETY: the elements are initialised, and stay so: `out` is only written to, with whole valid scalars, by `write`.
        let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<Fp<P>>]) };
        fill_blocks(self.section, 0, size, (BLOCK * FR_BYTES).div_ceil(size), out, |_, bytes, out| {
            for (index, (bytes, out)) in bytes.chunks_exact(size).zip(out).enumerate() {
                let limbs = bytes.get(first * FR_BYTES..).and_then(read_limbs);
                let value = match form {
                    Form::Canonical => limbs.and_then(Fp::from_canonical),
                    Form::Montgomery => limbs.and_then(Fp::from_montgomery),
                };
                out.write(value.ok_or_else(|| (index, not_below_r::<P>().into()))?);
            }
            Ok(())
        })
    }
}

/// Affine points stored contiguously in a section; infinity is all zeros.
#[derive(Clone, Copy, Debug)]
pub struct Points<'a, C> {
    section: Section<'a>,
    /// The index of the first point, for messages.
    first: usize,
    curve: PhantomData<C>,
}

impl<'a, C: Curve<Base: Coordinate>> Points<'a, C> {
    /// Bytes of an encoded point.
    pub const BYTES: usize = 2 * C::Base::BYTES;

    /// `section`'s length must be a multiple of [`Self::BYTES`].
    pub fn new(section: Section<'a>) -> Self {
        debug_assert!(section.len().is_multiple_of(Self::BYTES));
        Self { section, first: 0, curve: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.section.len() / Self::BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.section.is_empty()
    }

    /// The place of the points in the file.
    pub fn range(&self) -> Range<usize> {
        self.section.range()
    }

    /// The elements in a range of indices.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] if there are fewer.
    pub fn slice(&self, range: Range<usize>) -> Result<Self, CircomError> {
        let section = slice_elements(&self.section, range.clone(), Self::BYTES)?;
        Ok(Self { section, first: self.first.saturating_add(range.start), ..*self })
    }

    /// Decodes all elements on the ambient rayon pool.
    ///
    /// # Errors
    /// [`CircomError::Malformed`] for the first point with a coordinate not below the modulus, off the curve or, if that is
    /// checked, outside the subgroup.
    pub fn decode(&self, level: Level, check: PointCheck) -> Result<Vec<Affine<C>>, CircomError> {
        let points = decode_blocks(self.section, self.first, Self::BYTES, |_, bytes, out| {
            dispatch!(level, engine => engine.run(
                #[inline(always)]
                || point_block(engine, bytes, out)
            ))
        })?;
        if check == PointCheck::InSubgroup
            && let Some(index) = C::Base::first_outside(level, &points)
        {
            let problem =
                format!("element {}: point is not in the subgroup of prime order", self.first + index);
            return Err(self.section.malformed(index * Self::BYTES, problem));
        }
        Ok(points)
    }

    /// Decodes `points.len()` points from index `start` on, checks that they are on the curve, and releases their pages. Runs
    /// on the calling thread only.
    ///
    /// # Errors
    /// As [`Self::decode`], or if there are fewer.
    pub fn read(&self, level: Level, start: usize, points: &mut [Affine<C>]) -> Result<(), CircomError> {
        let section = slice_elements(&self.section, start..start + points.len(), Self::BYTES)?;
        // SAFETY: the elements are initialised, and stay so: `point_block` only writes whole valid points to `out`.
        let out = unsafe { &mut *(std::ptr::from_mut(points) as *mut [MaybeUninit<Affine<C>>]) };
        let bytes = section.bytes();
        let block = dispatch!(level, engine => engine.run(
            #[inline(always)]
            || point_block(engine, bytes, out)
        ));
        section.release();
        block.map_err(|(within, problem)| {
            let index = start + within;
            self.section.malformed(index * Self::BYTES, format!("element {}: {problem}", self.first + index))
        })
    }
}

fn slice_elements<'a>(
    section: &Section<'a>,
    range: Range<usize>,
    size: usize,
) -> Result<Section<'a>, CircomError> {
    section.slice(range.start.saturating_mul(size)..range.end.saturating_mul(size))
}

/// The index of a bad element and the problem.
type Fault = (usize, Cow<'static, str>);

/// Decodes a section in blocks of [`BLOCK`] elements of `size` bytes, which messages number from `first` on. `block` initialises the whole of its output when it
/// returns `Ok`; its first argument is the index of the block's first element.
fn decode_blocks<T: Copy + Send + Sync>(
    section: Section<'_>,
    first: usize,
    size: usize,
    block: impl Fn(usize, &[u8], &mut [MaybeUninit<T>]) -> Result<(), Fault> + Sync,
) -> Result<Vec<T>, CircomError> {
    let count = section.len() / size;
    let mut elements = Vec::with_capacity(count);
    fill_blocks(section, first, size, BLOCK, elements.spare_capacity_mut().split_at_mut(count).0, block)?;
    // SAFETY: `fill_blocks` covered the first `count` elements of the capacity with blocks, and each block returned `Ok`, by
    // which it has initialised its elements.
    unsafe { elements.set_len(count) };
    Ok(elements)
}

/// Decodes `out.len()` elements of `size` bytes, in blocks of `length`; `block` as for [`decode_blocks`].
fn fill_blocks<T: Send>(
    section: Section<'_>,
    first: usize,
    size: usize,
    length: usize,
    out: &mut [MaybeUninit<T>],
    block: impl Fn(usize, &[u8], &mut [MaybeUninit<T>]) -> Result<(), Fault> + Sync,
) -> Result<(), CircomError> {
    let blocks = section.bytes().chunks(length * size).zip(out.chunks_mut(length)).enumerate();
    let faults = parallel::map(blocks, |(index, (bytes, out))| {
        let result = block(index * length, bytes, out);
        let start = index * length * size;
        if let Ok(pages) = section.slice(start..start + bytes.len()) {
            pages.release();
        }
        result.err().map(|(within, problem)| (index * length + within, problem))
    });
    match faults.into_iter().flatten().next() {
        Some((index, problem)) => {
            Err(section.malformed(index * size, format!("element {}: {problem}", first + index)))
        }
        None => Ok(()),
    }
}

/// Decodes elements of `size` bytes one by one, on the ambient rayon pool; `element` also receives the index. A rest of fewer
/// bytes is left out.
///
/// # Errors
/// [`CircomError::Malformed`] for the first element that `element` refuses.
pub fn decode_each<T: Copy + Send + Sync>(
    section: Section<'_>,
    size: usize,
    element: impl Fn(usize, &[u8]) -> Result<T, Cow<'static, str>> + Sync,
) -> Result<Vec<T>, CircomError> {
    decode_blocks(section, 0, size, |start, bytes, out| {
        for (index, (bytes, out)) in bytes.chunks_exact(size).zip(out).enumerate() {
            out.write(element(start + index, bytes).map_err(|problem| (index, problem))?);
        }
        Ok(())
    })
}

/// Decodes a block in groups of [`LANES`] elements; the last group may be shorter.
#[inline(always)]
fn decode_groups<T: Copy>(
    bytes: &[u8],
    size: usize,
    zero: T,
    out: &mut [MaybeUninit<T>],
    mut group: impl FnMut(&[u8], &mut [T; LANES]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for (index, (bytes, out)) in bytes.chunks(LANES * size).zip(out.chunks_mut(LANES)).enumerate() {
        let mut values = [zero; LANES];
        group(bytes, &mut values).map_err(|(within, problem)| (index * LANES + within, problem))?;
        for (out, value) in out.iter_mut().zip(values) {
            out.write(value);
        }
    }
    Ok(())
}

#[inline(always)]
fn scalar_block<E: Engine, P: ScalarPrime>(
    engine: E,
    form: Form,
    bytes: &[u8],
    out: &mut [MaybeUninit<Fp<P>>],
) -> Result<(), Fault> {
    let radix = E::Packed::<P>::broadcast(engine, montgomery_radix());
    decode_groups(
        bytes,
        FR_BYTES,
        Fp::ZERO,
        out,
        #[inline(always)]
        |bytes, group| {
            for (index, (bytes, value)) in bytes.chunks_exact(FR_BYTES).zip(group.iter_mut()).enumerate() {
                *value = read_limbs(bytes)
                    .and_then(Fp::from_montgomery)
                    .ok_or_else(|| (index, not_below_r::<P>().into()))?;
            }
            if form == Form::Canonical {
                // An integer read as Montgomery limbs is the value divided by R; the limbs of R^2 are the value R.
                let values = E::Packed::<P>::load(engine, group) * radix;
                values.store(group);
            }
            Ok(())
        },
    )
}

/// The problem of a scalar that is too large.
pub(crate) fn not_below_r<P: ScalarPrime>() -> String {
    format!("value is not below the modulus of {}", P::NAME)
}

const NOT_BELOW_Q: &str = "coordinate is not below the modulus of the base field";
const OFF_CURVE: &str = "point is not on the curve";

/// `2^256 mod r` as an element.
#[inline(always)]
pub(crate) fn montgomery_radix<P: ScalarPrime>() -> Fp<P> {
    Fp::from_montgomery(P::R2).unwrap_or_default()
}

#[inline(always)]
pub(crate) fn read_limbs<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let mut limbs = [0; N];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.get(..8 * N)?.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    Some(limbs)
}

/// The first four bytes as an integer.
#[inline(always)]
pub(crate) fn read_u32(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.first_chunk()?))
}

/// Reads the one scalar at the beginning of a section.
pub(crate) fn read_scalar<P: ScalarPrime>(section: Section<'_>, form: Form) -> Result<Fp<P>, CircomError> {
    let limbs = read_limbs(section.bytes());
    let value = match form {
        Form::Canonical => limbs.and_then(Fp::from_canonical),
        Form::Montgomery => limbs.and_then(Fp::from_montgomery),
    };
    value.ok_or_else(|| section.malformed(0, not_below_r::<P>()))
}

#[inline(always)]
fn point_block<E: Engine, C: Curve<Base: Coordinate>>(
    engine: E,
    bytes: &[u8],
    out: &mut [MaybeUninit<Affine<C>>],
) -> Result<(), Fault> {
    let zero = C::Base::ZERO;
    let size = C::Base::BYTES;
    let equation = CurveEquation::<C::Base, E>::new(engine, C::B);
    decode_groups(
        bytes,
        2 * size,
        Affine { x: zero, y: zero },
        out,
        #[inline(always)]
        |bytes, group| {
            let (mut x, mut y) = ([zero; LANES], [zero; LANES]);
            let coordinates = x.iter_mut().zip(&mut y);
            for (index, (bytes, (x, y))) in bytes.chunks_exact(2 * size).zip(coordinates).enumerate() {
                let (x_bytes, y_bytes) = bytes.split_at(size);
                *x = C::Base::read(x_bytes).ok_or((index, NOT_BELOW_Q.into()))?;
                *y = C::Base::read(y_bytes).ok_or((index, NOT_BELOW_Q.into()))?;
            }
            let on_curve = equation.holds(&x, &y);
            for (index, (point, (x, y))) in group.iter_mut().zip(x.into_iter().zip(y)).enumerate() {
                let infinity = x.is_zero() && y.is_zero();
                if on_curve >> index & 1 == 0 && !infinity {
                    return Err((index, OFF_CURVE.into()));
                }
                *point = Affine { x, y };
            }
            Ok(())
        },
    )
}

/// `y^2 = x^3 + b` in lanes on coordinates from [`Vector::load_bits`], which are multiplied by a constant k. It tests `k y'^2 =
/// x'^3 + k^3 b`: one multiplication by k instead of conversions of x and y.
struct CurveEquation<F: Coordinate, E: Engine> {
    k: LanesOf<F, E>,
    k_cubed_b: LanesOf<F, E>,
}

impl<F: Coordinate, E: Engine> CurveEquation<F, E> {
    #[inline(always)]
    fn new(engine: E, b: F) -> Self {
        let k = LanesOf::<F, E>::load_bits(engine, F::as_limbs(&[F::ONE; LANES]));
        Self { k, k_cubed_b: k.square() * LanesOf::<F, E>::load_bits(engine, F::as_limbs(&[b; LANES])) }
    }

    /// Bit i is set if the equation holds for point i.
    #[inline(always)]
    fn holds(&self, x: &[F; LANES], y: &[F; LANES]) -> u8 {
        let (engine, width) = (self.k.token(), LanesOf::<F, E>::WIDTH);
        let mut holds = 0;
        let groups = F::as_limbs(x).chunks(width).zip(F::as_limbs(y).chunks(width));
        for (group, (x, y)) in groups.enumerate() {
            let (x, y) = (LanesOf::<F, E>::load_bits(engine, x), LanesOf::<F, E>::load_bits(engine, y));
            holds |=
                (y.square() * self.k - (x.square() * x + self.k_cubed_b)).zero_lanes() << (group * width);
        }
        holds
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::bn254_fields::Fq {}
    impl Sealed for super::bn254_fields::Fq2 {}
    impl Sealed for super::bls12_381_fields::Fq {}
    impl Sealed for super::bls12_381_fields::Fq2 {}
}

/// The fields of the coordinates in files: Fq and Fq2 of both curves. Each belongs to one group.
pub trait Coordinate: Packable + sealed::Sealed {
    /// Bytes of an encoding.
    const BYTES: usize;
    /// Coefficients of an element.
    #[doc(hidden)]
    const DEGREE: usize;

    /// Decodes Montgomery limbs; `None` if they are not below the modulus or are too few.
    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Option<Self>;

    /// Passes the Montgomery limbs to `show`, those of a coefficient at a time in the file's order.
    #[doc(hidden)]
    fn try_each_limbs<X>(&self, show: &mut impl FnMut(&[u64]) -> Result<(), X>) -> Result<(), X>;

    /// The coefficients, decimal, the constant one first.
    #[doc(hidden)]
    fn to_decimal(&self) -> Vec<String>;

    /// Parses [`DEGREE`](Self::DEGREE) coefficients.
    #[doc(hidden)]
    fn from_decimal(coefficients: &[String]) -> Result<Self, FieldError>;

    /// Appends the coefficients, big-endian, that of u first.
    #[doc(hidden)]
    fn write_be(&self, to: &mut Vec<u8>);

    /// Decodes what [`write_be`](Self::write_be) writes; the offset of a coefficient that is wrong.
    #[doc(hidden)]
    fn read_be(bytes: &[u8]) -> Result<Self, (usize, FieldError)>;

    /// The index of the first of these points, which are on their curve, outside the subgroup of prime order. Runs on the ambient
    /// rayon pool.
    #[doc(hidden)]
    fn first_outside<C: Curve<Base = Self>>(level: Level, points: &[Affine<C>]) -> Option<usize>;
}

/// Implements [`Coordinate`] for a curve's fields, whose elements have so many bytes.
macro_rules! coordinates {
    ($fields:ident, $bytes:literal, $outside_g1:expr, $outside_g2:expr) => {
        impl Coordinate for $fields::Fq {
            const BYTES: usize = $bytes;
            const DEGREE: usize = 1;

            #[inline(always)]
            fn read(bytes: &[u8]) -> Option<Self> {
                read_limbs(bytes).and_then(Self::from_montgomery)
            }

            fn try_each_limbs<X>(&self, show: &mut impl FnMut(&[u64]) -> Result<(), X>) -> Result<(), X> {
                show(&self.to_montgomery())
            }

            fn to_decimal(&self) -> Vec<String> {
                vec![self.to_string()]
            }

            fn from_decimal(coefficients: &[String]) -> Result<Self, FieldError> {
                coefficients.first().map_or("", String::as_str).parse()
            }

            fn write_be(&self, to: &mut Vec<u8>) {
                to.extend(self.to_bytes_be());
            }

            fn read_be(bytes: &[u8]) -> Result<Self, (usize, FieldError)> {
                let mut reversed = [0; $bytes];
                reversed.iter_mut().rev().zip(bytes).for_each(|(to, from)| *to = *from);
                Self::from_bytes_le(&reversed).map_err(|error| (0, error))
            }

            fn first_outside<C: Curve<Base = Self>>(level: Level, points: &[Affine<C>]) -> Option<usize> {
                $outside_g1(level, points)
            }
        }

        impl Coordinate for $fields::Fq2 {
            const BYTES: usize = 2 * $bytes;
            const DEGREE: usize = 2;

            #[inline(always)]
            fn read(bytes: &[u8]) -> Option<Self> {
                Some(Self::new($fields::Fq::read(bytes)?, $fields::Fq::read(bytes.get($bytes..)?)?))
            }

            fn try_each_limbs<X>(&self, show: &mut impl FnMut(&[u64]) -> Result<(), X>) -> Result<(), X> {
                self.c0.try_each_limbs(show)?;
                self.c1.try_each_limbs(show)
            }

            fn to_decimal(&self) -> Vec<String> {
                vec![self.c0.to_string(), self.c1.to_string()]
            }

            fn from_decimal(coefficients: &[String]) -> Result<Self, FieldError> {
                let c1 = coefficients.get(1..).unwrap_or_default();
                Ok(Self::new($fields::Fq::from_decimal(coefficients)?, $fields::Fq::from_decimal(c1)?))
            }

            fn write_be(&self, to: &mut Vec<u8>) {
                self.c1.write_be(to);
                self.c0.write_be(to);
            }

            fn read_be(bytes: &[u8]) -> Result<Self, (usize, FieldError)> {
                let c1 = $fields::Fq::read_be(bytes)?;
                let c0 = $fields::Fq::read_be(bytes.get($bytes..).unwrap_or_default());
                Ok(Self::new(c0.map_err(|(at, error)| ($bytes + at, error))?, c1))
            }

            fn first_outside<C: Curve<Base = Self>>(level: Level, points: &[Affine<C>]) -> Option<usize> {
                $outside_g2(level, points)
            }
        }
    };
}

// The order of BN254's G1 is prime.
coordinates!(bn254_fields, 32, |_, _| None, |level, points| outside(
    points,
    |points: &[Affine<bn254::G2>]| { bn254::first_outside(level, points) }
));
coordinates!(
    bls12_381_fields,
    48,
    |level, points| outside(points, |points: &[Affine<bls12_381::G1>]| outside_bls12_381(level, points)),
    |level, points| outside(points, |points: &[Affine<bls12_381::G2>]| outside_bls12_381(level, points))
);

fn outside_bls12_381<G: bls12_381::Encoded>(level: Level, points: &[Affine<G>]) -> Option<usize> {
    bls12_381::in_subgroup(level, points).iter().position(|inside| !inside)
}

/// The index of the first point outside of its subgroup, by the function of the group with these coordinates.
fn outside<C: Curve, G: Curve<Base = C::Base>>(
    points: &[Affine<C>],
    first_outside: impl Fn(&[Affine<G>]) -> Option<usize>,
) -> Option<usize> {
    /// Points that are copied at the same time.
    const PIECE: usize = 1 << 16;
    (0..).step_by(PIECE).zip(points.chunks(PIECE)).find_map(|(start, points)| {
        let points: Vec<_> = points.iter().map(|point| Affine { x: point.x, y: point.y }).collect();
        Some(start + first_outside(&points)?)
    })
}
