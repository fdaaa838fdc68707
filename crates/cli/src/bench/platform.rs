//! `bench platform`.

use super::{numbers, session::SessionArguments};
use crate::{arguments::Options, failure::Failure, interrupt, report::Outcome};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofmill_bench::{
    noise::NoiseWatch,
    platform::{self, Progress},
    record::{FORMAT, Figures, Measurement, Outcome as RowOutcome, Price, Row},
    statistics::Summary,
};
use proofmill_circom::write_texts;
use serde_json::json;
use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

/// What `platform` takes.
#[derive(Args, Debug)]
pub(crate) struct Platform {
    /// Only these groups: openssl, gzip, brotli, go, luajit, https, or single families such as go-regexp
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    only: Vec<String>,
    /// How long a sample takes; OpenSSL and wrk round it up to whole seconds
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = super::run::positive_duration)]
    time: Duration,
    /// Samples of each row; an interval of the median needs six
    #[arg(long, value_name = "COUNT", default_value = "6", value_parser = clap::value_parser!(u16).range(1..=1000))]
    samples: u16,
    #[command(flatten)]
    session: SessionArguments,
    /// Print one JSON object, or write the run to a file that `bench import` and `bench report` take
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
}

impl Platform {
    fn json_file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|path| *path != Path::new("-"))
    }

    fn options(&self, options: &Options) -> platform::Options {
        let mut chosen = platform::Options {
            only: self.only.clone(),
            time: self.time,
            samples: usize::from(self.samples),
            ..platform::Options::default()
        };
        if let Some(threads) = &options.threads {
            chosen.threads.clone_from(&threads.0);
        }
        chosen
    }
}

pub(super) fn run(arguments: &Platform, options: &Options) -> Result<Outcome, Failure> {
    interrupt::clean_up_at_a_signal(arguments.json_file().into_iter().collect(), platform::clean_up)?;
    let chosen = arguments.options(options);
    // A group that does not exist is no reason to begin a run.
    platform::rows(&chosen)?;
    let mut session = arguments.session.begin()?;
    let meter = session.meter.take();
    let noise = NoiseWatch::new();
    let mut screen = Screen::new(!options.print_json() && !options.quiet, !options.quiet);
    let bar = screen.bar.clone();
    let price = session.run.price.clone();
    platform::run(
        &chosen,
        meter.as_ref(),
        |progress| show(&bar, progress),
        |measurement| {
            screen.measured(&measurement, price.as_ref());
            session.add(measurement)
        },
    )?;
    screen.bar.finish_and_clear();
    let noise = noise.noise();
    let warnings = noise.warnings.clone();
    let without_power = session.without_power.take();
    session.finish(noise)?;
    let run = session.run;
    let text = ending(&run.measurements, without_power.as_deref(), &warnings, &run.id);
    let failure = failure(&run.measurements);
    let result = json!({ "format": FORMAT, "runs": [run] });
    if let Some(path) = arguments.json_file() {
        write_texts(&[(path, &format!("{result}\n"))])?;
    }
    Ok(Outcome { text, failure, ..Outcome::done(result) })
}

/// A row that failed fails the command; a program that is not there does not.
fn failure(measurements: &[Measurement]) -> Option<Failure> {
    let reasons = measurements.iter().filter_map(|measurement| match &measurement.outcome {
        RowOutcome::Failed { reason } => Some(reason),
        _ => None,
    });
    let reasons: Vec<_> = reasons.collect();
    let first = reasons.first()?;
    let others = if reasons.len() > 1 { format!(" ({} rows in all)", reasons.len()) } else { String::new() };
    Some(Failure::Rejected(format!("{first}{others}")))
}

fn ending(
    measurements: &[Measurement],
    without_power: Option<&str>,
    warnings: &[String],
    id: &str,
) -> String {
    let count = |is: fn(&RowOutcome) -> bool| measurements.iter().filter(|row| is(&row.outcome)).count();
    let absent = count(|outcome| matches!(outcome, RowOutcome::Absent { .. }));
    let mut text = String::new();
    // Writing to a string cannot fail.
    if let Some(reason) = without_power {
        let _ = write!(text, "\nwatts: not measured: {reason}");
    }
    for warning in warnings {
        let _ = write!(text, "\nwarning: {warning}");
    }
    let measured = count(|outcome| matches!(outcome, RowOutcome::Measured(_)));
    let _ = write!(text, "\n{} rows, {measured} measured", measurements.len());
    if absent > 0 {
        let _ = write!(
            text,
            ", {absent} of programs that are not installed (scripts/platform-deps.sh installs all)"
        );
    }
    let _ = writeln!(text, "; run {}", &id[..8]);
    text
}

fn show(bar: &ProgressBar, progress: Progress<'_>) {
    let Row { family, benchmark, threads, .. } = progress.row;
    bar.set_length(progress.rows as u64);
    bar.set_position(progress.done as u64);
    bar.set_message(format!(
        "{family}/{benchmark}, {threads} threads, {} of {}",
        progress.done + 1,
        progress.rows
    ));
}

/// Rows as they end on standard output, and below them, on a terminal, what is being done.
struct Screen {
    text: bool,
    bar: ProgressBar,
    /// Family, program and threads of the row before.
    heading: Option<String>,
}

impl Screen {
    fn new(text: bool, progress: bool) -> Self {
        let target = match progress && io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("[{bar:24}] {msg} ({elapsed}, {eta} left)") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { text, bar, heading: None }
    }

    fn measured(&mut self, measurement: &Measurement, price: Option<&Price>) {
        let Row { family, benchmark, size, threads, .. } = &measurement.row;
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        let version = measurement.version.as_ref().map_or_else(String::new, |version| format!(", {version}"));
        let heading = format!("{family}, {threads}{version}");
        if self.heading.as_ref() != Some(&heading) {
            self.line(&heading);
            self.heading = Some(heading);
        }
        let words = match &measurement.outcome {
            RowOutcome::Measured(figures) => figures_in_words(figures, price),
            RowOutcome::Checked { answer } => answer.clone(),
            RowOutcome::Absent { remedy } => format!("not installed: {remedy}"),
            RowOutcome::Failed { reason } => format!("FAILED: {reason}"),
        };
        let size = size.map_or_else(String::new, |size| format!(" {size} B"));
        self.line(&format!("  {:<26} {words}", format!("{benchmark}{size}")));
    }

    fn line(&self, text: &str) {
        if self.text {
            // A reader that has gone away is no error.
            self.bar.suspend(|| drop(writeln!(io::stdout(), "{text}")));
        }
    }
}

/// The rate, how well it is known, and what it is by watt and by dollar where those are known.
fn figures_in_words(figures: &Figures, price: Option<&Price>) -> String {
    let Some(summary) = Summary::of(&figures.seconds) else { return "no samples".to_owned() };
    let (rate, unit) = (figures.amount / summary.median, &figures.unit);
    let each = |rate: f64, what: &str| format!("{} {unit}/{what}", numbers::scaled(rate));
    let precision = match summary.precision() {
        Some(share) => format!("±{} %", numbers::three_digits(100.0 * share)),
        None => String::new(),
    };
    let mut text = format!("{:<24} {precision:<8}", each(rate, "s"));
    // Writing to a string cannot fail.
    if let Some(bytes) = figures.bytes_out {
        let _ = write!(text, " {bytes} bytes out");
    }
    if let Some(watts) = figures.watts {
        let _ = write!(text, " {} W, {}", numbers::three_digits(watts), each(rate / watts, "J"));
    }
    if let Some(price) = price {
        let _ = write!(text, " {}", each(rate * 3600.0 / price.dollars_per_hour, "$"));
    }
    text.trim_end().to_owned()
}
