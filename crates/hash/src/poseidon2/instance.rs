//! The permutation with round constants that are chosen at run time.

use super::{
    HALF_FULL_ROUNDS, PARTIAL_ROUNDS, Parameters, Poseidon2, constants::planes_of,
    permutation::permute_vectors,
};
use crate::{DIGEST, Digest, sponge::absorb_all, tiles};
use proofmill_cpu::{Level, Portable};
use proofmill_field::{
    dispatch_goldilocks,
    goldilocks::{Goldilocks, GoldilocksEngine},
};
use std::sync::Arc;

/// The permutation with other round constants: everything else is as in [`Poseidon2`].
#[derive(Clone, Debug)]
pub struct Instance<const WIDTH: usize> {
    level: Level,
    /// The constants' planes for the level's vectors, and for single states.
    vectors: Arc<[[u64; 2]]>,
    single: Arc<[[u64; 2]]>,
}

impl<const WIDTH: usize> Instance<WIDTH>
where
    Poseidon2<WIDTH>: Parameters,
{
    /// The number of round constants.
    pub const CONSTANTS: usize = 2 * HALF_FULL_ROUNDS * WIDTH + PARTIAL_ROUNDS;

    /// The permutation with these constants, in the order of use: one per element in full rounds, one in partial rounds.
    ///
    /// # Panics
    /// If there are not [`CONSTANTS`](Self::CONSTANTS).
    pub fn new(level: Level, constants: &[Goldilocks]) -> Self {
        assert_eq!(constants.len(), Self::CONSTANTS, "round constants");
        let words: Vec<_> = constants.iter().map(|constant| constant.to_canonical()).collect();
        Self {
            level,
            vectors: dispatch_goldilocks!(level, engine => planes::<_, WIDTH>(engine, &words)).into(),
            single: planes::<_, WIDTH>(Portable, &words).into(),
        }
    }

    /// Permutes any number n of states: `states[n i + k]` is element i of state k, any word before and canonical after.
    ///
    /// # Panics
    /// If the number of words is not a multiple of `WIDTH`.
    pub fn permute(&self, states: &mut [u64]) {
        assert!(states.len().is_multiple_of(WIDTH), "whole states");
        if states.len() == WIDTH {
            permute::<_, WIDTH>(Portable, states, &self.single);
        } else {
            dispatch_goldilocks!(self.level, engine => permute::<_, WIDTH>(engine, states, &self.vectors));
        }
    }

    /// Digests of rows by [`Absorption::Overwrite`](crate::Absorption::Overwrite), at the rate that leaves a capacity of one
    /// digest; `word(row, column)` is any word.
    pub fn hash_rows(&self, columns: usize, digests: &mut [Digest], word: impl Fn(usize, usize) -> u64) {
        match WIDTH - DIGEST {
            4 => self.absorb::<4>(columns, digests, word),
            8 => self.absorb::<8>(columns, digests, word),
            rate => unreachable!("a rate of {rate}"),
        }
    }

    /// `parents[i] = H(children[2 i], children[2 i + 1])`, in one permutation.
    ///
    /// # Panics
    /// If the number of children is not twice that of parents.
    pub fn hash_pairs(&self, children: &[Digest], parents: &mut [Digest]) {
        assert_eq!(children.len(), 2 * parents.len(), "two children a parent");
        let word = |row: usize, element: usize| children[2 * row + element / DIGEST].0[element % DIGEST];
        self.absorb::<{ 2 * DIGEST }>(2 * DIGEST, parents, word);
    }

    fn absorb<const RATE: usize>(
        &self,
        columns: usize,
        digests: &mut [Digest],
        word: impl Fn(usize, usize) -> u64,
    ) {
        if digests.len() == 1 {
            absorb::<_, WIDTH, RATE>(Portable, &self.single, columns, digests, word);
        } else {
            dispatch_goldilocks!(self.level, engine => {
                absorb::<_, WIDTH, RATE>(engine, &self.vectors, columns, digests, word);
            });
        }
    }
}

/// Hashes a row of `columns` words per digest, `RATE` words at a time.
fn absorb<E: GoldilocksEngine, const WIDTH: usize, const RATE: usize>(
    engine: E,
    constants: &[[u64; 2]],
    columns: usize,
    digests: &mut [Digest],
    word: impl Fn(usize, usize) -> u64,
) where
    Poseidon2<WIDTH>: Parameters,
{
    let read = |first: usize, count: usize, column: usize, words: &mut [u64]| {
        words[..count].iter_mut().zip(first..).for_each(|(to, row)| *to = word(row, column));
    };
    absorb_all::<Poseidon2<WIDTH>, E, RATE>(engine, columns, digests, read, |tile| {
        permute_tile::<E, WIDTH>(engine, tile, constants);
    });
}

fn planes<E: GoldilocksEngine, const WIDTH: usize>(_: E, words: &[u64]) -> Vec<[u64; 2]> {
    words.iter().enumerate().map(|(index, word)| planes_of::<E::Chain, WIDTH>(index, *word)).collect()
}

fn permute<E: GoldilocksEngine, const WIDTH: usize>(engine: E, states: &mut [u64], constants: &[[u64; 2]])
where
    Poseidon2<WIDTH>: Parameters,
{
    tiles::permute_in_tiles::<E, Poseidon2<WIDTH>>(engine, states, |tile| {
        permute_tile::<E, WIDTH>(engine, tile, constants);
    });
}

/// Permutes a [tile](tiles).
fn permute_tile<E: GoldilocksEngine, const WIDTH: usize>(engine: E, tile: &mut [u64], constants: &[[u64; 2]])
where
    Poseidon2<WIDTH>: Parameters,
{
    #[cfg(target_arch = "aarch64")]
    if let Some(assembly) = engine.assembly() {
        return tiles::permute_by_assembly::<Poseidon2<WIDTH>>(assembly, tile, constants);
    }
    tiles::permute_vectors::<E, Poseidon2<WIDTH>>(
        engine,
        tile,
        #[inline(always)]
        |state| permute_vectors::<Poseidon2<WIDTH>, E::Chain, WIDTH>(state, constants),
    );
}
