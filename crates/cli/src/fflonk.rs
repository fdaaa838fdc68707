//! `fflonk`: set up, prove, verify.

use crate::{
    files::CommandFiles,
    proving::{FullProve, Prove, Setup, Stored, Verify},
    task::MachineWork,
};
use clap::Subcommand;
use proofmill::fflonk::Fflonk;
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};

#[derive(Debug, Subcommand)]
pub(crate) enum FflonkCommand {
    /// Prove that a witness satisfies a circuit; several, with one key
    #[command(after_help = "Examples:
  proofmill fflonk prove circuit.zkey witness.wtns proof.json public.json
  proofmill fflonk prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill fflonk prove circuit.zkey a.wtns a.proof.json a.public.json b.wtns b.proof.json b.public.json
  proofmill fflonk prove circuit.zkey witness.wtns --scratch /var/tmp")]
    Prove(Stored<Prove>),
    /// Prove from a circuit's inputs: calculate the witness, which stays in memory, and prove
    #[command(
        name = "fullprove",
        after_help = "Examples:
  proofmill fflonk fullprove input.json circuit.wasm circuit.zkey proof.json public.json
  proofmill fflonk fullprove a.json circuit.wasm circuit.zkey a.proof.json a.public.json b.json b.proof.json b.public.json"
    )]
    FullProve(Stored<FullProve>),
    /// Verify a proof, or several
    #[command(after_help = "Examples:
  proofmill fflonk verify verification_key.json public.json proof.json
  proofmill fflonk verify verification_key.json public.json proof.json && echo valid
  proofmill fflonk verify verification_key.json a.public.json a.proof.json b.public.json b.proof.json")]
    Verify(Verify),
    /// Make a circuit's proving key: the same bytes as `snarkjs fflonk setup`
    #[command(after_help = "Examples:
  proofmill fflonk setup circuit.r1cs pot.ptau circuit.zkey

A domain of n points needs 9 n + 18 powers of tau; the file may have twice as many as its power says.")]
    Setup(Setup),
}

impl MachineWork for FflonkCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "fflonk prove",
            Self::FullProve(_) => "fflonk fullprove",
            Self::Verify(_) => "fflonk verify",
            Self::Setup(_) => "fflonk setup",
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
            Self::Setup(setup) => setup.files(),
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            FflonkCommand::Prove(prove) => prove.files.run::<Fflonk>(machine),
            FflonkCommand::FullProve(prove) => prove.files.run::<Fflonk>(machine),
            FflonkCommand::Verify(files) => files.run::<Fflonk>(machine),
            FflonkCommand::Setup(files) => files.run::<Fflonk>(machine),
        }
    }
}
