//! Instructions of SVE and SVE2, and the registers that kernels use for other things than values.
//!
//! Both editions have the same registers, and most instructions. Where they differ, `if_sve1` and `if_sve2` stand before the
//! instruction of one of them.

use super::trace::{Halves, Operation, Place, Program};
use crate::assembly::{Form, Location, Origin, Outputs, Target, allocate};

/// The registers for values: z0 to z30.
const REGISTERS: usize = 31;

/// The register that always holds `2^32 - 1`.
const EPSILON_REGISTER: usize = 31;

pub(crate) const EPSILON: u64 = 0xffff_ffff;

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
pub(crate) fn pins(program: &Program, constants: Vec<Operation>, inputs: usize) -> Vec<Operation> {
    let constants: Vec<_> =
        constants.into_iter().filter(|constant| *constant != Operation::Splat(EPSILON)).collect();
    let length = |pins: &[Operation]| -> usize {
        let lines = compile(program, &mut Pool::default(), pins, Outputs::Anywhere).lines;
        lines.iter().map(|line| if line.starts_with("if_") { 1 } else { 2 }).sum()
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
pub(crate) fn compile(program: &Program, pool: &mut Pool, pins: &[Operation], outputs: Outputs) -> Code {
    let mut text = Text { pool, pins, offsets: [None; 2], has_stored: false, lines: Vec::new() };
    let allocated = allocate(&program.lowered(), &mut text, outputs, 0);
    Code { lines: text.lines, slots: allocated.slots, outputs: allocated.outputs }
}

struct Text<'a> {
    pool: &'a mut Pool,
    pins: &'a [Operation],
    /// The rows whose offsets are in the scratch registers for reading and for writing.
    offsets: [Option<usize>; 2],
    /// Whether a row has been written, after which rows cannot be read.
    has_stored: bool,
    lines: Vec<String>,
}

impl Text<'_> {
    fn emit(&mut self, line: String) {
        self.lines.push(line);
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
}

impl Target for Text<'_> {
    type Operation = Operation;

    fn registers(&self) -> usize {
        REGISTERS - self.pins.len()
    }

    fn origin(&self, operation: Operation) -> Origin {
        let pin = self.pins.iter().position(|pin| *pin == operation).map(pin_register);
        match operation {
            Operation::Input(register) | Operation::SmallInput(register) => Origin::Input(register),
            Operation::Splat(EPSILON) => Origin::Fixed(EPSILON_REGISTER),
            _ if let Some(register) = pin => Origin::Fixed(register),
            Operation::Load(_) => Origin::Memory,
            _ if operation.is_constant() => Origin::Memory,
            _ => Origin::Computed,
        }
    }

    fn reads_memory(&self, _: Self::Operation) -> bool {
        false
    }

    fn form(&self, operation: Operation) -> Form {
        use Operation::*;
        let product = matches!(operation, MulLow | MulHigh | MulHalves);
        Form {
            tied: matches!(
                operation,
                Factor
                    | AddProductOfHalves
                    | AddProductOfTops
                    | AddMulLow
                    | SubMulLow
                    | MulLowAdd
                    | MulLowSub
                    | ShiftAddFolded
            ),
            commutes: product,
            in_place: product,
            late: (operation == Canonical).then_some(0),
        }
    }

    fn copy(&mut self, to: usize, from: Location<Operation>) {
        let line = match from {
            Location::Register(from) => format!("mov z{to}.d, z{from}.d"),
            Location::Slot(slot) => format!("ldr z{to}, [sp, #{slot}, mul vl]"),
            Location::Memory(Operation::Load(place)) => {
                assert!(!self.has_stored, "all is loaded before a row is stored");
                format!("ld1d {{z{to}.d}}, p0/z, {}", self.address(place, 0))
            }
            Location::Memory(constant) => load_constant(constant, to, self.pool),
        };
        self.emit(line);
    }

    fn spill(&mut self, slot: usize, from: usize) {
        self.emit(format!("str z{from}, [sp, #{slot}, mul vl]"));
    }

    fn compute(&mut self, operation: Operation, d: usize, operands: &[Location<Operation>]) {
        if self.form(operation).tied && operands[0] != Location::Register(d) {
            match operands[0] {
                Location::Register(_) if operation == Operation::Factor => {}
                Location::Register(first) => self.emit(format!("movprfx z{d}, z{first}")),
                memory => self.copy(d, memory),
            }
        }
        // Only a tied first operand may have been in memory, and it is in `d` now.
        let registers = [0, 1, 2, 3].map(|index| match operands.get(index) {
            Some(Location::Register(register)) => *register,
            _ => d,
        });
        let lines = self.instructions(operation, d, registers);
        self.lines.extend(lines);
    }
}

impl Text<'_> {
    /// The instructions of an operation whose operands are in registers.
    fn instructions(&mut self, operation: Operation, d: usize, registers: [usize; 4]) -> Vec<String> {
        let (e, [a, b, c, _]) = (EPSILON_REGISTER, registers);
        let three = |name: &str| format!("{name} z{d}.d, z{a}.d, z{b}.d");
        let shift = |name: &str, k: u32| format!("{name} z{d}.d, z{a}.d, #{k}");
        match operation {
            Operation::Add => vec![three("add")],
            Operation::Sub => vec![three("sub")],
            Operation::And => vec![three("and")],
            Operation::ShiftLeft(k) => vec![shift("lsl", k)],
            Operation::ShiftRight(k) => vec![shift("lsr", k)],
            Operation::ShiftRightSigned(k) => vec![shift("asr", k)],
            Operation::LowHalf => vec![format!("and z{d}.d, z{a}.d, z{e}.d")],
            Operation::AddMulLow => vec![format!("mla z{d}.d, p0/m, z{b}.d, z{c}.d")],
            Operation::SubMulLow => vec![format!("mls z{d}.d, p0/m, z{b}.d, z{c}.d")],
            Operation::MulLowAdd => vec![format!("mad z{d}.d, p0/m, z{c}.d, z{b}.d")],
            Operation::MulLowSub => vec![format!("msb z{d}.d, p0/m, z{c}.d, z{b}.d")],
            Operation::AddShifted(k) => vec![format!("adr z{d}.d, [z{a}.d, z{b}.d, lsl #{k}]")],
            Operation::AddLowHalf => vec![format!("adr z{d}.d, [z{a}.d, z{b}.d, uxtw]")],
            Operation::ShiftAddFolded => folded_sum(format!("mad z{d}.d, p0/m, z{c}.d, z{b}.d"), d, b),
            Operation::AddFolded => folded_sum(three("add"), d, if d == b { a } else { b }),
            Operation::SubFolded => vec![
                format!("cmphi p1.d, p0/z, z{b}.d, z{a}.d"),
                three("sub"),
                format!("sub z{d}.d, p1/m, z{d}.d, z{e}.d"),
            ],
            // The smaller of a and a - p, where a - p is a + 2^32 - 1.
            Operation::Canonical => {
                vec![format!("add z{d}.d, z{a}.d, z{e}.d"), format!("umin z{d}.d, p0/m, z{d}.d, z{a}.d")]
            }
            Operation::Store(place) => {
                self.has_stored = true;
                let address = self.address(place, 1);
                vec![format!("st1d {{z{a}.d}}, p0, {address}")]
            }
            _ => edition_instructions(operation, d, registers),
        }
    }
}

/// The instructions of an operation for which the editions have different ones.
fn edition_instructions(operation: Operation, d: usize, [a, b, c, t]: [usize; 4]) -> Vec<String> {
    let e = EPSILON_REGISTER;
    let three = |name: &str| format!("{name} z{d}.d, z{a}.d, z{b}.d");
    let either = |sve1: String, sve2: String| vec![format!("if_sve1 {sve1}"), format!("if_sve2 {sve2}")];
    match operation {
        // If the word is not read again, its high half may remain at SVE2.
        Operation::Factor if d == a => vec![format!("if_sve1 and z{d}.d, z{d}.d, z{e}.d")],
        Operation::Factor => vec![format!("and z{d}.d, z{a}.d, z{e}.d")],
        Operation::Sve1Low => vec![format!("if_sve1 and z{d}.d, z{a}.d, z{e}.d")],
        Operation::Sve1Top => vec![format!("if_sve1 lsr z{d}.d, z{a}.d, #32")],
        Operation::MulLow => product("mul", d, [a, b], three("mul")),
        Operation::MulHigh => product("umulh", d, [a, b], three("umulh")),
        Operation::MulHalves => product("mul", d, [a, b], format!("umullb z{d}.d, z{a}.s, z{b}.s")),
        Operation::AddProductOfHalves => {
            either(format!("mla z{d}.d, p0/m, z{b}.d, z{c}.d"), format!("umlalb z{d}.d, z{b}.s, z{c}.s"))
        }
        Operation::AddProductOfTops => {
            either(format!("mla z{d}.d, p0/m, z{t}.d, z{e}.d"), format!("umlalt z{d}.d, z{b}.s, z{c}.s"))
        }
        Operation::Halves(Halves { subtract, wide, top }) => {
            let name = if subtract { "sub" } else { "add" };
            let (size, first) = if wide { ("w", "d") } else { ("l", "s") };
            let half = if top { "t" } else { "b" };
            let [x, y] = if wide { [a, c] } else { [c, t] };
            either(
                format!("{name} z{d}.d, z{x}.d, z{y}.d"),
                format!("u{name}{size}{half} z{d}.d, z{a}.{first}, z{b}.s"),
            )
        }
        _ => unreachable!("not computed"),
    }
}

/// A product in register `d`, which may be that of a factor: at SVE it replaces one.
fn product(name: &str, d: usize, [a, b]: [usize; 2], sve2: String) -> Vec<String> {
    let [first, second] = if d == b { [b, a] } else { [a, b] };
    let copy = (d != first).then(|| format!("if_sve1 movprfx z{d}, z{first}"));
    let sve1 = format!("if_sve1 {name} z{d}.d, p0/m, z{d}.d, z{second}.d");
    copy.into_iter().chain([sve1, format!("if_sve2 {sve2}")]).collect()
}

/// A sum in register `d`, one of whose parts is in `b`, and 2^32 - 1 more if it has overflowed.
fn folded_sum(sum: String, d: usize, b: usize) -> Vec<String> {
    assert_ne!(d, b, "both parts have been overwritten");
    let e = EPSILON_REGISTER;
    vec![sum, format!("cmphi p1.d, p0/z, z{b}.d, z{d}.d"), format!("add z{d}.d, p1/m, z{d}.d, z{e}.d")]
}
