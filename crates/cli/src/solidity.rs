//! `zkey export solidityverifier` and `zkey export soliditycalldata`: verification in Ethereum contracts.

use crate::files::{InputFile, OutputFile};
use clap::Args;
use proofmill::{AnyProof, AnyVerifyingKey, circom::PublicSignals};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_files::write_text;
use serde_json::json;

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export solidityverifier circuit.zkey verifier.sol
  proofmill zkey export solidityverifier verification_key.json verifier.sol")]
pub(crate) struct SolidityVerifier {
    /// The proving key or verification key of Groth16, fflonk, or PLONK in any arithmetisation
    #[arg(value_name = "KEY")]
    pub(crate) key: InputFile,
    /// The contract to write
    #[arg(value_name = "CONTRACT", default_value = "verifier.sol")]
    pub(crate) contract: OutputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill zkey export soliditycalldata public.json proof.json
  proofmill zkey export soliditycalldata public.json proof.json --key verification_key.json")]
pub(crate) struct SolidityCalldata {
    /// The public signals
    #[arg(value_name = "PUBLIC", default_value = "public.json")]
    public: InputFile,
    /// The proof of Groth16, PLONK or fflonk
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    proof: InputFile,
    /// The proving key or verification key: print only a call that its contract accepts
    #[arg(long, value_name = "KEY")]
    key: Option<InputFile>,
}

/// Writes the contract that verifies a key's proofs.
pub(crate) fn verifier(files: &SolidityVerifier, machine: &mut Machine) -> Result<Outcome, Failure> {
    let (protocol, source) = machine.run(|_| {
        let key = AnyVerifyingKey::open(&files.key)?;
        Ok::<_, proofmill::Error>((key.protocol(), key.solidity_verifier()?))
    })?;
    write_text(&files.contract, &source)?;
    Ok(Outcome::done(json!({ "protocol": protocol, "contract": &*files.contract })))
}

/// Prints the arguments for a call of that contract, of a proof that was verified if the key is known.
pub(crate) fn calldata(files: &SolidityCalldata, machine: &mut Machine) -> Result<Outcome, Failure> {
    let public = PublicSignals::open(&files.public)?;
    let calldata = machine.run(|_| {
        let proof = AnyProof::open(&files.proof, public)?;
        if let Some(key) = &files.key {
            proof.verify(&AnyVerifyingKey::open(key)?)?;
        }
        Ok::<_, proofmill::Error>(proof.solidity_calldata())
    })?;
    let text = format!("{calldata}\n");
    Ok(Outcome { text, ..Outcome::done(json!({ "calldata": calldata })) })
}
