//! Points of BN254 in the encoding of Ethereum's precompiled contracts (EIP-196, EIP-197).
//!
//! A coordinate is an integer below the modulus in 32 big-endian bytes. G1 is `x || y`, G2 is
//! `x.c1 || x.c0 || y.c1 || y.c0`; infinity is all zeros. Decoded points are on the curve and in the subgroup.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Affine, Curve, EncodingError,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field,
    bn254::{Fq, Fq2},
};

impl Affine<G1> {
    /// EIP-196's encoding.
    pub fn to_evm(&self) -> [u8; 64] {
        encode([self.x, self.y])
    }

    /// Decodes EIP-196's encoding.
    ///
    /// # Errors
    /// [`EncodingError::Coordinate`], [`EncodingError::NotOnCurve`].
    pub fn from_evm(bytes: &[u8; 64]) -> Result<Self, EncodingError> {
        let [x, y] = decode(<G1>::NAME, bytes)?;
        on_curve(Self { x, y })
    }
}

impl Affine<G2> {
    /// EIP-197's encoding.
    pub fn to_evm(&self) -> [u8; 128] {
        encode([self.x.c1, self.x.c0, self.y.c1, self.y.c0])
    }

    /// Decodes EIP-197's encoding.
    ///
    /// # Errors
    /// [`EncodingError::Coordinate`], [`EncodingError::NotOnCurve`], [`EncodingError::NotInSubgroup`].
    pub fn from_evm(bytes: &[u8; 128]) -> Result<Self, EncodingError> {
        let [x1, x0, y1, y0] = decode(<G2>::NAME, bytes)?;
        let point = on_curve(Self { x: Fq2::new(x0, x1), y: Fq2::new(y0, y1) })?;
        if point.is_in_subgroup() { Ok(point) } else { Err(EncodingError::NotInSubgroup(<G2>::NAME)) }
    }
}

fn encode<const LEN: usize, const BYTES: usize>(coordinates: [Fq; LEN]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (bytes, coordinate) in bytes.chunks_mut(<Fq>::BYTES).zip(coordinates) {
        bytes.copy_from_slice(&coordinate.to_bytes_be());
    }
    bytes
}

fn decode<const LEN: usize>(group: &'static str, bytes: &[u8]) -> Result<[Fq; LEN], EncodingError> {
    let mut coordinates = [Fq::ZERO; LEN];
    for (i, (coordinate, bytes)) in coordinates.iter_mut().zip(bytes.chunks(<Fq>::BYTES)).enumerate() {
        *coordinate = Fq::from_bytes_be(bytes).map_err(|source| EncodingError::Coordinate {
            group,
            offset: i * <Fq>::BYTES,
            source,
        })?;
    }
    Ok(coordinates)
}

fn on_curve<C: Curve>(point: Affine<C>) -> Result<Affine<C>, EncodingError> {
    if point.is_on_curve() { Ok(point) } else { Err(EncodingError::NotOnCurve(C::NAME)) }
}
