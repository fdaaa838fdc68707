//! `input`: the input of a benchmark, as peers' runners read it.

use crate::workloads::Workloads;
use clap::Args;
use proofmill_bench::{catalogue::Catalogue, definition::Size};
use proofmill_console::{Failure, Outcome};
use serde_json::json;
use std::{fs, path::PathBuf};

/// Arguments of `input`.
#[derive(Args, Debug)]
pub(crate) struct InputArguments {
    /// The benchmark, as family/benchmark
    #[arg(value_name = "BENCHMARK")]
    kernel: String,
    /// Such as 1000 or 2^10
    #[arg(value_name = "SIZE")]
    size: Size,
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(arguments: &InputArguments) -> Result<Outcome, Failure> {
    let InputArguments { kernel, size, file } = arguments;
    let bytes = Workloads::default().input(kernel, size.0).map_err(Failure::Input)?;
    fs::write(file, &bytes).map_err(|source| Failure::io(file, source))?;
    Ok(Outcome::done(json!({ "file": file, "bytes": bytes.len() })))
}
