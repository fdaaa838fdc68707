//! `plonk-workload`: times the six phases of a proof, from circuit to verification, on circuits of chosen
//! size.

use clap::{Args, Subcommand};
use proofmill_bench::{record::PhaseTime, sampler};
use proofmill_console::{Failure, Machine, Outcome, StorageOptions};
use proofmill_cpu::Level;
use proofmill_field::bn254::Fr;
use proofmill_memory::{process_memory, release_kept_memory};
use proofmill_plonk::{
    Arithmetisation, Circuit, FixedColumns, LookupArgument, PlonkError, ProveOptions, VerifyingKey, prove,
    verify, workload,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf, sync::Arc};

#[derive(Debug, Subcommand)]
pub(crate) enum PlonkWorkloadCommand {
    /// A chain of gates: three products, then a sum
    #[command(after_help = "Examples:
  proofmill plonk workload arithmetic --gates 2^16 --arithmetisation turbo
  proofmill plonk workload arithmetic --gates 2^18 --arithmetisation ultra --memory low --scratch /var/tmp")]
    Arithmetic {
        /// Rows of the circuit, as a number or as 2^K
        #[arg(long, value_name = "COUNT", default_value = "2^16", value_parser = count)]
        gates: u64,
        #[command(flatten)]
        settings: PlonkWorkloadArguments,
    },
    /// A chain of Pedersen hashes over Grumpkin, each of two field elements
    #[command(after_help = "Examples:
  proofmill plonk workload pedersen --hashes 100 --arithmetisation ultra
  proofmill plonk workload pedersen --hashes 4000 --arithmetisation turbo --json")]
    Pedersen {
        /// Hashes of the chain, as a number or as 2^K
        #[arg(long, value_name = "COUNT", default_value = "100", value_parser = count)]
        hashes: u64,
        /// Bits of a window that one lookup adds, 2 to 16, in ultra [default: the most for which tables do
        /// not enlarge the circuit]
        #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(2..=16))]
        window_bits: Option<u32>,
        #[command(flatten)]
        settings: PlonkWorkloadArguments,
    },
}

#[derive(Args, Debug)]
pub(crate) struct PlonkWorkloadArguments {
    /// Which gates the circuit may use: standard, turbo or ultra
    #[arg(long, alias = "arithmetization", value_name = "NAME", default_value_t = Arithmetisation::Ultra)]
    arithmetisation: Arithmetisation,
    #[command(flatten)]
    storage: StorageOptions,
    /// How lookups are proven: logup or plookup
    #[arg(long, value_name = "NAME", default_value_t = LookupArgument::LogDerivative)]
    lookup: LookupArgument,
    /// The reference string: powers of tau, or a folder of Ignition transcripts [default: one with a known
    /// tau, made in memory]
    #[arg(long, value_name = "FILE")]
    srs: Option<PathBuf>,
    /// Number of runs: times are medians, memory is the maximum
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
}

/// Parses a number in digits or as a power of two.
fn count(text: &str) -> Result<u64, String> {
    let count = match text.strip_prefix("2^") {
        Some(power) => power.parse().ok().and_then(|power: u32| 1u64.checked_shl(power)),
        None => text.parse().ok(),
    };
    let count = count.filter(|count| (1..=1 << 26).contains(count));
    count.ok_or_else(|| "expected a number from 1 to 2^26, such as 4000 or 2^18".to_owned())
}

impl PlonkWorkloadCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Arithmetic { .. } => "arithmetic",
            Self::Pedersen { .. } => "pedersen",
        }
    }

    fn settings(&self) -> &PlonkWorkloadArguments {
        match self {
            Self::Arithmetic { settings, .. } | Self::Pedersen { settings, .. } => settings,
        }
    }

    /// The circuit, with its witness.
    fn build(&self) -> Circuit {
        let mut circuit = Circuit::new(self.settings().arithmetisation);
        match self {
            Self::Arithmetic { gates, .. } => workload::arithmetic(&mut circuit, *gates),
            Self::Pedersen { hashes, window_bits, .. } => {
                if self.settings().arithmetisation == Arithmetisation::Ultra {
                    let best = || workload::window_bits(*hashes);
                    circuit.set_window_bits(window_bits.unwrap_or_else(best));
                }
                workload::pedersen(&mut circuit, *hashes);
            }
        }
        circuit
    }

    fn hashes(&self) -> Option<u64> {
        match self {
            Self::Arithmetic { .. } => None,
            Self::Pedersen { hashes, .. } => Some(*hashes),
        }
    }
}

/// The phase name of the time between phases, which is not reported.
const BETWEEN: &str = "between the phases";

/// The peak memory of the phases so far, in bytes.
type Peaks = Vec<(&'static str, Option<u64>)>;

/// Times the phases of one run.
struct Phases<'a> {
    begin: &'a mut dyn FnMut(&'static str),
    peaks: &'a mut Peaks,
}

impl Phases<'_> {
    fn run<T>(&mut self, phase: &'static str, work: impl FnOnce() -> T) -> T {
        (self.begin)(BETWEEN);
        // Memory that an earlier phase freed must not count for this one.
        release_kept_memory();
        process_memory::forget_peak();
        (self.begin)(phase);
        let result = work();
        (self.begin)(BETWEEN);
        let peak = process_memory::peak();
        match self.peaks.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, most)) => *most = peak.max(*most),
            None => self.peaks.push((phase, peak)),
        }
        result
    }
}

/// Sizes of a proven circuit and of its proof.
#[derive(Default)]
struct Proven {
    rows: usize,
    log_n: u32,
    proof_bytes: usize,
}

pub(super) fn run(command: &PlonkWorkloadCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|run| measure(command, run))
}

fn measure(command: &PlonkWorkloadCommand, run: Run<'_>) -> Result<Outcome, Failure> {
    let (mut peaks, mut proven) = (Peaks::new(), Proven::default());
    let mut sample = |_| {
        sampler::sample(1, |begin| {
            proven = prove_once(command, run, Phases { begin, peaks: &mut peaks })?;
            Ok(())
        })
    };
    let samples = (0..command.settings().runs).map(&mut sample).collect::<Result<Vec<_>, Failure>>()?;
    let mut phases = sampler::phases(&samples, 1);
    phases.retain(|phase| phase.name != BETWEEN);
    Ok(outcome(command, &phases, &peaks, &proven))
}

fn prove_once(
    command: &PlonkWorkloadCommand,
    run: Run<'_>,
    mut phases: Phases<'_>,
) -> Result<Proven, Failure> {
    let settings = command.settings();
    let StorageOptions { memory, scratch } = &settings.storage;
    let run = Run { memory: Some(*memory), scratch: scratch.as_deref(), ..run };
    let Run { level, progress, .. } = run;
    progress.begin("construct circuit");
    let mut layout = phases.run("construct circuit", || command.build().into_layout().0);
    layout.lookup = layout.lookup.map(|_| settings.lookup);
    let rows = layout.rows();
    // This phase builds the circuit again, as a program that already has the key does for a new witness.
    progress.begin("witness");
    let values: Vec<Fr> = phases.run("witness", || command.build().values().to_vec());
    let log_n = layout.log_n();
    progress.begin("reference string");
    let srs = Arc::new(reference(settings, level, (1 << log_n) + (1 << 4))?);
    let failure = |error: PlonkError| Failure::Input(error.to_string());
    let columns = phases.run("proving key", || FixedColumns::new(run, layout)).map_err(failure)?;
    let key = phases.run("verification key", || columns.commit(run, srs)).map_err(failure)?;
    let options = ProveOptions::default();
    let (proof, public) = phases.run("prove", || prove(run, &key, &values, options)).map_err(failure)?;
    progress.begin("verify");
    let verifying_key: &VerifyingKey = key.verifying_key();
    let valid = phases.run("verify", || verify(level, verifying_key, &public, &proof));
    if valid.is_err() {
        return Err(failure(PlonkError::NotProven));
    }
    let proof_bytes = 64 * proof.points().len() + 32 * proof.evaluations.len();
    Ok(Proven { rows, log_n, proof_bytes })
}

/// The reference string given on the command line, or a new one in memory.
fn reference(settings: &PlonkWorkloadArguments, level: Level, count: usize) -> Result<Srs, Failure> {
    match &settings.srs {
        Some(path) => Srs::open(path).map_err(|error| Failure::Input(error.to_string())),
        None => {
            let tau = Fr::from(0x5072_6f6f_666d_696c);
            match &settings.storage.scratch {
                None => Ok(Srs::insecure_from_known_tau(level, tau, count)),
                Some(folder) => Srs::insecure_in_folder(level, tau, count, folder)
                    .map_err(|source| Failure::io(folder, source)),
            }
        }
    }
}

fn outcome(command: &PlonkWorkloadCommand, phases: &[PhaseTime], peaks: &Peaks, proven: &Proven) -> Outcome {
    let &Proven { rows, log_n, proof_bytes } = proven;
    let settings = command.settings();
    let per_hash = command.hashes().map(|hashes| rows as f64 / hashes as f64);
    let mut text = format!(
        "{} circuit, {} arithmetisation: {rows} rows, domain 2^{log_n}, proof of {proof_bytes} bytes",
        command.name(),
        settings.arithmetisation,
    );
    if let Some(rows) = per_hash {
        // Writing to a string cannot fail.
        let _ = write!(text, ", {rows:.1} rows a hash");
    }
    let _ = writeln!(text, "\n{:<18} {:>10} {:>12}", "phase", "seconds", "peak MiB");
    let peak =
        |phase: &PhaseTime| peaks.iter().find(|(name, _)| *name == phase.name).and_then(|(_, peak)| *peak);
    for phase in phases {
        let memory =
            peak(phase).map_or("unknown".to_owned(), |bytes| format!("{:.0}", bytes as f64 / 1048576.0));
        let PhaseTime { name, seconds } = phase;
        let _ = writeln!(text, "{name:<18} {seconds:>10.4} {memory:>12}");
    }
    let record = |phase: &PhaseTime| -> Value {
        json!({ "phase": phase.name, "seconds": phase.seconds, "peak_memory_bytes": peak(phase) })
    };
    let result = json!({
        "workload": command.name(),
        "arithmetisation": settings.arithmetisation.to_string(),
        "memory": settings.storage.memory.to_string(),
        "scratch": settings.storage.scratch,
        "lookup": settings.lookup.to_string(),
        "hashes": command.hashes(),
        "rows": rows,
        "rows_per_hash": per_hash,
        "log_domain": log_n,
        "proof_bytes": proof_bytes,
        "runs": settings.runs,
        "phases": phases.iter().map(record).collect::<Vec<_>>(),
    });
    Outcome { text, ..Outcome::done(result) }
}
