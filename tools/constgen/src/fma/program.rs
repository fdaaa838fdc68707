//! From ordered steps to a program of instructions on vectors.

use super::{
    formula::{Factor, Formula, Kind, Step},
    text::{BYTES, Base, Operation, Place},
};
use crate::assembly;
use std::collections::HashMap;

pub(super) type Program = assembly::Program<Operation>;

/// Columns of any field in `FmaConstants`.
const COLUMNS: usize = 16;

/// The constants of a field in the order of the struct `FmaConstants` in crates/field: vectors before each.
struct Layout {
    limbs: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Constant {
    Rest,
    RestAndLow,
    Mask,
    Magic,
    Offset,
    Low,
    Inverse,
    TopInverse,
    BaseInverse,
    Modulus(usize),
    Jump(usize),
    Start(usize),
}

impl Layout {
    fn place(&self, constant: Constant) -> Place {
        let n = self.limbs;
        let vector = match constant {
            Constant::Rest => 0,
            Constant::RestAndLow => 1,
            Constant::Mask => 2,
            Constant::Magic => 3,
            Constant::Offset => 4,
            Constant::Low => 5,
            Constant::Inverse => 6,
            Constant::TopInverse => 7,
            Constant::BaseInverse => 8,
            Constant::Modulus(limb) => 9 + limb,
            Constant::Jump(limb) => 9 + n + limb,
            Constant::Start(column) => 9 + 2 * n + COLUMNS * self.kind as usize + column,
        };
        (Base::Constants, BYTES * vector)
    }

    /// Reads a constant.
    fn read(&self, program: &mut Program, constant: Constant) -> usize {
        program.value(Operation::Memory(self.place(constant)), &[])
    }
}

/// The state of one vector while its steps are written.
struct Vector<'a> {
    formula: &'a Formula,
    layout: Layout,
    index: usize,
    columns: HashMap<usize, usize>,
    values: HashMap<usize, usize>,
}

impl Vector<'_> {
    fn constant(&self, program: &mut Program, constant: Constant) -> usize {
        self.layout.read(program, constant)
    }

    fn limb(&self, limb: usize) -> usize {
        self.formula.limbs * self.index + limb
    }

    fn factor(&self, program: &mut Program, factor: Factor) -> usize {
        match factor {
            Factor::A(limb) => program.value(Operation::Input(self.limb(limb)), &[]),
            Factor::B(limb) => program.value(Operation::Memory((Base::B, BYTES * self.limb(limb))), &[]),
            Factor::Multiple(multiple, limb) => {
                let double = self.formula.limbs * multiple + limb;
                program.value(Operation::Broadcast((Base::B, 8 * double)), &[])
            }
            Factor::P(limb) => self.constant(program, Constant::Modulus(limb)),
            Factor::Jump(limb) => self.constant(program, Constant::Jump(limb)),
            Factor::Value(value) => self.values[&value],
        }
    }

    fn column(&self, program: &mut Program, column: usize) -> Option<usize> {
        let start = (column < self.formula.columns).then_some(Constant::Start(column));
        self.columns.get(&column).copied().or_else(|| start.map(|start| self.constant(program, start)))
    }

    fn add(&mut self, program: &mut Program, column: usize, term: usize) {
        let sum = match self.column(program, column) {
            Some(sum) => program.value(Operation::AddIntegers, &[sum, term]),
            None => term,
        };
        self.columns.insert(column, sum);
    }

    fn step(&mut self, program: &mut Program, step: &Step) {
        use Operation::*;
        match step {
            Step::Products { column, products } => self.products(program, *column, products),
            Step::Rest { column, product: [x, y] } => {
                let (x, y) = (self.factor(program, *x), self.factor(program, *y));
                let rest = self.constant(program, Constant::Rest);
                let rest = program.value(MultiplyAdd, &[rest, x, y]);
                self.add(program, column + 1, rest);
            }
            Step::Digit { column, value } => self.digit(program, *column, *value),
            Step::Top { column, value } => {
                let Some(sum) = self.column(program, *column) else { return };
                let low = self.constant(program, Constant::Low);
                let top = program.value(Subtract, &[sum, low]);
                self.values.insert(*value, top);
            }
            Step::Montgomery { digit, value } => {
                let digit = self.values[digit];
                let (rest, inverse) =
                    (self.constant(program, Constant::Rest), self.constant(program, Constant::Inverse));
                let high = program.value(MultiplyAdd, &[rest, digit, inverse]);
                let difference = program.value(Subtract, &[rest, high]);
                let low = program.value(MultiplyAdd, &[difference, digit, inverse]);
                self.values.insert(*value, low);
            }
            Step::Sum { terms: [x, y], value } => {
                let (x, y) = (self.factor(program, *x), self.factor(program, *y));
                let sum = program.value(Add, &[x, y]);
                self.values.insert(*value, sum);
            }
            Step::Column { to, from, subtract } => {
                let from = self.columns[from];
                if *subtract {
                    let Some(to_value) = self.column(program, *to) else { return };
                    let difference = program.value(SubtractIntegers, &[to_value, from]);
                    self.columns.insert(*to, difference);
                } else {
                    self.add(program, *to, from);
                }
            }
            Step::Difference { to, from, less } => {
                let difference = program.value(SubtractIntegers, &[self.columns[from], self.columns[less]]);
                self.columns.insert(*to, difference);
            }
            Step::Result { limb, value } => program.outputs[self.limb(*limb)] = self.values[value],
        }
    }

    /// Adds products to a column and the next one.
    fn products(&mut self, program: &mut Program, column: usize, products: &[[Factor; 2]]) {
        use Operation::*;
        let (mut rest, mut before) =
            (self.constant(program, Constant::Rest), self.constant(program, Constant::RestAndLow));
        let mut low = None;
        for [x, y] in products {
            let (x, y) = (self.factor(program, *x), self.factor(program, *y));
            rest = program.value(MultiplyAdd, &[rest, x, y]);
            let difference = program.value(Subtract, &[before, rest]);
            let part = program.value(MultiplyAdd, &[difference, x, y]);
            low = Some(low.map_or(part, |low| program.value(Add, &[low, part])));
            before = rest;
        }
        self.add(program, column + 1, rest);
        if let Some(low) = low {
            self.add(program, column, low);
        }
    }

    /// Cuts a column into a digit and a carry.
    fn digit(&mut self, program: &mut Program, column: usize, value: usize) {
        use Operation::*;
        let Some(sum) = self.column(program, column) else { return };
        let carry = program.value(ShiftRight(self.formula.bits), &[sum]);
        let magic = self.constant(program, Constant::Magic);
        let bits = if self.formula.bits == 48 {
            program.value(Blend, &[sum, magic])
        } else {
            let mask = self.constant(program, Constant::Mask);
            let bits = program.value(And, &[sum, mask]);
            program.value(Or, &[bits, magic])
        };
        self.add(program, column + 1, carry);
        let offset = self.constant(program, Constant::Offset);
        let digit = program.value(Subtract, &[bits, offset]);
        self.values.insert(value, digit);
    }
}

/// A program whose inputs are vectors of so many limbs.
fn empty(limbs: usize, vectors: usize) -> Program {
    let mut program = Program::default();
    program.outputs = vec![0; limbs * vectors];
    for limb in 0..limbs * vectors {
        program.value(Operation::Input(limb), &[]);
    }
    program
}

/// A product or square.
pub(super) fn product<'a>(formula: &Formula, steps: impl Iterator<Item = (usize, &'a Step)>) -> Program {
    let mut program = empty(formula.limbs, formula.vectors);
    let vector = |index| Vector {
        formula,
        layout: Layout { limbs: formula.limbs, kind: formula.kind },
        index,
        columns: HashMap::new(),
        values: HashMap::new(),
    };
    let mut vectors: Vec<Vector<'_>> = (0..formula.vectors).map(vector).collect();
    for (vector, step) in steps {
        vectors[vector].step(&mut program, step);
    }
    program
}

/// The value less the nearest multiple of p, with all carries propagated at once.
pub(super) fn reduction(limbs: usize, vectors: usize) -> Program {
    use Operation::{Add, MultiplyAdd, Subtract};
    let layout = Layout { limbs, kind: Kind::Product };
    let mut program = empty(limbs, vectors);
    let [low, top_inverse, base_inverse, rest] =
        [Constant::Low, Constant::TopInverse, Constant::BaseInverse, Constant::Rest]
            .map(|constant| layout.read(&mut program, constant));
    for vector in 0..vectors {
        let digits: Vec<usize> = (vector * limbs..(vector + 1) * limbs).collect();
        let rounded = program.value(MultiplyAdd, &[low, digits[limbs - 1], top_inverse]);
        // Its negative.
        let quotient = program.value(Subtract, &[low, rounded]);
        let mut carried = None;
        for (limb, digit) in digits.into_iter().enumerate() {
            let modulus = layout.read(&mut program, Constant::Modulus(limb));
            let digit = program.value(MultiplyAdd, &[digit, quotient, modulus]);
            let mut result = digit;
            if let Some(carried) = carried {
                result = program.value(MultiplyAdd, &[digit, carried, base_inverse]);
            }
            if limb + 1 < limbs {
                let rounded = program.value(Add, &[digit, rest]);
                let carry = program.value(Subtract, &[rounded, rest]);
                result = program.value(Subtract, &[result, carry]);
                carried = Some(carry);
            }
            program.outputs[vector * limbs + limb] = result;
        }
    }
    program
}
