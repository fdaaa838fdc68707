//! Workloads by the names of kernels: the interface between the measuring system and Proofmill's kernels.

use proofmill_cpu::Level;

/// Work prepared at one size and level, which can be run repeatedly on the current rayon pool.
pub trait PreparedWorkload: Send {
    /// Does the work once. Work with several phases calls `begin` with a phase's name when the phase begins.
    ///
    /// # Errors
    /// A sentence. Correctly prepared work does not fail.
    fn run(&mut self, begin: &mut dyn FnMut(&'static str)) -> Result<(), String>;

    /// Restores the input of work that runs in place, each run on the result of the previous one, so that no
    /// copy is timed. Other work does nothing.
    fn restart(&mut self) {}

    /// The output of the last run, if that was the first since [`PreparedWorkload::restart`]. The digest of these
    /// bytes is the benchmark's answer: the same at every level, on any number of threads and for every peer.
    fn output(&self) -> Vec<u8>;
}

/// Prepares workloads by the kernels' names in definitions.
pub trait Catalogue: Sync {
    /// The levels of this CPU at which `kernel` differs; `None` for an unknown kernel.
    fn levels(&self, kernel: &str) -> Option<Vec<Level>>;

    /// Prepares `kernel` for `size` units. Inputs depend on these two alone.
    ///
    /// # Errors
    /// A sentence: an unknown kernel, an unsupported size, or too little memory.
    fn prepare(&self, kernel: &str, size: u64, level: Level) -> Result<Box<dyn PreparedWorkload>, String>;

    /// The input of `kernel` at `size`, in the bytes that peers read (`docs/bench.md` has the layouts).
    ///
    /// # Errors
    /// The errors of [`Catalogue::prepare`], and a kernel that no peer runs.
    fn input(&self, kernel: &str, size: u64) -> Result<Vec<u8>, String>;

    /// Frees data that is kept between preparations: the last input, which a kernel's levels share. To be
    /// called before memory is measured.
    fn forget(&self) {}
}
