//! `answers`: the digests that definitions expect.

use crate::workloads::{self, Workloads};
use clap::Args;
use proofmill_bench::{catalogue::Catalogue, sampler::digest};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_cpu::Level;
use proofmill_run::Run;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Arguments of `answers`.
#[derive(Args, Debug)]
pub(crate) struct AnswersArguments {
    /// Any part of family/benchmark
    #[arg(value_name = "PATTERN")]
    pattern: Option<String>,
    /// Compute only the answers for the smallest sizes
    #[arg(long)]
    smallest: bool,
}

pub(super) fn run(arguments: &AnswersArguments, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.run(|Run { level, .. }| compute(arguments, level))
}

fn compute(arguments: &AnswersArguments, level: Level) -> Result<Outcome, Failure> {
    let workloads = Workloads::default();
    let (mut text, mut result) = (String::new(), Map::new());
    for family in workloads::definitions()? {
        for benchmark in &family.benchmarks {
            let kernel = format!("{}/{}", family.name, benchmark.name);
            if arguments.pattern.as_ref().is_some_and(|pattern| !kernel.contains(pattern.as_str())) {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{kernel}\n[benchmark.answers]");
            let mut answers = Map::new();
            for size in benchmark.sizes.iter().take(if arguments.smallest { 1 } else { usize::MAX }) {
                let answer = answer(&workloads, &kernel, size.0, level).map_err(Failure::Input)?;
                let _ = writeln!(text, "\"{size}\" = \"{answer}\"");
                answers.insert(size.to_string(), answer.into());
            }
            result.insert(kernel, Value::Object(answers));
        }
    }
    Ok(Outcome { text, ..Outcome::done(Value::Object(result)) })
}

fn answer(workloads: &Workloads, kernel: &str, size: u64, level: Level) -> Result<String, String> {
    let mut workload = workloads.prepare(kernel, size, level)?;
    workload.run(&mut |_| ())?;
    Ok(digest(&workload.output()))
}
