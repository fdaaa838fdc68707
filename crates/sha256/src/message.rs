//! One message, as a whole or in parts.

use crate::{Kernels, constants::INITIAL, padding::Tail, portable::to_bytes};
use std::fmt;
use zeroize::Zeroize;

/// The digest of a message, computed by the CPU's fastest kernel.
pub fn digest(message: &[u8]) -> [u8; 32] {
    Kernels::best_single().digest(message)
}

/// The hash of a message that is given in parts.
///
/// ```
/// use proofmill_sha256::{Sha256, digest};
///
/// let mut hash = Sha256::new();
/// hash.update(b"in ");
/// hash.update(b"parts");
/// assert_eq!(hash.finish(), digest(b"in parts"));
/// ```
#[derive(Clone)]
pub struct Sha256 {
    kernels: Kernels,
    state: [u32; 8],
    /// Bytes of the message so far.
    length: u64,
    /// The last `length % 64` bytes of the message, at the beginning; the rest is left over from earlier.
    rest: [u8; 64],
}

impl Sha256 {
    /// The hash of the empty message so far, computed by the CPU's fastest kernel.
    pub fn new() -> Self {
        Self::with(Kernels::best_single())
    }

    /// [`Self::new`] with chosen kernels.
    pub fn with(kernels: Kernels) -> Self {
        Self { kernels, state: INITIAL, length: 0, rest: [0; 64] }
    }

    /// Appends to the message. FIPS 180-4 is defined for less than 2^61 bytes; the length of a longer message is hashed modulo
    /// 2^61.
    pub fn update(&mut self, mut part: &[u8]) {
        let filled = self.filled();
        self.length = self.length.wrapping_add(part.len() as u64);
        if filled > 0 {
            let taken = part.len().min(64 - filled);
            self.rest[filled..][..taken].copy_from_slice(&part[..taken]);
            if filled + taken < 64 {
                return;
            }
            self.kernels.compress(&mut self.state, std::slice::from_ref(&self.rest));
            part = &part[taken..];
        }
        let (blocks, rest) = part.as_chunks();
        if !blocks.is_empty() {
            self.kernels.compress(&mut self.state, blocks);
        }
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    /// [`Self::update`] for chained calls.
    #[must_use]
    pub fn chain(mut self, part: &[u8]) -> Self {
        self.update(part);
        self
    }

    /// The digest of the message so far.
    pub fn finish(&self) -> [u8; 32] {
        let mut state = self.state;
        let tail = Tail::new(&self.rest[..self.filled()], self.length);
        self.kernels.compress(&mut state, tail.blocks());
        to_bytes(state)
    }

    /// The number of bytes in the incomplete block.
    fn filled(&self) -> usize {
        (self.length % 64) as usize
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

/// Omits the state, which may depend on a secret.
impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sha256").field("length", &self.length).finish_non_exhaustive()
    }
}

impl Zeroize for Sha256 {
    fn zeroize(&mut self) {
        self.state.zeroize();
        self.rest.zeroize();
        self.length.zeroize();
    }
}
