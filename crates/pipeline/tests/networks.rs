//! Networks of formulas against the curve's own points, in any order, on threads, with any buffers.

use proofmill_curve::{Affine, Curve, Jacobian, Xyzz, bn254::G1};
use proofmill_field::{
    Field, PrimeField,
    bn254::{Fq, Fr},
};
use proofmill_pipeline::{
    Graph, PipelineError,
    execute::{Arithmetic, run, run_in_order, run_on_threads},
    formulas,
    graph::{Edge, Operation, Port, Reader, Reductions},
    limbs::{Bundle, SignedField},
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::Rng;

const VECTORS: usize = 4;
const BUNDLES: usize = 5;
const POINTS: usize = 8 * VECTORS * BUNDLES;

type G = G1;

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

/// 2^256: elements are residues times it.
fn r() -> Fq {
    (0..256).fold(Fq::ONE, |power, _| power + power)
}

/// Elements by bundles.
fn bundles(elements: &[Fq]) -> Vec<Bundle> {
    let (field, r) = (field(), r());
    let each = elements.chunks(8 * VECTORS).map(|elements| {
        let mut bundle = Bundle::zeros(VECTORS);
        elements
            .iter()
            .enumerate()
            .for_each(|(index, element)| bundle.set(index, (*element * r).to_words(), &field));
        bundle
    });
    each.collect()
}

/// Whether bundles hold these elements.
fn hold(bundles: &[Bundle], elements: &[Fq]) -> bool {
    let (field, r) = (field(), r());
    elements.iter().enumerate().all(|(index, element)| {
        bundles[index / (8 * VECTORS)].get(index % (8 * VECTORS), &field) == (*element * r).to_words()
    })
}

fn multiples(seed: u64) -> Vec<Jacobian<G>> {
    let mut rng = rng(seed);
    (0..POINTS).map(|_| G::GENERATOR.mul_vartime(&Fr::from(rng.random::<u64>()))).collect()
}

/// Points whose ZZ is not 1.
fn xyzz(seed: u64) -> Vec<Xyzz<G>> {
    let affine = Jacobian::batch_to_affine(&multiples(seed));
    affine.into_iter().map(|point| Xyzz::from(point).double()).collect()
}

fn coordinates<T, const N: usize>(points: &[T], of: impl Fn(&T) -> [Fq; N]) -> Vec<Vec<Bundle>> {
    (0..N).map(|index| bundles(&points.iter().map(|point| of(point)[index]).collect::<Vec<_>>())).collect()
}

fn of_xyzz(point: &Xyzz<G>) -> [Fq; 4] {
    [point.x, point.y, point.zz, point.zzz]
}

fn of_affine(point: &Affine<G>) -> [Fq; 2] {
    [point.x, point.y]
}

fn matches<T, const N: usize>(results: &[Vec<Bundle>], points: &[T], of: impl Fn(&T) -> [Fq; N]) -> bool {
    (0..N)
        .all(|index| hold(&results[index], &points.iter().map(|point| of(point)[index]).collect::<Vec<_>>()))
}

struct Sums {
    graph: Graph,
    inputs: Vec<Vec<Bundle>>,
    sums: Vec<Xyzz<G>>,
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
fn the_circuit_of_the_paper_is_derived() {
    let graph = formulas::graph("xyzz-plus-affine").unwrap();
    let counts =
        [Operation::Multiply, Operation::Subtract, Operation::Square, Operation::Double, Operation::Add];
    assert_eq!(counts.map(|operation| graph.count(operation)), [8, 6, 2, 1, 0]);
    let operands = |count| graph.nodes.iter().filter(|node| node.inputs.len() == count).count();
    assert_eq!([operands(2), operands(1)], [14, 3]);
    assert_eq!([graph.sources.len(), graph.sinks.len()], [6, 4]);
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
fn every_formula_is_its_points() {
    let field = field();
    let reduced = |name| formulas::graph(name).unwrap().reduced(&field, Reductions::WhereNeeded).unwrap();
    let (left, right) = (xyzz(3), xyzz(4));
    let both = [coordinates(&left, of_xyzz), coordinates(&right, of_xyzz)].concat();
    let sums: Vec<_> = left.iter().zip(&right).map(|(left, right)| left.add(right)).collect();
    assert!(matches(
        &run(&reduced("xyzz-plus-xyzz"), &field, Arithmetic::Exact, &both).unwrap(),
        &sums,
        of_xyzz
    ));
    let doubles: Vec<_> = left.iter().map(Xyzz::double).collect();
    let results = run(&reduced("xyzz-double"), &field, Arithmetic::Exact, &both[..4]).unwrap();
    assert!(matches(&results, &doubles, of_xyzz));
    let points: Vec<_> = left.iter().map(|point| Jacobian::from(*point)).collect();
    let of_jacobian = |point: &Jacobian<G>| [point.x, point.y, point.z];
    let results =
        run(&reduced("jacobian-double"), &field, Arithmetic::Exact, &coordinates(&points, of_jacobian))
            .unwrap();
    assert!(matches(&results, &points.iter().map(Jacobian::double).collect::<Vec<_>>(), of_jacobian));
    assert!(formulas::graph("madd").is_none());
    for name in formulas::NAMES {
        assert_eq!(reduced(name).name, *name);
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
fn running_sum() -> Graph {
    let mut graph = formulas::graph("butterfly").unwrap();
    graph.name = "running-sum".into();
    graph.nodes.truncate(1);
    let node = &mut graph.nodes[0];
    node.steps[0].operation = Operation::Add;
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
        names.splice(..2, [format!("{}+{}", names[0], names[1])]);
        one = one.fused(first, second).unwrap();
    }
    assert_eq!((one.nodes.len(), one.nodes[0].inputs.len(), one.nodes[0].outputs.len()), (1, 6, 4));
    assert!(run(&one, &field(), Arithmetic::Exact, &inputs).unwrap() == expected);
    let error = graph.fused(0, 99).unwrap_err().to_string();
    assert_eq!(error, "graph xyzz-plus-affine, the whole: there are no nodes 0 and 99");
    let mut sum = running_sum();
    sum.nodes[0].name = "sum".into();
    assert!(sum.fused(0, 0).unwrap_err().to_string().ends_with("it cannot be joined with itself"));
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
    assert_eq!(deeper, [Reader::Node(ppp, 0)]);
    let mut sum = running_sum();
    sum.edges_mut().for_each(|edge| edge.depth = 9);
    assert!(sum.with_least_buffers().unwrap().edges().all(|(_, edge)| edge.depth == 1));
}

#[test]
fn malformed_graphs_are_refused_with_the_reason() {
    let message = |change: &dyn Fn(&mut Graph)| {
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
        message(&|graph| graph.nodes[1].steps[0].operation = Operation::Double),
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
