//! The option for the memory of a prover of STARKs.

use clap::Args;
use proofmill::Memory;
use proofmill_console::StorageOptions;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(super) struct MemoryOption {
    /// Keep in memory: the extended trace (fast), the trace's coefficients (balanced), or neither (low): the same proof
    #[arg(long, value_name = "MODE", default_value_t = Memory::Fast)]
    memory: Memory,
    /// The folder for the temporary files of `--memory low`, as large as the extended trace; they have no names and are removed when the
    /// command ends [default: the system's]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

impl MemoryOption {
    pub(super) fn storage(&self) -> StorageOptions {
        StorageOptions { memory: self.memory, scratch: self.scratch.clone() }
    }
}
