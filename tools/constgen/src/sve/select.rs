//! Selection of instructions: operations of a recorded program that one instruction performs together, in both editions or in SVE2.

use super::{
    instructions::EPSILON,
    trace::{Halves, Operation, Program, without_unread},
};
use crate::assembly::Value;
use Operation::*;
use proofmill_field::goldilocks::MODULUS;
use std::collections::HashSet;

/// A value, and whether nothing else reads it.
#[derive(Clone, Copy)]
struct Operand {
    value: usize,
    only: bool,
}

impl Program {
    /// The same in instructions of both editions, without masks of values that are already small.
    pub(crate) fn lowered(&self) -> Self {
        let mut reads = vec![0; self.values().len()];
        self.values().iter().flat_map(|value| &value.operands).for_each(|operand| reads[*operand] += 1);
        self.outputs.iter().for_each(|output| reads[*output] += 1);
        let mut selected = Self::default();
        let mut renamed: Vec<usize> = Vec::new();
        for value in self.values() {
            let operands: Vec<Operand> = value
                .operands
                .iter()
                .map(|operand| Operand { value: renamed[*operand], only: reads[*operand] == 1 })
                .collect();
            renamed.push(selected.select(value.operation, &operands));
        }
        selected.outputs = self.outputs.iter().map(|output| renamed[*output]).collect();
        without_unread(&selected).with_shared_halves().with_ties()
    }

    fn select(&mut self, operation: Operation, operands: &[Operand]) -> usize {
        let values: Vec<usize> = operands.iter().map(|operand| operand.value).collect();
        match (operation, operands) {
            (LowHalf, [a]) => self.half_by(LowHalf, a.value),
            (MulHalves, _) => {
                let factors: Vec<usize> = values.iter().map(|factor| self.half_by(Factor, *factor)).collect();
                self.value(MulHalves, &factors)
            }
            (AddProductOfHalves, [sum, a, b]) => {
                let [a, b] = [a, b].map(|factor| self.half_by(Factor, factor.value));
                self.value(AddProductOfHalves, &[sum.value, a, b])
            }
            (Add, [a, b]) => [(*a, *b), (*b, *a)]
                .into_iter()
                .find_map(|(a, b)| self.sum_with(false, a, b))
                .unwrap_or_else(|| self.value(Add, &values)),
            (Sub, [a, b]) => self.sum_with(true, *a, *b).unwrap_or_else(|| self.value(Sub, &values)),
            (AddFolded, [a, b]) => match self.parts(a.value) {
                (ShiftLeft(32), [high]) => {
                    let high = *high;
                    let shift = self.value(Splat(1 << 32), &[]);
                    self.value(ShiftAddFolded, &[high, b.value, shift])
                }
                _ => self.value(AddFolded, &values),
            },
            _ => self.value(operation, &values),
        }
    }

    fn parts(&self, value: usize) -> (Operation, &[usize]) {
        let value = &self.values()[value];
        (value.operation, &value.operands)
    }

    /// The low half by this operation, unless the value is one.
    fn half_by(&mut self, operation: Operation, value: usize) -> usize {
        if self.operation(value).is_half() { value } else { self.value(operation, &[value]) }
    }

    /// An instruction for `a + b` or `a - b` that also computes b, if there is one that pays.
    fn sum_with(&mut self, subtract: bool, a: Operand, b: Operand) -> Option<usize> {
        let product = if subtract { SubMulLow } else { AddMulLow };
        let (operation, operands) = self.parts(b.value);
        let operands = operands.to_vec();
        // A product with a sum overwrites a or a factor, which has to be copied if it is read again, as constants are.
        let pays = b.only && (a.only || operands.iter().any(|factor| !self.operation(*factor).is_constant()));
        match (operation, &operands[..]) {
            (ShiftLeft(bits @ 1..=3), [x]) if !subtract => Some(self.value(AddShifted(bits), &[a.value, *x])),
            (ShiftLeft(bits), [x]) if pays => {
                let factor = self.value(Splat(1 << bits), &[]);
                Some(self.value(product, &[a.value, *x, factor]))
            }
            (MulLow, [x, y]) if pays => Some(self.value(product, &[a.value, *x, *y])),
            (MulHalves, [x, y]) if !subtract && self.operation(*y) == Splat(EPSILON) => {
                let (ShiftRight(32), [high]) = self.parts(*x) else { return None };
                let high = *high;
                let top = self.value(Sve1Top, &[high]);
                // The high half of p is 2^32 - 1.
                let factor = self.value(Splat(MODULUS), &[]);
                Some(self.value(AddProductOfTops, &[a.value, high, factor, top]))
            }
            (LowHalf | ShiftRight(32), [x]) => Some(self.sum_with_half(subtract, a.value, operation, *x)),
            _ => None,
        }
    }

    /// `a + b` or `a - b` for a half b of x.
    fn sum_with_half(&mut self, subtract: bool, a: usize, half: Operation, x: usize) -> usize {
        let (wide, first) = match self.parts(a) {
            (other, [first]) if other == half => (false, *first),
            _ => (true, a),
        };
        let top = half != LowHalf;
        if wide && !top && !subtract {
            return self.value(AddLowHalf, &[a, x]);
        }
        let own = if top { Sve1Top } else { Sve1Low };
        let mut operands = vec![first, x];
        operands.extend((!wide).then(|| self.value(own, &[first])));
        operands.push(self.value(own, &[x]));
        self.value(Halves(Halves { subtract, wide, top }), &operands)
    }

    /// The same, where SVE has no half of its own if both editions compute that half.
    fn with_shared_halves(&self) -> Self {
        let key = |operation, value: &Value<Operation>| (operation, value.operands.clone());
        let computed: HashSet<_> = self.values().iter().map(|value| key(value.operation, value)).collect();
        let mut values = self.values().iter();
        self.rewritten(0..self.values().len(), |program, operation, operands| {
            let half = match operation {
                Sve1Top => ShiftRight(32),
                Sve1Low | Factor => LowHalf,
                _ => operation,
            };
            let is_computed = values.next().is_some_and(|value| computed.contains(&key(half, value)));
            program.value(if is_computed { half } else { operation }, operands)
        })
    }

    /// The same, where sums and differences with a product overwrite a factor instead of a value that is read again.
    fn with_ties(&self) -> Self {
        let mut last = vec![0; self.values().len()];
        for (at, value) in self.values().iter().enumerate() {
            value.operands.iter().for_each(|operand| last[*operand] = at);
        }
        self.outputs.iter().for_each(|output| last[*output] = usize::MAX);
        let mut tied = Self::default();
        for (at, value) in self.values().iter().enumerate() {
            let dies = |operand: usize| last[operand] == at && !self.operation(operand).is_constant();
            let (mut operation, mut operands) = (value.operation, value.operands.clone());
            if let (AddMulLow | SubMulLow, [sum, a, b]) = (operation, &operands[..])
                && !dies(*sum)
                && let Some((factor, other)) =
                    [(*a, *b), (*b, *a)].into_iter().find(|(factor, _)| dies(*factor))
            {
                operation = if operation == AddMulLow { MulLowAdd } else { MulLowSub };
                operands = vec![factor, *sum, other];
            }
            // No two values become the same, so numbers do not change.
            tied.value(operation, &operands);
        }
        tied.outputs.clone_from(&self.outputs);
        tied
    }
}
