//! Kernels for CPUs with SHA-256 instructions, which work on four words at a time on every architecture.
//!
//! One message is a chain of dependent instructions of several cycles each. So messages are hashed in pairs; if their number
//! is odd, the first three are hashed together.

use crate::{
    constants::{INITIAL, PADDING_OF_64, ROUND_CONSTANTS},
    padding::Tail,
};

/// The state of one message in vectors, with the instructions that act on it.
pub(crate) trait MessageState: Copy {
    /// Proof that the CPU has the instructions.
    type Token: Copy;

    /// Four words.
    type Four: Copy;

    /// The token that the state holds.
    fn token(self) -> Self::Token;

    /// Converts words a to h.
    fn of_words(token: Self::Token, words: &[u32; 8]) -> Self;

    /// Converts words a to h.
    fn to_words(self) -> [u32; 8];

    /// The digest: words a to h as big-endian bytes.
    fn to_bytes(self) -> [u8; 32];

    /// Word-wise sum modulo 2^32.
    fn add(self, other: Self) -> Self;

    /// Four rounds; `w_and_k` are the sums of schedule words and constants.
    fn four_rounds(&mut self, w_and_k: Self::Four);

    /// Prevents the compiler from using these words before the rounds issued so far.
    #[inline(always)]
    fn finish_before(&mut self, _words: &mut Self::Four) {}

    /// Four rounds of each state, all with the same sums of words and constants.
    #[inline(always)]
    fn four_rounds_of_all<const N: usize>(states: &mut [Self; N], w_and_k: Self::Four) {
        for i in 0..N {
            states[i].four_rounds(w_and_k);
        }
    }

    /// Loads words.
    fn load(token: Self::Token, words: &[u32; 4]) -> Self::Four;

    /// Loads big-endian words.
    fn load_bytes(token: Self::Token, bytes: &[u8; 16]) -> Self::Four;

    /// Word-wise sum modulo 2^32.
    fn sum(token: Self::Token, words: Self::Four, others: Self::Four) -> Self::Four;

    /// Words t to t + 3 of the schedule, from words t - 16 to t - 1.
    fn schedule(token: Self::Token, w: [Self::Four; 4]) -> Self::Four;
}

/// The state after these blocks.
#[inline(always)]
pub(crate) fn compress_blocks<S: MessageState>(token: S::Token, state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    let mut states = [S::of_words(token, state)];
    for block in blocks {
        states = compress::<S, 1, false>([block], states);
    }
    *state = states[0].to_words();
}

/// The digest of a message.
#[inline(always)]
pub(crate) fn digest<S: MessageState>(token: S::Token, message: &[u8]) -> [u8; 32] {
    if let Some(message) = message.as_array() {
        let mut digest = [0; 32];
        pair::<S>(token, message, &mut digest);
        return digest;
    }
    let (blocks, rest) = message.as_chunks();
    let mut states = [S::of_words(token, &INITIAL)];
    for block in blocks {
        states = compress::<S, 1, false>([block], states);
    }
    for block in Tail::new(rest, message.len() as u64).blocks() {
        states = compress::<S, 1, false>([block], states);
    }
    states[0].to_bytes()
}

/// Digests of messages of 64 bytes, two at a time; of an odd number, the first three together.
#[inline(always)]
pub(crate) fn pairs<S: MessageState>(token: S::Token, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    let odd = if pairs.len().is_multiple_of(2) { 0 } else { pairs.len().min(3) };
    let ((odd, even), (odd_digests, even_digests)) = (pairs.split_at(odd), digests.split_at_mut(odd));
    if let ([one], [digest]) = (odd, &mut *odd_digests) {
        pair::<S>(token, one, digest);
    }
    if let (Some(three), Some(digests)) = (odd.as_array::<3>(), odd_digests.as_mut_array()) {
        pairs_of::<S, 3>(token, three.each_ref(), digests);
    }
    for (two, digests) in even.as_chunks::<2>().0.iter().zip(even_digests.as_chunks_mut().0) {
        pairs_of::<S, 2>(token, two.each_ref(), digests);
    }
}

/// The digest of a message of 64 bytes.
#[inline(always)]
pub(crate) fn pair<S: MessageState>(token: S::Token, pair: &[u8; 64], digest: &mut [u8; 32]) {
    pairs_of::<S, 1>(token, [pair], std::array::from_mut(digest));
}

/// Digests of N messages of 64 bytes, interleaved.
#[inline(always)]
fn pairs_of<S: MessageState, const N: usize>(
    token: S::Token,
    pairs: [&[u8; 64]; N],
    digests: &mut [[u8; 32]; N],
) {
    let states = compress_padding_of_64(compress::<S, N, true>(pairs, [S::of_words(token, &INITIAL); N]));
    for i in 0..N {
        digests[i] = states[i].to_bytes();
    }
}

/// The states after one block each. With `IN_ORDER` the compiler keeps each step of the schedule next to its rounds instead of
/// far before them: 4% less time for messages of 64 bytes, but 10% more for others (Zen 5).
#[inline(always)]
fn compress<S: MessageState, const N: usize, const IN_ORDER: bool>(
    blocks: [&[u8; 64]; N],
    before: [S; N],
) -> [S; N] {
    let mut states = before;
    let token = before[0].token();
    let mut w = [[S::load(token, &[0; 4]); 4]; N];
    for four in 0..4 {
        for i in 0..N {
            w[i][four] = S::load_bytes(token, &blocks[i].as_chunks().0[four]);
            states[i].four_rounds(S::sum(token, w[i][four], constants::<S>(token, four)));
        }
    }
    // Unrolled by a macro, so that every index into the ring is a constant.
    macro_rules! four_rounds {
        ($($four:literal)*) => { $(
            for i in 0..N {
                let ring = w[i];
                w[i][$four % 4] = S::schedule(token, [
                    ring[$four % 4], ring[($four + 1) % 4], ring[($four + 2) % 4], ring[($four + 3) % 4]
                ]);
                states[i].four_rounds(S::sum(token, w[i][$four % 4], constants::<S>(token, $four)));
                if IN_ORDER {
                    states[i].finish_before(&mut w[i][$four % 4]);
                }
            }
        )* };
    }
    four_rounds!(4 5 6 7 8 9 10 11 12 13 14 15);
    add(states, before)
}

/// The states after the padding block of messages of 64 bytes.
#[inline(always)]
fn compress_padding_of_64<S: MessageState, const N: usize>(before: [S; N]) -> [S; N] {
    let mut states = before;
    let token = before[0].token();
    for sums in PADDING_OF_64.as_flattened().as_chunks().0 {
        S::four_rounds_of_all(&mut states, S::load(token, sums));
    }
    add(states, before)
}

#[inline(always)]
fn add<S: MessageState, const N: usize>(mut states: [S; N], before: [S; N]) -> [S; N] {
    for i in 0..N {
        states[i] = states[i].add(before[i]);
    }
    states
}

/// The constants of four rounds.
#[inline(always)]
fn constants<S: MessageState>(token: S::Token, four: usize) -> S::Four {
    S::load(token, &ROUND_CONSTANTS.as_flattened().as_chunks().0[four])
}
