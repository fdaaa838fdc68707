//! Hashes of the protocol.

use crate::transcript::{Challenger, DuplexChallenger, HashChallenger, PoseidonBn254Challenger};
use proofmill_hash::{
    Keccak, NarrowNodes, Poseidon, Poseidon2, PoseidonBn254Sponge, Sha256, Sponge, TreeHash,
};
use proofmill_merkle::{Hash, dispatch_hash};

/// A hash of trees, with the transcript that goes with it.
pub trait StarkHash: TreeHash {
    /// The source of challenges.
    type Challenger: Challenger<Digest = Self::Digest>;

    /// [`Parameters::digest_bits`](crate::Parameters::digest_bits) of this hash.
    const DIGEST_BITS: u32 = 256;
}

/// [`StarkHash::DIGEST_BITS`] of a hash.
pub fn digest_bits(hash: Hash) -> u32 {
    dispatch_hash!(hash, H => H::DIGEST_BITS)
}

impl StarkHash for Sponge<Poseidon> {
    type Challenger = DuplexChallenger<Poseidon>;
}

impl StarkHash for Sponge<Poseidon2<8>> {
    type Challenger = DuplexChallenger<Poseidon2<8>>;
}

impl StarkHash for Sponge<Poseidon2<12>> {
    type Challenger = DuplexChallenger<Poseidon2<12>>;
}

impl StarkHash for NarrowNodes {
    type Challenger = DuplexChallenger<Poseidon2<12>>;
}

impl StarkHash for Keccak {
    type Challenger = HashChallenger<Self>;
}

impl StarkHash for Sha256 {
    type Challenger = HashChallenger<Self>;
}

impl StarkHash for PoseidonBn254Sponge {
    type Challenger = PoseidonBn254Challenger;

    /// Of an element: the modulus is above 2^253.
    const DIGEST_BITS: u32 = 253;
}
