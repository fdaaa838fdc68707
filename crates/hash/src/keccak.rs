//! Keccak (FIPS 202, with the padding of the EVM), and trees of it as Plonky3 makes them.
//!
//! A state is 25 words, word `x + 5 y` at column x and row y. The permutation is written once over vectors: as many states side
//! by side as a level has lanes.
//!
//! Time depends on lengths, never on contents.

use crate::{DIGEST, Digest, TreeHash};
use proofmill_cpu::{Level, MAX_LANES, Portable};
use proofmill_field::{
    dispatch_goldilocks,
    goldilocks::{Bitwise, GoldilocksEngine, U64s},
};
use std::ops::Range;

/// The words of a state.
pub const KECCAK_WIDTH: usize = 25;

const ROUNDS: usize = 24;

/// The constants of the rounds of Keccak-f[1600]: bit `2^j - 1` of round i is output `7 i + j` of a register of eight bits with the feedback
/// `x^8 + x^6 + x^5 + x^4 + 1` (FIPS 202, 3.2.5).
pub const KECCAK_ROUND_CONSTANTS: [u64; ROUNDS] = {
    let (mut constants, mut register, mut i) = ([0; ROUNDS], 1_u32, 0);
    while i < ROUNDS {
        let mut j = 0;
        while j < 7 {
            constants[i] |= ((register & 1) as u64) << ((1 << j) - 1);
            register = (register << 1) ^ if register & 0x80 == 0 { 0 } else { 0x171 };
            j += 1;
        }
        i += 1;
    }
    constants
};

/// The number of bits by which each word of Keccak's state is rotated, by its position before the words move.
pub const KECCAK_ROTATIONS: [i32; KECCAK_WIDTH] =
    [0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14];

/// Permutes as many states as vectors have lanes: `state[x + 5 y]` holds that word of every state.
#[inline(always)]
pub fn keccak_f<W: Bitwise>(state: &mut [W; KECCAK_WIDTH]) {
    // Two rounds an iteration, so that states alternate between two places instead of being copied.
    for constants in KECCAK_ROUND_CONSTANTS.as_chunks::<2>().0 {
        *state = round(&round(state, constants[0]), constants[1]);
    }
}

/// Permutes any number n of states: `states[n (x + 5 y) + k]` is that word of state k.
///
/// # Panics
/// If the number of words is not a multiple of [`KECCAK_WIDTH`].
pub fn keccak_f_states(level: Level, states: &mut [u64]) {
    assert!(states.len().is_multiple_of(KECCAK_WIDTH), "whole states");
    if states.len() == KECCAK_WIDTH {
        return permute_states(Portable, states);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(engine) = sha3_instructions(level) {
        return permute_states(engine, states);
    }
    dispatch_goldilocks!(level, engine => permute_states(engine, states));
}

fn permute_states<E: GoldilocksEngine<U64s: Bitwise>>(engine: E, states: &mut [u64]) {
    let (lanes, count) = (E::U64s::WIDTH, states.len() / KECCAK_WIDTH);
    engine.run(
        #[inline(always)]
        || {
            let mut words = [0; MAX_LANES];
            for first in (0..count).step_by(lanes) {
                let len = lanes.min(count - first);
                let mut state = [E::U64s::splat(engine, 0); KECCAK_WIDTH];
                for i in 0..KECCAK_WIDTH {
                    words[..len].copy_from_slice(&states[i * count + first..][..len]);
                    state[i] = E::U64s::load(engine, &words);
                }
                keccak_f(&mut state);
                for i in 0..KECCAK_WIDTH {
                    state[i].store(&mut words);
                    states[i * count + first..][..len].copy_from_slice(&words[..len]);
                }
            }
        },
    );
}

/// Arm's instructions for SHA-3, if the CPU has them; the portable level goes without.
#[cfg(target_arch = "aarch64")]
fn sha3_instructions(level: Level) -> Option<proofmill_cpu::ArmSha3> {
    if matches!(level, Level::Portable(_)) { None } else { proofmill_cpu::ArmSha3::detect() }
}

#[inline(always)]
fn round<W: Bitwise>(a: &[W; KECCAK_WIDTH], constant: u64) -> [W; KECCAK_WIDTH] {
    // Theta: the parities of columns, and what they add to each column.
    let mut parities = [a[0]; 5];
    for x in 0..5 {
        parities[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    }
    let mut sums = parities;
    for x in 0..5 {
        sums[x] = parities[(x + 4) % 5] ^ parities[(x + 1) % 5].rotate::<1, 63>();
    }
    /// A word of the moved state, from its position before.
    macro_rules! moved {
        (0) => {
            a[0] ^ sums[0]
        };
        ($from:tt) => {
            (a[$from] ^ sums[$from % 5])
                .rotate::<{ KECCAK_ROTATIONS[$from] }, { 64 - KECCAK_ROTATIONS[$from] }>()
        };
    }
    // Rho and pi by `moved`; chi on each row as soon as its five words are there.
    let mut next = *a;
    macro_rules! row {
        ($y:tt: $($from:tt)*) => {
            let row = [$(moved!($from)),*];
            for x in 0..5 {
                next[5 * $y + x] = row[x] ^ row[(x + 2) % 5].without(row[(x + 1) % 5]);
            }
        };
    }
    row!(0: 0 6 12 18 24);
    row!(1: 3 9 10 16 22);
    row!(2: 1 7 13 19 20);
    row!(3: 4 5 11 17 23);
    row!(4: 2 8 14 15 21);
    // Iota.
    next[0] = next[0] ^ W::splat(a[0].token(), constant);
    next
}

/// Keccak-256 as in the EVM (not SHA3-256, whose padding differs), incremental.
#[derive(Clone, Debug, Default)]
pub struct Keccak256 {
    state: [u64; KECCAK_WIDTH],
    /// Bytes absorbed into the current block.
    len: usize,
}

/// The bytes of a block of [`Keccak256`].
const BLOCK: usize = 136;

impl Keccak256 {
    /// The digest of a message.
    pub fn digest(message: &[u8]) -> [u8; 32] {
        let mut hasher = Self::default();
        hasher.update(message);
        hasher.finalize_reset()
    }

    /// Appends bytes to the message.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while let [byte, rest @ ..] = bytes {
            // Whole words where the block is aligned, else single bytes.
            let (word, len) = match bytes.first_chunk() {
                Some(word) if self.len.is_multiple_of(8) => (u64::from_le_bytes(*word), 8),
                _ => (u64::from(*byte) << (8 * (self.len % 8)), 1),
            };
            self.state[self.len / 8] ^= word;
            self.len += len;
            bytes = &rest[len - 1..];
            if self.len == BLOCK {
                self.permute();
            }
        }
    }

    /// The digest; the message is then empty again.
    pub fn finalize_reset(&mut self) -> [u8; 32] {
        // The padding: a 1 after the message, and a 1 as the block's last bit.
        self.state[self.len / 8] ^= 1 << (8 * (self.len % 8));
        self.state[BLOCK / 8 - 1] ^= 1 << 63;
        self.permute();
        let words = std::mem::take(self).state;
        Digest([words[0], words[1], words[2], words[3]]).to_bytes()
    }

    fn permute(&mut self) {
        permute_states(Portable, &mut self.state);
        self.len = 0;
    }
}

/// Trees of Keccak-f[1600] by Plonky3's `PaddingFreeSponge<KeccakF, 25, 17, 4>`: each block of a row overwrites as many of the
/// state's first words as it has, a digest is the first four words, and a node is the hash of its children's eight words.
///
/// The end of a row is not marked: a tree is safe because it fixes the length of its rows, as with [`Sponge`](crate::Sponge).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keccak;

/// The words that a block of a row has at most.
const RATE: usize = 17;

impl TreeHash for Keccak {
    fn name(&self) -> &'static str {
        "keccak"
    }

    fn hash_rows(&self, level: Level, rows: &[u64], columns: usize, digests: &mut [Digest]) {
        assert_eq!(rows.len(), columns * digests.len(), "as many words as rows times columns");
        hash(level, Words::Rows { rows, columns }, digests);
    }

    fn hash_columns(&self, level: Level, columns: &[&[u64]], digests: &mut [Digest]) {
        let whole = columns.iter().all(|column| column.len() == digests.len());
        assert!(whole, "one word a digest in each column");
        hash(level, Words::Columns(columns), digests);
    }

    fn hash_pairs(&self, level: Level, children: &[Digest], parents: &mut [Digest]) {
        assert_eq!(children.len(), 2 * parents.len(), "two children a parent");
        hash(level, Words::Rows { rows: Digest::as_words(children), columns: 2 * DIGEST }, parents);
    }
}

/// The words of rows, one row for each digest.
#[derive(Clone, Copy)]
enum Words<'a> {
    Rows { rows: &'a [u64], columns: usize },
    Columns(&'a [&'a [u64]]),
}

impl Words<'_> {
    /// The number of words of a row.
    #[inline(always)]
    fn columns(&self) -> usize {
        match self {
            Self::Rows { columns, .. } => *columns,
            Self::Columns(columns) => columns.len(),
        }
    }

    /// Writes words `columns` of the rows `first..first + rows` to the tile: word i of all rows to `tile[i]`.
    #[inline(always)]
    fn gather<W: U64s>(
        &self,
        token: W::Token,
        first: usize,
        rows: usize,
        columns: Range<usize>,
        tile: &mut [[u64; MAX_LANES]; RATE],
    ) {
        match self {
            Self::Columns(all) => {
                for (lanes, column) in tile.iter_mut().zip(&all[columns]) {
                    lanes[..rows].copy_from_slice(&column[first..][..rows]);
                }
            }
            Self::Rows { rows: words, columns: stride } => {
                let words = &words[first * stride..][..rows * stride];
                let mut at = 0;
                while rows == W::WIDTH && at + W::WIDTH <= columns.len() {
                    let (from, to) = (words[columns.start + at..].as_ptr(), tile[at..].as_mut_ptr());
                    // SAFETY: the square ends at a word of the last row, and at a row of the tile, both in bounds.
                    unsafe {
                        W::transpose(token, |row| from.add(row * stride), |column| to.add(column).cast())
                    };
                    at += W::WIDTH;
                }
                for column in at..columns.len() {
                    for row in 0..rows {
                        tile[column][row] = words[row * stride + columns.start + column];
                    }
                }
            }
        }
    }
}

/// Hashes rows of words; a single one alone, which is faster than in a vector.
fn hash(level: Level, words: Words<'_>, digests: &mut [Digest]) {
    if digests.len() == 1 {
        return hash_on(Portable, words, digests);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(engine) = sha3_instructions(level) {
        return hash_on(engine, words, digests);
    }
    dispatch_goldilocks!(level, engine => hash_on(engine, words, digests));
}

fn hash_on<E: GoldilocksEngine<U64s: Bitwise>>(engine: E, words: Words<'_>, digests: &mut [Digest]) {
    let lanes = E::U64s::WIDTH;
    engine.run(
        #[inline(always)]
        || {
            let mut tile = [[0; MAX_LANES]; RATE];
            for (block, digests) in digests.chunks_mut(lanes).enumerate() {
                let mut state = [E::U64s::splat(engine, 0); KECCAK_WIDTH];
                for start in (0..words.columns()).step_by(RATE) {
                    let columns = start..words.columns().min(start + RATE);
                    let count = columns.len();
                    words.gather::<E::U64s>(engine, block * lanes, digests.len(), columns, &mut tile);
                    for i in 0..count {
                        state[i] = E::U64s::load(engine, &tile[i]);
                    }
                    keccak_f(&mut state);
                }
                for i in 0..DIGEST {
                    let mut words = [0; MAX_LANES];
                    state[i].store(&mut words);
                    for lane in 0..digests.len() {
                        digests[lane].0[i] = words[lane];
                    }
                }
            }
        },
    );
}
