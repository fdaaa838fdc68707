//! Poseidon over BN254's scalar field with circomlib's parameters: the hash of 1 to 16 elements.
//!
//! S-box x^5, 8 full rounds and 56 to 70 partial ones (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, eprint
//! 2019/458); constants and matrices come from the paper's [generator](crate::grain) when a width is first used, which takes
//! 2 to 8 milliseconds. The state is a zero and the inputs; the hash is its first element after the permutation.

mod schedule;

pub use schedule::MAX_WIDTH;

use crate::grain::Grain;
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Engine, Field, LANES, Lanes, PrimeField, Vector, batch_invert_vartime,
    bn254::{Fr, FrParams},
    dispatch,
};
use rayon::prelude::*;
use schedule::Schedule;
use std::sync::OnceLock;

/// Full rounds before the partial ones, and as many after.
pub const HALF_FULL_ROUNDS: usize = 4;

/// Partial rounds of the widths from 2 on.
const PARTIAL_ROUNDS: [usize; MAX_WIDTH - 1] =
    [56, 57, 56, 60, 60, 63, 64, 63, 60, 66, 60, 65, 70, 60, 64, 68];

/// The permutation of states of one width.
#[derive(Clone, Debug)]
pub struct PoseidonBn254 {
    width: usize,
    round_constants: Vec<Fr>,
    matrix: Vec<Fr>,
    schedule: Schedule<Fr>,
}

/// The hash of 1 to 16 elements.
///
/// # Panics
/// If there are none, or more than 16.
pub fn poseidon(inputs: &[Fr]) -> Fr {
    PoseidonBn254::of_width(inputs.len() + 1).hash(inputs)
}

impl PoseidonBn254 {
    /// The permutation of `width` elements, which hashes one element less.
    ///
    /// # Panics
    /// If `width` is not in 2..=17.
    pub fn of_width(width: usize) -> &'static Self {
        static WIDTHS: [OnceLock<PoseidonBn254>; MAX_WIDTH - 1] = [const { OnceLock::new() }; MAX_WIDTH - 1];
        assert!((2..=MAX_WIDTH).contains(&width), "Poseidon of width 2 to {MAX_WIDTH}, not {width}");
        WIDTHS[width - 2].get_or_init(|| Self::generate(width))
    }

    fn generate(width: usize) -> Self {
        let partial_rounds = PARTIAL_ROUNDS[width - 2];
        let rounds = 2 * HALF_FULL_ROUNDS + partial_rounds;
        let bits = <Fr as PrimeField>::BITS;
        let mut grain = Grain::new(bits, width, 2 * HALF_FULL_ROUNDS, partial_rounds);
        let uniform = std::iter::repeat_with(|| Fr::from_canonical(grain.integer(bits))).flatten();
        let round_constants: Vec<Fr> = uniform.take(rounds * width).collect();
        // What exceeds p is reduced here. No sum of these is zero, and no two are equal, at any width.
        let points: Vec<Fr> =
            std::iter::repeat_with(|| reduced(grain.integer(bits))).take(2 * width).collect();
        let (x, y) = points.split_at(width);
        let mut matrix: Vec<Fr> = x.iter().flat_map(|x| y.iter().map(move |y| *x + *y)).collect();
        batch_invert_vartime(&mut matrix);
        let schedule = Schedule::new(width, &round_constants, &matrix);
        Self { width, round_constants, matrix, schedule }
    }

    /// Elements of the state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rounds in which only the first element passes the S-box.
    pub fn partial_rounds(&self) -> usize {
        PARTIAL_ROUNDS[self.width - 2]
    }

    /// What each round adds before its S-boxes: [`width`](Self::width) elements a round, also in partial ones.
    pub fn round_constants(&self) -> &[Fr] {
        &self.round_constants
    }

    /// The matrix of every round's linear layer, row by row: element i of the next state is the sum of
    /// `matrix[width * i + j] * state[j]`.
    pub fn matrix(&self) -> &[Fr] {
        &self.matrix
    }

    /// Whether every element passes the S-box in this round, counted from 0.
    pub fn is_full(&self, round: usize) -> bool {
        !(HALF_FULL_ROUNDS..HALF_FULL_ROUNDS + self.partial_rounds()).contains(&round)
    }

    /// The hash of one element less than the width has.
    ///
    /// # Panics
    /// If there are more inputs, or fewer.
    pub fn hash(&self, inputs: &[Fr]) -> Fr {
        assert_eq!(inputs.len() + 1, self.width, "one input less than the width");
        let mut states = [[Fr::ZERO]; MAX_WIDTH];
        for (state, input) in states[1..].iter_mut().zip(inputs) {
            *state = [*input];
        }
        self.schedule.permute(&mut states, |constant| *constant);
        states[0][0]
    }

    /// The hashes of rows of one element less than the width has, which lie one after the other. Runs on the ambient rayon
    /// pool.
    ///
    /// # Panics
    /// If the last row is not whole.
    pub fn hash_many(&self, level: Level, inputs: &[Fr]) -> Vec<Fr> {
        let columns = self.width - 1;
        assert!(inputs.len().is_multiple_of(columns), "rows of {columns} elements");
        let mut hashes = vec![Fr::ZERO; inputs.len() / columns];
        dispatch!(level, engine => self.hash_rows(engine, inputs, &mut hashes));
        hashes
    }

    fn hash_rows<E: Engine>(&self, engine: E, inputs: &[Fr], hashes: &mut [Fr]) {
        let columns = self.width - 1;
        let schedule = self.schedule.map(|constant| E::Packed::<FrParams>::prepare(engine, constant));
        let rows = inputs.par_chunks(columns * GROUP);
        rows.zip(hashes.par_chunks_mut(GROUP)).for_each(|(rows, hashes)| {
            engine.run(
                #[inline(always)]
                || hash_group(engine, &schedule, columns, rows, hashes),
            );
        });
    }
}

/// Rows that are hashed side by side: two vectors of lanes, for the latency of products.
const GROUP: usize = 2 * LANES;

/// Hashes at most as many rows.
#[inline(always)]
fn hash_group<E: Engine>(
    engine: E,
    schedule: &Schedule<<E::Packed<FrParams> as Vector<Fr>>::Splat>,
    columns: usize,
    rows: &[Fr],
    hashes: &mut [Fr],
) {
    let mut states = [[E::Packed::<FrParams>::zero(engine); 2]; MAX_WIDTH];
    for i in 0..columns {
        let mut elements = [Fr::ZERO; GROUP];
        for (element, row) in elements.iter_mut().zip(rows.chunks_exact(columns)) {
            *element = row[i];
        }
        let (lanes, _) = elements.as_chunks::<LANES>();
        states[i + 1] = [E::Packed::load(engine, &lanes[0]), E::Packed::load(engine, &lanes[1])];
    }
    schedule.permute(
        &mut states,
        #[inline(always)]
        |constant| E::Packed::splat(engine, constant),
    );
    let mut digests = [[Fr::ZERO; LANES]; 2];
    for k in 0..2 {
        states[0][k].store(&mut digests[k]);
    }
    hashes.copy_from_slice(&digests.as_flattened()[..hashes.len()]);
}

/// The element of an integer of as many bits as the modulus has.
fn reduced(words: [u64; 4]) -> Fr {
    let mut bytes = words.map(u64::to_be_bytes);
    bytes.reverse();
    Fr::from_bytes_be_reduced(bytes.as_flattened())
}
