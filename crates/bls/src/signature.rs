//! Signatures, and their aggregates.

use crate::BlsError;
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine,
    bls12_381::{G2, Subgroup, decode_compressed},
    sum_of_points,
};

/// A signature, or an aggregate of signatures: a point of G2's subgroup, which may be infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    point: Affine<G2>,
}

impl Signature {
    /// The length of the encoding in bytes.
    pub const BYTES: usize = 96;

    /// The signature of a point that is known to be in the subgroup.
    pub(crate) fn of_point(point: Affine<G2>) -> Self {
        Self { point }
    }

    /// Decodes and checks a signature.
    ///
    /// # Errors
    /// [`BlsError::Length`], [`BlsError::Signature`].
    pub fn from_bytes(level: Level, bytes: &[u8]) -> Result<Self, BlsError> {
        let found = bytes.len();
        let bytes: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| BlsError::Length {
            what: "a signature",
            expected: Self::BYTES,
            found,
        })?;
        let point = Affine::from_compressed(level, bytes, Subgroup::Checked);
        point.map(Self::of_point).map_err(BlsError::Signature)
    }

    /// [`from_bytes`](Self::from_bytes) for many signatures, in lanes where the level has them, on the ambient rayon pool.
    pub fn decode_many(level: Level, encodings: &[[u8; Self::BYTES]]) -> Vec<Result<Self, BlsError>> {
        let points = decode_compressed(level, encodings, Subgroup::Checked);
        points.into_iter().map(|point| point.map(Self::of_point).map_err(BlsError::Signature)).collect()
    }

    /// The compressed encoding of Zcash and Ethereum.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        self.point.to_compressed()
    }

    /// The point.
    pub fn point(&self) -> &Affine<G2> {
        &self.point
    }

    /// Whether the point is infinity, which is the sum of signatures that cancel.
    pub fn is_infinity(&self) -> bool {
        self.point.is_infinity()
    }

    /// The sum of signatures. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`BlsError::EmptyAggregate`].
    pub fn aggregate(level: Level, signatures: &[Self]) -> Result<Self, BlsError> {
        if signatures.is_empty() {
            return Err(BlsError::EmptyAggregate("signature"));
        }
        let points: Vec<_> = signatures.iter().map(|signature| signature.point).collect();
        Ok(Self { point: sum_of_points(level, &points).to_affine() })
    }
}
