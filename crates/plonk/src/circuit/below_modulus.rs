//! Constrains an integer, given by its windows, to be below the modulus.
//!
//! The windows of a scalar determine an integer A below 2^254 that is x modulo r, so it is x or x + r. Let
//! P_i and R_i be A and r without their lowest s_i bits, for some levels i. If `R_i - 1 - P_i` is in `0..2^d`
//! for one of them, then `P_i < R_i`, and so `A < r`. Conversely, if `A < r`, it is in this range for the
//! highest level at which P_i and R_i differ, provided that a level has at most d bits more than the one
//! above.
//!
//! So a range of d bits and a proof that its value is one of the `R_i - 1 - P_i` suffice; more levels make
//! the range shorter and the proof longer. It is enough to do this modulo r. At the lowest level, of shift 0,
//! x takes the place of A; -1 - x is in the range for `A = x + r` only if A is at least `2 r - 2^d`, which is
//! above 2^254 for `d <= 252`. At the other levels, a negative `R_i - 1 - P_i` is greater than -2^252 for
//! `s_i >= 2`, so it does not equal a number below 2^252 modulo r.

use super::{Arithmetisation, Circuit, Variable, multiples::SCALAR_BITS, range::window};
use crate::{Column, Gate, Selector};
use proofmill_field::{
    Field, Prime,
    bn254::{Fr, FrParams},
};

/// A choice of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ComparedPrefixes {
    /// The shifts in descending order, the last one 0.
    shifts: Vec<u32>,
    /// Bits of the range.
    bits: u32,
}

impl ComparedPrefixes {
    /// The levels with the shortest range, if prefixes are known at shift 0 and at all shifts that are `offset` modulo
    /// `width`. Their number is what one row of [`AnyOf`](crate::arithmetisation::gates::AnyOf) compares; in standard it is
    /// the number with the fewest rows.
    pub(super) fn new(arithmetisation: Arithmetisation, width: u32, offset: u32) -> Self {
        let count = if arithmetisation == Arithmetisation::Standard { 15 } else { 4 };
        let of_step = |step: u32| {
            let shift = |level: u32| (level * step).saturating_sub((width - offset) % width);
            let shifts: Vec<u32> = (0..count).rev().map(shift).collect();
            let gaps = shifts.windows(2).map(|pair| pair[0] - pair[1]);
            let bits = gaps.chain([SCALAR_BITS - shifts[0]]).max().unwrap_or(SCALAR_BITS);
            Self { shifts, bits }
        };
        let steps = (width..=SCALAR_BITS / (count - 1)).step_by(width as usize);
        steps.map(of_step).min_by_key(|levels| levels.bits).expect("a window is less than a level")
    }

    /// The shifts, in descending order.
    pub(super) fn shifts(&self) -> &[u32] {
        &self.shifts
    }
}

/// `R_i - 1`.
fn bound(shift: u32) -> Fr {
    window(&FrParams::MODULUS, shift, SCALAR_BITS - shift) - Fr::ONE
}

impl Circuit {
    /// Constrains the integer with these prefixes, at the shifts of the levels, to be below the modulus. The
    /// last prefix is the integer modulo r; the next row must have it, or no variable, on its first wire.
    ///
    /// Rows: standard 55; turbo 9; ultra one, plus the rows of the range.
    pub(super) fn assert_below_modulus(&mut self, levels: &ComparedPrefixes, prefixes: &[Variable]) {
        let bounds: Vec<Fr> = levels.shifts.iter().map(|shift| bound(*shift)).collect();
        let differences = bounds.iter().zip(prefixes).map(|(bound, prefix)| *bound - self.value(*prefix));
        let is_in_range = |value: &Fr| {
            let words = value.to_canonical();
            window(&words, 0, levels.bits).to_canonical() == words
        };
        let value = differences.clone().find(is_in_range).unwrap_or_default();
        let value = self.witness(value);
        self.range(value, levels.bits);
        if self.arithmetisation == Arithmetisation::Standard {
            self.assert_any_of(value, &bounds, prefixes);
            return;
        }
        let [p1, p2, p3, p4] = prefixes else { unreachable!("four levels") };
        let data = (0..).map(Column::Data).zip(bounds);
        let switch = (Column::Selector(Selector::Gate(Gate::AnyOf)), Fr::ONE);
        self.row([*p1, *p2, *p3, value], &data.chain([switch]).collect::<Vec<_>>());
        self.row([*p4, Variable::NONE, Variable::NONE, Variable::NONE], &[]);
    }

    /// Constrains the product of `value + prefix - bound` over the levels to be zero.
    fn assert_any_of(&mut self, value: Variable, bounds: &[Fr], prefixes: &[Variable]) {
        let mut product: Option<Variable> = None;
        for (index, (bound, prefix)) in bounds.iter().zip(prefixes).enumerate() {
            let difference = self.linear(&[(value, Fr::ONE), (*prefix, Fr::ONE)], -*bound);
            product = match product {
                Some(product) if index + 1 == prefixes.len() => {
                    return self.assert_quadratic_zero((Fr::ONE, product, difference), &[], Fr::ZERO);
                }
                Some(product) => Some(self.mul(product, difference)),
                None => Some(difference),
            };
        }
    }
}
