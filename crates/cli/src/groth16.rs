//! `groth16`: prove, verify.

use crate::proving::{Prove, Setup, Verify};
use clap::Subcommand;
use proofmill_circom::{Groth16Proof, Groth16VerificationKey, Groth16Zkey, Ptau, R1cs, read_witness};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_groth16::Groth16Error;
use std::path::Path;

/// How many phases a proof has, about.
const PROVE_PHASES: usize = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum Groth16Command {
    /// Prove that a witness satisfies a circuit
    #[command(after_help = "Examples:
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill groth16 prove circuit.zkey witness.wtns --threads 1 --json")]
    Prove(Prove),
    /// Verify a proof
    #[command(after_help = "Examples:
  proofmill groth16 verify verification_key.json public.json proof.json
  proofmill groth16 verify verification_key.json public.json proof.json && echo valid")]
    Verify(Verify),
    /// Make a circuit's proving key, for `snarkjs zkey contribute`: the same bytes as `snarkjs groth16 setup`
    #[command(after_help = "Examples:
  proofmill groth16 setup circuit.r1cs pot.ptau circuit_0000.zkey

Whoever uses the key before someone contributed to it lets anyone forge proofs.")]
    Setup(Setup),
}

impl Groth16Command {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "groth16 prove",
            Self::Verify(_) => "groth16 verify",
            Self::Setup(_) => "groth16 setup",
        }
    }

    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::Prove(files) => files.outputs(),
            Self::Verify(_) => Vec::new(),
            Self::Setup(files) => vec![&files.zkey],
        }
    }
}

pub(crate) fn run(command: Groth16Command, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        Groth16Command::Prove(files) => prove(&files, machine),
        Groth16Command::Verify(files) => verify(&files, machine),
        Groth16Command::Setup(files) => setup(&files, machine),
    }
}

fn prove(files: &Prove, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock.expect(PROVE_PHASES);
    machine.run(|level, observer| {
        observer("read zkey");
        let key = Groth16Zkey::open(&files.zkey)?;
        observer("read witness");
        let witness = read_witness(&files.witness, level)?;
        files.check_r1cs(&witness, observer)?;
        let proof = proofmill_groth16::prove(level, &key, &witness, observer)
            .map_err(|error| prove_failure(files, error))?;
        observer("write proof");
        let public = witness.get(1..=key.header().public as usize).unwrap_or_default();
        files.write(&proof.text(), public)
    })
}

fn verify(files: &Verify, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|level, observer| {
        observer("read proof");
        let key = Groth16VerificationKey::open(&files.key)?;
        let public = files.signals()?;
        let proof = Groth16Proof::open(&files.proof)?;
        observer("verify");
        match proofmill_groth16::verify(level, &key, &public, &proof) {
            Ok(()) => files.outcome(true),
            Err(Groth16Error::Rejected) => files.outcome(false),
            Err(error) => Err(verify_failure(files, error)),
        }
    })
}

fn setup(files: &Setup, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|level, observer| {
        observer("read r1cs");
        let r1cs = R1cs::open(&files.r1cs)?;
        let ptau = Ptau::open(&files.ptau)?;
        proofmill_groth16::setup(level, &r1cs, &ptau, &files.zkey, observer)
            .map_err(|error| setup_failure(files, error))?;
        Ok(files.outcome())
    })
}

fn prove_failure(files: &Prove, error: Groth16Error) -> Failure {
    match error {
        Groth16Error::File(error) => error.into(),
        Groth16Error::WitnessLength { .. } | Groth16Error::Unsatisfied => {
            Failure::about(&files.witness, error)
        }
        Groth16Error::Randomness(_) => Failure::Input(error.to_string()),
        _ => Failure::about(&files.zkey, error),
    }
}

fn verify_failure(files: &Verify, error: Groth16Error) -> Failure {
    match error {
        Groth16Error::File(error) => error.into(),
        Groth16Error::PublicLength { .. } => Failure::about(&files.public, error),
        Groth16Error::MalformedProof(_) => Failure::about(&files.proof, error),
        _ => Failure::about(&files.key, error),
    }
}

fn setup_failure(files: &Setup, error: Groth16Error) -> Failure {
    match error {
        Groth16Error::File(error) => error.into(),
        Groth16Error::TooManyCoefficients { .. } => Failure::about(&files.r1cs, error),
        _ => Failure::about(&files.ptau, error),
    }
}
