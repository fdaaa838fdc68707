//! Prints what the simulation says of the system in "Elliptic Curve ZK-Proof Acceleration on AMD Versal" (Ulvetanna, 2024):
//! `cargo run --release -p proofmill-pipeline --example paper`.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device, PipelineError, formulas,
    graph::Reductions,
    limbs::SignedField,
    schedule::{Compiler, balanced},
    simulate::{Pipelines, RunSettings, Supply, at_full_rate},
};
use std::error::Error;

/// The paper's additions.
const ADDITIONS: f64 = (1u64 << 26) as f64;

/// Vectors of a call: two bundles of 32 elements, for which deep buffers have room.
const VECTORS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let (field, device) =
        (SignedField::of::<Fq>()?, Device::committed("vck5000").ok_or("the paper's device")?);
    let formula = formulas::graph("xyzz-plus-affine").ok_or("the paper's formula")?;
    let double = formula.reduced(&field, Reductions::InNodes)?;
    // Kernels so slow that one pipeline takes the paper's time.
    let run = RunSettings { slowdown: 18.63, ..RunSettings::default() };
    let mut compiler = Compiler::new(&field, &device, VECTORS);
    let kernels = compiler.kernels(&double)?;
    let deep = at_full_rate(&double, &kernels, &device, run.slowdown)?;
    let per_second = |graph: &DataflowGraph, run: RunSettings, pipelines| -> Result<f64, PipelineError> {
        Ok(Pipelines::new(graph, &kernels, &device, pipelines)?.simulate(&run)?.per_second)
    };
    println!("{:>9}  seconds for 2^26  millions a second  from the host  with double buffers", "pipelines");
    for pipelines in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, device.pipelines(&double)] {
        let rate = per_second(&deep, run, pipelines)?;
        let from_host = per_second(&deep, RunSettings { supply: Supply::Host, ..run }, pipelines)?;
        println!(
            "{pipelines:>9}  {:>16.3}  {:>17.2}  {:>13.2}  {:>19.2}",
            ADDITIONS / rate,
            rate / 1e6,
            from_host / 1e6,
            per_second(&double, run, pipelines)? / 1e6
        );
    }
    let depths = deep.edges().map(|(_, edge)| edge.depth).max();
    println!("deepest buffer: {} windows", depths.unwrap_or(0));
    let apart = formula.reduced(&field, Reductions::WhereNeeded)?;
    let slowest = compiler.kernels(&apart)?.slowest();
    let joined = balanced(&apart, &mut compiler, slowest)?;
    for (name, graph) in
        [("reductions in nodes", &double), ("reductions apart", &apart), ("balanced", &joined)]
    {
        println!("{name}: {} tiles, {} pipelines have room", graph.nodes.len(), device.pipelines(graph));
    }
    Ok(())
}
