//! The definition of the command line, also for completions and man pages.

use crate::{
    bls::BlsCommand, dev::Dev, fflonk::FflonkCommand, files::Files, groth16::Groth16Command, info::Info,
    merkle::MerkleCommand, ntt::Ntt, plonk::PlonkCommand, powersoftau::PowersCommand, programs::Passed,
    r1cs::R1csCommand, sha256::Sha256Command, srs::SrsCommand, stark::StarkCommand, witness::WtnsCommand,
    zkey::ZkeyCommand,
};
use clap::{Parser, Subcommand};
use proofmill_console::{Completions, Man, Options, StorageOptions};
use proofmill_prover::Prover;

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
    Prover(Prover),
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
    /// The storage options of commands that have any.
    pub(crate) fn storage(&self) -> Option<StorageOptions> {
        match self {
            Self::Plonk(command) => command.storage(),
            Self::Fflonk(command) => command.storage(),
            Self::Stark(command) => command.storage(),
            _ => None,
        }
    }

    /// The command's name, such as `plonk prove`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Groth16(command) => command.name(),
            Self::Plonk(command) => command.name(),
            Self::Fflonk(command) => command.name(),
            Self::Powersoftau(command) => command.name(),
            Self::Zkey(command) => command.name(),
            Self::R1cs(command) => command.name(),
            Self::Wtns(command) => command.name(),
            Self::Merkle(command) => command.name(),
            Self::Srs(command) => command.name(),
            Self::Sha256(_) => "sha256",
            Self::Bls(command) => command.name(),
            Self::Stark(command) => command.name(),
            Self::Ntt(_) => "ntt",
            Self::Dev(_) => "dev",
            Self::Info(_) => "info",
            Self::Cpu { .. } => "cpu",
            Self::Bench(_) => "bench",
            Self::Pipeline(_) => "pipeline",
            Self::Ray(_) => "ray",
            Self::Serve(_) => "serve",
            Self::Worker(_) => "worker",
            Self::Jobs(_) => "jobs",
            Self::Token(_) => "token",
            Self::Keys(_) => "keys",
            Self::Prover(_) => "prover",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// The files that the command reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        match self {
            Self::Groth16(command) => command.files(),
            Self::Plonk(command) => command.files(),
            Self::R1cs(command) => command.files(),
            Self::Fflonk(command) => command.files(),
            Self::Powersoftau(command) => command.files(),
            Self::Zkey(command) => command.files(),
            Self::Merkle(command) => command.files(),
            Self::Srs(command) => command.files(),
            Self::Stark(command) => command.files(),
            Self::Ntt(arguments) => arguments.files(),
            Self::Dev(dev) => dev.files(),
            Self::Wtns(command) => command.files(),
            Self::Sha256(_)
            | Self::Bls(_)
            | Self::Info(_)
            | Self::Cpu { .. }
            | Self::Bench(_)
            | Self::Pipeline(_)
            | Self::Ray(_)
            | Self::Serve(_)
            | Self::Worker(_)
            | Self::Jobs(_)
            | Self::Token(_)
            | Self::Keys(_)
            | Self::Prover(_)
            | Self::Completions(_)
            | Self::Man(_) => Files::default(),
        }
    }
}
