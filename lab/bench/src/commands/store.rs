//! `bench runs`, `export`, `import` and `remove`: lists, writes, reads and removes runs of the store.

use super::{recording::Database, table};
use clap::Args;
use jiff::{SignedDuration, tz::TimeZone};
use proofmill_bench::{
    exchange::{self, ExchangeFormat},
    record::BenchRun,
    store::Imported,
};
use proofmill_console::{Failure, Outcome};
use proofmill_files::write_texts;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments of `runs`.
#[derive(Args, Debug)]
pub(crate) struct RunsArguments {
    #[command(flatten)]
    database: Database,
}

/// Arguments of `export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// Ids or their beginnings, labels, or latest [default: all]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// The file to write; its name ends in .json (for programs) or .csv (for spreadsheets)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Write a record, as those in lab/records: a line of figures for each measured row, in a .csv that cannot be imported
    #[arg(long)]
    record: bool,
    #[command(flatten)]
    database: Database,
}

/// Arguments of `import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// Exports of other machines, .json or .csv
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    database: Database,
}

/// Arguments of `remove`.
#[derive(Args, Debug)]
pub(crate) struct RemoveArguments {
    /// An id or its beginning, a label, or latest
    #[arg(value_name = "RUN")]
    run: String,
    #[command(flatten)]
    database: Database,
}

impl ExportArguments {
    pub(super) fn outputs(&self) -> Vec<&Path> {
        vec![&self.out]
    }
}

/// The runs that names mean in the store, and all runs of exported files, in order.
pub(super) fn named(database: &Database, names: &[String]) -> Result<Vec<BenchRun>, Failure> {
    let mut store = None;
    let mut runs = Vec::new();
    for name in names {
        let path = Path::new(name);
        if ExchangeFormat::of(path).is_ok() && path.exists() {
            runs.extend(exchange::read(path)?);
            continue;
        }
        let store = match &mut store {
            Some(store) => store,
            none => none.insert(database.open()?),
        };
        runs.push(store.run(name)?);
    }
    Ok(runs)
}

/// Digits of an id that are shown; they identify the run unless there are many thousands.
const SHOWN: usize = 8;

pub(super) fn list(arguments: &RunsArguments) -> Result<Outcome, Failure> {
    let store = arguments.database.open()?;
    let counts = store.counts()?;
    let mut lines = vec![["run", "began (UTC)", "took", "rows", "label", "CPU"].map(str::to_owned).to_vec()];
    let mut listed = Vec::new();
    for run in store.runs()? {
        let rows = counts.get(&run.id).copied().unwrap_or_default();
        let began = run.began.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M").to_string();
        let took = run.ended.map_or("unfinished".to_owned(), |ended| took(ended.duration_since(run.began)));
        let id: String = run.id.chars().take(SHOWN).collect();
        lines.push(vec![id, began, took, rows.to_string(), run.label.clone(), run.machine.cpu.clone()]);
        let mut object = serde_json::to_value(&run).map_err(|error| Failure::Input(error.to_string()))?;
        object["rows"] = rows.into();
        listed.push(object);
    }
    let text = match listed.is_empty() {
        true => "no runs yet; `proofmill bench run` makes one\n".to_owned(),
        false => table::table(&lines),
    };
    Ok(Outcome { text, ..Outcome::done(Value::Array(listed)) })
}

fn took(time: SignedDuration) -> String {
    let seconds = time.as_secs();
    match seconds {
        ..90 => format!("{seconds} s"),
        90..5400 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

pub(super) fn export(arguments: &ExportArguments) -> Result<Outcome, Failure> {
    let format = ExchangeFormat::of(&arguments.out)?;
    let store = arguments.database.open()?;
    let names: Vec<String> = match arguments.runs.is_empty() {
        true => store.runs()?.into_iter().map(|run| run.id).collect(),
        false => arguments.runs.clone(),
    };
    let runs = names.iter().map(|name| store.run(name)).collect::<Result<Vec<_>, _>>()?;
    if runs.is_empty() {
        return Err(Failure::Input("there are no runs to export".to_owned()));
    }
    let text = match (arguments.record, format) {
        (false, _) => format.write(&runs).map_err(|problem| Failure::about(&arguments.out, problem))?,
        (true, ExchangeFormat::Csv) => exchange::lab_record::write(&runs),
        (true, ExchangeFormat::Json) => {
            return Err(Failure::about(&arguments.out, "expected a name that ends in .csv"));
        }
    };
    write_texts(&[(&arguments.out, &text)])?;
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let text = format!("{} to {}\n", counted(runs.len(), "run"), arguments.out.display());
    Ok(Outcome { text, ..Outcome::done(json!({ "file": arguments.out, "runs": ids })) })
}

pub(super) fn import(arguments: &ImportArguments) -> Result<Outcome, Failure> {
    let store = arguments.database.open()?;
    // All files are read before any run is stored.
    let files = arguments.files.iter().map(|path| exchange::read(path).map(|runs| (path, runs)));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let (mut text, mut results) = (String::new(), Vec::new());
    for (path, runs) in files {
        let imported = store.import(&runs)?;
        let added = imported.iter().filter(|imported| **imported == Imported::Added).count();
        let present = match runs.len() - added {
            0 => String::new(),
            present => format!(", {present} already here"),
        };
        text += &format!("{}: {} imported{present}\n", path.display(), counted(added, "run"));
        let ids = |wanted| {
            let runs = runs.iter().zip(&imported).filter(move |(_, imported)| **imported == wanted);
            runs.map(|(run, _)| run.id.as_str()).collect::<Vec<_>>()
        };
        results.push(json!({
            "file": path,
            "imported": ids(Imported::Added),
            "present": ids(Imported::Present),
        }));
    }
    Ok(Outcome { text, ..Outcome::done(Value::Array(results)) })
}

pub(super) fn remove(arguments: &RemoveArguments) -> Result<Outcome, Failure> {
    let run = arguments.database.open()?.remove(&arguments.run)?;
    let text = format!("run {} ({}) removed\n", run.id, run.label);
    Ok(Outcome { text, ..Outcome::done(json!({ "removed": run.id })) })
}

/// `1 run`, `2 runs`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
