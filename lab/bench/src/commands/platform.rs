//! `bench platform`.

use super::{
    recording::RecordingArguments,
    screen::{self, Screen},
};
use clap::Args;
use indicatif::ProgressBar;
use proofmill_bench::{
    noise::NoiseWatch,
    platform::{self, PlatformProgress},
    record::{Figures, Measurement, Price, RowKey, RowOutcome},
    statistics::Summary,
};
use proofmill_console::{Failure, Options, Outcome};
use std::{path::Path, time::Duration};

/// Arguments of `platform`.
#[derive(Args, Debug)]
pub(crate) struct PlatformArguments {
    /// Only these groups: openssl, gzip, brotli, go, luajit, https, or single families such as go-regexp
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    only: Vec<String>,
    /// Time of a sample; OpenSSL and wrk round it up to whole seconds
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = super::run::positive_duration)]
    time: Duration,
    /// Samples of each row; an interval of the median needs six
    #[arg(long, value_name = "COUNT", default_value = "6", value_parser = clap::value_parser!(u16).range(1..=1000))]
    samples: u16,
    #[command(flatten)]
    recording: RecordingArguments,
}

impl PlatformArguments {
    fn options(&self, options: &Options) -> platform::PlatformOptions {
        let mut chosen = platform::PlatformOptions {
            only: self.only.clone(),
            time: self.time,
            samples: usize::from(self.samples),
            ..platform::PlatformOptions::default()
        };
        if let Some(threads) = &options.threads {
            chosen.threads.clone_from(&threads.0);
        }
        chosen
    }

    pub(super) fn outputs(&self) -> Vec<&Path> {
        self.recording.json_file().into_iter().collect()
    }
}

pub(super) fn run(arguments: &PlatformArguments, options: &Options) -> Result<Outcome, Failure> {
    let chosen = arguments.options(options);
    // An unknown group is refused before a run is added to the store.
    platform::rows(&chosen)?;
    let mut recording = arguments.recording.begin()?;
    let meter = recording.meter.take();
    let noise = NoiseWatch::new();
    let screen = Screen::new(options);
    let mut heading = None;
    let price = recording.run.price.clone();
    platform::run(
        &chosen,
        meter.as_ref(),
        |progress| show(&screen.bar, progress),
        |measurement| {
            show_row(&screen, &mut heading, &measurement, price.as_ref());
            recording.add(measurement)
        },
    )?;
    screen.bar.finish_and_clear();
    let without = Vec::from_iter(recording.without_power.take());
    recording.finish(noise.noise(), &without, arguments.recording.json_file())
}

fn show(bar: &ProgressBar, progress: PlatformProgress<'_>) {
    let RowKey { family, benchmark, threads, .. } = progress.row;
    bar.set_length(progress.rows as u64);
    bar.set_position(progress.done as u64);
    bar.set_message(format!(
        "{family}/{benchmark}, {threads} threads, {} of {}",
        progress.done + 1,
        progress.rows
    ));
}

/// Prints a row. A heading comes first if the family, program version or number of threads differs from the
/// previous row's.
fn show_row(screen: &Screen, before: &mut Option<String>, measurement: &Measurement, price: Option<&Price>) {
    let RowKey { family, benchmark, size, threads, .. } = &measurement.row;
    let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
    let version = measurement.version.as_ref().map_or_else(String::new, |version| format!(", {version}"));
    let heading = format!("{family}, {threads}{version}");
    if before.as_ref() != Some(&heading) {
        screen.line(&heading);
        *before = Some(heading);
    }
    let words = match &measurement.outcome {
        RowOutcome::Measured(figures) => figures_in_words(figures, price),
        RowOutcome::Checked { answer } => answer.clone(),
        RowOutcome::Absent { remedy } => format!("not installed: {remedy}"),
        RowOutcome::Failed { reason } => format!("FAILED: {reason}"),
    };
    let size = size.map_or_else(String::new, |size| format!(" {size} B"));
    screen.line(&format!("  {:<26} {words}", format!("{benchmark}{size}")));
}

/// The rate with its precision, and, where they are known, rates per joule and per dollar.
fn figures_in_words(figures: &Figures, price: Option<&Price>) -> String {
    let Some(summary) = Summary::of(&figures.seconds) else { return "no samples".to_owned() };
    let per_second = screen::rate(figures, figures.amount / summary.median, "s");
    let bytes = figures.bytes_out.map_or_else(String::new, |bytes| format!(", {bytes} bytes out"));
    let (precision, costs) = (screen::precision(&summary), screen::costs(figures, &summary, price));
    format!("{per_second:<24} {precision:<8}{bytes}{costs}").trim_end().to_owned()
}
