//! Schedules kernels for a core of Zen 4 and measures those of [`CpuLanes`](proofmill_pipeline::limbs::CpuLanes) on this CPU at its best level.
//! Prints cycles for a bundle of 32 elements: `taskset -c 1 cargo run --release -p proofmill-pipeline --example cpu`. The CPU's clock is measured
//! too.

use proofmill_field::{bn254::Fq, goldilocks_levels};
use proofmill_pipeline::{
    DataflowGraph, Device,
    execute::{Arithmetic, run},
    graph::record,
    limbs::{Bundle, SignedField},
    schedule::{program, schedule},
};
use proofmill_testing::rng;
use rand::Rng;
use std::{error::Error, hint::black_box, time::Instant};

/// Vectors of a bundle; bundles of a call, few enough for the second-level cache.
const VECTORS: usize = 4;
const BUNDLES: usize = 64;
const REPETITIONS: usize = 301;

/// The least nanoseconds that something takes.
fn least(mut work: impl FnMut()) -> f64 {
    let times = (0..REPETITIONS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default().as_secs_f64() * 1e9
}

/// Cycles in a nanosecond, by a chain of additions and rotations of one cycle each.
fn gigahertz() -> f64 {
    const STEPS: u32 = 100_000;
    let chain = || {
        let (mut number, step) = (black_box(1u64), black_box(3u64));
        for _ in 0..STEPS {
            number = number.wrapping_add(step).rotate_left(1);
        }
        black_box(number);
    };
    f64::from(2 * STEPS) / least(chain)
}

fn main() -> Result<(), Box<dyn Error>> {
    let field = SignedField::of::<Fq>()?;
    let device = Device::committed("zen4").ok_or("a device of the crate")?;
    let graphs = [
        record("multiply", ["A", "B"], ["C"], |[a, b]| [a * b]),
        record("add", ["A", "B"], ["C"], |[a, b]| [a + b]),
    ];
    let mut rng = rng(1);
    let mut bundles = || -> Vec<Bundle> {
        let mut bundles = vec![Bundle::zeros(VECTORS); BUNDLES];
        for bundle in &mut bundles {
            for element in 0..bundle.elements() {
                bundle.set(
                    element,
                    [rng.random(), rng.random(), rng.random(), rng.random::<u64>() >> 3],
                    &field,
                );
            }
        }
        bundles
    };
    let inputs = [bundles(), bundles()];
    let gigahertz = gigahertz();
    let level = goldilocks_levels().into_iter().last().ok_or("a level of this CPU")?;
    println!("{gigahertz:.2} GHz, {}", level.name());
    println!("{:<10} {:>9} {:>8} {:>5} {:>13}", "kernel", "predicted", "measured", "ratio", "with its node");
    for graph in &graphs {
        let node = &graph.nodes[0];
        let schedule = schedule(&node.name, &program(node, &field, &device), &device, VECTORS * BUNDLES)?;
        let predicted = schedule.cycles(VECTORS * BUNDLES) as f64 / BUNDLES as f64;
        let cycles = |graph: &DataflowGraph| {
            let nanoseconds =
                least(|| drop(black_box(run(graph, &field, Arithmetic::Level(level), &inputs))));
            nanoseconds * gigahertz / BUNDLES as f64
        };
        // What the node takes more if it does its step eight times more: without reading, writing and sending bundles.
        let mut longer = graph.clone();
        longer.nodes[0].steps.extend(vec![node.steps[0].clone(); 8]);
        let (once, longer) = (cycles(graph), cycles(&longer));
        let measured = (longer - once) / 8.0;
        println!(
            "{:<10} {predicted:>9.0} {measured:>8.0} {:>5.2} {once:>13.0}",
            graph.name,
            measured / predicted
        );
    }
    Ok(())
}
