//! Trees with two widths: a node needs only as much state as its children's digests.

use crate::{Digest, Poseidon2, Sponge, TreeHash};
use proofmill_cpu::Level;

type Rows = Sponge<Poseidon2<12>>;
type Nodes = Sponge<Poseidon2<8>>;

/// Rows with Poseidon2 of width 12, nodes with that of width 8, which takes half the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NarrowNodes;

impl TreeHash for NarrowNodes {
    type Digest = Digest;
    const NAME: &'static str = "poseidon2-12-8";
    const MODULUS: Option<u64> = Rows::MODULUS;
    const ELEMENT_BYTES: usize = Rows::ELEMENT_BYTES;

    fn hash_rows(level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
        Rows::hash_rows(level, rows, columns, digests);
    }

    fn hash_columns(level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
        Rows::hash_columns(level, columns, digests);
    }

    fn hash_pairs(level: Level, children: &[Digest], parents: &mut [Digest]) {
        Nodes::hash_pairs(level, children, parents);
    }

    fn to_bytes(digest: &Digest) -> [u8; 32] {
        digest.to_bytes()
    }

    fn from_bytes(bytes: &[u8; 32]) -> Option<Digest> {
        Digest::from_bytes(bytes)
    }
}
