//! Points of BN254 in challenges and responses, whose hashes are those of the ceremony.
//!
//! Coordinates are big-endian, the coefficient of u first in G2. An uncompressed point is x and y ([`Affine::to_evm`]); a compressed one is x,
//! with the highest bit of its first byte set if y is the greater of both, and the next bit for infinity, which no power is. The facts are
//! from ffjavascript's `wasm_curve.js` and wasmcurves.

use proofmill_circom::{Coordinate, FirstPowers, PointCheck, PtauPoints};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Curve, EncodingError, Msm, Products,
    bn254::{G1, G2},
};
use proofmill_field::{
    Algebra, Field, Packable, SquareRoot,
    bn254::{Fq, Fq2, Fr},
};
use proofmill_memory::Zeroed;
use proofmill_pairing::pairing_product_is_one;
use proofmill_parallel as parallel;

/// Points that one task encodes or decodes.
const BLOCK: usize = 1 << 9;
const GREATER: u8 = 0x80;
const INFINITY: u8 = 0x40;

/// How points are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// In challenges.
    Uncompressed,
    /// In responses.
    Compressed,
}

impl Form {
    /// Bytes of a point.
    pub(crate) const fn size<C: Encoding>(self) -> usize {
        match self {
            Self::Uncompressed => 2 * <C::Base as Coordinate>::BYTES,
            Self::Compressed => <C::Base as Coordinate>::BYTES,
        }
    }
}

/// G1 and G2 of a ceremony.
pub(crate) trait Encoding:
    Products<Scalar = Fr, Base: Coordinate + SquareRoot + Packable + Zeroed> + Msm
{
    /// What makes a point on the curve one of the group.
    const CHECK: PointCheck;

    /// Whether y is the greater of y and -y.
    fn is_greater(y: &Self::Base) -> bool;

    /// Appends the encoding of x.
    fn write_x(x: &Self::Base, to: &mut Vec<u8>);

    /// Decodes what [`Self::write_x`] writes.
    fn read_x(bytes: &[u8]) -> Result<Self::Base, EncodingError>;

    fn write_uncompressed(point: &Affine<Self>, to: &mut Vec<u8>);

    /// Checks that the point is in the group.
    fn read_uncompressed(bytes: &[u8]) -> Result<Affine<Self>, EncodingError>;

    /// Where the point with an index in a section stands among the first powers, and this index.
    fn slot(powers: &mut FirstPowers, section: PtauPoints) -> Option<(&mut Affine<Self>, usize)>;

    /// Whether `after` is tau times `before`.
    fn is_tau_times(level: Level, before: &Affine<Self>, after: &Affine<Self>, powers: &FirstPowers) -> bool;

    /// The section of Lagrange polynomials that is computed from a section of powers.
    fn prepared(section: PtauPoints) -> Option<PtauPoints> {
        match section {
            PtauPoints::TauG1 => Some(PtauPoints::LagrangeTauG1),
            PtauPoints::TauG2 => Some(PtauPoints::LagrangeTauG2),
            PtauPoints::AlphaTauG1 => Some(PtauPoints::LagrangeAlphaTauG1),
            PtauPoints::BetaTauG1 => Some(PtauPoints::LagrangeBetaTauG1),
            _ => None,
        }
    }
}

impl Encoding for G1 {
    const CHECK: PointCheck = PointCheck::OnCurve;

    fn is_greater(y: &Fq) -> bool {
        is_greater(y)
    }

    fn write_x(x: &Fq, to: &mut Vec<u8>) {
        to.extend(x.to_bytes_be());
    }

    fn read_x(bytes: &[u8]) -> Result<Fq, EncodingError> {
        coordinate::<Self>(bytes, 0)
    }

    fn write_uncompressed(point: &Affine<Self>, to: &mut Vec<u8>) {
        to.extend(point.to_evm());
    }

    fn read_uncompressed(bytes: &[u8]) -> Result<Affine<Self>, EncodingError> {
        bytes.first_chunk().map_or(Ok(Affine::INFINITY), Affine::<Self>::from_evm)
    }

    fn slot(powers: &mut FirstPowers, section: PtauPoints) -> Option<(&mut Affine<Self>, usize)> {
        match section {
            PtauPoints::TauG1 => Some((&mut powers.tau_g1, 1)),
            PtauPoints::AlphaTauG1 => Some((&mut powers.alpha_g1, 0)),
            PtauPoints::BetaTauG1 => Some((&mut powers.beta_g1, 0)),
            _ => None,
        }
    }

    fn is_tau_times(level: Level, before: &Affine<Self>, after: &Affine<Self>, powers: &FirstPowers) -> bool {
        pairing_product_is_one(level, &[(*after, G2::GENERATOR), (-*before, powers.tau_g2)])
    }
}

impl Encoding for G2 {
    const CHECK: PointCheck = PointCheck::InSubgroup;

    fn is_greater(y: &Fq2) -> bool {
        if y.c1.is_zero() { is_greater(&y.c0) } else { is_greater(&y.c1) }
    }

    fn write_x(x: &Fq2, to: &mut Vec<u8>) {
        to.extend(x.c1.to_bytes_be());
        to.extend(x.c0.to_bytes_be());
    }

    fn read_x(bytes: &[u8]) -> Result<Fq2, EncodingError> {
        let c1 = coordinate::<Self>(bytes, 0)?;
        Ok(Fq2 { c0: coordinate::<Self>(bytes, <Fq as Coordinate>::BYTES)?, c1 })
    }

    fn write_uncompressed(point: &Affine<Self>, to: &mut Vec<u8>) {
        to.extend(point.to_evm());
    }

    fn read_uncompressed(bytes: &[u8]) -> Result<Affine<Self>, EncodingError> {
        bytes.first_chunk().map_or(Ok(Affine::INFINITY), Affine::<Self>::from_evm)
    }

    fn slot(powers: &mut FirstPowers, section: PtauPoints) -> Option<(&mut Affine<Self>, usize)> {
        match section {
            PtauPoints::TauG2 => Some((&mut powers.tau_g2, 1)),
            PtauPoints::BetaG2 => Some((&mut powers.beta_g2, 0)),
            _ => None,
        }
    }

    fn is_tau_times(level: Level, before: &Affine<Self>, after: &Affine<Self>, powers: &FirstPowers) -> bool {
        pairing_product_is_one(level, &[(G1::GENERATOR, *after), (-powers.tau_g1, *before)])
    }
}

/// Whether the integer is above half the modulus.
fn is_greater(y: &Fq) -> bool {
    y.to_canonical().iter().rev().gt((-*y).to_canonical().iter().rev())
}

fn coordinate<C: Curve>(bytes: &[u8], offset: usize) -> Result<Fq, EncodingError> {
    let mut reversed = [0; <Fq as Coordinate>::BYTES];
    let bytes = bytes.iter().skip(offset);
    reversed.iter_mut().rev().zip(bytes).for_each(|(to, from)| *to = *from);
    Fq::from_bytes_le(&reversed).map_err(|source| EncodingError::Coordinate {
        group: C::NAME,
        offset,
        source,
    })
}

/// Infinity as bellman writes it, which is not that of snarkjs, all zeros.
fn is_infinity(bytes: &[u8]) -> bool {
    matches!(bytes, [INFINITY, rest @ ..] if rest.iter().all(|byte| *byte == 0))
}

fn read_compressed<C: Encoding>(bytes: &[u8]) -> Result<Affine<C>, EncodingError> {
    let mut bytes = bytes.to_vec();
    let first = bytes.first().copied().unwrap_or_default();
    if first & INFINITY != 0 {
        return Ok(Affine::INFINITY);
    }
    bytes.iter_mut().take(1).for_each(|byte| *byte &= !GREATER);
    let x = C::read_x(&bytes)?;
    let y = (x.square() * x + C::B).sqrt_vartime().ok_or(EncodingError::NotOnCurve(C::NAME))?;
    let y = if C::is_greater(&y) == (first & GREATER != 0) { y } else { -y };
    if C::Base::in_subgroup(x, y) { Ok(Affine { x, y }) } else { Err(EncodingError::NotInSubgroup(C::NAME)) }
}

/// The encodings of points; infinity, all zeros, only uncompressed. Runs on the ambient rayon pool.
pub(crate) fn encode<C: Encoding>(points: &[Affine<C>], form: Form) -> Vec<u8> {
    let block = |points: &[Affine<C>]| {
        let mut bytes = Vec::with_capacity(points.len() * form.size::<C>());
        for point in points {
            let start = bytes.len();
            match form {
                Form::Uncompressed => C::write_uncompressed(point, &mut bytes),
                Form::Compressed => {
                    C::write_x(&point.x, &mut bytes);
                    if C::is_greater(&point.y) {
                        bytes.iter_mut().skip(start).take(1).for_each(|byte| *byte |= GREATER);
                    }
                }
            }
        }
        bytes
    };
    parallel::map(points.chunks(BLOCK), block).concat()
}

/// Decodes whole points, each checked to be in its group; else the index of the first that is not, and the problem.
/// Runs on the ambient rayon pool.
pub(crate) fn decode<C: Encoding>(bytes: &[u8], form: Form) -> Result<Vec<Affine<C>>, (usize, String)> {
    let size = form.size::<C>();
    let point = |(index, bytes): (usize, &[u8])| {
        let read = match form {
            Form::Uncompressed if is_infinity(bytes) => Ok(Affine::INFINITY),
            Form::Uncompressed => C::read_uncompressed(bytes),
            Form::Compressed => read_compressed(bytes),
        };
        read.map_err(|error| (index, error.to_string()))
    };
    let blocks = parallel::map((0..).step_by(BLOCK).zip(bytes.chunks(BLOCK * size)), |(start, bytes)| {
        (start..).zip(bytes.chunks_exact(size)).map(point).collect::<Result<Vec<_>, _>>()
    });
    Ok(blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}
