//! The dependencies of a program's instructions, and the registers that they take.

use crate::{
    device::{Instructions, TileDescription, Timing},
    limbs::{InstructionOperand, TileInstruction, TileOperation, TileProgram},
};

/// A program with the times of a tile's instructions.
pub(super) struct Needs<'a> {
    program: &'a TileProgram,
    timings: Vec<&'a Timing>,
    /// The slots that each instruction may take.
    pub(super) slots: Vec<Vec<usize>>,
    /// The slots that a load may take.
    pub(super) load_slots: Vec<usize>,
    /// For each instruction those that it waits for, and how many cycles after they were issued.
    pub(super) before: Vec<Vec<(usize, usize)>>,
    /// For each instruction those that wait for it.
    pub(super) after: Vec<Vec<usize>>,
    /// For each instruction the cycles from its issue to the last one that depends on it.
    pub(super) path: Vec<usize>,
    /// For each instruction the number of those that read its result from a register.
    pub(super) readers: Vec<usize>,
    /// For each instruction those whose results it reads from registers.
    pub(super) reads: Vec<Vec<usize>>,
    /// For each instruction the words of memory that it reads.
    pub(super) loads: Vec<Vec<usize>>,
    /// For each instruction the registers of its result.
    pub(super) results: Vec<Registers>,
}

/// Registers of both kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Registers {
    pub(super) vectors: usize,
    pub(super) accumulators: usize,
}

impl<'a> Needs<'a> {
    /// The needs of a program, all of whose instructions the tile has.
    pub(super) fn new(program: &'a TileProgram, tile: &'a TileDescription) -> Self {
        let instructions = &tile.instructions;
        let count = program.instructions.len();
        let timing = |instruction| instructions.timing(instruction).expect("an instruction of the tile");
        let slots = |timing: &Timing| {
            let place = |slot| tile.slots.iter().position(|known| known == slot);
            timing.slots.iter().filter_map(place).collect()
        };
        let timings: Vec<_> = program.instructions.iter().map(timing).collect();
        let mut needs = Self {
            program,
            slots: timings.iter().map(|timing| slots(timing)).collect(),
            load_slots: slots(&instructions.load),
            timings,
            before: vec![Vec::new(); count],
            after: vec![Vec::new(); count],
            path: vec![0; count],
            readers: vec![0; count],
            reads: program.instructions.iter().map(registers_read).collect(),
            loads: program.instructions.iter().map(words_read).collect(),
            results: program.instructions.iter().map(result).collect(),
        };
        for index in 0..count {
            needs.reads[index].iter().for_each(|from| needs.readers[*from] += 1);
            let in_registers = needs.reads[index].iter().map(|from| (*from, needs.latency(*from, index)));
            // A load comes after the store.
            let by_memory = instructions.store.last() + instructions.load.latency;
            let in_memory =
                needs.loads[index].iter().filter_map(|word| Some((program.words[*word]?, by_memory)));
            needs.before[index] = in_registers.chain(in_memory).collect();
            for (from, _) in &needs.before[index] {
                needs.after[*from].push(index);
            }
        }
        for index in (0..count).rev() {
            for (from, cycles) in &needs.before[index] {
                needs.path[*from] = needs.path[*from].max(cycles + needs.path[index]);
            }
        }
        needs
    }

    pub(super) fn timing(&self, index: usize) -> &'a Timing {
        self.timings[index]
    }

    /// Cycles from the issue of an instruction to that of one that reads its result.
    fn latency(&self, from: usize, to: usize) -> usize {
        let timing = self.timing(from);
        let sums = |index: usize| {
            matches!(self.program.instructions[index].operation, TileOperation::Multiply { .. })
        };
        let adds = sums(from) && sums(to) && self.program.instructions[to].accumulator == Some(from);
        timing.accumulate.filter(|_| adds).map_or(timing.last(), |accumulate| timing.issues - 1 + accumulate)
    }

    /// Whether an instruction stores a word.
    pub(super) fn stores(&self, index: usize, word: usize) -> bool {
        self.program.words[word] == Some(index)
    }

    /// The registers that the program takes if it is run in order.
    pub(super) fn most(&self) -> Registers {
        let mut readers = self.readers.clone();
        let (mut used, mut most) = (Registers::default(), Registers::default());
        for index in 0..self.program.instructions.len() {
            // Loaded vectors too, since they may need registers at the same time.
            let loaded = self.loads[index].len();
            for from in &self.reads[index] {
                readers[*from] -= 1;
                if readers[*from] == 0 {
                    used = used.less(self.results[*from]);
                }
            }
            used = used.plus(self.results[index]);
            most.vectors = most.vectors.max(used.vectors + loaded);
            most.accumulators = most.accumulators.max(used.accumulators);
        }
        most
    }
}

fn registers_read(instruction: &TileInstruction) -> Vec<usize> {
    let vectors = instruction.operands.iter().filter_map(|operand| match operand {
        InstructionOperand::Register(from) => Some(*from),
        _ => None,
    });
    let mut all: Vec<_> = instruction.accumulator.into_iter().chain(vectors).collect();
    all.dedup();
    all
}

fn words_read(instruction: &TileInstruction) -> Vec<usize> {
    let words = instruction.operands.iter().filter_map(|operand| match operand {
        InstructionOperand::Memory(word) => Some(*word),
        _ => None,
    });
    let mut words: Vec<_> = words.collect();
    words.dedup();
    words
}

fn result(instruction: &TileInstruction) -> Registers {
    match instruction.operation {
        TileOperation::Multiply { .. } | TileOperation::Carry | TileOperation::CarryUp => {
            Registers { vectors: 0, accumulators: 1 }
        }
        TileOperation::Low { .. } | TileOperation::Quotient => Registers { vectors: 1, accumulators: 0 },
        // Eight lanes of 64 bits.
        TileOperation::CarryDown => Registers { vectors: 2, accumulators: 0 },
        TileOperation::Store => Registers::default(),
    }
}

impl Instructions {
    /// The timing of an instruction; `None` if the tile does not have it.
    pub(super) fn timing(&self, instruction: &TileInstruction) -> Option<&Timing> {
        let by_one = |operand: &InstructionOperand| matches!(operand, InstructionOperand::Constant(1 | -1));
        match instruction.operation {
            TileOperation::Multiply { .. } if instruction.operands.iter().any(by_one) => {
                Some(self.add.as_ref().unwrap_or(&self.multiply))
            }
            TileOperation::Multiply { .. } => Some(&self.multiply),
            TileOperation::Low { .. } => Some(&self.low),
            TileOperation::Quotient => Some(&self.quotient),
            TileOperation::Carry => self.carry.as_ref(),
            TileOperation::CarryDown => self.carry_down.as_ref(),
            TileOperation::CarryUp => self.carry_up.as_ref(),
            TileOperation::Store => Some(&self.store),
        }
    }
}

impl Timing {
    /// Cycles from the first issue until the result can be read.
    pub(super) fn last(&self) -> usize {
        self.issues - 1 + self.latency
    }
}

impl Registers {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { vectors: self.vectors + other.vectors, accumulators: self.accumulators + other.accumulators }
    }

    pub(super) fn most(self, other: Self) -> Self {
        Self {
            vectors: self.vectors.max(other.vectors),
            accumulators: self.accumulators.max(other.accumulators),
        }
    }

    pub(super) fn less(self, other: Self) -> Self {
        Self { vectors: self.vectors - other.vectors, accumulators: self.accumulators - other.accumulators }
    }
}
