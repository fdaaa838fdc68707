//! The definition of the command line, also for completions and man pages.

use crate::{
    bls::BlsCommand,
    dev::Dev,
    fflonk::FflonkCommand,
    groth16::Groth16Command,
    info::Info,
    merkle::MerkleCommand,
    ntt::Ntt,
    plonk::PlonkCommand,
    powersoftau::PowersCommand,
    programs::{Passed, SiblingProgram},
    r1cs::R1csCommand,
    sha256::Sha256Command,
    srs::SrsCommand,
    stark::StarkCommand,
    task::{CommandTask, MachineWork},
    witness::WtnsCommand,
    zkey::ZkeyCommand,
};
use clap::{CommandFactory, Parser, Subcommand};
use proofmill_console::{Completions, Failure, Machine, Man, Options, Outcome, cpu};
use proofmill_prover::ProverArguments;

/// Proves circom's circuits with Groth16, PLONK and fflonk: snarkjs's files and argument order, many times the speed.
#[derive(Debug, Parser)]
#[command(
    name = "proofmill",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Examples:
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json
  proofmill groth16 verify verification_key.json public.json proof.json
  proofmill info circuit.zkey

Exit status: 0 done or valid, 1 the proof or witness is rejected, 2 bad input or usage."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Groth16: set up, prove, verify
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json\n  proofmill groth16 verify verification_key.json public.json proof.json"
    )]
    Groth16(Groth16Command),
    /// PLONK: set up, prove, verify
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill plonk setup circuit.r1cs pot.ptau circuit.zkey\n  proofmill plonk prove circuit.zkey witness.wtns proof.json public.json"
    )]
    Plonk(PlonkCommand),
    /// fflonk, PLONK with proofs that are cheaper to verify: set up, prove, verify
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill fflonk setup circuit.r1cs pot.ptau circuit.zkey\n  proofmill fflonk prove circuit.zkey witness.wtns proof.json public.json"
    )]
    Fflonk(FflonkCommand),
    /// The first phase of a ceremony: new, contribute, beacon, verify, challenges and responses, smaller files
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill powersoftau new bn128 14 pot14_0000.ptau\n  proofmill powersoftau contribute pot14_0000.ptau pot14_0001.ptau --name \"Alice\"\n  proofmill powersoftau verify pot14_0001.ptau"
    )]
    Powersoftau(PowersCommand),
    /// Proving keys
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill zkey export verificationkey circuit.zkey verification_key.json"
    )]
    Zkey(ZkeyCommand),
    /// Circuits: describe, print, export
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill r1cs info circuit.r1cs\n  proofmill r1cs export json circuit.r1cs circuit.json"
    )]
    R1cs(R1csCommand),
    /// Witnesses
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill wtns calculate circuit.wasm input.json witness.wtns\n  proofmill wtns check circuit.r1cs witness.wtns"
    )]
    Wtns(WtnsCommand),
    /// Try a circuit from its source, with keys for tests: compile, set up, prove, verify, price
    Dev(Dev),
    /// Merkle trees over rows of 64-bit integers: root, build, open, check
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill merkle build trace.bin --columns 8 --out trace.tree\n  proofmill merkle open trace.tree 5 77 --out opening.json\n  proofmill merkle check opening.json --hash poseidon --rows 1048576 --columns 8 --root HEX"
    )]
    Merkle(MerkleCommand),
    /// Structured reference strings, powers of tau: new, info, check
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill srs new --size 2^20 test.ptau\n  proofmill srs info pot20.ptau\n  proofmill srs check ignition/"
    )]
    Srs(SrsCommand),
    /// Hash files, check digests, compute roots of SSZ trees
    Sha256(Sha256Command),
    /// BLS signatures on BLS12-381: keys, sign, verify, aggregate, test vectors
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill bls keygen --out validator.key\n  proofmill bls sign --key validator.key message.bin\n  proofmill bls verify --public-key HEX --signature HEX message.bin"
    )]
    Bls(BlsCommand),
    /// STARKs over Goldilocks: what is proven of a configuration
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill stark security\n  proofmill stark security --security 128 --log-rows 22"
    )]
    Stark(StarkCommand),
    /// Transform columns of a file between coefficients and values over the Goldilocks field
    Ntt(Ntt),
    /// Describe a circuit, witness, key, proof, reference string or tree
    Info(Info),
    /// List this CPU's features, the levels it can run and the one each kernel uses
    #[command(after_help = "Examples:\n  proofmill cpu\n  proofmill cpu --measure --json")]
    Cpu {
        /// Measure the speed-up by each feature for some seconds: every kernel of SHA-256 and of BLS signatures, on one core;
        /// needs proofmill-bench
        #[arg(long)]
        measure: bool,
    },
    /// Benchmarks: proofs by level, machine, watt and dollar
    #[command(after_help = "Examples:
  proofmill bench --help                                   all commands of the bench
  proofmill bench run msm --level all --threads 1,all
  proofmill bench platform --only openssl
  proofmill bench report --out report.html

The program proofmill-bench does this; `cargo install --path lab/bench` in a clone installs it.")]
    Bench(Passed),
    /// Curve arithmetic on pipelines of small processors: execute, explore, compare; needs proofmill-bench
    #[command(after_help = "Examples:
  proofmill pipeline --help                                all commands of pipelines
  proofmill pipeline run xyzz-plus-affine --random 2^16 --pipelines 10
  proofmill pipeline explore --html explore.html

The program proofmill-bench does this; `cargo install --path lab/bench` in a clone installs it.")]
    Pipeline(Passed),
    /// Serve proofs: jobs by HTTP, kept until they are done; needs proofmill-server
    #[command(after_help = "Examples:
  proofmill serve --help                                   all options of the service
  proofmill serve --data /var/lib/proofmill

The program proofmill-server does this; `cargo install --path service/server` in a clone installs it.")]
    Serve(Passed),
    /// Execute the jobs of a service on this machine; needs proofmill-server
    #[command(after_help = "Examples:
  proofmill worker --help                                  all options of a worker
  proofmill worker --server https://prover.example --token-file token

The program proofmill-server does this; `cargo install --path service/server` in a clone installs it.")]
    Worker(Passed),
    /// Jobs of a service: submit, wait, list, show, cancel, retry; needs proofmill-server
    #[command(after_help = "Examples:
  proofmill jobs --help                                    all commands of jobs
  proofmill jobs list

The program proofmill-server does this; `cargo install --path service/server` in a clone installs it.")]
    Jobs(Passed),
    /// Tokens of a service: new, list, revoke; needs proofmill-server
    #[command(after_help = "Examples:
  proofmill token --help                                   all commands of tokens
  proofmill token list

The program proofmill-server does this; `cargo install --path service/server` in a clone installs it.")]
    Token(Passed),
    /// Keys of a service: add, list, remove; needs proofmill-server
    #[command(after_help = "Examples:
  proofmill keys --help                                    all commands of keys
  proofmill keys list

The program proofmill-server does this; `cargo install --path service/server` in a clone installs it.")]
    Keys(Passed),
    /// One proof over many machines: predict its time and price; needs the Python package
    #[command(after_help = "Examples:
  proofmill ray --help                                     all commands
  proofmill ray plan --key circuit.zkey --nodes 8 --link 25Gb

The program proofmill-ray does this; `pip install './crates/python[ray]'` in a clone installs it.")]
    Ray(Passed),
    /// Execute jobs for the service, which starts this: requests on standard input, replies on standard output, a JSON object a line
    #[command(hide = true, after_help = "Examples:\n  proofmill prover --threads 4")]
    Prover(ProverArguments),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  proofmill completions bash > ~/.local/share/bash-completion/completions/proofmill
  proofmill completions zsh > ~/.zfunc/_proofmill")]
    Completions(Completions),
    /// Print the man page, or write the man pages of all commands to a folder
    #[command(after_help = "Examples:
  proofmill man | man -l -
  proofmill man ~/.local/share/man/man1")]
    Man(Man),
}

impl Command {
    /// The task of the command.
    pub(crate) fn task(self) -> CommandTask {
        match self {
            Self::Groth16(command) => CommandTask::here(command),
            Self::Plonk(PlonkCommand::Here(command)) => CommandTask::here(command),
            Self::Plonk(PlonkCommand::Workload(arguments)) => {
                CommandTask::there("plonk workload", SiblingProgram::Bench, Some("plonk-workload"), arguments)
            }
            Self::Fflonk(command) => CommandTask::here(command),
            Self::Powersoftau(command) => CommandTask::here(command),
            Self::Zkey(command) => CommandTask::here(command),
            Self::R1cs(command) => CommandTask::here(command),
            Self::Wtns(command) => CommandTask::here(command),
            Self::Dev(command) => CommandTask::here(command),
            Self::Merkle(command) => CommandTask::here(command),
            Self::Srs(command) => CommandTask::here(command),
            Self::Sha256(command) => CommandTask::here(command),
            Self::Bls(BlsCommand::Here(command)) => CommandTask::here(command),
            Self::Bls(BlsCommand::Vectors(arguments)) => {
                CommandTask::there("bls vectors", SiblingProgram::Bench, Some("bls-vectors"), arguments)
            }
            Self::Stark(command) => CommandTask::here(command),
            Self::Ntt(command) => CommandTask::here(command),
            Self::Info(command) => CommandTask::here(command),
            Self::Cpu { measure: true } => {
                CommandTask::there("cpu", SiblingProgram::Bench, Some("cpu"), Passed::none())
            }
            Self::Cpu { measure: false } => CommandTask::here(CpuList),
            Self::Bench(arguments) => CommandTask::there("bench", SiblingProgram::Bench, None, arguments),
            Self::Pipeline(arguments) => {
                CommandTask::there("pipeline", SiblingProgram::Bench, Some("pipeline"), arguments)
            }
            Self::Serve(arguments) => {
                CommandTask::there("serve", SiblingProgram::Server, Some("serve"), arguments)
            }
            Self::Worker(arguments) => {
                CommandTask::there("worker", SiblingProgram::Server, Some("worker"), arguments)
            }
            Self::Jobs(arguments) => {
                CommandTask::there("jobs", SiblingProgram::Server, Some("jobs"), arguments)
            }
            Self::Token(arguments) => {
                CommandTask::there("token", SiblingProgram::Server, Some("token"), arguments)
            }
            Self::Keys(arguments) => {
                CommandTask::there("keys", SiblingProgram::Server, Some("keys"), arguments)
            }
            Self::Ray(arguments) => CommandTask::there("ray", SiblingProgram::Ray, None, arguments),
            // It has a machine for each task.
            Self::Prover(prover) => {
                CommandTask::Unaided("prover", Box::new(move |options| prover.run(options)))
            }
            Self::Completions(command) => CommandTask::here(command),
            Self::Man(command) => CommandTask::here(command),
        }
    }
}

/// `cpu` without options.
struct CpuList;

impl MachineWork for CpuList {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        Ok(cpu::list(machine))
    }
}

impl MachineWork for Completions {
    fn name(&self) -> &'static str {
        "completions"
    }

    fn run(self: Box<Self>, _machine: &mut Machine) -> Result<Outcome, Failure> {
        Ok(Self::run(&self, Arguments::command()))
    }
}

impl MachineWork for Man {
    fn name(&self) -> &'static str {
        "man"
    }

    fn run(self: Box<Self>, _machine: &mut Machine) -> Result<Outcome, Failure> {
        Self::run(&self, Arguments::command())
    }
}
