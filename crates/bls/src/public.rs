//! Public keys: unchecked bytes, and checked points.

use crate::BlsError;
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine,
    bls12_381::{G1, Subgroup, decode_compressed},
    sum_of_points,
};

/// The encoding of a public key: 48 bytes, not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; PublicKey::BYTES]);

impl PublicKey {
    /// The length of the encoding in bytes.
    pub const BYTES: usize = 48;

    /// # Errors
    /// [`BlsError::Length`]; nothing else is checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BlsError> {
        let found = bytes.len();
        let bytes = bytes.try_into();
        bytes.map(Self).map_err(|_| BlsError::Length { what: "a public key", expected: Self::BYTES, found })
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// Decodes and checks the key: `KeyValidate` of the draft's section 2.5.
    ///
    /// # Errors
    /// [`BlsError::PublicKey`], [`BlsError::InfinityKey`].
    pub fn validate(&self, level: Level) -> Result<ValidPublicKey, BlsError> {
        let point = Affine::from_compressed(level, &self.0, Subgroup::Checked);
        point.map_err(BlsError::PublicKey).and_then(not_infinity)
    }

    /// [`validate`](Self::validate) for many keys, in lanes where the level has them, on the ambient rayon pool.
    pub fn validate_many(level: Level, keys: &[Self]) -> Vec<Result<ValidPublicKey, BlsError>> {
        let bytes: Vec<_> = keys.iter().map(|key| key.0).collect();
        let points = decode_compressed(level, &bytes, Subgroup::Checked);
        points.into_iter().map(|point| point.map_err(BlsError::PublicKey).and_then(not_infinity)).collect()
    }
}

fn not_infinity(point: Affine<G1>) -> Result<ValidPublicKey, BlsError> {
    if point.is_infinity() { Err(BlsError::InfinityKey) } else { Ok(ValidPublicKey { point }) }
}

/// A checked public key: on the curve, in the subgroup, not infinity. The check costs much, so keep the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidPublicKey {
    point: Affine<G1>,
}

impl ValidPublicKey {
    /// The key of a point that is known to be valid.
    pub(crate) fn of_point(point: Affine<G1>) -> Self {
        Self { point }
    }

    /// [`PublicKey::from_bytes`] and [`PublicKey::validate`].
    ///
    /// # Errors
    /// The errors of both.
    pub fn from_bytes(level: Level, bytes: &[u8]) -> Result<Self, BlsError> {
        PublicKey::from_bytes(bytes)?.validate(level)
    }

    /// The compressed encoding of Zcash and Ethereum.
    pub fn to_bytes(&self) -> [u8; PublicKey::BYTES] {
        self.point.to_compressed()
    }

    /// The point.
    pub fn point(&self) -> &Affine<G1> {
        &self.point
    }

    /// The sum of keys, which verifies the sum of their signatures of one message.
    ///
    /// # Errors
    /// [`BlsError::EmptyAggregate`] without keys, [`BlsError::InfinityKey`] if they cancel.
    pub fn aggregate(level: Level, keys: &[Self]) -> Result<Self, BlsError> {
        match keys {
            [] => Err(BlsError::EmptyAggregate("public key")),
            [key] => Ok(*key),
            keys => {
                let points: Vec<_> = keys.iter().map(|key| key.point).collect();
                not_infinity(sum_of_points(level, &points).to_affine())
            }
        }
    }
}

impl From<&ValidPublicKey> for PublicKey {
    fn from(key: &ValidPublicKey) -> Self {
        Self(key.to_bytes())
    }
}
