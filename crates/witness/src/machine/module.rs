//! A WASM's functions as flat lists of operations, for symbolic execution. Circom's arithmetic on field elements is known by name, branches
//! go to positions, and sums of addresses are one operation.

use super::{
    assembler::Assembler,
    code::{Code, Signatures},
};
use crate::wasm::{
    circom1,
    native::{self, Native},
};
use std::collections::HashMap;
use wasmparser::{
    DataKind, DataSectionReader, ElementItems, ElementKind, ElementSectionReader, ExternalKind,
    FuncValidator, FuncValidatorAllocations, FunctionBody, ImportSectionReader, KnownCustom, Name,
    NameSectionReader, Operator, Parser, Payload, TypeRef, ValidPayload, Validator, ValidatorResources,
    WasmFeatures,
};

/// Why a circuit is not compiled.
pub(crate) type Reason = String;

#[derive(Debug)]
pub(super) enum WasmFunction {
    /// A function of the host.
    Host(String),
    /// One of circom's functions for field elements.
    Native,
    Code(Code),
}

/// A circuit's WASM.
#[derive(Debug)]
pub(crate) struct Module {
    pub(super) functions: Vec<WasmFunction>,
    pub(super) signatures: Signatures,
    pub(super) table: Vec<Option<u32>>,
    pub(super) exports: HashMap<String, u32>,
    /// The initial pages of its memory.
    pub(super) pages: u64,
    imports_memory: bool,
    /// The initial bytes of the memory, with their addresses.
    pub(super) data: Vec<(u32, Vec<u8>)>,
    /// The functions that have names for debuggers.
    pub(super) names: HashMap<String, u32>,
}

/// The most entries of a table.
const LARGEST_TABLE: usize = 1 << 20;

impl Module {
    /// Decodes and validates a module. `native` gives, for a number of its own functions, the function of circom's that it is.
    pub(crate) fn new(bytes: &[u8], native: &dyn Fn(usize) -> Option<Native>) -> Result<Self, Reason> {
        let mut module = Self {
            functions: Vec::new(),
            signatures: Signatures::default(),
            table: Vec::new(),
            exports: HashMap::new(),
            pages: 0,
            imports_memory: false,
            data: Vec::new(),
            names: HashMap::new(),
        };
        let mut validator = Validator::new_with_features(WasmFeatures::WASM1 | WasmFeatures::BULK_MEMORY);
        let mut allocations = FuncValidatorAllocations::default();
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(|error| error.to_string())?;
            let valid = validator.payload(&payload).map_err(|error| error.to_string())?;
            if let ValidPayload::Func(function, body) = valid {
                let index = module.functions.len() as u32;
                if module.signatures.native(index).is_some() {
                    module.functions.push(WasmFunction::Native);
                    continue;
                }
                let mut function = function.into_validator(allocations);
                let code = module.code(index, &body, &mut function).map_err(|error| error.to_string())?;
                allocations = function.into_allocations();
                module.functions.push(WasmFunction::Code(code));
                continue;
            }
            module.section(payload, native).map_err(|error| error.to_string())??;
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
        native: &dyn Fn(usize) -> Option<Native>,
    ) -> wasmparser::Result<Result<(), Reason>> {
        match payload {
            Payload::TypeSection(types) => {
                for ty in types.into_iter_err_on_gc_types() {
                    self.signatures.types.push(ty?);
                }
            }
            Payload::ImportSection(imports) => return self.add_imports(imports),
            Payload::FunctionSection(functions) => {
                for (number, ty) in functions.into_iter().enumerate() {
                    self.signatures.push(ty?, native(number));
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
            Payload::ElementSection(elements) => return self.add_elements(elements),
            Payload::DataSection(data) => return self.add_data(data),
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(names) = section.as_known() {
                    // They are no part of the module: malformed ones are none.
                    self.names = function_names(names).unwrap_or_default();
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

    /// Adds the functions and the memory that it imports.
    fn add_imports(&mut self, imports: ImportSectionReader<'_>) -> wasmparser::Result<Result<(), Reason>> {
        for import in imports {
            let import = import?;
            match import.ty {
                TypeRef::Func(ty) => {
                    self.functions.push(WasmFunction::Host(import.name.to_owned()));
                    self.signatures.push(ty, None);
                }
                TypeRef::Memory(memory) => (self.pages, self.imports_memory) = (memory.initial, true),
                _ => return Ok(Err("it imports more than functions and a memory".to_owned())),
            }
        }
        Ok(Ok(()))
    }

    /// Adds the functions of its table.
    fn add_elements(&mut self, elements: ElementSectionReader<'_>) -> wasmparser::Result<Result<(), Reason>> {
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
        Ok(Ok(()))
    }

    /// Adds the initial bytes of its memory.
    fn add_data(&mut self, data: DataSectionReader<'_>) -> wasmparser::Result<Result<(), Reason>> {
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
        Ok(Ok(()))
    }

    /// The names of circom's functions for field elements that are not executed natively.
    pub(crate) fn interpreted(&self) -> impl Iterator<Item = &'static str> {
        native::all()
            .filter(|(.., native)| !self.signatures.natives.contains(&Some(*native)))
            .map(|(_, name, _)| name)
    }

    /// The number of functions that it imports, which are before its own.
    pub(super) fn imported(&self) -> usize {
        self.functions.iter().take_while(|function| matches!(function, WasmFunction::Host(_))).count()
    }

    pub(crate) fn exports(&self, name: &str) -> bool {
        self.exports.contains_key(name)
    }

    /// Whether its lines of `log()` have words, as since circom 2.0.7.
    pub(super) fn prints_words(&self) -> bool {
        let is = |function: &WasmFunction| matches!(function, WasmFunction::Host(name) if name == "writeBufferMessage");
        self.functions.iter().any(is)
    }

    fn code(
        &self,
        index: u32,
        body: &FunctionBody<'_>,
        validator: &mut FuncValidator<ValidatorResources>,
    ) -> wasmparser::Result<Code> {
        let results = self.signatures.arity_of_function(index).1;
        validator.read_locals(&mut body.get_binary_reader())?;
        let mut operators = body.get_operators_reader()?;
        let mut assembler = Assembler::new(&self.signatures, validator.len_locals() as usize, results > 0);
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

/// The functions by their names.
fn function_names(names: NameSectionReader<'_>) -> wasmparser::Result<HashMap<String, u32>> {
    let mut functions = HashMap::new();
    for subsection in names {
        if let Name::Function(names) = subsection? {
            for naming in names {
                let naming = naming?;
                functions.insert(naming.name.to_owned(), naming.index);
            }
        }
    }
    Ok(functions)
}

/// The value of an expression that is one i32.
fn constant(expression: &wasmparser::ConstExpr<'_>) -> wasmparser::Result<Option<u32>> {
    Ok(match expression.get_operators_reader().read()? {
        Operator::I32Const { value } => Some(value as u32),
        _ => None,
    })
}
