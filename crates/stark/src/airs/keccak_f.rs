//! Iterated Keccak-f[1600].

use super::{
    bits::{columns, constant, must_be_bit, word, write, xor},
    execution::{Execution, rows},
};
use crate::{
    StarkError,
    air::{Air, Expression, Row},
};
use proofmill_cpu::Level;
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_hash::{KECCAK_ROTATIONS, KECCAK_ROUND_CONSTANTS, KECCAK_WIDTH, keccak_f_states};
use proofmill_run::parallel;
use std::array;

/// Keccak-f\[1600\] (FIPS 202), applied again and again.
///
/// **Statement.** `n` permutations lead from the first public state to the second, where `n` is `rows / 24`, rounded down.
///
/// **Public values.** Both states, 100 values: 25 words each, word `x + 5 y` at column x and row y, as halves of 32 bits, the lower half
/// first.
///
/// **A row** is a round, 24 rows are a permutation, and the output of a permutation is the input of the next. The last permutation is cut
/// off: its input is the second public state, and its rounds have no meaning. There are 2300 columns, 2775 constraints of degree 3 at most
/// and 22 periodic columns of 8 values. There are at least 32 rows: fewer satisfy no constraints.
///
/// | columns | |
/// |---:|---|
/// | 50 | the state before the round, as halves |
/// | 320 | C, the parities of its columns |
/// | 320 | C', the parities after theta |
/// | 1600 | A', the state after theta |
/// | 7 | the bits of word 0 after chi that iota may flip |
/// | 2 | whether the round is 0, and 1, modulo 3 |
/// | 1 | whether the last permutation began |
///
/// Why this is enough. In each row:
/// * C and A' are bits. `D[x][z] = C[x - 1][z] ^ C[x + 1][z - 1]` and C' = C ^ D, so these are bits, too. Each half of the state is the
///   word of the 32 bits `A' ^ D`. A word of 32 bits is below p, so it has no other bits. It follows that A' is the state with D added.
/// * The sum of five bits of A' less C' is 0, 2 or 4, so that C' is the parity of a column of A'. This is the parity of the state's
///   column and of five times D. So C = C' ^ D is the parity of the state's column, and A' is theta of the state.
/// * The next state is the word of the bits of chi of the rotated words, with the bits of iota in word 0. Its columns have 32 bits by
///   construction, and the first ones by being equal to those of the first row's A' ^ D.
///
/// Between rows:
/// * The round modulo 3 starts at 0 and each row determines the next. With the row modulo 8, from periodic columns, it says which of 24
///   rounds a row is; the constants of rounds differ in seven bits only.
/// * The last column, `end`, is 0 in the first row and 1 in the last one. It changes only from a row of round 23 to the next. Where it is
///   not 0, round 23 is forbidden. So it changes once, after the last row of round 23, and the state there is the second public state.
///
/// The parity of a column as a sum is the idea of Plonky3's `p3-keccak-air`, which has 2633 columns. Here, the next row's halves of 32 bits
/// read chi directly, states are linked instead of carried along, and periodic columns count rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeccakF;

const ROUNDS: usize = 24;
const BITS: usize = 64;
const HALF: usize = 32;
const HALVES: usize = 2 * KECCAK_WIDTH;

const PARITIES: usize = HALVES;
const PARITIES_AFTER: usize = PARITIES + 5 * BITS;
const THETA: usize = PARITIES_AFTER + 5 * BITS;
const IOTA: usize = THETA + KECCAK_WIDTH * BITS;
const PHASE: usize = IOTA + IOTA_BITS;
const END: usize = PHASE + 2;
const COLUMNS: usize = END + 1;

/// Bit `2^j - 1` of a round constant may be set, for each j below this.
const IOTA_BITS: usize = 7;
/// Rounds are numbered by the residues of the row modulo `PHASES` and modulo `PERIOD`.
const PHASES: usize = 3;
const PERIOD: usize = ROUNDS / PHASES;
/// The periodic column that is 1 in the last row of a period, after the bits of round constants by phase.
const IS_PERIODS_LAST: usize = PHASES * IOTA_BITS;

impl KeccakF {
    /// The base-2 logarithm of the fewest rows.
    pub const LEAST_LOG_ROWS: u32 = 5;

    /// The states from an input on, in `2^log_rows` rows.
    ///
    /// # Errors
    /// [`StarkError::TooFewRows`] below [`LEAST_LOG_ROWS`](Self::LEAST_LOG_ROWS).
    pub fn trace(
        &self,
        level: Level,
        log_rows: u32,
        input: [u64; KECCAK_WIDTH],
    ) -> Result<Execution, StarkError> {
        let rows = rows(log_rows, Self::LEAST_LOG_ROWS)?;
        let mut inputs = vec![input];
        for _ in 0..rows / ROUNDS {
            let mut state = inputs[inputs.len() - 1];
            keccak_f_states(level, &mut state);
            inputs.push(state);
        }
        let mut trace = vec![Goldilocks::ZERO; rows * COLUMNS];
        let tasks = trace.chunks_mut(ROUNDS * COLUMNS).zip(&inputs);
        parallel::for_each(tasks.enumerate(), |(index, (rows, input))| {
            let (mut state, mut phase) = (*input, index * ROUNDS % PHASES);
            for (row, constant) in rows.chunks_exact_mut(COLUMNS).zip(KECCAK_ROUND_CONSTANTS) {
                state = fill(&state, constant, row);
                if let Some(column) = row[PHASE..END].get_mut(phase) {
                    *column = Goldilocks::ONE;
                }
                row[END] = Goldilocks::new((index + 1 == inputs.len()).into());
                phase = (phase + 1) % PHASES;
            }
        });
        let output = inputs[inputs.len() - 1];
        let public_values = input.into_iter().chain(output).flat_map(halves).collect();
        Ok(Execution { trace, public_values })
    }
}

fn halves(word: u64) -> [Goldilocks; 2] {
    [word as u32, (word >> HALF) as u32].map(Goldilocks::from)
}

/// The position in theta's output of the word that moves to this position.
fn source(position: usize) -> usize {
    let (x, y) = (position % 5, position / 5);
    (x + 3 * y) % 5 + 5 * x
}

/// Writes all columns of a round but the counters, and returns the state after it.
fn fill(state: &[u64; KECCAK_WIDTH], constant: u64, row: &mut [Goldilocks]) -> [u64; KECCAK_WIDTH] {
    let parities: [u64; 5] = array::from_fn(|x| (0..5).fold(0, |sum, y| sum ^ state[x + 5 * y]));
    let sums: [u64; 5] = array::from_fn(|x| parities[(x + 4) % 5] ^ parities[(x + 1) % 5].rotate_left(1));
    let theta: [u64; KECCAK_WIDTH] = array::from_fn(|i| state[i] ^ sums[i % 5]);
    let moved: [u64; KECCAK_WIDTH] =
        array::from_fn(|i| theta[source(i)].rotate_left(KECCAK_ROTATIONS[source(i)] as u32));
    let mut next: [u64; KECCAK_WIDTH] = array::from_fn(|i| {
        let at = |step: usize| moved[i / 5 * 5 + (i + step) % 5];
        at(0) ^ !at(1) & at(2)
    });
    for (to, word) in row.as_chunks_mut().0.iter_mut().zip(state) {
        *to = halves(*word);
    }
    for x in 0..5 {
        write(parities[x], &mut row[PARITIES + x * BITS..][..BITS]);
        write(parities[x] ^ sums[x], &mut row[PARITIES_AFTER + x * BITS..][..BITS]);
    }
    for (bits, word) in row[THETA..IOTA].as_chunks_mut::<BITS>().0.iter_mut().zip(theta) {
        write(word, bits);
    }
    for j in 0..IOTA_BITS {
        write(next[0] >> iota_bit(j), &mut row[IOTA + j..][..1]);
    }
    next[0] ^= constant;
    next
}

const fn iota_bit(j: usize) -> usize {
    (1 << j) - 1
}

impl Air for KeccakF {
    fn columns(&self) -> usize {
        COLUMNS
    }

    fn public_values(&self) -> usize {
        2 * HALVES
    }

    fn periodic_columns(&self) -> Vec<Vec<Goldilocks>> {
        let round = |phase: usize, row: usize| {
            (0..ROUNDS)
                .find(|round| round % PHASES == phase && round % PERIOD == row)
                .expect("residues of a round")
        };
        let constant_bits = (0..PHASES).flat_map(|phase| (0..IOTA_BITS).map(move |j| (phase, j)));
        let mut columns: Vec<Vec<_>> = constant_bits
            .map(|(phase, j)| {
                let bit = |row| KECCAK_ROUND_CONSTANTS[round(phase, row)] >> iota_bit(j) & 1;
                (0..PERIOD).map(|row| Goldilocks::new(bit(row))).collect()
            })
            .collect();
        columns.push((0..PERIOD).map(|row| Goldilocks::new((row + 1 == PERIOD).into())).collect());
        columns
    }

    fn constrain(&self, row: Row) {
        let theta: [[Expression; BITS]; KECCAK_WIDTH] = array::from_fn(|i| columns(row, THETA + i * BITS));
        constrain_theta(row, &theta);
        let phases = constrain_phases(row);
        let next = constrain_chi_and_iota(row, &theta, &phases);
        for (half, bits) in next.as_flattened().as_chunks::<HALF>().0.iter().enumerate() {
            (row.is_transition() * (row.next(half) - word(bits.iter().copied()))).must_vanish();
        }
        let (end, next_end) = (row.column(END), row.next(END));
        let is_last_round = phases[PHASES - 1] * row.periodic(IS_PERIODS_LAST);
        (row.is_first() * end).must_vanish();
        (row.is_last() * (end - constant(1))).must_vanish();
        (row.is_transition() * (next_end - end) * (constant(1) - is_last_round)).must_vanish();
        (row.is_transition() * end * is_last_round).must_vanish();
        for half in 0..HALVES {
            (row.is_first() * (row.column(half) - row.public_value(half))).must_vanish();
            let output = row.next(half) - row.public_value(HALVES + half);
            (row.is_transition() * (next_end - end) * output).must_vanish();
        }
    }
}

/// Demands that the state after theta is theta of the state in the row's halves.
fn constrain_theta(row: Row, theta: &[[Expression; BITS]; KECCAK_WIDTH]) {
    let parities: [[Expression; BITS]; 5] = array::from_fn(|x| columns(row, PARITIES + x * BITS));
    for x in 0..5 {
        let sums: [Expression; BITS] =
            array::from_fn(|z| xor(parities[(x + 4) % 5][z], parities[(x + 1) % 5][(z + BITS - 1) % BITS]));
        for z in 0..BITS {
            must_be_bit(parities[x][z]);
            let after = row.column(PARITIES_AFTER + x * BITS + z);
            (after - xor(parities[x][z], sums[z])).must_vanish();
            let twice = (0..5).map(|y| theta[x + 5 * y][z]).sum::<Expression>() - after;
            (twice * (twice - constant(2)) * (twice - constant(4))).must_vanish();
        }
        for i in (x..KECCAK_WIDTH).step_by(5) {
            theta[i].iter().for_each(|bit| must_be_bit(*bit));
            let before: [Expression; BITS] = array::from_fn(|z| xor(theta[i][z], sums[z]));
            for (half, bits) in before.as_chunks::<HALF>().0.iter().enumerate() {
                (row.column(2 * i + half) - word(bits.iter().copied())).must_vanish();
            }
        }
    }
}

/// Constrains the round modulo 3, and returns for each residue whether the round has it.
fn constrain_phases(row: Row) -> [Expression; PHASES] {
    let phases = [row.column(PHASE), row.column(PHASE + 1)];
    let last = constant(1) - phases[0] - phases[1];
    (row.is_first() * (phases[0] - constant(1))).must_vanish();
    (row.is_first() * phases[1]).must_vanish();
    (row.is_transition() * (row.next(PHASE) - last)).must_vanish();
    (row.is_transition() * (row.next(PHASE + 1) - phases[0])).must_vanish();
    [phases[0], phases[1], last]
}

/// The bits of the state after the round, of degree 3.
fn constrain_chi_and_iota(
    row: Row,
    theta: &[[Expression; BITS]; KECCAK_WIDTH],
    phases: &[Expression; PHASES],
) -> [[Expression; BITS]; KECCAK_WIDTH] {
    let mut next: [[Expression; BITS]; KECCAK_WIDTH] = array::from_fn(|i| {
        array::from_fn(|z| {
            let at = |step: usize| {
                let from = source(i / 5 * 5 + (i + step) % 5);
                theta[from][(z + BITS - KECCAK_ROTATIONS[from] as usize) % BITS]
            };
            let (a, b, c) = (at(0), at(1), at(2));
            xor(a, c - b * c)
        })
    });
    for j in 0..IOTA_BITS {
        let bit = &mut next[0][iota_bit(j)];
        let before = row.column(IOTA + j);
        (before - *bit).must_vanish();
        let constant = phases.iter().enumerate();
        let constant =
            constant.map(|(phase, is_phase)| *is_phase * row.periodic(phase * IOTA_BITS + j)).sum();
        *bit = xor(before, constant);
    }
    next
}
