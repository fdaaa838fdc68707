//! The commands.

mod answers;
mod bls_vectors;
mod compare;
mod cpu;
mod features;
mod input;
mod list;
mod machine;
mod measure;
mod model;
mod numbers;
mod pipeline;
mod platform;
mod plonk_workload;
mod provers;
mod recording;
mod report;
mod run;
mod screen;
mod store;
mod table;

use clap::Subcommand;
use proofmill_console::{Failure, Machine, Options, Outcome, interrupt};
use std::path::Path;

/// Commands that do not compute, or that compute at the levels and numbers of threads of each row.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// List what can be measured: families, benchmarks, sizes, levels
    #[command(after_help = "Examples:\n  proofmill bench list\n  proofmill bench list msm")]
    List(list::ListArguments),
    /// Measure Proofmill's kernels and provers, after checking their answers
    #[command(after_help = "Examples:
  proofmill bench run msm/bn254-g1 --size 2^16             the best level, on one thread and on all
  proofmill bench run ntt --level all --threads 1          every level in alternation, on one thread
  proofmill bench run --check                              each benchmark once at its smallest size, untimed
  proofmill bench run msm --peers                          with other libraries, each in turn with ours
  proofmill bench run groth16 --watts 180 --price-per-hour 3.2

The first argument is any part of family/benchmark/size; `proofmill bench list` has them all. Results go to the store
as they are finished: `proofmill bench runs`, `report`, `compare` and `export` read them there.")]
    Run(run::RunArguments),
    /// List the runs in the store
    #[command(after_help = "Examples:\n  proofmill bench runs\n  proofmill bench runs --db lab.db --json")]
    Runs(store::RunsArguments),
    /// Compare two runs, or two implementations of one: ratios with confidence intervals
    #[command(after_help = "Examples:
  proofmill bench compare before after
  proofmill bench compare server-a.json server-b.json --per-watt
  proofmill bench compare latest --implementation avx512ifma --against adx")]
    Compare(compare::CompareArguments),
    /// Write runs to a file that other machines import, or spreadsheets open
    #[command(after_help = "Examples:
  proofmill bench export --out all.json
  proofmill bench export latest --out latest.csv
  proofmill bench export latest --record --out lab/records/levels_zen5.csv")]
    Export(store::ExportArguments),
    /// Import runs of other machines into the store
    #[command(after_help = "Examples:\n  proofmill bench import server-a.json server-b.csv")]
    Import(store::ImportArguments),
    /// Remove a run from the store
    #[command(after_help = "Examples:\n  proofmill bench remove 3f2a91c0")]
    Remove(store::RemoveArguments),
    /// Measure the machine with other programs: OpenSSL, gzip, brotli, Go, LuaJIT, NGINX
    #[command(after_help = "Examples:
  proofmill bench platform                                   everything, on one core and on all
  proofmill bench platform --only openssl,brotli --threads 1
  proofmill bench platform --only https --threads all --time 10s --power ipmitool
  proofmill bench platform --watts 180 --instance c7a.48xlarge

The row of a program that is not installed names the packages to install; lab/platform/install.sh installs them all
on Debian. Servers listen on the loopback and are always stopped.")]
    Platform(platform::PlatformArguments),
    /// Time whole provers as processes, from start to written proof: Proofmill's levels in alternation with
    /// other provers
    #[command(after_help = "Examples:
  proofmill bench provers groth16 circuit.zkey witness.wtns --level adx,avx512ifma \\
    --peer 'rapidsnark=prover {zkey} {wtns} {proof} {public}'
  proofmill bench provers plonk circuit.zkey witness.wtns --threads 1,all \\
    --peer 'snarkjs=snarkjs plonk prove {zkey} {wtns} {proof} {public}'

Every program must write the same public signals; white space is ignored. --threads limits each of them to that many
cores. All times are wall times.")]
    Provers(provers::ProversArguments),
    /// Describe this machine: CPU, cores, caches, frequency, memory, system
    #[command(after_help = "Examples:\n  proofmill bench machine\n  proofmill bench machine --json")]
    Machine,
    /// Predict time, power and cost at other frequencies and lengths of vectors
    #[command(after_help = "Examples:
  proofmill bench model --paper                            figure 8 of Loghin and others, from the paper's own inputs
  proofmill bench model graviton4 --reference epyc         a stored run's machine, with what it lacks from another's
  proofmill bench model latest --work msm/bn254-g1 --frequency 3.7,4.5 --cycles-from-time

docs/model.md has the equations, the parameters with their sources, and what the model ignores.")]
    Model(model::ModelArguments),
    /// Write one self-contained HTML page with charts and tables of runs
    #[command(after_help = "Examples:
  proofmill bench report                                   the latest run, to report.html
  proofmill bench report zen5 graviton4 --baseline zen5    two runs of the store, by label, side by side
  proofmill bench report mine.json theirs.json --out two.html

The page makes no network requests. A run is an id or its beginning, a label, `latest`, or a file of `bench export` or
`bench run --json`, whose name ends in .json or .csv.")]
    Report(report::ReportArguments),
    /// Write the input of a benchmark as peers' runners read it, to run one by hand
    #[command(after_help = "Examples:\n  proofmill bench input msm/bn254-g1 2^10 /tmp/input")]
    Input(input::InputArguments),
}

impl BenchCommand {
    /// The command's name in reports.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List(_) => "bench list",
            Self::Run(_) => "bench run",
            Self::Runs(_) => "bench runs",
            Self::Compare(_) => "bench compare",
            Self::Export(_) => "bench export",
            Self::Import(_) => "bench import",
            Self::Remove(_) => "bench remove",
            Self::Platform(_) => "bench platform",
            Self::Provers(_) => "bench provers",
            Self::Machine => "bench machine",
            Self::Model(_) => "bench model",
            Self::Report(_) => "bench report",
            Self::Input(_) => "bench input",
        }
    }

    /// The files that the command will write.
    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::Run(run) => run.outputs(),
            Self::Provers(provers) => provers.outputs(),
            Self::Export(export) => export.outputs(),
            Self::List(_)
            | Self::Runs(_)
            | Self::Compare(_)
            | Self::Import(_)
            | Self::Remove(_)
            | Self::Machine
            | Self::Input(_)
            | Self::Model(_) => Vec::new(),
            Self::Platform(platform) => platform.outputs(),
            Self::Report(report) => vec![report.out()],
        }
    }
}

/// Commands that compute with one level and number of threads.
#[derive(Debug, Subcommand)]
pub(crate) enum MachineCommand {
    /// Measure the gain from each CPU feature, with every kernel of SHA-256 and of BLS signatures, on one
    /// core
    #[command(after_help = "Examples:
  proofmill bench cpu
  proofmill cpu --measure --json")]
    Cpu,
    /// Measure the six phases of a PLONK proof on circuits of chosen size
    #[command(
        subcommand,
        after_help = "Examples:
  proofmill plonk workload arithmetic --gates 2^18 --arithmetisation ultra
  proofmill plonk workload pedersen --hashes 4000 --arithmetisation turbo --json"
    )]
    PlonkWorkload(plonk_workload::PlonkWorkloadCommand),
    /// Curve arithmetic on pipelines of small processors: execute, explore, compare
    #[command(
        subcommand,
        after_help = "Examples:
  proofmill pipeline run xyzz-plus-affine --random 2^16 --pipelines 10
  proofmill pipeline explore --html explore.html
  proofmill pipeline msm --points 2^16"
    )]
    Pipeline(Box<pipeline::PipelineCommand>),
    /// Run test cases of BLS signatures: JSON and YAML files in folders named after the tested functions
    #[command(after_help = "Examples:
  proofmill bls vectors bls12-381-tests/
  proofmill bls vectors crates/bls/tests/vectors --level portable")]
    BlsVectors(bls_vectors::BlsVectorsArguments),
    /// Print the answers of benchmarks as lines of their definitions
    #[command(after_help = "Examples:
  proofmill bench answers msm --level portable             with the portable kernels, which use no vectors
  proofmill bench answers --smallest")]
    Answers(answers::AnswersArguments),
}

impl MachineCommand {
    /// The command's name as a subcommand of `proofmill`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Pipeline(command) => command.name(),
            Self::PlonkWorkload(_) => "plonk workload",
            Self::BlsVectors(_) => "bls vectors",
            Self::Answers(_) => "bench answers",
        }
    }
}

/// Runs a command on `machine`.
pub(crate) fn run_on(command: &MachineCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    if let MachineCommand::Pipeline(command) = command {
        interrupt::clean_up_at_a_signal(command.outputs(), || ())?;
    }
    match command {
        MachineCommand::Pipeline(command) => pipeline::run(command, machine),
        MachineCommand::Cpu => cpu::run(machine),
        MachineCommand::PlonkWorkload(workload) => plonk_workload::run(workload, machine),
        MachineCommand::BlsVectors(vectors) => bls_vectors::run(vectors, machine),
        MachineCommand::Answers(answers) => answers::run(answers, machine),
    }
}

/// Runs a command. Each row has its own level and number of threads.
pub(crate) fn run(command: BenchCommand, options: &Options) -> Result<Outcome, Failure> {
    let is_platform = matches!(command, BenchCommand::Platform(_));
    let also = if is_platform { proofmill_bench::platform::clean_up } else { || () };
    interrupt::clean_up_at_a_signal(command.outputs(), also)?;
    match command {
        BenchCommand::List(list) => list::run(&list),
        BenchCommand::Run(run) => run::run(&run, options).map(|outcome| unless_quiet(outcome, options)),
        BenchCommand::Runs(runs) => store::list(&runs),
        BenchCommand::Compare(compare) => compare::run(&compare),
        BenchCommand::Export(export) => store::export(&export),
        BenchCommand::Import(import) => store::import(&import),
        BenchCommand::Remove(remove) => store::remove(&remove),
        BenchCommand::Platform(platform) => {
            platform::run(&platform, options).map(|outcome| unless_quiet(outcome, options))
        }
        BenchCommand::Provers(provers) => {
            provers::run(&provers, options).map(|outcome| unless_quiet(outcome, options))
        }
        BenchCommand::Machine => machine::run(),
        BenchCommand::Model(model) => model::run(&model, options),
        BenchCommand::Report(report) => report::run(&report),
        BenchCommand::Input(input) => input::run(&input),
    }
}

/// Drops the text if `--quiet` is given: the store has the results.
fn unless_quiet(outcome: Outcome, options: &Options) -> Outcome {
    if options.quiet { Outcome { text: String::new(), ..outcome } } else { outcome }
}
