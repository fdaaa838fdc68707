//! `dev`: a circuit from its source to a verified proof, with keys for tests, again whenever a file changes.

use crate::{calculator, task::MachineWork};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use proofmill::{
    ProofSystem, ProvingKey, SolidityVerifier, System, VerifyingKey,
    circom::{PublicSignals, R1cs, SetupSizes, Symbols, Witness},
    over_system,
    srs::Srs,
};
use proofmill_console::{Display, Failure, Machine, Outcome};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    thread,
    time::{Duration, Instant, SystemTime},
};
use tempfile::TempDir;

/// The time between two looks at the files, with `--watch`.
const POLL: Duration = Duration::from_millis(300);

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill dev circuit.circom input.json
  proofmill dev circuit.circom input.json --system plonk --watch
  proofmill dev circuit.circom input.json --include node_modules/circomlib/circuits --keep build
  proofmill dev circuit.circom input.json --circom \"npx circom2\"

INSECURE: the keys are made by one party in a moment, without a ceremony. Files with keys and proofs have `insecure` in their names.")]
pub(crate) struct Dev {
    /// The circuit's source
    #[arg(value_name = "CIRCUIT")]
    circuit: PathBuf,
    /// The values of its inputs
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// The proof system
    #[arg(long, value_name = "NAME", default_value = "groth16", value_parser = systems())]
    system: System,
    /// Repeat it when the circuit, a file that it includes or the input changes, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Keep all files in this folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// A folder for the circuit's includes; can be given several times
    #[arg(long, short = 'l', value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The compiler, with arguments that it gets first
    #[arg(long, value_name = "PROGRAM", default_value = "circom")]
    circom: OsString,
}

/// Parses the name of a proof system.
fn systems() -> impl TypedValueParser<Value = System> {
    PossibleValuesParser::new(System::NAMES).try_map(|name| name.parse::<System>())
}

impl MachineWork for Dev {
    fn name(&self) -> &'static str {
        "dev"
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        run(&self, machine)
    }
}

fn run(dev: &Dev, machine: &mut Machine) -> Result<Outcome, Failure> {
    let temporary: TempDir;
    let folder = match &dev.keep {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|source| Failure::io(folder, source))?;
            folder.as_path()
        }
        None => {
            temporary = tempfile::tempdir().map_err(|source| Failure::io(&std::env::temp_dir(), source))?;
            TEMPORARY.get_or_init(|| temporary.path().to_owned())
        }
    };
    if !machine.quiet() {
        eprintln!("warning: INSECURE: these keys are for tests: who makes them can prove anything");
    }
    let mut session = Session { dev, folder, circuit: None };
    if !dev.watch {
        let run = session.run(machine)?;
        return Ok(Outcome { text: run.text(), ..Outcome::done(run.result()) });
    }
    loop {
        let before = session.state();
        match session.run(machine) {
            // Without a reader there is nothing to watch for.
            Ok(run) if !machine.quiet() && writeln!(io::stdout(), "{}", run.text()).is_err() => {
                return Ok(Outcome::done(run.result()));
            }
            Ok(_) => {}
            Err(failure) => eprintln!("error: {failure}"),
        }
        while session.state() == before {
            thread::sleep(POLL);
        }
    }
}

/// The folder that is removed when the command ends.
static TEMPORARY: OnceLock<PathBuf> = OnceLock::new();

/// Removes the folder when a signal ends the command.
pub(crate) fn remove_temporary() {
    if let Some(folder) = TEMPORARY.get() {
        // The process ends: a failure cannot be reported.
        drop(fs::remove_dir_all(folder));
    }
}

/// Runs of one circuit in one folder.
struct Session<'a> {
    dev: &'a Dev,
    folder: &'a Path,
    /// The constraints of the key in the folder.
    circuit: Option<Vec<u8>>,
}

/// A finished run.
struct Run {
    system: System,
    constraints: u32,
    public: usize,
    /// The steps and their durations.
    steps: Vec<(&'static str, Duration)>,
    /// The gas of a verification: execution, and with the transaction and its data.
    gas: [u64; 2],
}

impl Session<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Compiles, sets up if the constraints have changed, proves, verifies.
    fn run(&mut self, machine: &mut Machine) -> Result<Run, Failure> {
        let stem = self.dev.circuit.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let r1cs = self.path(&format!("{stem}.r1cs"));
        let mut steps = Vec::new();
        timed(&mut steps, "compile", || self.compile())?;
        let circuit = R1cs::open(&r1cs)?;
        let bytes = fs::read(&r1cs).map_err(|source| Failure::io(&r1cs, source))?;
        if self.circuit.as_ref() != Some(&bytes) {
            self.circuit = None;
            timed(&mut steps, "set up", || machine.run(|_| self.set_up(&circuit, &r1cs)))?;
            self.circuit = Some(bytes);
        }
        let display = machine.display();
        let witness = timed(&mut steps, "witness", || self.witness(&stem, display))?;
        circuit.check(&witness)?;
        let call = machine.run(|_| {
            over_system!(self.dev.system, S => {
                let key = ProvingKey::<S>::open(self.path(KEY))?;
                let proof = timed(&mut steps, "prove", || key.prove(&witness))?;
                proof.save(self.path(PROOF), self.path(PUBLIC))?;
                timed(&mut steps, "verify", || proof.verify(&key.verifying_key()))?;
                Ok::<_, Failure>(proof.solidity_calldata())
            })
        })?;
        let public = PublicSignals::open(self.path(PUBLIC))?.len();
        let [constant, of_signal] = over_system!(self.dev.system, S => S::GAS);
        let execution = constant + of_signal * public as u64;
        let gas = [execution, execution + TRANSACTION + gas_of_data(&call)];
        Ok(Run { system: self.dev.system, constraints: circuit.constraints(), public, steps, gas })
    }

    fn compile(&self) -> Result<(), Failure> {
        let Dev { circom, circuit, include, .. } = self.dev;
        let mut command = compiler(circom);
        command.arg(circuit).args(["--r1cs", "--wasm", "--sym", "-o"]).arg(self.folder);
        include.iter().for_each(|folder| _ = command.arg("-l").arg(folder));
        execute(&mut command, "install circom (https://docs.circom.io), or name it with --circom")
    }

    /// Makes powers of tau and a key of the circuit in this file.
    fn set_up(&self, circuit: &R1cs, r1cs: &Path) -> Result<(), Failure> {
        let sizes = SetupSizes::of(r1cs)?;
        let size = over_system!(self.dev.system, S => S::setup_size(&sizes));
        // If there is no power for it, the setup says why.
        let power = size.and_then(|size| size.power).unwrap_or_default().max(SMALLEST);
        if power > LARGEST {
            let problem =
                format!("needs 2^{power} powers of tau, more than the 2^{LARGEST} of a set-up for tests");
            return Err(Failure::about(&self.dev.circuit, problem));
        }
        let ptau = self.path("insecure.ptau");
        Srs::write_insecure_prepared(&ptau, power)?;
        let (key, verification_key) = (self.path(KEY), self.path(VERIFICATION_KEY));
        over_system!(self.dev.system, S => {
            ProvingKey::<S>::write(&key, circuit, &<S as ProofSystem>::Powers::open(&ptau)?)?;
            VerifyingKey::<S>::open(key)?.save(verification_key)?;
        });
        Ok(())
    }

    /// Calculates the witness by the program that circom has written, and keeps it with the other files.
    fn witness(&self, stem: &str, display: Display) -> Result<Witness, Failure> {
        let program = self.path(&format!("{stem}_js")).join(format!("{stem}.wasm"));
        let sym = Some(self.path(&format!("{stem}.sym"))).filter(|sym| sym.exists());
        let symbols = sym.map(Symbols::open).transpose()?;
        let witness = calculator::calculate(&program, &self.dev.input, symbols, display)?;
        witness.save(self.path("witness.wtns"))?;
        Ok(witness)
    }

    /// The state that `--watch` compares: the files and the times of their last changes.
    fn state(&self) -> Vec<(PathBuf, Option<(SystemTime, u64)>)> {
        let mut files = BTreeSet::from([self.dev.input.clone()]);
        add_includes(&self.dev.circuit, &self.dev.include, &mut files);
        let state = |path: PathBuf| {
            let metadata = fs::metadata(&path).ok();
            let state = metadata.and_then(|metadata| Some((metadata.modified().ok()?, metadata.len())));
            (path, state)
        };
        files.into_iter().map(state).collect()
    }
}

/// The logarithms of the fewest and of the most powers of tau: the scalars of 2^22 take 1 GB.
const SMALLEST: u32 = 4;
const LARGEST: u32 = 22;

const KEY: &str = "insecure.zkey";
const VERIFICATION_KEY: &str = "insecure.verification_key.json";
const PROOF: &str = "insecure.proof.json";
const PUBLIC: &str = "public.json";

/// Gas of a transaction and of each zero and nonzero byte of its data (EIP-2028).
const TRANSACTION: u64 = 21_000;
const ZERO_BYTE: u64 = 4;
const BYTE: u64 = 16;

/// The gas for the data of a call with these arguments, as they are printed.
fn gas_of_data(arguments: &str) -> u64 {
    let words =
        arguments.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| word.strip_prefix("0x"));
    let bytes = words.flat_map(|word| hex::decode(word).unwrap_or_default());
    let selector = 4 * BYTE;
    selector + bytes.map(|byte| if byte == 0 { ZERO_BYTE } else { BYTE }).sum::<u64>()
}

/// Appends the duration of a successful step.
fn timed<T, E>(
    steps: &mut Vec<(&'static str, Duration)>,
    name: &'static str,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let begin = Instant::now();
    let result = step()?;
    steps.push((name, begin.elapsed()));
    Ok(result)
}

/// The program that these words call; a file whose name has spaces is one word.
fn compiler(words: &OsStr) -> Command {
    let text = words.to_str().filter(|_| !Path::new(words).exists()).unwrap_or_default();
    let mut split = text.split_whitespace();
    let mut command = Command::new(split.next().map_or(words, OsStr::new));
    command.args(split);
    command
}

/// Runs a program. Its output is shown only if it fails.
fn execute(command: &mut Command, remedy: &str) -> Result<(), Failure> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::about(&program, format!("not found: {remedy}")),
        _ => Failure::io(&program, error),
    })?;
    if output.status.success() {
        return Ok(());
    }
    for text in [output.stdout, output.stderr] {
        eprint!("{}", String::from_utf8_lossy(&text));
    }
    Err(Failure::about(&program, output.status))
}

/// Adds a circuit and the files that it includes, found as circom does: next to the including file, or in the folders given.
fn add_includes(file: &Path, folders: &[PathBuf], files: &mut BTreeSet<PathBuf>) {
    if !files.insert(file.to_owned()) {
        return;
    }
    let text = fs::read_to_string(file).unwrap_or_default();
    let beside = file.parent().unwrap_or(Path::new(""));
    for line in text.lines() {
        let Some(name) = line.trim().strip_prefix("include").and_then(|rest| rest.split('"').nth(1)) else {
            continue;
        };
        let places = std::iter::once(beside).chain(folders.iter().map(PathBuf::as_path));
        // One that does not exist yet is watched in its first place.
        let found = places.map(|folder| folder.join(name)).find(|path| path.is_file());
        add_includes(&found.unwrap_or_else(|| beside.join(name)), folders, files);
    }
}

impl Run {
    fn result(&self) -> Value {
        let steps: serde_json::Map<String, Value> = self
            .steps
            .iter()
            .map(|(name, time)| (name.replace(' ', "_"), json!(time.as_secs_f64())))
            .collect();
        let [execution, transaction] = self.gas;
        json!({
            "insecure": true, "system": self.system.name(), "constraints": self.constraints,
            "public_signals": self.public, "seconds": steps,
            "gas": { "execution": execution, "transaction": transaction },
        })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{:10} {} constraints, {} public signals\n",
            self.system.name(),
            self.constraints,
            self.public
        );
        for (name, time) in &self.steps {
            text += &format!("{name:10} {:8.3} s\n", time.as_secs_f64());
        }
        let [execution, transaction] = self.gas;
        text +=
            &format!("on chain   about {execution} gas, {transaction} with the transaction and its data\n");
        text += "valid: the proof was verified with INSECURE keys, for tests only\n";
        text
    }
}
