//! `provers`: times provers as whole processes, from start to written proof, and calculators of witnesses.

use super::{
    recording::{Recording, RecordingArguments},
    run::{self, in_words},
    screen::Screen,
};
use clap::Args;
use jiff::Timestamp;
use proofmill_bench::{
    BenchError, machine,
    noise::NoiseWatch,
    programs::{self, TimedProgram},
    record::{Clock, Figures, Measurement, RowKey, RowOutcome, Suite},
    sampler::{self, Effort, Sampled},
};
use proofmill_console::{Failure, Options, Outcome};
use proofmill_cpu::Level;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

/// Arguments of `provers`.
#[derive(Args, Debug)]
pub(crate) struct ProversArguments {
    /// groth16, plonk or fflonk; or wtns for the calculation of a witness
    #[arg(value_name = "PROTOCOL", value_parser = ["groth16", "plonk", "fflonk", "wtns"])]
    protocol: String,
    /// snarkjs's proving key; for wtns, the circuit's program by circom
    #[arg(value_name = "ZKEY")]
    key: PathBuf,
    /// The witness; for wtns, the inputs
    #[arg(value_name = "WTNS")]
    witness: PathBuf,
    /// Another prover: its name and its command, in which {zkey}, {wtns}, {proof} and {public} stand for
    /// files; for wtns, {wasm}, {input} and {wtns}
    #[arg(long = "peer", value_name = "NAME=COMMAND", value_parser = peer)]
    peers: Vec<Peer>,
    /// The program proofmill [default: next to this one, or in the folders of PATH]
    #[arg(long, value_name = "FILE")]
    proofmill: Option<PathBuf>,
    /// Sampling time for each prover at most, beyond its first six samples
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = run::positive_duration)]
    time: Duration,
    /// Sampling ends when the median is known to this many percent, to both sides, with 95 % confidence
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = run::percent)]
    precision: f64,
    #[command(flatten)]
    recording: RecordingArguments,
}

/// A prover of `--peer`.
#[derive(Clone, Debug)]
struct Peer {
    name: String,
    words: Vec<String>,
}

fn peer(text: &str) -> Result<Peer, String> {
    let parts = text.split_once('=').and_then(|(name, command)| Some((name.trim(), shlex::split(command)?)));
    match parts {
        Some((name, words)) if !name.is_empty() && !words.is_empty() => {
            Ok(Peer { name: name.to_owned(), words })
        }
        _ => Err("expected NAME=COMMAND".to_owned()),
    }
}

/// The files of a command, in the order of its arguments, with their placeholders. The last file is the result: programs are right if
/// their results are equal.
struct Files(Vec<(&'static str, PathBuf)>);

impl Files {
    fn new(arguments: &ProversArguments, scratch: &Path) -> Self {
        let (key, witness) = (arguments.key.clone(), arguments.witness.clone());
        Self(match arguments.calculates() {
            false => vec![
                ("{zkey}", key),
                ("{wtns}", witness),
                ("{proof}", scratch.join("proof.json")),
                ("{public}", scratch.join("public.json")),
            ],
            true => vec![("{wasm}", key), ("{input}", witness), ("{wtns}", scratch.join("witness.wtns"))],
        })
    }

    fn result(&self) -> &Path {
        &self.0[self.0.len() - 1].1
    }

    /// An argument of a peer's command, with the placeholders replaced by the files' names.
    fn word(&self, word: &str) -> OsString {
        match self.0.iter().find(|(name, _)| *name == word) {
            Some((_, path)) => path.into(),
            None => self
                .0
                .iter()
                .fold(word.to_owned(), |word, (name, path)| word.replace(name, &path.to_string_lossy()))
                .into(),
        }
    }
}

impl ProversArguments {
    /// Whether witnesses are calculated, in place of proofs.
    fn calculates(&self) -> bool {
        self.protocol == "wtns"
    }

    pub(super) fn outputs(&self) -> Vec<&Path> {
        self.recording.json_file().into_iter().collect()
    }

    /// The program given, or else the one next to this program, or else the one in `PATH`.
    fn proofmill(&self) -> PathBuf {
        let beside = || std::env::current_exe().ok().map(|program| program.with_file_name("proofmill"));
        let found = self.proofmill.clone().or_else(|| beside().filter(|program| program.is_file()));
        found.unwrap_or_else(|| "proofmill".into())
    }

    /// Names and commands: Proofmill at each level, then the peers.
    fn commands(&self, levels: &[&str], threads: usize, files: &Files) -> Vec<(String, Vec<OsString>)> {
        let ours = levels.iter().map(|level| {
            let mut words: Vec<OsString> = vec![self.proofmill().into()];
            let action = if self.calculates() { "calculate" } else { "prove" };
            words.extend([self.protocol.as_str(), action].map(Into::into));
            words.extend(files.0.iter().map(|(_, path)| path.into()));
            words.extend(["--level".into(), (*level).into(), "--threads".into(), threads.to_string().into()]);
            ((*level).to_owned(), words)
        });
        let word = |word: &String| files.word(word);
        let peers = self.peers.iter().map(|peer| (peer.name.clone(), peer.words.iter().map(word).collect()));
        ours.chain(peers).collect()
    }
}

pub(super) fn run(arguments: &ProversArguments, options: &Options) -> Result<Outcome, Failure> {
    let levels = levels(options)?;
    let cores = programs::cores().map_err(|error| Failure::Input(format!("the cores: {error}")))?;
    let mut counts: Vec<usize> = match &options.threads {
        None => vec![cores.len()],
        Some(counts) => counts.0.iter().map(|count| count.count(cores.len() as u32) as usize).collect(),
    };
    counts.sort_unstable();
    counts.dedup();
    if let Some(count) = counts.iter().find(|count| **count > cores.len()) {
        return Err(Failure::Input(format!(
            "--threads: expected at most {} cores, found {count}",
            cores.len()
        )));
    }
    for path in [&arguments.key, &arguments.witness] {
        path.metadata().map_err(|source| Failure::io(path, source))?;
    }
    let scratch = tempfile::tempdir().map_err(|source| Failure::io(&std::env::temp_dir(), source))?;
    let files = Files::new(arguments, scratch.path());
    let mut recording = arguments.recording.begin()?;
    let mut noise = NoiseWatch::new();
    let screen = Screen::new(options);
    for threads in counts {
        noise.frequency(machine::busy_hertz());
        programs::restrict_to(&cores[cores.len() - threads..])
            .map_err(|error| Failure::Input(format!("holding programs to {threads} cores: {error}")))?;
        let commands = arguments.commands(&levels, threads, &files);
        group(arguments, commands, threads as u32, &files, &screen, &mut recording)?;
    }
    screen.bar.finish_and_clear();
    let without = Vec::from_iter(recording.without_power.take());
    recording.finish(noise.noise(), &without, arguments.recording.json_file())
}

/// The names of the levels to run at.
fn levels(options: &Options) -> Result<Vec<&'static str>, Failure> {
    let levels = match options.level.as_deref() {
        None => vec![proofmill_field::prime_field_level(Level::best())],
        Some("all") => proofmill_field::prime_field_levels(),
        Some(names) => names
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::Input(format!("{error}, or all")))?,
    };
    Ok(levels.into_iter().map(Level::name).collect())
}

/// Runs all provers on this many cores: first checks their answers, then takes samples in alternation.
fn group(
    arguments: &ProversArguments,
    commands: Vec<(String, Vec<OsString>)>,
    threads: u32,
    files: &Files,
    screen: &Screen,
    recording: &mut Recording,
) -> Result<(), BenchError> {
    let circuit = arguments.key.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let heading = format!("{}/{circuit}", arguments.protocol);
    let plural = if threads == 1 { "" } else { "s" };
    screen.line(&format!("{heading}, {threads} thread{plural}, wall time of whole processes"));
    let (mut answer, mut provers, mut outcomes) = (None, Vec::new(), Vec::new());
    for (name, words) in commands {
        screen.bar.set_message(format!("{heading}, {name}"));
        let mut program = TimedProgram::new(format!("{heading} by {name}"), words, files.result());
        match right_answer(&mut program, &mut answer, &heading, &name) {
            Ok(()) => provers.push((name, program)),
            Err(error) => outcomes.push((name, RowOutcome::Failed { reason: error.to_string() })),
        }
    }
    let mut subjects: Vec<&mut dyn Sampled> = provers.iter_mut().map(|(_, program)| program as _).collect();
    let effort = Effort { time: arguments.time, precision: arguments.precision };
    let steps = 1000.0;
    screen.bar.set_length(steps as u64);
    let progress = |share: f64| screen.bar.set_position((share.min(1.0) * steps) as u64);
    let taken = sampler::take(&mut subjects, effort, Clock::Wall, recording.meter.as_ref(), progress);
    let measured = provers.into_iter().zip(taken).map(|((name, _), taken)| match taken {
        Ok(figures) => {
            let unit = if arguments.calculates() { "witnesses" } else { "proofs" };
            let (unit, answer) = (unit.to_owned(), answer.clone());
            (name, RowOutcome::Measured(Figures { amount: 1.0, unit, answer, ..figures }))
        }
        Err(error) => (name, RowOutcome::Failed { reason: error.to_string() }),
    });
    let mut first = None;
    for (implementation, outcome) in measured.chain(outcomes).collect::<Vec<_>>() {
        let words = match &outcome {
            RowOutcome::Measured(figures) => {
                let memory =
                    figures.peak_memory.map(|bytes| format!(", {:.0} MiB", bytes as f64 / 1048576.0));
                in_words(figures, &mut first, recording.run.price.as_ref()) + &memory.unwrap_or_default()
            }
            RowOutcome::Failed { reason } => format!("FAILED: {reason}"),
            RowOutcome::Checked { .. } | RowOutcome::Absent { .. } => String::new(),
        };
        screen.line(&format!("  {implementation:<14} {words}"));
        let row = RowKey {
            suite: Suite::Prover,
            family: arguments.protocol.clone(),
            benchmark: circuit.clone(),
            size: None,
            implementation,
            threads,
        };
        recording.add(Measurement { row, version: None, ended: Timestamp::now(), outcome })?;
    }
    Ok(())
}

/// Runs a program once and compares its result with the first one's.
fn right_answer(
    program: &mut TimedProgram,
    answer: &mut Option<String>,
    benchmark: &str,
    implementation: &str,
) -> Result<(), BenchError> {
    let found = program.answer()?;
    let expected = answer.get_or_insert_with(|| found.clone());
    if *expected == found {
        return Ok(());
    }
    let (benchmark, implementation) = (benchmark.to_owned(), implementation.to_owned());
    Err(BenchError::Answer { benchmark, implementation, expected: expected.clone(), found })
}
