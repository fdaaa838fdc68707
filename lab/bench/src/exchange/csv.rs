//! Runs as comma-separated values (RFC 4180): a line for each measurement.
//!
//! | column | |
//! |---|---|
//! | `run`, `label` | the run's id and name |
//! | `suite` ... `threads` | the row: what was measured |
//! | `version`, `ended`, `status` | version of a peer or program; end time; `measured`, `checked`, `absent` or `failed` |
//! | `median`, `per_second` | derived from the samples: seconds of an iteration, units per second. Ignored when read |
//! | `seconds` | all samples, separated by spaces |
//! | `clock` ... `bytes_out`, `watts` | the other figures; `phases` as JSON |
//! | `detail` | a checked row's answer, an absent program's remedy, a failure's reason |
//! | `facts` | in the first line of each run: the run without its measurements, as JSON, as in an export of JSON |
//!
//! Absent figures are empty. A run without measurements has one line, with an empty `status`. A text that a
//! spreadsheet could take for a formula, or that begins with `'`, is written with a `'` in front; reading
//! removes it.

use super::check_format;
use crate::{
    record::{BenchRun, Clock, FORMAT, Figures, Measurement, RowKey, RowOutcome, Suite},
    statistics,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, fmt::Display, str::FromStr};

/// The columns, in the order in which they are written. Reading accepts any order.
pub const COLUMNS: [&str; 26] = [
    "run",
    "label",
    "suite",
    "family",
    "benchmark",
    "size",
    "implementation",
    "threads",
    "version",
    "ended",
    "status",
    "median",
    "per_second",
    "seconds",
    "clock",
    "amount",
    "unit",
    "answer",
    "cycles",
    "instructions",
    "phases",
    "peak_memory",
    "bytes_out",
    "watts",
    "detail",
    "facts",
];

/// Columns that may be missing when a file is read.
const DERIVED: [&str; 3] = ["label", "median", "per_second"];

#[derive(Serialize, Deserialize)]
struct Facts {
    format: u32,
    #[serde(flatten)]
    run: BenchRun,
}

/// The text of a file of `runs`.
pub(super) fn write(runs: &[BenchRun]) -> Result<String, String> {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    let problem = |error: ::csv::Error| error.to_string();
    writer.write_record(COLUMNS).map_err(problem)?;
    for run in runs {
        let facts = Facts { format: FORMAT, run: BenchRun { measurements: Vec::new(), ..run.clone() } };
        let mut facts = json(&facts)?;
        if run.measurements.is_empty() {
            let cells = Cells::from([("run", run.id.clone()), ("label", safe(&run.label)), ("facts", facts)]);
            writer.write_record(in_order(&cells)).map_err(problem)?;
            continue;
        }
        for measurement in &run.measurements {
            let mut cells = cells(measurement)?;
            cells.extend([("run", run.id.clone()), ("label", safe(&run.label))]);
            cells.insert("facts", std::mem::take(&mut facts));
            writer.write_record(in_order(&cells)).map_err(problem)?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// A line's cells by column; missing cells are empty.
type Cells = BTreeMap<&'static str, String>;

fn in_order(cells: &Cells) -> impl Iterator<Item = &str> {
    COLUMNS.iter().map(|column| cells.get(column).map_or("", String::as_str))
}

fn cells(measurement: &Measurement) -> Result<Cells, String> {
    let Measurement { row, version, ended, outcome } = measurement;
    let RowKey { suite, family, benchmark, size, implementation, threads } = row;
    let mut cells = Cells::from([
        ("suite", json(suite)?.trim_matches('"').to_owned()),
        ("family", safe(family)),
        ("benchmark", safe(benchmark)),
        ("size", optional(size.as_ref())),
        ("implementation", safe(implementation)),
        ("threads", threads.to_string()),
        ("version", version.as_deref().map(safe).unwrap_or_default()),
        ("ended", ended.to_string()),
    ]);
    let (status, detail) = match outcome {
        RowOutcome::Measured(figures) => {
            cells.extend(figures_cells(figures)?);
            ("measured", "")
        }
        RowOutcome::Checked { answer } => ("checked", answer.as_str()),
        RowOutcome::Absent { remedy } => ("absent", remedy.as_str()),
        RowOutcome::Failed { reason } => ("failed", reason.as_str()),
    };
    cells.extend([("status", status.to_owned()), ("detail", safe(detail))]);
    Ok(cells)
}

fn figures_cells(figures: &Figures) -> Result<Cells, String> {
    let Figures {
        seconds,
        clock,
        amount,
        unit,
        answer,
        cycles,
        instructions,
        phases,
        peak_memory,
        bytes_out,
        watts,
    } = figures;
    let median = statistics::median(seconds);
    let samples: Vec<String> = seconds.iter().map(f64::to_string).collect();
    Ok(Cells::from([
        ("median", optional(median.as_ref())),
        ("per_second", optional(median.map(|median| amount / median).as_ref())),
        ("seconds", samples.join(" ")),
        ("clock", json(clock)?.trim_matches('"').to_owned()),
        ("amount", amount.to_string()),
        ("unit", safe(unit)),
        ("answer", answer.as_deref().map(safe).unwrap_or_default()),
        ("cycles", optional(cycles.as_ref())),
        ("instructions", optional(instructions.as_ref())),
        ("phases", if phases.is_empty() { String::new() } else { json(phases)? }),
        ("peak_memory", optional(peak_memory.as_ref())),
        ("bytes_out", optional(bytes_out.as_ref())),
        ("watts", optional(watts.as_ref())),
    ]))
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn optional(value: Option<&impl Display>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}

/// A text that no spreadsheet takes for a formula.
fn safe(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\'']) { format!("'{text}") } else { text.to_owned() }
}

/// The runs of a file's bytes, in the order of their first lines.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<BenchRun>, String> {
    let mut reader = ::csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut places = BTreeMap::new();
    for column in COLUMNS {
        match headers.iter().position(|header| header == column) {
            Some(place) => _ = places.insert(column, place),
            None if DERIVED.contains(&column) => {}
            None => return Err(format!("expected a column {column} in the first line, found none")),
        }
    }
    let mut runs: Vec<BenchRun> = Vec::new();
    let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
    for (number, record) in (2..).zip(reader.records()) {
        let record = record.map_err(|error| error.to_string())?;
        if record.len() != headers.len() {
            let (expected, found) = (headers.len(), record.len());
            return Err(format!("line {number}: expected {expected} cells, found {found}"));
        }
        let line = Line { places: &places, record: &record };
        line.read(&mut runs, &mut by_id).map_err(|problem| format!("line {number}: {problem}"))?;
    }
    Ok(runs)
}

/// A line being read.
struct Line<'a> {
    places: &'a BTreeMap<&'static str, usize>,
    record: &'a ::csv::StringRecord,
}

impl Line<'_> {
    /// Adds the line's measurement to its run. A run's first line adds the run.
    fn read(&self, runs: &mut Vec<BenchRun>, by_id: &mut BTreeMap<String, usize>) -> Result<(), String> {
        let id = self.cell("run");
        if let Some(Facts { format, run }) = self.json("facts")? {
            check_format(format)?;
            if run.id != id || !run.measurements.is_empty() {
                return Err(format!("facts: expected those of run {id} alone, found those of {}", run.id));
            }
            if by_id.insert(run.id.clone(), runs.len()).is_some() {
                return Err(format!("facts: those of run {id} appear twice"));
            }
            runs.push(run);
        }
        let run = by_id.get(id).and_then(|place| runs.get_mut(*place));
        let run =
            run.ok_or_else(|| format!("facts: expected those of run {id} in its first line, found none"))?;
        if !self.cell("status").is_empty() {
            run.measurements.push(self.measurement()?);
        }
        Ok(())
    }

    fn measurement(&self) -> Result<Measurement, String> {
        let row = RowKey {
            suite: self.word::<Suite>("suite")?,
            family: self.text("family"),
            benchmark: self.text("benchmark"),
            size: self.optional("size")?,
            implementation: self.text("implementation"),
            threads: self.number("threads")?,
        };
        let outcome = match self.cell("status") {
            "measured" => RowOutcome::Measured(self.figures()?),
            "checked" => RowOutcome::Checked { answer: self.text("detail") },
            "absent" => RowOutcome::Absent { remedy: self.text("detail") },
            "failed" => RowOutcome::Failed { reason: self.text("detail") },
            other => {
                return Err(format!("status: expected measured, checked, absent or failed, found {other}"));
            }
        };
        Ok(Measurement { row, version: self.present("version"), ended: self.number("ended")?, outcome })
    }

    fn figures(&self) -> Result<Figures, String> {
        let seconds = self.cell("seconds").split_ascii_whitespace().map(|text| parse("seconds", text));
        Ok(Figures {
            seconds: seconds.collect::<Result<_, _>>()?,
            clock: self.word::<Clock>("clock")?,
            amount: self.number("amount")?,
            unit: self.text("unit"),
            answer: self.present("answer"),
            cycles: self.optional("cycles")?,
            instructions: self.optional("instructions")?,
            phases: self.json("phases")?.unwrap_or_default(),
            peak_memory: self.optional("peak_memory")?,
            bytes_out: self.optional("bytes_out")?,
            watts: self.optional("watts")?,
        })
    }

    fn cell(&self, column: &str) -> &str {
        self.places.get(column).and_then(|place| self.record.get(*place)).unwrap_or_default()
    }

    /// The cell's text without the `'` that [`safe`] adds.
    fn text(&self, column: &str) -> String {
        let cell = self.cell(column);
        cell.strip_prefix('\'').unwrap_or(cell).to_owned()
    }

    fn present(&self, column: &str) -> Option<String> {
        (!self.cell(column).is_empty()).then(|| self.text(column))
    }

    fn number<T: FromStr>(&self, column: &str) -> Result<T, String> {
        parse(column, self.cell(column))
    }

    fn optional<T: FromStr>(&self, column: &str) -> Result<Option<T>, String> {
        if self.cell(column).is_empty() { Ok(None) } else { self.number(column).map(Some) }
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, String> {
        let cell = self.cell(column);
        if cell.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(cell).map(Some).map_err(|error| format!("{column}: {error}"))
    }

    /// A value that JSON writes as one word.
    fn word<T: DeserializeOwned>(&self, column: &str) -> Result<T, String> {
        let word = serde_json::Value::from(self.cell(column));
        serde_json::from_value(word).map_err(|error| format!("{column}: {error}"))
    }
}

fn parse<T: FromStr>(column: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{column}: expected a number or a moment, found {text:?}"))
}
