//! Pipelines in time, against the figures of "Elliptic Curve ZK-Proof Acceleration on AMD Versal" (Ulvetanna, 2024) and against what
//! can be reckoned by hand.

use proofmill_field::{bn254::Fq, goldilocks_levels};
use proofmill_pipeline::{
    DataflowGraph, Device,
    execute::{Arithmetic, run},
    formulas,
    graph::Reductions,
    limbs::{Bundle, SignedField},
    samples,
    schedule::{Compiler, NetworkKernels, balanced},
    simulate::{Pipelines, RunSettings, SimulationOutcome, Supply, at_full_rate},
};
use std::{collections::BTreeMap, sync::Mutex};

/// The paper's additions.
const ADDITIONS: f64 = (1u64 << 26) as f64;

/// The paper's additions: kernels that take 18.63 times as long as our schedules. That
/// explains its single pipeline; its kernels' cycles were not published.
const PAPER: RunSettings = RunSettings { supply: Supply::Fabric, slowdown: 18.63, calls: 200 };

/// Bundles of the paper's calls, so that deep buffers have room.
const BUNDLES: usize = 2;

const ONE: RunSettings = RunSettings { slowdown: 1.0, ..PAPER };

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

/// The paper's network: reductions are a part of each operation.
fn graph() -> DataflowGraph {
    formulas::graph("xyzz-plus-affine").unwrap().reduced(&field(), Reductions::InNodes).unwrap()
}

/// The same with buffers that are deep enough.
fn deep(kernels: &NetworkKernels, run: RunSettings) -> DataflowGraph {
    at_full_rate(&graph(), kernels, &device(), run.slowdown).unwrap()
}

/// The kernels for calls of so many bundles; scheduled once for all tests.
fn kernels(bundles: usize) -> NetworkKernels {
    static KNOWN: Mutex<BTreeMap<usize, NetworkKernels>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    let new = || NetworkKernels::new(&graph(), &field(), &device(), 4 * bundles).unwrap();
    known.entry(bundles).or_insert_with(new).clone()
}

fn outcome_of(
    graph: &DataflowGraph,
    kernels: &NetworkKernels,
    run: RunSettings,
    pipelines: usize,
) -> SimulationOutcome {
    Pipelines::new(graph, kernels, &device(), pipelines).unwrap().simulate(&run).unwrap()
}

fn outcome(kernels: &NetworkKernels, run: RunSettings) -> SimulationOutcome {
    outcome_of(&graph(), kernels, run, 1)
}

fn is_near(value: f64, expected: f64, share: f64) -> bool {
    (value / expected - 1.0).abs() <= share
}

#[test]
fn the_figures_of_the_paper_without_its_host() {
    let kernels = kernels(BUNDLES);
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
fn the_paper_is_bound_by_computing() {
    let kernels = kernels(BUNDLES);
    let deep = deep(&kernels, PAPER);
    // As many pipelines as have room, and the slowest node always works; a stream is idle for most of the time.
    let outcome = outcome_of(&deep, &kernels, PAPER, 23);
    let critical = outcome.critical().unwrap();
    assert!(critical.working > 0.9, "{critical:?}");
    let stream = (64 * 32) as f64 / device().streams.bytes_per_cycle as f64;
    assert!(stream < 0.05 * critical.cycles as f64);
    // "If each pipeline required 8x fewer cycles and the AI Engine grid could fit 340 pipelines", 6 G additions a second.
    let faster = RunSettings { slowdown: PAPER.slowdown / 8.0, ..PAPER };
    let deep = at_full_rate(&graph(), &kernels, &device(), faster.slowdown).unwrap();
    let one = outcome_of(&deep, &kernels, faster, 1).per_second;
    assert!(is_near(340.0 * one, 6e9, 0.05), "{one}");
    // The streams into the grid would bring as many.
    let device = device();
    let bytes = (device.streams.into_grid * device.streams.bytes_per_cycle) as f64 * device.tile.hertz;
    assert!(bytes / 192.0 > 6e9, "{bytes}");
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
    let kernels = kernels(BUNDLES);
    let run = RunSettings { supply: Supply::Host, ..PAPER };
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
    let mut compiler = Compiler::new(&field, &device, 4 * BUNDLES);
    let kernels = compiler.kernels(&graph).unwrap();
    let balanced = balanced(&graph, &mut compiler, kernels.slowest()).unwrap();
    let slowest =
        |graph, kernels: &NetworkKernels| outcome_of(graph, kernels, ONE, 1).critical().unwrap().cycles;
    let of_balanced = compiler.kernels(&balanced).unwrap();
    assert!(is_near(slowest(&balanced, &of_balanced) as f64, slowest(&graph, &kernels) as f64, 0.05));
    assert!(balanced.nodes.len() <= 14, "{}", balanced.nodes.len());
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
fn results_do_not_depend_on_pipelines_buffers_or_supply() {
    let (field, device, name) = (field(), device(), "xyzz-plus-affine");
    let kernels = kernels(1);
    // Not as many calls for each pipeline, and a last call that is not full.
    let sources = samples::random(name, 32 * 7 - 5, 3).unwrap();
    let inputs: Vec<Vec<Bundle>> = sources
        .iter()
        .map(|source| {
            let bundle = |elements: &[[u64; 4]]| {
                let mut bundle = Bundle::zeros(4);
                elements.iter().enumerate().for_each(|(index, element)| bundle.set(index, *element, &field));
                bundle
            };
            source.chunks(32).map(bundle).collect()
        })
        .collect();
    let arithmetic = Arithmetic::Level(*goldilocks_levels().last().unwrap());
    let expected = run(&graph(), &field, Arithmetic::Exact, &inputs).unwrap();
    let results = samples::results(name, &sources).unwrap().unwrap();
    for (sink, results) in expected.iter().zip(&results) {
        for (index, result) in results.iter().enumerate() {
            assert_eq!(sink[index / 32].get(index % 32, &field), *result);
        }
    }
    let deep = deep(&kernels, ONE);
    let least = graph().with_least_buffers().unwrap();
    for (graph, count) in [(graph(), 1), (graph(), 3), (least, 2), (deep, 10)] {
        let pipelines = Pipelines::new(&graph, &kernels, &device, count).unwrap();
        for supply in Supply::ALL {
            for slowdown in [1.0, PAPER.slowdown] {
                let run = RunSettings { supply, slowdown, ..ONE };
                let (results, outcome) = pipelines.execute(&run, &field, arithmetic, &inputs).unwrap();
                assert!(results == expected, "{count} pipelines, from the {}", supply.name());
                assert_eq!(outcome.bytes, [6 * 7 * 1024, 4 * 7 * 1024]);
                let first = &outcome.nodes[0];
                assert_eq!(first.spans.len(), 7_usize.div_ceil(count));
                assert!(first.spans.iter().all(|[begin, end]| end - begin == first.cycles));
            }
        }
    }
    let pipelines = graph();
    let pipelines = Pipelines::new(&pipelines, &kernels, &device, 1).unwrap();
    let other: Vec<_> = inputs.iter().map(|_| vec![Bundle::zeros(3)]).collect();
    assert_eq!(
        pipelines.execute(&ONE, &field, arithmetic, &other).unwrap_err().to_string(),
        "bundles of 3 vectors for calls of 4: at least one bundle of this size is needed"
    );
}

#[test]
fn streams_and_memory_that_are_shared_limit_the_rate() {
    let kernels = kernels(1);
    let graph = deep(&kernels, ONE);
    let rate = |device: &Device, supply| {
        let pipelines = Pipelines::new(&graph, &kernels, device, 4).unwrap();
        let outcome = pipelines.simulate(&RunSettings { supply, ..ONE }).unwrap();
        (outcome.per_second, outcome.link)
    };
    let (free, _) = rate(&device(), Supply::Fabric);
    // Of 24 streams into the grid, eight share one. A packet has a word more than what it brings.
    let mut narrow = device();
    (narrow.streams.into_grid, narrow.streams.hop_cycles) = (3, 0);
    let most = |words: f64| 32.0 * narrow.tile.hertz / (2.0 * words);
    let (shared, _) = rate(&narrow, Supply::Fabric);
    assert!(is_near(shared, most(257.0), 1e-3) && shared < most(256.5), "{shared} {free}");
    // Two thirds of the bytes come, one third goes, by the same way.
    for bytes_per_second in [1e9, 10e9] {
        let mut slow = device();
        slow.memory.bytes_per_second = bytes_per_second;
        let (limited, link) = rate(&slow, Supply::Memory);
        assert!(is_near(limited, bytes_per_second / 320.0, 0.01), "{limited}");
        assert!(limited <= bytes_per_second / 320.0 * 1.001, "{limited}");
        assert!(link[0] + link[1] > 0.95);
    }
}

#[test]
fn delays_are_for_one_pipeline() {
    let (field, device) = (field(), device());
    let kernels = kernels(1);
    let mut delayed = graph();
    let edges = delayed.edges().count();
    for edge in [3, edges - 1] {
        let edge = delayed.edges_mut().nth(edge).unwrap();
        (edge.initial, edge.depth) = (1, 3);
    }
    let sources = delayed.sources.len();
    let inputs: Vec<Vec<Bundle>> = (0..sources as i32)
        .map(|source| {
            let bundle = |call: i32| {
                let mut bundle = Bundle::zeros(4);
                (0..32).for_each(|index| {
                    bundle.set_digits(index, [source + call, 7, -5, index as i32, 1, 2, 3, 4])
                });
                bundle
            };
            (0..5).map(bundle).collect()
        })
        .collect();
    let expected = run(&delayed, &field, Arithmetic::Exact, &inputs).unwrap();
    assert_eq!(expected.last().unwrap().len(), 6);
    let pipelines = |count| Pipelines::new(&delayed, &kernels, &device, count).unwrap();
    let (results, _) = pipelines(1).execute(&ONE, &field, Arithmetic::Exact, &inputs).unwrap();
    assert!(results == expected);
    let error = pipelines(2).execute(&ONE, &field, Arithmetic::Exact, &inputs).unwrap_err().to_string();
    assert!(error.ends_with("are not the results of one; take 1 pipeline"), "{error}");
}

#[test]
fn calls_of_several_bundles_hide_their_cost() {
    let per_second = |bundles| outcome(&kernels(bundles), ONE).per_second;
    let all = [1, 2, 4].map(per_second);
    assert!(all[1] > 1.1 * all[0] && all[2] > 1.05 * all[1], "{all:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let (graph, kernels, device) = (graph(), kernels(1), device());
    let pipelines = Pipelines::new(&graph, &kernels, &device, 1).unwrap();
    let refused = |run: RunSettings| pipelines.simulate(&run).unwrap_err().to_string();
    assert_eq!(
        refused(RunSettings { slowdown: f64::NAN, ..ONE }),
        "xyzz-plus-affine on VCK5000: kernels NaN times as slow: a positive factor below 10^6 is needed"
    );
    assert_eq!(
        refused(RunSettings { calls: 1, ..ONE }),
        "xyzz-plus-affine on VCK5000: 1 calls: from 2 to 2^24 are possible"
    );
    let none = Pipelines::new(&graph, &kernels, &device, 0).unwrap_err().to_string();
    assert_eq!(none, "xyzz-plus-affine on VCK5000: no pipelines: at least one is needed");
    let other = formulas::graph("butterfly").unwrap();
    let other = Pipelines::new(&other, &kernels, &device, 1).unwrap_err().to_string();
    assert_eq!(other, "butterfly on VCK5000: its kernels are those of another network");
}
