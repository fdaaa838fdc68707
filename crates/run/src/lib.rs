//! The settings of long operations: level, threads, memory, and progress reports.
//!
//! A [`Run`] is the first argument of every prover. Nothing of it changes a result. Threads are those of rayon's ambient pool, for which
//! [`parallel`] has loops. Errors of the engine say their kind ([`Classified`]).
//!
//! ```
//! use proofmill_cpu::Level;
//! use proofmill_run::{Progress, Run};
//!
//! let told = |phase| eprintln!("{phase}");
//! let run = Run { progress: Progress::new(&told), ..Level::best().into() };
//! run.progress.begin("quotient");
//! ```
#![forbid(unsafe_code)]

mod error;
mod memory;
mod named;
pub mod parallel;
mod progress;

pub use error::{Classified, ErrorKind, Subject, io_error};
pub use memory::Memory;
pub use named::UnknownName;
pub use progress::Progress;

use proofmill_cpu::Level;
use std::path::Path;

/// The settings of an operation. None of them changes a result.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The CPU's features that are used.
    pub level: Level,
    /// The memory mode; `None` is the operation's default.
    pub memory: Option<Memory>,
    /// The folder for temporary files. They are unlinked, so none remains after the process. `None` is the system's folder, or memory where an operation can do
    /// without files.
    pub scratch: Option<&'a Path>,
    /// Receives the phases.
    pub progress: Progress<'a>,
}

impl From<Level> for Run<'_> {
    /// The default settings, without progress reports.
    fn from(level: Level) -> Self {
        Self { level, memory: None, scratch: None, progress: Progress::NONE }
    }
}
