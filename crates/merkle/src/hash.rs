//! The hashes of trees, by name; digests as text.

use crate::MerkleError;
use proofmill_hash::TreeHash;
use std::{fmt, str::FromStr};

/// A hash for trees, files and openings. [`dispatch_hash`](crate::dispatch_hash) maps it to its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// [`proofmill_hash::Poseidon`] of width 12 in a [`proofmill_hash::Sponge`].
    Poseidon,
    /// [`proofmill_hash::Poseidon2`] of width 12 in a [`proofmill_hash::Sponge`].
    Poseidon2,
    /// [`proofmill_hash::Poseidon2`] of width 8 in a [`proofmill_hash::Sponge`].
    Poseidon2Width8,
    /// [`proofmill_hash::NarrowNodes`].
    Poseidon2NarrowNodes,
    /// [`proofmill_hash::Keccak`].
    Keccak,
    /// [`proofmill_hash::Sha256`].
    Sha256,
    /// [`proofmill_hash::PoseidonBn254Sponge`].
    PoseidonBn254,
}

/// Runs an expression with `$H` as the type of a [`Hash`]'s implementation of [`TreeHash`].
#[macro_export]
macro_rules! dispatch_hash {
    ($hash:expr, $H:ident => $body:expr) => {
        match $hash {
            $crate::Hash::Poseidon => {
                type $H = $crate::proofmill_hash::Sponge<$crate::proofmill_hash::Poseidon>;
                $body
            }
            $crate::Hash::Poseidon2 => {
                type $H = $crate::proofmill_hash::Sponge<$crate::proofmill_hash::Poseidon2<12>>;
                $body
            }
            $crate::Hash::Poseidon2Width8 => {
                type $H = $crate::proofmill_hash::Sponge<$crate::proofmill_hash::Poseidon2<8>>;
                $body
            }
            $crate::Hash::Poseidon2NarrowNodes => {
                type $H = $crate::proofmill_hash::NarrowNodes;
                $body
            }
            $crate::Hash::Keccak => {
                type $H = $crate::proofmill_hash::Keccak;
                $body
            }
            $crate::Hash::Sha256 => {
                type $H = $crate::proofmill_hash::Sha256;
                $body
            }
            $crate::Hash::PoseidonBn254 => {
                type $H = $crate::proofmill_hash::PoseidonBn254Sponge;
                $body
            }
        }
    };
}

impl Hash {
    /// All hashes.
    pub const ALL: [Self; 7] = [
        Self::Poseidon,
        Self::Poseidon2,
        Self::Poseidon2Width8,
        Self::Poseidon2NarrowNodes,
        Self::Keccak,
        Self::Sha256,
        Self::PoseidonBn254,
    ];

    /// The name on the command line and in files: [`TreeHash::NAME`].
    pub fn name(self) -> &'static str {
        dispatch_hash!(self, H => H::NAME)
    }

    /// Checks that it is `H`.
    pub(crate) fn must_be<H: TreeHash>(self) -> Result<(), MerkleError> {
        if self.name() == H::NAME {
            return Ok(());
        }
        Err(MerkleError::WrongHash { expected: H::NAME, found: self.name() })
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Hash {
    type Err = MerkleError;

    fn from_str(name: &str) -> Result<Self, MerkleError> {
        Self::ALL.into_iter().find(|hash| hash.name() == name).ok_or_else(|| MerkleError::UnknownHash {
            found: name.escape_default().take(40).collect(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// A digest as 64 lower-case hexadecimal digits: its bytes in order; for a hash over a field, its elements in order, each
/// with its most significant digit first: those of Goldilocks as Polygon's and plonky2's tools print them.
pub fn digest_to_hex<H: TreeHash>(digest: &H::Digest) -> String {
    let mut bytes = H::to_bytes(digest);
    swap_elements::<H>(&mut bytes);
    hex::encode(bytes)
}

/// The inverse of [`digest_to_hex`]; accepts only its exact output.
///
/// # Errors
/// [`MerkleError::Digest`], with `place` as its position.
pub fn digest_from_hex<H: TreeHash>(text: &str, place: &str) -> Result<H::Digest, MerkleError> {
    let refuse = |problem: String| MerkleError::Digest { place: place.to_owned(), problem };
    let mut bytes = [0; 32];
    let upper = text.bytes().any(|digit| digit.is_ascii_uppercase());
    if upper || hex::decode_to_slice(text, &mut bytes).is_err() {
        return Err(refuse(format!(
            "expected 64 hexadecimal digits in lower case, found {} characters",
            text.chars().count()
        )));
    }
    swap_elements::<H>(&mut bytes);
    H::from_bytes(&bytes).ok_or_else(|| {
        let (count, digits) = (bytes.len() / H::ELEMENT_BYTES, 2 * H::ELEMENT_BYTES);
        refuse(format!(
            "expected {count} elements of {digits} digits below the field's modulus, found {text}"
        ))
    })
}

/// Converts between little-endian and big-endian elements.
fn swap_elements<H: TreeHash>(bytes: &mut [u8; 32]) {
    bytes.chunks_exact_mut(H::ELEMENT_BYTES).for_each(<[u8]>::reverse);
}
