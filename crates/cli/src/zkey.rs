//! `zkey`: proving keys.

use crate::{
    audit::ZkeyAudit,
    bellman::{self, BellmanCommand, ImportCommand},
    ceremony::{ApplyBeacon, Contribute, Verify},
    curve,
    files::{CommandFiles, InputFile, OutputFile},
    solidity::{self, SolidityCalldata, SolidityVerifier},
    task::MachineWork,
};
use clap::{Args, Subcommand};
use proofmill::{
    AnyVerifyingKey, ProvingKey, VerifyingKey,
    circom::{PairingCurve, over_curve},
    curve::bls12_381,
    groth16::Groth16,
};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum ZkeyCommand {
    /// Export the verification key, or a contract and calldata for Ethereum
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill zkey export verificationkey circuit.zkey verification_key.json
  proofmill zkey export solidityverifier circuit.zkey verifier.sol"
    )]
    Export(ExportCommand),
    /// Say whether anyone can forge proofs for a key or a Solidity verifier, and where its setup is from
    Audit(ZkeyAudit),
    /// Contribute to a Groth16 key: multiply delta by a secret that is forgotten
    Contribute(Contribute),
    /// Apply a beacon to a Groth16 key, as its last contribution
    Beacon(ApplyBeacon),
    /// Contribute to a Groth16 key in bellman's format
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill zkey bellman contribute bn128 circuit_0003.mpcparams circuit_0004.mpcparams"
    )]
    Bellman(BellmanCommand),
    /// Import contributions to a Groth16 key
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill zkey import bellman circuit_0003.zkey circuit_0004.mpcparams circuit_0004.zkey --name \"Alice\""
    )]
    Import(ImportCommand),
    /// Verify that a Groth16 key is a circuit's, or began as another key, and all contributions to it
    Verify(Verify),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// Write the verification key of a proving key of Groth16, PLONK or fflonk
    #[command(name = "verificationkey")]
    VerificationKey(VerificationKey),
    /// Write a Solidity contract that verifies the proofs of a key
    #[command(name = "solidityverifier")]
    SolidityVerifier(SolidityVerifier),
    /// Write a Groth16 proving key as JSON: the same bytes as `snarkjs zkey export json`, in bounded memory
    Json(KeyJson),
    /// Write a Groth16 key in bellman's format, for contributors who use phase2-bn254
    Bellman(bellman::Export),
    /// Print a proof and its public signals as the arguments of that contract's verifyProof
    #[command(name = "soliditycalldata")]
    SolidityCalldata(SolidityCalldata),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export verificationkey circuit.zkey verification_key.json")]
pub(crate) struct VerificationKey {
    /// The proving key
    #[arg(value_name = "ZKEY")]
    zkey: InputFile,
    /// The verification key to write
    #[arg(value_name = "VERIFICATION_KEY", default_value = "verification_key.json")]
    key: OutputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export json circuit.zkey circuit.zkey.json")]
pub(crate) struct KeyJson {
    /// The proving key
    #[arg(value_name = "ZKEY")]
    zkey: InputFile,
    /// The file to write
    #[arg(value_name = "JSON", default_value = "circuit_final.zkey.json")]
    output: OutputFile,
}

impl MachineWork for ZkeyCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Export(ExportCommand::VerificationKey(_)) => "zkey export verificationkey",
            Self::Export(ExportCommand::Json(_)) => "zkey export json",
            Self::Export(ExportCommand::SolidityVerifier(_)) => "zkey export solidityverifier",
            Self::Export(ExportCommand::SolidityCalldata(_)) => "zkey export soliditycalldata",
            Self::Export(ExportCommand::Bellman(_)) => "zkey export bellman",
            Self::Bellman(_) => "zkey bellman contribute",
            Self::Import(_) => "zkey import bellman",
            Self::Audit(_) => "zkey audit",
            Self::Contribute(_) => "zkey contribute",
            Self::Beacon(_) => "zkey beacon",
            Self::Verify(verify) => verify.name(),
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Export(ExportCommand::VerificationKey(export)) => {
                CommandFiles { inputs: vec![&export.zkey], outputs: vec![&export.key] }
            }
            Self::Export(ExportCommand::Json(export)) => {
                CommandFiles { inputs: vec![&export.zkey], outputs: vec![&export.output] }
            }
            Self::Export(ExportCommand::SolidityVerifier(export)) => {
                CommandFiles { inputs: vec![&export.key], outputs: vec![&export.contract] }
            }
            Self::Export(ExportCommand::Bellman(export)) => export.files(),
            Self::Bellman(command) => command.files(),
            Self::Import(command) => command.files(),
            Self::Contribute(contribute) => contribute.files(),
            Self::Beacon(beacon) => beacon.files(),
            Self::Export(ExportCommand::SolidityCalldata(_)) | Self::Audit(_) | Self::Verify(_) => {
                CommandFiles::default()
            }
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            ZkeyCommand::Audit(arguments) => arguments.run(machine),
            ZkeyCommand::Contribute(arguments) => arguments.run(machine),
            ZkeyCommand::Beacon(arguments) => arguments.run(machine),
            ZkeyCommand::Verify(command) => command.run(machine),
            ZkeyCommand::Bellman(command) => command.run(machine),
            ZkeyCommand::Import(command) => command.run(machine),
            ZkeyCommand::Export(ExportCommand::Bellman(export)) => export.run(machine),
            ZkeyCommand::Export(ExportCommand::VerificationKey(files)) => export(&files, machine),
            ZkeyCommand::Export(ExportCommand::Json(files)) => {
                machine.run(|_| {
                    over_curve!(curve::of(&files.zkey)?, C => {
                        ProvingKey::<Groth16<C>>::open(&files.zkey)?.write_json(&files.output)
                    })
                })?;
                Ok(Outcome::done(json!({ "json": &*files.output })))
            }
            ZkeyCommand::Export(ExportCommand::SolidityVerifier(files)) => {
                solidity::verifier(&files, machine)
            }
            ZkeyCommand::Export(ExportCommand::SolidityCalldata(files)) => {
                solidity::calldata(&files, machine)
            }
        }
    }
}

fn export(files: &VerificationKey, machine: &mut Machine) -> Result<Outcome, Failure> {
    let protocol = machine.run(|_| {
        if curve::of(&files.zkey)? == PairingCurve::Bls12_381 {
            VerifyingKey::<Groth16<bls12_381::G1>>::open(&files.zkey)?.save(&files.key)?;
            return Ok("groth16");
        }
        let key = AnyVerifyingKey::open(&files.zkey)?;
        key.save(&files.key)?;
        Ok::<_, proofmill::Error>(key.protocol())
    })?;
    Ok(Outcome::done(json!({ "protocol": protocol, "verification_key": &*files.key })))
}
