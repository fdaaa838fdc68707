//! Terminal output: finished rows on standard output, a progress bar on standard error.

use super::numbers;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofmill_bench::{
    record::{Figures, Price},
    statistics::Summary,
};
use proofmill_console::Options;
use std::io::{self, IsTerminal, Write as _};

/// Standard output and the progress bar.
pub(super) struct Screen {
    text: bool,
    pub(super) bar: ProgressBar,
}

impl Screen {
    /// Prints no rows for `--json` or `--quiet`. Shows no bar for `--quiet` or if standard error is not a
    /// terminal.
    pub(super) fn new(options: &Options) -> Self {
        let target = match !options.quiet && io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("[{bar:24}] {msg} ({elapsed})") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { text: !options.print_json() && !options.quiet, bar }
    }

    /// A line of text above the bar.
    pub(super) fn line(&self, text: &str) {
        if self.text {
            // A closed standard output is no error.
            self.bar.suspend(|| drop(writeln!(io::stdout(), "{text}")));
        }
    }
}

/// Half of the interval's width as a percentage; empty if there is no interval.
pub(super) fn precision(summary: &Summary) -> String {
    let share = summary.precision();
    share.map_or_else(String::new, |share| format!("±{} %", numbers::three_digits(100.0 * share)))
}

/// A rate in the row's unit: `4.02 M points/s`.
pub(super) fn rate(figures: &Figures, number: f64, by: &str) -> String {
    format!("{} {}/{by}", numbers::scaled(number), figures.unit)
}

/// Watts and the rate per joule, and the rate per dollar, each where it is known.
pub(super) fn costs(figures: &Figures, summary: &Summary, price: Option<&Price>) -> String {
    let per_second = figures.amount / summary.median;
    let watts = figures.watts.map(|watts| {
        format!(", {} W, {}", numbers::three_digits(watts), rate(figures, per_second / watts, "J"))
    });
    let dollars =
        price.map(|price| format!(", {}", rate(figures, per_second * 3600.0 / price.dollars_per_hour, "$")));
    watts.unwrap_or_default() + &dollars.unwrap_or_default()
}
