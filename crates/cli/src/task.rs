//! What a command does, and who does it.

use crate::{
    files::Files,
    programs::{Passed, Program},
};
use proofmill_console::{Failure, Machine, Options, Outcome, StorageOptions};

/// What a command does on this machine.
pub(crate) trait Work {
    /// The command's name, such as `plonk prove`.
    fn name(&self) -> &'static str;

    /// The options of where a key is kept, of a command that has any.
    fn storage(&self) -> Option<StorageOptions> {
        None
    }

    /// The files that the command reads and writes, where an output could replace another one.
    fn files(&self) -> Files<'_> {
        Files::default()
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure>;
}

/// Work that needs no machine of its own.
type Unaided = Box<dyn FnOnce(&Options) -> Result<Outcome, Failure>>;

/// The task of a command.
pub(crate) enum Task {
    /// It needs the library's machine.
    Here(Box<dyn Work>),
    /// It is done without, under this name.
    Unaided(&'static str, Unaided),
}

impl Task {
    pub(crate) fn here(work: impl Work + 'static) -> Self {
        Self::Here(Box::new(work))
    }

    /// A program does it. `word` is the one before the arguments, if any.
    pub(crate) fn there(
        name: &'static str,
        program: Program,
        word: Option<&'static str>,
        arguments: Passed,
    ) -> Self {
        Self::Unaided(name, Box::new(move |options| arguments.run(program, word, options)))
    }
}
