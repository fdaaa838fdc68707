//! `prove`, `fullprove`, `verify` and `setup` of any proof system.

use crate::{
    calculator,
    files::{CommandFiles, InputFile, ListedFile, OutputFile},
};
use clap::Args;
use proofmill::{
    Proof, ProofSystem, ProvingKey, SetupPowers, SystemPrime, VerifyingKey,
    circom::{PublicSignals, R1cs, ScalarPrime, Symbols, Witness},
};
use proofmill_console::{Display, Failure, Machine, Outcome, StorageOptions};
use proofmill_run::{Progress, Run};
use serde_json::{Value, json};
use std::path::Path;

/// The files that `prove` and `fullprove` write for the first proof.
#[derive(Args, Debug)]
pub(crate) struct ProofOutputs {
    /// The proof to write
    #[arg(value_name = "PROOF", default_value = "proof.json")]
    pub(crate) proof: OutputFile,
    /// The public signals to write
    #[arg(value_name = "PUBLIC", default_value = "public.json")]
    pub(crate) public: OutputFile,
}

impl ProofOutputs {
    pub(crate) fn paths(&self) -> Vec<&Path> {
        vec![&self.proof, &self.public]
    }

    /// The outcome of a command with one proof.
    pub(crate) fn outcome<P: ScalarPrime>(&self, public: &PublicSignals<P>) -> Outcome {
        Outcome::done(written(&self.proof, &self.public, public))
    }

    /// The jobs of these outputs and of further names, three each.
    fn jobs<'a>(
        &'a self,
        source: &'a InputFile,
        more: &'a [ListedFile],
    ) -> Result<Vec<ProofJob<'a>>, Failure> {
        let (more, rest) = more.as_chunks();
        if let [name, ..] = rest {
            let expected = "expected three names for each further proof: what is proven, PROOF and PUBLIC";
            return Err(Failure::about(&name.input, expected));
        }
        let first = ProofJob { source, proof: &self.proof, public: &self.public };
        let more = more.iter().map(|[source, proof, public]| ProofJob {
            source: &source.input,
            proof: &proof.output,
            public: &public.output,
        });
        Ok(std::iter::once(first).chain(more).collect())
    }
}

/// One of the proofs that a command makes with one key.
pub(crate) struct ProofJob<'a> {
    /// The witness, or the inputs from which it is calculated.
    pub(crate) source: &'a InputFile,
    pub(crate) proof: &'a OutputFile,
    pub(crate) public: &'a OutputFile,
}

/// The files of jobs, and other inputs.
fn files<'a>(
    jobs: Result<Vec<ProofJob<'a>>, Failure>,
    inputs: impl IntoIterator<Item = &'a InputFile>,
) -> CommandFiles<'a> {
    // What is wrong with a list of names is said by the command.
    let jobs = jobs.unwrap_or_default();
    let sources = jobs.iter().map(|job| job.source);
    CommandFiles {
        inputs: inputs.into_iter().chain(sources).map(|input| &**input).collect(),
        outputs: jobs.iter().flat_map(|job| [&**job.proof, &**job.public]).collect(),
    }
}

/// A name for `--json`.
fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A proof for `--json`.
fn written<P: ScalarPrime>(proof: &OutputFile, public: &OutputFile, signals: &PublicSignals<P>) -> Value {
    let signals: Vec<_> = signals.iter().map(ToString::to_string).collect();
    json!({ "proof": text(proof), "public": text(public), "signals": signals })
}

/// Makes the proofs of jobs with one key, one after another. A failed job does not stop the others, unless the key that they share is the
/// cause.
fn prove_each<S: ProofSystem>(
    zkey: &InputFile,
    jobs: &[ProofJob<'_>],
    check: bool,
    machine: &mut Machine,
    witness: impl Fn(&InputFile, Progress<'_>) -> Result<Witness<SystemPrime<S>>, Failure> + Sync,
) -> Result<Outcome, Failure> {
    machine.clock().expect(S::PROVE_PHASES);
    machine.run(|Run { progress, .. }| {
        progress.begin("read zkey");
        let key = ProvingKey::<S>::open(zkey)?;
        let prove = |job: &ProofJob<'_>| -> Result<Value, Failure> {
            let witness = witness(job.source, progress)?;
            let proof = if check { key.prove(&witness) } else { key.prove_unchecked(&witness) }?;
            progress.begin("write proof");
            proof.save(job.proof, job.public)?;
            Ok(written(job.proof, job.public, proof.public()))
        };
        if let [job] = jobs {
            return Ok(Outcome::done(prove(job)?));
        }
        let (mut proofs, mut failures) = (Vec::new(), Vec::new());
        for job in jobs {
            match prove(job) {
                Ok(proof) => proofs.push(proof),
                Err(failure @ Failure::InsecureSetup(_)) => return Err(failure),
                Err(failure) => {
                    proofs.push(json!({ "proof": text(job.proof), "error": failure.to_string() }));
                    failures.push(failure);
                }
            }
        }
        let summary = format!("{} of {} proofs were not made", failures.len(), jobs.len());
        Ok(outcome_of_many(json!({ "proofs": proofs }), failures, summary))
    })
}

/// The outcome of several jobs, done one after another.
fn outcome_of_many(result: Value, failures: Vec<Failure>, summary: String) -> Outcome {
    let failure = (!failures.is_empty()).then_some(Failure::Several { failures, summary });
    Outcome { failure, ..Outcome::done(result) }
}

/// The arguments of a command with a proving key that may be kept on disk.
#[derive(Args, Debug)]
pub(crate) struct Stored<A: Args> {
    #[command(flatten)]
    pub(crate) files: A,
    #[command(flatten)]
    pub(crate) storage: StorageOptions,
}

/// Arguments of `prove`.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    /// The proving key
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: InputFile,
    /// The value of every wire
    #[arg(value_name = "WTNS")]
    witness: InputFile,
    #[command(flatten)]
    outputs: ProofOutputs,
    /// Further proofs with the same key: a witness, the proof to write and the public signals to write of each
    #[arg(value_name = "WTNS PROOF PUBLIC")]
    more: Vec<ListedFile>,
    /// Check each witness against this circuit first
    #[arg(long, value_name = "R1CS")]
    r1cs: Option<InputFile>,
    /// Name the signals of the constraint that fails, by circom's names
    #[arg(long, value_name = "SYM", requires = "r1cs")]
    sym: Option<InputFile>,
    /// Do not check the witness first (the proof is still verified)
    #[arg(long)]
    no_check: bool,
}

impl Prove {
    pub(crate) fn jobs(&self) -> Result<Vec<ProofJob<'_>>, Failure> {
        self.outputs.jobs(&self.witness, &self.more)
    }

    pub(crate) fn files(&self) -> CommandFiles<'_> {
        files(self.jobs(), [Some(&self.zkey), self.r1cs.as_ref(), self.sym.as_ref()].into_iter().flatten())
    }

    /// Proves.
    pub(crate) fn run<S: ProofSystem>(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let witness = |source: &InputFile, progress: Progress<'_>| self.witness(source, progress);
        prove_each::<S>(&self.zkey, &self.jobs()?, !self.no_check, machine, witness)
    }

    /// Reads a witness, and checks it against the circuit of `--r1cs` if one is given.
    fn witness<P: ScalarPrime>(
        &self,
        witness: &InputFile,
        progress: Progress<'_>,
    ) -> Result<Witness<P>, Failure> {
        progress.begin("read witness");
        let witness = Witness::open_over(witness)?;
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
pub(crate) fn symbols(sym: Option<&InputFile>) -> Result<Option<Symbols>, Failure> {
    Ok(sym.map(Symbols::open).transpose()?)
}

/// Arguments of `fullprove`.
#[derive(Args, Debug)]
pub(crate) struct FullProve {
    /// The values of the circuit's input signals
    #[arg(value_name = "INPUT")]
    inputs: InputFile,
    /// The circuit, as compiled by `circom --wasm` or `wtns compile`, or a graph of circom-witnesscalc
    #[arg(value_name = "WASM")]
    circuit: InputFile,
    /// The proving key
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: InputFile,
    #[command(flatten)]
    outputs: ProofOutputs,
    /// Further proofs with the same circuit and key: inputs, the proof to write and the public signals to write of each
    #[arg(value_name = "INPUT PROOF PUBLIC")]
    more: Vec<ListedFile>,
    /// Name signals in errors, by circom's names
    #[arg(long, value_name = "SYM")]
    sym: Option<InputFile>,
}

impl FullProve {
    pub(crate) fn jobs(&self) -> Result<Vec<ProofJob<'_>>, Failure> {
        self.outputs.jobs(&self.inputs, &self.more)
    }

    pub(crate) fn files(&self) -> CommandFiles<'_> {
        files(self.jobs(), [Some(&self.circuit), Some(&self.zkey), self.sym.as_ref()].into_iter().flatten())
    }

    /// Calculates witnesses, which stay in memory, and proves. Afterwards it makes the circuit's next witness take less time.
    pub(crate) fn run<S: ProofSystem>(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let display = machine.display();
        let witness = |inputs: &InputFile, progress: Progress<'_>| self.witness(inputs, display, progress);
        let outcome = prove_each::<S>(&self.zkey, &self.jobs()?, true, machine, witness)?;
        machine.run(|Run { progress, .. }| {
            calculator::compile_for_later(&self.circuit, &self.inputs, display, progress);
        });
        Ok(outcome)
    }

    fn witness<P: ScalarPrime>(
        &self,
        inputs: &InputFile,
        display: Display,
        progress: Progress<'_>,
    ) -> Result<Witness<P>, Failure> {
        progress.begin("calculate witness");
        calculator::calculate(&self.circuit, inputs, symbols(self.sym.as_ref())?, display)
    }
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The verification key
    #[arg(value_name = "VERIFICATION_KEY")]
    pub(crate) key: InputFile,
    /// The public signals
    #[arg(value_name = "PUBLIC")]
    public: InputFile,
    /// The proof
    #[arg(value_name = "PROOF")]
    proof: InputFile,
    /// Further proofs for the same key: the public signals and the proof of each
    #[arg(value_name = "PUBLIC PROOF")]
    more: Vec<InputFile>,
}

impl Verify {
    /// Verifies proofs for their public signals. A proof that cannot be read does not stop the others.
    pub(crate) fn run<S: ProofSystem>(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        machine.run(|Run { progress, .. }| {
            progress.begin("read proof");
            self.verify(&VerifyingKey::<S>::open(&self.key)?, progress)
        })
    }

    fn verify<S: ProofSystem>(
        &self,
        key: &VerifyingKey<S>,
        progress: Progress<'_>,
    ) -> Result<Outcome, Failure> {
        let (more, rest) = self.more.as_chunks::<2>();
        if let [name, ..] = rest {
            return Err(Failure::about(name, "expected two names for each further proof: PUBLIC and PROOF"));
        }
        let (mut verdicts, mut numbers, mut proofs) = (Vec::new(), Vec::new(), Vec::new());
        let first = std::iter::once([&self.public, &self.proof]);
        for [public, proof] in first.chain(more.iter().map(<[_; 2]>::each_ref)) {
            let opened =
                PublicSignals::open_over(public).and_then(|signals| Proof::<S>::open(proof, signals));
            let verdict = opened.map(|opened| {
                numbers.push(verdicts.len());
                proofs.push(opened);
            });
            verdicts.push((proof, verdict.map_err(Failure::from)));
        }
        progress.begin("verify");
        for (index, error) in key.find_invalid(&proofs)? {
            verdicts[numbers[index]].1 = Err(error.into());
        }
        self.outcome(verdicts)
    }

    fn outcome(&self, mut verdicts: Vec<(&InputFile, Result<(), Failure>)>) -> Result<Outcome, Failure> {
        if self.more.is_empty()
            && let Some((_, verdict)) = verdicts.pop()
        {
            verdict?;
            return Ok(Outcome { text: "valid\n".to_owned(), ..Outcome::done(json!({ "valid": true })) });
        }
        let object = |(proof, verdict): &(&InputFile, Result<(), Failure>)| {
            let mut object = json!({ "proof": text(proof), "valid": verdict.is_ok() });
            if let Err(failure) = verdict {
                object["error"] = failure.to_string().into();
            }
            object
        };
        let proofs: Vec<_> = verdicts.iter().map(object).collect();
        let failures: Vec<_> = verdicts.into_iter().filter_map(|(_, verdict)| verdict.err()).collect();
        let summary = format!("{} of {} proofs are not valid", failures.len(), proofs.len());
        let text = if failures.is_empty() { "valid\n".to_owned() } else { String::new() };
        let result = json!({ "valid": failures.is_empty(), "proofs": proofs });
        Ok(Outcome { text, ..outcome_of_many(result, failures, summary) })
    }
}

/// Arguments of `setup`.
#[derive(Args, Debug)]
pub(crate) struct Setup {
    /// The circuit
    #[arg(value_name = "R1CS")]
    pub(crate) r1cs: InputFile,
    /// Powers of tau, prepared for phase 2
    #[arg(value_name = "PTAU")]
    pub(crate) ptau: InputFile,
    /// The proving key to write
    #[arg(value_name = "ZKEY")]
    pub(crate) zkey: OutputFile,
}

/// Warns that someone may know tau, with the given reason, unless the command is quiet.
pub(crate) fn warn_of_powers(ptau: &Path, insecurity: Option<&str>, quiet: bool) {
    if let (Some(reason), false) = (insecurity, quiet) {
        let ptau = ptau.display();
        eprintln!(
            "warning: {ptau}: {reason}: proofs for this key can be forged; in production, use the powers of a ceremony"
        );
    }
}

impl Setup {
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        CommandFiles { inputs: vec![&self.r1cs, &self.ptau], outputs: vec![&self.zkey] }
    }

    /// Makes the key.
    pub(crate) fn run<S: ProofSystem>(&self, machine: &mut Machine) -> Result<Outcome, Failure> {
        let quiet = machine.quiet();
        machine.run(|Run { progress, .. }| {
            progress.begin("read r1cs");
            let (circuit, powers) = (R1cs::open_over(&self.r1cs)?, S::Powers::open(&self.ptau)?);
            ProvingKey::<S>::write(&self.zkey, &circuit, &powers)?;
            warn_of_powers(&self.ptau, powers.insecurity(), quiet);
            Ok(self.outcome())
        })
    }

    pub(crate) fn outcome(&self) -> Outcome {
        Outcome::done(json!({ "zkey": &*self.zkey }))
    }
}
