//! `groth16`: prove, verify.

use crate::{
    curve,
    files::CommandFiles,
    proving::{FullProve, Prove, Setup, Verify},
    task::MachineWork,
};
use clap::Subcommand;
use proofmill::{circom::over_curve, groth16::Groth16};
use proofmill_console::{Failure, Machine, Outcome};

#[derive(Debug, Subcommand)]
pub(crate) enum Groth16Command {
    /// Prove that a witness satisfies a circuit; several, with one key
    #[command(after_help = "Examples:
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill groth16 prove circuit.zkey a.wtns a.proof.json a.public.json b.wtns b.proof.json b.public.json
  proofmill groth16 prove circuit.zkey witness.wtns --threads 1 --json")]
    Prove(Prove),
    /// Calculate a witness and prove that it satisfies a circuit, with the witness in memory only
    #[command(
        name = "fullprove",
        after_help = "Examples:
  proofmill groth16 fullprove input.json circuit.wasm circuit.zkey proof.json public.json
  proofmill groth16 fullprove a.json circuit.wasm circuit.zkey a.proof.json a.public.json b.json b.proof.json b.public.json"
    )]
    FullProve(FullProve),
    /// Verify a proof; several, in a fraction of the time
    #[command(after_help = "Examples:
  proofmill groth16 verify verification_key.json public.json proof.json
  proofmill groth16 verify verification_key.json public.json proof.json && echo valid
  proofmill groth16 verify verification_key.json a.public.json a.proof.json b.public.json b.proof.json")]
    Verify(Verify),
    /// Make a circuit's proving key, for `zkey contribute`: the same bytes as `snarkjs groth16 setup`
    #[command(after_help = "Examples:
  proofmill groth16 setup circuit.r1cs pot.ptau circuit_0000.zkey

The key is insecure until someone has contributed to it: before that, anyone can forge proofs.")]
    Setup(Setup),
}

impl MachineWork for Groth16Command {
    fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "groth16 prove",
            Self::FullProve(_) => "groth16 fullprove",
            Self::Verify(_) => "groth16 verify",
            Self::Setup(_) => "groth16 setup",
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Prove(prove) => prove.files(),
            Self::FullProve(prove) => prove.files(),
            Self::Verify(_) => CommandFiles::default(),
            Self::Setup(setup) => setup.files(),
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            Groth16Command::Prove(files) => {
                over_curve!(curve::of(&files.zkey)?, C => files.run::<Groth16<C>>(machine))
            }
            Groth16Command::FullProve(files) => {
                over_curve!(curve::of(&files.zkey)?, C => files.run::<Groth16<C>>(machine))
            }
            Groth16Command::Verify(files) => {
                over_curve!(curve::of(&files.key)?, C => files.run::<Groth16<C>>(machine))
            }
            Groth16Command::Setup(files) => {
                let outcome = over_curve!(curve::of(&files.r1cs)?, C => files.run::<Groth16<C>>(machine))?;
                if !machine.quiet() {
                    let zkey = files.zkey.display();
                    eprintln!(
                        "warning: anyone can forge proofs for {zkey} until somebody contributes to it: proofmill zkey contribute {zkey} FINAL.zkey"
                    );
                }
                Ok(outcome)
            }
        }
    }
}
