//! `pipeline show`.

use super::{
    failure,
    setting::{self, DeviceArguments, FormulaArguments, SettingArguments},
};
use crate::commands::table::table;
use clap::Args;
use proofmill_console::{Failure, Outcome};
use proofmill_pipeline::{Device, explore::Built, limbs::LANES, schedule::Compiler};
use serde_json::json;
use std::fmt::Write as _;

/// Arguments of `show`.
#[derive(Args, Debug)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    formula: FormulaArguments,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    setting: SettingArguments,
    /// Print the instruction words of a node's kernel
    #[arg(long, value_name = "NODE", conflicts_with_all = ["graph", "device_file"])]
    kernel: Option<String>,
    /// Print the formula's graph in JSON, to be changed and read again
    #[arg(long, conflicts_with = "device_file")]
    graph: bool,
    /// Print the file of a device, to be changed and read again
    #[arg(long, value_name = "DEVICE")]
    device_file: Option<String>,
}

pub(super) fn run(arguments: &ShowArguments) -> Result<Outcome, Failure> {
    if let Some(name) = &arguments.device_file {
        let known = Device::COMMITTED.iter().find(|(known, _)| known == name);
        let (_, text) = known.ok_or_else(|| {
            Failure::Input(format!("{name} is none of the devices {}", setting::known_devices()))
        })?;
        return Ok(Outcome { text: (*text).to_owned(), ..Outcome::done(json!({ "device": text })) });
    }
    let (formula, field) = arguments.formula.read()?;
    if arguments.graph {
        let result = serde_json::to_value(&formula).map_err(|error| Failure::Input(error.to_string()))?;
        let text = format!("{result:#}\n");
        return Ok(Outcome { text, ..Outcome::done(result) });
    }
    let setting = arguments.setting.on(arguments.device.read()?)?;
    let mut compiler = Compiler::new(&field, &setting.device, setting.vectors);
    let built = setting.build(&formula, &mut compiler).map_err(failure)?;
    if let Some(name) = &arguments.kernel {
        return kernel(&built, name);
    }
    let bundles = setting.vectors as f64 * LANES as f64 / 32.0;
    let heading = [
        "node",
        "loops",
        "instructions",
        "cycles of the kernel",
        "cycles of 32 elements",
        "scratch B",
        "steps",
    ];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for (node, kernel) in built.graph.nodes.iter().zip(&built.kernels.nodes) {
        let steps: Vec<_> = node.steps.iter().map(|step| step.operation.name()).collect();
        lines.push(vec![
            node.name.clone(),
            kernel.loops.len().to_string(),
            kernel.instructions().to_string(),
            kernel.cycles.to_string(),
            format!("{:.0}", kernel.cycles as f64 / bundles),
            kernel.scratch.to_string(),
            if steps.len() > 6 { format!("{} steps", steps.len()) } else { steps.join(" ") },
        ]);
    }
    let mut text = format!("{} on {}, {}\n", formula.name, setting.device.name, setting.shape);
    text += &table(&lines);
    text += &places(&built, &setting.device);
    let result = json!({
        "graph": built.graph,
        "cycles": built.kernels.nodes.iter().map(|kernel| kernel.cycles).collect::<Vec<_>>(),
        "placements": built.placements,
    });
    Ok(Outcome { text, ..Outcome::done(result) })
}

/// The grid, with a letter for each node; every second pipeline has lower-case letters.
fn places(built: &Built, device: &Device) -> String {
    let letter = |pipeline: usize, node: usize| {
        let first = if pipeline.is_multiple_of(2) { b'A' } else { b'a' };
        char::from(first + (node % 26) as u8)
    };
    let mut text = String::from("\n");
    let mut grid = vec![vec!['.'; device.grid.columns]; device.grid.rows];
    for (pipeline, placement) in built.placements.iter().enumerate() {
        for (node, [column, row]) in placement.nodes.iter().enumerate() {
            grid[*row][*column] = letter(pipeline, node);
        }
    }
    // Writing to a string cannot fail.
    for row in grid.iter().rev() {
        let _ = writeln!(text, "{}", row.iter().collect::<String>());
    }
    for (index, node) in built.graph.nodes.iter().enumerate() {
        let _ = writeln!(text, "{} {}", letter(0, index), node.name);
    }
    let streams: Vec<_> = built
        .placements
        .iter()
        .map(|placement| placement.streams_between_nodes(&built.graph).to_string())
        .collect();
    let _ = writeln!(text, "streams between nodes, by pipeline: {}", streams.join(" "));
    text
}

/// The instruction words of a kernel.
fn kernel(built: &Built, name: &str) -> Result<Outcome, Failure> {
    let Some(node) = built.graph.nodes.iter().position(|node| node.name == name) else {
        let names: Vec<_> = built.graph.nodes.iter().map(|node| node.name.as_str()).collect();
        return Err(Failure::Input(format!("{name} is none of the nodes {}", names.join(", "))));
    };
    let mut text = String::new();
    for schedule in &built.kernels.nodes[node].loops {
        let used = schedule.utilisation();
        let used: Vec<_> =
            used.iter().map(|(slot, share)| format!("{slot} {:.0} %", 100.0 * share)).collect();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{} words in the loop, {} vectors at a time; {}\n{schedule}",
            schedule.rows.len(),
            schedule.vectors,
            used.join(", ")
        );
    }
    Ok(Outcome { text: text.clone(), ..Outcome::done(json!({ "kernel": name, "words": text })) })
}
