//! The files of `prove`, `verify` and `setup`, which both proof systems share.

use clap::Args;
use proofmill_circom::{R1cs, public_text, read_public, write_texts};
use proofmill_console::{Failure, Outcome};
use proofmill_field::bn254::Fr;
use serde_json::json;
use std::path::{Path, PathBuf};

/// What `prove` takes.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    /// The proving key
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: PathBuf,
    /// The value of every wire
    #[arg(value_name = "WTNS")]
    pub(crate) witness: PathBuf,
    /// The proof to write
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    pub(crate) proof: PathBuf,
    /// The public signals to write
    #[arg(value_name = "PUBLIC", default_value = "public.json")]
    pub(crate) public: PathBuf,
    /// Check the witness against this circuit first
    #[arg(long, value_name = "R1CS")]
    r1cs: Option<PathBuf>,
    /// Do not check the witness first (the proof is verified all the same)
    #[arg(long)]
    pub(crate) no_check: bool,
}

impl Prove {
    pub(crate) fn outputs(&self) -> Vec<&Path> {
        vec![&self.proof, &self.public]
    }

    /// Checks the witness against the circuit of `--r1cs`, if one is given.
    pub(crate) fn check_r1cs(
        &self,
        witness: &[Fr],
        observer: &mut dyn FnMut(&'static str),
    ) -> Result<(), Failure> {
        let Some(path) = self.r1cs.as_deref().filter(|_| !self.no_check) else { return Ok(()) };
        observer("read r1cs");
        let r1cs = R1cs::open(path)?;
        observer("check witness");
        match unsatisfied_constraint(&r1cs, path, witness, &self.witness)? {
            Some(sentence) => Err(Failure::Input(sentence)),
            None => Ok(()),
        }
    }

    /// Writes the proof and the public signals: both or neither.
    pub(crate) fn write(&self, proof: &str, public: &[Fr]) -> Result<Outcome, Failure> {
        write_texts(&[(&self.proof, proof), (&self.public, &public_text(public))])?;
        let signals: Vec<_> = public.iter().map(Fr::to_string).collect();
        Ok(Outcome::done(json!({ "proof": self.proof, "public": self.public, "signals": signals })))
    }
}

/// What `verify` takes.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The verification key
    #[arg(value_name = "VERIFICATION_KEY")]
    pub(crate) key: PathBuf,
    /// The public signals
    #[arg(value_name = "PUBLIC")]
    pub(crate) public: PathBuf,
    /// The proof
    #[arg(value_name = "PROOF")]
    pub(crate) proof: PathBuf,
}

impl Verify {
    pub(crate) fn signals(&self) -> Result<Vec<Fr>, Failure> {
        Ok(read_public(&self.public)?)
    }

    /// A verdict as the command's end.
    pub(crate) fn outcome(&self, valid: bool) -> Result<Outcome, Failure> {
        if valid {
            return Ok(Outcome { note: "valid", ..Outcome::done(json!({ "valid": true })) });
        }
        let proof = self.proof.display();
        Err(Failure::Rejected(format!(
            "{proof}: not a proof for this verification key and these public signals"
        )))
    }
}

/// What `setup` takes.
#[derive(Args, Debug)]
pub(crate) struct Setup {
    /// The circuit
    #[arg(value_name = "R1CS")]
    pub(crate) r1cs: PathBuf,
    /// Powers of tau, prepared for phase 2
    #[arg(value_name = "PTAU")]
    pub(crate) ptau: PathBuf,
    /// The proving key to write
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: PathBuf,
}

impl Setup {
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::done(json!({ "zkey": self.zkey }))
    }
}

/// Says which constraint is the first that the witness does not satisfy; `None` if it satisfies all.
///
/// A witness with another number of values than the circuit has wires is an error.
pub(crate) fn unsatisfied_constraint(
    r1cs: &R1cs,
    r1cs_path: &Path,
    witness: &[Fr],
    witness_path: &Path,
) -> Result<Option<String>, Failure> {
    let (wires, constraints) = (r1cs.header.wires, r1cs.header.constraints);
    let (r1cs_path, witness_path) = (r1cs_path.display(), witness_path.display());
    if witness.len() != wires as usize {
        let found = witness.len();
        let problem = format!("{witness_path}: {found} values, but {r1cs_path} has {wires} wires");
        return Err(Failure::Input(problem));
    }
    let unsatisfied = r1cs.first_unsatisfied(witness);
    Ok(unsatisfied.map(|index| {
        format!("{witness_path}: does not satisfy constraint {index} of {constraints} (counted from 0)")
    }))
}
