//! Trees with two widths: a node needs only as much state as its children's digests.

use crate::{Digest, Poseidon2, Sponge, TreeHash};
use proofmill_cpu::Level;

const ROWS: Sponge<Poseidon2<12>> = Sponge(Poseidon2);
const NODES: Sponge<Poseidon2<8>> = Sponge(Poseidon2);

/// Rows with Poseidon2 of width 12, nodes with that of width 8, which takes half the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NarrowNodes;

impl TreeHash for NarrowNodes {
    fn name(&self) -> &'static str {
        "poseidon2-12-8"
    }

    fn modulus(&self) -> Option<u64> {
        ROWS.modulus()
    }

    fn element_bytes(&self) -> usize {
        ROWS.element_bytes()
    }

    fn is_digest(&self, digest: &Digest) -> bool {
        ROWS.is_digest(digest)
    }

    fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
        ROWS.hash_rows(level, rows, columns, digests);
    }

    fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
        ROWS.hash_columns(level, columns, digests);
    }

    fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]) {
        NODES.hash_pairs(level, children, parents);
    }
}
