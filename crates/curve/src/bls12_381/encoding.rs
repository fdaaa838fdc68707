//! ZCash's encodings of points, as used by Ethereum (RFC 9380's companion draft-irtf-cfrg-pairing-friendly-curves,
//! appendix C).
//!
//! A coordinate is an integer below p in 48 big-endian bytes; for two coefficients, that of u comes first. A compressed
//! point is x, an uncompressed one `x || y`. The highest three bits of the first byte, which are zero in p, are flags:
//! compressed; infinity, with all other bits zero except the first; y is the larger of the two roots (compressed points
//! only), comparing the coefficient of u first.
//!
//! Batches of points compute their square roots and subgroup checks in lanes.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{
    G1, G2,
    points::{Points, in_lanes, load},
    roots::Roots,
    source_group::SourceGroup,
};
use crate::{Affine, Curve, EncodingError};
use proofmill_cpu::{Level, Portable};
use proofmill_field::{
    Algebra, Engine, Field, FieldError, LANES, Lanes, LanesOf, Prime, Select,
    bls12_381::{Fq, FqParams},
    dispatch,
};
use proofmill_run::parallel;

/// The bytes of a coefficient.
const BYTES: usize = 48;

const COMPRESSED: u8 = 0x80;
const INFINITY: u8 = 0x40;
const LARGER: u8 = 0x20;

/// Whether a decoder checks that points are in the subgroup of prime order, which costs more than the square root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subgroup {
    /// Points outside the subgroup are rejected.
    Checked,
    /// Points are on the curve, but may be outside the subgroup.
    Unchecked,
}

/// G1 or G2, with the sizes of its encodings.
pub trait Encoded: SourceGroup {
    /// A compressed point: 48 bytes for G1, 96 for G2.
    type Compressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Send + Sync + 'static;
    /// An uncompressed point: 96 bytes for G1, 192 for G2.
    type Uncompressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Send + Sync + 'static;
    /// All zero.
    const COMPRESSED_ZERO: Self::Compressed;
    /// All zero.
    const UNCOMPRESSED_ZERO: Self::Uncompressed;
}

impl Encoded for G1 {
    type Compressed = [u8; BYTES];
    type Uncompressed = [u8; 2 * BYTES];
    const COMPRESSED_ZERO: [u8; BYTES] = [0; BYTES];
    const UNCOMPRESSED_ZERO: [u8; 2 * BYTES] = [0; 2 * BYTES];
}

impl Encoded for G2 {
    type Compressed = [u8; 2 * BYTES];
    type Uncompressed = [u8; 4 * BYTES];
    const COMPRESSED_ZERO: [u8; 2 * BYTES] = [0; 2 * BYTES];
    const UNCOMPRESSED_ZERO: [u8; 4 * BYTES] = [0; 4 * BYTES];
}

impl<C: Encoded> Affine<C> {
    /// The compressed encoding.
    pub fn to_compressed(&self) -> C::Compressed {
        let mut bytes = C::COMPRESSED_ZERO;
        let y = LanesOf::<C::Base, Portable>::load(Portable, std::slice::from_ref(&self.y));
        let sign = if C::Base::larger::<Portable>(y) == 1 { LARGER } else { 0 };
        encode::<C>(&[self.x], COMPRESSED | sign, self.is_infinity(), bytes.as_mut());
        bytes
    }

    /// The uncompressed encoding.
    pub fn to_uncompressed(&self) -> C::Uncompressed {
        let mut bytes = C::UNCOMPRESSED_ZERO;
        encode::<C>(&[self.x, self.y], 0, self.is_infinity(), bytes.as_mut());
        bytes
    }

    /// Decodes the compressed encoding.
    ///
    /// # Errors
    /// [`EncodingError`]; [`EncodingError::NotInSubgroup`] only with [`Subgroup::Checked`].
    pub fn from_compressed(
        level: Level,
        bytes: &C::Compressed,
        subgroup: Subgroup,
    ) -> Result<Self, EncodingError> {
        decode_one(level, &parse_compressed::<C>(bytes.as_ref()), subgroup)
    }

    /// Decodes the uncompressed encoding.
    ///
    /// # Errors
    /// As [`from_compressed`](Self::from_compressed).
    pub fn from_uncompressed(
        level: Level,
        bytes: &C::Uncompressed,
        subgroup: Subgroup,
    ) -> Result<Self, EncodingError> {
        decode_one(level, &parse_uncompressed::<C>(bytes.as_ref()), subgroup)
    }
}

/// Decodes many compressed points: roots and checks are computed in lanes, on the ambient rayon pool.
///
/// # Errors
/// For each point as [`Affine::from_compressed`].
pub fn decode_compressed<C: Encoded>(
    level: Level,
    encodings: &[C::Compressed],
    subgroup: Subgroup,
) -> Vec<Result<Affine<C>, EncodingError>> {
    decode(level, encodings, subgroup, |bytes| parse_compressed(bytes.as_ref()))
}

/// Decodes many uncompressed points.
///
/// # Errors
/// For each point as [`Affine::from_uncompressed`].
pub fn decode_uncompressed<C: Encoded>(
    level: Level,
    encodings: &[C::Uncompressed],
    subgroup: Subgroup,
) -> Vec<Result<Affine<C>, EncodingError>> {
    decode(level, encodings, subgroup, |bytes| parse_uncompressed(bytes.as_ref()))
}

/// Whether each point is in the subgroup of prime order; infinity is. The points must be on the curve.
pub fn in_subgroup<C: Encoded>(level: Level, points: &[Affine<C>]) -> Vec<bool> {
    let block = block(points.len());
    let mut inside = vec![false; points.len()];
    parallel::for_each(points.chunks(block).zip(inside.chunks_mut(block)), |(points, inside)| {
        dispatch!(level, engine => {
            let [many, few] = in_lanes(engine, points, inside);
            subgroup_all(engine, engine, many.0, many.1);
            subgroup_all(engine.backend(), engine, few.0, few.1);
        });
    });
    inside
}

/// The points of one task: some groups of lanes per thread.
fn block(count: usize) -> usize {
    count.div_ceil(4 * parallel::threads()).max(1).next_multiple_of(LANES)
}

fn decode<C: Encoded, B: Sync>(
    level: Level,
    encodings: &[B],
    subgroup: Subgroup,
    parse: impl Fn(&B) -> Parsed<C> + Sync,
) -> Vec<Result<Affine<C>, EncodingError>> {
    let block = block(encodings.len());
    let mut points = vec![Ok(Affine::INFINITY); encodings.len()];
    parallel::for_each(encodings.chunks(block).zip(points.chunks_mut(block)), |(encodings, points)| {
        let parsed: Vec<Parsed<C>> = encodings.iter().map(&parse).collect();
        dispatch!(level, engine => {
            let [many, few] = in_lanes(engine, &parsed, points);
            finish_all(engine, engine, many.0, subgroup, many.1);
            finish_all(engine.backend(), engine, few.0, subgroup, few.1);
        });
    });
    points
}

fn decode_one<C: Encoded>(
    level: Level,
    parsed: &Parsed<C>,
    subgroup: Subgroup,
) -> Result<Affine<C>, EncodingError> {
    let mut point = Ok(Affine::INFINITY);
    // A single point is faster in scalars than in one of eight lanes.
    dispatch!(level, engine => finish_all(
        engine.backend(),
        engine,
        std::slice::from_ref(parsed),
        subgroup,
        std::slice::from_mut(&mut point),
    ));
    point
}

/// The content of the bytes, before roots are computed.
enum Parsed<C: Curve> {
    Infinity,
    /// A compressed point: x, and whether y is the larger root.
    X(C::Base, bool),
    /// An uncompressed point, on the curve.
    Point(Affine<C>),
    Refused(EncodingError),
}

fn encode<C: Encoded>(coordinates: &[C::Base], flags: u8, infinity: bool, bytes: &mut [u8]) {
    let coefficients = coordinates.iter().flat_map(|coordinate| C::coefficients(coordinate));
    for (bytes, coefficient) in bytes.chunks_mut(BYTES).zip(coefficients) {
        bytes.copy_from_slice(&coefficient.to_bytes_be());
    }
    if let Some(first) = bytes.first_mut() {
        *first |= if infinity { flags & COMPRESSED | INFINITY } else { flags };
    }
}

/// The coordinates, without the flags.
fn parse_coordinates<C: Encoded, const N: usize>(bytes: &[u8]) -> Result<[C::Base; N], EncodingError> {
    let mut coefficients = [Fq::ZERO; 4];
    for (i, (coefficient, bytes)) in coefficients.iter_mut().zip(bytes.as_chunks().0).enumerate() {
        let mut words: [u64; 6] = words(bytes);
        if let (0, Some(top)) = (i, words.last_mut()) {
            *top &= u64::MAX >> 3;
        }
        let canonical = Fq::from_canonical(words).ok_or(FieldError::NotCanonical(FqParams::NAME));
        *coefficient = canonical.map_err(|source| EncodingError::Coordinate {
            group: C::NAME,
            offset: i * BYTES,
            source,
        })?;
    }
    let mut coordinates = [C::Base::ZERO; N];
    for (coordinate, coefficients) in coordinates.iter_mut().zip(coefficients.chunks_mut(C::DEGREE)) {
        // The coefficient of u came first.
        coefficients.reverse();
        *coordinate = C::element(coefficients);
    }
    Ok(coordinates)
}

/// Little-endian words of big-endian bytes.
fn words(bytes: &[u8; BYTES]) -> [u64; 6] {
    let mut words = [0; 6];
    for (word, bytes) in words.iter_mut().rev().zip(bytes.as_chunks().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    words
}

/// Infinity, if its bit is set: all other bits must be zero.
fn parse_infinity<C: Encoded>(first: u8, rest: &[u8]) -> Option<Parsed<C>> {
    let zero = first & !(COMPRESSED | INFINITY) == 0 && rest.iter().all(|byte| *byte == 0);
    let parsed = if zero { Parsed::Infinity } else { Parsed::Refused(EncodingError::Infinity(C::NAME)) };
    (first & INFINITY != 0).then_some(parsed)
}

fn parse_compressed<C: Encoded>(bytes: &[u8]) -> Parsed<C> {
    let group = C::NAME;
    let Some((first, rest)) = bytes.split_first().filter(|(first, _)| **first & COMPRESSED != 0) else {
        return Parsed::Refused(EncodingError::WrongForm { group, expected: "a compressed" });
    };
    parse_infinity(*first, rest).unwrap_or_else(|| match parse_coordinates::<C, 1>(bytes) {
        Ok([x]) => Parsed::X(x, first & LARGER != 0),
        Err(refusal) => Parsed::Refused(refusal),
    })
}

fn parse_uncompressed<C: Encoded>(bytes: &[u8]) -> Parsed<C> {
    let group = C::NAME;
    let Some((first, rest)) = bytes.split_first().filter(|(first, _)| **first & COMPRESSED == 0) else {
        return Parsed::Refused(EncodingError::WrongForm { group, expected: "an uncompressed" });
    };
    parse_infinity(*first, rest).unwrap_or_else(|| {
        if first & LARGER != 0 {
            return Parsed::Refused(EncodingError::Sign(group));
        }
        match parse_coordinates::<C, 2>(bytes) {
            Ok([x, y]) if y.square() == x.square() * x + C::B => Parsed::Point(Affine { x, y }),
            Ok(_) => Parsed::Refused(EncodingError::NotOnCurve(group)),
            Err(refusal) => Parsed::Refused(refusal),
        }
    })
}

/// Roots and checks, for as many points at a time as the engine has lanes; `single` is the engine for a single point.
fn finish_all<C: Encoded, E: Engine, S: Engine>(
    engine: E,
    single: S,
    parsed: &[Parsed<C>],
    subgroup: Subgroup,
    points: &mut [Result<Affine<C>, EncodingError>],
) {
    engine.run(
        #[inline(always)]
        || {
            // Here, where the compiler knows it: `run` is not inlined.
            let width = LanesOf::<C::Base, E>::WIDTH;
            for (parsed, points) in parsed.chunks(width).zip(points.chunks_mut(width)) {
                finish(engine, single, parsed, subgroup, points);
            }
        },
    );
}

/// `x^3 + B`.
#[inline(always)]
fn square_of_y<C: Encoded, E: Engine>(x: LanesOf<C::Base, E>) -> LanesOf<C::Base, E> {
    LanesOf::<C::Base, E>::outlined(
        x.token(),
        #[inline(always)]
        || x.square() * x + LanesOf::<C::Base, E>::broadcast(x.token(), C::B),
    )
}

#[inline(always)]
fn finish<C: Encoded, E: Engine, S: Engine>(
    engine: E,
    single: S,
    parsed: &[Parsed<C>],
    subgroup: Subgroup,
    points: &mut [Result<Affine<C>, EncodingError>],
) {
    let mut affine = [Affine::INFINITY; LANES];
    // The lanes whose y is given, and the lanes whose y is the larger root.
    let (mut given, mut larger) = (0, 0);
    for (lane, (parsed, affine)) in parsed.iter().zip(&mut affine).enumerate() {
        match parsed {
            Parsed::Infinity | Parsed::Refused(_) => given |= 1 << lane,
            Parsed::X(x, is_larger) => {
                affine.x = *x;
                larger |= u8::from(*is_larger) << lane;
            }
            Parsed::Point(point) => {
                given |= 1 << lane;
                *affine = *point;
            }
        }
    }
    let lanes = LanesOf::<C::Base, E>::WIDTH;
    let all = u8::MAX >> (LANES - lanes);
    let [x, mut y] = load(engine, &affine);
    let mut on_curve = all;
    if given & all != all {
        let [root] = C::Base::roots_of_ratios::<E, 1>(&[square_of_y::<C, E>(x)], &[Algebra::one(engine)]);
        let opposite = C::Base::larger::<E>(root.root) ^ larger;
        let chosen = LanesOf::<C::Base, E>::select(opposite, -root.root, root.root);
        y = LanesOf::<C::Base, E>::select(given, y, chosen);
        on_curve = root.square | given;
    }
    let inside = match subgroup {
        Subgroup::Checked => LanesOf::<C::Base, E>::outlined(
            engine,
            #[inline(always)]
            || C::in_subgroup(&Points::<C::Base, E>::affine(x, y), single),
        ),
        Subgroup::Unchecked => all,
    };
    let mut ys = [C::Base::ZERO; LANES];
    if let Some(ys) = ys.get_mut(..lanes) {
        y.store(ys);
    }
    for (lane, ((parsed, point), (affine, y))) in
        parsed.iter().zip(points).zip(affine.iter().zip(ys)).enumerate()
    {
        *point = match parsed {
            Parsed::Infinity => Ok(Affine::INFINITY),
            Parsed::Refused(refusal) => Err(*refusal),
            _ if on_curve >> lane & 1 == 0 => Err(EncodingError::NotOnCurve(C::NAME)),
            _ if inside >> lane & 1 == 0 => Err(EncodingError::NotInSubgroup(C::NAME)),
            _ => Ok(Affine { x: affine.x, y }),
        };
    }
}

/// Subgroup checks, for as many points at a time as the engine has lanes; `single` is the engine for a single point.
fn subgroup_all<C: Encoded, E: Engine, S: Engine>(
    engine: E,
    single: S,
    points: &[Affine<C>],
    inside: &mut [bool],
) {
    engine.run(
        #[inline(always)]
        || {
            let width = LanesOf::<C::Base, E>::WIDTH;
            for (points, inside) in points.chunks(width).zip(inside.chunks_mut(width)) {
                let [x, y] = load(engine, points);
                let mask = C::in_subgroup(&Points::<C::Base, E>::affine(x, y), single);
                for (lane, (point, inside)) in points.iter().zip(inside).enumerate() {
                    *inside = point.is_infinity() || mask >> lane & 1 == 1;
                }
            }
        },
    );
}
