//! The hash of a row of elements, and of two digests, from a permutation.
//!
//! A row is absorbed in blocks that leave four elements of the state, by one of two rules ([`Absorption`]); a node is
//! one permutation of its children's elements, padded with zeros if the state is wider.
//!
//! **Guarantees and limits.** For rows of *one* known length, collisions are hard to
//! find. The end of a row is not marked: by Polygon's rule `[1, 2]` and `[1, 2, 0]` have the same digest, and so have rows
//! of nine and of ten elements that end in a zero, and a digest of four elements, taken as a row, is its own digest; by
//! Plonky3's rule a row has the same digest as the row extended by the elements that its last block left in the state. A
//! tree is safe because it fixes the length of its rows, which verifiers of openings must know from elsewhere; do not use
//! this module to distinguish messages of different lengths. Types keep nodes from being taken for rows: [`Digest`] is not a
//! row.
//!
//! A state of eight elements leaves no capacity in a node: collisions of a single node are easy to find (by inverting the
//! permutation), but not collisions whose children are digests too. Use it in trees only.

use crate::{Absorption, DIGEST, Digest, MAX_WIDTH, Permutation, Poseidon, Poseidon2, TreeHash, tiles};
use proofmill_cpu::{Level, MAX_LANES, Portable};
use proofmill_field::{
    dispatch_goldilocks,
    goldilocks::{Goldilocks, GoldilocksEngine, MODULUS},
};

/// The digest of one row, in plain Rust, for the lowest latency.
pub fn linear_hash<P: Permutation>(row: &[Goldilocks]) -> Digest {
    let mut digest = [Digest::default()];
    hash_on::<P, _>(Portable, Goldilocks::as_words(row), row.len(), &mut digest);
    digest[0]
}

/// The hash of trees with the permutation `P`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sponge<P>(pub P);

/// Compiles the hash for permutations in this crate, not in every user.
macro_rules! tree_hash {
    ($($permutation:ty),*) => { $(
        impl TreeHash for Sponge<$permutation> {
            fn name(&self) -> &'static str {
                <$permutation>::NAME
            }

            fn modulus(&self) -> Option<u64> {
                Some(MODULUS)
            }

            fn element_bytes(&self) -> usize {
                Goldilocks::BYTES
            }

            fn is_digest(&self, digest: &Digest) -> bool {
                digest.0.iter().all(|word| *word < MODULUS)
            }

            fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
                let level = tiles::level_for(level, digests.len());
                dispatch_goldilocks!(level, engine => hash_on::<$permutation, _>(engine, rows, columns, digests));
            }

            fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
                assert!(
                    columns.iter().all(|column| column.len() == digests.len()),
                    "one word a digest in each column"
                );
                dispatch_goldilocks!(level, engine => {
                    let read = |first: usize, lanes: usize, element: usize, words: &mut [u64]| {
                        words[..lanes].copy_from_slice(&columns[element][first..][..lanes]);
                    };
                    hash_all::<$permutation, _>(engine, columns.len(), digests, read, |tile| {
                        tiles::permute::<_, $permutation>(engine, tile);
                    });
                });
            }

            fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]) {
                assert_eq!(children.len(), 2 * parents.len(), "two children a parent");
                let words = Digest::as_words(children);
                dispatch_goldilocks!(tiles::level_for(level, parents.len()), engine => {
                    absorb_all::<$permutation, _, { 2 * DIGEST }>(
                        engine,
                        2 * DIGEST,
                        parents,
                        row_major(words, 2 * DIGEST),
                        |tile| tiles::permute::<_, $permutation>(engine, tile),
                    );
                });
            }
        }
    )* };
}

tree_hash!(Poseidon, Poseidon2<8>, Poseidon2<12>);

fn hash_on<P: Permutation, E: GoldilocksEngine>(
    engine: E,
    rows: &[u64],
    columns: usize,
    digests: &mut [Digest],
) {
    assert_eq!(rows.len(), columns * digests.len(), "as many words as rows times columns");
    hash_all::<P, _>(engine, columns, digests, row_major(rows, columns), |tile| {
        tiles::permute::<_, P>(engine, tile)
    });
}

/// Reads the elements of rows sequentially.
#[inline(always)]
fn row_major(rows: &[u64], columns: usize) -> impl Fn(usize, usize, usize, &mut [u64]) {
    #[inline(always)]
    move |first, lanes, element, words: &mut [u64]| {
        for (lane, word) in words[..lanes].iter_mut().enumerate() {
            *word = rows[(first + lane) * columns + element];
        }
    }
}

/// [`absorb_all`] at the rate that leaves a capacity of one digest.
#[inline(always)]
fn hash_all<P: Permutation, E: GoldilocksEngine>(
    engine: E,
    columns: usize,
    digests: &mut [Digest],
    read: impl Fn(usize, usize, usize, &mut [u64]),
    permute: impl Fn(&mut [u64]),
) {
    match P::WIDTH - DIGEST {
        4 => absorb_all::<P, E, 4>(engine, columns, digests, read, permute),
        8 => absorb_all::<P, E, 8>(engine, columns, digests, read, permute),
        rate => unreachable!("a rate of {rate}"),
    }
}

/// Hashes one row of `columns` elements per digest, `RATE` elements at a time; `read(first, count, element, words)` writes
/// that element of `count` rows, starting at row `first`; `permute(tile)` permutes a [tile](tiles).
#[inline(always)]
pub(crate) fn absorb_all<P: Permutation, E: GoldilocksEngine, const RATE: usize>(
    engine: E,
    columns: usize,
    digests: &mut [Digest],
    read: impl Fn(usize, usize, usize, &mut [u64]),
    permute: impl Fn(&mut [u64]),
) {
    let (tile_lanes, mut first) = (tiles::lanes(engine), 0);
    let mut tile = [0; MAX_WIDTH * MAX_LANES];
    let tile = &mut tile[..P::WIDTH * tile_lanes];
    for block in digests.chunks_mut(tile_lanes) {
        // Each row starts from the zero state.
        tile.fill(0);
        let read_element = |element, words: &mut [u64]| read(first, block.len(), element, words);
        absorb::<P, _, RATE>(engine, columns, tile, read_element, &permute);
        for (lane, digest) in block.iter_mut().enumerate() {
            for (element, words) in digest.0.iter_mut().zip(tile.chunks_exact(tile_lanes)) {
                *element = Goldilocks::new(words[lane]).to_canonical();
            }
        }
        first += block.len();
    }
}

/// Hashes the rows of one tile, which must be zero.
#[inline(always)]
fn absorb<P: Permutation, E: GoldilocksEngine, const RATE: usize>(
    engine: E,
    columns: usize,
    tile: &mut [u64],
    read: impl Fn(usize, &mut [u64]),
    permute: impl Fn(&mut [u64]),
) {
    let lanes = tiles::lanes(engine);
    let linear = P::ABSORPTION == Absorption::LinearHash;
    // Polygon's rule: a row no longer than a digest is its own digest, padded with zeros.
    if linear && columns <= DIGEST {
        (0..columns).for_each(|element| read(element, &mut tile[element * lanes..]));
        return;
    }
    for start in (0..columns).step_by(RATE) {
        let count = RATE.min(columns - start);
        // The last digest becomes the capacity, and zeros pad a short block.
        if linear && start > 0 {
            tile.copy_within(..DIGEST * lanes, RATE * lanes);
            tile[count * lanes..RATE * lanes].fill(0);
        }
        (0..count).for_each(|element| read(start + element, &mut tile[element * lanes..]));
        permute(tile);
    }
}
