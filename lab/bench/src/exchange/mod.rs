//! Files that carry runs from one machine to another: JSON, and CSV for spreadsheets. Both contain all data
//! of a run.
//!
//! JSON is one object, `{"format": 1, "runs": [...]}`, of runs as defined in [`record`](crate::record).
//! [`csv`] describes the columns of CSV. Files are untrusted: at most [`LIMIT`] bytes of one are read, and
//! every run must pass the check of [`bounds`].
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod csv;
pub mod lab_record;

use crate::{
    BenchError, bounds,
    record::{BenchRun, FORMAT},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fs::File, io::Read, path::Path};

/// The greatest length of a file in bytes: enough for some hundred complete runs.
pub const LIMIT: u64 = 64 << 20;

/// A file format for runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExchangeFormat {
    /// JSON, for programs.
    Json,
    /// CSV, for spreadsheets.
    Csv,
}

impl ExchangeFormat {
    /// The format for a file name's ending, `.json` or `.csv`.
    ///
    /// # Errors
    /// Another ending.
    pub fn of(path: &Path) -> Result<Self, BenchError> {
        match path.extension().map(|ending| ending.to_ascii_lowercase()) {
            Some(ending) if ending == "json" => Ok(Self::Json),
            Some(ending) if ending == "csv" => Ok(Self::Csv),
            _ => Err(malformed(path, "expected a name that ends in .json or .csv".to_owned())),
        }
    }

    /// The contents of a file of `runs`.
    ///
    /// # Errors
    /// A sentence, for runs that reading would refuse: out of bounds, repeated, or too long for one file.
    pub fn write(self, runs: &[BenchRun]) -> Result<String, String> {
        check(runs)?;
        let text = match self {
            Self::Json => to_json(runs)?,
            Self::Csv => csv::write(runs)?,
        };
        if text.len() as u64 > LIMIT {
            let (length, most) = (text.len() >> 20, LIMIT >> 20);
            return Err(format!(
                "{length} MiB, and files of more than {most} MiB are not read: write fewer runs to each"
            ));
        }
        Ok(text)
    }

    /// Parses the runs of a file's contents.
    ///
    /// # Errors
    /// A sentence on one line: what was expected, what was found and where.
    pub fn read(self, bytes: &[u8]) -> Result<Vec<BenchRun>, String> {
        let runs = match self {
            Self::Json => from_json(bytes),
            Self::Csv => csv::read(bytes),
        };
        let runs = runs.and_then(|runs| check(&runs).map(|()| runs));
        // Messages quote parts of the input.
        runs.map_err(|problem| bounds::one_line(&problem).chars().take(400).collect())
    }
}

/// Reads the runs of a file. The ending of its name gives the format.
///
/// # Errors
/// A file that cannot be read, that is longer than [`LIMIT`], or that is not an export of runs.
pub fn read(path: &Path) -> Result<Vec<BenchRun>, BenchError> {
    let format = ExchangeFormat::of(path)?;
    let io = |source| BenchError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path).map_err(io)?.take(LIMIT + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > LIMIT {
        return Err(malformed(path, format!("expected {} MiB at most, found more", LIMIT >> 20)));
    }
    format.read(&bytes).map_err(|problem| malformed(path, problem))
}

#[derive(Serialize)]
struct Written<'a> {
    format: u32,
    runs: &'a [BenchRun],
}

#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

#[derive(Deserialize)]
struct Runs {
    runs: Vec<BenchRun>,
}

fn to_json(runs: &[BenchRun]) -> Result<String, String> {
    let text = serde_json::to_string(&Written { format: FORMAT, runs });
    text.map(|text| text + "\n").map_err(|error| error.to_string())
}

fn from_json(bytes: &[u8]) -> Result<Vec<BenchRun>, String> {
    let problem = |error: serde_json::Error| format!("expected an export of runs: {error}");
    // Only the format number is read first: a newer format may differ in everything else.
    let Versioned { format } = serde_json::from_slice(bytes).map_err(problem)?;
    check_format(format)?;
    let Runs { runs } = serde_json::from_slice(bytes).map_err(problem)?;
    Ok(runs)
}

fn check_format(format: u32) -> Result<(), String> {
    match format {
        1..=FORMAT => Ok(()),
        0 => Err("expected format 1 or newer, found 0".to_owned()),
        _ => Err(format!(
            "expected format {FORMAT} or older, found {format}: a newer Proofmill wrote it; update this one"
        )),
    }
}

fn check(runs: &[BenchRun]) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for run in runs {
        bounds::check(run).map_err(|problem| format!("run {}: {problem}", run.id))?;
        if !ids.insert(&run.id) {
            return Err(format!("run {} appears twice", run.id));
        }
    }
    Ok(())
}

fn malformed(path: &Path, problem: String) -> BenchError {
    BenchError::Malformed { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests;
