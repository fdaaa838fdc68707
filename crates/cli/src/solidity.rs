//! `zkey export solidityverifier` and `zkey export soliditycalldata`: verification in Ethereum contracts.

use crate::files::{Input, Output};
use clap::Args;
use proofmill::{
    circom::PublicSignals,
    plonk::{Proof, VerifyingKey},
};
use proofmill_circom::write_text;
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export solidityverifier circuit.zkey verifier.sol
  proofmill zkey export solidityverifier verification_key.json verifier.sol")]
pub(crate) struct SolidityVerifier {
    /// The proving key or verification key of PLONK, in any arithmetisation
    #[arg(value_name = "KEY")]
    pub(crate) key: Input,
    /// The contract to write
    #[arg(value_name = "CONTRACT", default_value = "verifier.sol")]
    pub(crate) contract: Output,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export soliditycalldata public.json proof.json")]
pub(crate) struct SolidityCalldata {
    /// The public signals
    #[arg(value_name = "PUBLIC", default_value = "public.json")]
    public: Input,
    /// The proof, of PLONK
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    proof: Input,
}

/// Writes the contract that verifies a key's proofs.
pub(crate) fn verifier(files: &SolidityVerifier, machine: &mut Machine) -> Result<Outcome, Failure> {
    let source = machine.run(|_, _| VerifyingKey::open(&files.key)?.solidity_verifier())?;
    write_text(&files.contract, &source)?;
    Ok(Outcome::done(json!({ "contract": &*files.contract })))
}

/// Prints the arguments for a call of that contract.
pub(crate) fn calldata(files: &SolidityCalldata) -> Result<Outcome, Failure> {
    let public = PublicSignals::open(&files.public)?;
    let calldata = Proof::open(&files.proof, public)?.solidity_calldata();
    let text = format!("{calldata}\n");
    Ok(Outcome { text, ..Outcome::done(json!({ "calldata": calldata })) })
}
