//! Hashes of the protocol.

use crate::transcript::{Challenger, DuplexChallenger, HashChallenger, PoseidonBn254Challenger};
use proofmill_hash::{
    Keccak, NarrowNodes, Permutation, Poseidon, Poseidon2, PoseidonBn254Sponge, Sha256, Sponge, TreeHash,
};
use proofmill_merkle::Hash;

/// A hash of trees, with the transcript that goes with it.
pub trait StarkHash: TreeHash {
    /// A source of challenges that has observed nothing.
    fn challenger(&self) -> Box<dyn Challenger>;

    /// [`Parameters::digest_bits`](crate::Parameters::digest_bits) of this hash.
    fn digest_bits(&self) -> u32 {
        256
    }
}

/// The hash of a name.
pub fn stark_hash(hash: Hash) -> &'static dyn StarkHash {
    match hash {
        Hash::Poseidon => &Sponge(Poseidon),
        Hash::Poseidon2 => &Sponge(Poseidon2::<12>),
        Hash::Poseidon2Width8 => &Sponge(Poseidon2::<8>),
        Hash::Poseidon2NarrowNodes => &NarrowNodes,
        Hash::Keccak => &Keccak,
        Hash::Sha256 => &Sha256,
        Hash::PoseidonBn254 => &PoseidonBn254Sponge,
    }
}

/// [`StarkHash::digest_bits`] of the hash of a name.
pub fn digest_bits(hash: Hash) -> u32 {
    stark_hash(hash).digest_bits()
}

impl<P: Permutation> StarkHash for Sponge<P>
where
    Self: TreeHash,
{
    fn challenger(&self) -> Box<dyn Challenger> {
        Box::new(DuplexChallenger::<P>::new())
    }
}

impl StarkHash for NarrowNodes {
    fn challenger(&self) -> Box<dyn Challenger> {
        Sponge(Poseidon2::<12>).challenger()
    }
}

impl StarkHash for Keccak {
    fn challenger(&self) -> Box<dyn Challenger> {
        Box::new(HashChallenger::<Self>::new())
    }
}

impl StarkHash for Sha256 {
    fn challenger(&self) -> Box<dyn Challenger> {
        Box::new(HashChallenger::<Self>::new())
    }
}

impl StarkHash for PoseidonBn254Sponge {
    fn challenger(&self) -> Box<dyn Challenger> {
        Box::new(PoseidonBn254Challenger::default())
    }

    /// The bits of an element: the modulus is above 2^253.
    fn digest_bits(&self) -> u32 {
        253
    }
}
