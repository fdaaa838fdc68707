//! The search for an arrangement with few streams.

use super::{GridPlace, ends, hops, needs_stream, streams};
use crate::{
    DataflowGraph, Device,
    graph::{Edge, EdgeReader},
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Exchanges that are tried, and the most edges that they look at.
const STEPS: u64 = 20_000;
const LOOKED_AT: u64 = 1 << 24;

/// Arranges the nodes on the tiles: in order along the line, then by exchanges of two that do not make it worse (and at first by some that
/// do: simulated annealing, Kirkpatrick and others, 1983). Always the same for the same graph.
pub(super) fn arrange(
    graph: &DataflowGraph,
    device: &Device,
    order: &[usize],
    tiles: &[GridPlace],
) -> Vec<GridPlace> {
    let edges: Vec<_> = graph.edges().map(|(reader, edge)| (reader, *edge)).collect();
    let mut nodes = vec![[0; 2]; graph.nodes.len()];
    for (node, tile) in order.iter().zip(tiles) {
        nodes[*node] = *tile;
    }
    let mut random = ChaCha8Rng::seed_from_u64(graph.nodes.len() as u64);
    let mut now = cost(graph, device, &nodes, &edges);
    let mut best = (now, nodes.clone());
    // Without nodes, there is nothing to exchange.
    let steps = if nodes.is_empty() { 0 } else { STEPS.min(LOOKED_AT / edges.len() as u64) };
    for step in 0..steps {
        let [a, b] = std::array::from_fn(|_| random.random_range(0..nodes.len()));
        nodes.swap(a, b);
        let then = cost(graph, device, &nodes, &edges);
        // The allowed increase of the cost falls from about one stream to nothing.
        let allowed = random.random_range(0..=(steps - step) * STREAM / steps / 2);
        if then <= now + allowed {
            now = then;
            if now < best.0 {
                best = (now, nodes.clone());
            }
        } else {
            nodes.swap(a, b);
        }
    }
    best.1
}

const STREAM: u64 = 100;
const TOO_MANY: u64 = 10_000;

/// The cost of an arrangement: first the streams that tiles do not have, then all streams, then their length.
fn cost(graph: &DataflowGraph, device: &Device, nodes: &[GridPlace], edges: &[(EdgeReader, Edge)]) -> u64 {
    let between = edges.iter().filter(|(reader, edge)| needs_stream(device, nodes, *reader, edge));
    let of_edges = between.map(|(reader, edge)| match ends(*reader, edge) {
        (Some(from), Some(to)) => STREAM + hops(nodes[from], nodes[to]) as u64,
        _ => 0,
    });
    let [into, out] = [device.streams.into_tile, device.streams.out_of_tile];
    let excess = streams(graph, device, nodes, edges)
        .into_iter()
        .map(|[used_in, used_out]| (used_in.saturating_sub(into) + used_out.saturating_sub(out)) as u64);
    of_edges.sum::<u64>() + excess.sum::<u64>() * TOO_MANY
}
