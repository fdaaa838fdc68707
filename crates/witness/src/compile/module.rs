//! A WASM's functions as flat lists of operations, for symbolic execution: circom's arithmetic on field elements is known by name, branches
//! go to positions, and sums of addresses are one operation.

use super::assembler::Assembler;
use crate::wasm::{circom1, native::Native};
use std::collections::HashMap;
use wasmparser::{
    DataKind, ElementItems, ElementKind, ExternalKind, FuncType, FuncValidator, FuncValidatorAllocations,
    FunctionBody, Operator, Parser, Payload, TypeRef, ValidPayload, Validator, ValidatorResources,
    WasmFeatures,
};

/// Why a circuit is not compiled.
pub(super) type Reason = String;

/// A value of a frame: a local, or the result of an operation. The first is always 0.
pub(super) type Slot = u16;

/// The sum of a slot's value, an integer of 32 bits, and a constant; of a slot's value alone it may have 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) slot: Slot,
    pub(super) constant: u32,
}

impl Sum {
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

/// An operation on a frame's slots. Integers of 32 bits have 64, of which the upper ones are 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Move(Slot, Sum),
    /// A constant of 64 bits.
    Constant(Slot, u64),
    /// A product with a constant, and a sum.
    Scaled(Slot, Product),
    Not(Slot, Sum),
    /// `None` traps.
    Integer(Slot, fn(u64, u64) -> Option<u64>, [Sum; 2]),
    /// Reads so many bytes at an offset.
    Load(Slot, Sum, u32, u8),
    /// Writes so many bytes of the second sum at an offset.
    Store([Sum; 2], u32, u8),
    Size(Slot),
    Grow(Slot, Sum),
    /// Goes on at the next operation if the condition holds, otherwise at the first position; both ways meet at the second.
    If(Sum, u32, u32),
    Jump(u32),
    /// Goes to the position if whether the condition holds is this.
    JumpIf(Sum, bool, u32),
    /// Calls a function with the arguments from an index on, and puts its result, if it has one, into a slot.
    Call(Slot, u32, u32),
    /// Calls the function of the table, of a type.
    CallIndirect(Slot, u32, u32, Sum),
    Native(Slot, Native, [Sum; 3]),
    /// A function that has no result returns nothing.
    Return(Sum),
    /// Anything that circom does not write.
    Unknown,
}

/// A product of a sum and a constant, and another sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub(super) factor: Sum,
    pub(super) scale: u32,
    pub(super) base: Sum,
}

/// A function's code.
#[derive(Debug)]
pub(super) struct Code {
    /// The slot that is 0, the parameters, other locals and results of operations.
    pub(super) slots: usize,
    pub(super) ops: Vec<Op>,
    /// The arguments of its calls.
    pub(super) arguments: Vec<Sum>,
}

#[derive(Debug)]
pub(super) enum Function {
    /// A function of the host.
    Host(String),
    /// One of circom's functions for field elements.
    Native(Native),
    Code(Code),
}

/// A circuit's WASM.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) functions: Vec<Function>,
    /// The type of each function, by its number among the different ones.
    types_of_functions: Vec<u32>,
    types: Vec<FuncType>,
    pub(super) table: Vec<Option<u32>>,
    pub(super) exports: HashMap<String, u32>,
    /// The pages of its memory in the beginning.
    pub(super) pages: u64,
    imports_memory: bool,
    /// Addresses with their bytes.
    pub(super) data: Vec<(u32, Vec<u8>)>,
}

/// The most entries of a table.
const LARGEST_TABLE: usize = 1 << 20;

impl Module {
    /// Decodes and validates a WASM. `native` says which of circom's functions the module's own one with this number is.
    pub(super) fn decode(bytes: &[u8], native: impl Fn(usize) -> Option<Native>) -> Result<Self, Reason> {
        let mut module = Self {
            functions: Vec::new(),
            types_of_functions: Vec::new(),
            types: Vec::new(),
            table: Vec::new(),
            exports: HashMap::new(),
            pages: 0,
            imports_memory: false,
            data: Vec::new(),
        };
        let mut validator = Validator::new_with_features(WasmFeatures::WASM1 | WasmFeatures::BULK_MEMORY);
        let mut allocations = FuncValidatorAllocations::default();
        let (mut declared, mut bodies) = (Vec::new(), 0);
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(|error| error.to_string())?;
            let valid = validator.payload(&payload).map_err(|error| error.to_string())?;
            if let ValidPayload::Func(function, body) = valid {
                let number = bodies;
                bodies += 1;
                let index = module.functions.len();
                let known = native(number);
                if let Some(native) = known {
                    module.functions.push(Function::Native(native));
                    continue;
                }
                let mut function = function.into_validator(allocations);
                let code = module.code(index, &body, &mut function).map_err(|error| error.to_string())?;
                allocations = function.into_allocations();
                module.functions.push(Function::Code(code));
                continue;
            }
            module.section(payload, &mut declared).map_err(|error| error.to_string())??;
        }
        // The host provides circom 1's memory. It has as much as is allocated, which the word at 0 tells, and a stack.
        let allocated = module.data.iter().find(|(at, _)| *at == circom1::ALLOCATED);
        if module.imports_memory
            && let Some(bytes) = allocated.and_then(|(_, bytes)| bytes.first_chunk())
        {
            let bytes = u64::from(u32::from_le_bytes(*bytes)) + circom1::STACK;
            module.pages = module.pages.max(bytes.div_ceil(circom1::PAGE));
        }
        Ok(module)
    }

    fn section(
        &mut self,
        payload: Payload<'_>,
        declared: &mut Vec<u32>,
    ) -> wasmparser::Result<Result<(), Reason>> {
        match payload {
            Payload::TypeSection(types) => {
                for ty in types.into_iter_err_on_gc_types() {
                    self.types.push(ty?);
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports {
                    let import = import?;
                    match import.ty {
                        TypeRef::Func(ty) => {
                            self.functions.push(Function::Host(import.name.to_owned()));
                            self.types_of_functions.push(self.number_of_type(ty));
                        }
                        TypeRef::Memory(memory) => (self.pages, self.imports_memory) = (memory.initial, true),
                        _ => return Ok(Err("it imports more than functions and a memory".to_owned())),
                    }
                }
            }
            Payload::FunctionSection(functions) => {
                for ty in functions {
                    let ty = self.number_of_type(ty?);
                    declared.push(ty);
                    self.types_of_functions.push(ty);
                }
            }
            Payload::MemorySection(memories) => {
                for memory in memories {
                    self.pages = memory?.initial;
                }
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    if export.kind == ExternalKind::Func {
                        self.exports.insert(export.name.to_owned(), export.index);
                    }
                }
            }
            Payload::ElementSection(elements) => {
                for element in elements {
                    let element = element?;
                    let (ElementKind::Active { offset_expr, .. }, ElementItems::Functions(functions)) =
                        (element.kind, element.items)
                    else {
                        return Ok(Err("its table has more than functions".to_owned()));
                    };
                    let Some(start) = constant(&offset_expr)? else {
                        return Ok(Err("an offset of its table is not a constant".to_owned()));
                    };
                    for (position, function) in (start as usize..).zip(functions) {
                        if position >= LARGEST_TABLE {
                            return Ok(Err("its table is too large".to_owned()));
                        }
                        if self.table.len() <= position {
                            self.table.resize(position + 1, None);
                        }
                        if let Some(entry) = self.table.get_mut(position) {
                            *entry = Some(function?);
                        }
                    }
                }
            }
            Payload::DataSection(data) => {
                for data in data {
                    let data = data?;
                    let DataKind::Active { offset_expr, .. } = data.kind else {
                        return Ok(Err("it has data without a place".to_owned()));
                    };
                    let Some(start) = constant(&offset_expr)? else {
                        return Ok(Err("a place of its data is not a constant".to_owned()));
                    };
                    self.data.push((start, data.data.to_vec()));
                }
            }
            Payload::StartSection { .. } => return Ok(Err("it has a start function".to_owned())),
            Payload::GlobalSection(globals) if globals.count() > 0 => {
                return Ok(Err("it has global variables".to_owned()));
            }
            _ => {}
        }
        Ok(Ok(()))
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
        self.types_of_functions.get(function as usize) == Some(&ty)
    }

    /// Whether its lines of `log()` have words, as since circom 2.0.7.
    pub(super) fn prints_words(&self) -> bool {
        let is =
            |function: &Function| matches!(function, Function::Host(name) if name == "writeBufferMessage");
        self.functions.iter().any(is)
    }

    /// The numbers of a function's parameters and results.
    pub(super) fn arity_of_function(&self, function: u32) -> (u32, u32) {
        self.types_of_functions.get(function as usize).map_or((0, 0), |ty| self.arity(*ty))
    }

    fn code(
        &self,
        index: usize,
        body: &FunctionBody<'_>,
        validator: &mut FuncValidator<ValidatorResources>,
    ) -> wasmparser::Result<Code> {
        let results = self.arity_of_function(index as u32).1;
        validator.read_locals(&mut body.get_binary_reader())?;
        let mut operators = body.get_operators_reader()?;
        let mut assembler = Assembler::new(self, validator.len_locals() as usize, results > 0);
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset()?;
            // What cannot be reached is not of interest; that it is valid is.
            let reachable = validator.get_control_frame(0).is_some_and(|frame| !frame.unreachable);
            validator.op(offset, &operator)?;
            assembler.push(&operator, reachable);
        }
        let (ops, arguments, slots) = assembler.finish();
        Ok(Code { slots, ops, arguments })
    }
}

/// The value of an expression that is one i32.
fn constant(expression: &wasmparser::ConstExpr<'_>) -> wasmparser::Result<Option<u32>> {
    Ok(match expression.get_operators_reader().read()? {
        Operator::I32Const { value } => Some(value as u32),
        _ => None,
    })
}
