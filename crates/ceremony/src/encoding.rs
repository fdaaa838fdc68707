//! Points in challenges and responses, whose hashes are those of the ceremony.
//!
//! Coordinates are big-endian, the coefficient of u first in G2. An uncompressed point is x and y. A compressed one is x; the highest bit
//! of its first byte says that y is the greater of y and -y. The next bit means infinity, which no power is. The facts are from
//! ffjavascript's `wasm_curve.js` and wasmcurves.

use crate::generator::{Drawn, Generator};
use proofmill_circom::{CircomCurve, Coordinate, FirstPowers, PtauPoints};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, EncodingError, Msm, Products, bls12_381, bn254};
use proofmill_field::{Algebra, Field, Fp, Packable, Prime, Quadratic, SquareRoot};
use proofmill_groth16::Groth16Curve;
use proofmill_memory::Zeroed;
use proofmill_pairing::pairing_product_is_one;
use proofmill_run::parallel;
use zeroize::DefaultIsZeroes;

/// Points that one task encodes or decodes.
const BLOCK: usize = 1 << 9;
const GREATER: u8 = 0x80;
const INFINITY: u8 = 0x40;

/// The encoding of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointEncoding {
    /// x and y, in challenges.
    Uncompressed,
    /// x with flags, in responses.
    Compressed,
}

impl PointEncoding {
    /// Bytes of a point.
    pub(crate) const fn size<C: Group>(self) -> usize {
        match self {
            Self::Uncompressed => 2 * <C::Base as Coordinate>::BYTES,
            Self::Compressed => <C::Base as Coordinate>::BYTES,
        }
    }
}

/// A group of a pairing.
pub trait Group:
    Products<Base: Coordinate + Drawn + SquareRoot + Packable + Zeroed, Scalar: From<u64> + DefaultIsZeroes> + Msm
{
    /// The cofactor: the order of the curve divided by r. Empty if it is 1.
    const COFACTOR: &'static [u64];

    /// Whether y is the greater of y and -y.
    fn is_greater(y: &Self::Base) -> bool;
}

/// G1 or G2 of a curve's ceremonies.
pub trait Member<C: CircomCurve>: Group {
    /// The place among the first powers of a point of a section, and its index in the section.
    fn slot(powers: &mut FirstPowers<C>, section: PtauPoints) -> Option<(&mut Affine<Self>, usize)>;

    /// Whether `after` is tau times `before`.
    fn is_tau_times(
        level: Level,
        before: &Affine<Self>,
        after: &Affine<Self>,
        powers: &FirstPowers<C>,
    ) -> bool;

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

/// A curve of ceremonies, named by its first source group.
pub trait CeremonyCurve: Groth16Curve<G2: Member<Self>> + Member<Self> {
    /// ffjavascript's shift of a coset of scalars: the square of the smallest number that is no square.
    const SHIFT: u64;
}

/// Implements the traits for a curve.
macro_rules! curves {
    ($($family:ident, $cofactor_1:expr, $cofactor_2:expr;)*) => {$(
        impl CeremonyCurve for $family::G1 {
            const SHIFT: u64 = 25;
        }

        impl Group for $family::G1 {
            const COFACTOR: &'static [u64] = $cofactor_1;

            fn is_greater(y: &Self::Base) -> bool {
                is_greater(y)
            }
        }

        impl Group for $family::G2 {
            const COFACTOR: &'static [u64] = $cofactor_2;

            fn is_greater(y: &Self::Base) -> bool {
                is_greater_quadratic(y)
            }
        }

        impl Member<$family::G1> for $family::G1 {
            fn slot(powers: &mut FirstPowers<Self>, section: PtauPoints) -> Option<(&mut Affine<Self>, usize)> {
                match section {
                    PtauPoints::TauG1 => Some((&mut powers.tau_g1, 1)),
                    PtauPoints::AlphaTauG1 => Some((&mut powers.alpha_g1, 0)),
                    PtauPoints::BetaTauG1 => Some((&mut powers.beta_g1, 0)),
                    _ => None,
                }
            }

            fn is_tau_times(
                level: Level,
                before: &Affine<Self>,
                after: &Affine<Self>,
                powers: &FirstPowers<Self>,
            ) -> bool {
                let pairs = [(*after, $family::G2::GENERATOR), (-*before, powers.tau_g2)];
                pairing_product_is_one(level, &pairs)
            }
        }

        impl Member<$family::G1> for $family::G2 {
            fn slot(
                powers: &mut FirstPowers<$family::G1>,
                section: PtauPoints,
            ) -> Option<(&mut Affine<Self>, usize)> {
                match section {
                    PtauPoints::TauG2 => Some((&mut powers.tau_g2, 1)),
                    PtauPoints::BetaG2 => Some((&mut powers.beta_g2, 0)),
                    _ => None,
                }
            }

            fn is_tau_times(
                level: Level,
                before: &Affine<Self>,
                after: &Affine<Self>,
                powers: &FirstPowers<$family::G1>,
            ) -> bool {
                let pairs = [($family::G1::GENERATOR, *after), (-powers.tau_g1, *before)];
                pairing_product_is_one(level, &pairs)
            }
        }
    )*};
}

curves! {
    bn254, &[], &[
        0x345f_2299_c0f9_fa8d, 0x06ce_ecda_572a_2489, 0xb850_45b6_8181_585e, 0x3064_4e72_e131_a029,
    ];
    bls12_381, &[0x8c00_aaab_0000_aaab, 0x396c_8c00_5555_e156], &[
        0xcf1c_38e3_1c72_38e5, 0x1616_ec6e_786f_0c70, 0x2153_7e29_3a66_91ae, 0xa628_f1cb_4d9e_82ef, 0xa68a_205b_2e5a_7ddf, 0xcd91_de45_4708_5aba, 0x091d_5079_2876_a202, 0x05d5_43a9_5414_e7f1,
    ];
}

/// Whether the integer is above half the modulus.
fn is_greater<P: Prime>(y: &Fp<P>) -> bool {
    y.to_canonical().as_ref().iter().rev().gt((-*y).to_canonical().as_ref().iter().rev())
}

/// Compares the coefficient of u, or the constant one if that is zero.
fn is_greater_quadratic<P: Prime>(y: &Quadratic<Fp<P>>) -> bool {
    if y.c1.is_zero() { is_greater(&y.c0) } else { is_greater(&y.c1) }
}

fn coordinate<G: Group>(bytes: &[u8], offset: usize) -> Result<G::Base, EncodingError> {
    G::Base::read_be(bytes.get(offset..).unwrap_or_default())
        .map_err(|(at, source)| EncodingError::Coordinate { group: G::NAME, offset: offset + at, source })
}

fn read_uncompressed<G: Group>(bytes: &[u8]) -> Result<Affine<G>, EncodingError> {
    let point = Affine { x: coordinate::<G>(bytes, 0)?, y: coordinate::<G>(bytes, G::Base::BYTES)? };
    if point.is_on_curve() { Ok(point) } else { Err(EncodingError::NotOnCurve(G::NAME)) }
}

/// The next point of a generator, in G1 or G2.
pub(crate) fn draw_point<G: Group>(generator: &mut Generator) -> Affine<G> {
    loop {
        let x = G::Base::draw(generator);
        let wants_greater = generator.bit();
        // About half of all x belong to no point of the curve.
        let Some(y) = (x.square() * x + G::B).sqrt_vartime() else { continue };
        let point = Affine { x, y: if G::is_greater(&y) == wants_greater { y } else { -y } };
        // A multiple of the cofactor lies in the group of order r.
        return if G::COFACTOR.is_empty() { point } else { point.mul_words_vartime(G::COFACTOR).to_affine() };
    }
}

/// Infinity as bellman writes it, which is not that of snarkjs, all zeros.
fn is_infinity(bytes: &[u8]) -> bool {
    matches!(bytes, [INFINITY, rest @ ..] if rest.iter().all(|byte| *byte == 0))
}

fn read_compressed<C: Group>(bytes: &[u8]) -> Result<Affine<C>, EncodingError> {
    let mut bytes = bytes.to_vec();
    let first = bytes.first().copied().unwrap_or_default();
    if first & INFINITY != 0 {
        return Ok(Affine::INFINITY);
    }
    bytes.iter_mut().take(1).for_each(|byte| *byte &= !GREATER);
    let x = coordinate::<C>(&bytes, 0)?;
    let y = (x.square() * x + C::B).sqrt_vartime().ok_or(EncodingError::NotOnCurve(C::NAME))?;
    let y = if C::is_greater(&y) == (first & GREATER != 0) { y } else { -y };
    Ok(Affine { x, y })
}

pub(crate) fn write_uncompressed<G: Group>(point: &Affine<G>, to: &mut Vec<u8>) {
    point.x.write_be(to);
    point.y.write_be(to);
}

/// The encodings of points; infinity, all zeros, only uncompressed. Runs on the ambient rayon pool.
pub(crate) fn encode<C: Group>(points: &[Affine<C>], form: PointEncoding) -> Vec<u8> {
    let block = |points: &[Affine<C>]| {
        let mut bytes = Vec::with_capacity(points.len() * form.size::<C>());
        for point in points {
            let start = bytes.len();
            match form {
                PointEncoding::Uncompressed => write_uncompressed(point, &mut bytes),
                PointEncoding::Compressed => {
                    point.x.write_be(&mut bytes);
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
pub(crate) fn decode<C: Group>(
    level: Level,
    bytes: &[u8],
    form: PointEncoding,
) -> Result<Vec<Affine<C>>, (usize, String)> {
    let size = form.size::<C>();
    let point = |(index, bytes): (usize, &[u8])| {
        let read = match form {
            PointEncoding::Uncompressed if is_infinity(bytes) => Ok(Affine::INFINITY),
            PointEncoding::Uncompressed => read_uncompressed(bytes),
            PointEncoding::Compressed => read_compressed(bytes),
        };
        read.map_err(|error| (index, error.to_string()))
    };
    let blocks = parallel::map((0..).step_by(BLOCK).zip(bytes.chunks(BLOCK * size)), |(start, bytes)| {
        (start..).zip(bytes.chunks_exact(size)).map(point).collect::<Result<Vec<_>, _>>()
    });
    let points = blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    match C::Base::first_outside(level, &points) {
        Some(index) => Err((index, EncodingError::NotInSubgroup(C::NAME).to_string())),
        None => Ok(points),
    }
}
