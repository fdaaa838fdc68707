//! What the prover may use of the machine.

use proofmill_cpu::Level;
use proofmill_progress::Progress;
use std::path::Path;

/// Which values of the trace the prover keeps. Every mode gives the same proof.
///
/// With [blinding](crate::Parameters::blinded), a random trace of twice as many rows takes its place, and the trace itself is kept, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// The extended trace: `2^log_blowup` times the trace, whose memory it takes over if that is owned.
    #[default]
    Fast,
    /// Its coefficients, in the memory of the trace if that is owned. Parts of the extension are computed when they are needed, up to
    /// twice, a quarter of the trace at a time.
    Balanced,
    /// A quarter of the trace, and what `Balanced` keeps in temporary files. They keep it for each coset of the extension, so that less is
    /// written: together they are as large as the extended trace.
    Low,
}

impl Memory {
    /// All modes, from the most memory to the least.
    pub const ALL: [Self; 3] = [Self::Fast, Self::Balanced, Self::Low];
}

/// How proofs are computed. Nothing of it changes a proof.
#[derive(Clone, Copy)]
pub struct Resources<'a> {
    /// The CPU's features that are used.
    pub level: Level,
    /// What is kept in memory.
    pub memory: Memory,
    /// The folder for the files of [`Memory::Low`]. They are unlinked, so none remains after the process. `None` is the system's folder for
    /// temporary files.
    pub scratch: Option<&'a Path>,
    /// Who is told of the phases.
    pub progress: Progress<'a>,
}

impl From<Level> for Resources<'_> {
    /// With the default memory, and nobody is told.
    fn from(level: Level) -> Self {
        Self { level, memory: Memory::default(), scratch: None, progress: Progress::NONE }
    }
}
