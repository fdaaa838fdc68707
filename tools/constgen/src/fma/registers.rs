//! From ordered steps to instructions of x86-64: the value whose next use is furthest away leaves its register (Belady, 1966);
//! constants and operands stay in memory, from where most instructions can read.

use super::formula::{Factor, Formula, Step};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
};

const REGISTERS: usize = 16;
/// Columns of any field in `Constants`.
const COLUMNS: usize = 16;
/// Bytes of a vector register.
const BYTES: usize = 32;

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Base {
    Constants,
    B,
    Stack,
}

/// A vector in memory, by its offset in bytes.
type Place = (Base, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// The first operand plus the product of the others.
    MultiplyAdd,
    Add,
    Subtract,
    AddIntegers,
    SubtractIntegers,
    And,
    Or,
    /// The second operand's two highest bytes, the others of the first.
    Blend,
    ShiftRight(u32),
    /// Leaves operand i in register i.
    Return,
}

impl Operation {
    fn mnemonic(self) -> &'static str {
        match self {
            Self::MultiplyAdd => "vfmadd231pd",
            Self::Add => "vaddpd",
            Self::Subtract => "vsubpd",
            Self::AddIntegers => "vpaddq",
            Self::SubtractIntegers => "vpsubq",
            Self::And => "vpand",
            Self::Or => "vpor",
            Self::Blend => "vpblendw",
            Self::ShiftRight(_) => "vpsrlq",
            Self::Return => "ret",
        }
    }

    fn commutes(self) -> bool {
        matches!(self, Self::Add | Self::AddIntegers | Self::And | Self::Or)
    }
}

struct Instruction {
    operation: Operation,
    result: Option<usize>,
    operands: Vec<usize>,
}

/// Instructions on values, which are numbered; those in memory at first have a place.
pub(crate) struct Program {
    /// The limbs of the first operand, in the registers from 0 on.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    places: Vec<Option<Place>>,
    named: HashMap<Place, usize>,
    instructions: Vec<Instruction>,
}

/// The constants of a field in the order of the struct `Constants` in crates/field: vectors before each.
struct Layout {
    limbs: usize,
    square: bool,
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
            Constant::Start(column) => 9 + 2 * n + if self.square { COLUMNS } else { 0 } + column,
        };
        (Base::Constants, BYTES * vector)
    }
}

impl Program {
    fn memory(&mut self, place: Place) -> usize {
        let places = &mut self.places;
        *self.named.entry(place).or_insert_with(|| {
            places.push(Some(place));
            places.len() - 1
        })
    }

    fn emit(&mut self, operation: Operation, operands: &[usize]) -> usize {
        self.places.push(None);
        let result = self.places.len() - 1;
        self.instructions.push(Instruction { operation, result: Some(result), operands: operands.to_vec() });
        result
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
        program.memory(self.layout.place(constant))
    }

    fn limb(&self, limb: usize) -> usize {
        self.formula.limbs * self.index + limb
    }

    fn factor(&self, program: &mut Program, factor: Factor) -> usize {
        match factor {
            Factor::A(limb) => program.inputs[self.limb(limb)],
            Factor::B(limb) => program.memory((Base::B, BYTES * self.limb(limb))),
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
            Some(sum) => program.emit(Operation::AddIntegers, &[sum, term]),
            None => term,
        };
        self.columns.insert(column, sum);
    }

    fn step(&mut self, program: &mut Program, step: &Step) {
        use Operation::*;
        match step {
            Step::Products { column, products } => {
                let (mut rest, mut before) =
                    (self.constant(program, Constant::Rest), self.constant(program, Constant::RestAndLow));
                let mut low = None;
                for [x, y] in products {
                    let (x, y) = (self.factor(program, *x), self.factor(program, *y));
                    rest = program.emit(MultiplyAdd, &[rest, x, y]);
                    let difference = program.emit(Subtract, &[before, rest]);
                    let part = program.emit(MultiplyAdd, &[difference, x, y]);
                    low = Some(low.map_or(part, |low| program.emit(Add, &[low, part])));
                    before = rest;
                }
                self.add(program, column + 1, rest);
                if let Some(low) = low {
                    self.add(program, *column, low);
                }
            }
            Step::Rest { column, product: [x, y] } => {
                let (x, y) = (self.factor(program, *x), self.factor(program, *y));
                let rest = self.constant(program, Constant::Rest);
                let rest = program.emit(MultiplyAdd, &[rest, x, y]);
                self.add(program, column + 1, rest);
            }
            Step::Digit { column, value } => {
                let Some(sum) = self.column(program, *column) else { return };
                let carry = program.emit(ShiftRight(self.formula.bits), &[sum]);
                let magic = self.constant(program, Constant::Magic);
                let bits = if self.formula.bits == 48 {
                    program.emit(Blend, &[sum, magic])
                } else {
                    let mask = self.constant(program, Constant::Mask);
                    let bits = program.emit(And, &[sum, mask]);
                    program.emit(Or, &[bits, magic])
                };
                self.add(program, column + 1, carry);
                let offset = self.constant(program, Constant::Offset);
                let digit = program.emit(Subtract, &[bits, offset]);
                self.values.insert(*value, digit);
            }
            Step::Top { column, value } => {
                let Some(sum) = self.column(program, *column) else { return };
                let low = self.constant(program, Constant::Low);
                let top = program.emit(Subtract, &[sum, low]);
                self.values.insert(*value, top);
            }
            Step::Montgomery { digit, value } => {
                let digit = self.values[digit];
                let (rest, inverse) =
                    (self.constant(program, Constant::Rest), self.constant(program, Constant::Inverse));
                let high = program.emit(MultiplyAdd, &[rest, digit, inverse]);
                let difference = program.emit(Subtract, &[rest, high]);
                let low = program.emit(MultiplyAdd, &[difference, digit, inverse]);
                self.values.insert(*value, low);
            }
            Step::Sum { terms: [x, y], value } => {
                let (x, y) = (self.factor(program, *x), self.factor(program, *y));
                let sum = program.emit(Add, &[x, y]);
                self.values.insert(*value, sum);
            }
            Step::Column { to, from, subtract } => {
                let from = self.columns[from];
                if *subtract {
                    let Some(to_value) = self.column(program, *to) else { return };
                    let difference = program.emit(SubtractIntegers, &[to_value, from]);
                    self.columns.insert(*to, difference);
                } else {
                    self.add(program, *to, from);
                }
            }
            Step::Difference { to, from, less } => {
                let difference = program.emit(SubtractIntegers, &[self.columns[from], self.columns[less]]);
                self.columns.insert(*to, difference);
            }
            Step::Result { limb, value } => program.outputs[self.limb(*limb)] = self.values[value],
        }
    }
}

/// A line of the body, with the places of memory operands.
enum Word {
    Text(String),
    Memory(Place),
}

struct Allocator<'a> {
    program: &'a Program,
    places: Vec<Option<Place>>,
    /// The instructions that read each value, in order.
    uses: Vec<Vec<usize>>,
    registers: BTreeMap<usize, usize>,
    free: Vec<usize>,
    /// Values on the stack, and their slots.
    spilled: Vec<(usize, usize)>,
    free_slots: Vec<usize>,
    slots: usize,
    near: usize,
    lines: Vec<Vec<Word>>,
}

impl Allocator<'_> {
    fn next_use(&self, value: usize, after: usize) -> Option<usize> {
        self.uses[value].iter().copied().find(|at| *at > after)
    }

    fn line(&mut self, mnemonic: &str, operands: Vec<Word>) {
        let mut line = vec![Word::Text(format!("{mnemonic} "))];
        for (i, operand) in operands.into_iter().enumerate() {
            if i > 0 {
                line.push(Word::Text(", ".to_owned()));
            }
            line.push(operand);
        }
        self.lines.push(line);
    }

    fn word(&self, value: usize) -> Word {
        match (self.registers.get(&value), self.places[value]) {
            (Some(register), _) => ymm(*register),
            (None, Some(place)) => Word::Memory(place),
            (None, None) => unreachable!("a value is in a register or has a place"),
        }
    }

    /// A register that is free for the result of instruction `at`, which reads the pinned values.
    fn allocate(&mut self, at: Option<usize>, pinned: &[usize]) -> usize {
        if let Some(register) = self.free.pop() {
            return register;
        }
        let needed = |allocator: &Self, value: usize| match at {
            Some(at) => allocator.uses[value].iter().copied().find(|used| *used >= at),
            None => allocator.uses[value].first().copied(),
        };
        let distance = |allocator: &Self, value: usize| match needed(allocator, value) {
            // To read from memory again costs less than to spill.
            Some(next) => (next - at.unwrap_or(0)) * if allocator.places[value].is_some() { 2 } else { 1 },
            None => usize::MAX,
        };
        let candidates = self.registers.keys().copied().filter(|value| !pinned.contains(value));
        let Some(victim) = candidates.max_by_key(|value| distance(self, *value)) else {
            unreachable!("an instruction reads fewer values than there are registers")
        };
        let register = self.registers.remove(&victim).unwrap_or_default();
        if self.places[victim].is_none() && needed(self, victim).is_some() {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            let place = (Base::Stack, BYTES * slot);
            self.places[victim] = Some(place);
            self.spilled.push((victim, slot));
            self.line("vmovapd", vec![Word::Memory(place), ymm(register)]);
        }
        register
    }

    fn load(&mut self, value: usize, at: usize, pinned: &[usize]) {
        let memory = self.word(value);
        let register = self.allocate(Some(at), pinned);
        self.line("vmovapd", vec![ymm(register), memory]);
        self.registers.insert(value, register);
    }

    fn require(&mut self, value: usize, at: usize, pinned: &[usize]) {
        if !self.registers.contains_key(&value) {
            self.load(value, at, pinned);
        }
    }

    /// Loads a value that is read again soon.
    fn load_if_near(&mut self, value: usize, at: usize, pinned: &[usize]) {
        let near = self.next_use(value, at).is_some_and(|next| next - at <= self.near);
        if near {
            self.require(value, at, pinned);
        }
    }

    /// Frees what no later instruction reads.
    fn retire(&mut self, at: usize) {
        let dead: Vec<usize> =
            self.registers.keys().copied().filter(|value| self.next_use(*value, at).is_none()).collect();
        for value in dead {
            self.free.extend(self.registers.remove(&value));
        }
        let (kept, dead) = std::mem::take(&mut self.spilled)
            .into_iter()
            .partition(|(value, _)| self.next_use(*value, at).is_some());
        self.spilled = kept;
        let dead: Vec<(usize, usize)> = dead;
        self.free_slots.extend(dead.into_iter().map(|(_, slot)| slot));
    }

    fn run(&mut self) {
        let program = self.program;
        for (at, Instruction { operation, result, operands }) in program.instructions.iter().enumerate() {
            match (operation, result, &operands[..]) {
                (Operation::Return, ..) => self.leave(operands),
                (Operation::MultiplyAdd, Some(result), [sum, x, y]) => {
                    let (x, y) = if self.registers.contains_key(y) && !self.registers.contains_key(x) {
                        (*y, *x)
                    } else {
                        (*x, *y)
                    };
                    self.require(x, at, operands);
                    self.load_if_near(y, at, operands);
                    let dies = self.next_use(*sum, at).is_none() && *sum != x && *sum != y;
                    let register = match self.registers.get(sum).copied().filter(|_| dies) {
                        Some(register) => {
                            self.registers.remove(sum);
                            register
                        }
                        None => {
                            self.load_if_near(*sum, at, operands);
                            let register = self.allocate(Some(at), operands);
                            let sum = self.word(*sum);
                            self.line("vmovapd", vec![ymm(register), sum]);
                            register
                        }
                    };
                    let factors = [self.word(x), self.word(y)];
                    self.line("vfmadd231pd", [ymm(register)].into_iter().chain(factors).collect());
                    self.registers.insert(*result, register);
                    self.retire(at);
                }
                (Operation::ShiftRight(bits), Some(result), [value]) => {
                    self.require(*value, at, operands);
                    let from = self.word(*value);
                    self.retire(at);
                    let register = self.allocate(Some(at + 1), &[]);
                    self.line("vpsrlq", vec![ymm(register), from, Word::Text(bits.to_string())]);
                    self.registers.insert(*result, register);
                }
                (_, Some(result), [x, y]) => {
                    let swap = operation.commutes()
                        && !self.registers.contains_key(x)
                        && self.registers.contains_key(y);
                    let (x, y) = if swap { (*y, *x) } else { (*x, *y) };
                    self.require(x, at, operands);
                    self.load_if_near(y, at, operands);
                    let sources = [self.word(x), self.word(y)];
                    self.retire(at);
                    let register = self.allocate(Some(at + 1), &[]);
                    let mut words: Vec<Word> = [ymm(register)].into_iter().chain(sources).collect();
                    if *operation == Operation::Blend {
                        words.push(Word::Text("0x88".to_owned()));
                    }
                    self.line(operation.mnemonic(), words);
                    self.registers.insert(*result, register);
                    if self.uses[*result].is_empty() {
                        self.retire(at);
                    }
                }
                _ => unreachable!("operations have one to three operands"),
            }
        }
    }

    /// Moves value i to register i, first those that are in registers.
    fn leave(&mut self, outputs: &[usize]) {
        let in_register = |allocator: &Self, home: usize| allocator.registers.get(&outputs[home]).copied();
        loop {
            let waiting: Vec<(usize, usize)> = (0..outputs.len())
                .filter_map(|home| in_register(self, home).map(|register| (home, register)))
                .filter(|(home, register)| home != register)
                .collect();
            let is_source =
                |register: usize| (0..outputs.len()).any(|home| in_register(self, home) == Some(register));
            let Some(first) = waiting.first() else { break };
            let (home, register) =
                waiting.iter().find(|(home, _)| !is_source(*home)).copied().unwrap_or_else(|| {
                    // A cycle: one value moves to another register.
                    let aside = (0..REGISTERS).find(|register| !is_source(*register));
                    (aside.unwrap_or_default(), first.1)
                });
            self.line("vmovapd", vec![ymm(home), ymm(register)]);
            let moved = self.registers.iter().find(|(_, held)| **held == register).map(|(value, _)| *value);
            self.registers.extend(moved.map(|value| (value, home)));
        }
        for (home, output) in outputs.iter().enumerate() {
            if !self.registers.contains_key(output) {
                let memory = self.word(*output);
                self.line("vmovapd", vec![ymm(home), memory]);
            }
        }
    }
}

fn ymm(register: usize) -> Word {
    Word::Text(format!("ymm{register}"))
}

/// General registers that may hold addresses, those that need not be saved first.
const ADDRESSES: [&str; 15] =
    ["rdi", "rsi", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "rbx", "rbp", "r12", "r13", "r14", "r15"];
/// How many of these are not callee-saved.
const FREE_ADDRESSES: usize = 9;

/// Addresses from which a byte reaches eight vectors, at the middle of these; displacements of a byte make instructions short.
fn windows(lines: &[Vec<Word>]) -> Vec<Place> {
    let mut offsets: BTreeMap<Base, BTreeSet<usize>> = BTreeMap::new();
    for word in lines.iter().flatten() {
        if let Word::Memory((base, offset)) = word {
            offsets.entry(*base).or_default().insert(*offset);
        }
    }
    let mut windows = Vec::new();
    for (base, offsets) in offsets {
        let mut end = None;
        for offset in offsets {
            if end.is_none_or(|end| offset >= end) {
                windows.push((base, offset + 128));
                end = Some(offset + 256);
            }
        }
    }
    // What lies beyond the last ones of the stack has a longer displacement.
    windows.truncate(ADDRESSES.len());
    windows
}

/// The register that holds the address at the beginning.
fn argument(base: Base) -> &'static str {
    match base {
        Base::Constants => "rdi",
        Base::B => "rsi",
        Base::Stack => "rsp",
    }
}

impl Program {
    /// With the limbs of so many vectors in registers.
    fn new(limbs: usize) -> Self {
        Self {
            inputs: (0..limbs).collect(),
            outputs: vec![0; limbs],
            places: vec![None; limbs],
            named: HashMap::new(),
            instructions: Vec::new(),
        }
    }

    /// A product or square.
    pub(crate) fn of(formula: &Formula, steps: &[(usize, &Step)]) -> Self {
        let mut program = Self::new(formula.vectors * formula.limbs);
        let vector = |index| Vector {
            formula,
            layout: Layout { limbs: formula.limbs, square: formula.square },
            index,
            columns: HashMap::new(),
            values: HashMap::new(),
        };
        let mut vectors: Vec<Vector<'_>> = (0..formula.vectors).map(vector).collect();
        for (vector, step) in steps {
            vectors[*vector].step(&mut program, step);
        }
        program
    }

    /// The value less the nearest multiple of p, with all carries propagated at once.
    pub(crate) fn reduction(limbs: usize, vectors: usize) -> Self {
        use Operation::{Add, MultiplyAdd, Subtract};
        let layout = Layout { limbs, square: false };
        let mut program = Self::new(limbs * vectors);
        let [low, top_inverse, base_inverse, rest] =
            [Constant::Low, Constant::TopInverse, Constant::BaseInverse, Constant::Rest]
                .map(|constant| program.memory(layout.place(constant)));
        for vector in 0..vectors {
            let digits = program.inputs[vector * limbs..][..limbs].to_vec();
            let rounded = program.emit(MultiplyAdd, &[low, digits[limbs - 1], top_inverse]);
            // Its negative.
            let quotient = program.emit(Subtract, &[low, rounded]);
            let mut carried = None;
            for (limb, digit) in digits.into_iter().enumerate() {
                let modulus = program.memory(layout.place(Constant::Modulus(limb)));
                let digit = program.emit(MultiplyAdd, &[digit, quotient, modulus]);
                let mut result = digit;
                if let Some(carried) = carried {
                    result = program.emit(MultiplyAdd, &[digit, carried, base_inverse]);
                }
                if limb + 1 < limbs {
                    let rounded = program.emit(Add, &[digit, rest]);
                    let carry = program.emit(Subtract, &[rounded, rest]);
                    result = program.emit(Subtract, &[result, carry]);
                    carried = Some(carry);
                }
                program.outputs[vector * limbs + limb] = result;
            }
        }
        program
    }

    /// The text of the function; a value that is read again within `near` instructions is loaded into a register.
    pub(crate) fn function(mut self, near: usize) -> String {
        let limbs = self.inputs.len();
        let operands = self.outputs.clone();
        self.instructions.push(Instruction { operation: Operation::Return, result: None, operands });
        let mut uses = vec![Vec::new(); self.places.len()];
        for (at, instruction) in self.instructions.iter().enumerate() {
            instruction.operands.iter().for_each(|operand| uses[*operand].push(at));
        }
        let mut allocator = Allocator {
            places: self.places.clone(),
            program: &self,
            uses,
            registers: (0..limbs).map(|limb| (limb, limb)).collect(),
            free: (limbs..REGISTERS).rev().collect(),
            spilled: Vec::new(),
            free_slots: Vec::new(),
            slots: 0,
            near,
            lines: Vec::new(),
        };
        allocator.run();
        text(&allocator)
    }
}

fn text(allocator: &Allocator<'_>) -> String {
    let windows = windows(&allocator.lines);
    // The arguments' own registers for their first windows.
    let mut free = ADDRESSES[2..].iter();
    let mut seen = BTreeSet::new();
    let registers: Vec<&str> = windows
        .iter()
        .map(|(base, _)| match (seen.insert(*base), base) {
            (true, base) if *base != Base::Stack => argument(*base),
            _ => free.next().copied().unwrap_or_default(),
        })
        .collect();
    let saved: Vec<&&str> =
        ADDRESSES[FREE_ADDRESSES..].iter().filter(|register| registers.contains(*register)).collect();
    let frame = BYTES * allocator.slots;
    let mut text = "# In registers: the limbs of one operand, then the result's. rdi: constants, rsi: the other operand. Keeps rbx, rbp, r12 to r15.\n\
        # @generated by tools/constgen; do not edit.\n"
        .to_owned();
    // Writing to a string cannot fail.
    let mut line = |line: &str| _ = writeln!(text, "    {line}");
    saved.iter().for_each(|register| line(&format!("push {register}")));
    line("mov rax, rsp");
    line(&format!("sub rsp, {}", frame + 8));
    line("and rsp, -32");
    line(&format!("mov [rsp + {frame}], rax"));
    // Those that replace an argument come last.
    for own in [false, true] {
        for ((base, offset), register) in windows.iter().zip(&registers) {
            if (argument(*base) == *register) == own {
                line(&format!("lea {register}, [{} + {offset}]", argument(*base)));
            }
        }
    }
    for words in &allocator.lines {
        let words = words.iter().map(|word| match word {
            Word::Text(text) => text.clone(),
            Word::Memory((base, offset)) => {
                let window = windows
                    .iter()
                    .zip(&registers)
                    .rfind(|((other, middle), _)| other == base && middle - 128 <= *offset);
                let Some(((_, middle), register)) = window else { unreachable!("every place has a window") };
                match *offset as i64 - *middle as i64 {
                    0 => format!("[{register}]"),
                    displacement if displacement < 0 => format!("[{register} - {}]", -displacement),
                    displacement => format!("[{register} + {displacement}]"),
                }
            }
        });
        line(&words.collect::<String>());
    }
    line(&format!("mov rsp, [rsp + {frame}]"));
    saved.iter().rev().for_each(|register| line(&format!("pop {register}")));
    line("ret");
    text
}
