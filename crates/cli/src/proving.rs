//! The file arguments of `prove`, `verify` and `setup`, for all proof systems.

use crate::{
    calculator,
    files::{Files, Input, Output},
};
use clap::Args;
use proofmill::circom::{PublicSignals, R1cs, ScalarPrime, Symbols, Witness};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_progress::Progress;
use serde_json::json;
use std::path::Path;

/// The files that `prove` and `fullprove` write.
#[derive(Args, Debug)]
pub(crate) struct ProofOutputs {
    /// The proof to write
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    pub(crate) proof: Output,
    /// The public signals to write
    #[arg(value_name = "PUBLIC", default_value = "public.json")]
    pub(crate) public: Output,
}

impl ProofOutputs {
    pub(crate) fn paths(&self) -> Vec<&Path> {
        vec![&self.proof, &self.public]
    }

    /// The outcome of a proof.
    pub(crate) fn outcome<P: ScalarPrime>(&self, public: &PublicSignals<P>) -> Outcome {
        let signals: Vec<_> = public.iter().map(ToString::to_string).collect();
        Outcome::done(json!({ "proof": &*self.proof, "public": &*self.public, "signals": signals }))
    }
}

/// Arguments of `prove`.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    /// The proving key
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: Input,
    /// The value of every wire
    #[arg(value_name = "WTNS")]
    pub(crate) witness: Input,
    #[command(flatten)]
    pub(crate) outputs: ProofOutputs,
    /// Check the witness against this circuit first
    #[arg(long, value_name = "R1CS")]
    r1cs: Option<Input>,
    /// Name the signals of the constraint that fails, by circom's names
    #[arg(long, value_name = "SYM", requires = "r1cs")]
    sym: Option<Input>,
    /// Do not check the witness first (the proof is still verified)
    #[arg(long)]
    pub(crate) no_check: bool,
}

impl Prove {
    pub(crate) fn files(&self) -> Files<'_> {
        let inputs = [Some(&*self.zkey), Some(&*self.witness), self.r1cs.as_deref(), self.sym.as_deref()];
        Files { inputs: inputs.into_iter().flatten().collect(), outputs: self.outputs.paths() }
    }

    /// Reads the witness, and checks it against the circuit of `--r1cs` if one is given.
    pub(crate) fn witness<P: ScalarPrime>(&self, progress: Progress<'_>) -> Result<Witness<P>, Failure> {
        progress.begin("read witness");
        let witness = Witness::open_over(&self.witness)?;
        if let Some(path) = self.r1cs.as_deref().filter(|_| !self.no_check) {
            progress.begin("read r1cs");
            let circuit = R1cs::open_over(path)?;
            progress.begin("check witness");
            circuit.check_named(&witness, symbols(self.sym.as_ref())?.as_ref())?;
        }
        Ok(witness)
    }
}

/// The names of signals, if a file of them is given.
pub(crate) fn symbols(sym: Option<&Input>) -> Result<Option<Symbols>, Failure> {
    Ok(sym.map(Symbols::open).transpose()?)
}

/// Arguments of `fullprove`.
#[derive(Args, Debug)]
pub(crate) struct FullProve {
    /// The values of the circuit's input signals
    #[arg(value_name = "INPUT")]
    inputs: Input,
    /// The circuit, as compiled by `circom --wasm` or `wtns compile`, or a graph of circom-witnesscalc
    #[arg(value_name = "WASM")]
    circuit: Input,
    /// The proving key
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: Input,
    #[command(flatten)]
    pub(crate) outputs: ProofOutputs,
    /// Name signals in errors, by circom's names
    #[arg(long, value_name = "SYM")]
    sym: Option<Input>,
}

impl FullProve {
    pub(crate) fn files(&self) -> Files<'_> {
        let inputs = [Some(&*self.inputs), Some(&*self.circuit), Some(&*self.zkey), self.sym.as_deref()];
        Files { inputs: inputs.into_iter().flatten().collect(), outputs: self.outputs.paths() }
    }

    /// Calculates the witness, which stays in memory.
    pub(crate) fn witness<P: ScalarPrime>(
        &self,
        quiet: bool,
        progress: Progress<'_>,
    ) -> Result<Witness<P>, Failure> {
        progress.begin("calculate witness");
        calculator::calculate(&self.circuit, &self.inputs, symbols(self.sym.as_ref())?, quiet)
    }

    /// After the proof: makes the circuit's next witness take less time.
    pub(crate) fn compile_for_later(&self, machine: &mut Machine) {
        machine.run(|_, progress| calculator::compile_for_later(&self.circuit, &self.inputs, progress));
    }
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The verification key
    #[arg(value_name = "VERIFICATION_KEY")]
    pub(crate) key: Input,
    /// The public signals
    #[arg(value_name = "PUBLIC")]
    pub(crate) public: Input,
    /// The proof
    #[arg(value_name = "PROOF")]
    pub(crate) proof: Input,
}

impl Verify {
    pub(crate) fn signals<P: ScalarPrime>(&self) -> Result<PublicSignals<P>, Failure> {
        Ok(PublicSignals::open_over(&self.public)?)
    }

    /// The outcome of `verify` for a valid proof.
    pub(crate) fn outcome(&self) -> Outcome {
        Outcome { text: "valid\n".to_owned(), ..Outcome::done(json!({ "valid": true })) }
    }
}

/// Arguments of `setup`.
#[derive(Args, Debug)]
pub(crate) struct Setup {
    /// The circuit
    #[arg(value_name = "R1CS")]
    pub(crate) r1cs: Input,
    /// Powers of tau, prepared for phase 2
    #[arg(value_name = "PTAU")]
    pub(crate) ptau: Input,
    /// The proving key to write
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: Output,
}

/// Warns of powers of tau that someone may know, for the reason given, unless the command is quiet.
pub(crate) fn warn_of_powers(ptau: &Path, insecurity: Option<&str>, quiet: bool) {
    if let (Some(reason), false) = (insecurity, quiet) {
        let ptau = ptau.display();
        eprintln!(
            "warning: {ptau}: {reason}: proofs for this key can be forged; in production, use the powers of a ceremony"
        );
    }
}

impl Setup {
    pub(crate) fn files(&self) -> Files<'_> {
        Files { inputs: vec![&self.r1cs, &self.ptau], outputs: vec![&self.zkey] }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::done(json!({ "zkey": &*self.zkey }))
    }
}
