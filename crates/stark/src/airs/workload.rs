//! The AIRs by name, with examples of any size.

use super::{
    blake3::Blake3,
    execution::{Execution, rows},
    fibonacci::Fibonacci,
    keccak_f::KeccakF,
    merkle_tree::{MerklePath, MerkleTree},
    poseidon2::Poseidon2,
};
use crate::{StarkError, air::Air};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::DIGEST;
use proofmill_merkle::{Hash, RowMajor, Tree};
use std::{array, fmt, str::FromStr};

/// An AIR of [`airs`](super), by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workload {
    /// [`Fibonacci`].
    Fibonacci,
    /// [`KeccakF`].
    KeccakF,
    /// [`Poseidon2`] of width 8.
    Poseidon2,
    /// [`Blake3`].
    Blake3,
    /// [`MerkleTree`] of depth 15.
    MerkleTree,
}

/// An AIR with an execution of it.
pub struct Example {
    /// The AIR.
    pub air: Box<dyn Air>,
    /// A trace that satisfies it, with the public values.
    pub execution: Execution,
    /// The content of the rows, such as `1023 permutations`.
    pub content: String,
}

/// A name that no workload has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no workload {0:?}: expected {names}", names = Workload::ALL.map(Workload::name).join(", "))]
pub struct UnknownWorkload(pub String);

/// The depth of the example of [`MerkleTree`]: paths have 16 rows, none of them idle.
const DEPTH: usize = 15;

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 5] =
        [Self::Fibonacci, Self::KeccakF, Self::Poseidon2, Self::Blake3, Self::MerkleTree];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fibonacci => "fibonacci",
            Self::KeccakF => "keccak-f",
            Self::Poseidon2 => "poseidon2",
            Self::Blake3 => "blake3",
            Self::MerkleTree => "merkle-tree",
        }
    }

    /// The base-2 logarithm of the fewest rows of an [`example`](Self::example).
    pub const fn least_log_rows(self) -> u32 {
        match self {
            Self::Fibonacci | Self::Poseidon2 | Self::Blake3 => 0,
            Self::KeccakF => KeccakF::LEAST_LOG_ROWS,
            Self::MerkleTree => (DEPTH + 1).ilog2(),
        }
    }

    /// An execution of `2^log_rows` rows, always the same.
    ///
    /// # Errors
    /// [`StarkError::TooFewRows`] below [`least_log_rows`](Self::least_log_rows).
    pub fn example(self, level: Level, log_rows: u32) -> Result<Example, StarkError> {
        let rows = rows(log_rows, self.least_log_rows())?;
        let mut words = Words(0);
        let (air, execution, count, what): (Box<dyn Air>, _, _, _) = match self {
            Self::Fibonacci => {
                let execution = Fibonacci.trace(log_rows, words.elements());
                (Box::new(Fibonacci), execution, rows - 1, "steps")
            }
            Self::KeccakF => {
                let execution = KeccakF.trace(level, log_rows, array::from_fn(|_| words.word()))?;
                (Box::new(KeccakF), execution, rows / 24, "permutations")
            }
            Self::Poseidon2 => {
                let air = Poseidon2::<8>::new();
                let execution = air.trace(log_rows, words.elements());
                (Box::new(air), execution, rows - 1, "permutations")
            }
            Self::Blake3 => {
                let first = words.bytes();
                let entries: Vec<_> = (1..rows).map(|_| words.bytes()).collect();
                (Box::new(Blake3), Blake3.trace(&first, &entries), rows - 1, "compressions")
            }
            Self::MerkleTree => {
                let air = MerkleTree::new(DEPTH);
                let leaves: Vec<_> = (0..1 << DEPTH).flat_map(|_| words.elements::<DIGEST>()).collect();
                let tree = RowMajor::new(Goldilocks::as_words(&leaves), DIGEST)
                    .and_then(|leaves| Tree::build(level, Hash::Poseidon2Width8.tree_hash(), &leaves));
                let tree = tree.unwrap_or_else(|error| unreachable!("a tree of elements: {error}"));
                let paths = rows / air.period();
                let paths: Vec<_> = (0..paths)
                    .map(|_| MerklePath::new(&tree, &leaves, words.word() >> (64 - DEPTH)))
                    .collect();
                let execution = air.trace(&paths);
                (Box::new(air), execution, paths.len(), "paths")
            }
        };
        Ok(Example { air, execution, content: format!("{count} {what}") })
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(name: &str) -> Result<Self, UnknownWorkload> {
        Self::ALL
            .into_iter()
            .find(|workload| workload.name() == name)
            .ok_or_else(|| UnknownWorkload(name.into()))
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014), for inputs that nobody has to guess.
struct Words(u64);

impl Words {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn elements<const N: usize>(&mut self) -> [Goldilocks; N] {
        array::from_fn(|_| Goldilocks::new(self.word()))
    }

    fn bytes(&mut self) -> [u8; 32] {
        let words: [_; 4] = array::from_fn(|_| self.word().to_le_bytes());
        array::from_fn(|i| words[i / 8][i % 8])
    }
}
