//! `zkey`: proving keys.

use crate::solidity::{self, SolidityCalldata, SolidityVerifier};
use clap::{Args, Subcommand};
use proofmill_circom::{BinFile, CircuitKey, FileKind, Zkey, write_text};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_groth16::{Groth16Error, verifying_key_text};
use proofmill_plonk::VerifyingKey;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum ZkeyCommand {
    /// Write a part of a proving key to a file of its own
    #[command(
        subcommand,
        after_help = "Examples:\n  proofmill zkey export verificationkey circuit.zkey verification_key.json
  proofmill zkey export solidityverifier circuit.zkey verifier.sol"
    )]
    Export(ExportCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// Write the verification key of a Groth16 or PLONK proving key
    #[command(name = "verificationkey")]
    VerificationKey(VerificationKey),
    /// Write a Solidity contract that verifies the proofs of a PLONK key
    #[command(name = "solidityverifier")]
    SolidityVerifier(SolidityVerifier),
    /// Print a PLONK proof and its public signals as the arguments of that contract's verifyProof
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

    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::Export(ExportCommand::VerificationKey(files)) => vec![&files.key],
            Self::Export(ExportCommand::SolidityVerifier(files)) => vec![&files.contract],
            Self::Export(ExportCommand::SolidityCalldata(_)) => Vec::new(),
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
    let file = BinFile::open(&files.zkey)?;
    if file.kind() == FileKind::Pmpk {
        let key = CircuitKey::read(file)?;
        let key = machine.run(|level, _| VerifyingKey::of_circuit(level, &key));
        let text = key.map_err(|error| Failure::about(&files.zkey, error))?.text();
        return write(files, "proofmill-plonk", &text);
    }
    let (protocol, text) = match Zkey::read(file)? {
        Zkey::Groth16(zkey) => {
            let text = machine.run(|level, _| verifying_key_text(level, &zkey));
            let text = text.map_err(|error| match error {
                Groth16Error::File(error) => error.into(),
                _ => Failure::about(&files.zkey, error),
            })?;
            ("groth16", text)
        }
        Zkey::Plonk(zkey) => ("plonk", VerifyingKey::from(zkey.header()).text()),
    };
    write(files, protocol, &text)
}

fn write(files: &VerificationKey, protocol: &str, text: &str) -> Result<Outcome, Failure> {
    write_text(&files.key, text)?;
    Ok(Outcome::done(json!({ "protocol": protocol, "verification_key": files.key })))
}
