//! Hashes of the protocol.

use crate::transcript::{Challenger, DuplexChallenger, HashChallenger};
use proofmill_hash::{Keccak, NarrowNodes, Poseidon, Poseidon2, Sha256, Sponge, TreeHash};

/// A hash of trees, with the transcript that goes with it.
pub trait StarkHash: TreeHash {
    /// The source of challenges.
    type Challenger: Challenger<Digest = Self::Digest>;
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
