//! Kernels of nodes with several steps, and networks with fewer nodes.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device, formulas,
    graph::{Edge, FieldOperation, GraphNode, NodeStep, Port, Reductions},
    limbs::SignedField,
    schedule::{Compiler, balanced},
};

/// Vectors of a call.
const VECTORS: usize = 8;

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

/// `a^(2^n)`, step by step.
fn squares(n: usize) -> GraphNode {
    let steps = (0..n).map(|value| NodeStep { operation: FieldOperation::Square, operands: vec![value] });
    GraphNode {
        name: "squares".into(),
        inputs: vec![Edge::new(Port::Source(0))],
        steps: steps.collect(),
        outputs: vec![n],
    }
}

#[test]
fn operations_that_occur_again_take_no_more_instructions() {
    let (field, device) = (field(), device());
    let mut compiler = Compiler::new(&field, &device, VECTORS);
    let [one, ten] = [1, 10].map(|n| compiler.kernel(&squares(n)).unwrap());
    assert_eq!(ten.loops, one.loops);
    assert_eq!(ten.instructions(), one.instructions());
    assert_eq!(ten.cycles, 10 * one.cycles + 9 * device.tile.call_cycles);
    // One result at a time waits for the next step.
    let window = VECTORS * 8 * 32;
    assert_eq!(ten.scratch, one.scratch + window);
}

#[test]
fn what_waits_for_later_steps_is_kept() {
    let (field, device) = (field(), device());
    let mut compiler = Compiler::new(&field, &device, VECTORS);
    // Three squares of one input that are added up at the end: all of them wait, the last sum is sent.
    let mut node = squares(1);
    let step = |operation, operands: &[usize]| NodeStep { operation, operands: operands.to_vec() };
    node.steps = vec![
        step(FieldOperation::Square, &[0]),
        step(FieldOperation::Multiply, &[0, 1]),
        step(FieldOperation::Multiply, &[1, 2]),
        step(FieldOperation::Add, &[1, 2]),
        step(FieldOperation::Add, &[3, 4]),
    ];
    node.outputs = vec![5];
    let kernel = compiler.kernel(&node).unwrap();
    let loops: usize = kernel.loops.iter().map(|schedule| schedule.rows.len()).sum();
    assert!(kernel.loops.len() == 2 && loops < 1024, "squares are products: {}", kernel.loops.len());
    let kept = 3 * VECTORS * 8 * 32;
    assert!((kept..kept + 3 * 1024).contains(&kernel.scratch), "{}", kernel.scratch);
    let text = {
        let mut small = device.clone();
        small.tile.data_bytes = small.tile.stack_bytes + 6 * 1024;
        Compiler::new(&field, &small, VECTORS).kernel(&node).unwrap_err().to_string()
    };
    assert!(
        text.starts_with("node squares on VCK5000: its ")
            && text.ends_with(" bytes of intermediate results exceed the memory of 6144"),
        "{text}"
    );
}

#[test]
fn loops_that_exceed_the_program_memory_are_refused() {
    let (field, mut device) = (field(), device());
    device.tile.program_bytes = 16 * 600;
    let mut node = squares(2);
    node.steps.push(NodeStep { operation: FieldOperation::Reduce, operands: vec![2] });
    node.outputs = vec![3];
    let text = Compiler::new(&field, &device, VECTORS).kernel(&node).unwrap_err().to_string();
    assert!(
        text.starts_with("node squares on VCK5000: its loops of ")
            && text.ends_with(" instructions exceed the 600 of the program memory: split it"),
        "{text}"
    );
}

#[test]
fn fewer_tiles_take_longer() {
    let (field, device) = (field(), device());
    let mut compiler = Compiler::new(&field, &device, VECTORS);
    let graph =
        formulas::graph("xyzz-plus-affine").unwrap().reduced(&field, Reductions::WhereNeeded).unwrap();
    let slowest = compiler.kernels(&graph).unwrap().slowest();
    let tiles = |compiler: &mut Compiler<'_>, pace: usize| -> DataflowGraph {
        let joined = balanced(&graph, compiler, pace).unwrap();
        assert!(compiler.kernels(&joined).unwrap().slowest() <= pace.max(slowest));
        let count = |graph: &DataflowGraph| graph.nodes.iter().map(|node| node.steps.len()).sum::<usize>();
        assert_eq!(count(&joined), count(&graph));
        joined
    };
    let counts = [1, 2, 4].map(|factor| tiles(&mut compiler, factor * slowest + 1000).nodes.len());
    assert!(counts[0] > counts[1] && counts[1] > counts[2], "{counts:?}");
    assert_eq!(tiles(&mut compiler, 0), graph);
}
