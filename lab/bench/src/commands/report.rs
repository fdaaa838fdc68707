//! `bench report`.

use super::recording::Database;
use crate::workloads;
use clap::Args;
use proofmill_bench::{
    exchange,
    model::{self, ModelQuestion},
    record::BenchRun,
    report::ReportPage,
    store::RunStore,
};
use proofmill_console::{Failure, Outcome};
use proofmill_files::write_text;
use proofmill_pipeline::explore::Exploration;
use serde::Deserialize;
use serde_json::json;
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Arguments of `report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// Runs of the store, or files of exported runs [default: latest]
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// The page to write
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// The run that the others are compared with when the page opens [default: the first one]
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// What `proofmill pipeline explore --json` has printed, as a section of the page
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    pipelines: Vec<PathBuf>,
    #[command(flatten)]
    database: Database,
}

impl ReportArguments {
    /// The page.
    pub(super) fn out(&self) -> &Path {
        &self.out
    }
}

pub(super) fn run(report: &ReportArguments) -> Result<Outcome, Failure> {
    let latest = ["latest".to_owned()];
    let mut source = Source { database: &report.database, store: None };
    let mut runs: Vec<BenchRun> = Vec::new();
    for name in if report.runs.is_empty() { &latest[..] } else { &report.runs[..] } {
        for run in source.runs(name)? {
            add(&mut runs, run);
        }
    }
    let baseline = match &report.baseline {
        None => 0,
        Some(name) => baseline(&mut source, name, &mut runs)?,
    };
    let families = workloads::definitions()?;
    let pipelines: Vec<_> =
        report.pipelines.iter().map(|path| exploration(path)).collect::<Result<_, _>>()?;
    let projections = [model::paper(&ModelQuestion::default())?];
    let page = ReportPage {
        runs: &runs,
        families: &families,
        baseline,
        projections: &projections,
        pipelines: &pipelines,
    };
    write_text(&report.out, &page.html())?;
    let answer = page.answer();
    let rows: usize = runs.iter().map(|run| run.measurements.len()).sum();
    let count = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    let mut text = format!("{}: {count}, {rows} rows\n", report.out.display());
    for question in &answer.questions {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{question}");
    }
    let ids: Vec<_> = runs.iter().map(|run| &run.id).collect();
    Ok(Outcome {
        text,
        ..Outcome::done(json!({ "out": report.out, "runs": ids, "rows": rows, "answer": answer.questions }))
    })
}

/// The result of a report of `pipeline explore`.
fn exploration(path: &Path) -> Result<Exploration, Failure> {
    #[derive(Deserialize)]
    struct Printed {
        result: Exploration,
    }
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io(path, error))?;
    let printed: Printed = serde_json::from_str(&text).map_err(|error| {
        let path = path.display();
        Failure::Input(format!("{path}: {error}: expected what `proofmill pipeline explore --json` prints"))
    })?;
    Ok(printed.result)
}

/// Adds a run unless it is already in the list; returns its index.
fn add(runs: &mut Vec<BenchRun>, run: BenchRun) -> usize {
    runs.iter().position(|known| known.id == run.id).unwrap_or_else(|| {
        runs.push(run);
        runs.len() - 1
    })
}

/// The index of the run that `name` means. The page's runs are searched first, since they may come from
/// files; a run of the store is added to them.
fn baseline(source: &mut Source<'_>, name: &str, runs: &mut Vec<BenchRun>) -> Result<usize, Failure> {
    let named: Vec<usize> =
        (0..runs.len()).filter(|&at| runs[at].label == name || runs[at].id.starts_with(name)).collect();
    if let [at] = named[..] {
        return Ok(at);
    }
    match <[BenchRun; 1]>::try_from(source.runs(name)?) {
        Ok([run]) => Ok(add(runs, run)),
        Err(found) => {
            Err(Failure::Input(format!("--baseline {name}: expected one run, found {}", found.len())))
        }
    }
}

/// Source of runs. The store is opened when a run of it is first needed.
struct Source<'a> {
    database: &'a Database,
    store: Option<RunStore>,
}

impl Source<'_> {
    /// All runs of a file, or the run that `name` means in the store.
    fn runs(&mut self, name: &str) -> Result<Vec<BenchRun>, Failure> {
        let path = Path::new(name);
        if path.extension().is_some_and(|ending| ending == "json" || ending == "csv") {
            return Ok(exchange::read(path)?);
        }
        let store = match self.store.take() {
            Some(store) => store,
            None => self.database.open()?,
        };
        Ok(vec![self.store.insert(store).run(name)?])
    }
}
