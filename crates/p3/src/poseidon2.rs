//! Poseidon2 of widths 8 and 12: the permutation, and the hash of trees.

use crate::{
    LANES,
    elements::{element, with_words},
};
use p3_field::{PackedValue, PrimeField64};
use p3_goldilocks::{
    GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_FINAL, GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_INITIAL,
    GOLDILOCKS_POSEIDON2_RC_8_INTERNAL, GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_FINAL,
    GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_INITIAL, GOLDILOCKS_POSEIDON2_RC_12_INTERNAL, Goldilocks,
};
use p3_poseidon2::ExternalLayerConstants;
use p3_symmetric::{CryptographicHasher, CryptographicPermutation, Permutation, PseudoCompressionFunction};
use proofmill_cpu::Level;
use proofmill_hash::{
    DIGEST, Digest,
    poseidon2::{HALF_FULL_ROUNDS, Instance, PARTIAL_ROUNDS, Parameters},
};
use rand::{Rng, RngExt, distr::StandardUniform};

/// Plonky3's `Poseidon2Goldilocks<WIDTH>`: the permutation of one state, or of as many states as packed elements hold, side by
/// side.
///
/// As the hash and the compression function of a tree, it is `PaddingFreeSponge` at the rate `WIDTH - 4` and
/// `TruncatedPermutation`, for many rows at a time: `MerkleTreeMmcs<Goldilocks, Goldilocks, Poseidon2<8>, Poseidon2<8>, 2, 4>`.
#[derive(Clone, Debug)]
pub struct Poseidon2<const WIDTH: usize>(Instance<WIDTH>);

impl<const WIDTH: usize> Poseidon2<WIDTH>
where
    proofmill_hash::Poseidon2<WIDTH>: Parameters,
{
    /// The permutation with these round constants of full and of partial rounds.
    ///
    /// # Panics
    /// If the constants are not those of 8 full and 22 partial rounds.
    pub fn new(external: ExternalLayerConstants<Goldilocks, WIDTH>, internal: Vec<Goldilocks>) -> Self {
        Self::at(Level::best(), &external, &internal)
    }

    /// [`new`](Self::new) with the kernels of a level.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn at(
        level: Level,
        external: &ExternalLayerConstants<Goldilocks, WIDTH>,
        internal: &[Goldilocks],
    ) -> Self {
        let (initial, terminal) = (external.get_initial_constants(), external.get_terminal_constants());
        assert!(
            initial.len() == HALF_FULL_ROUNDS && terminal.len() == HALF_FULL_ROUNDS,
            "{HALF_FULL_ROUNDS} full rounds before the partial ones and {HALF_FULL_ROUNDS} after them"
        );
        assert_eq!(internal.len(), PARTIAL_ROUNDS, "partial rounds");
        let constants = initial.as_flattened().iter().chain(internal).chain(terminal.as_flattened());
        let constants: Vec<_> = constants.map(|constant| element(*constant)).collect();
        Self(Instance::new(level, &constants))
    }

    /// The permutation with random round constants: the constants that `Poseidon2Goldilocks::new_from_rng_128` draws.
    pub fn new_from_rng_128<R: Rng>(rng: &mut R) -> Self {
        let external = ExternalLayerConstants::new_from_rng(2 * HALF_FULL_ROUNDS, rng);
        let internal = rng.sample_iter(StandardUniform).take(PARTIAL_ROUNDS).collect();
        Self::new(external, internal)
    }
}

/// Plonky3's permutation of that name.
pub fn default_goldilocks_poseidon2_8() -> Poseidon2<8> {
    Poseidon2::new(
        ExternalLayerConstants::new(
            GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_INITIAL.to_vec(),
            GOLDILOCKS_POSEIDON2_RC_8_EXTERNAL_FINAL.to_vec(),
        ),
        GOLDILOCKS_POSEIDON2_RC_8_INTERNAL.to_vec(),
    )
}

/// Plonky3's permutation of that name.
pub fn default_goldilocks_poseidon2_12() -> Poseidon2<12> {
    Poseidon2::new(
        ExternalLayerConstants::new(
            GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_INITIAL.to_vec(),
            GOLDILOCKS_POSEIDON2_RC_12_EXTERNAL_FINAL.to_vec(),
        ),
        GOLDILOCKS_POSEIDON2_RC_12_INTERNAL.to_vec(),
    )
}

impl<T: PackedValue<Value = Goldilocks>, const WIDTH: usize> Permutation<[T; WIDTH]> for Poseidon2<WIDTH>
where
    proofmill_hash::Poseidon2<WIDTH>: Parameters,
{
    fn permute_mut(&self, state: &mut [T; WIDTH]) {
        let word = |value: Goldilocks| value.as_canonical_u64();
        with_words(state, word, Goldilocks::new, |words| self.0.permute(words));
    }
}

impl<T: PackedValue<Value = Goldilocks>, const WIDTH: usize> CryptographicPermutation<[T; WIDTH]>
    for Poseidon2<WIDTH>
where
    proofmill_hash::Poseidon2<WIDTH>: Parameters,
{
}

fn to_plonky3(digest: Digest) -> [Goldilocks; DIGEST] {
    digest.0.map(Goldilocks::new)
}

impl<const WIDTH: usize> CryptographicHasher<Goldilocks, [Goldilocks; DIGEST]> for Poseidon2<WIDTH>
where
    proofmill_hash::Poseidon2<WIDTH>: Parameters,
{
    const LANES: usize = LANES;

    fn hash_iter<I: IntoIterator<Item = Goldilocks>>(&self, input: I) -> [Goldilocks; DIGEST] {
        let row: Vec<_> = input.into_iter().collect();
        let mut digest = [[Goldilocks::default(); DIGEST]];
        self.hash_many(&row, &mut digest);
        digest[0]
    }

    fn hash_many(&self, input: &[Goldilocks], out: &mut [[Goldilocks; DIGEST]]) {
        let columns = crate::columns(input, out);
        let mut digests = [Digest::default(); BLOCK];
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let (rows, digests) = (&input[block * BLOCK * columns..], &mut digests[..out.len()]);
            self.0.hash_rows(columns, digests, |row, column| rows[row * columns + column].as_canonical_u64());
            out.iter_mut().zip(digests).for_each(|(out, digest)| *out = to_plonky3(*digest));
        }
    }
}

impl<const WIDTH: usize> PseudoCompressionFunction<[Goldilocks; DIGEST], 2> for Poseidon2<WIDTH>
where
    proofmill_hash::Poseidon2<WIDTH>: Parameters,
{
    const LANES: usize = LANES;

    fn compress(&self, input: [[Goldilocks; DIGEST]; 2]) -> [Goldilocks; DIGEST] {
        let mut out = [[Goldilocks::default(); DIGEST]];
        self.compress_many(&[input], &mut out);
        out[0]
    }

    fn compress_many(&self, inputs: &[[[Goldilocks; DIGEST]; 2]], out: &mut [[Goldilocks; DIGEST]]) {
        assert_eq!(inputs.len(), out.len(), "a pair for each parent");
        let (mut children, mut parents) = ([[Digest::default(); 2]; BLOCK], [Digest::default(); BLOCK]);
        for (inputs, out) in inputs.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
            let (children, parents) = (&mut children[..out.len()], &mut parents[..out.len()]);
            for (children, input) in children.iter_mut().zip(inputs) {
                *children = input.map(|digest| Digest(digest.map(|element| element.as_canonical_u64())));
            }
            self.0.hash_pairs(children.as_flattened(), parents);
            out.iter_mut().zip(parents).for_each(|(out, digest)| *out = to_plonky3(*digest));
        }
    }
}

/// The number of digests that are converted together.
const BLOCK: usize = 64;
