//! The hashes of trees, by name; digests as text.

use crate::MerkleError;
use proofmill_hash::{
    Digest, Keccak, NarrowNodes, Poseidon, Poseidon2, PoseidonBn254Sponge, Sha256, Sponge, TreeHash,
};
use std::{fmt, str::FromStr};

/// A hash for trees, files and openings, by its name.
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

    /// The hash itself.
    pub fn tree_hash(self) -> &'static dyn TreeHash {
        match self {
            Self::Poseidon => &Sponge(Poseidon),
            Self::Poseidon2 => &Sponge(Poseidon2::<12>),
            Self::Poseidon2Width8 => &Sponge(Poseidon2::<8>),
            Self::Poseidon2NarrowNodes => &NarrowNodes,
            Self::Keccak => &Keccak,
            Self::Sha256 => &Sha256,
            Self::PoseidonBn254 => &PoseidonBn254Sponge,
        }
    }

    /// The name on the command line and in files: [`TreeHash::name`].
    pub fn name(self) -> &'static str {
        self.tree_hash().name()
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

/// A digest as 64 lower-case hexadecimal digits: its bytes in order. For a hash over a field these are its elements in
/// order, each with its most significant digit first; Polygon's and plonky2's tools print Goldilocks elements so.
pub fn digest_to_hex(hash: &dyn TreeHash, digest: &Digest) -> String {
    let mut bytes = digest.to_bytes();
    swap_elements(hash, &mut bytes);
    hex::encode(bytes)
}

/// The inverse of [`digest_to_hex`]; accepts only its exact output.
///
/// # Errors
/// [`MerkleError::Digest`], with `place` as its position.
pub fn digest_from_hex(hash: &dyn TreeHash, text: &str, place: &str) -> Result<Digest, MerkleError> {
    let refuse = |problem: String| MerkleError::Digest { place: place.to_owned(), problem };
    let mut bytes = [0; 32];
    let upper = text.bytes().any(|digit| digit.is_ascii_uppercase());
    if upper || hex::decode_to_slice(text, &mut bytes).is_err() {
        return Err(refuse(format!(
            "expected 64 hexadecimal digits in lower case, found {} characters",
            text.chars().count()
        )));
    }
    swap_elements(hash, &mut bytes);
    hash.digest(&bytes).ok_or_else(|| {
        let (count, digits) = (bytes.len() / hash.element_bytes(), 2 * hash.element_bytes());
        refuse(format!(
            "expected {count} elements of {digits} digits below the field's modulus, found {text}"
        ))
    })
}

/// Converts between little-endian and big-endian elements.
fn swap_elements(hash: &dyn TreeHash, bytes: &mut [u8; 32]) {
    bytes.chunks_exact_mut(hash.element_bytes()).for_each(<[u8]>::reverse);
}
