//! `plonk`: set up, prove, verify.

use crate::{
    bench::BenchArguments,
    proving::{Prove, Setup, Verify},
};
use clap::{Args, Subcommand};
use proofmill_circom::{
    AnyPlonkVerificationKey, BinFile, CircuitKey, CircuitProof, FileKind, PlonkProof, PlonkZkey, Ptau, R1cs,
    read_witness,
};
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};
use proofmill_plonk::{
    Arithmetisation, MalformedError, PlonkError, Proof, ProveOptions, ProvingKey, VerifyingKey, r1cs,
    setup_circuit,
};
use proofmill_srs::{Srs, SrsError};
use std::{path::Path, sync::Arc};

/// How many phases a proof has, about.
const PROVE_PHASES: usize = 15;

#[derive(Debug, Subcommand)]
pub(crate) enum PlonkCommand {
    /// Prove that a witness satisfies a circuit
    #[command(after_help = "Examples:
  proofmill plonk prove circuit.zkey witness.wtns proof.json public.json
  proofmill plonk prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill plonk prove circuit.key witness.wtns --memory low --scratch /var/tmp
  proofmill plonk prove circuit.zkey witness.wtns --threads 1 --json")]
    Prove(PlonkProve),
    /// Verify a proof
    #[command(after_help = "Examples:
  proofmill plonk verify verification_key.json public.json proof.json
  proofmill plonk verify verification_key.json public.json proof.json && echo valid")]
    Verify(Verify),
    /// Make a circuit's proving key: the same bytes as `snarkjs plonk setup`, or in a wider arithmetisation
    #[command(after_help = "Examples:
  proofmill plonk setup circuit.r1cs pot.ptau circuit.zkey
  proofmill plonk setup --arithmetisation turbo circuit.r1cs pot.ptau circuit.key")]
    Setup(PlonkSetup),
    /// Measure the six phases of a proof on circuits of chosen size
    #[command(after_help = "Examples:
  proofmill plonk workload arithmetic --gates 2^18 --arithmetisation ultra
  proofmill plonk workload pedersen --hashes 4000 --arithmetisation turbo --json

The program proofmill-bench does this: `proofmill plonk workload --help` prints its help.")]
    Workload(BenchArguments),
}

/// What `plonk prove` takes.
#[derive(Args, Debug)]
pub(crate) struct PlonkProve {
    #[command(flatten)]
    files: Prove,
    #[command(flatten)]
    storage: StorageOptions,
}

/// What `plonk setup` takes.
#[derive(Args, Debug)]
pub(crate) struct PlonkSetup {
    #[command(flatten)]
    files: Setup,
    /// standard for snarkjs's zkey; turbo or ultra for a key of Proofmill's own, of fewer and wider rows
    #[arg(long, value_name = "NAME", default_value = "standard")]
    arithmetisation: Arithmetisation,
}

impl PlonkCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "plonk prove",
            Self::Verify(_) => "plonk verify",
            Self::Setup(_) => "plonk setup",
            Self::Workload(_) => "plonk workload",
        }
    }

    pub(crate) fn outputs(&self) -> Vec<&Path> {
        match self {
            Self::Prove(prove) => prove.files.outputs(),
            Self::Verify(_) | Self::Workload(_) => Vec::new(),
            Self::Setup(setup) => vec![&setup.files.zkey],
        }
    }
}

pub(crate) fn run(command: PlonkCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        PlonkCommand::Prove(arguments) => prove(&arguments, machine),
        PlonkCommand::Verify(files) => verify(&files, machine),
        PlonkCommand::Setup(arguments) => setup(&arguments, machine),
        PlonkCommand::Workload(_) => unreachable!("proofmill-bench runs it"),
    }
}

fn prove(arguments: &PlonkProve, machine: &mut Machine) -> Result<Outcome, Failure> {
    let PlonkProve { files, storage } = arguments;
    machine.clock.expect(PROVE_PHASES);
    machine.run(|level, observer| {
        observer("read zkey");
        let file = BinFile::open(&files.zkey)?;
        let key = match file.kind() {
            FileKind::Pmpk => {
                let key = CircuitKey::read(file)?;
                ProvingKey::of_circuit(level, &key, storage, observer)
                    .map_err(|error| prove_failure(files, error))?
            }
            _ => ProvingKey::new(PlonkZkey::read(file)?).with_scratch(storage.scratch.clone()),
        };
        observer("read witness");
        let witness = read_witness(&files.witness, level)?;
        files.check_r1cs(&witness, observer)?;
        let options = ProveOptions { check_witness: !files.no_check };
        let (proof, public) = proofmill_plonk::prove(level, &key, &witness, options, observer)
            .map_err(|error| prove_failure(files, error))?;
        observer("write proof");
        files.write(&proof.text(key.verifying_key()), &public)
    })
}

fn verify(files: &Verify, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|level, observer| {
        observer("read proof");
        let file = AnyPlonkVerificationKey::open(&files.key)?;
        let key = VerifyingKey::try_from(&file).map_err(|error| verify_failure(files, &error))?;
        let public = files.signals()?;
        let proof = match file {
            AnyPlonkVerificationKey::Snarkjs(_) => Proof::from(&PlonkProof::open(&files.proof)?),
            AnyPlonkVerificationKey::Circuit(_) => Proof::from(CircuitProof::open(&files.proof)?),
        };
        observer("verify");
        let verdict = proofmill_plonk::verify(level, &key, &public, &proof);
        files.outcome(verdict.map_err(|error| verify_failure(files, &error))?)
    })
}

fn setup(arguments: &PlonkSetup, machine: &mut Machine) -> Result<Outcome, Failure> {
    let PlonkSetup { files, arithmetisation } = arguments;
    machine.run(|level, observer| {
        observer("read r1cs");
        let circuit = R1cs::open(&files.r1cs)?;
        let made = if *arithmetisation == Arithmetisation::Standard {
            let ptau = Ptau::open(&files.ptau)?;
            proofmill_plonk::setup(level, &circuit, &ptau, &files.zkey, observer)
        } else {
            let srs = Srs::open(&files.ptau).map_err(PlonkError::from);
            observer("compile");
            srs.and_then(|srs| {
                let (layout, derivations) = r1cs::layout(&circuit, *arithmetisation)?;
                setup_circuit(level, layout, &derivations, &Arc::new(srs), &files.zkey, observer)
            })
        };
        made.map_err(|error| setup_failure(files, error))?;
        Ok(files.outcome())
    })
}

fn prove_failure(files: &Prove, error: PlonkError) -> Failure {
    match error {
        PlonkError::File(error) => error.into(),
        PlonkError::WitnessLength { .. } | PlonkError::Unsatisfied(_) | PlonkError::NotProven => {
            Failure::about(&files.witness, error)
        }
        PlonkError::Randomness(_) | PlonkError::Scratch { .. } => Failure::Input(error.to_string()),
        _ => Failure::about(&files.zkey, error),
    }
}

fn verify_failure(files: &Verify, error: &MalformedError) -> Failure {
    match error {
        MalformedError::PublicInputs { .. } => Failure::about(&files.public, error),
        MalformedError::Proof { .. } => Failure::about(&files.proof, error),
        // The proof's points were checked when they were read; of the key's, not that of G2.
        _ => Failure::about(&files.key, error),
    }
}

fn setup_failure(files: &Setup, error: PlonkError) -> Failure {
    match error {
        PlonkError::File(error) => error.into(),
        PlonkError::TooFewPowers { .. } | PlonkError::ShortReference { .. } => {
            Failure::about(&files.ptau, error)
        }
        PlonkError::Srs(SrsError::File(error)) => error.into(),
        // It names the file.
        PlonkError::Srs(error) => Failure::Input(error.to_string()),
        _ => Failure::about(&files.r1cs, error),
    }
}
