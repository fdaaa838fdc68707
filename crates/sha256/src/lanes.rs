//! Many messages of one length, each in a lane of vectors.
//!
//! A group is one message per lane. An incomplete group repeats its last message, and takes as long as a full one.

use crate::{
    constants::INITIAL,
    formula::{MessageWord, compress, compress_padding_of_64},
    padding::Tail,
};

/// The most lanes of any kernel.
const MOST: usize = 32;

/// A vector that holds the same word of several messages, one per lane.
pub(crate) trait MessageLanes: MessageWord {
    /// Lanes, at most [`MOST`].
    const COUNT: usize;

    /// Loads and transposes: lane j of vector i is word i, big-endian, of `block(j)`, for j from 0 to `COUNT - 1`.
    fn load<'a>(token: Self::Token, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16];

    /// The inverse for eight words: lane j of vector i becomes word i, big-endian, of digest j.
    ///
    /// # Panics
    /// If `digests.len()` is not `COUNT`.
    fn store(state: [Self; 8], digests: &mut [[u8; 32]]);
}

/// Digests of messages of 64 bytes.
#[inline(always)]
pub(crate) fn pairs<L: MessageLanes>(token: L::Token, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    for (pairs, digests) in pairs.chunks(L::COUNT).zip(digests.chunks_mut(L::COUNT)) {
        let last = pairs.len() - 1;
        let words = L::load(
            token,
            #[inline(always)]
            |i| &pairs[i.min(last)],
        );
        let state = compress(initial(token), words);
        store_some(compress_padding_of_64::<L>(state), digests);
    }
}

/// Digests of messages of `length` bytes, stored contiguously.
#[inline(always)]
pub(crate) fn rows<L: MessageLanes>(token: L::Token, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    let whole = length / 64;
    for (group, digests) in digests.chunks_mut(L::COUNT).enumerate() {
        let last = digests.len() - 1;
        let row = |i: usize| &rows[(group * L::COUNT + i.min(last)) * length..][..length];
        let mut state = initial::<L>(token);
        for block in 0..whole {
            let words = L::load(
                token,
                #[inline(always)]
                |i| row(i)[64 * block..].first_chunk().expect("a whole block"),
            );
            state = compress(state, words);
        }
        let tails: [Tail; MOST] = std::array::from_fn(|i| Tail::new(&row(i)[64 * whole..], length as u64));
        for block in 0..tails[0].blocks().len() {
            let words = L::load(
                token,
                #[inline(always)]
                |i| &tails[i].blocks()[block],
            );
            state = compress(state, words);
        }
        store_some(state, digests);
    }
}

#[inline(always)]
fn initial<L: MessageLanes>(token: L::Token) -> [L; 8] {
    let mut state = [L::splat(token, 0); 8];
    for i in 0..8 {
        state[i] = L::splat(token, INITIAL[i]);
    }
    state
}

/// Digests aligned to a cache line. As a local variable it makes the compiler align the stack frame; otherwise vectors spilled
/// to the stack straddle two lines.
#[repr(align(64))]
struct Aligned([[u8; 32]; MOST]);

/// Stores the digests of a group; of an incomplete one, the first.
#[inline(always)]
fn store_some<L: MessageLanes>(state: [L; 8], digests: &mut [[u8; 32]]) {
    if digests.len() == L::COUNT {
        L::store(state, digests);
    } else {
        let mut all = Aligned([[0; 32]; MOST]);
        L::store(state, &mut all.0[..L::COUNT]);
        digests.copy_from_slice(&all.0[..digests.len()]);
    }
}
