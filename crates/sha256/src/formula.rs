//! The compression function of FIPS 180-4, section 6.2.2, written once for a word of one message and for vectors that hold the
//! same word of several messages.
//!
//! `maj` is `b ^ ((a ^ b) & (b ^ c))`: `b ^ c` is `a ^ b` of the previous round, and the compiler reuses it. The schedule is a
//! ring of 16 words, each replaced as soon as its round is over.

use crate::constants::{PADDING_OF_64, ROUND_CONSTANTS};

/// A 32-bit word of one message per lane.
pub(crate) trait MessageWord: Copy {
    /// Whether instructions mostly wait for the result of the previous one, so that the order of additions matters: the operand
    /// that is known last is added last, so that only one addition waits for it.
    const IS_ONE_CHAIN: bool = false;

    /// Proof that the CPU has the instructions of this type.
    type Token: Copy;

    /// The token that the words hold.
    fn token(self) -> Self::Token;

    /// `word` in all lanes.
    fn splat(token: Self::Token, word: u32) -> Self;

    /// Sum modulo 2^32.
    fn add(self, other: Self) -> Self;

    /// [`Self::add`] where `last` is known last: the compiler must not reorder the sum.
    #[inline(always)]
    fn add_last(self, last: Self) -> Self {
        self.add(last)
    }

    /// Rotation by 1 to 31 bits, a constant after inlining.
    fn rotate_right(self, bits: u32) -> Self;

    /// Logical shift by 1 to 31 bits, a constant after inlining.
    fn shift_right(self, bits: u32) -> Self;

    /// Exclusive or.
    fn xor(self, other: Self) -> Self;

    /// And.
    fn and(self, other: Self) -> Self;

    /// The exclusive or of the three words.
    #[inline(always)]
    fn parity(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }

    /// Bits of `f` where `self` has ones, of `g` where it has zeros.
    #[inline(always)]
    fn choose(self, f: Self, g: Self) -> Self {
        g.xor(self.and(f.xor(g)))
    }

    /// Bits that are set in two or three of the words.
    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        b.xor(self.xor(b).and(b.xor(c)))
    }
}

impl MessageWord for u32 {
    type Token = ();

    #[inline(always)]
    fn token(self) {}

    #[inline(always)]
    fn splat((): (), word: u32) -> Self {
        word
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn rotate_right(self, bits: u32) -> Self {
        self.rotate_right(bits)
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        self >> bits
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
}

/// Sigma0 (large) of section 4.1.2.
#[inline(always)]
fn big_sigma0<W: MessageWord>(x: W) -> W {
    x.rotate_right(2).parity(x.rotate_right(13), x.rotate_right(22))
}

/// Sigma1 (large).
#[inline(always)]
fn big_sigma1<W: MessageWord>(x: W) -> W {
    x.rotate_right(6).parity(x.rotate_right(11), x.rotate_right(25))
}

/// sigma0 (small).
#[inline(always)]
fn small_sigma0<W: MessageWord>(x: W) -> W {
    x.rotate_right(7).parity(x.rotate_right(18), x.shift_right(3))
}

/// sigma1 (small).
#[inline(always)]
fn small_sigma1<W: MessageWord>(x: W) -> W {
    x.rotate_right(17).parity(x.rotate_right(19), x.shift_right(10))
}

/// One round: `h` becomes the new `a`, `d` the new `e`; the caller renames the others.
///
/// With [`MessageWord::IS_ONE_CHAIN`], the new `e` is not `d + t1` but a separate sum, so that only one addition follows Sigma1.
#[inline(always)]
fn round<W: MessageWord>([a, b, c]: [W; 3], d: &mut W, [e, f, g]: [W; 3], h: &mut W, w_and_k: W) {
    let known = h.add(w_and_k);
    let chosen = e.choose(f, g);
    let sigma1 = big_sigma1(e);
    if W::IS_ONE_CHAIN {
        *d = d.add(known).add_last(chosen).add_last(sigma1);
        *h = known.add_last(chosen).add_last(sigma1).add(a.majority(b, c)).add_last(big_sigma0(a));
    } else {
        let t1 = known.add(chosen).add(sigma1);
        *d = d.add(t1);
        *h = t1.add(a.majority(b, c)).add(big_sigma0(a));
    }
}

/// Sixteen rounds; `w_and_k(i)` is the sum of the schedule word and the constant of round i, and is called in order.
#[inline(always)]
pub(crate) fn sixteen_rounds<W: MessageWord>(state: &mut [W; 8], mut w_and_k: impl FnMut(usize) -> W) {
    eight_rounds(state, 0, &mut w_and_k);
    eight_rounds(state, 8, &mut w_and_k);
}

#[inline(always)]
fn eight_rounds<W: MessageWord>(state: &mut [W; 8], i: usize, w_and_k: &mut impl FnMut(usize) -> W) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    round([a, b, c], &mut d, [e, f, g], &mut h, w_and_k(i));
    round([h, a, b], &mut c, [d, e, f], &mut g, w_and_k(i + 1));
    round([g, h, a], &mut b, [c, d, e], &mut f, w_and_k(i + 2));
    round([f, g, h], &mut a, [b, c, d], &mut e, w_and_k(i + 3));
    round([e, f, g], &mut h, [a, b, c], &mut d, w_and_k(i + 4));
    round([d, e, f], &mut g, [h, a, b], &mut c, w_and_k(i + 5));
    round([c, d, e], &mut f, [g, h, a], &mut b, w_and_k(i + 6));
    round([b, c, d], &mut e, [f, g, h], &mut a, w_and_k(i + 7));
    *state = [a, b, c, d, e, f, g, h];
}

/// The state after a block of 16 words, from the state before it.
#[inline(always)]
pub(crate) fn compress<W: MessageWord>(before: [W; 8], mut w: [W; 16]) -> [W; 8] {
    let mut state = before;
    let token = before[0].token();
    let [first, others @ ..] = &ROUND_CONSTANTS;
    sixteen_rounds(
        &mut state,
        #[inline(always)]
        |i| w[i].add(W::splat(token, first[i])),
    );
    for constants in others {
        sixteen_rounds(
            &mut state,
            #[inline(always)]
            |i| {
                let sum = w[i].add(small_sigma0(w[(i + 1) % 16])).add(w[(i + 9) % 16]);
                w[i] = sum.add(small_sigma1(w[(i + 14) % 16]));
                w[i].add(W::splat(token, constants[i]))
            },
        );
    }
    sum(before, state)
}

/// The state after the padding block of a message of 64 bytes.
#[inline(always)]
pub(crate) fn compress_padding_of_64<W: MessageWord>(before: [W; 8]) -> [W; 8] {
    let mut state = before;
    let token = before[0].token();
    for sums in &PADDING_OF_64 {
        sixteen_rounds(
            &mut state,
            #[inline(always)]
            |i| W::splat(token, sums[i]),
        );
    }
    sum(before, state)
}

#[inline(always)]
fn sum<W: MessageWord>(mut before: [W; 8], after: [W; 8]) -> [W; 8] {
    for i in 0..8 {
        before[i] = before[i].add(after[i]);
    }
    before
}
