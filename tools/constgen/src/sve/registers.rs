//! From a recorded program to instructions: register allocation for straight-line code.
//!
//! The value whose next use is furthest away is evicted first (Belady, 1966); constants are loaded again instead of
//! being spilled to the stack.

use super::trace::{Operation, Place, Program};
use std::collections::HashMap;

/// An edition of the vector extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    Sve,
    Sve2,
}

/// The registers for values: z0 to z30.
const REGISTERS: usize = 31;

/// The register that always holds `2^32 - 1`.
const EPSILON_REGISTER: usize = 31;

const EPSILON: u64 = 0xffff_ffff;

/// Words that a program loads from the pool after the code.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) words: Vec<u64>,
}

impl Pool {
    fn index(&mut self, word: u64) -> usize {
        self.words.iter().position(|kept| *kept == word).unwrap_or_else(|| {
            self.words.push(word);
            self.words.len() - 1
        })
    }
}

/// A program's instructions.
pub(crate) struct Code {
    pub(crate) lines: Vec<String>,
    /// The number of stack vectors that the instructions need.
    pub(crate) slots: usize,
    /// The registers of the outputs.
    pub(crate) outputs: Vec<usize>,
}

/// The registers in which a program leaves its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Output i in register i.
    InOrder,
    /// Any registers.
    Anywhere,
}

struct Allocator<'a> {
    edition: Edition,
    program: &'a Program,
    pool: &'a mut Pool,
    pins: &'a [Operation],
    /// The number of registers that are not pinned.
    registers: usize,
    /// The uses of each value, first use last.
    uses: Vec<Vec<usize>>,
    register_of: HashMap<usize, usize>,
    holder: [Option<usize>; REGISTERS],
    slot_of: HashMap<usize, usize>,
    slots: usize,
    free_slots: Vec<usize>,
    /// The rows whose offsets are in the scratch registers for reading and for writing.
    offsets: [Option<usize>; 2],
    lines: Vec<String>,
}

/// The registers for accessing rows: `base`'s two registers hold the addresses of row 0 and of its
/// second vector; the other rows' offsets, in words, are in registers, or in a table at x0.
struct RowRegisters {
    base: [usize; 2],
    /// The registers of the offsets of rows 1, 2, ...
    offsets: &'static [usize],
    /// The register for the offset of another row.
    scratch: usize,
    /// The table's offset from x0.
    table: usize,
}

/// For rows that are read, and for rows that are written.
const ROWS: [RowRegisters; 2] = [
    RowRegisters { base: [3, 4], offsets: &[7, 8, 15, 16, 17], scratch: 9, table: 48 },
    RowRegisters { base: [5, 6], offsets: &[], scratch: 10, table: 176 },
];

/// Instructions that load the offsets of `rows` rows into the registers where [`compile`] expects them.
pub(crate) fn load_offsets(rows: usize) -> Vec<String> {
    let offset = |at: &RowRegisters, row: usize, register: usize| {
        format!("ldr x{register}, [x0, #{}]", at.table + 8 * row)
    };
    ROWS.iter()
        .flat_map(|at| (1..rows).zip(at.offsets).map(|(row, register)| offset(at, row, *register)))
        .collect()
}

/// The least number of registers for computed values.
const WORKING_REGISTERS: usize = 6;

/// The constants, from the first on, to keep in registers in addition to the inputs: the number that makes the program
/// shortest.
pub(crate) fn pins(
    program: &Program,
    edition: Edition,
    constants: Vec<Operation>,
    inputs: usize,
) -> Vec<Operation> {
    let constants: Vec<_> =
        constants.into_iter().filter(|constant| *constant != Operation::Splat(EPSILON)).collect();
    let length = |pins: &[Operation]| {
        compile(program, edition, &mut Pool::default(), pins, Outputs::Anywhere).lines.len()
    };
    let counts = 0..=constants.len().min(REGISTERS - inputs - WORKING_REGISTERS);
    let count = counts.min_by_key(|count| length(&constants[..*count])).unwrap_or_default();
    constants[..count].to_vec()
}

/// The register of pinned constant `k`.
fn pin_register(k: usize) -> usize {
    REGISTERS - 1 - k
}

/// Instructions that load constants into the registers where [`compile`] expects them.
pub(crate) fn load_pins(pins: &[Operation], pool: &mut Pool) -> Vec<String> {
    pins.iter().enumerate().map(|(k, pin)| load_constant(*pin, pin_register(k), pool)).collect()
}

/// The instruction that loads a constant.
fn load_constant(operation: Operation, register: usize, pool: &mut Pool) -> String {
    let (base, offset) = match operation {
        Operation::Splat(word) => (2, 8 * pool.index(word)),
        Operation::Constant(n) | Operation::SmallConstant(n) => (1, 8 * n),
        _ => unreachable!("no constant"),
    };
    assert!(offset < 512, "too many constants");
    format!("ld1rd {{z{register}.d}}, p0/z, [x{base}, #{offset}]")
}

/// Compiles a program whose input i is in register i.
///
/// Registers: p0 all true (or the loop's predicate), p1 scratch; x1 the table of constants, x2 the pool. The registers of
/// `pins` keep their constants. Programs that read and write rows also use x0, x3 to x10, and x15 to x17.
pub(crate) fn compile(
    program: &Program,
    edition: Edition,
    pool: &mut Pool,
    pins: &[Operation],
    outputs: Outputs,
) -> Code {
    let program = &program.clone().lowered(edition == Edition::Sve2);
    let mut uses = vec![Vec::new(); program.operations.len()];
    for (at, operation) in program.operations.iter().enumerate() {
        operation.arguments().into_iter().for_each(|argument| uses[argument].push(at));
    }
    program.outputs.iter().for_each(|output| uses[*output].push(usize::MAX));
    uses.iter_mut().for_each(|uses| uses.reverse());
    let mut allocator = Allocator {
        edition,
        program,
        pool,
        pins,
        registers: REGISTERS - pins.len(),
        uses,
        register_of: HashMap::new(),
        holder: [None; REGISTERS],
        slot_of: HashMap::new(),
        slots: 0,
        free_slots: Vec::new(),
        offsets: [None; 2],
        lines: Vec::new(),
    };
    for (at, operation) in program.operations.iter().enumerate() {
        if let Operation::Input(register) | Operation::SmallInput(register) = *operation {
            assert!(register < allocator.registers, "an input in a pinned register");
            if !allocator.uses[at].is_empty() {
                allocator.hold(at, register);
            }
        } else {
            allocator.step(at, *operation);
        }
    }
    let outputs = match outputs {
        Outputs::InOrder => allocator.place_outputs(),
        Outputs::Anywhere => allocator.find_outputs(),
    };
    Code { lines: allocator.lines, slots: allocator.slots, outputs }
}

impl Allocator<'_> {
    fn emit(&mut self, line: String) {
        self.lines.push(line);
    }

    fn hold(&mut self, value: usize, register: usize) {
        self.holder[register] = Some(value);
        self.register_of.insert(value, register);
    }

    fn next_use(&self, value: usize) -> Option<usize> {
        self.uses[value].last().copied()
    }

    /// Whether a value is loaded from memory again instead of kept.
    fn is_constant(&self, value: usize) -> bool {
        matches!(
            self.program.operations[value],
            Operation::Splat(_) | Operation::Constant(_) | Operation::SmallConstant(_)
        )
    }

    /// The register of a pinned constant.
    fn pinned(&self, value: usize) -> Option<usize> {
        match self.program.operations[value] {
            Operation::Splat(EPSILON) => Some(EPSILON_REGISTER),
            operation => self.pins.iter().position(|pin| *pin == operation).map(pin_register),
        }
    }

    fn step(&mut self, at: usize, operation: Operation) {
        // Constants and rows are loaded where they are used.
        if self.is_constant(at) || matches!(operation, Operation::Load(_)) {
            return;
        }
        let arguments = operation.arguments();
        let mut sources = Vec::new();
        for argument in &arguments {
            let register = self.bring(*argument, &sources);
            sources.push(register);
        }
        for argument in &arguments {
            if self.next_use(*argument) == Some(at) {
                self.uses[*argument].pop();
            }
        }
        // This operation uses a value twice.
        for argument in &arguments {
            while self.next_use(*argument) == Some(at) {
                self.uses[*argument].pop();
            }
        }
        // Constants are released at once; so are other values without further uses, whose register may then hold the result.
        let mut dying = Vec::new();
        for argument in &arguments {
            let dead = self.next_use(*argument).is_none();
            if (dead || self.is_constant(*argument))
                && self.pinned(*argument).is_none()
                && let Some(register) = self.register_of.remove(argument)
            {
                self.holder[register] = None;
                dying.push(register);
            }
            if dead && let Some(slot) = self.slot_of.remove(argument) {
                self.free_slots.push(slot);
            }
        }
        if let Operation::Store(_, place) = operation {
            let address = self.address(place, 1);
            self.emit(format!("st1d {{z{}.d}}, p0, {address}", sources[0]));
            return;
        }
        let destination = self.destination(operation, &sources, &dying, at);
        self.instructions(operation, destination, &sources);
        if self.next_use(at).is_some() {
            self.hold(at, destination);
        }
    }

    /// The register of an argument, which is loaded from memory if necessary.
    fn bring(&mut self, value: usize, keep: &[usize]) -> usize {
        if let Some(register) = self.pinned(value) {
            return register;
        }
        if let Some(register) = self.register_of.get(&value) {
            return *register;
        }
        let register = self.vacate(keep);
        let line = match self.program.operations[value] {
            constant if self.is_constant(value) => load_constant(constant, register, self.pool),
            Operation::Load(place) if !self.slot_of.contains_key(&value) => {
                assert!(self.offsets[1].is_none(), "all is loaded before a row is stored");
                let address = self.address(place, 0);
                format!("ld1d {{z{register}.d}}, p0/z, {address}")
            }
            _ => format!("ldr z{register}, [sp, #{}, mul vl]", self.slot_of[&value]),
        };
        self.emit(line);
        self.hold(value, register);
        register
    }

    /// The address of a row for reading (0) or writing (1).
    fn address(&mut self, Place { row, second }: Place, access: usize) -> String {
        let at = &ROWS[access];
        let base = at.base[usize::from(second)];
        let offset = match row.checked_sub(1) {
            None => return format!("[x{base}]"),
            Some(index) => at.offsets.get(index).copied().unwrap_or(at.scratch),
        };
        if offset == at.scratch && self.offsets[access] != Some(row) {
            self.offsets[access] = Some(row);
            self.emit(format!("ldr x{offset}, [x0, #{}]", at.table + 8 * row));
        }
        format!("[x{base}, x{offset}, lsl #3]")
    }

    /// An empty register.
    fn vacate(&mut self, keep: &[usize]) -> usize {
        if let Some(register) = (0..self.registers).rev().find(|register| self.is_free(*register, keep)) {
            return register;
        }
        let furthest = (0..self.registers)
            .filter(|register| !keep.contains(register))
            .max_by_key(|register| self.holder[*register].and_then(|value| self.next_use(value)))
            .expect("more registers than arguments");
        self.evict(furthest);
        furthest
    }

    fn is_free(&self, register: usize, keep: &[usize]) -> bool {
        self.holder[register].is_none() && !keep.contains(&register)
    }

    fn evict(&mut self, register: usize) {
        let value = self.holder[register].take().expect("a value to evict");
        self.register_of.remove(&value);
        if self.is_constant(value) || self.slot_of.contains_key(&value) {
            return;
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.slot_of.insert(value, slot);
        self.emit(format!("str z{register}, [sp, #{slot}, mul vl]"));
    }

    /// The register of the result: that of the output if it is free, a dying argument's, or another.
    fn destination(&mut self, operation: Operation, sources: &[usize], dying: &[usize], at: usize) -> usize {
        let forbidden = forbidden(operation, sources, self.edition);
        let usable = |register: &usize| !forbidden.contains(register);
        let home = self.program.outputs.iter().position(|output| *output == at);
        if let Some(home) = home.filter(usable).filter(|home| self.holder[*home].is_none()) {
            return home;
        }
        // In place if the instruction overwrites its first operand.
        if let Some(first) =
            sources.first().filter(|first| dying.contains(first)).filter(|first| usable(first))
        {
            return *first;
        }
        if let Some(register) = dying.iter().find(|register| usable(register)) {
            return *register;
        }
        self.vacate(sources)
    }

    fn instructions(&mut self, operation: Operation, d: usize, sources: &[usize]) {
        let a = sources.first().copied().unwrap_or_default();
        let b = sources.get(1).copied().unwrap_or_default();
        let c = sources.get(2).copied().unwrap_or_default();
        let e = EPSILON_REGISTER;
        let sve2 = self.edition == Edition::Sve2;
        match operation {
            Operation::Add(..) => self.emit(format!("add z{d}.d, z{a}.d, z{b}.d")),
            Operation::Sub(..) => self.emit(format!("sub z{d}.d, z{a}.d, z{b}.d")),
            Operation::And(..) => self.emit(format!("and z{d}.d, z{a}.d, z{b}.d")),
            Operation::ShiftLeft(_, k) => self.emit(format!("lsl z{d}.d, z{a}.d, #{k}")),
            Operation::ShiftRight(_, k) => self.emit(format!("lsr z{d}.d, z{a}.d, #{k}")),
            Operation::ShiftRightSigned(_, k) => self.emit(format!("asr z{d}.d, z{a}.d, #{k}")),
            Operation::LowHalf(_) => self.emit(format!("and z{d}.d, z{a}.d, z{e}.d")),
            Operation::MulHalves(..) => self.emit(format!("umullb z{d}.d, z{a}.s, z{b}.s")),
            Operation::AddProductOfHalves(..) => {
                self.copy_first(d, a);
                self.emit(format!("umlalb z{d}.d, z{b}.s, z{c}.s"));
            }
            Operation::AddMulLow(..) => {
                self.copy_first(d, a);
                self.emit(format!("mla z{d}.d, p0/m, z{b}.d, z{c}.d"));
            }
            Operation::MulLow(..) if sve2 => self.emit(format!("mul z{d}.d, z{a}.d, z{b}.d")),
            Operation::MulHigh(..) if sve2 => self.emit(format!("umulh z{d}.d, z{a}.d, z{b}.d")),
            Operation::MulLow(..) => self.destructive("mul", d, a, b),
            Operation::MulHigh(..) => self.destructive("umulh", d, a, b),
            Operation::AddFolded(..) => {
                self.emit(format!("add z{d}.d, z{a}.d, z{b}.d"));
                self.emit(format!("cmphi p1.d, p0/z, z{b}.d, z{d}.d"));
                self.emit(format!("add z{d}.d, p1/m, z{d}.d, z{e}.d"));
            }
            Operation::SubFolded(..) => {
                self.emit(format!("cmphi p1.d, p0/z, z{b}.d, z{a}.d"));
                self.emit(format!("sub z{d}.d, z{a}.d, z{b}.d"));
                self.emit(format!("sub z{d}.d, p1/m, z{d}.d, z{e}.d"));
            }
            // The smaller of a and a - p, where a - p is a + 2^32 - 1.
            Operation::Canonical(_) => {
                self.emit(format!("add z{d}.d, z{a}.d, z{e}.d"));
                self.emit(format!("umin z{d}.d, p0/m, z{d}.d, z{a}.d"));
            }
            Operation::Input(_)
            | Operation::SmallInput(_)
            | Operation::Splat(_)
            | Operation::Constant(_)
            | Operation::SmallConstant(_)
            | Operation::Load(_)
            | Operation::Store(..) => unreachable!("no result"),
        }
    }

    /// `d = a op b` with an instruction that overwrites its first operand.
    fn destructive(&mut self, name: &str, d: usize, a: usize, b: usize) {
        let (a, b) = if d == b { (b, a) } else { (a, b) };
        self.copy_first(d, a);
        self.emit(format!("{name} z{d}.d, p0/m, z{d}.d, z{b}.d"));
    }

    /// Copies the first operand for an instruction that overwrites it.
    fn copy_first(&mut self, d: usize, a: usize) {
        if d != a {
            self.emit(format!("movprfx z{d}, z{a}"));
        }
    }

    /// The registers of the outputs, each of which holds only that output.
    fn find_outputs(&mut self) -> Vec<usize> {
        let outputs = self.program.outputs.clone();
        let mut registers = Vec::new();
        for output in outputs {
            let register = self.bring(output, &registers);
            registers.push(register);
        }
        registers
    }

    /// Moves every output to its register.
    fn place_outputs(&mut self) -> Vec<usize> {
        let outputs = self.program.outputs.clone();
        loop {
            let waiting: Vec<(usize, usize)> = outputs
                .iter()
                .enumerate()
                .filter_map(|(home, output)| Some((home, *self.register_of.get(output)?)))
                .filter(|(home, register)| home != register)
                .collect();
            if waiting.is_empty() {
                break;
            }
            let is_source = |register: usize| waiting.iter().any(|(_, source)| *source == register);
            let in_place = |register: usize| {
                outputs.get(register).is_some_and(|output| self.register_of.get(output) == Some(&register))
            };
            let (home, register) =
                match waiting.iter().find(|(home, _)| !is_source(*home) && !in_place(*home)) {
                    Some(step) => *step,
                    // A cycle: one value moves to another register.
                    None => {
                        let aside = (outputs.len()..self.registers)
                            .find(|register| !is_source(*register))
                            .expect("a register beside the outputs");
                        (aside, waiting[0].1)
                    }
                };
            self.emit(format!("mov z{home}.d, z{register}.d"));
            let value = self.holder[register].take().expect("an output");
            if let Some(stale) = self.holder[home].take() {
                self.register_of.remove(&stale);
            }
            self.hold(value, home);
        }
        for (home, output) in outputs.iter().enumerate() {
            if !self.register_of.contains_key(output) {
                let slot = self.slot_of[output];
                self.emit(format!("ldr z{home}, [sp, #{slot}, mul vl]"));
            }
        }
        (0..outputs.len()).collect()
    }
}

/// Registers that an operation's result must not overwrite before all operands are read.
fn forbidden(operation: Operation, sources: &[usize], edition: Edition) -> Vec<usize> {
    match operation {
        Operation::AddFolded(..) => vec![sources[1]],
        Operation::Canonical(_) => vec![sources[0]],
        Operation::AddProductOfHalves(..) | Operation::AddMulLow(..) => sources[1..].to_vec(),
        Operation::MulLow(..) | Operation::MulHigh(..)
            if edition == Edition::Sve && sources[0] == sources[1] =>
        {
            vec![sources[0]]
        }
        _ => vec![],
    }
}
