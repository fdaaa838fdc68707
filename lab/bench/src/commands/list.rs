//! `bench list`.

use crate::workloads::{self, Workloads};
use clap::Args;
use proofmill_bench::{
    BenchError,
    catalogue::Catalogue,
    definition::{Benchmark, Family, Size},
};
use proofmill_console::{Failure, Outcome};
use serde_json::json;
use std::fmt::Write as _;

/// Arguments of `list`.
#[derive(Args, Debug)]
pub(crate) struct ListArguments {
    /// Any part of family/benchmark
    #[arg(value_name = "PATTERN")]
    pattern: Option<String>,
}

pub(super) fn run(list: &ListArguments) -> Result<Outcome, Failure> {
    let families = workloads::definitions()?;
    let workloads = Workloads::default();
    let mut text = String::new();
    let mut listed = Vec::new();
    for family in &families {
        let wanted = |benchmark: &&Benchmark| {
            let name = format!("{}/{}", family.name, benchmark.name);
            list.pattern.as_ref().is_none_or(|pattern| name.contains(pattern.as_str()))
        };
        let benchmarks: Vec<&Benchmark> = family.benchmarks.iter().filter(wanted).collect();
        if benchmarks.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", family.name, family.title);
        for benchmark in benchmarks {
            let levels = levels(&workloads, family, benchmark)?;
            let sizes = benchmark.sizes.iter().map(Size::to_string).collect::<Vec<_>>();
            let (name, sizes_text) = (&benchmark.name, sizes.join(" "));
            let _ =
                writeln!(text, "  {name:<24} {:<12} {sizes_text:<42} {}", benchmark.unit, levels.join(" "));
            listed.push(json!({
                "family": family.name,
                "benchmark": name,
                "unit": benchmark.unit,
                "sizes": benchmark.sizes.iter().map(|size| size.0).collect::<Vec<_>>(),
                "levels": levels,
                "target": family.target,
            }));
        }
    }
    if listed.is_empty() {
        return Err(Failure::Input(format!(
            "no benchmark's name has {} in it; `proofmill bench list` has them all",
            list.pattern.as_deref().unwrap_or_default()
        )));
    }
    Ok(Outcome { text, ..Outcome::done(json!(listed)) })
}

/// Names of the levels of this CPU at which the kernel differs.
fn levels(
    workloads: &Workloads,
    family: &Family,
    benchmark: &Benchmark,
) -> Result<Vec<&'static str>, BenchError> {
    let kernel = format!("{}/{}", family.name, benchmark.name);
    let levels = workloads.levels(&kernel).ok_or_else(|| BenchError::Definition {
        name: family.name.clone(),
        problem: format!("expected a kernel, found {}", benchmark.name),
    })?;
    Ok(levels.into_iter().map(|level| level.name()).collect())
}
