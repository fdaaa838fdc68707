//! Many messages of one length, each in a lane of vectors.
//!
//! A group is as many messages as there are lanes. One that lacks messages repeats its last, and takes as long as a full
//! one.

use crate::{
    constants::INITIAL,
    formula::{Word, compress, compress_padding_of_64},
    padding::Tail,
};

/// The most messages side by side.
const MOST: usize = 32;

/// Vectors of words of several messages.
pub(crate) trait Lanes: Word {
    /// Messages side by side, at most [`MOST`].
    const COUNT: usize;

    /// Word i of block j, from big-endian bytes, in lane j of vector i; `block` is asked for 0 to `COUNT - 1`.
    fn load<'a>(token: Self::Token, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16];

    /// The inverse for eight words: lane j becomes digest j.
    ///
    /// # Panics
    /// If there are not `COUNT` digests.
    fn store(state: [Self; 8], digests: &mut [[u8; 32]]);
}

/// Digests of messages of 64 bytes.
#[inline(always)]
pub(crate) fn pairs<L: Lanes>(token: L::Token, pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
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

/// Digests of messages of `length` bytes, one behind the other.
#[inline(always)]
pub(crate) fn rows<L: Lanes>(token: L::Token, rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
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
fn initial<L: Lanes>(token: L::Token) -> [L; 8] {
    let mut state = [L::splat(token, 0); 8];
    for i in 0..8 {
        state[i] = L::splat(token, INITIAL[i]);
    }
    state
}

/// Digests that begin with a cache line. Where such lie on the stack the compiler begins its frame with one too; without,
/// vectors that it puts there straddle two lines.
#[repr(align(64))]
struct Aligned([[u8; 32]; MOST]);

/// The first digests of a group.
#[inline(always)]
fn store_some<L: Lanes>(state: [L; 8], digests: &mut [[u8; 32]]) {
    if digests.len() == L::COUNT {
        L::store(state, digests);
    } else {
        let mut all = Aligned([[0; 32]; MOST]);
        L::store(state, &mut all.0[..L::COUNT]);
        digests.copy_from_slice(&all.0[..digests.len()]);
    }
}
