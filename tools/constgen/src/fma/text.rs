//! The text of a program for x86-64: instructions, addresses, the frame. Constants and operands stay in memory, from where most
//! instructions can read.

use super::program::Program;
use crate::assembly::{Form, Location, Origin, Outputs, Target, allocate};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

const REGISTERS: usize = 16;

/// Bytes of a vector register.
pub(super) const BYTES: usize = 32;

/// What an address is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Base {
    Constants,
    B,
    Stack,
}

/// A vector in memory, by its offset in bytes.
pub(super) type Place = (Base, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    /// In this register at the beginning.
    Input(usize),
    /// A constant, or a limb of the second operand.
    Memory(Place),
    /// A double, for all lanes.
    Broadcast(Place),
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
            Self::Input(_) | Self::Memory(_) => "vmovapd",
            Self::Broadcast(_) => "vbroadcastsd",
        }
    }
}

/// A line of the body, with the places of memory operands.
enum Word {
    Text(String),
    Memory(Place),
}

/// The lines of a program.
#[derive(Default)]
struct Body {
    lines: Vec<Vec<Word>>,
}

impl Body {
    fn line(&mut self, mnemonic: &str, operands: impl IntoIterator<Item = Word>) {
        let mut line = vec![Word::Text(format!("{mnemonic} "))];
        for (i, operand) in operands.into_iter().enumerate() {
            if i > 0 {
                line.push(Word::Text(", ".to_owned()));
            }
            line.push(operand);
        }
        self.lines.push(line);
    }
}

fn ymm(register: usize) -> Word {
    Word::Text(format!("ymm{register}"))
}

fn stack(slot: usize) -> Word {
    Word::Memory((Base::Stack, BYTES * slot))
}

fn word(location: Location<Operation>) -> Word {
    match location {
        Location::Register(register) => ymm(register),
        Location::Slot(slot) => stack(slot),
        Location::Memory(Operation::Memory(place) | Operation::Broadcast(place)) => Word::Memory(place),
        Location::Memory(_) => unreachable!("only constants and operands are in memory"),
    }
}

impl Target for Body {
    type Operation = Operation;

    fn registers(&self) -> usize {
        REGISTERS
    }

    fn origin(&self, operation: Operation) -> Origin {
        match operation {
            Operation::Input(register) => Origin::Input(register),
            Operation::Memory(_) | Operation::Broadcast(_) => Origin::Memory,
            _ => Origin::Computed,
        }
    }

    fn form(&self, operation: Operation) -> Form {
        use Operation::*;
        let commutes = matches!(operation, MultiplyAdd | Add | AddIntegers | And | Or);
        Form { tied: operation == MultiplyAdd, in_place: false, commutes, late: None }
    }

    fn reads_memory(&self, operand: Operation) -> bool {
        !matches!(operand, Operation::Broadcast(_))
    }

    fn copy(&mut self, to: usize, from: Location<Operation>) {
        let mnemonic = match from {
            Location::Memory(operation) => operation.mnemonic(),
            _ => "vmovapd",
        };
        self.line(mnemonic, [ymm(to), word(from)]);
    }

    fn spill(&mut self, slot: usize, from: usize) {
        self.line("vmovapd", [stack(slot), ymm(from)]);
    }

    fn compute(&mut self, operation: Operation, result: usize, mut operands: &[Location<Operation>]) {
        if let (Operation::MultiplyAdd, [sum, factors @ ..]) = (operation, operands) {
            operands = factors;
            if *sum != Location::Register(result) {
                self.copy(result, *sum);
            }
        }
        let immediate = match operation {
            Operation::ShiftRight(bits) => Some(Word::Text(bits.to_string())),
            Operation::Blend => Some(Word::Text("0x88".to_owned())),
            _ => None,
        };
        let operands = operands.iter().map(|operand| word(*operand));
        self.line(operation.mnemonic(), [ymm(result)].into_iter().chain(operands).chain(immediate));
    }
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

/// The text of a function; a value that is read again within `near` instructions is loaded into a register.
pub(super) fn function(head: &str, program: &Program, near: usize) -> String {
    let mut body = Body::default();
    let frame = BYTES * allocate(program, &mut body, Outputs::Moved, near).slots;
    let windows = windows(&body.lines);
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
    let mut text = head.to_owned();
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
    for words in &body.lines {
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
