//! Commands that separate programs run. They are found as git finds its commands.

use clap::Args;
use proofmill_console::{Failure, Options, Outcome};
use std::{env, ffi::OsString, io, path::Path, process::Command};

/// A program next to this one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SiblingProgram {
    /// Benchmarks and pipelines.
    Bench,
    /// The service.
    Server,
    /// Proofs over many machines, a program of the Python package.
    Ray,
}

impl SiblingProgram {
    /// The file's name, without the system's suffix.
    fn name(self) -> &'static str {
        match self {
            Self::Bench => "proofmill-bench",
            Self::Server => "proofmill-server",
            Self::Ray => "proofmill-ray",
        }
    }

    /// The command that installs it in a clone.
    fn installation(self) -> &'static str {
        match self {
            Self::Bench => "cargo install --path lab/bench",
            Self::Server => "cargo install --path service/server",
            Self::Ray => "pip install './crates/python[ray]'",
        }
    }
}

/// Arguments that are passed to a program.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Passed {
    /// Arguments of the program; `--help` lists them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Passed {
    /// No arguments.
    pub(crate) fn none() -> Self {
        Self { arguments: Vec::new() }
    }

    /// Replaces this process by the program, so that its output and exit status are this command's. Looks next to this
    /// executable first, then on the `PATH`. `command` is the word before the arguments, if any. Returns only if the program
    /// cannot be started.
    pub(crate) fn run(
        &self,
        program: SiblingProgram,
        command: Option<&str>,
        options: &Options,
    ) -> Result<Outcome, Failure> {
        let name = format!("{}{}", program.name(), env::consts::EXE_SUFFIX);
        let neighbour = env::current_exe().ok().and_then(|path| Some(path.parent()?.join(&name)));
        for path in neighbour.iter().map(|path| path.as_path()).chain([Path::new(&name)]) {
            let mut child = Command::new(path);
            match program {
                SiblingProgram::Bench => child.args(options.words()).args(command).args(&self.arguments),
                SiblingProgram::Server => {
                    child.args(command).args(&self.arguments).args(server_words(command, options))
                }
                SiblingProgram::Ray => {
                    let insecure = options.allow_insecure_setup.then_some("--allow-insecure-setup");
                    child
                        .args(&self.arguments)
                        .args(options.json.is_some().then_some("--json"))
                        .args(insecure)
                }
            };
            if matches!(program, SiblingProgram::Server) && options.quiet {
                child.env("PROOFMILL_LOG", "error");
            }
            let error = replace(child);
            if error.kind() != io::ErrorKind::NotFound {
                return Err(Failure::io(path, error));
            }
        }
        let (name, installation) = (program.name(), program.installation());
        Err(Failure::Input(format!(
            "{name} is not installed: `{installation}` in a clone of Proofmill installs it"
        )))
    }
}

/// Passes the options of every command to a command of the service. Options about proofs go to the provers that it starts.
fn server_words(command: Option<&str>, options: &Options) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    if !matches!(command, Some("serve" | "worker")) {
        words.extend(options.json.is_some().then(|| "--json".into()));
    } else {
        if let Some(threads) = &options.threads {
            words.extend(["--threads".into(), threads.to_string().into()]);
        }
        if let Some(level) = &options.level {
            words.push(format!("--program-argument=--level={level}").into());
        }
        if options.allow_insecure_setup {
            words.push("--program-argument=--allow-insecure-setup".into());
        }
    }
    words
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
