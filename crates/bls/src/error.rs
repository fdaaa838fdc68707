//! Why a key, a signature or a set of them is refused.

use proofmill_curve::EncodingError;

/// What is wrong, on one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlsError {
    /// An encoding of another length.
    #[error("expected {expected} bytes for {what}, found {found}")]
    Length {
        /// What the bytes should be.
        what: &'static str,
        /// Bytes of its encoding.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A secret key that is zero, or not below the group's order.
    #[error("expected a secret key from 1 to r - 1")]
    SecretKeyRange,
    /// A seed that does not hold enough.
    #[error("expected a seed of at least 32 bytes, found {found}")]
    SeedLength {
        /// Bytes given.
        found: usize,
    },
    /// A path that does not lead to a key.
    #[error("expected a path such as m/12381/3600/0/0/0, of numbers below 2^32, found `{0}`")]
    Path(String),
    /// Bytes that are no public key: not canonical, off the curve, out of the subgroup.
    #[error("public key: {0}")]
    PublicKey(EncodingError),
    /// Bytes that are no signature: not canonical, off the curve, out of the subgroup.
    #[error("signature: {0}")]
    Signature(EncodingError),
    /// The public key whose secret key would be zero.
    #[error("public key: the point is infinity")]
    InfinityKey,
    /// Nothing to aggregate.
    #[error("expected at least one {0} to aggregate, found none")]
    EmptyAggregate(&'static str),
    /// A batch of nothing, which proves nothing.
    #[error("expected at least one set in a batch, found none")]
    EmptyBatch,
    /// Not as many messages as keys.
    #[error("expected as many messages as public keys, found {messages} for {keys}")]
    Counts {
        /// Public keys given.
        keys: usize,
        /// Messages given.
        messages: usize,
    },
    /// Everything is well formed and the signature is not one.
    #[error("the signature is not valid for these public keys and messages")]
    Rejected,
    /// The operating system gave no randomness.
    #[error("no randomness from the operating system: {0}")]
    Randomness(String),
}
