//! Prints the cycles of kernels for a bundle of 32 elements on all devices that come with the crate. Then prints those of one device with each part
//! of another: `cargo run --release -p proofmill-pipeline --example devices -- vck5000 ideal`.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, PipelineError,
    graph::{Edge, FieldOperation, GraphNode, NodeStep, Port},
    limbs::SignedField,
    schedule::{program, schedule},
};
use std::{env, error::Error};

/// Vectors of a bundle, and bundles of a call.
const VECTORS: usize = 4;
const BUNDLES: usize = 4;

const OPERATIONS: [FieldOperation; 4] =
    [FieldOperation::Multiply, FieldOperation::Square, FieldOperation::Add, FieldOperation::Reduce];

fn node(operation: FieldOperation) -> GraphNode {
    let operands: Vec<usize> = (0..operation.operands()).collect();
    GraphNode {
        name: operation.name().into(),
        inputs: operands.iter().map(|source| Edge::new(Port::Source(*source))).collect(),
        outputs: vec![operands.len()],
        steps: vec![NodeStep { operation, operands }],
    }
}

fn row(name: &str, device: &Device, field: &SignedField) -> Result<(), PipelineError> {
    print!("{name:<34}");
    for operation in OPERATIONS {
        let node = node(operation);
        let schedule = schedule(&node.name, &program(&node, field, device), device, VECTORS * BUNDLES)?;
        print!(" {:>8}", schedule.cycles(VECTORS * BUNDLES) / BUNDLES);
    }
    println!();
    Ok(())
}

fn device(name: &str) -> Result<Device, String> {
    let names: Vec<_> = Device::COMMITTED.iter().map(|(name, _)| *name).collect();
    Device::committed(name).ok_or_else(|| format!("{name} is none of the devices {}", names.join(", ")))
}

fn main() -> Result<(), Box<dyn Error>> {
    let field = SignedField::of::<Fq>()?;
    let names = OPERATIONS.map(|operation| format!("{:>8}", operation.name()));
    println!("{:<34} {}", "device", names.join(" "));
    for (name, _) in Device::COMMITTED {
        row(name, &device(name)?, &field)?;
    }
    let arguments: Vec<_> = env::args().skip(1).collect();
    if let [first, second] = arguments.as_slice() {
        println!("\n{first} with, of {second}:");
        for (name, device) in device(first)?.features(&device(second)?) {
            row(name, &device, &field)?;
        }
    }
    Ok(())
}
