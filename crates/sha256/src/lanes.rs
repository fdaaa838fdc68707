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
    fn load<'a>(block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16];

    /// The inverse for eight words: lane j becomes digest j.
    ///
    /// # Panics
    /// If there are not `COUNT` digests.
    fn store(state: [Self; 8], digests: &mut [[u8; 32]]);
}

/// Two vectors side by side: while an instruction of one waits for the one before, one of the other begins.
#[derive(Clone, Copy)]
pub(crate) struct Two<L>([L; 2]);

impl<L: Lanes> Word for Two<L> {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        Self([L::splat(word); 2])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self([self.0[0].add(other.0[0]), self.0[1].add(other.0[1])])
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        Self([self.0[0].rotate_right(bits), self.0[1].rotate_right(bits)])
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self([self.0[0].shift_right(bits), self.0[1].shift_right(bits)])
    }

    #[inline(always)]
    fn parity(self, b: Self, c: Self) -> Self {
        Self([self.0[0].parity(b.0[0], c.0[0]), self.0[1].parity(b.0[1], c.0[1])])
    }

    #[inline(always)]
    fn choose(self, f: Self, g: Self) -> Self {
        Self([self.0[0].choose(f.0[0], g.0[0]), self.0[1].choose(f.0[1], g.0[1])])
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        Self([self.0[0].majority(b.0[0], c.0[0]), self.0[1].majority(b.0[1], c.0[1])])
    }
}

impl<L: Lanes> Lanes for Two<L> {
    const COUNT: usize = 2 * L::COUNT;

    #[inline(always)]
    fn load<'a>(block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        let first = L::load(&block);
        let second = L::load(
            #[inline(always)]
            |i| block(L::COUNT + i),
        );
        let mut words = [Self([first[0]; 2]); 16];
        for i in 0..16 {
            words[i] = Self([first[i], second[i]]);
        }
        words
    }

    #[inline(always)]
    fn store(state: [Self; 8], digests: &mut [[u8; 32]]) {
        let (mut first, mut second) = ([state[0].0[0]; 8], [state[0].0[1]; 8]);
        for i in 0..8 {
            [first[i], second[i]] = state[i].0;
        }
        let (first_digests, second_digests) = digests.split_at_mut(L::COUNT);
        L::store(first, first_digests);
        L::store(second, second_digests);
    }
}

/// Digests of messages of 64 bytes.
#[inline(always)]
pub(crate) fn pairs<L: Lanes>(pairs: &[[u8; 64]], digests: &mut [[u8; 32]]) {
    for (pairs, digests) in pairs.chunks(L::COUNT).zip(digests.chunks_mut(L::COUNT)) {
        let last = pairs.len() - 1;
        let words = L::load(
            #[inline(always)]
            |i| &pairs[i.min(last)],
        );
        let state = compress(initial(), words);
        store_some(compress_padding_of_64::<L>(state), digests);
    }
}

/// Digests of messages of `length` bytes, one behind the other.
#[inline(always)]
pub(crate) fn rows<L: Lanes>(rows: &[u8], length: usize, digests: &mut [[u8; 32]]) {
    let whole = length / 64;
    for (group, digests) in digests.chunks_mut(L::COUNT).enumerate() {
        let last = digests.len() - 1;
        let row = |i: usize| &rows[(group * L::COUNT + i.min(last)) * length..][..length];
        let mut state = initial::<L>();
        for block in 0..whole {
            let words = L::load(
                #[inline(always)]
                |i| row(i)[64 * block..].first_chunk().expect("a whole block"),
            );
            state = compress(state, words);
        }
        let tails: [Tail; MOST] = std::array::from_fn(|i| Tail::new(&row(i)[64 * whole..], length as u64));
        for block in 0..tails[0].blocks().len() {
            let words = L::load(
                #[inline(always)]
                |i| &tails[i].blocks()[block],
            );
            state = compress(state, words);
        }
        store_some(state, digests);
    }
}

#[inline(always)]
fn initial<L: Lanes>() -> [L; 8] {
    let mut state = [L::splat(0); 8];
    for i in 0..8 {
        state[i] = L::splat(INITIAL[i]);
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
