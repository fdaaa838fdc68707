//! Kernels as programs of a tile's instructions.

use super::{
    ElementWords, LANES, LIMBS, VectorWord,
    exact::Exact,
    tile::{Fit, Tile},
};

/// An instruction; its result is known by its index in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileInstruction {
    /// Its operation.
    pub operation: TileOperation,
    /// The accumulator that it reads: the instruction that computed it.
    pub accumulator: Option<usize>,
    /// The vectors that it reads.
    pub operands: Vec<InstructionOperand>,
}

/// The operation of an instruction: see [`Tile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileOperation {
    /// [`Tile::mul`], [`Tile::mac`], or [`Tile::msc`] if it subtracts.
    Multiply {
        /// Whether the product is subtracted.
        subtract: bool,
    },
    /// [`Tile::low`].
    Low {
        /// Whether the numbers fit.
        fit: Fit,
    },
    /// [`Tile::quotient`].
    Quotient,
    /// [`Tile::carry`], on tiles that have one instruction for it.
    Carry,
    /// On other tiles, the first half of [`Tile::carry`]: to numbers of 64 bits.
    CarryDown,
    /// The second half: to an accumulator.
    CarryUp,
    /// [`Tile::store`].
    Store,
}

/// A vector that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionOperand {
    /// The result of an instruction.
    Register(usize),
    /// A word of memory.
    Memory(usize),
    /// A number in all lanes.
    Constant(i32),
}

/// The instructions for one vector of elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileProgram {
    /// In an order in which every result is there before it is read.
    pub instructions: Vec<TileInstruction>,
    /// For each word of memory the instruction that stores it; `None` for inputs and residents.
    pub words: Vec<Option<usize>>,
    /// Words that are there from the beginning, with the number in all their lanes.
    pub residents: Vec<(usize, i32)>,
    /// The words of the results.
    pub outputs: Vec<[usize; LIMBS]>,
    /// Whether one instruction carries: [`TileOperation::Carry`].
    pub carries_at_once: bool,
}

impl TileProgram {
    /// Words of an element that is there at the beginning.
    pub fn input(&mut self) -> ElementWords<Self> {
        std::array::from_fn(|_| self.word(None))
    }

    /// The numbers that have to be in registers.
    pub fn constants(&self) -> Vec<i32> {
        let operands = self.instructions.iter().flat_map(|instruction| &instruction.operands);
        let numbers = operands.filter_map(|operand| match operand {
            InstructionOperand::Constant(number) => Some(*number),
            _ => None,
        });
        let mut numbers: Vec<_> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn word(&mut self, stored_by: Option<usize>) -> usize {
        self.words.push(stored_by);
        self.words.len() - 1
    }

    fn push(
        &mut self,
        operation: TileOperation,
        accumulator: Option<usize>,
        operands: &[InstructionOperand],
    ) -> usize {
        self.instructions.push(TileInstruction { operation, accumulator, operands: operands.to_vec() });
        self.instructions.len() - 1
    }

    /// Runs the instructions in an order, each once, on the words of the inputs, and returns all words.
    ///
    /// # Panics
    /// If an instruction comes before one whose result it reads.
    pub fn run(
        &self,
        order: impl IntoIterator<Item = usize>,
        inputs: &[[VectorWord; LIMBS]],
    ) -> Vec<VectorWord> {
        let mut tile = Exact::default();
        let mut words: Vec<Option<VectorWord>> = inputs.as_flattened().iter().copied().map(Some).collect();
        words.resize(self.words.len(), None);
        self.residents.iter().for_each(|(word, number)| words[*word] = Some(VectorWord([*number; LANES])));
        let mut vectors: Vec<Option<[i32; LANES]>> = vec![None; self.instructions.len()];
        let mut accumulators: Vec<Option<[i128; LANES]>> = vec![None; self.instructions.len()];
        for index in order {
            let instruction = &self.instructions[index];
            let operand = |operand: usize| match instruction.operands[operand] {
                InstructionOperand::Register(from) => vectors[from].expect("it was computed before"),
                InstructionOperand::Memory(word) => words[word].expect("it was stored before").0,
                InstructionOperand::Constant(number) => [number; LANES],
            };
            let sum = instruction.accumulator.map(|from| accumulators[from].expect("it was computed before"));
            match (instruction.operation, sum) {
                (TileOperation::Multiply { .. }, None) => {
                    accumulators[index] = Some(tile.mul(operand(0), operand(1)));
                }
                (TileOperation::Multiply { subtract }, Some(sum)) => {
                    let operation = if subtract { Exact::msc } else { Exact::mac };
                    accumulators[index] = Some(operation(&mut tile, sum, operand(0), operand(1)));
                }
                (TileOperation::Low { fit }, Some(sum)) => vectors[index] = Some(tile.low(sum, fit)),
                (TileOperation::Quotient, Some(sum)) => vectors[index] = Some(tile.quotient(sum)),
                (TileOperation::Carry | TileOperation::CarryDown, Some(sum)) => {
                    accumulators[index] = Some(tile.carry(sum))
                }
                (TileOperation::CarryUp, Some(sum)) => accumulators[index] = Some(sum),
                (TileOperation::Store, _) => {
                    let word =
                        self.words.iter().position(|stored_by| *stored_by == Some(index)).expect("its word");
                    words[word] = Some(VectorWord(operand(0)));
                }
                (operation, None) => unreachable!("{operation:?} reads an accumulator"),
            }
        }
        words.into_iter().map(|word| word.expect("every word was stored")).collect()
    }
}

impl Tile for TileProgram {
    type Word = usize;
    type Vector = InstructionOperand;
    type Accumulator = usize;

    fn constant(&mut self, number: i32) -> InstructionOperand {
        InstructionOperand::Constant(number)
    }

    fn resident(&mut self, number: i32) -> usize {
        let word = self.word(None);
        self.residents.push((word, number));
        word
    }

    fn load(&mut self, word: &usize) -> InstructionOperand {
        InstructionOperand::Memory(*word)
    }

    fn store(&mut self, vector: InstructionOperand) -> usize {
        let index = self.push(TileOperation::Store, None, &[vector]);
        self.word(Some(index))
    }

    fn low(&mut self, accumulator: usize, fit: Fit) -> InstructionOperand {
        InstructionOperand::Register(self.push(TileOperation::Low { fit }, Some(accumulator), &[]))
    }

    fn carry(&mut self, accumulator: usize) -> usize {
        if self.carries_at_once {
            return self.push(TileOperation::Carry, Some(accumulator), &[]);
        }
        let down = self.push(TileOperation::CarryDown, Some(accumulator), &[]);
        self.push(TileOperation::CarryUp, Some(down), &[])
    }

    fn quotient(&mut self, accumulator: usize) -> InstructionOperand {
        InstructionOperand::Register(self.push(TileOperation::Quotient, Some(accumulator), &[]))
    }

    fn mul(&mut self, a: InstructionOperand, b: InstructionOperand) -> usize {
        self.push(TileOperation::Multiply { subtract: false }, None, &[a, b])
    }

    fn mac(&mut self, accumulator: usize, a: InstructionOperand, b: InstructionOperand) -> usize {
        self.push(TileOperation::Multiply { subtract: false }, Some(accumulator), &[a, b])
    }

    fn msc(&mut self, accumulator: usize, a: InstructionOperand, b: InstructionOperand) -> usize {
        self.push(TileOperation::Multiply { subtract: true }, Some(accumulator), &[a, b])
    }
}
