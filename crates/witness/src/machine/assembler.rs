//! Translates WASM's stack of operands to operations on slots. Sums and products of addresses are calculated when they are used.

use super::code::{Op, Product, Signatures, Slot, SlotSum};
use crate::wasm::{element::BYTES, native::Native};
use wasmparser::{BlockType, MemArg, Operator};

/// A block that is not yet at its end.
#[derive(Default)]
struct Label {
    /// The position where a loop begins.
    start: Option<u32>,
    /// Operations that go to the block's end.
    to_end: Vec<usize>,
    /// The `if` whose other branch is not yet placed.
    condition: Option<usize>,
    /// The number of operands below it.
    height: usize,
}

/// An operand that is not yet calculated.
#[derive(Clone, Copy)]
enum Operand {
    Sum(SlotSum),
    Product(Product),
    /// Whether a sum is 0.
    Not(SlotSum),
}

impl Operand {
    fn uses(&self, slot: Slot) -> bool {
        match self {
            Self::Sum(sum) | Self::Not(sum) => sum.slot == slot,
            Self::Product(product) => product.factor.slot == slot || product.base.slot == slot,
        }
    }
}

pub(super) struct Assembler<'a> {
    signatures: &'a Signatures,
    has_result: bool,
    /// The number of the slot that is 0 and of the locals.
    fixed: usize,
    slots: usize,
    ops: Vec<Op>,
    /// The last position that a branch may go to.
    target: usize,
    arguments: Vec<SlotSum>,
    operands: Vec<Operand>,
    labels: Vec<Label>,
    /// Whether an instruction cannot be translated.
    fails: bool,
}

impl<'a> Assembler<'a> {
    /// An assembler for a function with this many locals.
    pub(super) fn new(signatures: &'a Signatures, locals: usize, has_result: bool) -> Self {
        Self {
            signatures,
            has_result,
            fixed: locals + 1,
            slots: locals + 1,
            ops: Vec::new(),
            target: 0,
            arguments: Vec::new(),
            operands: Vec::new(),
            labels: vec![Label::default()],
            fails: locals >= usize::from(Slot::MAX),
        }
    }

    /// The operations, the arguments of calls, and the number of slots.
    pub(super) fn finish(self) -> (Vec<Op>, Vec<SlotSum>, usize) {
        (if self.fails { vec![Op::Unknown] } else { self.ops }, self.arguments, self.slots)
    }

    /// This position, which a branch goes to.
    fn here(&mut self) -> u32 {
        self.target = self.ops.len();
        self.ops.len() as u32
    }

    /// Returns a slot that no operand uses.
    fn free(&mut self) -> Slot {
        let mut slot = self.fixed as Slot;
        while self.operands.iter().any(|operand| operand.uses(slot)) {
            match slot.checked_add(1) {
                Some(next) => slot = next,
                None => {
                    self.unknown();
                    return 0;
                }
            }
        }
        self.slots = self.slots.max(usize::from(slot) + 1);
        slot
    }

    fn unknown(&mut self) {
        self.fails = true;
    }

    /// The topmost operand; in code that is not valid, nothing.
    fn pop(&mut self) -> Operand {
        let height = self.labels.last().map_or(0, |label| label.height);
        match self.operands.pop() {
            Some(operand) if self.operands.len() >= height => operand,
            // Unreachable code may pop more operands than its block has.
            Some(operand) => {
                self.operands.push(operand);
                Operand::Sum(SlotSum::constant(0))
            }
            None => Operand::Sum(SlotSum::constant(0)),
        }
    }

    /// The topmost operand, calculated.
    fn pop_sum(&mut self) -> SlotSum {
        let operand = self.pop();
        self.sum(operand)
    }

    /// The topmost operands, calculated.
    fn pop_sums<const N: usize>(&mut self) -> [SlotSum; N] {
        let mut sums = [SlotSum::constant(0); N];
        let start = self.operands.len().saturating_sub(N);
        // They stay on the stack until all are calculated, so that they have different slots.
        for (index, sum) in (start..).zip(sums.iter_mut()) {
            self.settle(index, false);
            if let Some(Operand::Sum(settled)) = self.operands.get(index) {
                *sum = *settled;
            }
        }
        self.operands.truncate(start);
        sums
    }

    fn sum(&mut self, operand: Operand) -> SlotSum {
        match operand {
            Operand::Sum(sum) => sum,
            Operand::Product(product) => {
                let to = self.free();
                self.ops.push(Op::Scaled(to, product));
                SlotSum::slot(to)
            }
            Operand::Not(sum) => {
                let to = self.free();
                self.ops.push(Op::Not(to, sum));
                SlotSum::slot(to)
            }
        }
    }

    /// Makes an operand a sum; if `whole`, one of a slot of its own or a constant.
    fn settle(&mut self, index: usize, whole: bool) {
        let Some(operand) = self.operands.get(index).copied() else { return };
        let sum = match operand {
            Operand::Sum(sum)
                if whole
                    && !sum.is_constant()
                    && (sum.constant != 0 || usize::from(sum.slot) < self.fixed) =>
            {
                let to = self.free();
                self.ops.push(Op::Move(to, sum));
                SlotSum::slot(to)
            }
            operand => self.sum(operand),
        };
        if let Some(operand) = self.operands.get_mut(index) {
            *operand = Operand::Sum(sum);
        }
    }

    fn push_sum(&mut self, sum: SlotSum) {
        self.operands.push(Operand::Sum(sum));
    }

    /// Called before a local is written: copies its old value for the operands that use it.
    fn write(&mut self, slot: Slot) {
        for index in 0..self.operands.len() {
            if self.operands.get(index).is_some_and(|operand| operand.uses(slot)) {
                self.settle(index, true);
            }
        }
    }

    fn set(&mut self, local: u32) {
        let (slot, operand) = (local as Slot + 1, self.pop());
        self.write(slot);
        match operand {
            Operand::Sum(sum) => self.ops.push(Op::Move(slot, sum)),
            Operand::Product(product) => self.ops.push(Op::Scaled(slot, product)),
            Operand::Not(sum) => self.ops.push(Op::Not(slot, sum)),
        }
    }

    /// Called where ways meet: calculates operands, so that they are in the same slots on each way.
    fn settle_all(&mut self) {
        for index in 0..self.operands.len() {
            self.settle(index, true);
        }
    }

    fn begin(&mut self, blockty: BlockType, label: Label) {
        if blockty != BlockType::Empty {
            self.unknown();
        }
        self.labels.push(Label { height: self.operands.len(), ..label });
    }

    /// Puts the position into a branch.
    fn patch(&mut self, at: usize, target: u32) {
        match self.ops.get_mut(at) {
            Some(Op::If(_, _, end)) => *end = target,
            Some(Op::Jump(to) | Op::JumpIf(_, _, to)) => *to = target,
            _ => {}
        }
    }

    /// A branch to the label of this depth.
    fn branch(&mut self, depth: u32, op: Op) {
        let at = self.ops.len();
        let position = self.labels.len().checked_sub(depth as usize + 1);
        let outermost = position == Some(0) && self.has_result;
        match position.and_then(|position| self.labels.get_mut(position)) {
            Some(label) if !outermost && label.height == self.operands.len() => {
                self.ops.push(op);
                match label.start {
                    Some(start) => self.patch(at, start),
                    None => label.to_end.push(at),
                }
            }
            _ => self.unknown(),
        }
    }

    /// Calls a function. Its result, if any, becomes an operand.
    fn call(&mut self, parameters: usize, results: u32, op: impl FnOnce(Slot, u32) -> Op) {
        let (start, first) = (self.arguments.len() as u32, self.operands.len().saturating_sub(parameters));
        for index in first..self.operands.len() {
            self.settle(index, false);
        }
        for operand in self.operands.drain(first..) {
            if let Operand::Sum(sum) = operand {
                self.arguments.push(sum);
            }
        }
        let to = self.free();
        self.ops.push(op(to, start));
        if results > 0 {
            self.push_sum(SlotSum::slot(to));
        }
    }

    fn call_function(&mut self, function: u32) {
        let (parameters, results) = self.signatures.arity_of_function(function);
        if let Some(native) = self.signatures.native(function) {
            let arguments = match parameters {
                1 => self.pop_sums::<1>().map(|sum| [sum, SlotSum::constant(0), SlotSum::constant(0)])[0],
                2 => {
                    let [a, b] = self.pop_sums();
                    [a, b, SlotSum::constant(0)]
                }
                _ => self.pop_sums::<3>(),
            };
            if native == Native::Copy && self.copies_next(arguments) {
                return;
            }
            let to = self.free();
            self.ops.push(Op::Native(to, native, arguments));
            if results > 0 {
                self.push_sum(SlotSum::slot(to));
            }
            return;
        }
        self.call(parameters as usize, results, |to, start| Op::Call(to, function, start));
    }

    /// An operation on two integers.
    fn integer(&mut self, operation: fn(u64, u64) -> Option<u64>) {
        let operands = self.pop_sums::<2>();
        let to = self.free();
        self.ops.push(Op::Integer(to, operation, operands));
        self.push_sum(SlotSum::slot(to));
    }

    /// The 64 bits of a signed integer of 32.
    fn extend_signed(&mut self) {
        self.push_sum(SlotSum::constant(0));
        self.integer(|a, _| Some(a as i32 as u64));
    }

    fn load(&mut self, bytes: u8, memarg: MemArg) {
        let at = self.pop_sum();
        let to = self.free();
        self.ops.push(Op::Load(to, at, memarg.offset as u32, bytes));
        self.push_sum(SlotSum::slot(to));
    }

    fn store(&mut self, bytes: u8, memarg: MemArg) {
        let operands = self.pop_sums::<2>();
        self.ops.push(Op::Store(operands, memarg.offset as u32, bytes));
    }

    fn add(&mut self) {
        let (b, a) = (self.pop(), self.pop());
        let sum = match (a, b) {
            (Operand::Sum(constant), Operand::Sum(sum)) | (Operand::Sum(sum), Operand::Sum(constant))
                if constant.is_constant() =>
            {
                Operand::Sum(sum.plus(constant.constant))
            }
            // A product with the scale 1 stands for the sum of two slots.
            (Operand::Sum(a), Operand::Sum(b)) => Operand::Product(Product { factor: a, scale: 1, base: b }),
            (Operand::Sum(sum), Operand::Product(product))
            | (Operand::Product(product), Operand::Sum(sum))
                if product.base.is_constant() || sum.is_constant() =>
            {
                let slot = if sum.is_constant() { product.base.slot } else { sum.slot };
                let constant = product.base.constant.wrapping_add(sum.constant);
                Operand::Product(Product { base: SlotSum { slot, constant }, ..product })
            }
            (a, b) => {
                self.operands.extend([a, b]);
                let [factor, base] = self.pop_sums();
                Operand::Product(Product { factor, scale: 1, base })
            }
        };
        self.operands.push(sum);
    }

    fn subtract(&mut self) {
        match (self.pop(), self.pop()) {
            (Operand::Sum(constant), Operand::Sum(sum)) if constant.is_constant() => {
                self.push_sum(sum.plus(constant.constant.wrapping_neg()));
            }
            (b, a) => {
                self.operands.extend([a, b]);
                self.integer(|a, b| Some(word(a.wrapping_sub(b))));
            }
        }
    }

    fn multiply(&mut self) {
        let (b, a) = (self.pop(), self.pop());
        let product = match (a, b) {
            (Operand::Sum(a), Operand::Sum(b)) if a.is_constant() && b.is_constant() => {
                Operand::Sum(SlotSum::constant(a.constant.wrapping_mul(b.constant)))
            }
            (Operand::Sum(constant), other) | (other, Operand::Sum(constant)) if constant.is_constant() => {
                match constant.constant {
                    1 => other,
                    scale => {
                        let factor = self.sum(other);
                        Operand::Product(Product { factor, scale, base: SlotSum::constant(0) })
                    }
                }
            }
            (a, b) => {
                self.operands.extend([a, b]);
                return self.integer(|a, b| Some(word(a.wrapping_mul(b))));
            }
        };
        self.operands.push(product);
    }

    /// Translates an instruction; one that cannot be reached only as far as it is a part of a block.
    pub(super) fn push(&mut self, operator: &Operator<'_>, reachable: bool) {
        match *operator {
            Operator::Block { blockty } => {
                self.settle_all();
                self.begin(blockty, Label::default());
            }
            Operator::Loop { blockty } => {
                self.settle_all();
                let start = Some(self.here());
                self.begin(blockty, Label { start, ..Label::default() });
            }
            Operator::If { blockty } => {
                let condition = self.pop_sum();
                self.settle_all();
                let at = self.ops.len();
                self.ops.push(Op::If(condition, 0, 0));
                self.begin(blockty, Label { to_end: vec![at], condition: Some(at), ..Label::default() });
            }
            Operator::Else => {
                let at = self.ops.len();
                self.ops.push(Op::Jump(0));
                let here = self.here();
                if let Some(label) = self.labels.last_mut() {
                    label.to_end.push(at);
                    self.operands.truncate(label.height);
                    if let Some(Op::If(_, otherwise, _)) =
                        label.condition.take().and_then(|condition| self.ops.get_mut(condition))
                    {
                        *otherwise = here;
                    }
                }
            }
            Operator::End => self.end(reachable),
            _ if !reachable => {}
            Operator::Nop => {}
            Operator::Unreachable => self.ops.push(Op::Unknown),
            Operator::Br { relative_depth } => self.branch(relative_depth, Op::Jump(0)),
            Operator::BrIf { relative_depth } => {
                let (condition, when) = match self.pop() {
                    Operand::Not(sum) => (sum, false),
                    operand => (self.sum(operand), true),
                };
                self.branch(relative_depth, Op::JumpIf(condition, when, 0));
            }
            Operator::Return => self.returns(),
            Operator::Call { function_index } => self.call_function(function_index),
            Operator::CallIndirect { type_index, table_index: 0 } => {
                let ty = self.signatures.number_of_type(type_index);
                let (parameters, results) = self.signatures.arity(type_index);
                let index = self.pop_sum();
                self.call(parameters as usize, results, |to, start| Op::CallIndirect(to, ty, start, index));
            }
            Operator::Drop => drop(self.pop()),
            Operator::LocalGet { local_index } => self.push_sum(SlotSum::slot(local_index as Slot + 1)),
            Operator::LocalSet { local_index } => self.set(local_index),
            Operator::LocalTee { local_index } => {
                self.set(local_index);
                self.push_sum(SlotSum::slot(local_index as Slot + 1));
            }
            Operator::I32Const { value } => self.push_sum(SlotSum::constant(value as u32)),
            Operator::I64Const { value } => {
                let to = self.free();
                self.ops.push(Op::Constant(to, value as u64));
                self.push_sum(SlotSum::slot(to));
            }
            Operator::I32Add => self.add(),
            Operator::I32Sub => self.subtract(),
            Operator::I32Mul => self.multiply(),
            Operator::I32Eqz => {
                let sum = self.pop_sum();
                self.operands.push(Operand::Not(sum));
            }
            // Slots have 64 bits.
            Operator::I64Eqz => {
                let sum = self.pop_sum();
                self.operands.push(Operand::Not(sum));
            }
            Operator::I64ExtendI32U => {
                let sum = self.pop_sum();
                let to = self.free();
                self.ops.push(Op::Move(to, sum));
                self.push_sum(SlotSum::slot(to));
            }
            Operator::I32WrapI64 => {
                self.push_sum(SlotSum::constant(0));
                self.integer(|a, _| Some(word(a)));
            }
            Operator::MemorySize { mem: 0 } => {
                let to = self.free();
                self.ops.push(Op::Size(to));
                self.push_sum(SlotSum::slot(to));
            }
            Operator::MemoryGrow { mem: 0 } => {
                let pages = self.pop_sum();
                let to = self.free();
                self.ops.push(Op::Grow(to, pages));
                self.push_sum(SlotSum::slot(to));
            }
            Operator::I32Load { memarg } | Operator::I64Load32U { memarg } => self.load(4, memarg),
            Operator::I64Load32S { memarg } => {
                self.load(4, memarg);
                self.extend_signed();
            }
            Operator::I64ExtendI32S => self.extend_signed(),
            Operator::I32Load8U { memarg } | Operator::I64Load8U { memarg } => self.load(1, memarg),
            Operator::I32Load16U { memarg } | Operator::I64Load16U { memarg } => self.load(2, memarg),
            Operator::I64Load { memarg } => self.load(8, memarg),
            Operator::I32Store { memarg } | Operator::I64Store32 { memarg } => self.store(4, memarg),
            Operator::I32Store8 { memarg } | Operator::I64Store8 { memarg } => self.store(1, memarg),
            Operator::I32Store16 { memarg } | Operator::I64Store16 { memarg } => self.store(2, memarg),
            Operator::I64Store { memarg } => self.store(8, memarg),
            _ => match integer(operator) {
                Some(operation) => self.integer(operation),
                None => self.unknown(),
            },
        }
    }

    /// Merges copies of consecutive elements, as circom writes them for the values of an array, into one operation. The new copy either
    /// continues the last one, or repeats one element by copying from its predecessor.
    fn copies_next(&mut self, [to, from, _]: [SlotSum; 3]) -> bool {
        let next = |sum: SlotSum, elements: u32| sum.plus(elements.wrapping_mul(BYTES as u32));
        // Only behind the last target of a branch, which must not enter in the middle of a copy.
        match self.ops.get_mut(self.target..).unwrap_or_default() {
            [
                ..,
                Op::Native(_, Native::Copy, [start, same, _]),
                Op::Native(_, Native::CopyMany, [first, before, count]),
            ] if count.is_constant()
                && before == start
                && *first == next(*start, 1)
                && from == *same
                && to == next(*first, count.constant) =>
            {
                count.constant += 1;
            }
            [.., Op::Native(_, Native::CopyMany, [first, first_from, count])]
                if count.is_constant()
                    && to == next(*first, count.constant)
                    && from == next(*first_from, count.constant) =>
            {
                count.constant += 1;
            }
            [.., Op::Native(_, native @ Native::Copy, [first, first_from, count])]
                if to == next(*first, 1) && from == next(*first_from, 1) =>
            {
                (*native, *count) = (Native::CopyMany, SlotSum::constant(2));
            }
            [.., Op::Native(slot, Native::Copy, [first, same, _])]
                if to == next(*first, 1) && from == *same =>
            {
                let op = Op::Native(*slot, Native::CopyMany, [to, *first, SlotSum::constant(1)]);
                self.ops.push(op);
            }
            _ => return false,
        }
        true
    }

    /// Replaces a loop that copies elements one by one, as circom writes for arrays, by operations without a loop.
    fn shorten_loop(&mut self, start: usize) {
        let Some(
            [
                Op::JumpIf(count, false, exit),
                Op::Native(result, Native::Copy, [to, from, _]),
                moves @ ..,
                Op::Jump(next),
            ],
        ) = self.ops.get(start..)
        else {
            return;
        };
        let mut steps = [(count, 1_u32.wrapping_neg()), (from, BYTES as u32), (to, BYTES as u32)];
        // The three steps may come in any order, so both lists are compared by slots.
        steps.sort_by_key(|(sum, _)| sum.slot);
        let mut moved: Vec<_> = moves.iter().collect();
        moved.sort_by_key(|op| if let Op::Move(slot, _) = op { *slot } else { SlotSum::NOTHING });
        let is_step = |(op, (sum, by)): (&&Op, &(&SlotSum, u32))| matches!(op, Op::Move(slot, next) if *slot == sum.slot && *next == SlotSum { slot: sum.slot, constant: *by });
        let are_different = steps.array_windows().all(|[(a, _), (b, _)]| a.slot != b.slot);
        if *next as usize != start
            || moved.len() != steps.len()
            || !are_different
            || count.constant != 0
            || !moved.iter().zip(&steps).all(is_step)
        {
            return;
        }
        let (count, exit, from, to, result) = (*count, *exit, *from, *to, *result);
        let after = |sum: SlotSum| {
            let base = SlotSum::slot(sum.slot);
            Op::Scaled(sum.slot, Product { factor: count, scale: BYTES as u32, base })
        };
        let short = [
            Op::Native(result, Native::CopyMany, [to, from, count]),
            after(to),
            after(from),
            Op::Move(count.slot, SlotSum::constant(0)),
            Op::Jump(exit),
        ];
        self.ops.truncate(start);
        self.ops.extend(short);
        // The jump has taken the place of the loop's condition.
        let jump = self.ops.len() - 1;
        for at in self.labels.iter_mut().flat_map(|label| &mut label.to_end) {
            if *at == start {
                *at = jump;
            }
        }
    }

    fn returns(&mut self) {
        let result = if self.has_result { self.pop_sum() } else { SlotSum::constant(0) };
        self.ops.push(Op::Return(result));
    }

    fn end(&mut self, reachable: bool) {
        let Some(label) = self.labels.pop() else { return };
        let outermost = self.labels.is_empty();
        if outermost && reachable {
            self.returns();
        } else if !outermost {
            self.operands.truncate(label.height);
        }
        if let Some(start) = label.start {
            self.shorten_loop(start as usize);
        }
        let here = self.here();
        for at in &label.to_end {
            self.patch(*at, here);
        }
        if let Some(Op::If(_, otherwise, _)) =
            label.condition.and_then(|condition| self.ops.get_mut(condition))
        {
            *otherwise = here;
        }
        if outermost {
            // Branches that leave the function.
            self.ops.push(Op::Return(SlotSum::constant(0)));
        }
    }
}

/// The lower 32 bits.
fn word(value: u64) -> u64 {
    value & u64::from(u32::MAX)
}

/// An operation on two integers.
fn integer(operator: &Operator<'_>) -> Option<fn(u64, u64) -> Option<u64>> {
    Some(match operator {
        Operator::I32And | Operator::I64And => |a, b| Some(a & b),
        Operator::I32Or | Operator::I64Or => |a, b| Some(a | b),
        Operator::I32Xor | Operator::I64Xor => |a, b| Some(a ^ b),
        Operator::I32Eq | Operator::I64Eq => |a, b| Some((a == b).into()),
        Operator::I32Ne | Operator::I64Ne => |a, b| Some((a != b).into()),
        Operator::I32LtU | Operator::I64LtU => |a, b| Some((a < b).into()),
        Operator::I32GtU | Operator::I64GtU => |a, b| Some((a > b).into()),
        Operator::I32LeU | Operator::I64LeU => |a, b| Some((a <= b).into()),
        Operator::I32GeU | Operator::I64GeU => |a, b| Some((a >= b).into()),
        Operator::I32LtS => |a, b| Some(((a as i32) < b as i32).into()),
        Operator::I32GtS => |a, b| Some((a as i32 > b as i32).into()),
        Operator::I32LeS => |a, b| Some((a as i32 <= b as i32).into()),
        Operator::I32GeS => |a, b| Some((a as i32 >= b as i32).into()),
        Operator::I64LtS => |a, b| Some(((a as i64) < b as i64).into()),
        Operator::I64GtS => |a, b| Some((a as i64 > b as i64).into()),
        Operator::I64LeS => |a, b| Some((a as i64 <= b as i64).into()),
        Operator::I64GeS => |a, b| Some((a as i64 >= b as i64).into()),
        Operator::I32DivU | Operator::I64DivU => u64::checked_div,
        Operator::I32RemU | Operator::I64RemU => u64::checked_rem,
        Operator::I32Shl => |a, b| Some(word(a << (b & 31))),
        Operator::I32ShrU => |a, b| Some(a >> (b & 31)),
        Operator::I32ShrS => |a, b| Some(word((a as i32 >> (b & 31)) as u64)),
        Operator::I64Add => |a, b| Some(a.wrapping_add(b)),
        Operator::I64Sub => |a, b| Some(a.wrapping_sub(b)),
        Operator::I64Mul => |a, b| Some(a.wrapping_mul(b)),
        Operator::I64Shl => |a, b| Some(a << (b & 63)),
        Operator::I64ShrU => |a, b| Some(a >> (b & 63)),
        Operator::I64ShrS => |a, b| Some((a as i64 >> (b & 63)) as u64),
        _ => return None,
    })
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use wasmparser::{FuncType, ValType};

    /// The exit of a loop of copies leads to the end of the enclosing block, not to the operation after the loop.
    #[test]
    fn the_exit_of_a_shortened_loop() {
        let mut signatures = Signatures::default();
        signatures.types.push(FuncType::new([ValType::I32, ValType::I32], []));
        signatures.push(0, Some(Native::Copy));
        let [to, from, count] = [0, 1, 2];
        let step = |local_index, by| {
            let value = Operator::I32Const { value: by };
            [Operator::LocalGet { local_index }, value, Operator::I32Add, Operator::LocalSet { local_index }]
        };
        let mut operators = vec![
            Operator::Block { blockty: BlockType::Empty },
            Operator::Loop { blockty: BlockType::Empty },
            Operator::LocalGet { local_index: count },
            Operator::I32Eqz,
            Operator::BrIf { relative_depth: 1 },
            Operator::LocalGet { local_index: to },
            Operator::LocalGet { local_index: from },
            Operator::Call { function_index: 0 },
        ];
        operators.extend(
            [(to, BYTES as i32), (from, BYTES as i32), (count, -1)]
                .map(|(local, by)| step(local, by))
                .concat(),
        );
        operators.extend([Operator::Br { relative_depth: 0 }, Operator::End]);
        operators.extend([Operator::Unreachable, Operator::End]);
        let mut assembler = Assembler::new(&signatures, 3, false);
        for operator in &operators {
            assembler.push(operator, true);
        }
        assembler.push(&Operator::End, true);
        let (ops, ..) = assembler.finish();
        let [
            Op::Native(_, Native::CopyMany, _),
            ..,
            Op::Jump(exit),
            Op::Unknown,
            Op::Return(_),
            Op::Return(_),
        ] = ops[..]
        else {
            panic!("{ops:?}")
        };
        assert!(matches!(ops[exit as usize - 1], Op::Unknown));
    }
}
