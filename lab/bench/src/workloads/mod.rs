//! The bench's workloads: every kernel and prover of Proofmill by name, size and level. Inputs depend only on
//! name and size.
//!
//! [`definitions`] are the files of `lab/definitions`; [`Workloads`] prepares the kernels that they
//! name: `family/benchmark`. `docs/bench.md` describes the bytes of inputs and outputs.

mod adaptor;
mod definitions;
mod encoding;
mod fields;
mod goldilocks;
mod groth16;
mod hashes;
mod inputs;
mod messages;
mod pairings;
mod plonk;
mod products;
mod starks;
mod sums;
mod transforms;

pub(crate) use definitions::definitions;

use adaptor::{KeptInput, KernelEntry};
use proofmill_bench::{PreparedWorkload, catalogue::Catalogue};
use proofmill_cpu::Level;
use std::sync::{LazyLock, Mutex, PoisonError};

/// All kernels.
static TABLE: LazyLock<Vec<KernelEntry>> = LazyLock::new(|| {
    let tables = [
        fields::table(),
        goldilocks::table(),
        hashes::table(),
        messages::table(),
        transforms::table(),
        sums::table(),
        products::table(),
        pairings::table(),
        groth16::table(),
        plonk::table(),
        starks::table(),
    ];
    tables.into_iter().flatten().collect()
});

/// Proofmill's kernels and provers. The last input is kept for the next level.
#[derive(Default)]
pub(crate) struct Workloads {
    kept: Mutex<Option<KeptInput>>,
}

impl Workloads {
    /// The names of all kernels.
    #[cfg(test)]
    fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|entry| entry.name)
    }

    fn find(kernel: &str) -> Option<&'static KernelEntry> {
        TABLE.iter().find(|entry| entry.name == kernel)
    }

    /// Finds the kernel and calls `work` with it and the kept input.
    fn with<T>(
        &self,
        kernel: &str,
        size: u64,
        work: impl FnOnce(&'static KernelEntry, &mut Option<KeptInput>) -> Result<T, String>,
    ) -> Result<T, String> {
        let entry = Self::find(kernel).ok_or_else(|| format!("no kernel has the name {kernel}"))?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        work(entry, &mut kept).map_err(|problem| format!("{kernel} of size {size}: {problem}"))
    }
}

impl Catalogue for Workloads {
    fn levels(&self, kernel: &str) -> Option<Vec<Level>> {
        Self::find(kernel).map(|entry| entry.levels.available())
    }

    fn prepare(&self, kernel: &str, size: u64, level: Level) -> Result<Box<dyn PreparedWorkload>, String> {
        self.with(kernel, size, |entry, kept| entry.prepare(size, level, kept))
    }

    fn input(&self, kernel: &str, size: u64) -> Result<Vec<u8>, String> {
        self.with(kernel, size, |entry, kept| entry.input(size, kept))
    }

    fn forget(&self) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    mod answers;
    mod oracles;
}
