//! Networks of formulas against the curve's own points, in any order, on threads, with any buffers.

use crate::points::{
    POINTS, VECTORS, bundles, coordinates, field, hold, matches, multiples, of_affine, of_xyzz, xyzz,
};
use proofmill_curve::{Jacobian, Xyzz, bn254::G1};
use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, PipelineError,
    execute::{Arithmetic, run, run_in_order, run_on_threads},
    formulas,
    graph::{Edge, EdgeReader, FieldOperation, Port, Reductions},
    limbs::Bundle,
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::Rng;

struct Sums {
    graph: DataflowGraph,
    inputs: Vec<Vec<Bundle>>,
    sums: Vec<Xyzz<G1>>,
}

fn sums() -> Sums {
    let (left, right) = (xyzz(1), Jacobian::batch_to_affine(&multiples(2)));
    Sums {
        graph: formulas::graph("xyzz-plus-affine").unwrap(),
        inputs: [coordinates(&left, of_xyzz), coordinates(&right, of_affine)].concat(),
        sums: left.iter().zip(&right).map(|(left, right)| left.add_affine(right)).collect(),
    }
}

#[test]
fn sums_are_the_curves_at_every_level() {
    let Sums { graph, inputs, sums } = sums();
    for reductions in [Reductions::InNodes, Reductions::WhereNeeded] {
        let graph = graph.reduced(&field(), reductions).unwrap();
        graph.intervals(&field()).expect("numbers that fit");
        let exact = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
        assert!(matches(&exact, &sums, of_xyzz));
        for_each_goldilocks_level(|level| {
            assert!(
                run(&graph, &field(), Arithmetic::Level(level), &inputs).unwrap() == exact,
                "{}",
                level.name()
            );
        });
    }
}

#[test]
fn any_order_and_any_buffers_give_the_same() {
    let Sums { graph, inputs, .. } = sums();
    let graph = graph.reduced(&field(), Reductions::WhereNeeded).unwrap();
    let level = Arithmetic::Level(proofmill_field::cpu::Level::best());
    let expected = run(&graph, &field(), level, &inputs).unwrap();
    for seed in 0..20 {
        let mut rng = rng(seed);
        let mut graph = graph.clone();
        graph.edges_mut().for_each(|edge| edge.depth = rng.random_range(1..5));
        let choose = |ready: &[usize]| rng.random_range(0..ready.len().max(1));
        assert!(run_in_order(&graph, &field(), level, &inputs, choose).unwrap() == expected);
        assert!(run_on_threads(&graph, &field(), level, &inputs).unwrap() == expected);
    }
}

/// A running sum: an edge from a node to itself.
fn running_sum() -> DataflowGraph {
    let mut graph = formulas::graph("butterfly").unwrap();
    graph.name = "running-sum".into();
    graph.nodes.truncate(1);
    let node = &mut graph.nodes[0];
    node.steps[0].operation = FieldOperation::Add;
    node.inputs[1] = Edge { from: Port::Node(0, 0), depth: 1, initial: 1 };
    graph.sources.truncate(1);
    node.inputs[0] = Edge::new(Port::Source(0));
    graph.sinks.truncate(1);
    graph.sinks[0].edge = Edge::new(Port::Node(0, 0));
    graph
}

#[test]
fn delays_carry_state() {
    let graph = running_sum().reduced(&field(), Reductions::WhereNeeded).unwrap();
    let mut rng = rng(7);
    let elements: Vec<_> = (0..POINTS).map(|_| Fq::from(rng.random::<u64>())).collect();
    let mut expected = elements.clone();
    for i in 8 * VECTORS..POINTS {
        let before = expected[i - 8 * VECTORS];
        expected[i] += before;
    }
    let inputs = [bundles(&elements)];
    let results = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
    assert!(hold(&results[0], &expected));
    assert!(run_on_threads(&graph, &field(), Arithmetic::Exact, &inputs).unwrap() == results);
}

#[test]
fn joined_nodes_give_the_same() {
    let Sums { graph, inputs, .. } = sums();
    let graph = graph.reduced(&field(), Reductions::InNodes).unwrap();
    let expected = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
    let mut joined = 0;
    for first in 0..graph.nodes.len() {
        for second in 0..graph.nodes.len() {
            let fused = match graph.fused(first, second) {
                Ok(fused) => fused,
                Err(error) => {
                    // It waits for itself by way of a node between both.
                    assert!(matches!(error, PipelineError::Graph { .. }));
                    continue;
                }
            };
            joined += 1;
            assert_eq!(fused.nodes.len(), graph.nodes.len() - 1);
            assert_eq!(
                fused.nodes.iter().map(|node| node.steps.len()).sum::<usize>(),
                graph.nodes.iter().map(|node| node.steps.len()).sum::<usize>()
            );
            assert!(
                run(&fused, &field(), Arithmetic::Exact, &inputs).unwrap() == expected,
                "{first} {second}"
            );
            assert!(run_on_threads(&fused, &field(), Arithmetic::Exact, &inputs).unwrap() == expected);
        }
    }
    assert!(joined > 100, "{joined}");
    // All in one: one tile for everything.
    let mut one = graph.clone();
    let order = graph.order().unwrap();
    let mut names: Vec<_> = order.iter().map(|node| graph.nodes[*node].name.clone()).collect();
    while names.len() > 1 {
        let at = |name: &str| one.nodes.iter().position(|node| node.name == name).unwrap();
        let (first, second) = (at(&names[0]), at(&names[1]));
        one = one.fused(first, second).unwrap();
        let joined = if second < first { first - 1 } else { first };
        names.splice(..2, [one.nodes[joined].name.clone()]);
    }
    assert_eq!((one.nodes.len(), one.nodes[0].inputs.len(), one.nodes[0].outputs.len()), (1, 6, 4));
    assert!(one.nodes[0].name.starts_with("multiply-") && one.nodes[0].name.ends_with(" steps more"));
    assert!(run(&one, &field(), Arithmetic::Exact, &inputs).unwrap() == expected);
    let error = graph.fused(0, 99).unwrap_err().to_string();
    assert_eq!(error, "graph xyzz-plus-affine, the whole: there are no nodes 0 and 99");
    let mut sum = running_sum();
    sum.nodes[0].name = "sum".into();
    assert!(sum.fused(0, 0).unwrap_err().to_string().ends_with("it cannot be joined with itself"));
}

#[test]
fn copies_do_not_depend_on_each_other() {
    let Sums { graph, inputs, .. } = sums();
    let graph = graph.reduced(&field(), Reductions::WhereNeeded).unwrap();
    let expected = run(&graph, &field(), Arithmetic::Exact, &inputs).unwrap();
    // The second copy gets its bundles the other way round.
    let reversed = |bundles: &Vec<Bundle>| bundles.iter().rev().cloned().collect::<Vec<_>>();
    let both = |of: &[Vec<Bundle>]| [of.to_vec(), of.iter().map(reversed).collect()].concat();
    let copies = graph.unrolled(2).unwrap();
    assert_eq!(copies.name, "xyzz-plus-affine-x2");
    assert_eq!((&*copies.sources[1], &*copies.sinks[4].name), ("Y1.0", "X3.1"));
    assert!(run(&copies, &field(), Arithmetic::Exact, &both(&inputs)).unwrap() == both(&expected));
    // One node for both copies where that takes little time.
    let mut shared = copies;
    for node in &graph.nodes {
        let slow = [FieldOperation::Multiply, FieldOperation::Square].contains(&node.steps[0].operation);
        let at = |copy| shared.nodes.iter().position(|other| other.name == format!("{}.{copy}", node.name));
        if !slow {
            shared = shared.fused(at(0).unwrap(), at(1).unwrap()).unwrap();
        }
    }
    assert_eq!(shared.nodes.len(), graph.nodes.len() + 10);
    shared.intervals(&field()).expect("numbers that fit");
    let shared = shared.with_least_buffers().unwrap();
    assert!(run(&shared, &field(), Arithmetic::Exact, &both(&inputs)).unwrap() == both(&expected));
    assert!(run_on_threads(&shared, &field(), Arithmetic::Exact, &both(&inputs)).unwrap() == both(&expected));

    let refused = |graph: &DataflowGraph, copies| graph.unrolled(copies).unwrap_err().to_string();
    for copies in [0, 65] {
        assert_eq!(
            refused(&graph, copies),
            format!(
                "graph xyzz-plus-affine, the whole: {copies} copies of 20 nodes: from 1 to 64 copies are possible, and \
                 4096 nodes of all"
            )
        );
    }
    assert!(graph.unrolled(64).is_ok());
    assert!(refused(&graph.unrolled(40).unwrap(), 6).ends_with("and 4096 nodes of all"));
}

#[test]
fn reductions_take_free_names() {
    let mut graph = formulas::graph("xyzz-plus-affine").unwrap();
    let names = |graph: &DataflowGraph| graph.nodes.iter().map(|node| node.name.clone()).collect::<Vec<_>>();
    let plain = names(&graph.reduced(&field(), Reductions::WhereNeeded).unwrap());
    assert_eq!(plain[17..], ["reduce-17", "reduce-18", "reduce-19"]);
    graph.nodes[3].name = "reduce-18".into();
    let renamed = names(&graph.reduced(&field(), Reductions::WhereNeeded).unwrap());
    assert_eq!(renamed[17..], ["reduce-17", "reduce-19", "reduce-20"]);
}

#[test]
fn buffers_that_are_too_small_are_explained() {
    let mut graph = formulas::graph("xyzz-plus-affine").unwrap();
    assert!(graph.check_buffers().is_ok());
    // The bundle that PPP = P * PP has before its first P leaves no room for that.
    let ppp = graph.nodes.iter().position(|node| node.name == "multiply-5").unwrap();
    let edge = graph.nodes[ppp].inputs.iter_mut().find(|edge| edge.from == Port::Node(2, 0)).unwrap();
    (edge.depth, edge.initial) = (1, 1);
    let reason = graph.check_buffers().unwrap_err().to_string();
    assert_eq!(
        reason,
        "deadlock: subtract-2 waits for room in front of multiply-5, input 0, whose buffer of 1 is full; \
         multiply-5 waits for a bundle of square-4; square-4 waits for a bundle of subtract-2"
    );
    assert_eq!(run(&graph, &field(), Arithmetic::Exact, &sums().inputs).unwrap_err().to_string(), reason);
    assert_eq!(
        run_on_threads(&graph, &field(), Arithmetic::Exact, &sums().inputs).unwrap_err().to_string(),
        reason
    );
    let edge = graph.nodes[ppp].inputs.iter_mut().find(|edge| edge.from == Port::Node(2, 0)).unwrap();
    edge.depth = 2;
    assert!(graph.check_buffers().is_ok());
    let least = graph.with_least_buffers().unwrap();
    let deeper: Vec<_> = least.edges().filter(|(_, edge)| edge.depth > 1).map(|(reader, _)| reader).collect();
    assert_eq!(deeper, [EdgeReader::Node(ppp, 0)]);
    let mut sum = running_sum();
    sum.edges_mut().for_each(|edge| edge.depth = 9);
    assert!(sum.with_least_buffers().unwrap().edges().all(|(_, edge)| edge.depth == 1));
}

#[test]
fn malformed_graphs_are_refused_with_the_reason() {
    let message = |change: &dyn Fn(&mut DataflowGraph)| {
        let mut graph = formulas::graph("butterfly").unwrap();
        change(&mut graph);
        graph.order().unwrap_err().to_string()
    };
    assert_eq!(
        message(&|graph| graph.nodes[0].inputs[0].from = Port::Node(2, 0)),
        "graph butterfly, node multiply-0: it waits for itself: a cycle of edges needs one with an initial bundle"
    );
    assert_eq!(
        message(&|graph| graph.nodes[0].inputs[0].from = Port::Node(9, 0)),
        "graph butterfly, node multiply-0, input 0: Node(9, 0) does not exist"
    );
    assert_eq!(
        message(&|graph| graph.sinks[0].edge.depth = 0),
        "graph butterfly, sink C: a buffer of 0 bundles cannot hold 0 and pass one"
    );
    assert_eq!(
        message(&|graph| graph.nodes[1].steps[0].operands[0] = 2),
        "graph butterfly, node add-1: step 0 reads value 2, which is not there before it"
    );
    assert_eq!(
        message(&|graph| graph.nodes[1].steps[0].operation = FieldOperation::Double),
        "graph butterfly, node add-1: step 0 needs 1 operands"
    );
    assert_eq!(
        message(&|graph| graph.nodes[1].outputs[0] = 3),
        "graph butterfly, node add-1: it sends value 3 of 3"
    );
    assert_eq!(
        message(&|graph| graph.sinks[1].name = "C".into()),
        "graph butterfly, sink C: there are two of this name"
    );
    assert_eq!(message(&|graph| graph.sinks.clear()), "graph butterfly, the whole: it has no sinks");
    assert_eq!(
        message(&|graph| graph.nodes[1].inputs.fill(Edge { from: Port::Node(1, 0), depth: 1, initial: 1 })),
        "graph butterfly, node add-1: it depends on no source and would never end"
    );
}

#[test]
fn inputs_that_do_not_suit_are_refused() {
    let graph = formulas::graph("butterfly").unwrap();
    let refused = |inputs: &[Vec<Bundle>]| run(&graph, &field(), Arithmetic::Exact, inputs).unwrap_err();
    let bundle = Bundle::zeros(1);
    assert_eq!(
        refused(&[vec![bundle.clone()]]),
        PipelineError::Inputs("1 sequences of bundles for 3 sources of butterfly".into())
    );
    assert_eq!(
        refused(&[vec![bundle.clone()], vec![bundle.clone()], vec![Bundle::zeros(2)]]).to_string(),
        "source W has other bundles than source A: as many of the same size are needed"
    );
    assert_eq!(
        run(&graph, &field(), Arithmetic::Exact, &[vec![], vec![], vec![]]).unwrap(),
        [vec![], vec![]]
    );
}
