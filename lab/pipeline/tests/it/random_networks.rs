//! Random networks: every executor in every order, with any buffers that suffice, gives the same bundles, and those are what plain integers
//! give.

use num_bigint::BigUint;
use proofmill_field::{bn254::Fq, cpu::Level};
use proofmill_pipeline::{
    DataflowGraph, PipelineError,
    execute::{Arithmetic, run, run_in_order, run_on_threads},
    graph::{Edge, FieldOperation, GraphNode, GraphSink, NodeStep, Port, Reductions},
    limbs::{Bundle, SignedField},
};
use proofmill_testing::{operands, rng};
use rand::{Rng, RngCore};
use std::{collections::HashMap, thread};

const GRAPHS: u64 = 40;
const BUNDLES: usize = 4;
const OPERATIONS: [FieldOperation; 7] = [
    FieldOperation::Multiply,
    FieldOperation::Square,
    FieldOperation::Add,
    FieldOperation::Subtract,
    FieldOperation::Negate,
    FieldOperation::Double,
    FieldOperation::Reduce,
];

/// A graph of nodes with one operation each. Edges come from before or, with a delay, from anywhere.
fn random_graph(rng: &mut dyn RngCore) -> DataflowGraph {
    let [sources, nodes, sinks] = [1..4, 1..16, 1..4].map(|range| rng.random_range(range));
    let edge = |rng: &mut dyn RngCore, before: usize, after: usize| {
        let initial = if rng.random_ratio(1, 3) { rng.random_range(1..4) } else { 0 };
        let from = match rng.random_range(0..sources + if initial > 0 { after } else { before }) {
            port if port < sources => Port::Source(port),
            port => Port::Node(port - sources, 0),
        };
        Edge { from, depth: initial + 1, initial }
    };
    let node = |index: usize| {
        let operation = OPERATIONS[rng.random_range(0..OPERATIONS.len())];
        let operands = operation.operands();
        // Nodes that only feed each other would never end.
        let after = |operand: usize| if operand == 0 { index } else { nodes };
        let inputs = (0..operands).map(|operand| edge(rng, index, after(operand))).collect();
        let steps = vec![NodeStep { operation, operands: (0..operands).collect() }];
        GraphNode { name: format!("n{index}"), inputs, steps, outputs: vec![operands] }
    };
    let nodes: Vec<_> = (0..nodes).map(node).collect();
    let sinks = (0..sinks)
        .map(|sink| GraphSink { name: format!("t{sink}"), edge: edge(rng, nodes.len(), nodes.len()) });
    DataflowGraph {
        name: "random".into(),
        sources: (0..sources).map(|source| format!("s{source}")).collect(),
        sinks: sinks.collect(),
        nodes,
    }
}

/// What a graph gives in plain integers modulo p, by the index of a bundle and of an element.
struct Integers<'a> {
    graph: &'a DataflowGraph,
    inputs: &'a [Vec<Bundle>],
    field: &'a SignedField,
    p: BigUint,
    r_inverse: BigUint,
    known: HashMap<(usize, usize, usize), BigUint>,
}

impl Integers<'_> {
    fn get(&mut self, edge: &Edge, bundle: usize, element: usize) -> BigUint {
        let Some(bundle) = bundle.checked_sub(edge.initial) else { return BigUint::ZERO };
        let node = match edge.from {
            Port::Source(source) => return integer(&self.inputs[source][bundle].get(element, self.field)),
            Port::Node(node, _) => node,
        };
        if let Some(known) = self.known.get(&(node, bundle, element)) {
            return known.clone();
        }
        let GraphNode { inputs, steps, .. } = &self.graph.nodes[node];
        let operands: Vec<_> = inputs.iter().map(|edge| self.get(edge, bundle, element)).collect();
        let (a, b) = (&operands[0], &operands[operands.len() - 1]);
        let result = match steps[0].operation {
            FieldOperation::Multiply | FieldOperation::Square => a * b * &self.r_inverse,
            FieldOperation::Add | FieldOperation::Double => a + b,
            FieldOperation::Subtract => a + &self.p - b,
            FieldOperation::Negate => &self.p - a,
            FieldOperation::Reduce => a.clone(),
            other => unreachable!("{} is not in these graphs", other.name()),
        } % &self.p;
        self.known.insert((node, bundle, element), result.clone());
        result
    }
}

fn integer(words: &[u64]) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |integer, word| (integer << 64) + word)
}

fn check(seed: u64) {
    let rng = &mut rng(seed);
    let field = SignedField::of::<Fq>().unwrap();
    let plain = random_graph(rng);
    let elements = operands(rng, &field.modulus(), 100);
    let inputs: Vec<Vec<_>> = plain
        .sources
        .iter()
        .map(|_| {
            (0..BUNDLES)
                .map(|_| {
                    let mut bundle = Bundle::zeros(1);
                    for index in 0..bundle.elements() {
                        let element = &elements[rng.random_range(0..elements.len())];
                        bundle.set(index, std::array::from_fn(|word| element[word]), &field);
                    }
                    bundle
                })
                .collect()
        })
        .collect();

    let reductions = if rng.random() { Reductions::InNodes } else { Reductions::WhereNeeded };
    let mut graph = plain.reduced(&field, reductions).unwrap();
    for _ in 0..rng.random_range(0..8) {
        let [first, second] = [(); 2].map(|()| rng.random_range(0..graph.nodes.len()));
        graph = graph.fused(first, second).unwrap_or(graph);
    }
    graph.intervals(&field).expect("numbers that fit");
    let graph = graph.with_least_buffers().unwrap();
    let results = run(&graph, &field, Arithmetic::Exact, &inputs).unwrap();

    let p = integer(&field.modulus());
    let r_inverse = BigUint::from(2u32).pow(256).modinv(&p).unwrap();
    let mut integers =
        Integers { graph: &plain, inputs: &inputs, field: &field, p, r_inverse, known: HashMap::new() };
    for (sink, bundles) in plain.sinks.iter().zip(&results) {
        assert_eq!(bundles.len(), sink.edge.initial + BUNDLES);
        for (bundle, result) in bundles.iter().enumerate() {
            for element in 0..result.elements() {
                let expected = integers.get(&sink.edge, bundle, element);
                assert_eq!(integer(&result.get(element, &field)), expected, "{} of {graph:?}", sink.name);
            }
        }
    }

    let level = Arithmetic::Level(Level::best());
    for pipelines in [1, 2, 5] {
        let mut deeper = graph.clone();
        deeper.edges_mut().for_each(|edge| edge.depth += rng.random_range(0..3));
        assert!(run(&deeper, &field, level, &inputs).unwrap() == results);
        let choose = |ready: &[usize]| rng.random_range(0..ready.len());
        assert!(run_in_order(&deeper, &field, level, &inputs, choose).unwrap() == results);
        thread::scope(|scope| {
            let run = || run_on_threads(&deeper, &field, level, &inputs).unwrap();
            let all: Vec<_> = (0..pipelines).map(|_| scope.spawn(run)).collect();
            assert!(all.into_iter().all(|pipeline| pipeline.join().unwrap() == results));
        });
    }

    for index in 0..graph.edges().count() {
        let mut less = graph.clone();
        let edge = less.edges_mut().nth(index).unwrap();
        if edge.depth > edge.initial.max(1) {
            edge.depth -= 1;
            let error = less.check_buffers().unwrap_err();
            assert!(matches!(error, PipelineError::Deadlock(_)), "{error}");
            assert_eq!(run(&less, &field, level, &inputs).unwrap_err(), error);
            assert_eq!(run_on_threads(&less, &field, level, &inputs).unwrap_err(), error);
        }
    }
}

#[test]
fn random_networks_give_what_integers_give() {
    (0..GRAPHS).for_each(check);
}
