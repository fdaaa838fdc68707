//! What a prover of STARKs keeps in memory.

use clap::Args;
use proofmill::Memory;
use proofmill_console::StorageOptions;

#[derive(Args, Debug)]
pub(super) struct MemoryOption {
    /// Keep the extended trace (fast), or compute its parts when they are needed (low): the same proof
    #[arg(long = "memory", value_name = "MODE", default_value = "fast", value_parser = ["fast", "low"])]
    mode: String,
}

impl MemoryOption {
    pub(super) fn storage(&self) -> StorageOptions {
        let memory = if self.mode == "low" { Memory::Low } else { Memory::Fast };
        StorageOptions { memory, scratch: None }
    }
}
