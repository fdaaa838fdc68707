//! Measures the machine with other programs: public-key cryptography and ciphers of OpenSSL, compression, Go,
//! LuaJIT and an HTTPS server, on one core and on all.
//!
//! The row of a program that is not installed names the package to install; it is not a failure. Programs
//! that hang are stopped, and every program that was started ends when this process ends, in whatever way.
//! `docs/platform.md` describes the programs and what could mislead.

mod compression;
mod folder;
mod go;
mod https;
mod luajit;
mod openssl;
mod timing;

use crate::{
    BenchError,
    definition::Threads,
    power::{MeterMark, PowerMeter},
    process::{self, ProcessFailure},
    record::{Clock, Figures, Measurement, RowKey, RowOutcome, Suite},
};
use jiff::Timestamp;
use std::{cell::OnceCell, ffi::OsString, path::PathBuf, rc::Rc, thread, time::Duration};

/// Names of groups of rows: families, or their first parts up to a hyphen.
pub const GROUPS: [&str; 10] = [
    "openssl-public-key",
    "openssl-symmetric",
    "gzip",
    "brotli",
    "go-crypto",
    "go-gzip",
    "go-regexp",
    "go-strings",
    "luajit",
    "https",
];

/// The page that is compressed and served: 29 kB of HTML.
pub(crate) const PAGE: &str = include_str!("page.html");

/// Which programs to run, and for how long.
#[derive(Clone, Debug)]
pub struct PlatformOptions {
    /// Families, or groups such as `openssl` and `go`; if empty, all.
    pub only: Vec<String>,
    /// Numbers of threads.
    pub threads: Vec<Threads>,
    /// Time of a sample; OpenSSL and wrk round it up to whole seconds.
    pub time: Duration,
    /// Number of samples of a row.
    pub samples: usize,
    /// A program counts as hung if it is silent for this long beyond its working time.
    pub patience: Duration,
    /// Folders to search for programs, in the format of the variable `PATH`.
    pub path: OsString,
}

impl Default for PlatformOptions {
    /// All programs, on one core and on all, five samples of one second.
    fn default() -> Self {
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        // Folders of servers on Debian and of Go's own installer.
        path.push(":/usr/local/sbin:/usr/sbin:/sbin:/usr/local/go/bin");
        Self {
            only: Vec::new(),
            threads: vec![Threads::Count(1), Threads::All],
            time: Duration::from_secs(1),
            samples: 5,
            patience: Duration::from_secs(30),
            path,
        }
    }
}

/// The row that is measured next.
#[derive(Clone, Copy, Debug)]
pub struct PlatformProgress<'a> {
    /// The first of the rows that are measured together.
    pub row: &'a RowKey,
    /// Number of finished rows.
    pub done: usize,
    /// Number of all rows.
    pub rows: usize,
}

/// The rows that `options` select.
///
/// # Errors
/// An unknown group.
pub fn rows(options: &PlatformOptions) -> Result<Vec<RowKey>, BenchError> {
    Ok(jobs(options)?.into_iter().flat_map(|job| job.rows()).collect())
}

/// Measures the rows, one program at a time, and passes each measurement to `each`.
///
/// # Errors
/// An unknown group, and errors of `each`.
pub fn run(
    options: &PlatformOptions,
    meter: Option<&PowerMeter>,
    mut progress: impl FnMut(PlatformProgress<'_>),
    mut each: impl FnMut(Measurement) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let jobs = jobs(options)?;
    let count = jobs.iter().map(|job| job.subjects.len()).sum();
    let context = Context { options, meter, go: OnceCell::new() };
    let mut done = 0;
    for job in jobs {
        let rows = job.rows();
        if let Some(row) = rows.first() {
            progress(PlatformProgress { row, done, rows: count });
        }
        done += rows.len();
        for (row, (version, outcome)) in rows.into_iter().zip(job.measure(&context)) {
            each(Measurement { row, version, ended: Timestamp::now(), outcome })?;
        }
    }
    Ok(())
}

/// Removes the temporary files of a run. For a signal handler that then ends the process, which ends the
/// programs too.
pub fn clean_up() {
    folder::remove_all();
}

fn jobs(options: &PlatformOptions) -> Result<Vec<PlatformJob>, BenchError> {
    if let Some(unknown) = options.only.iter().find(|name| !GROUPS.iter().any(|family| belongs(family, name)))
    {
        return Err(BenchError::Workload {
            name: unknown.clone(),
            problem: format!(
                "no such group of platform workloads; expected some of openssl, go, {}",
                GROUPS.join(", ")
            ),
        });
    }
    let all =
        thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX));
    let mut counts = Vec::new();
    for threads in &options.threads {
        let count = match threads {
            Threads::Count(count) => *count,
            Threads::All => all,
        };
        if !counts.contains(&count) {
            counts.push(count);
        }
    }
    let mut jobs: Vec<PlatformJob> = [openssl::jobs, compression::jobs, go::jobs, luajit::jobs, https::jobs]
        .iter()
        .flat_map(|of_program| counts.iter().flat_map(|&threads| of_program(threads)).collect::<Vec<_>>())
        .collect();
    jobs.retain(|job| options.only.is_empty() || options.only.iter().any(|name| belongs(job.family, name)));
    Ok(jobs)
}

/// Whether `family` is `group` or begins with `group` and a hyphen: `openssl-symmetric` belongs to `openssl`.
fn belongs(family: &str, group: &str) -> bool {
    family.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The environment of a job.
struct Context<'a> {
    options: &'a PlatformOptions,
    meter: Option<&'a PowerMeter>,
    /// The Go program, built for the first row that needs it.
    go: OnceCell<Result<Rc<go::GoProgram>, Obstacle>>,
}

impl Context<'_> {
    /// The path of `program`, or the package to install.
    fn find(&self, program: &str, package: &str) -> Result<PathBuf, Obstacle> {
        process::find(program, &self.options.path)
            .ok_or_else(|| Obstacle::Absent(format!("apt-get install {package}")))
    }

    /// Time limit for a program that works for a sample's time.
    fn patience(&self) -> Duration {
        self.options.time + self.options.patience
    }

    fn mark(&self) -> Option<MeterMark> {
        self.meter.map(PowerMeter::mark)
    }
}

/// The reason why a job cannot be done.
#[derive(Clone, Debug)]
enum Obstacle {
    Absent(String),
    Failed(String),
}

impl Obstacle {
    fn outcome(self) -> RowOutcome {
        match self {
            Self::Absent(remedy) => RowOutcome::Absent { remedy },
            Self::Failed(reason) => RowOutcome::Failed { reason },
        }
    }
}

impl From<String> for Obstacle {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Adds the program's name to a failure.
fn failed(program: &str) -> impl Fn(ProcessFailure) -> Obstacle {
    move |failure| Obstacle::Failed(format!("{program} {failure}"))
}

/// The parts of a row that its job does not determine.
struct Quantity {
    benchmark: String,
    size: Option<u64>,
    amount: f64,
    unit: &'static str,
}

/// Rows that one program measures together.
struct PlatformJob {
    family: &'static str,
    implementation: &'static str,
    threads: u32,
    clock: Clock,
    subjects: Vec<Quantity>,
    prepare: Box<Prepare>,
}

type Prepare = dyn for<'a> FnOnce(&'a Context<'_>) -> Result<PreparedJob<'a>, Obstacle>;

/// Work that is ready for samples.
struct PreparedJob<'a> {
    version: Option<String>,
    bytes_out: Option<u64>,
    answer: Option<String>,
    /// Takes a sample of each subject, in order.
    sample: Box<dyn FnMut() -> Result<Vec<Sample>, Obstacle> + 'a>,
}

/// Seconds per iteration, and the time window for the power reading.
#[derive(Clone, Copy, Debug)]
struct Sample {
    seconds: f64,
    window: Option<(MeterMark, MeterMark)>,
}

impl PlatformJob {
    fn rows(&self) -> Vec<RowKey> {
        let row = |subject: &Quantity| RowKey {
            suite: Suite::Platform,
            family: self.family.to_owned(),
            benchmark: subject.benchmark.clone(),
            size: subject.size,
            implementation: self.implementation.to_owned(),
            threads: self.threads,
        };
        self.subjects.iter().map(row).collect()
    }

    /// The outcome of each row.
    fn measure(self, context: &Context<'_>) -> Vec<(Option<String>, RowOutcome)> {
        let mut prepared = match (self.prepare)(context) {
            Ok(prepared) => prepared,
            Err(obstacle) => return vec![(None, obstacle.outcome()); self.subjects.len()],
        };
        let mut samples = vec![Vec::new(); self.subjects.len()];
        for _ in 0..context.options.samples.max(1) {
            let round = (prepared.sample)().and_then(|round| check(round, samples.len()));
            match round {
                Ok(round) => samples.iter_mut().zip(round).for_each(|(samples, sample)| samples.push(sample)),
                Err(obstacle) => return vec![(prepared.version, obstacle.outcome()); self.subjects.len()],
            }
        }
        let outcome = |(subject, samples): (Quantity, Vec<Sample>)| {
            RowOutcome::Measured(Figures {
                seconds: samples.iter().map(|sample| sample.seconds).collect(),
                clock: self.clock,
                amount: subject.amount,
                unit: subject.unit.to_owned(),
                answer: prepared.answer.clone(),
                cycles: None,
                instructions: None,
                phases: Vec::new(),
                peak_memory: None,
                bytes_out: prepared.bytes_out,
                watts: watts(context.meter, &samples),
            })
        };
        self.subjects.into_iter().zip(samples).map(|row| (prepared.version.clone(), outcome(row))).collect()
    }
}

/// Checks that there is one positive time for each subject.
fn check(round: Vec<Sample>, subjects: usize) -> Result<Vec<Sample>, Obstacle> {
    match round.len() == subjects
        && round.iter().all(|sample| sample.seconds.is_finite() && sample.seconds > 0.0)
    {
        true => Ok(round),
        false => Err(Obstacle::Failed(format!("expected {subjects} positive rates, found {round:?}"))),
    }
}

/// The mean power over all samples; `None` unless the power source covers every one of them.
fn watts(meter: Option<&PowerMeter>, samples: &[Sample]) -> Option<f64> {
    let meter = meter?;
    let (mut joules, mut seconds) = (0.0, 0.0);
    for sample in samples {
        let (from, to) = sample.window?;
        joules += meter.joules(&from, &to)?;
        seconds += from.seconds_to(&to);
    }
    (seconds > 0.0).then(|| joules / seconds)
}

#[cfg(test)]
mod tests;
