//! Test cases of BLS signatures in files: JSON, and YAML in the format of ethereum/bls12-381-tests and the
//! consensus specification.

use clap::Args;
use proofmill_bls::vectors::{self, KINDS};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_cpu::Level;
use proofmill_run::Run;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};
use yaml_rust2::{Event, ScanError, Yaml, YamlLoader, parser::Parser};

/// The largest file of a case, in bytes.
const MOST_CASE: u64 = 1 << 22;

/// The greatest depth of nested values; cases need three.
const MOST_DEPTH: u32 = 16;

/// Arguments of `bls-vectors`.
#[derive(Args, Debug)]
pub(crate) struct BlsVectorsArguments {
    /// The folder to search, with its subfolders
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(super) fn run(vectors: &BlsVectorsArguments, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock().expect(1);
    machine.run(|Run { level, progress, .. }| {
        progress.begin("run cases");
        run_all(level, &vectors.folder)
    })
}

/// Runs every case under a folder. The command fails if any case fails.
fn run_all(level: Level, folder: &Path) -> Result<Outcome, Failure> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    if files.is_empty() {
        return Err(Failure::about(folder, "expected files of test cases, .json, .yaml or .yml, found none"));
    }
    let verdicts: Vec<Result<(), String>> = files.par_iter().map(|path| case(level, path)).collect();
    let (mut text, mut failures) = (String::new(), Vec::new());
    for (path, verdict) in files.iter().zip(&verdicts) {
        if let Err(problem) = verdict {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "FAILED {}: {problem}", path.display());
            failures.push(json!({ "file": path, "problem": problem }));
        }
    }
    let (failed, passed) = (failures.len(), files.len() - failures.len());
    let _ = writeln!(text, "{passed} passed, {failed} failed");
    let failure =
        (failed > 0).then(|| Failure::Rejected(format!("{failed} of {} cases failed", files.len())));
    let result = json!({ "passed": passed, "failed": failed, "failures": failures });
    Ok(Outcome { text, failure, ..Outcome::done(result) })
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failure = |source| Failure::io(folder, source);
    for entry in fs::read_dir(folder).map_err(failure)? {
        let entry = entry.map_err(failure)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failure)?);
        // Links are not followed, so that no folder is visited twice.
        if kind.is_dir() {
            collect(&path, files)?;
        } else if kind.is_file() && is_case(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_case(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json" || end == "yaml" || end == "yml")
}

/// Runs one case.
///
/// # Errors
/// The reason why the case does not pass.
fn case(level: Level, path: &Path) -> Result<(), String> {
    let folders = path.parent().into_iter().flat_map(Path::iter).rev();
    let kind = folders.filter_map(|name| name.to_str()).find(|name| KINDS.contains(name));
    let kind = kind.ok_or("expected a folder in its path that is named after the tested function")?;
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > MOST_CASE {
        return Err(format!("expected at most {MOST_CASE} bytes, found {length}"));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let case = if path.extension().is_some_and(|end| end == "json") {
        serde_json::from_str(&text).map_err(|error| format!("no JSON: {error}"))?
    } else {
        yaml(&text)?
    };
    vectors::run(level, kind, &case).map_err(|error| error.to_string())
}

/// Converts a YAML document to a JSON value. Aliases are refused, because with them a short text can stand
/// for a value larger than memory. Nesting deeper than [`MOST_DEPTH`] is refused, because it could overflow
/// the stack.
fn yaml(text: &str) -> Result<Value, String> {
    let problem = |error: ScanError| format!("no YAML: {error}");
    let mut events = Parser::new_from_str(text);
    let mut depth = 0;
    loop {
        match events.next_token().map_err(problem)?.0 {
            Event::StreamEnd => break,
            Event::Alias(_) => return Err("expected YAML without aliases".to_owned()),
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth -= 1,
            _ => {}
        }
        if depth > MOST_DEPTH {
            return Err(format!("expected at most {MOST_DEPTH} collections inside each other"));
        }
    }
    match &YamlLoader::load_from_str(text).map_err(problem)?[..] {
        [document] => value(document),
        documents => Err(format!("expected one document, found {}", documents.len())),
    }
}

fn value(yaml: &Yaml) -> Result<Value, String> {
    Ok(match yaml {
        Yaml::Null => Value::Null,
        Yaml::Boolean(value) => (*value).into(),
        Yaml::Integer(value) => (*value).into(),
        Yaml::String(text) | Yaml::Real(text) => text.as_str().into(),
        Yaml::Array(list) => list.iter().map(value).collect::<Result<_, _>>()?,
        Yaml::Hash(pairs) => {
            let pairs = pairs.iter().map(|(name, entry)| {
                let name = name.as_str().ok_or("expected names that are strings")?;
                Ok::<_, String>((name.to_owned(), value(entry)?))
            });
            Value::Object(pairs.collect::<Result<Map<_, _>, _>>()?)
        }
        Yaml::Alias(_) | Yaml::BadValue => return Err("expected a value".to_owned()),
    })
}
