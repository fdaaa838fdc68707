//! The operations of functions, and the functions' types.

use crate::wasm::native::Native;
use wasmparser::FuncType;

/// A value of a frame: a local, or the result of an operation. The first is always 0.
pub(super) type Slot = u16;

/// The sum of a slot's value, an integer of 32 bits, and a constant. A slot's value without a constant may have 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotSum {
    pub(super) slot: Slot,
    pub(super) constant: u32,
}

impl SlotSum {
    /// The slot that is always 0.
    pub(super) const NOTHING: Slot = 0;

    pub(super) fn constant(constant: u32) -> Self {
        Self { slot: Self::NOTHING, constant }
    }

    pub(super) fn slot(slot: Slot) -> Self {
        Self { slot, constant: 0 }
    }

    pub(super) fn is_constant(self) -> bool {
        self.slot == Self::NOTHING
    }

    pub(super) fn plus(self, constant: u32) -> Self {
        Self { constant: self.constant.wrapping_add(constant), ..self }
    }
}

/// An operation on a frame's slots. Integers of 32 bits are held in 64 bits, with zeros above.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Move(Slot, SlotSum),
    /// A constant of 64 bits.
    Constant(Slot, u64),
    /// A product with a constant, and a sum.
    Scaled(Slot, Product),
    Not(Slot, SlotSum),
    /// `None` traps.
    Integer(Slot, fn(u64, u64) -> Option<u64>, [SlotSum; 2]),
    /// Reads so many bytes at an offset.
    Load(Slot, SlotSum, u32, u8),
    /// Writes so many bytes of the second sum at an offset.
    Store([SlotSum; 2], u32, u8),
    Size(Slot),
    Grow(Slot, SlotSum),
    /// Goes on at the next operation if the condition holds, otherwise at the first position; both ways meet at the second.
    If(SlotSum, u32, u32),
    Jump(u32),
    /// Goes to the position if the truth of the condition equals the flag.
    JumpIf(SlotSum, bool, u32),
    /// Calls a function with the arguments from an index on, and puts its result, if it has one, into a slot.
    Call(Slot, u32, u32),
    /// Calls a function of the table, which must have the type.
    CallIndirect(Slot, u32, u32, SlotSum),
    Native(Slot, Native, [SlotSum; 3]),
    /// Returns the value; it is not used for a function without a result.
    Return(SlotSum),
    /// Anything that circom does not write.
    Unknown,
}

/// A product of a sum and a constant, and another sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) factor: SlotSum,
    pub(super) scale: u32,
    pub(super) base: SlotSum,
}

/// A function's code.
#[derive(Debug)]
pub(super) struct Code {
    /// The slot that is 0, the parameters, other locals and results of operations.
    pub(super) slots: usize,
    pub(super) ops: Vec<Op>,
    /// The arguments of its calls.
    pub(super) arguments: Vec<SlotSum>,
}

/// The types of functions, by their indices, and which of them are circom's for field elements.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    pub(super) types: Vec<FuncType>,
    /// The type of each function, by its number among the different ones.
    pub(super) of_functions: Vec<u32>,
    pub(super) natives: Vec<Option<Native>>,
}

impl Signatures {
    /// Adds a function of a type.
    pub(super) fn push(&mut self, ty: u32, native: Option<Native>) {
        self.of_functions.push(self.number_of_type(ty));
        self.natives.push(native);
    }

    /// The numbers of a type's parameters and results.
    pub(super) fn arity(&self, ty: u32) -> (u32, u32) {
        self.types.get(ty as usize).map_or((0, 0), |ty| (ty.params().len() as u32, ty.results().len() as u32))
    }

    /// The first of the types that are equal to this one.
    pub(super) fn number_of_type(&self, ty: u32) -> u32 {
        let wanted = self.types.get(ty as usize);
        self.types.iter().position(|ty| Some(ty) == wanted).unwrap_or(0) as u32
    }

    /// Whether a function has the type of this number.
    pub(super) fn has_type(&self, function: u32, ty: u32) -> bool {
        self.of_functions.get(function as usize) == Some(&ty)
    }

    /// The numbers of a function's parameters and results.
    pub(super) fn arity_of_function(&self, function: u32) -> (u32, u32) {
        self.of_functions.get(function as usize).map_or((0, 0), |ty| self.arity(*ty))
    }

    pub(super) fn native(&self, function: u32) -> Option<Native> {
        self.natives.get(function as usize).copied().flatten()
    }
}
