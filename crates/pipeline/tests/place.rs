//! Placements against the rules of the grid, reckoned anew here.

use proofmill_field::bn254::Fq;
use proofmill_pipeline::{
    Device, Graph, formulas,
    graph::{Port, Reader, Reductions},
    limbs::SignedField,
    place::{Place, Route, place},
};
use std::collections::{HashMap, HashSet};

/// Four bundles of 32 elements.
const WINDOW: usize = 4096;

fn device() -> Device {
    Device::committed("vck5000").unwrap()
}

fn graph(name: &str, reductions: Reductions) -> Graph {
    let field = SignedField::of::<Fq>().unwrap();
    formulas::graph(name).unwrap().reduced(&field, reductions).unwrap()
}

/// The memory that a core of the first generation reaches: north, south, and both sides, of which one is its own.
fn reaches([column, row]: Place, [to_column, to_row]: Place) -> bool {
    let side = if row % 2 == 0 { to_column + 1 == column } else { column + 1 == to_column };
    (to_column == column && row.abs_diff(to_row) <= 1) || (to_row == row && side)
}

#[test]
fn all_pipelines_of_the_paper_have_room() {
    for (name, reductions) in [
        ("xyzz-plus-affine", Reductions::InNodes),
        ("xyzz-plus-affine", Reductions::WhereNeeded),
        ("xyzz-plus-xyzz", Reductions::InNodes),
        ("jacobian-double", Reductions::WhereNeeded),
        ("butterfly", Reductions::InNodes),
    ] {
        let (device, graph) = (device(), graph(name, reductions));
        let count = device.pipelines(&graph);
        let all = place(&graph, &device, WINDOW, count).unwrap();
        assert_eq!(all.len(), count);
        let mut tiles = HashSet::new();
        let mut bytes: HashMap<Place, usize> = HashMap::new();
        for placement in &all {
            assert!(placement.nodes.iter().all(|[column, row]| *column < 50 && *row < 8));
            assert!(placement.nodes.iter().all(|tile| tiles.insert(*tile)), "a tile for each node");
            let mut into = vec![0; graph.nodes.len()];
            let mut out: Vec<HashSet<Port>> = vec![HashSet::new(); graph.nodes.len()];
            for ((reader, edge), route) in graph.edges().zip(&placement.routes) {
                match (edge.from, reader, route) {
                    (Port::Node(from, _), Reader::Node(to, _), Route::Memory(buffers)) => {
                        assert_eq!(buffers.len(), edge.depth);
                        for memory in buffers {
                            assert!(reaches(placement.nodes[from], *memory));
                            assert!(reaches(placement.nodes[to], *memory));
                            *bytes.entry(*memory).or_default() += WINDOW;
                        }
                    }
                    (from, to, Route::Stream(hops)) => {
                        assert!(*hops > 0);
                        if let Reader::Node(to, _) = to {
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
            let between = graph
                .edges()
                .filter(|(reader, edge)| matches!((reader, edge.from), (Reader::Node(..), Port::Node(..))));
            assert!(4 * placement.streams_between_nodes(&graph) <= between.count(), "{name}");
        }
        assert!(bytes.values().all(|bytes| *bytes <= 30 * 1024));
        assert_eq!(place(&graph, &device, WINDOW, 1).unwrap()[0], all[0], "the same each time");
    }
}

#[test]
fn what_has_no_room_is_refused_with_the_reason() {
    let graph = graph("xyzz-plus-affine", Reductions::InNodes);
    let refused = |device: &Device, window, pipelines| {
        place(&graph, device, window, pipelines).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&device(), WINDOW, 24),
        "xyzz-plus-affine on VCK5000: 24 pipelines of 17 nodes: 400 tiles have room for 23"
    );
    let text = refused(&device(), 4 * WINDOW, 1);
    assert!(
        text.contains(
            "no tile that its ends reach has 16384 bytes for one of its 2 buffers: smaller bundles, or fewer in a call"
        ),
        "{text}"
    );
    let mut alone = device();
    alone.grid.reach = [vec![[0, 0]], vec![[0, 0]]];
    alone.streams.into_tile = 1;
    let text = refused(&alone, WINDOW, 1);
    assert!(text.contains("needs 2 streams in and") && text.ends_with("a tile has 1 and 2"), "{text}");
}
