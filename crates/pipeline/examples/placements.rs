//! Prints how pipelines of a formula are placed on a device: `cargo run --release -p proofmill-pipeline --example placements --
//! xyzz-plus-affine vck5000 23`. The grid has a letter for each node, those of each second pipeline are small.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, formulas, graph::Reductions, limbs::SignedField, place::place, simulate::Run,
};
use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [formula, device, pipelines] = arguments.as_slice() else {
        return Err(format!(
            "expected a formula of {}, a device and a number of pipelines",
            formulas::NAMES.join(", ")
        )
        .into());
    };
    let graph = formulas::graph(formula)
        .ok_or_else(|| format!("{formula} is none of the formulas {}", formulas::NAMES.join(", ")))?;
    let names: Vec<_> = Device::COMMITTED.iter().map(|(name, _)| *name).collect();
    let device = Device::committed(device)
        .ok_or_else(|| format!("{device} is none of the devices {}", names.join(", ")))?;
    let graph = graph.reduced(&SignedField::of::<Fq>()?, Reductions::InNodes)?;
    let placements = place(&graph, &device, Run::default().window(), pipelines.parse()?)?;
    for (index, node) in graph.nodes.iter().enumerate() {
        println!("{} {}", letter(0, index), node.name);
    }
    let mut grid = vec![vec!['.'; device.grid.columns]; device.grid.rows];
    for (pipeline, placement) in placements.iter().enumerate() {
        for (node, [column, row]) in placement.nodes.iter().enumerate() {
            grid[*row][*column] = letter(pipeline, node);
        }
    }
    grid.iter().rev().for_each(|row| println!("{}", row.iter().collect::<String>()));
    let streams: Vec<_> =
        placements.iter().map(|placement| placement.streams_between_nodes(&graph).to_string()).collect();
    println!("streams between nodes, by pipeline: {}", streams.join(" "));
    Ok(())
}

/// The letter of a node.
fn letter(pipeline: usize, node: usize) -> char {
    let first = if pipeline.is_multiple_of(2) { b'A' } else { b'a' };
    char::from(first + (node % 26) as u8)
}
