//! Bounds on the memory of proofs.

use super::Description;

/// A bound on the memory of a process that proves, in bytes, from the counts in a key's header.
///
/// Each system's formula counts the vectors that are in memory at the same time. It was fitted to the measured peaks of proofs with 2^10 to
/// 2^17 points and 1 to 64 threads. From the second proof on, a process has up to a fifth more than in the first, since reused blocks have
/// all their pages. The bounds include this. A test of the service compares them with the peaks of its machine.
#[derive(Clone, Copy, Debug)]
pub struct MemoryBound {
    /// The bytes with one thread.
    pub memory: u64,
    /// The bytes for each further thread.
    pub per_thread: u64,
    /// The bytes for each byte of the proof's inputs.
    pub per_input_byte: u64,
    /// The bytes that stay in memory while the key is open.
    pub kept: u64,
}

impl MemoryBound {
    /// The bytes of a process without a proof: the program, its threads, and the blocks of files that are mapped at a time.
    pub const IDLE: u64 = 20 << 20;

    /// The bytes of a thread at any size: its stack, blocks of files, buckets, and memory that the allocator keeps for it between proofs.
    pub const THREAD: u64 = 2 << 20;
}

/// Multiplies by bytes; a header can have any counts.
pub(crate) fn times(count: u64, bytes: u64) -> u64 {
    count.saturating_mul(bytes)
}

/// Adds bytes; a header can have any counts.
pub(crate) fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// A count of the header.
pub(crate) fn count(key: &Description, name: &str) -> u64 {
    key.counts.iter().find(|(found, _)| *found == name).map_or(0, |(_, count)| *count)
}
