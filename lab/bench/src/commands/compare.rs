//! `bench compare`: compares two runs, or two implementations of one run.

use super::{
    numbers,
    recording::Database,
    store::{self, counted},
    table,
};
use clap::Args;
use proofmill_bench::{
    compare::{Compared, Comparison, Doubt, Mean, Per, Side, compare},
    definition::Size,
    record::{BenchRun, RowOutcome},
    statistics::Ratio,
};
use proofmill_console::{Failure, Outcome};
use serde_json::json;
use std::fmt::Write as _;

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArguments {
    /// The run to compare with: an id or its beginning, a label, latest, or an exported file of one run
    #[arg(value_name = "A")]
    first: String,
    /// The run that is compared with A [default: A itself, with --implementation and --against]
    #[arg(value_name = "B", required_unless_present = "against")]
    second: Option<String>,
    /// Only B's rows of this level, peer or program
    #[arg(long, value_name = "NAME", requires = "against")]
    implementation: Option<String>,
    /// Compare them with A's rows of this level, peer or program
    #[arg(long, value_name = "NAME", requires = "implementation")]
    against: Option<String>,
    /// Compare work per watt (that is, per joule), where both were measured with watts
    #[arg(long, conflicts_with = "per_dollar")]
    per_watt: bool,
    /// Compare work per dollar, where both have a price
    #[arg(long)]
    per_dollar: bool,
    /// Ratios that differ from 1 by less than this, in percent, count as no difference
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = super::run::percent)]
    threshold: f64,
    #[command(flatten)]
    database: Database,
}

pub(super) fn run(arguments: &CompareArguments) -> Result<Outcome, Failure> {
    let first = one(&arguments.database, &arguments.first)?;
    let second = match &arguments.second {
        Some(name) => one(&arguments.database, name)?,
        None => first.clone(),
    };
    let per = match (arguments.per_watt, arguments.per_dollar) {
        (true, _) => Per::Watt,
        (_, true) => Per::Dollar,
        _ => Per::Second,
    };
    let base = side(&first, arguments.against.as_deref())?;
    let other = side(&second, arguments.implementation.as_deref())?;
    let comparison = compare(base, other, per, arguments.threshold);
    let text = text(base, other, &comparison, per);
    let result = json!({
        "first": first.id,
        "second": second.id,
        "per": per,
        "threshold": arguments.threshold,
        "comparison": comparison,
    });
    Ok(Outcome { text, ..Outcome::done(result) })
}

/// The run that `name` means; an error if there is not exactly one.
fn one(database: &Database, name: &str) -> Result<BenchRun, Failure> {
    let mut runs = store::named(database, &[name.to_owned()])?;
    match (runs.pop(), runs.len()) {
        (Some(run), 0) => Ok(run),
        (_, others) => {
            let found = if others == 0 { 0 } else { others + 1 };
            Err(Failure::Input(format!(
                "{name}: expected one run, found {found}: `proofmill bench import` it and name one of its runs"
            )))
        }
    }
}

/// A run's rows, or only those of one implementation.
fn side<'a>(run: &'a BenchRun, implementation: Option<&'a str>) -> Result<Side<'a>, Failure> {
    let Some(name) = implementation else { return Ok(Side { run, implementation }) };
    let mut names: Vec<&str> =
        run.measurements.iter().map(|measurement| measurement.row.implementation.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.contains(&name) {
        return Ok(Side { run, implementation });
    }
    Err(Failure::Input(format!("run {}: expected one of {}, found {name}", run.label, names.join(", "))))
}

fn text(first: Side<'_>, second: Side<'_>, comparison: &Comparison, per: Per) -> String {
    let (symbol, better) = match per {
        Per::Second => ("s", ""),
        Per::Watt => ("J", ", per watt"),
        Per::Dollar => ("$", ", per dollar"),
    };
    let headings = ["", "A", "B", "ratio", "95 % interval", "B is"];
    let mut lines = vec![headings.map(str::to_owned).to_vec()];
    lines.extend(comparison.rows.iter().map(|row| {
        let unit = unit(second.run, row);
        let rate = |cost: f64| format!("{} {unit}/{symbol}", numbers::scaled(1.0 / cost));
        let interval = interval(&row.ratio).unwrap_or_default();
        let ratio = format!("{} x", numbers::three_digits(row.ratio.ratio));
        vec![name(row), rate(row.first), rate(row.second), ratio, interval, row.verdict.to_string()]
    }));
    let mut text = format!("A: {}\nB: {}\n", described(first), described(second));
    // Writing to a string cannot fail.
    for Doubt { run, warning } in &comparison.doubts {
        let _ = writeln!(text, "warning: {run}: {warning}");
    }
    text.push('\n');
    if comparison.rows.is_empty() {
        text += "no row of A is comparable with one of B\n";
    } else {
        text += &table::table(&lines);
    }
    for Mean { family, mean, verdict } in &comparison.families {
        let ratio = numbers::three_digits(mean.ratio.ratio);
        let interval = interval(&mean.ratio).map_or_else(String::new, |ends| format!(" ({ends})"));
        let rows = counted(mean.rows, "row");
        let _ = write!(text, "\n{family}: {ratio} x{interval}, geometric mean of {rows}: {verdict}");
    }
    let word = if better.is_empty() { "fast" } else { "much" };
    let _ = writeln!(text, "\n\nratio: how many times as {word} B is{better}");
    for (count, whose) in [(comparison.only_first, "A"), (comparison.only_second, "B")] {
        if count > 0 {
            let _ = writeln!(text, "only in {whose}: {}", counted(count, "row"));
        }
    }
    for (reason, count) in &comparison.incomparable {
        let _ = writeln!(text, "not compared: {} {reason}", counted(*count, "row"));
    }
    text
}

fn interval(ratio: &Ratio) -> Option<String> {
    let (low, high) = ratio.interval?;
    Some(format!("{} to {}", numbers::three_digits(low), numbers::three_digits(high)))
}

fn described(side: Side<'_>) -> String {
    let BenchRun { id, label, machine, .. } = side.run;
    let implementation = side.implementation.map_or_else(String::new, |name| format!(", {name}"));
    let cpu = if machine.cpu == *label { String::new() } else { format!(", {}", machine.cpu) };
    format!("{label} ({}{cpu}){implementation}", &id[..8])
}

fn name(row: &Compared) -> String {
    let row = &row.row;
    let size = row.size.map_or_else(String::new, |size| format!("/{}", Size(size)));
    let threads = counted(row.threads as usize, "thread");
    format!("{}/{}{size}, {}, {threads}", row.family, row.benchmark, row.implementation)
}

/// The unit of the row's work.
fn unit<'a>(run: &'a BenchRun, row: &Compared) -> &'a str {
    let of_row = run.measurements.iter().find_map(|measurement| match &measurement.outcome {
        RowOutcome::Measured(figures) if measurement.row == row.row => Some(figures.unit.as_str()),
        _ => None,
    });
    of_row.unwrap_or_default()
}
