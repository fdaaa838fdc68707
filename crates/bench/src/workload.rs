//! What a thing must do to be measured.

use proofmill_cpu::Level;

/// Work prepared at one size and level, ready to be done again and again on the ambient rayon pool.
pub trait Workload: Send {
    /// Does the work once. Work of several phases calls `begin` with each one's name when it begins; other work does not.
    ///
    /// # Errors
    /// A sentence that says what went wrong; nothing that was prepared rightly fails.
    fn run(&mut self, begin: &mut dyn FnMut(&'static str)) -> Result<(), String>;

    /// Puts the input back where runs work in place, each on the result of the one before, so that no copy is timed.
    /// Other work does nothing.
    fn restart(&mut self) {}

    /// What the last run computed, as the bytes whose digest is the benchmark's answer if that run was the first since
    /// [`Workload::restart`]: the same at every level, on any number of threads and by every peer.
    fn output(&self) -> Vec<u8>;
}

/// Prepares workloads by the names that definitions use.
pub trait Catalogue: Sync {
    /// The levels at which `kernel` differs, on this CPU; `None` if there is no such kernel.
    fn levels(&self, kernel: &str) -> Option<Vec<Level>>;

    /// Prepares `kernel` for `size` things, with inputs that depend on these two alone.
    ///
    /// # Errors
    /// A sentence: an unknown kernel, a size that it cannot have, or no memory for it.
    fn prepare(&self, kernel: &str, size: u64, level: Level) -> Result<Box<dyn Workload>, String>;

    /// The input of `kernel` at `size` in the bytes that peers read (`docs/bench.md` has the layouts).
    ///
    /// # Errors
    /// As of [`Catalogue::prepare`], and for a kernel that no peer runs.
    fn input(&self, kernel: &str, size: u64) -> Result<Vec<u8>, String>;

    /// Frees what is kept between preparations: the last input, which a kernel's levels share. Whoever measures memory
    /// calls it before.
    fn forget(&self) {}
}
