//! `bench`: measurements of this machine, kept, compared and shown.

mod list;
mod numbers;
mod run;
mod session;

use crate::{arguments::Options, failure::Failure, report::Outcome};
use clap::Subcommand;
use std::path::Path;

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// List what can be measured: families, benchmarks, sizes, levels
    #[command(after_help = "Examples:\n  proofmill bench list\n  proofmill bench list msm")]
    List(list::List),
    /// Measure Proofmill's kernels and provers, each answer checked first
    #[command(after_help = "Examples:
  proofmill bench run msm/bn254-g1 --size 2^16             the best level, on one thread and on all
  proofmill bench run ntt --level all --threads 1          every level turn about, on one thread
  proofmill bench run --check                              each benchmark once at its smallest size, untimed
  proofmill bench run groth16 --watts 180 --price-per-hour 3.2

The first argument is any part of family/benchmark/size; `proofmill bench list` has them all. Results go to the store
as they are finished: `proofmill bench runs`, `report`, `compare` and `export` read them there.")]
    Run(run::Run),
}

impl BenchCommand {
    /// The command's words.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List(_) => "bench list",
            Self::Run(_) => "bench run",
        }
    }

    /// The files it will write.
    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::List(_) => Vec::new(),
            Self::Run(run) => run.outputs(),
        }
    }
}

/// Runs a command; levels and threads are what each row says.
pub(crate) fn run(command: BenchCommand, options: &Options) -> Result<Outcome, Failure> {
    crate::interrupt::remove_unfinished_at_a_signal(command.outputs())?;
    match command {
        BenchCommand::List(list) => list::run(&list),
        BenchCommand::Run(run) => run::run(&run, options),
    }
}

impl From<proofmill_bench::BenchError> for Failure {
    /// A wrong answer is a rejection, everything else input that is none.
    fn from(error: proofmill_bench::BenchError) -> Self {
        match error {
            proofmill_bench::BenchError::Answer { .. } => Self::Rejected(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}
