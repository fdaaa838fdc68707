//! `pipeline`: curve arithmetic on pipelines of small processors.

mod explore;
mod msm;
mod pictures;
mod run;
mod setting;
mod show;

use clap::Subcommand;
use proofmill_console::{Failure, Machine, Outcome};
use std::path::Path;

#[derive(Debug, Subcommand)]
pub(crate) enum PipelineCommand {
    /// Execute a formula on pipelines of a device, check the results, and tell times and costs
    #[command(after_help = "Examples:
  proofmill pipeline run xyzz-plus-affine --random 2^16 --pipelines 10
  proofmill pipeline run xyzz-plus-affine --points points.csv --results sums.csv
  proofmill pipeline run --device vck5000 --slowdown 18.6 --buffers deep --html run.html")]
    Run(run::PipelineRunArguments),
    /// Change one thing at a time: pipelines, calls, buffers, division into nodes, clock, instructions, devices
    #[command(after_help = "Examples:
  proofmill pipeline explore
  proofmill pipeline explore xyzz-plus-affine --device my-chip.toml --html explore.html
  proofmill pipeline explore --slowdown 18.6 --buffers deep --json")]
    Explore(explore::ExploreArguments),
    /// Multiply points by scalars and add them up: buckets on pipelines, against this CPU
    #[command(after_help = "Examples:
  proofmill pipeline msm --points 2^16
  proofmill pipeline msm --points 2^18 --device vck5000,ideal --reductions where-needed --join --buffers deep")]
    Msm(msm::MsmArguments),
    /// Print a network: its graph, its kernels' instruction words, its places on the device
    #[command(after_help = "Examples:
  proofmill pipeline show xyzz-plus-affine
  proofmill pipeline show xyzz-plus-affine --kernel multiply-0
  proofmill pipeline show butterfly --graph > butterfly.json
  proofmill pipeline show --device-file vck5000 > my-chip.toml")]
    Show(show::ShowArguments),
}

impl PipelineCommand {
    /// The command's name as a subcommand of `proofmill`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "pipeline run",
            Self::Explore(_) => "pipeline explore",
            Self::Msm(_) => "pipeline msm",
            Self::Show(_) => "pipeline show",
        }
    }

    /// The files that the command will write.
    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::Run(run) => run.outputs(),
            Self::Explore(explore) => explore.outputs(),
            Self::Msm(_) | Self::Show(_) => Vec::new(),
        }
    }
}

pub(super) fn run(command: &PipelineCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        PipelineCommand::Run(arguments) => run::run(arguments, machine),
        PipelineCommand::Explore(arguments) => explore::run(arguments, machine),
        PipelineCommand::Msm(arguments) => msm::run(arguments, machine),
        PipelineCommand::Show(arguments) => show::run(arguments),
    }
}

/// An error of the model.
fn failure(error: proofmill_pipeline::PipelineError) -> Failure {
    Failure::Input(error.to_string())
}
