//! `bench run`.

use super::{
    numbers,
    recording::{Recording, RecordingArguments},
    screen::{self, Screen},
};
use crate::workloads::{self, Workloads};
use clap::Args;
use proofmill_bench::{
    BenchError,
    definition::Size,
    peers::Peers,
    plan::{self, LevelChoice, RowGroup, Selection},
    record::{Clock, Figures, Measurement, Price, RowOutcome},
    sampler::Effort,
    statistics::Summary,
    suite::{Mode, RunObserver, Suite},
};
use proofmill_console::{Failure, Options, Outcome};
use proofmill_cpu::Level;
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

/// Arguments of `run`.
#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// Any part of family/benchmark/size [default: everything]
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// Only these sizes, such as 2^16,2^20
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    size: Option<Vec<Size>>,
    /// Sampling time for each row at most, beyond its first six samples
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    time: Duration,
    /// Sampling ends when the median is known to this many percent, to both sides, with 95 % confidence
    #[arg(long, value_name = "PERCENT", default_value = "0.5", value_parser = percent)]
    precision: f64,
    /// Do not time: run each benchmark once at its smallest size, and compare answers
    #[arg(long)]
    check: bool,
    /// Run other libraries in alternation with Proofmill on the same inputs; builds their runners where the
    /// tools are installed
    #[arg(long)]
    peers: bool,
    /// The folder of the peers' runners [default: lab/peers of the checkout that this folder or the
    /// program lies in]
    #[arg(long, value_name = "FOLDER")]
    peers_dir: Option<PathBuf>,
    #[command(flatten)]
    recording: RecordingArguments,
}

impl RunArguments {
    pub(super) fn outputs(&self) -> Vec<&Path> {
        self.recording.json_file().into_iter().collect()
    }

    fn selection(&self, options: &Options) -> Result<Selection, Failure> {
        let levels = match options.level.as_deref() {
            None => LevelChoice::At(Level::best()),
            Some("all") => LevelChoice::All,
            Some(names) => {
                let levels = names.split(',').map(str::parse::<Level>).collect::<Result<Vec<_>, _>>();
                match levels.map_err(|error| Failure::Input(format!("{error}, or all")))?.as_slice() {
                    [level] => LevelChoice::At(*level),
                    levels => {
                        LevelChoice::Named(levels.iter().map(|level| level.name().to_owned()).collect())
                    }
                }
            }
        };
        Ok(Selection {
            patterns: self.patterns.clone(),
            // A check runs all levels.
            levels: if self.check && options.level.is_none() { LevelChoice::All } else { levels },
            threads: options.threads.as_ref().map(|threads| threads.0.clone()),
            sizes: self.size.clone(),
            smallest: self.check && self.size.is_none(),
        })
    }
}

pub(super) fn run(arguments: &RunArguments, options: &Options) -> Result<Outcome, Failure> {
    let families = workloads::definitions()?;
    let workloads = Workloads::default();
    let all = thread::available_parallelism().map_or(1, usize::from) as u32;
    let groups = plan::plan(&families, &workloads, &arguments.selection(options)?, all)?;
    let peers = arguments.peers.then(|| Peers::find(arguments.peers_dir.as_deref())).transpose()?;
    let mut recording = arguments.recording.begin()?;
    let meter = recording.meter.take();
    let mode = match arguments.check {
        true => Mode::Check,
        false => Mode::Measure(Effort { time: arguments.time, precision: arguments.precision }),
    };
    let mut suite = Suite::new(&workloads, mode, meter.as_ref(), peers.as_ref());
    let price = recording.run.price.clone();
    let mut listener = Listener {
        screen: Screen::new(options),
        timed: !arguments.check,
        price: price.as_ref(),
        first: None,
        recording: &mut recording,
    };
    suite.run(&groups, &mut listener)?;
    listener.screen.bar.finish_and_clear();
    let without = match arguments.check {
        true => Vec::new(),
        false => suite
            .without_counters()
            .map(str::to_owned)
            .into_iter()
            .chain(recording.without_power.take())
            .collect(),
    };
    recording.finish(suite.noise.noise(), &without, arguments.recording.json_file())
}

/// Prints the rows and adds them to the recording.
struct Listener<'a> {
    screen: Screen,
    timed: bool,
    price: Option<&'a Price>,
    /// Median seconds of the group's first measured row.
    first: Option<f64>,
    recording: &'a mut Recording,
}

/// Steps of the progress bar per group.
const STEPS: f64 = 1000.0;

impl RunObserver for Listener<'_> {
    fn group(&mut self, group: &RowGroup, position: usize, of: usize, left: Option<Duration>) {
        self.first = None;
        let name = group.name();
        let left = left.map_or_else(String::new, |left| format!(", {} left", rounded(left)));
        self.screen.bar.set_length((of as f64 * STEPS) as u64);
        self.screen.bar.set_position((position as f64 * STEPS) as u64);
        self.screen.bar.set_message(format!("{name}, {} of {of}{left}", position + 1));
        let threads = match (group.threads, self.timed) {
            (1, true) => "1 thread, CPU time".to_owned(),
            (1, false) => "1 thread".to_owned(),
            (threads, true) => format!("{threads} threads, wall time"),
            (threads, false) => format!("{threads} threads"),
        };
        self.screen.line(&format!("{name}, {threads}"));
    }

    fn progress(&mut self, share: f64) {
        let groups = (self.screen.bar.position() as f64 / STEPS).floor();
        self.screen.bar.set_position(((groups + share.min(0.999)) * STEPS) as u64);
    }

    fn measured(&mut self, measurement: Measurement) -> Result<(), BenchError> {
        let words = match &measurement.outcome {
            RowOutcome::Measured(figures) => in_words(figures, &mut self.first, self.price),
            RowOutcome::Checked { answer } => format!("{answer}, as expected"),
            RowOutcome::Absent { remedy } => format!("not installed: {remedy}"),
            RowOutcome::Failed { reason } => format!("FAILED: {reason}"),
        };
        self.screen.line(&format!("  {:<14} {words}", measurement.row.implementation));
        self.recording.add(measurement)
    }
}

/// A row's figures as text. `first` holds the median seconds of the group's first row, and is set by that
/// row.
pub(super) fn in_words(figures: &Figures, first: &mut Option<f64>, price: Option<&Price>) -> String {
    let Some(summary) = Summary::of(&figures.seconds) else { return "no samples".to_owned() };
    let first = *first.get_or_insert(summary.median);
    let precision = screen::precision(&summary);
    let rate = screen::rate(figures, figures.amount / summary.median, "s");
    let mut text = format!(
        "{:>9} {precision:<9} {:>6} x  {rate:<22} min {}, MAD {}, {} samples",
        numbers::time(summary.median),
        numbers::three_digits(first / summary.median),
        numbers::time(summary.min),
        numbers::time(summary.mad),
        summary.count,
    );
    // Writing to a string cannot fail.
    if let (Some(cycles), Some(instructions)) = (figures.cycles, figures.instructions) {
        let each = numbers::scaled(cycles / figures.amount);
        let _ =
            write!(text, ", {each} cycles each, {} a cycle", numbers::three_digits(instructions / cycles));
    }
    text += &screen::costs(figures, &summary, price);
    if figures.clock == Clock::Wall && !figures.phases.is_empty() {
        let total: f64 = figures.phases.iter().map(|phase| phase.seconds).sum();
        let share = |phase: &proofmill_bench::record::PhaseTime| {
            format!("{} {:.0} %", phase.name, 100.0 * phase.seconds / total)
        };
        let phases = figures.phases.iter().map(share).collect::<Vec<_>>().join(", ");
        let _ = write!(text, "\n{:17}{phases}", "");
    }
    text
}

/// A duration in seconds, or in minutes from 90 seconds on.
fn rounded(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 90 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

pub(super) fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration =
        text.parse::<jiff::SignedDuration>().ok().and_then(|duration| Duration::try_from(duration).ok());
    duration
        .filter(|duration| !duration.is_zero() && *duration <= Duration::from_secs(86_400))
        .ok_or_else(|| format!("expected a time such as 1s or 500ms, a day at most, found {text}"))
}

/// Parses a percentage into a share.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim_end_matches('%').parse().ok();
    number
        .filter(|number| (0.0..=100.0).contains(number))
        .map(|number| number / 100.0)
        .ok_or_else(|| format!("expected percent such as 0.5, found {text}"))
}
