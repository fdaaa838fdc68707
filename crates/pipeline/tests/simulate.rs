//! Pipelines in time, against the figures of "Elliptic Curve ZK-Proof Acceleration on AMD Versal" (Ulvetanna, 2024) and against what
//! can be reckoned by hand.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, Graph, formulas,
    graph::Reductions,
    limbs::SignedField,
    place::{Placement, place},
    simulate::{Kernels, Outcome, Run, at_full_rate, balanced, simulate},
};
use std::{collections::BTreeMap, sync::Mutex};

/// The paper's additions.
const ADDITIONS: f64 = (1u64 << 26) as f64;

/// The paper's additions: calls of two bundles, for which deep buffers have room, and kernels that take 17.9 times as long as our schedules. That
/// explains its single pipeline; its kernels' cycles were not published.
const PAPER: Run = Run { vectors: 4, bundles: 2, host: false, slowdown: 17.9, calls: 200 };

const ONE: Run = Run { vectors: 4, bundles: 1, host: false, slowdown: 1.0, calls: 200 };

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

/// The paper's network: reductions are a part of each operation.
fn graph() -> Graph {
    formulas::graph("xyzz-plus-affine").unwrap().reduced(&field(), Reductions::InNodes).unwrap()
}

/// The same with buffers that are deep enough.
fn deep(kernels: &Kernels, run: Run) -> Graph {
    at_full_rate(&graph(), kernels, &device(), &run).unwrap()
}

/// The kernels for calls of so many bundles; scheduled once for all tests.
fn kernels(bundles: usize) -> Kernels {
    static KNOWN: Mutex<BTreeMap<usize, Kernels>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    let new = || Kernels::new(&graph(), &field(), &device(), 4 * bundles).unwrap();
    known.entry(bundles).or_insert_with(new).clone()
}

fn outcome_of(graph: &Graph, kernels: &Kernels, run: Run, pipelines: usize) -> Outcome {
    let placements = place(graph, &device(), run.window(), pipelines).unwrap();
    simulate(graph, kernels, &device(), &run, &placements).unwrap()
}

fn outcome(kernels: &Kernels, run: Run) -> Outcome {
    outcome_of(&graph(), kernels, run, 1)
}

fn is_near(value: f64, expected: f64, share: f64) -> bool {
    (value / expected - 1.0).abs() <= share
}

#[test]
fn the_figures_of_the_paper_without_its_host() {
    let kernels = kernels(PAPER.bundles);
    let deep = deep(&kernels, PAPER);
    let seconds = |pipelines| ADDITIONS / outcome_of(&deep, &kernels, PAPER, pipelines).per_second;
    assert!(is_near(seconds(1), 30.778, 0.02), "{}", seconds(1));
    // Ten pipelines were measured to be 10.3 times as fast as one.
    assert!(is_near(seconds(10), 2.982, 0.05), "{}", seconds(10));
    assert!(is_near(ADDITIONS / seconds(23), 51.7e6, 0.05), "{}", ADDITIONS / seconds(23));
    assert!(is_near(seconds(1), 10.0 * seconds(10), 1e-3), "{} {}", seconds(1), seconds(10));
    // "Roughly only 50 %" of the array.
    assert_eq!((device().tiles(), device().pipelines(&graph())), (400, 23));
    assert!(is_near((10 * graph().nodes.len()) as f64, 200.0, 0.2));
}

#[test]
fn the_slowest_node_never_waits_with_buffers_that_are_deep_enough() {
    let kernels = kernels(1);
    let double = outcome(&kernels, ONE);
    let deep = outcome_of(&deep(&kernels, ONE), &kernels, ONE, 1);
    // Operands that wait for others with a longer path fill their double buffers, and all stops.
    assert!(double.per_second < 0.8 * deep.per_second, "{} {}", deep.per_second, double.per_second);
    let critical = deep.critical().unwrap();
    assert!(critical.name.starts_with("multiply"));
    let pace = 32.0 * device().tile.hertz / critical.cycles as f64;
    assert!(is_near(deep.per_second, pace, 1e-3), "{} {pace}", deep.per_second);
    for stage in &deep.nodes {
        assert!(stage.working + stage.starved + stage.blocked <= 1.0 + 1e-9, "{stage:?}");
        if stage.name.starts_with("multiply") {
            assert!(stage.working > 0.9, "{stage:?}");
        }
    }
}

#[test]
fn the_hosts_link_is_full_at_seven_pipelines() {
    let kernels = kernels(PAPER.bundles);
    let run = Run { host: true, ..PAPER };
    let deep = deep(&kernels, run);
    let run = |pipelines| outcome_of(&deep, &kernels, run, pipelines);
    let one = run(1).per_second;
    for pipelines in 1..=10 {
        let outcome = run(pipelines);
        let ratio = outcome.per_second / one;
        if pipelines < 7 {
            assert!(is_near(ratio, pipelines as f64, 0.03), "{pipelines}: {ratio}");
            assert!(outcome.link[0] < 0.97);
        } else {
            assert!(ratio < 7.3 && ratio > 6.3, "{pipelines}: {ratio}");
        }
    }
    assert!(run(9).link[0] > 0.97);
    let additions = 64 * 200 * 3;
    assert_eq!(run(3).bytes, [6 * 32 * additions, 4 * 32 * additions]);
}

#[test]
fn fewer_tiles_keep_the_pace() {
    let (field, device) = (field(), device());
    let graph =
        formulas::graph("xyzz-plus-affine").unwrap().reduced(&field, Reductions::WhereNeeded).unwrap();
    let vectors = ONE.vectors * PAPER.bundles;
    let balanced = balanced(&graph, &field, &device, vectors).unwrap();
    let slowest = |graph: &Graph| {
        let kernels = Kernels::new(graph, &field, &device, vectors).unwrap();
        let placements = place(graph, &device, PAPER.window(), 1).unwrap();
        let outcome =
            simulate(graph, &kernels, &device, &Run { slowdown: 1.0, ..PAPER }, &placements).unwrap();
        outcome.critical().unwrap().cycles
    };
    assert!(balanced.nodes.len() <= 14, "{}", balanced.nodes.len());
    assert!(is_near(slowest(&balanced) as f64, slowest(&graph) as f64, 0.05));
    assert!(device.pipelines(&balanced) >= 28);
}

#[test]
fn single_buffers_make_tiles_take_turns() {
    let mut single = graph();
    single.edges_mut().for_each(|edge| edge.depth = 1);
    let kernels = kernels(1);
    let single = outcome_of(&single, &kernels, ONE, 1);
    assert!(single.per_second < 0.7 * outcome(&kernels, ONE).per_second);
}

#[test]
fn calls_of_several_bundles_hide_their_cost() {
    let per_second = |bundles| outcome(&kernels(bundles), Run { bundles, ..ONE }).per_second;
    let all = [1, 2, 4].map(per_second);
    assert!(all[1] > 1.1 * all[0] && all[2] > 1.05 * all[1], "{all:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let kernels = kernels(1);
    let placements = place(&graph(), &device(), ONE.window(), 1).unwrap();
    let refused = |run: Run, placements: &[Placement]| {
        simulate(&graph(), &kernels, &device(), &run, placements).unwrap_err().to_string()
    };
    assert!(
        refused(Run { slowdown: f64::NAN, ..ONE }, &placements)
            .ends_with("at least 2 calls are possible, and a positive factor")
    );
    assert!(
        refused(Run::default(), &placements)
            .ends_with("its kernels are those of another network, or for calls of another size")
    );
    assert_eq!(refused(ONE, &[]), "xyzz-plus-affine on VCK5000: no pipelines of it are placed");
}
