//! A word type that records operations instead of computing.

use proofmill_field::goldilocks::{U64s, mul_byte_by_wide};
use std::{
    cell::RefCell,
    collections::HashMap,
    ops::{Add, BitAnd, Sub},
};

/// The token of recording.
#[derive(Clone, Copy)]
pub(crate) struct Recorder;

/// A value of the recorded program: the index of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traced(pub(crate) usize);

/// A vector of a table of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) row: usize,
    /// Whether it is the second vector of the row.
    pub(crate) second: bool,
}

/// An operation on whole vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// In a register at the start of the program.
    Input(usize),
    /// The same, below 2^32.
    SmallInput(usize),
    /// A word in every lane.
    Splat(u64),
    /// Word `n` of the table of constants, in every lane.
    Constant(usize),
    /// The same, below 2^32.
    SmallConstant(usize),
    /// A row in memory, or half a row if rows have two vectors.
    Load(Place),
    /// Writes a row; has no result. All loads come before.
    Store(usize, Place),
    Add(usize, usize),
    Sub(usize, usize),
    And(usize, usize),
    ShiftLeft(usize, u32),
    ShiftRight(usize, u32),
    ShiftRightSigned(usize, u32),
    LowHalf(usize),
    MulHalves(usize, usize),
    /// The sum of the first and the product of the others' low halves.
    AddProductOfHalves(usize, usize, usize),
    /// The sum of the first and the low word of the others' product.
    AddMulLow(usize, usize, usize),
    MulLow(usize, usize),
    MulHigh(usize, usize),
    AddFolded(usize, usize),
    SubFolded(usize, usize),
    Canonical(usize),
}

impl Operation {
    /// The values that the operation reads.
    pub(crate) fn arguments(self) -> Vec<usize> {
        use Operation::*;
        match self {
            Input(_) | SmallInput(_) | Splat(_) | Constant(_) | SmallConstant(_) | Load(_) => vec![],
            Store(a, _)
            | ShiftLeft(a, _)
            | ShiftRight(a, _)
            | ShiftRightSigned(a, _)
            | LowHalf(a)
            | Canonical(a) => {
                vec![a]
            }
            Add(a, b)
            | Sub(a, b)
            | And(a, b)
            | MulHalves(a, b)
            | MulLow(a, b)
            | MulHigh(a, b)
            | AddFolded(a, b)
            | SubFolded(a, b) => vec![a, b],
            AddProductOfHalves(sum, a, b) | AddMulLow(sum, a, b) => vec![sum, a, b],
        }
    }

    /// Whether the result is below 2^32 for all arguments.
    pub(crate) fn is_half(self) -> bool {
        use Operation::*;
        match self {
            LowHalf(_) | SmallInput(_) | SmallConstant(_) => true,
            ShiftRight(_, k) => k >= 32,
            Splat(word) => word >> 32 == 0,
            _ => false,
        }
    }
}

/// A straight-line program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) operations: Vec<Operation>,
    pub(crate) outputs: Vec<usize>,
}

thread_local! {
    static RECORDED: RefCell<Vec<Operation>> = const { RefCell::new(Vec::new()) };
}

fn record(operation: Operation) -> Traced {
    RECORDED.with_borrow_mut(|operations| {
        operations.push(operation);
        Traced(operations.len() - 1)
    })
}

impl Program {
    /// The operations of `formula` on its inputs.
    pub(crate) fn record<const N: usize>(formula: impl FnOnce([Traced; N]) -> Vec<Traced>) -> Self {
        RECORDED.with_borrow_mut(Vec::clear);
        let outputs = formula(std::array::from_fn(|i| record(Operation::Input(i))));
        let outputs = outputs.into_iter().map(|value| value.0).collect();
        let operations = RECORDED.with_borrow_mut(std::mem::take);
        Self { operations, outputs }.without_dead_operations()
    }

    /// The same without repeated computations and operations without effect, and, unless `products_of_halves` exist, without
    /// these.
    pub(crate) fn lowered(self, products_of_halves: bool) -> Self {
        let mut lowered = Lowered::default();
        let mut names = Vec::new();
        for operation in self.operations {
            let name = match operation.renamed(&names) {
                Operation::LowHalf(a) => lowered.half(a),
                Operation::MulHalves(a, b) if !products_of_halves => {
                    let (a, b) = (lowered.half(a), lowered.half(b));
                    lowered.name(Operation::MulLow(a, b))
                }
                Operation::AddProductOfHalves(sum, a, b) if !products_of_halves => {
                    let (a, b) = (lowered.half(a), lowered.half(b));
                    lowered.name(Operation::AddMulLow(sum, a, b))
                }
                operation => lowered.name(operation),
            };
            names.push(name);
        }
        let outputs = self.outputs.into_iter().map(|output| names[output]).collect();
        Self { operations: lowered.operations, outputs }.without_dead_operations()
    }

    /// The constants, most used first.
    pub(crate) fn constants(&self) -> Vec<Operation> {
        let mut counts: Vec<(usize, Operation)> = Vec::new();
        for argument in self.operations.iter().flat_map(|operation| operation.arguments()) {
            let operation = self.operations[argument];
            if !matches!(
                operation,
                Operation::Splat(_) | Operation::Constant(_) | Operation::SmallConstant(_)
            ) {
                continue;
            }
            match counts.iter_mut().find(|(_, counted)| *counted == operation) {
                Some((count, _)) => *count += 1,
                None => counts.push((1, operation)),
            }
        }
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        counts.into_iter().map(|(_, operation)| operation).collect()
    }

    /// The same in another order: values that depend only on rows are computed where they are first used, so that rows stay
    /// in memory.
    pub(crate) fn with_late_loads(self) -> Self {
        let is_late = |index: usize| {
            let arguments = self.operations[index].arguments();
            let is_loaded = |argument: &usize| matches!(self.operations[*argument], Operation::Load(_));
            let is_row = |argument: &usize| {
                is_loaded(argument) || matches!(self.operations[*argument], Operation::Splat(_))
            };
            arguments.iter().any(is_loaded) && arguments.iter().all(is_row)
        };
        let mut names = vec![usize::MAX; self.operations.len()];
        let mut operations = Vec::new();
        for index in 0..self.operations.len() {
            if is_late(index) && !matches!(self.operations[index], Operation::Store(..)) {
                continue;
            }
            let arguments = self.operations[index].arguments();
            for needed in arguments.into_iter().chain([index]) {
                if names[needed] == usize::MAX {
                    operations.push(self.operations[needed].renamed(&names));
                    names[needed] = operations.len() - 1;
                }
            }
        }
        let outputs = self.outputs.into_iter().map(|output| names[output]).collect();
        Self { operations, outputs }
    }

    fn without_dead_operations(self) -> Self {
        let mut live: Vec<bool> =
            self.operations.iter().map(|operation| matches!(operation, Operation::Store(..))).collect();
        self.outputs.iter().for_each(|output| live[*output] = true);
        for (index, operation) in self.operations.iter().enumerate().rev() {
            if live[index] {
                operation.arguments().into_iter().for_each(|argument| live[argument] = true);
            }
        }
        let mut renamed = vec![usize::MAX; self.operations.len()];
        let mut operations = Vec::new();
        for (index, operation) in self.operations.into_iter().enumerate() {
            if live[index] || matches!(operation, Operation::Input(_)) {
                renamed[index] = operations.len();
                operations.push(operation.renamed(&renamed));
            }
        }
        Self { operations, outputs: self.outputs.into_iter().map(|output| renamed[output]).collect() }
    }
}

impl Operation {
    fn renamed(self, names: &[usize]) -> Self {
        use Operation::*;
        match self {
            Input(_) | SmallInput(_) | Splat(_) | Constant(_) | SmallConstant(_) | Load(_) => self,
            Store(a, place) => Store(names[a], place),
            Add(a, b) => Add(names[a], names[b]),
            Sub(a, b) => Sub(names[a], names[b]),
            And(a, b) => And(names[a], names[b]),
            ShiftLeft(a, k) => ShiftLeft(names[a], k),
            ShiftRight(a, k) => ShiftRight(names[a], k),
            ShiftRightSigned(a, k) => ShiftRightSigned(names[a], k),
            LowHalf(a) => LowHalf(names[a]),
            MulHalves(a, b) => MulHalves(names[a], names[b]),
            AddProductOfHalves(sum, a, b) => AddProductOfHalves(names[sum], names[a], names[b]),
            AddMulLow(sum, a, b) => AddMulLow(names[sum], names[a], names[b]),
            MulLow(a, b) => MulLow(names[a], names[b]),
            MulHigh(a, b) => MulHigh(names[a], names[b]),
            AddFolded(a, b) => AddFolded(names[a], names[b]),
            SubFolded(a, b) => SubFolded(names[a], names[b]),
            Canonical(a) => Canonical(names[a]),
        }
    }
}

/// A program being recorded, with each operation in it once.
#[derive(Default)]
struct Lowered {
    operations: Vec<Operation>,
    names: HashMap<Operation, usize>,
}

impl Lowered {
    fn name(&mut self, operation: Operation) -> usize {
        *self.names.entry(operation).or_insert_with(|| {
            self.operations.push(operation);
            self.operations.len() - 1
        })
    }

    fn half(&mut self, value: usize) -> usize {
        if self.operations[value].is_half() { value } else { self.name(Operation::LowHalf(value)) }
    }
}

/// A value below 2^32 in a register at the start of the program; only inputs may come before.
pub(crate) fn small_input(register: usize) -> Traced {
    record(Operation::SmallInput(register))
}

/// A vector of a row that a program reads.
pub(crate) fn load(row: usize, second: bool) -> Traced {
    record(Operation::Load(Place { row, second }))
}

/// Writes a vector of a row that a program writes.
pub(crate) fn store(value: Traced, row: usize, second: bool) {
    record(Operation::Store(value.0, Place { row, second }));
}

/// Word `n` of the table of constants.
pub(crate) fn constant(n: usize) -> Traced {
    record(Operation::Constant(n))
}

/// The same, if it is below 2^32.
pub(crate) fn small_constant(n: usize) -> Traced {
    record(Operation::SmallConstant(n))
}

impl Add for Traced {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        record(Operation::Add(self.0, rhs.0))
    }
}

impl Sub for Traced {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        record(Operation::Sub(self.0, rhs.0))
    }
}

impl BitAnd for Traced {
    type Output = Self;
    fn bitand(self, rhs: Self) -> Self {
        record(Operation::And(self.0, rhs.0))
    }
}

impl U64s for Traced {
    type Token = Recorder;

    /// Any value: the program does not depend on it.
    const WIDTH: usize = 1;

    /// More chains have more values than there are registers.
    const CHAINS: usize = 4;

    fn token(&self) -> Recorder {
        Recorder
    }

    fn load(_: Recorder, _: &[u64]) -> Self {
        unreachable!("a traced formula works on registers")
    }

    fn store(self, _: &mut [u64]) {
        unreachable!("a traced formula works on registers")
    }

    fn splat(_: Recorder, word: u64) -> Self {
        record(Operation::Splat(word))
    }

    fn shl<const K: u32>(self) -> Self {
        record(Operation::ShiftLeft(self.0, K))
    }

    fn shr<const K: u32>(self) -> Self {
        record(Operation::ShiftRight(self.0, K))
    }

    fn add_product_of_halves(self, a: Self, b: Self) -> Self {
        record(Operation::AddProductOfHalves(self.0, a.0, b.0))
    }

    fn shr_signed<const K: u32>(self) -> Self {
        record(Operation::ShiftRightSigned(self.0, K))
    }

    fn mul_halves(self, rhs: Self) -> Self {
        record(Operation::MulHalves(self.0, rhs.0))
    }

    fn add_folded(self, rhs: Self) -> Self {
        record(Operation::AddFolded(self.0, rhs.0))
    }

    fn sub_folded(self, rhs: Self) -> Self {
        record(Operation::SubFolded(self.0, rhs.0))
    }

    fn canonical(self) -> Self {
        record(Operation::Canonical(self.0))
    }

    fn low_half(self) -> Self {
        record(Operation::LowHalf(self.0))
    }

    fn mul_wide(self, rhs: Self) -> [Self; 2] {
        [record(Operation::MulLow(self.0, rhs.0)), record(Operation::MulHigh(self.0, rhs.0))]
    }

    fn mul_byte(self, byte: Self) -> Self {
        mul_byte_by_wide(self, byte)
    }

    fn square_wide(self) -> [Self; 2] {
        self.mul_wide(self)
    }

    fn mul_parts(self, rhs: Self) -> [Self; 3] {
        let [low, high] = self.mul_wide(rhs);
        [low, low.shr::<32>(), high]
    }
}
