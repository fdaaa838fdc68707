//! Poseidon over BN254's scalar field with circomlib's parameters: the hash of 1 to 16 elements.
//!
//! S-box x^5, 8 full rounds and 56 to 70 partial ones (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, eprint
//! 2019/458). Constants and matrices are computed by the paper's [generator](crate::grain) on the first use of a width,
//! which takes 2 to 8 milliseconds. The state is a zero and the inputs; the hash is its first element after the permutation.

mod schedule;
mod sponge;

pub use schedule::MAX_WIDTH;
pub use sponge::PoseidonBn254Sponge;

use crate::grain::Grain;
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Engine, Field, LANES, Lanes, PrimeField, Scale, batch_invert_vartime,
    bn254::{Fr, FrParams},
    dispatch,
};
use proofmill_run::parallel;
use schedule::{Schedule, products};
use std::sync::OnceLock;

/// The full rounds before the partial ones, and those after.
pub const HALF_FULL_ROUNDS: usize = 4;

/// The partial rounds of each width from 2 on.
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
/// If the number of inputs is 0 or above 16.
pub fn poseidon(inputs: &[Fr]) -> Fr {
    PoseidonBn254::of_width(inputs.len() + 1).hash(inputs)
}

impl PoseidonBn254 {
    /// The permutation of `width` elements, which hashes `width - 1` elements.
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
        // Integers of p or more are skipped: constants are uniform.
        let uniform = std::iter::repeat_with(|| Fr::from_canonical(grain.integer(bits))).flatten();
        let round_constants: Vec<Fr> = uniform.take(rounds * width).collect();
        // Integers of p or more are reduced here. No sum of these is zero, and no two are equal, at any width.
        let points: Vec<Fr> =
            std::iter::repeat_with(|| reduced(grain.integer(bits))).take(2 * width).collect();
        let (x, y) = points.split_at(width);
        // The Cauchy matrix 1 / (x_i + y_j): all its square submatrices are invertible.
        let mut matrix: Vec<Fr> = x.iter().flat_map(|x| y.iter().map(move |y| *x + *y)).collect();
        batch_invert_vartime(&mut matrix);
        let schedule = Schedule::new(width, &round_constants, &matrix);
        Self { width, round_constants, matrix, schedule }
    }

    /// The elements of the state.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rounds with the S-box on the first element only.
    pub fn partial_rounds(&self) -> usize {
        PARTIAL_ROUNDS[self.width - 2]
    }

    /// The constants added before the S-boxes of each round: [`width`](Self::width) elements per round, also in partial
    /// ones.
    pub fn round_constants(&self) -> &[Fr] {
        &self.round_constants
    }

    /// The matrix of every round's linear layer, row by row: element i of the next state is the sum of
    /// `matrix[width * i + j] * state[j]`.
    pub fn matrix(&self) -> &[Fr] {
        &self.matrix
    }

    /// Whether this round, counted from 0, has an S-box on every element.
    pub fn is_full(&self, round: usize) -> bool {
        !(HALF_FULL_ROUNDS..HALF_FULL_ROUNDS + self.partial_rounds()).contains(&round)
    }

    /// One full round of a state of [`width`](Self::width) elements in any algebra, whose values `value` makes of constants: adds the
    /// round's constants, takes fifth powers and multiplies by the matrix. For circuits and other formulas.
    ///
    /// # Panics
    /// If the state has fewer elements, or there are fewer rounds.
    pub fn full_round<A: Algebra>(&self, round: usize, state: &mut [A], value: impl Fn(Fr) -> A + Copy) {
        let mut states = [[A::zero(state[0].token())]; MAX_WIDTH];
        states.as_flattened_mut()[..self.width].copy_from_slice(&state[..self.width]);
        let constants = &self.round_constants[round * self.width..][..self.width];
        self.schedule.full_round(
            &mut states,
            constants,
            &self.matrix,
            |constant| value(*constant),
            |x, constant| products(x, [value(*constant)]),
        );
        state[..self.width].copy_from_slice(&states.as_flattened()[..self.width]);
    }

    /// The hash of `width - 1` elements.
    ///
    /// # Panics
    /// If the number of inputs is different.
    pub fn hash(&self, inputs: &[Fr]) -> Fr {
        assert_eq!(inputs.len() + 1, self.width, "one input less than the width");
        let mut state = [Fr::ZERO; MAX_WIDTH];
        state[1..self.width].copy_from_slice(inputs);
        self.permute(&mut state[..self.width]);
        state[0]
    }

    /// Permutes a state of [`width`](Self::width) elements.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn permute(&self, state: &mut [Fr]) {
        let state = &mut state[..self.width];
        let mut states = [[Fr::ZERO]; MAX_WIDTH];
        states.as_flattened_mut()[..self.width].copy_from_slice(state);
        self.schedule.permute(&mut states, |constant| *constant, |x, constant| products(x, [*constant]));
        state.copy_from_slice(&states.as_flattened()[..self.width]);
    }

    /// Permutes states, stored contiguously, on the calling thread.
    ///
    /// # Panics
    /// If the last state is incomplete.
    pub fn permute_states(&self, level: Level, states: &mut [Fr]) {
        let width = self.width;
        assert!(states.len().is_multiple_of(width), "states of {width} elements");
        dispatch!(level, engine => permute_all(engine, &self.schedule_on(engine), width, states));
    }

    /// The hashes of rows of `width - 1` elements, stored contiguously. Runs on the ambient rayon
    /// pool.
    ///
    /// # Panics
    /// If the last row is incomplete.
    pub fn hash_many(&self, level: Level, inputs: &[Fr]) -> Vec<Fr> {
        let columns = self.width - 1;
        assert!(inputs.len().is_multiple_of(columns), "rows of {columns} elements");
        let mut hashes = vec![Fr::ZERO; inputs.len() / columns];
        // Whole groups of lanes, in tasks small enough to balance the load.
        let share = hashes.len().div_ceil(4 * parallel::threads()).next_multiple_of(GROUP);
        let share = share.clamp(GROUP, MOST_GROUPS * GROUP);
        let parts = inputs.chunks(columns * share).zip(hashes.chunks_mut(share));
        dispatch!(level, engine => {
            let schedule = self.schedule_on(engine);
            parallel::for_each(parts, |(rows, hashes)| hash_rows(engine, &schedule, columns, rows, hashes));
        });
        hashes
    }

    /// The schedule, prepared for an engine.
    fn schedule_on<E: Engine>(&self, engine: E) -> Prepared<E> {
        self.schedule.map(|constant| E::Packed::<FrParams>::factor(engine, constant))
    }
}

/// A schedule for the vectors of an engine.
type Prepared<E> = Schedule<<<E as Engine>::Packed<FrParams> as Scale<Fr>>::Factor>;

/// The rows that are hashed in parallel: two vectors of lanes, because of the latency of products.
const GROUP: usize = 2 * LANES;

/// The most groups that one task hashes.
const MOST_GROUPS: usize = 16;

/// Hashes rows of `columns` elements.
fn hash_rows<E: Engine>(engine: E, schedule: &Prepared<E>, columns: usize, rows: &[Fr], hashes: &mut [Fr]) {
    for (rows, hashes) in rows.chunks(columns * GROUP).zip(hashes.chunks_mut(GROUP)) {
        engine.run(
            #[inline(always)]
            || hash_group(engine, schedule, columns, rows, hashes),
        );
    }
}

/// Hashes at most [`GROUP`] rows.
#[inline(always)]
fn hash_group<E: Engine>(engine: E, schedule: &Prepared<E>, columns: usize, rows: &[Fr], hashes: &mut [Fr]) {
    let mut states = load_group(engine, columns, 1, rows);
    permute_group(engine, schedule, &mut states);
    hashes.copy_from_slice(&store(states[0]).as_flattened()[..hashes.len()]);
}

/// Permutes states of `width` elements.
fn permute_all<E: Engine>(engine: E, schedule: &Prepared<E>, width: usize, states: &mut [Fr]) {
    for group in states.chunks_mut(width * GROUP) {
        engine.run(
            #[inline(always)]
            || {
                let mut lanes = load_group(engine, width, 0, group);
                permute_group(engine, schedule, &mut lanes);
                for i in 0..width {
                    let elements = store(lanes[i]);
                    for (state, element) in group.chunks_exact_mut(width).zip(elements.as_flattened()) {
                        state[i] = *element;
                    }
                }
            },
        );
    }
}

/// At most [`GROUP`] rows as the elements from `first` on of states that are otherwise zero.
#[inline(always)]
fn load_group<E: Engine>(
    engine: E,
    columns: usize,
    first: usize,
    rows: &[Fr],
) -> [[E::Packed<FrParams>; 2]; MAX_WIDTH] {
    let mut states = [[E::Packed::<FrParams>::zero(engine); 2]; MAX_WIDTH];
    for i in 0..columns {
        let mut elements = [Fr::ZERO; GROUP];
        for (element, row) in elements.iter_mut().zip(rows.chunks_exact(columns)) {
            *element = row[i];
        }
        states[first + i] = load(engine, &elements);
    }
    states
}

#[inline(always)]
fn load<E: Engine>(engine: E, elements: &[Fr; GROUP]) -> [E::Packed<FrParams>; 2] {
    let (lanes, _) = elements.as_chunks::<LANES>();
    [E::Packed::load(engine, &lanes[0]), E::Packed::load(engine, &lanes[1])]
}

#[inline(always)]
fn store<V: Lanes<Fr>>(vectors: [V; 2]) -> [[Fr; LANES]; 2] {
    let mut elements = [[Fr::ZERO; LANES]; 2];
    for k in 0..2 {
        vectors[k].store(&mut elements[k]);
    }
    elements
}

/// Permutes [`GROUP`] states.
#[inline(always)]
fn permute_group<E: Engine>(
    engine: E,
    schedule: &Prepared<E>,
    states: &mut [[E::Packed<FrParams>; 2]; MAX_WIDTH],
) {
    schedule.permute(
        states,
        #[inline(always)]
        |constant| E::Packed::splat(engine, constant),
        #[inline(always)]
        |states, constant| E::Packed::scale_terms(states, [constant; 2]),
    );
}

/// The element of an integer with the modulus's number of bits.
fn reduced(words: [u64; 4]) -> Fr {
    let mut bytes = words.map(u64::to_be_bytes);
    bytes.reverse();
    Fr::from_bytes_be_reduced(bytes.as_flattened())
}
