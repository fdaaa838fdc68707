//! `pipeline run`.

use super::{
    failure, pictures,
    setting::{self, DeviceArguments, FormulaArguments, MoreArguments, SettingArguments},
};
use crate::commands::{numbers, table::table};
use clap::Args;
use proofmill_bench::definition::Size;
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_files::write_text;
use proofmill_pipeline::{
    DataflowGraph, Device,
    execute::{self, Arithmetic},
    explore::{Built, Setting, SettingFigures},
    limbs::{Bundle, LANES, SignedField},
    samples::{self, MontgomeryResidue},
    schedule::Compiler,
    simulate::{self, Pipelines},
};
use serde_json::json;
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::Instant,
};

/// Arguments of `run`.
#[derive(Args, Debug)]
pub(crate) struct PipelineRunArguments {
    #[command(flatten)]
    formula: FormulaArguments,
    /// Operands: a CSV file with a column for each source and integers, also 0x..., below the modulus
    #[arg(long, value_name = "FILE", conflicts_with = "random")]
    points: Option<PathBuf>,
    /// So many random operands, a number or 2^K
    #[arg(long, value_name = "COUNT", default_value = "2^14")]
    random: Size,
    /// The seed of random operands
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Write the results, in a CSV file as that of --points
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    setting: SettingArguments,
    #[command(flatten)]
    more: MoreArguments,
    /// Write a page with pictures: network, places, times
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl PipelineRunArguments {
    pub(super) fn outputs(&self) -> Vec<&Path> {
        self.results.iter().chain(&self.html).map(PathBuf::as_path).collect()
    }
}

pub(super) fn run(arguments: &PipelineRunArguments, machine: &mut Machine) -> Result<Outcome, Failure> {
    let (formula, field) = arguments.formula.read()?;
    let device = arguments.device.read()?;
    let sources = operands(arguments, &formula)?;
    let mut setting = arguments.setting.on(device)?;
    arguments.more.add_to(&mut setting)?;
    let device = &setting.device;
    let mut compiler = Compiler::new(&field, device, setting.vectors);
    let built = setting.build(&formula, &mut compiler).map_err(failure)?;
    let pipelines = Pipelines::at(&built.graph, &built.kernels, device, built.placements.clone());
    let pipelines = pipelines.map_err(failure)?;
    let inputs = inputs(&formula, &sources, &setting, &field)?;
    let arithmetic = Arithmetic::Level(machine.level());
    let start = Instant::now();
    let (sinks, outcome) = pipelines.execute(&setting.run, &field, arithmetic, &inputs).map_err(failure)?;
    let seconds = start.elapsed().as_secs_f64();
    let count = sources.first().map_or(0, Vec::len);
    let sinks = collected(sinks, setting.shape.copies);
    let results: Vec<Vec<MontgomeryResidue>> =
        sinks.iter().map(|sink| residues(sink, count, &field)).collect();
    let what = check(&formula, &sources, &results, || {
        let sinks = execute::run(&built.graph, &field, Arithmetic::Exact, &inputs).map_err(failure)?;
        let sinks = collected(sinks, setting.shape.copies);
        Ok(sinks.iter().map(|sink| residues(sink, count, &field)).collect())
    })?;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {count} results, equal to {what}; {} on {} pipelines of {} tiles",
        formula.name,
        device.name,
        built.placements.len(),
        built.graph.nodes.len()
    );
    let answer = built.answer(&setting);
    text += &figures(&built, &answer);
    text += &times(&outcome, device.tile.hertz, seconds, machine.level().name(), count);
    write_files(arguments, &formula, &results, &built, device)?;
    Ok(Outcome {
        text,
        ..Outcome::done(json!({
            "formula": formula.name,
            "device": device.name,
            "results": count,
            "answer": answer,
            "steady": built.outcome,
            "outcome": outcome,
            "seconds": seconds,
        }))
    })
}

/// The operands of the formula: those of a file, or random ones.
fn operands(
    arguments: &PipelineRunArguments,
    formula: &DataflowGraph,
) -> Result<Vec<Vec<MontgomeryResidue>>, Failure> {
    match &arguments.points {
        Some(path) => read(path, formula),
        None => {
            let count = setting::count(arguments.random)?;
            samples::random(&formula.name, count, arguments.seed).ok_or_else(|| {
                Failure::Input(format!(
                    "{} is not a formula of this program: --points has its operands",
                    formula.name
                ))
            })
        }
    }
}

/// The operands as bundles, dealt out to the copies of the formula.
fn inputs(
    formula: &DataflowGraph,
    sources: &[Vec<MontgomeryResidue>],
    setting: &Setting,
    field: &SignedField,
) -> Result<Vec<Vec<Bundle>>, Failure> {
    let inputs: Vec<_> = sources.iter().map(|source| bundles(source, setting.vectors, field)).collect();
    let has_delays = formula.edges().any(|(_, edge)| edge.initial > 0);
    if has_delays && setting.shape.copies > 1 {
        return Err(Failure::Input(format!(
            "{} has delays: --copies would change its results",
            formula.name
        )));
    }
    Ok(dealt(inputs, setting.shape.copies))
}

/// How long the device and this CPU took for all results, as text.
fn times(
    outcome: &simulate::SimulationOutcome,
    hertz: f64,
    seconds: f64,
    level: &str,
    count: usize,
) -> String {
    format!(
        "\nall of them in {} of the device, {} cycles, with {} B to the tiles and {} B from them\n\
         executed in {} at {level}, {} a result\n",
        numbers::time(outcome.cycles as f64 / hertz),
        outcome.cycles,
        numbers::scaled(outcome.bytes[0] as f64),
        numbers::scaled(outcome.bytes[1] as f64),
        numbers::time(seconds),
        numbers::time(seconds / count.max(1) as f64)
    )
}

/// Writes the results and the page with pictures, if they are asked for.
fn write_files(
    arguments: &PipelineRunArguments,
    formula: &DataflowGraph,
    results: &[Vec<MontgomeryResidue>],
    built: &Built,
    device: &Device,
) -> Result<(), Failure> {
    if let Some(path) = &arguments.results {
        write_text(path, &csv(formula, results))?;
    }
    if let Some(path) = &arguments.html {
        let title = format!("{} on {}", formula.name, device.name);
        pictures::write(&title, &pictures::of_setting(built, device), Some(path), None)?;
    }
    Ok(())
}

/// The figures of the simulation of many calls, as text.
fn figures(built: &Built, answer: &SettingFigures) -> String {
    let outcome = &built.outcome;
    let mut text = String::new();
    let [least, most] = answer.joules_per_million;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} results a second when the pipelines are full, the first after {}; limited by {}",
        numbers::scaled(answer.per_second),
        numbers::time(answer.latency),
        answer.limit
    );
    let _ = write!(
        text,
        "{} to {} J for a million results",
        numbers::three_digits(least),
        numbers::three_digits(most)
    );
    if outcome.link != [0.0; 2] {
        let [into, out] = outcome.link.map(|share| 100.0 * share);
        let _ = write!(text, "; the link is used {into:.0} % of the time to the tiles, {out:.0} % from them");
    }
    text.push('\n');
    if let Some([least, most]) = answer.dollars_per_million {
        let _ = writeln!(text, "{least:.2e} to {most:.2e} dollars for a million results");
    }
    let heading = ["node", "cycles of a call", "works %", "waits for input %", "waits for room %"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    lines.extend(outcome.nodes.iter().map(|stage| {
        let share = |share: f64| format!("{:.1}", 100.0 * share);
        vec![
            stage.name.clone(),
            stage.cycles.to_string(),
            share(stage.working),
            share(stage.starved),
            share(stage.blocked),
        ]
    }));
    text += "\n";
    text + &table(&lines)
}

/// Compares the results with those of the curve, the field or the hash, if the formula is known. Otherwise compares them with those of checked
/// integers, which `integers` computes. Returns the name of the arithmetic that they were compared with.
fn check(
    formula: &DataflowGraph,
    sources: &[Vec<MontgomeryResidue>],
    results: &[Vec<MontgomeryResidue>],
    integers: impl FnOnce() -> Result<Vec<Vec<MontgomeryResidue>>, Failure>,
) -> Result<&'static str, Failure> {
    let (expected, what) = match samples::results(&formula.name, sources).map_err(failure)? {
        Some(expected) => (expected, "this library's"),
        None => (integers()?, "those of checked integers"),
    };
    if results.len() != expected.len() {
        let (has, sinks) = (results.len(), expected.len());
        return Err(Failure::Rejected(format!(
            "{} has {has} sinks; the formula of this name {sinks}",
            formula.name
        )));
    }
    let differs = |index: &usize| results.iter().zip(&expected).any(|(a, b)| a[*index] != b[*index]);
    match (0..sources.first().map_or(0, Vec::len)).find(differs) {
        None => Ok(what),
        Some(index) => Err(Failure::Rejected(format!(
            "operands {}: the result is not {what}: formulas have no case for infinity and for points with the same x",
            index + 1
        ))),
    }
}

/// Elements as bundles of a call each; the last is filled up with zeros.
fn bundles(elements: &[MontgomeryResidue], vectors: usize, field: &SignedField) -> Vec<Bundle> {
    let each = elements.chunks(vectors * LANES).map(|elements| {
        let mut bundle = Bundle::zeros(vectors);
        elements.iter().enumerate().for_each(|(index, element)| bundle.set(index, *element, field));
        bundle
    });
    each.collect()
}

/// The bundles of the sources of several copies: each copy gets one bundle in turn, and the last copies may get zeros.
fn dealt(sources: Vec<Vec<Bundle>>, copies: usize) -> Vec<Vec<Bundle>> {
    if copies == 1 {
        return sources;
    }
    let of_copy = |copy: usize| {
        sources.iter().map(move |bundles: &Vec<Bundle>| {
            let mut dealt: Vec<_> = bundles.iter().skip(copy).step_by(copies).cloned().collect();
            if let Some(first) = bundles.first() {
                dealt.resize(bundles.len().div_ceil(copies), Bundle::zeros(first.vectors()));
            }
            dealt
        })
    };
    (0..copies).flat_map(of_copy).collect()
}

/// The bundles of the sinks in the order in which they were dealt.
fn collected(sinks: Vec<Vec<Bundle>>, copies: usize) -> Vec<Vec<Bundle>> {
    if copies == 1 {
        return sinks;
    }
    let each = sinks.len() / copies.max(1);
    let calls = sinks.first().map_or(0, Vec::len);
    let in_order = |sink: usize| {
        let index = (0..calls).flat_map(|call| (0..copies).map(move |copy| (call, copy)));
        index.map(|(call, copy)| sinks[copy * each + sink][call].clone()).collect()
    };
    (0..each).map(in_order).collect()
}

fn residues(bundles: &[Bundle], count: usize, field: &SignedField) -> Vec<MontgomeryResidue> {
    let all = bundles.iter().flat_map(|bundle| (0..bundle.elements()).map(|index| bundle.get(index, field)));
    all.take(count).collect()
}

/// Reads operands: a heading with the names of the sources, then a line for each.
fn read(path: &Path, formula: &DataflowGraph) -> Result<Vec<Vec<MontgomeryResidue>>, Failure> {
    let wrong =
        |line: u64, problem: String| Failure::Input(format!("{}, line {line}: {problem}", path.display()));
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    let names = reader.headers().map_err(|error| wrong(1, error.to_string()))?;
    if !names.iter().eq(formula.sources.iter().map(String::as_str)) {
        return Err(wrong(1, format!("expected the columns {}", formula.sources.join(","))));
    }
    let mut sources = vec![Vec::new(); formula.sources.len()];
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, csv::Position::line);
            wrong(line, error.to_string())
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        for (source, text) in sources.iter_mut().zip(&record) {
            let element = samples::parse(text).and_then(|integer| samples::residue(&formula.name, integer));
            source.push(element.ok_or_else(|| {
                wrong(line, format!("{text} is not an integer below the modulus, in decimal or as 0x..."))
            })?);
        }
    }
    match sources.first() {
        Some(source) if !source.is_empty() => Ok(sources),
        _ => Err(wrong(2, "expected a line of operands".to_owned())),
    }
}

/// Results as a file of operands.
fn csv(formula: &DataflowGraph, results: &[Vec<MontgomeryResidue>]) -> String {
    let names: Vec<_> = formula.sinks.iter().map(|sink| sink.name.as_str()).collect();
    let mut text = names.join(",") + "\n";
    for index in 0..results.first().map_or(0, Vec::len) {
        let elements = results.iter().map(|sink| {
            let [a, b, c, d] = samples::integer(&formula.name, sink[index]).unwrap_or_default();
            format!("0x{d:016x}{c:016x}{b:016x}{a:016x}")
        });
        text += &elements.collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}
