//! The command line. Completions and man pages are generated from these definitions too.

use crate::commands::{BenchCommand, MachineCommand};
use clap::{Parser, Subcommand};
use proofmill_console::{Completions, Man, Options};

/// Measures Proofmill's kernels and provers by level and machine, per watt and per dollar.
#[derive(Debug, Parser)]
#[command(
    name = "proofmill-bench",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  proofmill bench run msm --level all --threads 1,all
  proofmill bench platform --only openssl
  proofmill bench report --out report.html

`proofmill bench` and `proofmill-bench` are the same.
Exit status: 0 done, 1 an answer is wrong or a case fails, 2 bad input or usage."
)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    pub(crate) command: AnyCommand,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnyCommand {
    #[command(flatten)]
    Bench(Box<BenchCommand>),
    #[command(flatten)]
    Machine(MachineCommand),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  proofmill bench completions bash > ~/.local/share/bash-completion/completions/proofmill-bench
  proofmill bench completions zsh > ~/.zfunc/_proofmill-bench")]
    Completions(Completions),
    /// Print the man page, or write those of all commands to a folder
    #[command(after_help = "Examples:
  proofmill bench man | man -l -
  proofmill bench man ~/.local/share/man/man1")]
    Man(Man),
}

impl AnyCommand {
    /// The command's name in reports.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bench(command) => command.name(),
            Self::Machine(command) => command.name(),
            Self::Completions(_) => "bench completions",
            Self::Man(_) => "bench man",
        }
    }
}
