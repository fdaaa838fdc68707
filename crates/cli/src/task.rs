//! The tasks of commands: done here, or by another program.

use crate::{
    files::CommandFiles,
    programs::{Passed, SiblingProgram},
};
use proofmill_console::{Failure, Machine, Options, Outcome, StorageOptions};

/// A command that uses the library's machine.
pub(crate) trait MachineWork {
    /// The command's name, such as `plonk prove`.
    fn name(&self) -> &'static str;

    /// The options for the place of a key, if the command has them.
    fn storage(&self) -> Option<StorageOptions> {
        None
    }

    /// The files that the command reads and writes, where an output could replace another one.
    fn files(&self) -> CommandFiles<'_> {
        CommandFiles::default()
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure>;
}

/// Work that needs no machine of its own.
type Unaided = Box<dyn FnOnce(&Options) -> Result<Outcome, Failure>>;

/// The task of a command.
pub(crate) enum CommandTask {
    /// The command needs the library's machine.
    Here(Box<dyn MachineWork>),
    /// The command needs no machine. It has this name.
    Unaided(&'static str, Unaided),
}

impl CommandTask {
    pub(crate) fn here(work: impl MachineWork + 'static) -> Self {
        Self::Here(Box::new(work))
    }

    /// Runs another program. `word` is the word before the arguments, if any.
    pub(crate) fn there(
        name: &'static str,
        program: SiblingProgram,
        word: Option<&'static str>,
        arguments: Passed,
    ) -> Self {
        Self::Unaided(name, Box::new(move |options| arguments.run(program, word, options)))
    }
}
