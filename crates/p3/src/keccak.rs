//! Keccak-f[1600]: the permutation, and the hash of trees.

use crate::{
    LANES,
    elements::{with_words, words},
};
use p3_field::{PackedValue, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_symmetric::{CryptographicHasher, CryptographicPermutation, Permutation, PseudoCompressionFunction};
use proofmill_cpu::Level;
use proofmill_hash::{DIGEST, Digest, KECCAK_WIDTH, Keccak, TreeHash, keccak_f_states};

/// The permutation of one state of 25 words, or of as many states as packed words hold, side by side.
///
/// As the hash and the compression function of a tree, it is `SerializingHasher<PaddingFreeSponge<_, 25, 17, 4>>` and
/// `CompressionFunctionFromHasher<PaddingFreeSponge<_, 25, 17, 4>, 2, 4>`, for many rows at a time:
/// `MerkleTreeMmcs<Goldilocks, u64, KeccakF, KeccakF, 2, 4>`.
#[derive(Clone, Copy, Debug)]
pub struct KeccakF {
    level: Level,
}

impl KeccakF {
    /// The permutation with the kernels of a level.
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
        with_words(state, |word| word, |word| word, |words| keccak_f_states(self.level, words));
    }
}

impl<T: PackedValue<Value = u64>> CryptographicPermutation<[T; KECCAK_WIDTH]> for KeccakF {}

impl CryptographicHasher<Goldilocks, [u64; DIGEST]> for KeccakF {
    const LANES: usize = LANES;

    fn hash_iter<I: IntoIterator<Item = Goldilocks>>(&self, input: I) -> [u64; DIGEST] {
        let row: Vec<_> = input.into_iter().collect();
        let mut digest = [[0; DIGEST]];
        self.hash_many(&row, &mut digest);
        digest[0]
    }

    fn hash_many(&self, input: &[Goldilocks], out: &mut [[u64; DIGEST]]) {
        let columns = crate::columns(input, out);
        let input = &input[..columns * out.len()];
        let canonical: Vec<_>;
        let mut words = words(input);
        if words.iter().any(|word| *word >= Goldilocks::ORDER_U64) {
            canonical = input.iter().map(PrimeField64::as_canonical_u64).collect();
            words = &canonical;
        }
        Keccak.hash_rows(self.level, words, columns, Digest::of_words_mut(out));
    }
}

impl PseudoCompressionFunction<[u64; DIGEST], 2> for KeccakF {
    const LANES: usize = LANES;

    fn compress(&self, input: [[u64; DIGEST]; 2]) -> [u64; DIGEST] {
        let mut out = [[0; DIGEST]];
        self.compress_many(&[input], &mut out);
        out[0]
    }

    fn compress_many(&self, inputs: &[[[u64; DIGEST]; 2]], out: &mut [[u64; DIGEST]]) {
        assert_eq!(inputs.len(), out.len(), "a pair for each parent");
        let children = Digest::of_words(inputs.as_flattened());
        Keccak.hash_pairs(self.level, children, Digest::of_words_mut(out));
    }
}
