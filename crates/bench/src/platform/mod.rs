//! What the machine is good at, by other people's programs: keys and ciphers of OpenSSL, compression, Go, LuaJIT and an HTTPS
//! server, on one core and on all.
//!
//! A row whose program is not installed says what to install and is no failure. Programs that hang are stopped, and
//! everything that was started is ended however this process ends. `docs/platform.md` says what is run and what could mislead.

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
    power::{Mark, PowerMeter},
    process::{self, Failure},
    record::{Clock, Figures, Measurement, Outcome, Row, Suite},
};
use jiff::Timestamp;
use std::{cell::OnceCell, ffi::OsString, path::PathBuf, rc::Rc, thread, time::Duration};

/// Names of groups of rows: families, or their beginnings up to a hyphen.
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

/// The page that is compressed and served: 29 kB of HTML, our own words.
pub(crate) const PAGE: &str = include_str!("page.html");

/// What is run, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// Families, or groups such as `openssl` and `go`; all if there are none.
    pub only: Vec<String>,
    /// How many cores work together.
    pub threads: Vec<Threads>,
    /// For each sample; OpenSSL and wrk know whole seconds only and round this up.
    pub time: Duration,
    /// For each row.
    pub samples: usize,
    /// A program that has said nothing for so long, beyond the time it was told to work, has hung.
    pub patience: Duration,
    /// Folders of programs, as the variable `PATH` has them.
    pub path: OsString,
}

impl Default for Options {
    /// All, on one core and on all, five samples of a second.
    fn default() -> Self {
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        // Where Debian keeps servers, and Go's makers Go.
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

/// A row that is about to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The first of the rows that are measured together.
    pub row: &'a Row,
    /// Rows that are done.
    pub done: usize,
    /// Rows in all.
    pub rows: usize,
}

/// The rows that `options` ask for.
///
/// # Errors
/// A group that does not exist.
pub fn rows(options: &Options) -> Result<Vec<Row>, BenchError> {
    Ok(jobs(options)?.into_iter().flat_map(|job| job.rows()).collect())
}

/// Measures them, one program at a time; `each` gets every measurement as it is done.
///
/// # Errors
/// A group that does not exist, and what `each` fails with.
pub fn run(
    options: &Options,
    meter: Option<&PowerMeter>,
    mut progress: impl FnMut(Progress<'_>),
    mut each: impl FnMut(Measurement) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let jobs = jobs(options)?;
    let count = jobs.iter().map(|job| job.subjects.len()).sum();
    let context = Context { options, meter, go: OnceCell::new() };
    let mut done = 0;
    for job in jobs {
        let rows = job.rows();
        if let Some(row) = rows.first() {
            progress(Progress { row, done, rows: count });
        }
        done += rows.len();
        for (row, (version, outcome)) in rows.into_iter().zip(job.measure(&context)) {
            each(Measurement { row, version, ended: Timestamp::now(), outcome })?;
        }
    }
    Ok(())
}

/// Removes what a run has put into the folder of temporary files; for a handler of signals that then ends the process, on
/// which the programs end too.
pub fn clean_up() {
    folder::remove_all();
}

fn jobs(options: &Options) -> Result<Vec<Job>, BenchError> {
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
    let mut jobs: Vec<Job> = [openssl::jobs, compression::jobs, go::jobs, luajit::jobs, https::jobs]
        .iter()
        .flat_map(|of_program| counts.iter().flat_map(|&threads| of_program(threads)).collect::<Vec<_>>())
        .collect();
    jobs.retain(|job| options.only.is_empty() || options.only.iter().any(|name| belongs(job.family, name)));
    Ok(jobs)
}

/// `openssl-symmetric` belongs to itself and to `openssl`.
fn belongs(family: &str, group: &str) -> bool {
    family.strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// What a job may use.
struct Context<'a> {
    options: &'a Options,
    meter: Option<&'a PowerMeter>,
    /// Our Go program, built when the first of its rows is due.
    go: OnceCell<Result<Rc<go::Program>, Obstacle>>,
}

impl Context<'_> {
    /// Where `program` is, or what to install.
    fn find(&self, program: &str, package: &str) -> Result<PathBuf, Obstacle> {
        process::find(program, &self.options.path)
            .ok_or_else(|| Obstacle::Absent(format!("apt-get install {package}")))
    }

    /// Until a program that works for a sample's time has hung.
    fn patience(&self) -> Duration {
        self.options.time + self.options.patience
    }

    fn mark(&self) -> Option<Mark> {
        self.meter.map(PowerMeter::mark)
    }
}

/// Why a job cannot be done.
#[derive(Clone, Debug)]
enum Obstacle {
    Absent(String),
    Failed(String),
}

impl Obstacle {
    fn outcome(self) -> Outcome {
        match self {
            Self::Absent(remedy) => Outcome::Absent { remedy },
            Self::Failed(reason) => Outcome::Failed { reason },
        }
    }
}

impl From<String> for Obstacle {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

/// Says which program failed.
fn failed(program: &str) -> impl Fn(Failure) -> Obstacle {
    move |failure| Obstacle::Failed(format!("{program} {failure}"))
}

/// A row, short of what its job knows.
struct Quantity {
    benchmark: String,
    size: Option<u64>,
    amount: f64,
    unit: &'static str,
}

/// Rows that are measured together since a program does so.
struct Job {
    family: &'static str,
    implementation: &'static str,
    threads: u32,
    clock: Clock,
    subjects: Vec<Quantity>,
    prepare: Box<Prepare>,
}

type Prepare = dyn for<'a> FnOnce(&'a Context<'_>) -> Result<Prepared<'a>, Obstacle>;

/// Work that can be sampled again and again.
struct Prepared<'a> {
    version: Option<String>,
    bytes_out: Option<u64>,
    answer: Option<String>,
    /// Gives a sample of each subject, in their order.
    sample: Box<dyn FnMut() -> Result<Vec<Sample>, Obstacle> + 'a>,
}

/// Seconds an iteration, and when the watts are to be read.
#[derive(Clone, Copy, Debug)]
struct Sample {
    seconds: f64,
    window: Option<(Mark, Mark)>,
}

impl Job {
    fn rows(&self) -> Vec<Row> {
        let row = |subject: &Quantity| Row {
            suite: Suite::Platform,
            family: self.family.to_owned(),
            benchmark: subject.benchmark.clone(),
            size: subject.size,
            implementation: self.implementation.to_owned(),
            threads: self.threads,
        };
        self.subjects.iter().map(row).collect()
    }

    /// What came of each row.
    fn measure(self, context: &Context<'_>) -> Vec<(Option<String>, Outcome)> {
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
            Outcome::Measured(Figures {
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

/// One positive time for each subject, or the program said something else than it should.
fn check(round: Vec<Sample>, subjects: usize) -> Result<Vec<Sample>, Obstacle> {
    match round.len() == subjects
        && round.iter().all(|sample| sample.seconds.is_finite() && sample.seconds > 0.0)
    {
        true => Ok(round),
        false => Err(Obstacle::Failed(format!("expected {subjects} positive rates, found {round:?}"))),
    }
}

/// The mean over all samples, if the instrument saw every one.
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
