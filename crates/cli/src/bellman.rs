//! `zkey export bellman`, `zkey bellman contribute` and `zkey import bellman`: contributions by bellman's programs.

use crate::{
    ceremony::{ContributionName, Entropy, hash_outcome},
    curve,
    files::{CommandFiles, InputFile, OutputFile},
};
use clap::{Args, Subcommand};
use proofmill::{
    ProvingKey,
    ceremony::{Randomness, bellman},
    circom::{PairingCurve, over_curve},
    groth16::Groth16,
};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;

/// The phases of each command.
const PHASES: usize = 3;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export bellman circuit_0003.zkey circuit_0003.mpcparams

phase2-bn254 contributes to the file; `zkey import bellman` takes the result.")]
pub(crate) struct Export {
    /// The key
    #[arg(value_name = "ZKEY", default_value = "circuit_final.zkey")]
    zkey: InputFile,
    /// The parameters to write
    #[arg(value_name = "PARAMETERS", default_value = "circuit_final.mpcparams")]
    parameters: OutputFile,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BellmanCommand {
    /// Contribute to a key in bellman's format
    Contribute(Contribute),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey bellman contribute bn128 circuit_0003.mpcparams circuit_0004.mpcparams

The secret is made of the operating system's randomness and of --entropy, and forgotten. Publish the hash that is printed.")]
pub(crate) struct Contribute {
    /// bn128 or bls12381
    #[arg(value_name = "CURVE", value_parser = curve::parse)]
    curve: PairingCurve,
    /// The parameters so far
    #[arg(value_name = "OLD_PARAMETERS")]
    old: InputFile,
    /// The parameters to write
    #[arg(value_name = "NEW_PARAMETERS")]
    new: OutputFile,
    #[command(flatten)]
    entropy: Entropy,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Write the key with the contributions in bellman's parameters that were exported from it
    Bellman(Import),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey import bellman circuit_0003.zkey circuit_0004.mpcparams circuit_0004.zkey --name \"Alice\"

All contributions are verified; `zkey verify` verifies the whole key.")]
pub(crate) struct Import {
    /// The key from which the parameters were exported
    #[arg(value_name = "OLD_ZKEY")]
    old: InputFile,
    /// The parameters
    #[arg(value_name = "PARAMETERS")]
    parameters: InputFile,
    /// The key to write
    #[arg(value_name = "NEW_ZKEY")]
    new: OutputFile,
    #[command(flatten)]
    name: ContributionName,
}

impl Export {
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        CommandFiles { inputs: vec![&self.zkey], outputs: vec![&self.parameters] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        machine.clock().expect(PHASES - 1);
        machine.run(|_| {
            over_curve!(curve::of(&self.zkey)?, C => {
                bellman::export(&ProvingKey::<Groth16<C>>::open(&self.zkey)?, &self.parameters)
            })
        })?;
        Ok(Outcome::done(json!({ "parameters": &*self.parameters })))
    }
}

impl BellmanCommand {
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        let Self::Contribute(files) = self;
        CommandFiles { inputs: vec![&files.old], outputs: vec![&files.new] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let Self::Contribute(Contribute { curve, old, new, entropy }) = self;
        machine.clock().expect(PHASES);
        let entropy = entropy.bytes();
        let randomness = Randomness::System(&entropy);
        let hash =
            machine.run(|_| over_curve!(curve, C => bellman::contribute::<C>(&old, &new, randomness)))?;
        Ok(hash_outcome("contribution", hash, "parameters", &new))
    }
}

impl ImportCommand {
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        let Self::Bellman(files) = self;
        CommandFiles { inputs: vec![&files.old, &files.parameters], outputs: vec![&files.new] }
    }

    pub(crate) fn run(self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let Self::Bellman(Import { old, parameters, new, name }) = self;
        machine.clock().expect(PHASES);
        let hashes = machine.run(|_| {
            over_curve!(curve::of(&old)?, C => {
                bellman::import(&ProvingKey::<Groth16<C>>::open(&old)?, &parameters, &new, name.get())
            })
        })?;
        let hash = hashes.last().copied().unwrap_or([0; 64]);
        Ok(hash_outcome("contribution", hash, "zkey", &new))
    }
}
