//! Straight-line programs: numbered values, each the result of an operation on earlier ones.

use std::{collections::HashMap, hash::Hash};

/// An operation, and the values that it reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value<O> {
    pub(crate) operation: O,
    pub(crate) operands: Vec<usize>,
}

/// Values in the order of their computation, none of them twice.
#[derive(Clone, Debug)]
pub(crate) struct Program<O> {
    values: Vec<Value<O>>,
    numbers: HashMap<Value<O>, usize>,
    pub(crate) outputs: Vec<usize>,
}

impl<O> Default for Program<O> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new(), outputs: Vec::new() }
    }
}

impl<O: Copy + Eq + Hash> Program<O> {
    pub(crate) fn values(&self) -> &[Value<O>] {
        &self.values
    }

    pub(crate) fn operation(&self, value: usize) -> O {
        self.values[value].operation
    }

    /// The number of a value, which is computed here unless it has been before.
    pub(crate) fn value(&mut self, operation: O, operands: &[usize]) -> usize {
        let value = Value { operation, operands: operands.to_vec() };
        *self.numbers.entry(value).or_insert_with_key(|value| {
            self.values.push(value.clone());
            self.values.len() - 1
        })
    }

    /// The same with these values in this order, each as `rewrite` writes it; operands have to come first.
    pub(crate) fn rewritten(
        &self,
        order: impl IntoIterator<Item = usize>,
        mut rewrite: impl FnMut(&mut Self, O, &[usize]) -> usize,
    ) -> Self {
        let mut program = Self::default();
        let mut renamed = HashMap::new();
        for number in order {
            let Value { operation, operands } = &self.values[number];
            let operands: Vec<usize> = operands.iter().map(|operand| renamed[operand]).collect();
            renamed.insert(number, rewrite(&mut program, *operation, &operands));
        }
        program.outputs = self.outputs.iter().map(|output| renamed[output]).collect();
        program
    }

    /// The same without the values that neither an output nor an operation with an effect depends on.
    pub(crate) fn without_unread(&self, has_effect: impl Fn(O) -> bool) -> Self {
        let mut read: Vec<bool> = self.values.iter().map(|value| has_effect(value.operation)).collect();
        self.outputs.iter().for_each(|output| read[*output] = true);
        for (number, value) in self.values.iter().enumerate().rev() {
            if read[number] {
                value.operands.iter().for_each(|operand| read[*operand] = true);
            }
        }
        self.rewritten((0..self.values.len()).filter(|number| read[*number]), Self::value)
    }
}
