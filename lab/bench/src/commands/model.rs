//! `bench model`.

use super::{numbers, recording::Database, store::named, table::table};
use clap::Args;
use proofmill_bench::{
    definition::{Size, Threads},
    model::{self, Assumption, Assumptions, ModelQuestion, Projection, RowChoice, Scenario, Subject},
};
use proofmill_console::{Failure, Options, Outcome};
use std::fmt::Write as _;

/// Arguments of `model`.
#[derive(Args, Debug)]
pub(crate) struct ModelArguments {
    /// The run to start from: its id, the id's beginning, its label, latest, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// Use the paper's own inputs instead of a run
    #[arg(long, conflicts_with_all = ["run", "reference"])]
    paper: bool,
    /// Runs of other machines to compare with
    #[arg(long, value_name = "RUN", value_delimiter = ',')]
    reference: Vec<String>,
    /// The work: family/benchmark of `proofmill bench list`, at the fastest level measured or the one of
    /// --level
    #[arg(long, value_name = "FAMILY/BENCHMARK", default_value = "merkle/poseidon")]
    work: String,
    /// The size of the work [default: the largest measured]
    #[arg(long, value_name = "SIZE")]
    size: Option<Size>,
    /// Frequencies in GHz [default: the references', and the base's own]
    #[arg(long, value_name = "GHZ", value_delimiter = ',')]
    frequency: Vec<f64>,
    /// Lengths of vectors in bits [default: those with counts of instructions, and the base's own]
    #[arg(long, value_name = "BITS", value_delimiter = ',')]
    vector_bits: Vec<u32>,
    /// Instructions at a length of vectors as a share of the base's, where they are not counted
    #[arg(long, value_name = "BITS=SHARE", value_delimiter = ',', value_parser = ratio)]
    instruction_ratio: Vec<(u32, f64)>,
    /// If the CPU's cycles could not be counted, take time multiplied by measured frequency instead
    #[arg(long)]
    cycles_from_time: bool,
    #[command(flatten)]
    assumptions: AssumptionArguments,
    #[command(flatten)]
    database: Database,
}

/// The model's parameters; each default and its source is printed with the result.
#[derive(Args, Debug)]
#[command(next_help_heading = "Assumptions")]
struct AssumptionArguments {
    /// Share of the base's time that depends on neither frequency nor vectors [default: 0]
    #[arg(long, value_name = "SHARE")]
    fixed_share: Option<f64>,
    /// Dynamic power as a share of the CPU's [default: 0.5]
    #[arg(long, value_name = "SHARE")]
    dynamic_share: Option<f64>,
    /// The CPU's power as a share of the server's [default: 0.61]
    #[arg(long, value_name = "SHARE")]
    cpu_share: Option<f64>,
    /// Cost of power as a share of the total cost of ownership, several for a range [default: 0.13]
    #[arg(long, value_name = "SHARE", value_delimiter = ',')]
    power_share_of_tco: Option<Vec<f64>>,
    /// Dynamic power grows as this power of the frequency; 3 if voltage grows with it [default: 1]
    #[arg(long, value_name = "EXPONENT")]
    frequency_exponent: Option<f64>,
    /// Dynamic power grows as this power of the vectors' length [default: 1]
    #[arg(long, value_name = "EXPONENT")]
    vector_exponent: Option<f64>,
    /// Dynamic power of every changed machine as a multiple of the base's, instead of the exponents
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["frequency_exponent", "vector_exponent"])]
    dynamic_growth: Option<f64>,
}

impl AssumptionArguments {
    fn assumptions(&self) -> Assumptions {
        let default = Assumptions::default();
        Assumptions {
            fixed_share: self.fixed_share.unwrap_or(default.fixed_share),
            dynamic_share: self.dynamic_share.unwrap_or(default.dynamic_share),
            cpu_share: self.cpu_share.unwrap_or(default.cpu_share),
            power_share_of_tco: self.power_share_of_tco.clone().unwrap_or(default.power_share_of_tco),
            frequency_exponent: self.frequency_exponent.unwrap_or(default.frequency_exponent),
            vector_exponent: self.vector_exponent.unwrap_or(default.vector_exponent),
            dynamic_growth: self.dynamic_growth,
        }
    }
}

pub(super) fn run(arguments: &ModelArguments, options: &Options) -> Result<Outcome, Failure> {
    let question = ModelQuestion {
        hertz: arguments.frequency.iter().map(|gigahertz| gigahertz * 1e9).collect(),
        vector_bits: arguments.vector_bits.clone(),
        instruction_ratios: arguments.instruction_ratio.clone(),
        assumptions: arguments.assumptions.assumptions(),
    };
    let projection = if arguments.paper {
        model::paper(&question)?
    } else {
        let threads = options.threads.as_ref().and_then(|threads| match threads.0.first() {
            Some(Threads::Count(count)) => Some(*count),
            _ => None,
        });
        let choice = RowChoice {
            work: arguments.work.clone(),
            size: arguments.size.map(|size| size.0),
            threads,
            implementation: options.level.clone(),
            cycles_from_time: arguments.cycles_from_time,
        };
        let names: Vec<String> =
            std::iter::once(&arguments.run).chain(&arguments.reference).cloned().collect();
        let runs = named(&arguments.database, &names)?;
        let (run, references) =
            runs.split_first().ok_or_else(|| Failure::Input("expected a run".to_owned()))?;
        model::of_runs(run, references, &choice, &question)?
    };
    let result = serde_json::to_value(&projection).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(Outcome { text: text(&projection), ..Outcome::done(result) })
}

/// The result as text: the references, each base's scenarios, the assumptions.
fn text(projection: &Projection) -> String {
    let mut text = format!("{} ({})\n", projection.title, projection.source);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "time in {}; other columns are multiples of the base's; against: how many times as fast as the reference",
        projection.unit
    );
    if !projection.references.is_empty() {
        text += "\nreferences\n";
    }
    for (index, reference) in projection.references.iter().enumerate() {
        let _ = writeln!(text, "  [{}] {}", index + 1, subject(reference, &projection.unit));
    }
    for (index, base) in projection.bases.iter().enumerate() {
        let _ = writeln!(text, "\n{}", subject(base, &projection.unit));
        let headings =
            ["bits", "GHz", "instructions", "time", "faster", "power", "energy", "cost"].map(str::to_owned);
        let against = (1..=projection.references.len()).map(|index| format!("against [{index}]"));
        let mut lines = vec![headings.into_iter().chain(against).collect()];
        let scenarios = projection.scenarios.iter().filter(|scenario| scenario.base == index);
        lines.extend(scenarios.map(|scenario| line(scenario, &projection.unit)));
        text += &table(&lines);
    }
    text += "\nassumptions\n";
    for Assumption { name, meaning, values, source } in &projection.assumptions {
        let values = values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let _ = writeln!(text, "  {:<26} {meaning} ({source})", format!("--{name} {values}"));
    }
    for note in &projection.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// A machine as measured.
fn subject(subject: &Subject, unit: &str) -> String {
    let mut text =
        format!("{}: {} bits, {}", subject.name, subject.vector_bits, range(subject.time, |t| time(t, unit)));
    // Writing to a string cannot fail.
    let _ = match subject.hertz {
        hertz if hertz > 0.0 => write!(text, " at {:.2} GHz", hertz / 1e9),
        _ => Ok(()),
    };
    if let Some(cycles) = subject.cycles {
        let how = if subject.cycles_from_time { " (time times frequency)" } else { "" };
        let _ = write!(text, ", {}cycles{how}", numbers::scaled(cycles));
    }
    if let (Some(instructions), Some(cycles)) = (subject.instructions, subject.cycles) {
        let each = numbers::three_digits(instructions / cycles);
        let _ = write!(text, ", {}instructions, {each} a cycle", numbers::scaled(instructions));
    }
    if let Some(dollars) = subject.dollars_per_hour {
        let _ = write!(text, ", ${dollars} an hour");
    }
    text
}

/// The cells of a scenario, in the order of the headings.
fn line(scenario: &Scenario, unit: &str) -> Vec<String> {
    let two = |number: f64| format!("{number:.2}");
    let mut cells = vec![
        scenario.vector_bits.to_string(),
        two(scenario.hertz / 1e9),
        format!("{:.3}", scenario.instruction_ratio),
        time(scenario.time, unit),
        two(scenario.speedup),
        two(scenario.server_power),
        two(scenario.energy),
        scenario.cost.iter().map(|cost| format!("{cost:.3}")).collect::<Vec<_>>().join(".."),
    ];
    cells.extend(scenario.against.iter().map(|against| range(against.faster, two)));
    cells
}

fn time(time: f64, unit: &str) -> String {
    if unit == "seconds" { numbers::time(time) } else { format!("{time:.2}") }
}

/// One number, or an interval.
fn range([low, high]: [f64; 2], text: impl Fn(f64) -> String) -> String {
    if low == high { text(low) } else { format!("{}..{}", text(low), text(high)) }
}

fn ratio(text: &str) -> Result<(u32, f64), String> {
    let parsed =
        text.split_once('=').and_then(|(bits, share)| Some((bits.parse().ok()?, share.parse().ok()?)));
    parsed.ok_or_else(|| format!("expected bits and a share such as 256=0.5, found {text}"))
}
