//! Public keys: bytes, and points that have been checked.

use crate::BlsError;
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine,
    bls12_381::{G1, Subgroup, decode_compressed},
    sum_of_points,
};

/// A public key as it travels: 48 bytes that nobody has looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; PublicKey::BYTES]);

impl PublicKey {
    /// How many bytes the encoding has.
    pub const BYTES: usize = 48;

    /// # Errors
    /// [`BlsError::Length`]; nothing else is looked at.
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

    /// [`validate`](Self::validate) for many keys, side by side where the level has lanes, on the ambient rayon pool.
    pub fn validate_many(level: Level, keys: &[Self]) -> Vec<Result<ValidPublicKey, BlsError>> {
        let bytes: Vec<_> = keys.iter().map(|key| key.0).collect();
        let points = decode_compressed(level, &bytes, Subgroup::Checked);
        points.into_iter().map(|point| point.map_err(BlsError::PublicKey).and_then(not_infinity)).collect()
    }
}

fn not_infinity(point: Affine<G1>) -> Result<ValidPublicKey, BlsError> {
    if point.is_infinity() { Err(BlsError::InfinityKey) } else { Ok(ValidPublicKey { point }) }
}

/// A public key that has been checked: on the curve, in the subgroup, not infinity. Decode once, keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidPublicKey {
    point: Affine<G1>,
}

impl ValidPublicKey {
    /// Of a point that is known to be a key's.
    pub(crate) fn of_point(point: Affine<G1>) -> Self {
        Self { point }
    }

    /// [`PublicKey::from_bytes`] and [`PublicKey::validate`].
    ///
    /// # Errors
    /// As those.
    pub fn from_bytes(level: Level, bytes: &[u8]) -> Result<Self, BlsError> {
        PublicKey::from_bytes(bytes)?.validate(level)
    }

    /// The encoding: compressed, as Zcash and Ethereum do it.
    pub fn to_bytes(&self) -> [u8; PublicKey::BYTES] {
        self.point.to_compressed()
    }

    /// The point.
    pub fn point(&self) -> &Affine<G1> {
        &self.point
    }

    /// The sum of keys, to verify a signature that all have made of one message.
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
