//! BLS signatures on BLS12-381, in Ethereum's variant: `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_`, public keys in G1 (48
//! bytes), signatures in G2 (96 bytes), proofs of possession.
//!
//! ```
//! use proofmill::bls::{PublicKey, SecretKey, Signature, SignatureSet, verify_batch};
//!
//! # fn main() -> proofmill::Result<()> {
//! let keys = [SecretKey::generate()?, SecretKey::generate()?];
//! let public = keys.each_ref().map(SecretKey::public_key);
//! let [one, two] = keys.each_ref().map(|key| key.sign(b"message"));
//! public[0].verify(b"message", &one)?;
//!
//! let both = Signature::aggregate(&[one, two])?;
//! PublicKey::aggregate(&public)?.verify(b"message", &both)?;
//!
//! let sets = [
//!     SignatureSet { keys: &public, message: b"message", signature: both },
//!     SignatureSet { keys: &public[..1], message: b"message", signature: one },
//! ];
//! verify_batch(&sets)?;
//! # Ok(())
//! # }
//! ```

use crate::{Error, Result, machine::current};
use proofmill_bls::ValidPublicKey;
pub use proofmill_bls::{DST, POSSESSION_DST};
use zeroize::Zeroizing;

/// A secret key: an integer from 1 to r - 1. It has no `Debug`, and is wiped when dropped; the running time of signing does not
/// depend on it.
#[derive(Clone)]
pub struct SecretKey(proofmill_bls::SecretKey);

impl SecretKey {
    /// The length of the encoding in bytes.
    pub const BYTES: usize = proofmill_bls::SecretKey::BYTES;

    /// A random key.
    ///
    /// # Errors
    /// [`Error::System`] without randomness.
    pub fn generate() -> Result<Self> {
        Ok(Self(proofmill_bls::SecretKey::generate()?))
    }

    /// The key at a path such as `m/12381/3600/0/0/0`, derived from a seed of at least 32 bytes (EIP-2333, EIP-2334).
    ///
    /// # Errors
    /// [`Error::Malformed`] for a short seed or an invalid path.
    pub fn derive(seed: &[u8], path: &str) -> Result<Self> {
        Ok(Self(proofmill_bls::SecretKey::derive_path(seed, path)?))
    }

    /// Decodes 32 big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for another length, zero, or an integer not below the group's order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(proofmill_bls::SecretKey::from_bytes(bytes)?))
    }

    /// 32 big-endian bytes, wiped when dropped.
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::BYTES]> {
        self.0.to_bytes()
    }

    /// The public key.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.public_key(current().level))
    }

    /// The signature of a message.
    pub fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.0.sign(current().level, message))
    }

    /// The proof of possession of this key, for [`PublicKey::verify_possession`].
    pub fn prove_possession(&self) -> Signature {
        Signature(self.0.prove_possession(current().level))
    }
}

/// A public key: a point of G1's subgroup other than infinity. Decoding checks it, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey(ValidPublicKey);

impl PublicKey {
    /// The length of the encoding in bytes.
    pub const BYTES: usize = proofmill_bls::PublicKey::BYTES;

    /// Decodes and checks 48 bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(ValidPublicKey::from_bytes(current().level, bytes)?))
    }

    /// [`Self::from_bytes`] for many keys together, which is faster.
    pub fn decode_many(encodings: &[[u8; Self::BYTES]]) -> Vec<Result<Self>> {
        let keys: std::result::Result<Vec<_>, _> =
            encodings.iter().map(|bytes| proofmill_bls::PublicKey::from_bytes(bytes)).collect();
        // The only error is a wrong length, which arrays cannot have.
        let checked = proofmill_bls::PublicKey::validate_many(current().level, &keys.unwrap_or_default());
        checked.into_iter().map(|key| Ok(Self(key?))).collect()
    }

    /// The compressed encoding of Zcash and Ethereum.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        self.0.to_bytes()
    }

    /// The sum of keys, which verifies the sum of their signatures of one message. The keys must have proofs of possession.
    ///
    /// # Errors
    /// [`Error::Malformed`] without keys, or if they cancel.
    pub fn aggregate(keys: &[Self]) -> Result<Self> {
        Ok(Self(ValidPublicKey::aggregate(current().level, &valid(keys))?))
    }

    /// Verifies this key's signature of a message.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<()> {
        Ok(proofmill_bls::verify(current().level, &self.0, message, &signature.0)?)
    }

    /// Verifies a proof of possession of the secret key.
    ///
    /// # Errors
    /// [`Error::Rejected`].
    pub fn verify_possession(&self, proof: &Signature) -> Result<()> {
        Ok(proofmill_bls::verify_possession(current().level, &self.0, &proof.0)?)
    }
}

fn valid(keys: &[PublicKey]) -> Vec<ValidPublicKey> {
    keys.iter().map(|key| key.0).collect()
}

/// A signature, or an aggregate of signatures: a point of G2's subgroup. Decoding checks it, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(proofmill_bls::Signature);

impl Signature {
    /// The length of the encoding in bytes.
    pub const BYTES: usize = proofmill_bls::Signature::BYTES;

    /// Decodes and checks 96 bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self(proofmill_bls::Signature::from_bytes(current().level, bytes)?))
    }

    /// [`Self::from_bytes`] for many signatures together, which is faster.
    pub fn decode_many(encodings: &[[u8; Self::BYTES]]) -> Vec<Result<Self>> {
        let decoded = proofmill_bls::Signature::decode_many(current().level, encodings);
        decoded.into_iter().map(|signature| Ok(Self(signature?))).collect()
    }

    /// The compressed encoding of Zcash and Ethereum.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        self.0.to_bytes()
    }

    /// The sum of signatures.
    ///
    /// # Errors
    /// [`Error::Malformed`] without signatures.
    pub fn aggregate(signatures: &[Self]) -> Result<Self> {
        let signatures: Vec<_> = signatures.iter().map(|signature| signature.0).collect();
        Ok(Self(proofmill_bls::Signature::aggregate(current().level, &signatures)?))
    }
}

/// Verifies an aggregate of signatures of message i by key i. Messages may be equal only if their keys have proofs of
/// possession.
///
/// # Errors
/// [`Error::Rejected`]; [`Error::Malformed`] without keys, [`Error::Mismatch`] for another number of messages.
pub fn aggregate_verify(keys: &[PublicKey], messages: &[&[u8]], signature: &Signature) -> Result<()> {
    Ok(proofmill_bls::aggregate_verify(current().level, &valid(keys), messages, &signature.0)?)
}

/// Verifies an aggregate of signatures of one message by many keys, which must have proofs of possession.
///
/// # Errors
/// [`Error::Rejected`]; [`Error::Malformed`] without keys, or if they cancel.
pub fn fast_aggregate_verify(keys: &[PublicKey], message: &[u8], signature: &Signature) -> Result<()> {
    Ok(proofmill_bls::fast_aggregate_verify(current().level, &valid(keys), message, &signature.0)?)
}

/// [`fast_aggregate_verify`] in the variant of Ethereum's consensus specification (Altair): accepts no keys with the signature
/// at infinity, which is a sync committee without participants.
///
/// # Errors
/// As [`fast_aggregate_verify`].
pub fn eth_fast_aggregate_verify(keys: &[PublicKey], message: &[u8], signature: &Signature) -> Result<()> {
    Ok(proofmill_bls::eth_fast_aggregate_verify(current().level, &valid(keys), message, &signature.0)?)
}

/// A signature, or an aggregate of signatures, of one message by one or more keys.
#[derive(Clone, Copy, Debug)]
pub struct SignatureSet<'a> {
    /// The keys that signed; at least one.
    pub keys: &'a [PublicKey],
    /// The signed message.
    pub message: &'a [u8],
    /// The signature or aggregate.
    pub signature: Signature,
}

/// Verifies a batch of signatures, several times faster than one by one.
///
/// # Errors
/// [`Error::Rejected`] if any signature is wrong ([`find_invalid`] returns which); [`Error::Malformed`] for an empty batch or a
/// set without keys, [`Error::System`] without randomness.
pub fn verify_batch(sets: &[SignatureSet<'_>]) -> Result<()> {
    with_sets(sets, |sets| proofmill_bls::verify_batch(current().level, sets))
}

/// The indices of the sets whose signatures are wrong or whose keys cannot be aggregated, ascending.
///
/// # Errors
/// [`Error::System`] without randomness.
pub fn find_invalid(sets: &[SignatureSet<'_>]) -> Result<Vec<usize>> {
    with_sets(sets, |sets| proofmill_bls::find_invalid(current().level, sets))
}

fn with_sets<T>(
    sets: &[SignatureSet<'_>],
    work: impl FnOnce(&[proofmill_bls::SignatureSet<'_>]) -> std::result::Result<T, proofmill_bls::BlsError>,
) -> Result<T> {
    let keys: Vec<_> = sets.iter().map(|set| valid(set.keys)).collect();
    let sets: Vec<_> = sets
        .iter()
        .zip(&keys)
        .map(|(SignatureSet { message, signature, .. }, keys)| proofmill_bls::SignatureSet {
            keys,
            message,
            signature: signature.0,
        })
        .collect();
    work(&sets).map_err(Error::from)
}
