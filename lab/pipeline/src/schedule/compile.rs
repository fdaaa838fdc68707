//! Kernels of nodes: one loop over all steps, or a loop for each step in turn, whichever is faster and fits the tile.

use super::{KernelSchedule, MOST_VECTORS, program, schedules};
use crate::{
    DataflowGraph, Device, PipelineError,
    graph::{FieldOperation, GraphNode, Port},
    limbs::{LANES, LIMBS, SignedField, TileProgram},
};
use std::collections::HashSet;

/// Bytes of a vector of one limb.
const WORD_BYTES: usize = LANES * size_of::<i32>();

/// The most instruction words that are scheduled as one loop, if its steps in turn take so many.
const MOST_WORDS: usize = 1 << 12;

/// The kernel of a node: the loops that a tile runs for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernel {
    /// Cycles for the vectors of a call, without those of the call itself.
    pub cycles: usize,
    /// Bytes in the tile's memory for values that are neither read from a buffer nor sent.
    pub scratch: usize,
    /// Its loops in the program memory: one, or one for each operation that occurs.
    pub loops: Vec<KernelSchedule>,
}

/// The kernels of all nodes of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkKernels {
    /// A kernel for each node.
    pub nodes: Vec<CompiledKernel>,
    /// Vectors of a call.
    pub vectors: usize,
}

impl NetworkKernels {
    /// The kernels of a network whose calls compute some vectors of elements.
    ///
    /// # Errors
    /// As [`Compiler::kernel`].
    pub fn new(
        graph: &DataflowGraph,
        field: &SignedField,
        device: &Device,
        vectors: usize,
    ) -> Result<Self, PipelineError> {
        Compiler::new(field, device, vectors).kernels(graph)
    }

    /// Cycles of the slowest node, without those of its calls.
    pub fn slowest(&self) -> usize {
        self.nodes.iter().map(|kernel| kernel.cycles).max().unwrap_or(0)
    }

    /// Bytes that a call reads from one input.
    pub fn window(&self) -> usize {
        self.vectors * LIMBS * WORD_BYTES
    }
}

/// Makes kernels for a device, once for nodes that do the same.
#[derive(Clone, Debug)]
pub struct Compiler<'a> {
    field: &'a SignedField,
    device: &'a Device,
    vectors: usize,
    /// Nodes and their kernels, or why they have none.
    known: Vec<(GraphNode, Result<Vec<CompiledKernel>, PipelineError>)>,
}

impl<'a> Compiler<'a> {
    /// A compiler for calls that compute `vectors` vectors of elements.
    pub fn new(field: &'a SignedField, device: &'a Device, vectors: usize) -> Self {
        Self { field, device, vectors, known: Vec::new() }
    }

    /// Vectors of a call.
    pub fn vectors(&self) -> usize {
        self.vectors
    }

    /// The field.
    pub fn field(&self) -> &'a SignedField {
        self.field
    }

    /// The kernels of a network.
    ///
    /// # Errors
    /// As [`kernel`](Self::kernel).
    pub fn kernels(&mut self, graph: &DataflowGraph) -> Result<NetworkKernels, PipelineError> {
        if !(1..=MOST_VECTORS).contains(&self.vectors) {
            return Err(PipelineError::Kernel {
                node: graph.name.clone(),
                device: self.device.name.clone(),
                problem: format!("{} vectors in a call: from 1 to {MOST_VECTORS} are possible", self.vectors),
            });
        }
        let nodes: Result<_, _> = graph.nodes.iter().map(|node| self.kernel(node)).collect();
        Ok(NetworkKernels { nodes: nodes?, vectors: self.vectors })
    }

    /// The kernel of a node of a graph.
    ///
    /// # Errors
    /// Nodes that fit neither the tile's program memory nor its registers, or whose intermediate results do not fit its memory.
    pub fn kernel(&mut self, node: &GraphNode) -> Result<CompiledKernel, PipelineError> {
        Ok(self.alternatives(node)?.swap_remove(0))
    }

    /// Whether a tile has as many streams as a node has sources and results for sinks.
    pub(super) fn has_streams(&self, graph: &DataflowGraph, node: usize) -> bool {
        let inputs = graph.nodes[node].inputs.iter();
        let sources = inputs.filter(|edge| matches!(edge.from, Port::Source(_))).count();
        let results = graph.sinks.iter().map(|sink| sink.edge.from);
        let sent: HashSet<_> =
            results.filter(|from| matches!(from, Port::Node(from, _) if *from == node)).collect();
        let streams = &self.device.streams;
        sources <= streams.into_tile && sent.len() <= streams.out_of_tile
    }

    /// The kernels that are found for a node, the fastest first; each one after it has fewer instructions.
    fn alternatives(&mut self, node: &GraphNode) -> Result<Vec<CompiledKernel>, PipelineError> {
        if let Some((_, kernels)) = self.known.iter().find(|(known, _)| known.has_same_kernel(node)) {
            return kernels.clone();
        }
        let kernels = match node.steps.len() {
            0 | 1 => self.one_loop(node),
            _ => self.fastest(node).map(|kernel| vec![kernel]),
        };
        self.known.push((node.clone(), kernels.clone()));
        kernels
    }

    /// The fastest kernel: all steps in one loop, or a loop for each step.
    fn fastest(&mut self, node: &GraphNode) -> Result<CompiledKernel, PipelineError> {
        let squares = self.in_turn(node, |operation| operation);
        // One loop for products and squares leaves more room for it.
        let products = self.in_turn(node, |operation| match operation {
            FieldOperation::Square => FieldOperation::Multiply,
            other => other,
        });
        let apart = match (squares, products) {
            (Ok(squares), Ok(products)) if products.cycles < squares.cycles => products,
            (Ok(squares), _) => squares,
            (Err(_), products) => products?,
        };
        let mut words = 0;
        for step in node.steps.iter().filter(|step| !step.operation.is_constant()) {
            words += self.alone(step.operation)?.first().map_or(0, CompiledKernel::instructions);
        }
        // Much more than the memory has room for need not be tried.
        let room = self.device.tile.words();
        let together = if words <= MOST_WORDS.min(room + room / 2) { self.one_loop(node).ok() } else { None };
        let together = together.and_then(|kernels| kernels.into_iter().next());
        Ok(together.filter(|together| together.cycles <= apart.cycles).unwrap_or(apart))
    }

    /// All steps for some vectors, then for the next ones.
    fn one_loop(&self, node: &GraphNode) -> Result<Vec<CompiledKernel>, PipelineError> {
        let program = program(node, self.field, self.device);
        let schedules = schedules(&node.name, &program, self.device, self.vectors)?;
        let kernels = schedules.into_iter().map(|schedule| CompiledKernel {
            cycles: schedule.cycles(self.vectors),
            scratch: schedule.vectors_in_flight() * scratch_words(&program) * WORD_BYTES
                + constants(node) * LIMBS * WORD_BYTES,
            loops: vec![schedule],
        });
        Ok(kernels.collect())
    }

    /// One step after another, each for all vectors. Each loop after the first takes as long as a call more.
    fn in_turn(
        &mut self,
        node: &GraphNode,
        by: fn(FieldOperation) -> FieldOperation,
    ) -> Result<CompiledKernel, PipelineError> {
        // Each operation that occurs, how often, its kernels, and which of them is taken.
        let mut loops: Vec<(FieldOperation, usize, Vec<CompiledKernel>, usize)> = Vec::new();
        let operations = node.steps.iter().map(|step| by(step.operation));
        for operation in operations.filter(|operation| !operation.is_constant()) {
            match loops.iter_mut().find(|(known, ..)| *known == operation) {
                Some((_, count, ..)) => *count += 1,
                None => loops.push((operation, 1, self.alone(operation)?, 0)),
            }
        }
        let tile = &self.device.tile;
        let words = tile.words();
        let refused = |problem: String| {
            let (node, device) = (node.name.clone(), self.device.name.clone());
            Err(PipelineError::Kernel { node, device, problem })
        };
        // As long as they do not fit, the loop is replaced by a shorter one that costs the fewest cycles for it.
        loop {
            let all: usize = loops.iter().map(|(.., kernels, taken)| kernels[*taken].instructions()).sum();
            if all <= words {
                break;
            }
            let shorter =
                loops.iter().enumerate().filter(|(_, (.., kernels, taken))| taken + 1 < kernels.len());
            let cost = |(_, count, kernels, taken): &(FieldOperation, usize, Vec<CompiledKernel>, usize)| {
                let [now, then] = [&kernels[*taken], &kernels[taken + 1]];
                let (more, fewer) = (then.cycles - now.cycles, now.instructions() - then.instructions());
                (more * count) as u128 * words as u128 / fewer as u128
            };
            let Some((place, _)) = shorter.min_by_key(|(_, inner)| cost(inner)) else {
                return refused(format!(
                    "its loops of {all} instructions exceed the {words} of the program memory: split it"
                ));
            };
            loops[place].3 += 1;
        }
        let steps: usize = loops.iter().map(|(_, count, ..)| count).sum();
        let mut kernel = CompiledKernel {
            cycles: steps.saturating_sub(1) * tile.call_cycles,
            scratch: 0,
            loops: Vec::new(),
        };
        for (_, count, mut kernels, taken) in loops {
            let alone = kernels.swap_remove(taken);
            kernel.cycles += count * alone.cycles;
            kernel.scratch = kernel.scratch.max(alone.scratch);
            kernel.loops.extend(alone.loops);
        }
        kernel.scratch += (most_alive(node) * self.vectors + constants(node)) * LIMBS * WORD_BYTES;
        let room = tile.data_bytes - tile.stack_bytes;
        if kernel.scratch > room {
            let bytes = kernel.scratch;
            return refused(format!("its {bytes} bytes of intermediate results exceed the memory of {room}"));
        }
        Ok(kernel)
    }

    /// The kernels of an operation alone.
    fn alone(&mut self, operation: FieldOperation) -> Result<Vec<CompiledKernel>, PipelineError> {
        self.alternatives(&GraphNode::of(operation.name(), operation))
    }
}

impl CompiledKernel {
    /// Instruction words of all its loops.
    pub fn instructions(&self) -> usize {
        self.loops.iter().map(KernelSchedule::instructions).sum()
    }
}

/// Words that a program stores and loads again, but does not send.
fn scratch_words(program: &TileProgram) -> usize {
    let stored = program.words.iter().filter(|stored_by| stored_by.is_some()).count();
    stored - program.outputs.iter().map(|output| output.len()).sum::<usize>().min(stored)
}

/// Elements that a node's kernel does not read from a buffer.
fn constants(node: &GraphNode) -> usize {
    node.steps.iter().filter(|step| step.operation.is_constant()).count()
}

/// The most results of steps that wait for a later step at the same time. Values that are sent lie in the buffers.
fn most_alive(node: &GraphNode) -> usize {
    let of_step = |step: usize| node.inputs.len() + step;
    let last_reader = |step: usize| {
        node.steps.iter().rposition(|reader| reader.operands.contains(&of_step(step))).unwrap_or(step)
    };
    let kept: Vec<_> = (0..node.steps.len())
        .filter(|step| !node.outputs.contains(&of_step(*step)) && !node.steps[*step].operation.is_constant())
        .map(|step| (step, last_reader(step)))
        .collect();
    let alive = |now: usize| kept.iter().filter(|(from, to)| (*from..*to).contains(&now)).count();
    (0..node.steps.len()).map(alive).max().unwrap_or(0)
}
