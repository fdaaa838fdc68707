//! A word type that records operations instead of computing.

use crate::assembly;
use proofmill_field::goldilocks::{U64s, mul_byte_by_wide};
use std::{
    cell::RefCell,
    collections::BTreeSet,
    ops::{Add, BitAnd, Sub},
};

pub(crate) type Program = assembly::Program<Operation>;

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

/// How a sum or difference reads its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Halves {
    pub(crate) subtract: bool,
    /// Whether the first operand is a whole word, and only the second a half.
    pub(crate) wide: bool,
    /// Whether halves are the high ones.
    pub(crate) top: bool,
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
    Store(Place),
    Add,
    Sub,
    And,
    ShiftLeft(u32),
    ShiftRight(u32),
    ShiftRightSigned(u32),
    LowHalf,
    /// The low half for products of halves. Those of SVE2 ignore the high half, so it may remain.
    Factor,
    /// The low half for operations that read it in the whole word at SVE2: only computed at SVE.
    Sve1Low,
    /// The same for the high half.
    Sve1Top,
    /// The product of two factors.
    MulHalves,
    /// The sum of the first and the product of two factors.
    AddProductOfHalves,
    /// `a + b c`, modulo 2^64.
    AddMulLow,
    /// `a - b c`.
    SubMulLow,
    /// `b + a c`, in the register of a.
    MulLowAdd,
    /// `b - a c`, in the register of a.
    MulLowSub,
    /// The sum of the first and of the second, shifted left by 1, 2 or 3 bits.
    AddShifted(u32),
    /// The sum of the first and the second's low half.
    AddLowHalf,
    /// The sum of the first and the product of the high halves of the second, which is the fourth, and of p.
    AddProductOfTops,
    /// The sum or difference of two words of which one or both count only by a half; then, for SVE, these halves.
    Halves(Halves),
    /// `2^32 a`, modulo 2^64, and b, added as by `AddFolded`; the third operand is 2^32.
    ShiftAddFolded,
    MulLow,
    MulHigh,
    AddFolded,
    SubFolded,
    Canonical,
}

impl Operation {
    /// Whether the result is below 2^32 for all operands.
    pub(super) fn is_half(self) -> bool {
        use Operation::*;
        match self {
            LowHalf | SmallInput(_) | SmallConstant(_) => true,
            ShiftRight(k) => k >= 32,
            Splat(word) => word >> 32 == 0,
            _ => false,
        }
    }

    pub(crate) fn is_constant(self) -> bool {
        matches!(self, Self::Splat(_) | Self::Constant(_) | Self::SmallConstant(_))
    }
}

thread_local! {
    static RECORDED: RefCell<Program> = RefCell::default();
}

fn record(operation: Operation, operands: &[Traced]) -> Traced {
    let operands: Vec<usize> = operands.iter().map(|operand| operand.0).collect();
    RECORDED.with_borrow_mut(|program| Traced(program.value(operation, &operands)))
}

pub(super) fn without_unread(program: &Program) -> Program {
    program.without_unread(|operation| matches!(operation, Operation::Store(_)))
}

impl Program {
    /// The operations of `formula` on its inputs.
    pub(crate) fn record<const N: usize>(formula: impl FnOnce([Traced; N]) -> Vec<Traced>) -> Self {
        RECORDED.take();
        let outputs = formula(std::array::from_fn(|i| record(Operation::Input(i), &[])));
        let mut program = RECORDED.take();
        program.outputs = outputs.into_iter().map(|value| value.0).collect();
        without_unread(&program)
    }

    /// The constants, most used first.
    pub(crate) fn constants(&self) -> Vec<Operation> {
        let mut counts = vec![0; self.values().len()];
        self.values().iter().flat_map(|value| &value.operands).for_each(|operand| counts[*operand] += 1);
        let mut constants: Vec<usize> =
            (0..counts.len()).filter(|value| self.operation(*value).is_constant()).collect();
        constants.sort_by_key(|value| std::cmp::Reverse(counts[*value]));
        constants.into_iter().map(|value| self.operation(value)).collect()
    }

    /// The same in another order: values that depend only on rows are computed where they are first used, so that rows stay
    /// in memory.
    pub(crate) fn with_late_loads(&self) -> Self {
        let is_loaded = |value: &usize| matches!(self.operation(*value), Operation::Load(_));
        let is_row =
            |value: &usize| is_loaded(value) || matches!(self.operation(*value), Operation::Splat(_));
        let is_late = |value: usize| {
            let operands = &self.values()[value].operands;
            operands.iter().any(is_loaded)
                && operands.iter().all(is_row)
                && !matches!(self.operation(value), Operation::Store(_))
        };
        let mut placed = BTreeSet::new();
        let mut order = Vec::new();
        for value in (0..self.values().len()).filter(|value| !is_late(*value)) {
            let operands = &self.values()[value].operands;
            let late = operands.iter().filter(|operand| is_late(**operand));
            let needed = late.flat_map(|late| &self.values()[*late].operands);
            order.extend(needed.chain(operands).chain([&value]).filter(|value| placed.insert(**value)));
        }
        self.rewritten(order, Self::value)
    }
}

/// A value below 2^32 in a register at the start of the program; only inputs may come before.
pub(crate) fn small_input(register: usize) -> Traced {
    record(Operation::SmallInput(register), &[])
}

/// A vector of a row that a program reads.
pub(crate) fn load(row: usize, second: bool) -> Traced {
    record(Operation::Load(Place { row, second }), &[])
}

/// Writes a vector of a row that a program writes.
pub(crate) fn store(value: Traced, row: usize, second: bool) {
    record(Operation::Store(Place { row, second }), &[value]);
}

/// Word `n` of the table of constants.
pub(crate) fn constant(n: usize) -> Traced {
    record(Operation::Constant(n), &[])
}

/// The same, if it is below 2^32.
pub(crate) fn small_constant(n: usize) -> Traced {
    record(Operation::SmallConstant(n), &[])
}

impl Add for Traced {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        record(Operation::Add, &[self, rhs])
    }
}

impl Sub for Traced {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        record(Operation::Sub, &[self, rhs])
    }
}

impl BitAnd for Traced {
    type Output = Self;
    fn bitand(self, rhs: Self) -> Self {
        record(Operation::And, &[self, rhs])
    }
}

impl U64s for Traced {
    type Token = Recorder;

    const PREFERS_PRODUCTS: bool = true;

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
        record(Operation::Splat(word), &[])
    }

    fn shl<const K: u32>(self) -> Self {
        record(Operation::ShiftLeft(K), &[self])
    }

    fn shr<const K: u32>(self) -> Self {
        record(Operation::ShiftRight(K), &[self])
    }

    fn add_product_of_halves(self, a: Self, b: Self) -> Self {
        record(Operation::AddProductOfHalves, &[self, a, b])
    }

    fn shr_signed<const K: u32>(self) -> Self {
        record(Operation::ShiftRightSigned(K), &[self])
    }

    fn mul_halves(self, rhs: Self) -> Self {
        record(Operation::MulHalves, &[self, rhs])
    }

    fn add_folded(self, rhs: Self) -> Self {
        record(Operation::AddFolded, &[self, rhs])
    }

    fn sub_folded(self, rhs: Self) -> Self {
        record(Operation::SubFolded, &[self, rhs])
    }

    fn canonical(self) -> Self {
        record(Operation::Canonical, &[self])
    }

    fn low_half(self) -> Self {
        record(Operation::LowHalf, &[self])
    }

    fn mul_wide(self, rhs: Self) -> [Self; 2] {
        [record(Operation::MulLow, &[self, rhs]), record(Operation::MulHigh, &[self, rhs])]
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
