//! A hash of rows and nodes that is cheap inside of circuits over BN254.
//!
//! A node is circomlib's `Poseidon(2)` of its children, whose capacity starts at 0. A row of n words is absorbed by a sponge of the same
//! width in overwrite mode, whose capacity starts at `2^64 + n`: `c' = P(c, x_0, x_1)[0]`, two packs of three words at a time, a pack
//! being `w_0 + 2^64 w_1 + 2^128 w_2`, with zeros after the last word. The digest is the last c. So a digest says how many words it is of, and
//! no row is taken for a node. Collisions take about 2^127 permutations: the capacity is one element of 254 bits.

use super::{GROUP, MAX_WIDTH, PoseidonBn254, hash_rows, load, permute_group, store};
use crate::{Digest, TreeHash};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Engine, Field, Lanes,
    bn254::{Fr, FrParams},
    dispatch, goldilocks,
};

/// Poseidon of width 3 over BN254's scalar field with circomlib's parameters, as a sponge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoseidonBn254Sponge;

impl PoseidonBn254Sponge {
    /// The elements of the state.
    pub const WIDTH: usize = 3;

    /// The words of an element that is absorbed.
    pub const PACK: usize = 3;

    /// The capacity before a row of this many words.
    pub fn start(columns: usize) -> Fr {
        element([columns as u64, 1, 0])
    }
}

/// The words that are absorbed at a time.
const BLOCK: usize = (PoseidonBn254Sponge::WIDTH - 1) * PoseidonBn254Sponge::PACK;

fn element([a, b, c]: [u64; PoseidonBn254Sponge::PACK]) -> Fr {
    Fr::from_canonical([a, b, c, 0]).expect("192 bits are less than the modulus has")
}

impl TreeHash for PoseidonBn254Sponge {
    fn name(&self) -> &'static str {
        "poseidon-bn254"
    }

    fn modulus(&self) -> Option<u64> {
        Some(goldilocks::MODULUS)
    }

    fn element_bytes(&self) -> usize {
        Digest::BYTES
    }

    fn is_digest(&self, digest: &Digest) -> bool {
        Fr::from_canonical(digest.0).is_some()
    }

    fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
        assert_eq!(rows.len(), columns * digests.len(), "as many words as rows times columns");
        dispatch!(level, engine => hash_all(engine, columns, digests, |row, column| rows[row * columns + column]));
    }

    fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
        assert!(
            columns.iter().all(|column| column.len() == digests.len()),
            "one word a digest in each column"
        );
        dispatch!(level, engine => hash_all(engine, columns.len(), digests, |row, column| columns[column][row]));
    }

    fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]) {
        assert_eq!(children.len(), 2 * parents.len(), "two children a parent");
        let input = |digest: &Digest| Fr::from_canonical(digest.0).expect("a digest below the modulus");
        let inputs: Vec<_> = children.iter().map(input).collect();
        let mut hashes = vec![Fr::ZERO; parents.len()];
        dispatch!(level, engine => {
            let schedule = PoseidonBn254::of_width(Self::WIDTH).schedule_on(engine);
            hash_rows(engine, &schedule, 2, &inputs, &mut hashes);
        });
        parents.iter_mut().zip(hashes).for_each(|(parent, hash)| *parent = Digest(hash.to_canonical()));
    }
}

fn hash_all<E: Engine>(
    engine: E,
    columns: usize,
    digests: &mut [Digest],
    word: impl Fn(usize, usize) -> u64,
) {
    let schedule = PoseidonBn254::of_width(PoseidonBn254Sponge::WIDTH).schedule_on(engine);
    let start = PoseidonBn254Sponge::start(columns);
    for (group, digests) in digests.chunks_mut(GROUP).enumerate() {
        engine.run(
            #[inline(always)]
            || {
                let mut states = [[E::Packed::<FrParams>::zero(engine); 2]; MAX_WIDTH];
                states[0] = [E::Packed::broadcast(engine, start); 2];
                for first in (0..columns).step_by(BLOCK) {
                    for i in 0..2 {
                        let mut elements = [Fr::ZERO; GROUP];
                        for (row, to) in elements.iter_mut().enumerate().take(digests.len()) {
                            let mut pack = [0; PoseidonBn254Sponge::PACK];
                            let places = first + i * PoseidonBn254Sponge::PACK..columns;
                            for (to, column) in pack.iter_mut().zip(places) {
                                *to = word(group * GROUP + row, column);
                            }
                            *to = element(pack);
                        }
                        states[i + 1] = load(engine, &elements);
                    }
                    permute_group(engine, &schedule, &mut states);
                }
                let hashes = store(states[0]);
                digests
                    .iter_mut()
                    .zip(hashes.as_flattened())
                    .for_each(|(digest, hash)| *digest = Digest(hash.to_canonical()));
            },
        );
    }
}
