//! Signed digits of scalars.
//!
//! Adding the constant with `2^(c-1)` in every window but the top one turns signed digits in
//! `-2^(c-1) .. 2^(c-1)` into plain bit fields. There are no carries between windows, so each window can be
//! read independently.

use proofmill_field::PrimeField;
use std::ops::Range;

/// The windows of scalars: `count` windows of `bits` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScalarWindows {
    bits: u32,
    count: u32,
}

impl ScalarWindows {
    /// The windows for `points` points and scalars of `scalar_bits` bits.
    pub(super) fn for_points(points: usize, scalar_bits: u32) -> Self {
        // Wider windows are fewer, but each has twice the buckets to reduce: take the least total.
        let cost = |bits: u32| {
            let buckets = (1u64 << (bits - 1)) as f64;
            f64::from(Self::count_for(bits, scalar_bits))
                * (points as f64 * POINT_COST + buckets * BUCKET_COST)
        };
        let bits = (2..=MAX_BITS).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(2);
        Self { bits, count: Self::count_for(bits, scalar_bits) }
    }

    /// Windows of `bits` bits, from 2 to 16.
    pub(super) fn of_bits(bits: u32, scalar_bits: u32) -> Self {
        debug_assert!((2..=MAX_BITS).contains(&bits));
        Self { bits, count: Self::count_for(bits, scalar_bits) }
    }

    /// The top window holds the remaining bits and the carry into them: at most `2^(bits - 1)`.
    fn count_for(bits: u32, scalar_bits: u32) -> u32 {
        (scalar_bits + 1).div_ceil(bits)
    }

    /// The bits of a window.
    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// The number of windows.
    pub(super) fn count(self) -> usize {
        self.count as usize
    }

    /// The largest absolute value of a digit.
    pub(super) fn largest(self) -> usize {
        1 << (self.bits - 1)
    }
}

/// Relative times, measured at 2^12 to 2^20 points by `proofmill bench run msm --level all`.
const POINT_COST: f64 = 1.4;
const BUCKET_COST: f64 = 2.6;
/// The field of a window is stored in 16 bits.
const MAX_BITS: u32 = 16;

/// The scalars whose fields are stored together, window by window; ranges of scalars are whole blocks.
pub(super) const BLOCK: usize = 1 << 9;

/// The digits of many scalars: 2 bytes per scalar and window.
pub(super) struct ScalarDigits {
    windows: ScalarWindows,
    /// For each block of scalars, for each window, the bit fields of the block's scalars.
    fields: Vec<u16>,
}

impl ScalarDigits {
    /// Space for the digits of `len` scalars.
    pub(super) fn new(windows: ScalarWindows, len: usize) -> Self {
        Self { windows, fields: vec![0; len.div_ceil(BLOCK) * BLOCK * windows.count()] }
    }

    /// Space for the digits of each [`BLOCK`] of scalars; all must be filled.
    pub(super) fn blocks_mut(&mut self) -> impl Iterator<Item = DigitsOfBlock<'_>> {
        let windows = self.windows;
        let blocks = self.fields.chunks_mut(BLOCK * windows.count());
        blocks.map(move |fields| DigitsOfBlock { windows, offset: windows.offset(), fields })
    }

    pub(super) fn windows(&self) -> ScalarWindows {
        self.windows
    }

    /// The digits of one window: runs of fields with the index of the first scalar, for a range of scalars
    /// that starts at a multiple of [`BLOCK`]. A digit is its field minus [`Self::zero`].
    pub(super) fn of_window(
        &self,
        window: usize,
        range: Range<usize>,
    ) -> impl Iterator<Item = (usize, &[u16])> + Clone {
        let blocks = self.fields.chunks(BLOCK * self.windows.count()).enumerate();
        let blocks = blocks.take(range.end.div_ceil(BLOCK)).skip(range.start / BLOCK);
        blocks.map(move |(block, fields)| {
            let start = block * BLOCK;
            (start, &fields[window * BLOCK..][..(range.end - start).min(BLOCK)])
        })
    }

    /// The field of a window for digit 0.
    pub(super) fn zero(&self, window: usize) -> u16 {
        if window + 1 == self.windows.count() { 0 } else { 1 << (self.windows.bits - 1) }
    }
}

/// The digits of up to [`BLOCK`] scalars.
pub(super) struct DigitsOfBlock<'a> {
    windows: ScalarWindows,
    offset: [u64; 4],
    fields: &'a mut [u16],
}

impl DigitsOfBlock<'_> {
    /// Writes the digits of the block's scalars.
    #[inline(always)]
    pub(super) fn cut<S: PrimeField>(&mut self, scalars: impl Iterator<Item = S>) {
        const { assert!(S::BITS <= 255, "scalars of at most 255 bits") };
        // Word by word, so that a window is one loop in vectors.
        // The fifth word stays zero: it is the one above, for windows that begin in the fourth.
        let mut words = [[0; BLOCK]; 5];
        for (i, scalar) in scalars.enumerate() {
            for (word, shifted) in words.iter_mut().zip(add(scalar.to_words().as_ref(), self.offset)) {
                word[i] = shifted;
            }
        }
        for (window, fields) in self.fields.chunks_exact_mut(BLOCK).enumerate() {
            let (word, shift) = self.windows.position(window);
            for ((field, low), high) in fields.iter_mut().zip(&words[word]).zip(&words[word + 1]) {
                *field = self.windows.field(*low, *high, shift);
            }
        }
    }
}

impl ScalarWindows {
    /// The digits of a scalar, lowest window first.
    #[inline(always)]
    pub(super) fn digits<S: PrimeField>(self, scalar: S, offset: [u64; 4]) -> impl Iterator<Item = i32> {
        let shifted = add(scalar.to_words().as_ref(), offset);
        (0..self.count()).map(move |window| {
            let zero = if window + 1 == self.count() { 0 } else { 1 << (self.bits - 1) };
            let (word, shift) = self.position(window);
            let high = shifted.get(word + 1).copied().unwrap_or(0);
            i32::from(self.field(shifted[word], high, shift)) - zero
        })
    }

    /// `2^(c-1)` in every window but the top one.
    pub(super) fn offset(self) -> [u64; 4] {
        let mut offset = [0u64; 4];
        for window in 0..self.count - 1 {
            let bit = window * self.bits + self.bits - 1;
            offset[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        offset
    }

    /// The word in which a window begins, and the bit.
    fn position(self, window: usize) -> (usize, u32) {
        let bit = window as u32 * self.bits;
        ((bit / 64) as usize, bit % 64)
    }

    /// The field that begins at bit `shift` of `low`.
    #[inline(always)]
    fn field(self, low: u64, high: u64, shift: u32) -> u16 {
        // Two shifts: with `shift` 0, a shift by 64 would be out of range.
        let field = (low >> shift) | (high << 1 << (63 - shift));
        (field & ((1 << self.bits) - 1)) as u16
    }
}

fn add(scalar: &[u64], offset: [u64; 4]) -> [u64; 4] {
    let mut sum = [0; 4];
    let mut carry = false;
    for ((sum, word), offset) in sum.iter_mut().zip(scalar).zip(offset) {
        let (partial, first) = word.overflowing_add(offset);
        let (total, second) = partial.overflowing_add(u64::from(carry));
        (*sum, carry) = (total, first | second);
    }
    debug_assert!(!carry);
    sum
}
