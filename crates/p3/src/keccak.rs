//! Keccak-f[1600].

use p3_field::PackedValue;
use p3_symmetric::{CryptographicPermutation, Permutation};
use proofmill_cpu::Level;
use proofmill_hash::{KECCAK_WIDTH, keccak_f_states};

/// The permutation of one state of 25 words, or of as many states as packed words hold, side by side.
#[derive(Clone, Copy, Debug)]
pub struct KeccakF {
    level: Level,
}

impl KeccakF {
    /// With the kernels of a level.
    pub fn at(level: Level) -> Self {
        Self { level }
    }
}

impl Default for KeccakF {
    fn default() -> Self {
        Self::at(Level::best())
    }
}

impl<T: PackedValue<Value = u64>> Permutation<[T; KECCAK_WIDTH]> for KeccakF {
    fn permute_mut(&self, state: &mut [T; KECCAK_WIDTH]) {
        super::packed::with_words(
            state,
            |word| word,
            |word| word,
            |words| keccak_f_states(self.level, words),
        );
    }
}

impl<T: PackedValue<Value = u64>> CryptographicPermutation<[T; KECCAK_WIDTH]> for KeccakF {}
