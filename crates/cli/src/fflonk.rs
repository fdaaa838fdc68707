//! `fflonk`: set up, prove, verify.

use crate::{
    files::{Files, Input},
    proving::{FullProve, Job, Prove, Setup, Verify, one_by_one, prove_each, warn_of_powers},
};
use clap::{Args, Subcommand};
use proofmill::{
    circom::{Ptau, R1cs, Witness},
    fflonk::{Proof, ProvingKey, VerifyingKey, write_key},
};
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};
use proofmill_run::{Progress, Run};

/// The approximate number of phases of a proof.
const PROVE_PHASES: usize = 15;

#[derive(Debug, Subcommand)]
pub(crate) enum FflonkCommand {
    /// Prove that a witness satisfies a circuit; several, with one key
    #[command(after_help = "Examples:
  proofmill fflonk prove circuit.zkey witness.wtns proof.json public.json
  proofmill fflonk prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill fflonk prove circuit.zkey a.wtns a.proof.json a.public.json b.wtns b.proof.json b.public.json
  proofmill fflonk prove circuit.zkey witness.wtns --scratch /var/tmp")]
    Prove(FflonkProve),
    /// Prove from a circuit's inputs: calculate the witness, which stays in memory, and prove
    #[command(
        name = "fullprove",
        after_help = "Examples:
  proofmill fflonk fullprove input.json circuit.wasm circuit.zkey proof.json public.json
  proofmill fflonk fullprove a.json circuit.wasm circuit.zkey a.proof.json a.public.json b.json b.proof.json b.public.json"
    )]
    FullProve(FflonkFullProve),
    /// Verify a proof, or several
    #[command(after_help = "Examples:
  proofmill fflonk verify verification_key.json public.json proof.json
  proofmill fflonk verify verification_key.json public.json proof.json && echo valid
  proofmill fflonk verify verification_key.json a.public.json a.proof.json b.public.json b.proof.json")]
    Verify(Verify),
    /// Make a circuit's proving key: the same bytes as `snarkjs fflonk setup`
    #[command(after_help = "Examples:
  proofmill fflonk setup circuit.r1cs pot.ptau circuit.zkey

A domain of n points needs 9 n + 18 powers of tau; the file may have twice as many as its power says.")]
    Setup(Setup),
}

/// Arguments of `fflonk prove`.
#[derive(Args, Debug)]
pub(crate) struct FflonkProve {
    #[command(flatten)]
    files: Prove,
    #[command(flatten)]
    storage: StorageOptions,
}

/// Arguments of `fflonk fullprove`.
#[derive(Args, Debug)]
pub(crate) struct FflonkFullProve {
    #[command(flatten)]
    files: FullProve,
    #[command(flatten)]
    storage: StorageOptions,
}

impl FflonkCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "fflonk prove",
            Self::FullProve(_) => "fflonk fullprove",
            Self::Verify(_) => "fflonk verify",
            Self::Setup(_) => "fflonk setup",
        }
    }

    /// The storage options of commands with a proving key.
    pub(crate) fn storage(&self) -> Option<StorageOptions> {
        match self {
            Self::Prove(prove) => Some(prove.storage.clone()),
            Self::FullProve(prove) => Some(prove.storage.clone()),
            Self::Verify(_) | Self::Setup(_) => None,
        }
    }

    pub(crate) fn files(&self) -> Files<'_> {
        match self {
            Self::Prove(prove) => prove.files.files(),
            Self::FullProve(prove) => prove.files.files(),
            Self::Verify(_) => Files::default(),
            Self::Setup(setup) => setup.files(),
        }
    }
}

pub(crate) fn run(command: FflonkCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        FflonkCommand::Prove(FflonkProve { files, .. }) => {
            prove(&files.zkey, &files.jobs()?, !files.no_check, machine, |source, progress| {
                files.witness(source, progress)
            })
        }
        FflonkCommand::FullProve(FflonkFullProve { files, .. }) => {
            let display = machine.display();
            let witness = |inputs: &Input, progress: Progress<'_>| files.witness(inputs, display, progress);
            let outcome = prove(&files.zkey, &files.jobs()?, true, machine, witness)?;
            files.compile_for_later(machine);
            Ok(outcome)
        }
        FflonkCommand::Verify(files) => verify(&files, machine),
        FflonkCommand::Setup(files) => setup(&files, machine),
    }
}

fn prove(
    zkey: &Input,
    jobs: &[Job<'_>],
    check: bool,
    machine: &mut Machine,
    witness: impl Fn(&Input, Progress<'_>) -> Result<Witness, Failure> + Sync,
) -> Result<Outcome, Failure> {
    machine.clock().expect(PROVE_PHASES);
    machine.run(|Run { progress, .. }| {
        progress.begin("read zkey");
        let key = ProvingKey::open(zkey)?;
        prove_each(jobs, |job| {
            let witness = witness(job.source, progress)?;
            let proof = if check { key.prove(&witness) } else { key.prove_unchecked(&witness) }?;
            progress.begin("write proof");
            proof.save(job.proof, job.public)?;
            Ok(proof.public().clone())
        })
    })
}

fn verify(files: &Verify, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|Run { progress, .. }| {
        progress.begin("read proof");
        let key = VerifyingKey::open(&files.key)?;
        let verify = |proof: &Proof| proof.verify(&key);
        files.run(progress, |path, public| Proof::open(path, public), |proofs| one_by_one(proofs, verify))
    })
}

fn setup(files: &Setup, machine: &mut Machine) -> Result<Outcome, Failure> {
    let quiet = machine.quiet();
    machine.run(|Run { progress, .. }| {
        progress.begin("read r1cs");
        let circuit = R1cs::open(&files.r1cs)?;
        let ptau = Ptau::open(&files.ptau)?;
        write_key(&files.zkey, &circuit, &ptau)?;
        warn_of_powers(&files.ptau, ptau.insecurity(), quiet);
        Ok(files.outcome())
    })
}
