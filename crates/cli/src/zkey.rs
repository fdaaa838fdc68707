//! `zkey`: proving keys.

use crate::{
    files::Files,
    solidity::{self, SolidityCalldata, SolidityVerifier},
};
use clap::{Args, Subcommand};
use proofmill::{circom::protocol, fflonk, groth16, plonk};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum ZkeyCommand {
    /// Export the verification key, or a contract and calldata for Ethereum
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill zkey export verificationkey circuit.zkey verification_key.json
  proofmill zkey export solidityverifier circuit.zkey verifier.sol"
    )]
    Export(ExportCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// Write the verification key of a proving key of Groth16, PLONK or fflonk
    #[command(name = "verificationkey")]
    VerificationKey(VerificationKey),
    /// Write a Solidity contract that verifies the proofs of a key of PLONK or fflonk
    #[command(name = "solidityverifier")]
    SolidityVerifier(SolidityVerifier),
    /// Print a proof of PLONK or fflonk and its public signals as the arguments of that contract's verifyProof
    #[command(name = "soliditycalldata")]
    SolidityCalldata(SolidityCalldata),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export verificationkey circuit.zkey verification_key.json")]
pub(crate) struct VerificationKey {
    /// The proving key
    #[arg(value_name = "ZKEY")]
    zkey: PathBuf,
    /// The verification key to write
    #[arg(value_name = "VERIFICATION_KEY", default_value = "verification_key.json")]
    key: PathBuf,
}

impl ZkeyCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Export(ExportCommand::VerificationKey(_)) => "zkey export verificationkey",
            Self::Export(ExportCommand::SolidityVerifier(_)) => "zkey export solidityverifier",
            Self::Export(ExportCommand::SolidityCalldata(_)) => "zkey export soliditycalldata",
        }
    }

    pub(crate) fn files(&self) -> Files<'_> {
        match self {
            Self::Export(ExportCommand::VerificationKey(export)) => {
                Files { inputs: vec![&export.zkey], outputs: vec![&export.key] }
            }
            Self::Export(ExportCommand::SolidityVerifier(export)) => {
                Files { inputs: vec![&export.key], outputs: vec![&export.contract] }
            }
            Self::Export(ExportCommand::SolidityCalldata(_)) => Files::default(),
        }
    }
}

pub(crate) fn run(command: ZkeyCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        ZkeyCommand::Export(ExportCommand::VerificationKey(files)) => export(&files, machine),
        ZkeyCommand::Export(ExportCommand::SolidityVerifier(files)) => solidity::verifier(&files, machine),
        ZkeyCommand::Export(ExportCommand::SolidityCalldata(files)) => solidity::calldata(&files),
    }
}

fn export(files: &VerificationKey, machine: &mut Machine) -> Result<Outcome, Failure> {
    let protocol = protocol(&files.zkey)?;
    machine.run(|_, _| match protocol.as_str() {
        "plonk" | "proofmill-plonk" => plonk::VerifyingKey::open(&files.zkey)?.save(&files.key),
        "fflonk" => fflonk::VerifyingKey::open(&files.zkey)?.save(&files.key),
        _ => groth16::VerifyingKey::open(&files.zkey)?.save(&files.key),
    })?;
    Ok(Outcome::done(json!({ "protocol": protocol, "verification_key": files.key })))
}
