//! `zkey export solidityverifier` and `zkey export soliditycalldata`: verification in Ethereum contracts.

use clap::Args;
use proofmill::{
    circom::{PublicSignals, protocol},
    fflonk, plonk,
};
use proofmill_circom::write_text;
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export solidityverifier circuit.zkey verifier.sol
  proofmill zkey export solidityverifier verification_key.json verifier.sol")]
pub(crate) struct SolidityVerifier {
    /// The proving key or verification key, of PLONK in any arithmetisation or of fflonk
    #[arg(value_name = "KEY")]
    pub(crate) key: PathBuf,
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
    /// The proof, of PLONK or fflonk
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    proof: PathBuf,
}

/// Writes the contract that verifies a key's proofs.
pub(crate) fn verifier(files: &SolidityVerifier, machine: &mut Machine) -> Result<Outcome, Failure> {
    let source = machine.run(|_, _| match protocol(&files.key)?.as_str() {
        "fflonk" => fflonk::VerifyingKey::open(&files.key)?.solidity_verifier(),
        _ => plonk::VerifyingKey::open(&files.key)?.solidity_verifier(),
    })?;
    write_text(&files.contract, &source)?;
    Ok(Outcome::done(json!({ "contract": files.contract })))
}

/// Prints the arguments for a call of that contract.
pub(crate) fn calldata(files: &SolidityCalldata) -> Result<Outcome, Failure> {
    let public = PublicSignals::open(&files.public)?;
    let calldata = match protocol(&files.proof)?.as_str() {
        "fflonk" => fflonk::Proof::open(&files.proof, public)?.solidity_calldata(),
        _ => plonk::Proof::open(&files.proof, public)?.solidity_calldata(),
    };
    let text = format!("{calldata}\n");
    Ok(Outcome { text, ..Outcome::done(json!({ "calldata": calldata })) })
}
