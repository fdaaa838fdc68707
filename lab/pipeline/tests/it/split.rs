//! Products in two nodes against whole ones.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device,
    execute::{Arithmetic, run, run_on_threads},
    formulas,
    graph::{Edge, FieldOperation, GraphSink, Port, Reductions},
    limbs::{Bundle, LIMBS, SignedField},
    schedule::{program, schedule},
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::Rng;

const VECTORS: usize = 4;
const BUNDLES: usize = 8;

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

/// Bundles for each source: digits at the edges of their ranges and others, up to the size that sources may have.
fn inputs(graph: &DataflowGraph) -> Vec<Vec<Bundle>> {
    let top = field().bound().most as i32;
    let mut rng = rng(1);
    let mut digits = || -> [i32; LIMBS] {
        let all = [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX];
        let edge = all[rng.random_range(0..all.len())];
        let mut digits = std::array::from_fn(|_| if rng.random() { edge } else { rng.random() });
        digits[LIMBS - 1] = [-top, -1, 0, 1, top, rng.random_range(-top..=top)][rng.random_range(0..6)];
        digits
    };
    let mut bundle = || {
        let mut bundle = Bundle::zeros(VECTORS);
        (0..bundle.elements()).for_each(|index| bundle.set_digits(index, digits()));
        bundle
    };
    graph.sources.iter().map(|_| (0..BUNDLES).map(|_| bundle()).collect()).collect()
}

/// The graph with all its products and squares split.
fn with_halves(graph: &DataflowGraph) -> DataflowGraph {
    let is_product = |node: &usize| {
        let mut steps = graph.nodes[*node].steps.iter();
        steps.any(|step| matches!(step.operation, FieldOperation::Multiply | FieldOperation::Square))
    };
    (0..graph.nodes.len()).filter(is_product).fold(graph.clone(), |graph, node| graph.split(node).unwrap())
}

#[test]
fn halves_give_the_digits_of_the_whole() {
    for name in formulas::NAMES {
        for reductions in [Reductions::InNodes, Reductions::WhereNeeded] {
            let graph = formulas::graph(name).unwrap().reduced(&field(), reductions).unwrap();
            let split = with_halves(&graph);
            let products = graph.count(FieldOperation::Multiply) + graph.count(FieldOperation::Square);
            assert_eq!(split.nodes.len(), graph.nodes.len() + products);
            assert_eq!(split.count(FieldOperation::Multiply) + split.count(FieldOperation::Square), 0);
            // Bounds too are as before, and need no more reductions.
            let before = graph.intervals(&field()).unwrap();
            let after = split.intervals(&field()).unwrap();
            assert_eq!(before, after[..before.len()]);
            assert_eq!(split.reduced(&field(), Reductions::WhereNeeded).unwrap(), split);
            let inputs = inputs(&graph);
            let expected = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
            assert!(run(&split, &field(), Arithmetic::Exact, &inputs).unwrap() == expected, "{name}");
            assert!(run_on_threads(&split, &field(), Arithmetic::Exact, &inputs).unwrap() == expected);
            for_each_goldilocks_level(|level| {
                let results = run(&split, &field(), Arithmetic::Level(level), &inputs).unwrap();
                assert!(results == expected, "{name} at {}", level.name());
            });
        }
    }
}

#[test]
fn a_running_product_is_split() {
    let mut graph = formulas::graph("butterfly").unwrap();
    graph.nodes.truncate(1);
    graph.sources.truncate(2);
    // The node reads what it has sent before, and passes on one of its inputs.
    let node = &mut graph.nodes[0];
    node.inputs = vec![Edge { from: Port::Node(0, 0), depth: 1, initial: 1 }, Edge::new(Port::Source(1))];
    node.inputs.push(Edge::new(Port::Source(0)));
    node.steps[0].operands = vec![2, 0];
    node.outputs = vec![3, 1];
    graph.sinks = (0..2)
        .map(|port| GraphSink { name: format!("r{port}"), edge: Edge::new(Port::Node(0, port)) })
        .collect();
    let inputs = inputs(&graph);
    let whole = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
    let split = graph.split(0).unwrap();
    assert!(run(&split, &field(), Arithmetic::Exact, &inputs).unwrap() == whole);
    assert!(whole[1] == inputs[1]);
}

#[test]
fn halves_take_little_more_than_half_of_the_cycles() {
    let (field, device) = (field(), Device::committed("vck5000").unwrap());
    let graph = formulas::graph("butterfly").unwrap();
    let split = graph.split(0).unwrap();
    let cycles = |graph: &DataflowGraph, node: usize| {
        let node = &graph.nodes[node];
        let vectors = 4 * VECTORS;
        schedule(&node.name, &program(node, &field, &device), &device, vectors).unwrap().cycles(vectors)
            / VECTORS
    };
    let whole = cycles(&graph, 0);
    let [upper, lower] = [0, split.nodes.len() - 1].map(|node| cycles(&split, node));
    println!("whole {whole}, lower {lower}, upper {upper} cycles a bundle");
    assert!(lower * 100 < whole * 60 && upper * 100 < whole * 65, "{whole} {lower} {upper}");
}

#[test]
fn other_nodes_are_not_split() {
    let graph = formulas::graph("butterfly").unwrap();
    let error = |node: usize| graph.split(node).unwrap_err().to_string();
    assert_eq!(error(9), "graph butterfly, the whole: there is no node 9");
    assert_eq!(error(1), "graph butterfly, node add-1: it is not one product or square, and is not split");
    let joined = graph.fused(0, 1).unwrap();
    assert!(joined.split(0).unwrap_err().to_string().ends_with("is not split"));
    let split = graph.split(0).unwrap();
    let error = split.split(0).unwrap_err().to_string();
    assert!(error.starts_with("graph butterfly, node multiply-0-upper: it is not one product"), "{error}");
}
