//! Kernels in the instruction words of a tile: list scheduling (R. Graham, "Bounds on multiprocessing timing anomalies", 1969) within the
//! tile's slots and registers, then as a loop whose iterations overlap (B. Rau, "Iterative modulo scheduling", 1994).

mod balance;
mod compile;
mod list;
mod needs;

pub use balance::balanced;
pub use compile::{CompiledKernel, Compiler, NetworkKernels};

use crate::{
    Device, PipelineError,
    device::TileDescription,
    graph::GraphNode,
    limbs::{FieldConstants, SignedField, TileProgram},
};
use list::Scheduler;
use std::fmt;

/// The most vectors of elements that one iteration computes.
const MOST_AT_ONCE: usize = 8;

/// The most vectors of elements that one call of a kernel computes.
const MOST_VECTORS: usize = 1 << 16;

/// A kernel's loop: the instructions that are issued in each cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSchedule {
    /// The instruction words, in order; the loop goes on with the first after the last.
    pub rows: Vec<Vec<Placed>>,
    /// The vectors of elements that one iteration computes.
    pub vectors: usize,
    /// Cycles from the first instruction of an iteration to its last: more than there are rows if iterations overlap.
    pub span: usize,
    /// The most registers for vectors in use, with those of constants.
    pub registers: usize,
    /// The most accumulators in use.
    pub accumulators: usize,
    slots: Vec<String>,
}

/// An instruction in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The slot.
    pub slot: usize,
    /// The index of the vector in its iteration.
    pub vector: usize,
    /// The instruction.
    pub action: Action,
    /// The cycle, counted from the first of the iteration.
    pub cycle: usize,
}

/// The instruction that is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A load of a word that an instruction reads.
    Load {
        /// The word.
        word: usize,
        /// The instruction.
        reader: usize,
    },
    /// An instruction of the program, or another part of one that needs several.
    Instruction(usize),
}

/// The program of a node for one vector of elements on a device's tiles, and its results' words.
pub fn program(node: &GraphNode, field: &SignedField, device: &Device) -> TileProgram {
    let carries_at_once = device.tile.instructions.carry.is_some();
    let mut program = TileProgram { carries_at_once, ..TileProgram::default() };
    let constants = FieldConstants::new(&mut program, field);
    let mut values: Vec<_> = node.inputs.iter().map(|_| program.input()).collect();
    for step in &node.steps {
        values.push(constants.step(&mut program, step, &values));
    }
    program.outputs = node.outputs.iter().map(|output| values[*output]).collect();
    program
}

/// The fastest loop that is found for a node's program on a device's tiles, if each call of the kernel computes some vectors of
/// elements.
///
/// # Errors
/// Programs for other tiles, programs without instructions, and programs that do not fit the tile's memory or its registers.
pub fn schedule(
    node: &str,
    program: &TileProgram,
    device: &Device,
    vectors: usize,
) -> Result<KernelSchedule, PipelineError> {
    Ok(schedules(node, program, device, vectors)?.swap_remove(0))
}

/// The loops that are found for a node's program, the fastest first; each one after it has fewer instructions than those before.
///
/// # Errors
/// As [`schedule`].
fn schedules(
    node: &str,
    program: &TileProgram,
    device: &Device,
    vectors: usize,
) -> Result<Vec<KernelSchedule>, PipelineError> {
    let refused =
        |problem: String| PipelineError::Kernel { node: node.into(), device: device.name.clone(), problem };
    if !(1..=MOST_VECTORS).contains(&vectors) {
        return Err(refused(format!("{vectors} vectors in a call: from 1 to {MOST_VECTORS} are possible")));
    }
    let tile = &device.tile;
    if program.instructions.iter().any(|instruction| tile.instructions.timing(instruction).is_none()) {
        return Err(refused("its program is for tiles that carry in another way".into()));
    }
    if program.instructions.is_empty() {
        return Err(refused("it computes nothing: pass bundles on without it".into()));
    }
    let constants = program.constants().len().div_ceil(crate::limbs::LANES);
    let Some(registers) = tile.vectors.checked_sub(constants).filter(|rest| *rest > 0) else {
        return Err(refused(format!("its constants take all {} registers", tile.vectors)));
    };
    let mut schedules = Vec::new();
    for at_once in (1..=MOST_AT_ONCE.min(vectors)).filter(|at_once| vectors.is_multiple_of(*at_once)) {
        let scheduler = Scheduler::new(tile, program, at_once, registers);
        let Some(line) = scheduler.alone() else { continue };
        let bound = scheduler.bound();
        // Overlapped iterations are tried from the shortest that the slots allow.
        let mut periods = (bound..line.rows.len()).step_by((bound / 100).max(1));
        let overlapped = periods.find_map(|period| scheduler.overlapped(period));
        schedules.extend([Some(line), overlapped].into_iter().flatten());
    }
    let Some(shortest) = schedules.iter().map(KernelSchedule::instructions).min() else {
        let (vectors, accumulators) = (registers, tile.accumulators);
        return Err(refused(format!("{vectors} registers and {accumulators} accumulators do not suffice")));
    };
    let words = tile.words();
    schedules.retain(|schedule| schedule.instructions() <= words);
    schedules.sort_by_key(|schedule| (schedule.cycles(vectors), schedule.instructions()));
    let mut least = usize::MAX;
    schedules.retain(|schedule| {
        let fewer = schedule.instructions() < least;
        least = least.min(schedule.instructions());
        fewer
    });
    if schedules.is_empty() {
        return Err(refused(format!(
            "its {shortest} instructions exceed the {words} of the program memory: split it"
        )));
    }
    for schedule in &mut schedules {
        schedule.registers += constants;
        schedule.slots.clone_from(&tile.slots);
    }
    Ok(schedules)
}

impl TileDescription {
    /// The instruction words that its program memory holds.
    fn words(&self) -> usize {
        self.program_bytes / self.instruction_bytes
    }
}

impl KernelSchedule {
    /// The cycles for some vectors of elements, one iteration after another.
    pub fn cycles(&self, vectors: usize) -> usize {
        self.rows.len() * (vectors.div_ceil(self.vectors) - 1) + self.span
    }

    /// The vectors of elements that are being computed at the same time.
    pub fn vectors_in_flight(&self) -> usize {
        self.vectors * self.span.div_ceil(self.rows.len().max(1))
    }

    /// The instruction words of the program: of the loop, and of what comes before and after it if iterations overlap.
    pub fn instructions(&self) -> usize {
        self.rows.len() + 2 * self.span.saturating_sub(self.rows.len())
    }

    /// How many of the cycles have an instruction in each slot.
    pub fn utilisation(&self) -> Vec<(&str, f64)> {
        let used = |slot| self.rows.iter().flatten().filter(|placed| placed.slot == slot).count();
        let each = self.slots.iter().enumerate();
        each.map(|(slot, name)| (name.as_str(), used(slot) as f64 / self.rows.len() as f64)).collect()
    }
}

impl fmt::Display for KernelSchedule {
    /// A line for each instruction word: in each slot the vector and the index of the instruction, or the word that is loaded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>5}", "cycle")?;
        self.slots.iter().try_for_each(|slot| write!(f, "  {slot:<10}"))?;
        writeln!(f)?;
        for (cycle, row) in self.rows.iter().enumerate() {
            write!(f, "{cycle:>5}")?;
            for slot in 0..self.slots.len() {
                let text = row.iter().find(|placed| placed.slot == slot).map_or_else(String::new, |placed| {
                    match placed.action {
                        Action::Load { word, .. } => format!("{}:[{word}]", placed.vector),
                        Action::Instruction(index) => format!("{}:{index}", placed.vector),
                    }
                });
                write!(f, "  {text:<10}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
