//! Arbitrary bytes as a device's description and a network: what can be read is compiled, placed, simulated, executed and drawn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_pipeline::Device;

#[path = "../../lab/pipeline/tests/it/files/mod.rs"]
mod files;

const GRAPH: &str = include_str!("../../lab/pipeline/tests/data/double.json");

/// The most steps of networks that are compiled: with what a fuzzer adds to each instruction, a product takes some seconds.
const STEPS: usize = 1;

fuzz_target!(|bytes: &[u8]| {
    // Both files, with a zero between them; or one, and then the other is a small one of the crate.
    let text = String::from_utf8_lossy(bytes);
    let (device, graph) = text.split_once('\0').unwrap_or((&text, &text));
    let device = files::device(device).or_else(|| Device::committed("vck5000"));
    let graph = files::graph(graph).or_else(|| files::graph(GRAPH));
    let (Some(device), Some(graph)) = (device, graph) else { return };
    if graph.nodes.iter().map(|node| node.steps.len()).sum::<usize>() <= STEPS {
        files::in_time(&device, &graph, 1);
    }
});
