//! Errors of keys, signatures and batches.

use proofmill_curve::EncodingError;
use proofmill_run::{Classified, ErrorKind};

/// Why a key, a signature or a batch is not accepted. Messages have one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlsError {
    /// An encoding of the wrong length.
    #[error("expected {expected} bytes for {what}, found {found}")]
    Length {
        /// The encoded object.
        what: &'static str,
        /// The right length in bytes.
        expected: usize,
        /// The given length in bytes.
        found: usize,
    },
    /// A secret key that is zero, or not below the group's order.
    #[error("expected a secret key from 1 to r - 1")]
    SecretKeyRange,
    /// A seed that is too short.
    #[error("expected a seed of at least 32 bytes, found {found}")]
    SeedLength {
        /// The given length in bytes.
        found: usize,
    },
    /// An invalid path.
    #[error("expected a path such as m/12381/3600/0/0/0, of numbers below 2^32, found `{0}`")]
    Path(String),
    /// An invalid encoding of a public key: not canonical, off the curve, or outside the subgroup.
    #[error("public key: {0}")]
    PublicKey(EncodingError),
    /// An invalid encoding of a signature: not canonical, off the curve, or outside the subgroup.
    #[error("signature: {0}")]
    Signature(EncodingError),
    /// The public key at infinity, whose secret key would be zero.
    #[error("public key: the point is infinity")]
    InfinityKey,
    /// Nothing to aggregate.
    #[error("expected at least one {0} to aggregate, found none")]
    EmptyAggregate(&'static str),
    /// An empty batch, which proves nothing.
    #[error("expected at least one set in a batch, found none")]
    EmptyBatch,
    /// The numbers of messages and keys differ.
    #[error("expected as many messages as public keys, found {messages} for {keys}")]
    Counts {
        /// The number of public keys.
        keys: usize,
        /// The number of messages.
        messages: usize,
    },
    /// All inputs are well-formed, but the signature is wrong.
    #[error("the signature is not valid for these public keys and messages")]
    Rejected,
    /// The operating system returned no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}

impl Classified for BlsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Rejected => ErrorKind::Rejected,
            Self::Counts { .. } => ErrorKind::Mismatch,
            Self::Randomness(_) => ErrorKind::System,
            Self::Length { .. }
            | Self::SecretKeyRange
            | Self::SeedLength { .. }
            | Self::Path(_)
            | Self::PublicKey(_)
            | Self::Signature(_)
            | Self::InfinityKey
            | Self::EmptyAggregate(_)
            | Self::EmptyBatch => ErrorKind::Malformed,
        }
    }
}
