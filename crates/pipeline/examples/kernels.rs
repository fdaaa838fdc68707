//! Prints the kernels of a formula's nodes on a device: `cargo run --release -p proofmill-pipeline --example kernels -- xyzz-plus-affine vck5000`.
//! With the name of a node at the end, its instruction words.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, formulas,
    graph::Reductions,
    limbs::SignedField,
    schedule::{program, schedule},
};
use std::{env, error::Error};

/// Vectors of a bundle, and bundles of a call.
const VECTORS: usize = 4;
const BUNDLES: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [formula, device, rest @ ..] = arguments.as_slice() else {
        return Err(format!("expected a formula of {} and a device", formulas::NAMES.join(", ")).into());
    };
    let graph = formulas::graph(formula)
        .ok_or_else(|| format!("{formula} is none of the formulas {}", formulas::NAMES.join(", ")))?;
    let names: Vec<_> = Device::COMMITTED.iter().map(|(name, _)| *name).collect();
    let device = Device::committed(device)
        .ok_or_else(|| format!("{device} is none of the devices {}", names.join(", ")))?;
    let field = SignedField::of::<Fq>()?;
    let graph = graph.reduced(&field, Reductions::WhereNeeded)?;
    println!(
        "{:<12} {:>12} {:>5} {:>8} {:>7}  use of slots",
        "node", "instructions", "loop", "vectors", "cycles"
    );
    for node in &graph.nodes {
        let program = program(node, &field);
        let schedule = schedule(&node.name, &program, &device, VECTORS * BUNDLES)?;
        let used: Vec<_> =
            schedule.utilisation().iter().map(|(slot, used)| format!("{slot} {used:.2}")).collect();
        println!(
            "{:<12} {:>12} {:>5} {:>8} {:>7}  {}",
            node.name,
            schedule.instructions(),
            schedule.rows.len(),
            schedule.vectors,
            schedule.cycles(VECTORS * BUNDLES) / BUNDLES,
            used.join(", ")
        );
        if rest.contains(&node.name) {
            print!("{schedule}");
        }
    }
    Ok(())
}
