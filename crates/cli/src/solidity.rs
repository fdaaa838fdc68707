//! `zkey export solidityverifier` and `zkey export soliditycalldata`: verification in Ethereum's contracts.

use clap::Args;
use proofmill_circom::{
    AnyPlonkProof, AnyPlonkVerificationKey, BinFile, CircomError, CircuitKey, FileKind, Zkey, read_public,
    write_text,
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_plonk::{Proof, VerifyingKey, solidity};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export solidityverifier circuit.zkey verifier.sol
  proofmill zkey export solidityverifier verification_key.json verifier.sol")]
pub(crate) struct SolidityVerifier {
    /// The proving key or the verification key, of PLONK in any arithmetisation
    #[arg(value_name = "KEY")]
    key: PathBuf,
    /// The contract to write
    #[arg(value_name = "CONTRACT", default_value = "verifier.sol")]
    pub(crate) contract: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export soliditycalldata public.json proof.json")]
pub(crate) struct SolidityCalldata {
    /// The public signals
    #[arg(value_name = "PUBLIC", default_value = "public.json")]
    public: PathBuf,
    /// The proof, of PLONK
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    proof: PathBuf,
}

/// Writes the contract that verifies a key's proofs.
pub(crate) fn verifier(files: &SolidityVerifier, machine: &mut Machine) -> Result<Outcome, Failure> {
    let key = verifying_key(&files.key, machine)?;
    let source = solidity::verifier(&key).map_err(|error| Failure::about(&files.key, error))?;
    write_text(&files.contract, &source)?;
    Ok(Outcome::done(json!({ "contract": files.contract })))
}

/// The verification key that a file is or has: what is no binary file of a known kind must be JSON.
fn verifying_key(path: &Path, machine: &mut Machine) -> Result<VerifyingKey, Failure> {
    let file = match BinFile::open(path) {
        Err(CircomError::Kind { .. }) => {
            let file = AnyPlonkVerificationKey::open(path)?;
            return VerifyingKey::try_from(&file).map_err(|error| Failure::about(path, error));
        }
        file => file?,
    };
    if file.kind() == FileKind::Pmpk {
        let key = CircuitKey::read(file)?;
        let key = machine.run(|level, _| VerifyingKey::of_circuit(level, &key));
        return key.map_err(|error| Failure::about(path, error));
    }
    match Zkey::read(file)? {
        Zkey::Plonk(zkey) => Ok(VerifyingKey::from(zkey.header())),
        Zkey::Groth16(_) => Err(Failure::about(path, "expected a key of PLONK, found one of Groth16")),
    }
}

/// Prints the arguments of a call of that contract.
pub(crate) fn calldata(files: &SolidityCalldata) -> Result<Outcome, Failure> {
    let public = read_public(&files.public)?;
    let proof = match AnyPlonkProof::open(&files.proof)? {
        AnyPlonkProof::Snarkjs(proof) => Proof::from(&proof),
        AnyPlonkProof::Circuit(proof) => Proof::from(proof),
    };
    let calldata = solidity::calldata(&proof, &public);
    let text = format!("{calldata}\n");
    Ok(Outcome { text, ..Outcome::done(json!({ "calldata": calldata })) })
}
