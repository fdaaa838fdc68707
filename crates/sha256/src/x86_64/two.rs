//! Twice as many messages as a vector has lanes.

use crate::{formula::MessageWord, lanes::MessageLanes};

/// Two interleaved vectors: while an instruction on one waits for its operands, one on the other can start.
#[derive(Clone, Copy)]
pub(super) struct Two<L>([L; 2]);

impl<L: MessageLanes> MessageWord for Two<L> {
    type Token = L::Token;

    #[inline(always)]
    fn token(self) -> L::Token {
        self.0[0].token()
    }

    #[inline(always)]
    fn splat(token: L::Token, word: u32) -> Self {
        Self([L::splat(token, word); 2])
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
    fn xor(self, other: Self) -> Self {
        Self([self.0[0].xor(other.0[0]), self.0[1].xor(other.0[1])])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self([self.0[0].and(other.0[0]), self.0[1].and(other.0[1])])
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

impl<L: MessageLanes> MessageLanes for Two<L> {
    const COUNT: usize = 2 * L::COUNT;

    #[inline(always)]
    fn load<'a>(token: L::Token, block: impl Fn(usize) -> &'a [u8; 64]) -> [Self; 16] {
        let first = L::load(token, &block);
        let second = L::load(
            token,
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
