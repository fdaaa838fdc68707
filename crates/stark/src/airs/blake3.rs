//! A chain of BLAKE3 digests.

use super::{
    bits::{columns, constant, must_be_bit, word, write, xor},
    execution::Execution,
};
use crate::air::{Air, Expression, Row};
use proofmill_field::{Field, goldilocks::Goldilocks};
use proofmill_run::parallel;
use std::array;

/// BLAKE3 of 64 bytes again and again: `digest' = BLAKE3(digest || entry)`, as a log with entries of 32 bytes is extended.
///
/// **Statement.** The prover knows `rows - 1` entries that lead from the first public digest to the second.
///
/// **Public values.** Both digests, as eight little-endian words of 32 bits each.
///
/// **A row** is a compression with BLAKE3's initial value as its input, counter 0, length 64 and the flags of a message of one block
/// (`CHUNK_START`, `CHUNK_END`, `ROOT`). The next row's digest is its output. The last row has the second public digest; its compression
/// has no meaning, because constraints between rows hold in all rows but the last. There are 8032 columns and 8284 constraints of degree 3
/// at most, for any number of rows.
///
/// | columns | |
/// |---:|---|
/// | 512 | the bits of the message: digest and entry |
/// | 128 | the bits of the words 8 to 11 after the last round |
/// | 7 · 8 · 2 · 66 | for each half of a quarter round: the new a and c as words, the new d and b as bits |
///
/// Why this is enough. The words b and d are bits from constants or from columns that must be 0 or 1. In a half of a quarter round,
/// * a' is the word of the 32 bits `d ^ (d' <<< r)`, so that it is below 2^32 and d' is `(d ^ a') >>> r`. Likewise c' from b and b'.
/// * `a + b + m - a'` is 0, 1 or 2 times 2^32, and `c + d' - c'` is 0 or 1 times 2^32. As all words are below 2^32 and p is above 2^63,
///   these are equations of integers: a' and c' are the sums modulo 2^32.
/// * The words m of the message have 32 bits in every row. So the public values are words, too.
///
/// The first half of the next digest is `a ^ c`, where a is a word and the bits of c are committed to. The other half is `b ^ d`.
///
/// Plonky3's `p3-blake3-air` also has a and c as words and b and d as bits. It has 9168 columns: its words are halves of 16 bits, because
/// it is for smaller fields too, and all inputs of the compression are columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blake3;

const BITS: usize = 32;
const WORDS: usize = 8;

const LAST_C: usize = 2 * WORDS * BITS;
const STEPS: usize = LAST_C + 4 * BITS;
/// The number of columns of a half of a quarter round: a, c, and the bits of d and b.
const STEP: usize = 2 + 2 * BITS;
const ROUNDS: usize = 7;
const COLUMNS: usize = STEPS + ROUNDS * 16 * STEP;

/// The first 32 bits of the fractional parts of the square roots of the first primes, as SHA-256 has them.
const INITIAL: [u32; WORDS] = {
    let (primes, mut words, mut i) = ([2, 3, 5, 7, 11, 13, 17, 19_u128], [0; WORDS], 0);
    while i < WORDS {
        words[i] = (primes[i] << 64).isqrt() as u32;
        i += 1;
    }
    words
};

/// The words 12 to 15 before the first round: a counter of two words, the length of the block, and the flags `CHUNK_START`, `CHUNK_END`
/// and `ROOT`.
const LAST_WORDS: [u32; 4] = [0, 0, 64, 1 | 2 | 8];

/// The message words of a round, as indices of the message words of the round before.
const SCHEDULE: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/// Half of a quarter round: `a += b + m; d = (d ^ a) >>> r; c += d; b = (b ^ c) >>> s`.
#[derive(Clone, Copy)]
struct Step {
    /// The indices of a, b, c and d in their rows of the state.
    lanes: [usize; 4],
    /// The index of the word of the message.
    message: usize,
    /// The rotations r and s.
    rotations: [usize; 2],
    /// The first column.
    column: usize,
}

/// All halves of quarter rounds in their order.
fn steps() -> impl Iterator<Item = Step> {
    let mut order: [usize; 16] = array::from_fn(|i| i);
    (0..ROUNDS).flat_map(move |round| {
        let messages = order;
        order = array::from_fn(|i| messages[SCHEDULE[i]]);
        (0..16).map(move |step| {
            let (quarter, diagonal) = (step / 2 % 4, step / 8);
            Step {
                lanes: array::from_fn(|lane| (quarter + diagonal * lane) % 4),
                message: messages[step],
                rotations: if step % 2 == 0 { [16, 12] } else { [8, 7] },
                column: STEPS + (16 * round + step) * STEP,
            }
        })
    })
}

/// Compresses a message to a digest. `visit` gets each step with its new a, b, c and d.
fn compress(message: &[u32; 16], mut visit: impl FnMut(Step, [u32; 4])) -> ([u32; WORDS], [u32; 4]) {
    let [mut a, mut b] =
        [[INITIAL[0], INITIAL[1], INITIAL[2], INITIAL[3]], [INITIAL[4], INITIAL[5], INITIAL[6], INITIAL[7]]];
    let [mut c, mut d] = [a, LAST_WORDS];
    for step in steps() {
        let [i, j, k, l] = step.lanes;
        a[i] = a[i].wrapping_add(b[j]).wrapping_add(message[step.message]);
        d[l] = (d[l] ^ a[i]).rotate_right(step.rotations[0] as u32);
        c[k] = c[k].wrapping_add(d[l]);
        b[j] = (b[j] ^ c[k]).rotate_right(step.rotations[1] as u32);
        visit(step, [a[i], b[j], c[k], d[l]]);
    }
    (array::from_fn(|i| if i < 4 { a[i] ^ c[i] } else { b[i - 4] ^ d[i - 4] }), c)
}

fn words(bytes: &[u8; 32]) -> [u32; WORDS] {
    array::from_fn(|i| u32::from_le_bytes(array::from_fn(|byte| bytes[4 * i + byte])))
}

fn message(digest: &[u32; WORDS], entry: &[u32; WORDS]) -> [u32; 16] {
    array::from_fn(|i| if i < WORDS { digest[i] } else { entry[i - WORDS] })
}

impl Blake3 {
    /// The digests from the first one on, each the digest of the one before with an entry. There is one row more than there are entries.
    ///
    /// # Panics
    /// If one more than the number of entries is not a power of two.
    pub fn trace(&self, first: &[u8; 32], entries: &[[u8; 32]]) -> Execution {
        let rows = entries.len() + 1;
        assert!(rows.is_power_of_two(), "a power of two of rows, not {rows}");
        let mut messages = Vec::with_capacity(rows);
        let mut digest = words(first);
        for entry in entries {
            messages.push(message(&digest, &words(entry)));
            digest = compress(&messages[messages.len() - 1], |_, _| ()).0;
        }
        messages.push(message(&digest, &[0; WORDS]));
        let mut trace = vec![Goldilocks::ZERO; rows * COLUMNS];
        parallel::for_each(trace.chunks_exact_mut(COLUMNS).zip(&messages), |(row, message)| {
            fill(message, row)
        });
        let public_values = words(first).into_iter().chain(digest).map(Goldilocks::from).collect();
        Execution { trace, public_values }
    }
}

fn fill(message: &[u32; 16], row: &mut [Goldilocks]) {
    for (bits, word) in row[..LAST_C].as_chunks_mut::<BITS>().0.iter_mut().zip(message) {
        write((*word).into(), bits);
    }
    let (_, last_c) = compress(message, |step, [a, b, c, d]| {
        let columns = &mut row[step.column..][..STEP];
        columns[0] = Goldilocks::from(a);
        columns[1] = Goldilocks::from(c);
        write(d.into(), &mut columns[2..][..BITS]);
        write(b.into(), &mut columns[2 + BITS..]);
    });
    for (bits, word) in row[LAST_C..STEPS].as_chunks_mut::<BITS>().0.iter_mut().zip(last_c) {
        write(word.into(), bits);
    }
}

/// The bits of a word.
type Bits = [Expression; BITS];

fn constant_bits(word: u32) -> Bits {
    array::from_fn(|i| constant((word >> i & 1).into()))
}

/// Columns that must be bits.
fn bits(row: Row, first: usize) -> Bits {
    let bits = columns(row, first);
    bits.into_iter().for_each(must_be_bit);
    bits
}

/// The word whose exclusive or with `old`, rotated right, is `new`.
fn added(old: &Bits, new: &Bits, rotation: usize) -> Expression {
    word((0..BITS).map(|i| xor(old[i], new[(i + BITS - rotation) % BITS])))
}

/// Demands that a difference is 0 to `most` times 2^32.
fn must_be_carry(difference: Expression, most: u64) {
    (0..=most).map(|carry| difference - constant(carry << BITS)).product::<Expression>().must_vanish();
}

impl Air for Blake3 {
    fn columns(&self) -> usize {
        COLUMNS
    }

    fn public_values(&self) -> usize {
        2 * WORDS
    }

    fn constrain(&self, row: Row) {
        let message: [Expression; 16] = array::from_fn(|i| word(bits(row, i * BITS).into_iter()));
        let mut a: [Expression; 4] = array::from_fn(|i| constant(INITIAL[i].into()));
        let mut b: [Bits; 4] = array::from_fn(|i| constant_bits(INITIAL[4 + i]));
        let (mut c, mut d) = (a, LAST_WORDS.map(constant_bits));
        for step in steps() {
            let [i, j, k, l] = step.lanes;
            let [new_a, new_c] = columns(row, step.column);
            let [new_d, new_b] = [bits(row, step.column + 2), bits(row, step.column + 2 + BITS)];
            must_be_carry(a[i] + word(b[j].into_iter()) + message[step.message] - new_a, 2);
            (new_a - added(&d[l], &new_d, step.rotations[0])).must_vanish();
            must_be_carry(c[k] + word(new_d.into_iter()) - new_c, 1);
            (new_c - added(&b[j], &new_b, step.rotations[1])).must_vanish();
            (a[i], b[j], c[k], d[l]) = (new_a, new_b, new_c, new_d);
        }
        for i in 0..4 {
            let last_c = bits(row, LAST_C + i * BITS);
            (c[i] - word(last_c.into_iter())).must_vanish();
            let next: [Bits; 2] = [i, 4 + i].map(|word| array::from_fn(|bit| row.next(word * BITS + bit)));
            let before = word((0..BITS).map(|bit| xor(next[0][bit], last_c[bit])));
            (row.is_transition() * (a[i] - before)).must_vanish();
            let other = word((0..BITS).map(|bit| xor(b[i][bit], d[i][bit])));
            (row.is_transition() * (word(next[1].into_iter()) - other)).must_vanish();
        }
        for i in 0..WORDS {
            (row.is_first() * (message[i] - row.public_value(i))).must_vanish();
            (row.is_last() * (message[i] - row.public_value(WORDS + i))).must_vanish();
        }
    }
}
