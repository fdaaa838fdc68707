//! Commands that the separate program `proofmill-bench` runs. It is found as git finds its commands.

use clap::Args;
use proofmill_console::{Failure, Options, Outcome};
use std::{env, ffi::OsString, io, path::Path, process::Command};

/// The program.
const PROGRAM: &str = "proofmill-bench";

/// Arguments that are passed to the program.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct BenchArguments {
    /// Arguments of `proofmill-bench`; `--help` lists them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl BenchArguments {
    /// No arguments.
    pub(crate) fn none() -> Self {
        Self { arguments: Vec::new() }
    }

    /// Replaces this process by the program, so that its output and exit status are this command's. Looks next to this
    /// executable first, then on the `PATH`. `command` is the word before the arguments, if any. Returns only if the program
    /// cannot be started.
    pub(crate) fn run(&self, command: Option<&str>, options: &Options) -> Result<Outcome, Failure> {
        let name = format!("{PROGRAM}{}", env::consts::EXE_SUFFIX);
        let neighbour = env::current_exe().ok().and_then(|path| Some(path.parent()?.join(&name)));
        for program in neighbour.iter().map(|path| path.as_path()).chain([Path::new(&name)]) {
            let mut child = Command::new(program);
            child.args(options.words()).args(command).args(&self.arguments);
            let error = replace(child);
            if error.kind() != io::ErrorKind::NotFound {
                return Err(Failure::io(program, error));
            }
        }
        Err(Failure::Input(format!(
            "{PROGRAM} is not installed: `cargo install --path crates/bench` in a clone of Proofmill installs it"
        )))
    }
}

/// Replaces this process by the program.
#[cfg(unix)]
fn replace(mut program: Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(&mut program)
}

/// Runs the program and exits with its status.
#[cfg(not(unix))]
fn replace(mut program: Command) -> io::Error {
    match program.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(error) => error,
    }
}
