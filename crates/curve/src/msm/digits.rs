//! Signed digits of scalars.
//!
//! Adding the constant with `2^(c-1)` in every window but the top one turns signed digits in
//! `-2^(c-1) .. 2^(c-1)` into plain bit fields: no carry runs from window to window, and each window can be
//! read alone.

use proofmill_field::PrimeField;
use rayon::prelude::*;

/// How scalars are cut: `count` windows of `bits` bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    bits: u32,
    count: u32,
}

impl Windows {
    /// The cut for `points` points and scalars of `scalar_bits` bits.
    pub(super) fn for_points(points: usize, scalar_bits: u32) -> Self {
        let cost = |bits: u32| {
            let buckets = (1u64 << (bits - 1)) as f64;
            f64::from(Self::count_for(bits, scalar_bits))
                * (points as f64 * POINT_COST + buckets * BUCKET_COST)
        };
        let bits = (2..=MAX_BITS).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(2);
        Self { bits, count: Self::count_for(bits, scalar_bits) }
    }

    /// The top window takes what the bits and the carry into them need: at most `2^(bits - 1)`.
    fn count_for(bits: u32, scalar_bits: u32) -> u32 {
        (scalar_bits + 1).div_ceil(bits)
    }

    /// Bits of a window.
    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// How many windows.
    pub(super) fn count(self) -> usize {
        self.count as usize
    }

    /// The largest absolute value of a digit.
    pub(super) fn largest(self) -> usize {
        1 << (self.bits - 1)
    }
}

/// Relative times, measured at 2^12 to 2^20 points by `cargo bench -p proofmill-curve --bench msm`.
const POINT_COST: f64 = 1.4;
const BUCKET_COST: f64 = 2.6;
/// Windows wider than this have more buckets than the second-level cache holds counters.
const MAX_BITS: u32 = 17;

/// The digits of many scalars.
pub(super) struct Digits {
    windows: Windows,
    shifted: Vec<[u64; 4]>,
}

impl Digits {
    /// # Panics
    /// If a scalar has more than 255 bits.
    pub(super) fn new<S: PrimeField>(windows: Windows, scalars: &[S]) -> Self {
        assert!(S::BITS <= 255, "scalars of at most 255 bits");
        let mut offset = [0u64; 4];
        for window in 0..windows.count - 1 {
            let bit = window * windows.bits + windows.bits - 1;
            offset[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        let shift = |scalar: &S| {
            let mut sum = [0; 4];
            let mut carry = false;
            for ((sum, word), offset) in sum.iter_mut().zip(scalar.to_words().as_ref()).zip(offset) {
                let (partial, first) = word.overflowing_add(offset);
                let (total, second) = partial.overflowing_add(u64::from(carry));
                (*sum, carry) = (total, first | second);
            }
            debug_assert!(!carry);
            sum
        };
        Self { windows, shifted: scalars.par_iter().with_min_len(1 << 10).map(shift).collect() }
    }

    pub(super) fn windows(&self) -> Windows {
        self.windows
    }

    /// The digits of one window, one for each scalar.
    pub(super) fn of_window(&self, window: usize) -> impl Iterator<Item = i32> {
        let bit = window as u32 * self.windows.bits;
        let (word, shift) = ((bit / 64) as usize, bit % 64);
        let mask = (1u64 << self.windows.bits) - 1;
        let top = window + 1 == self.windows.count();
        let half = if top { 0 } else { 1 << (self.windows.bits - 1) };
        self.shifted.iter().map(move |scalar| {
            let high = if word + 1 < 4 { scalar[word + 1] } else { 0 };
            let field = (u128::from(scalar[word]) | u128::from(high) << 64) >> shift;
            (field as u64 & if top { u64::MAX } else { mask }) as i32 - half
        })
    }
}
