//! `plonk`: set up, prove, verify.

use crate::{
    files::CommandFiles,
    programs::Passed,
    proving::{FullProve, Prove, Setup, Stored, Verify, warn_of_powers},
    task::MachineWork,
};
use clap::{Args, Subcommand};
use proofmill::{
    circom::R1cs,
    plonk::{Arithmetisation, Plonk, write_key},
    srs::Srs,
};
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};
use proofmill_run::Run;

#[derive(Debug, Subcommand)]
pub(crate) enum PlonkCommand {
    #[command(flatten)]
    Here(PlonkWork),
    /// Measure the six phases of a proof on circuits of chosen size
    #[command(after_help = "Examples:
  proofmill plonk workload arithmetic --gates 2^18 --arithmetisation ultra
  proofmill plonk workload pedersen --hashes 4000 --arithmetisation turbo --json

The program proofmill-bench does this: `proofmill plonk workload --help` prints its help.")]
    Workload(Passed),
}

/// The commands of this program.
#[derive(Debug, Subcommand)]
pub(crate) enum PlonkWork {
    /// Prove that a witness satisfies a circuit; several, with one key
    #[command(after_help = "Examples:
  proofmill plonk prove circuit.zkey witness.wtns proof.json public.json
  proofmill plonk prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill plonk prove circuit.zkey a.wtns a.proof.json a.public.json b.wtns b.proof.json b.public.json
  proofmill plonk prove circuit.key witness.wtns --memory low --scratch /var/tmp
  proofmill plonk prove circuit.zkey witness.wtns --threads 1 --json")]
    Prove(Stored<Prove>),
    /// Calculate a witness and prove that it satisfies a circuit, with the witness in memory only
    #[command(
        name = "fullprove",
        after_help = "Examples:
  proofmill plonk fullprove input.json circuit.wasm circuit.zkey proof.json public.json
  proofmill plonk fullprove a.json circuit.wasm circuit.zkey a.proof.json a.public.json b.json b.proof.json b.public.json"
    )]
    FullProve(Stored<FullProve>),
    /// Verify a proof, or several
    #[command(after_help = "Examples:
  proofmill plonk verify verification_key.json public.json proof.json
  proofmill plonk verify verification_key.json public.json proof.json && echo valid
  proofmill plonk verify verification_key.json a.public.json a.proof.json b.public.json b.proof.json")]
    Verify(Verify),
    /// Make a circuit's proving key: the same bytes as `snarkjs plonk setup`, or in a wider arithmetisation
    #[command(after_help = "Examples:
  proofmill plonk setup circuit.r1cs pot.ptau circuit.zkey
  proofmill plonk setup --arithmetisation turbo circuit.r1cs pot.ptau circuit.key")]
    Setup(PlonkSetup),
}

/// Arguments of `plonk setup`.
#[derive(Args, Debug)]
pub(crate) struct PlonkSetup {
    #[command(flatten)]
    files: Setup,
    /// standard for snarkjs's zkey; turbo or ultra for a key of Proofmill's own, with fewer and wider rows
    #[arg(long, alias = "arithmetization", value_name = "NAME", default_value = "standard")]
    arithmetisation: Arithmetisation,
}

impl MachineWork for PlonkWork {
    fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "plonk prove",
            Self::FullProve(_) => "plonk fullprove",
            Self::Verify(_) => "plonk verify",
            Self::Setup(_) => "plonk setup",
        }
    }

    fn storage(&self) -> Option<StorageOptions> {
        match self {
            Self::Prove(prove) => Some(prove.storage.clone()),
            Self::FullProve(prove) => Some(prove.storage.clone()),
            Self::Verify(_) | Self::Setup(_) => None,
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Prove(prove) => prove.files.files(),
            Self::FullProve(prove) => prove.files.files(),
            Self::Verify(_) => CommandFiles::default(),
            Self::Setup(setup) => setup.files.files(),
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            PlonkWork::Prove(prove) => prove.files.run::<Plonk>(machine),
            PlonkWork::FullProve(prove) => prove.files.run::<Plonk>(machine),
            PlonkWork::Verify(files) => files.run::<Plonk>(machine),
            PlonkWork::Setup(arguments) => setup(&arguments, machine),
        }
    }
}

fn setup(arguments: &PlonkSetup, machine: &mut Machine) -> Result<Outcome, Failure> {
    let PlonkSetup { files, arithmetisation } = arguments;
    let quiet = machine.quiet();
    machine.run(|Run { progress, .. }| {
        progress.begin("read r1cs");
        let circuit = R1cs::open(&files.r1cs)?;
        // Here an inconsistent string is bad input, not a rejected one.
        let srs = Srs::open(&files.ptau).map_err(|error| Failure::Input(error.to_string()))?;
        write_key(&files.zkey, &circuit, &srs, *arithmetisation)?;
        warn_of_powers(&files.ptau, srs.insecurity(), quiet);
        Ok(files.outcome())
    })
}
