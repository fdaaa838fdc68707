//! `groth16`: prove, verify.

use crate::{
    curve,
    files::{Files, Input},
    proving::{FullProve, Job, Prove, Setup, Verify, one_by_one, prove_each, warn_of_powers},
};
use clap::Subcommand;
use proofmill::{
    circom::{Ptau, R1cs, Witness, over_curve},
    groth16::{Groth16Curve, Proof, ProvingKey, VerifyingKey, write_key},
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::{Progress, Run};

/// The approximate number of phases of a proof.
const PROVE_PHASES: usize = 10;

#[derive(Debug, Subcommand)]
pub(crate) enum Groth16Command {
    /// Prove that a witness satisfies a circuit; several, with one key
    #[command(after_help = "Examples:
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json
  proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json --r1cs circuit.r1cs
  proofmill groth16 prove circuit.zkey a.wtns a.proof.json a.public.json b.wtns b.proof.json b.public.json
  proofmill groth16 prove circuit.zkey witness.wtns --threads 1 --json")]
    Prove(Prove),
    /// Calculate a witness and prove that it satisfies a circuit, with the witness in memory only
    #[command(
        name = "fullprove",
        after_help = "Examples:
  proofmill groth16 fullprove input.json circuit.wasm circuit.zkey proof.json public.json
  proofmill groth16 fullprove a.json circuit.wasm circuit.zkey a.proof.json a.public.json b.json b.proof.json b.public.json"
    )]
    FullProve(FullProve),
    /// Verify a proof; several, in a fraction of the time
    #[command(after_help = "Examples:
  proofmill groth16 verify verification_key.json public.json proof.json
  proofmill groth16 verify verification_key.json public.json proof.json && echo valid
  proofmill groth16 verify verification_key.json a.public.json a.proof.json b.public.json b.proof.json")]
    Verify(Verify),
    /// Make a circuit's proving key, for `zkey contribute`: the same bytes as `snarkjs groth16 setup`
    #[command(after_help = "Examples:
  proofmill groth16 setup circuit.r1cs pot.ptau circuit_0000.zkey

The key is insecure until someone has contributed to it: before that, anyone can forge proofs.")]
    Setup(Setup),
}

impl Groth16Command {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prove(_) => "groth16 prove",
            Self::FullProve(_) => "groth16 fullprove",
            Self::Verify(_) => "groth16 verify",
            Self::Setup(_) => "groth16 setup",
        }
    }

    pub(crate) fn files(&self) -> Files<'_> {
        match self {
            Self::Prove(prove) => prove.files(),
            Self::FullProve(prove) => prove.files(),
            Self::Verify(_) => Files::default(),
            Self::Setup(setup) => setup.files(),
        }
    }
}

pub(crate) fn run(command: Groth16Command, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        Groth16Command::Prove(files) => over_curve!(curve::of(&files.zkey)?, C => {
            prove::<C>(&files.zkey, &files.jobs()?, machine, |source, progress| files.witness(source, progress))
        }),
        Groth16Command::FullProve(files) => {
            let display = machine.display();
            over_curve!(curve::of(&files.zkey)?, C => {
                let witness = |inputs: &Input, progress: Progress<'_>| files.witness(inputs, display, progress);
                let outcome = prove::<C>(&files.zkey, &files.jobs()?, machine, witness)?;
                files.compile_for_later(machine);
                Ok(outcome)
            })
        }
        Groth16Command::Verify(files) => {
            over_curve!(curve::of(&files.key)?, C => verify::<C>(&files, machine))
        }
        Groth16Command::Setup(files) => {
            over_curve!(curve::of(&files.r1cs)?, C => setup::<C>(&files, machine))
        }
    }
}

fn prove<C: Groth16Curve>(
    zkey: &Input,
    jobs: &[Job<'_>],
    machine: &mut Machine,
    witness: impl Fn(&Input, Progress<'_>) -> Result<Witness<C::ScalarPrime>, Failure> + Sync,
) -> Result<Outcome, Failure> {
    machine.clock().expect(PROVE_PHASES);
    machine.run(|Run { progress, .. }| {
        progress.begin("read zkey");
        let key = ProvingKey::<C>::open_over(zkey)?;
        prove_each(jobs, |job| {
            let proof = key.prove(&witness(job.source, progress)?)?;
            progress.begin("write proof");
            proof.save(job.proof, job.public)?;
            Ok(proof.public().clone())
        })
    })
}

fn verify<C: Groth16Curve>(files: &Verify, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|Run { progress, .. }| {
        progress.begin("read proof");
        let key = VerifyingKey::<C>::open_over(&files.key)?;
        let find_invalid = |proofs: &[Proof<C>]| match proofs {
            [_] => one_by_one(proofs, |proof| proof.verify(&key)),
            _ => key.find_invalid(proofs),
        };
        files.run(progress, |path, public| Proof::open_over(path, public), find_invalid)
    })
}

fn setup<C: Groth16Curve>(files: &Setup, machine: &mut Machine) -> Result<Outcome, Failure> {
    let quiet = machine.quiet();
    machine.run(|Run { progress, .. }| {
        progress.begin("read r1cs");
        let circuit = R1cs::open_over(&files.r1cs)?;
        let ptau = Ptau::<C>::open_over(&files.ptau)?;
        write_key(&files.zkey, &circuit, &ptau)?;
        warn_of_powers(&files.ptau, ptau.insecurity(), quiet);
        if !quiet {
            let zkey = files.zkey.display();
            eprintln!("warning: anyone can forge proofs for {zkey} until somebody contributes to it: proofmill zkey contribute {zkey} FINAL.zkey");
        }
        Ok(files.outcome())
    })
}
