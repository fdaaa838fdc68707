//! What the prover may use of the machine.

use proofmill_cpu::Level;
use proofmill_progress::Progress;

/// Which values of the trace the prover keeps. Every mode gives the same proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The extended trace: `2^log_blowup` times the trace.
    #[default]
    Fast,
    /// Its coefficients, in the memory of the trace if that is owned. Parts of the extension are computed when they are needed, up to
    /// twice, a quarter of the trace at a time.
    Low,
}

impl Memory {
    /// All modes, from the most memory to the least.
    pub const ALL: [Self; 2] = [Self::Fast, Self::Low];
}

/// How proofs are computed. Nothing of it changes a proof.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The CPU's features that are used.
    pub level: Level,
    /// What is kept in memory.
    pub memory: Memory,
    /// Who is told of the phases.
    pub progress: Progress<'a>,
}

impl From<Level> for Resources<'_> {
    /// With the default memory, and nobody is told.
    fn from(level: Level) -> Self {
        Self { level, memory: Memory::default(), progress: Progress::NONE }
    }
}
