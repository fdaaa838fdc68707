//! Placements against the rules of the grid, reckoned anew here.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    DataflowGraph, Device, formulas,
    graph::{EdgeReader, Port, Reductions},
    limbs::SignedField,
    place::{GridPlace, Route, place},
    schedule::{CompiledKernel, NetworkKernels},
};
use std::collections::{HashMap, HashSet};

/// Vectors of a call: four bundles of 32 elements.
const VECTORS: usize = 16;
/// Bytes of what a call reads from one input.
const WINDOW: usize = 4096;

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

fn field() -> SignedField {
    SignedField::of::<Fq>().unwrap()
}

fn graph(name: &str, reductions: Reductions) -> DataflowGraph {
    formulas::graph(name).unwrap().reduced(&field(), reductions).unwrap()
}

/// Kernels that keep a kilobyte; their cycles do not matter.
fn kernels(graph: &DataflowGraph) -> NetworkKernels {
    let kernel = CompiledKernel { cycles: 1, scratch: 1024, loops: Vec::new() };
    NetworkKernels { nodes: vec![kernel; graph.nodes.len()], vectors: VECTORS }
}

/// The memory that a core of the first generation reaches: north, south, and both sides, of which one is its own.
fn reaches([column, row]: GridPlace, [to_column, to_row]: GridPlace) -> bool {
    let side = if row % 2 == 0 { to_column + 1 == column } else { column + 1 == to_column };
    (to_column == column && row.abs_diff(to_row) <= 1) || (to_row == row && side)
}

#[test]
fn all_pipelines_of_the_paper_have_room() {
    let device = device();
    for (name, reductions) in [
        ("xyzz-plus-affine", Reductions::InNodes),
        ("xyzz-plus-affine", Reductions::WhereNeeded),
        ("xyzz-plus-xyzz", Reductions::InNodes),
        ("jacobian-double", Reductions::WhereNeeded),
        ("butterfly", Reductions::InNodes),
    ] {
        let graph = graph(name, reductions);
        let kernels = kernels(&graph);
        let count = device.pipelines(&graph);
        let all = place(&graph, &device, &kernels, count).unwrap();
        assert_eq!(all.len(), count);
        let mut tiles = HashSet::new();
        let mut bytes: HashMap<GridPlace, usize> = HashMap::new();
        for placement in &all {
            assert!(placement.nodes.iter().all(|[column, row]| *column < 50 && *row < 8));
            assert!(placement.nodes.iter().all(|tile| tiles.insert(*tile)), "a tile for each node");
            let mut into = vec![0; graph.nodes.len()];
            let mut out: Vec<HashSet<Port>> = vec![HashSet::new(); graph.nodes.len()];
            for ((reader, edge), route) in graph.edges().zip(&placement.routes) {
                match (edge.from, reader, route) {
                    (Port::Node(from, _), EdgeReader::Node(to, _), Route::Memory(buffers)) => {
                        assert_eq!(buffers.len(), edge.depth);
                        for memory in buffers {
                            assert!(reaches(placement.nodes[from], *memory));
                            assert!(reaches(placement.nodes[to], *memory));
                            *bytes.entry(*memory).or_default() += WINDOW;
                        }
                    }
                    (from, to, Route::Stream(hops)) => {
                        assert!(*hops > 0);
                        if let EdgeReader::Node(to, _) = to {
                            into[to] += 1;
                        }
                        if let Port::Node(node, _) = from {
                            out[node].insert(from);
                        }
                    }
                    _ => panic!("an edge from outside by memory"),
                }
            }
            assert!(into.iter().all(|streams| *streams <= 2) && out.iter().all(|ports| ports.len() <= 2));
            // Most edges between nodes are in memory.
            let between = graph.edges().filter(|(reader, edge)| {
                matches!((reader, edge.from), (EdgeReader::Node(..), Port::Node(..)))
            });
            assert!(4 * placement.streams_between_nodes(&graph) <= between.count(), "{name}");
        }
        for placement in &all {
            for (kernel, tile) in kernels.nodes.iter().zip(&placement.nodes) {
                *bytes.entry(*tile).or_default() += kernel.scratch;
            }
        }
        assert!(bytes.values().all(|bytes| *bytes <= 30 * 1024));
        assert_eq!(place(&graph, &device, &kernels, 1).unwrap()[0], all[0], "the same each time");
    }
}

#[test]
fn what_has_no_room_is_refused_with_the_reason() {
    let graph = graph("xyzz-plus-affine", Reductions::InNodes);
    let kernels = kernels(&graph);
    let refused = |device: &Device, kernels: &NetworkKernels, pipelines| {
        place(&graph, device, kernels, pipelines).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&device(), &kernels, 24),
        "xyzz-plus-affine on VCK5000: 24 pipelines of 17 nodes: 400 tiles have room for 23; take fewer, or join nodes"
    );
    let large = NetworkKernels { vectors: 4 * VECTORS, ..kernels.clone() };
    let text = refused(&device(), &large, 1);
    assert!(
        text.contains(
            "no tile that its ends reach has 16384 bytes for one of its 2 buffers: smaller bundles, or fewer in a call"
        ),
        "{text}"
    );
    let mut greedy = kernels.clone();
    greedy.nodes[3].scratch = 31 * 1024;
    assert_eq!(
        refused(&device(), &greedy, 1),
        "xyzz-plus-affine on VCK5000: node subtract-3: its tile has no 31744 bytes for intermediate results"
    );
    let mut alone = device();
    alone.grid.reach = [vec![[0, 0]], vec![[0, 0]]];
    alone.streams.into_tile = 1;
    let text = refused(&alone, &kernels, 1);
    assert!(text.contains("needs 2 streams in and") && text.ends_with("a tile has 1 and 2"), "{text}");
}
