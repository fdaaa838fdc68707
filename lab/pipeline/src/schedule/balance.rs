//! Joins nodes that can share a tile.

use super::Compiler;
use crate::{DataflowGraph, PipelineError};
use std::collections::HashSet;

/// The search compares all pairs, again and again.
const MOST_NODES: usize = 512;

/// The network with fewer nodes. Nodes that together take at most `pace` cycles a call are joined, the shortest first. With the cycles of the
/// slowest node ([`NetworkKernels::slowest`](super::NetworkKernels::slowest)) it keeps its pace, and more pipelines have room.
///
/// # Errors
/// As [`DataflowGraph::order`] and [`Compiler::kernel`]; graphs of more than 512 nodes.
pub fn balanced(
    graph: &DataflowGraph,
    compiler: &mut Compiler<'_>,
    pace: usize,
) -> Result<DataflowGraph, PipelineError> {
    let nodes = graph.nodes.len();
    if nodes > MOST_NODES {
        let problem = format!("{nodes} nodes: up to {MOST_NODES} can be joined");
        return Err(PipelineError::Graph { graph: graph.name.clone(), place: "the whole".into(), problem });
    }
    let mut graph = graph.clone();
    let mut refused: HashSet<[String; 2]> = HashSet::new();
    loop {
        let cycles: Vec<_> = compiler.kernels(&graph)?.nodes.iter().map(|kernel| kernel.cycles).collect();
        let all = 0..cycles.len();
        let mut pairs: Vec<_> = all
            .clone()
            .flat_map(|first| all.clone().map(move |second| (first, second)))
            // One loop for both may take less than two.
            .filter(|(first, second)| {
                first != second && cycles[*first] + cycles[*second] <= pace.saturating_add(pace / 8)
            })
            .collect();
        pairs.sort_by_key(|(first, second)| cycles[*first] + cycles[*second]);
        let joined = pairs.into_iter().find_map(|(first, second)| {
            let names = [first, second].map(|node| graph.nodes[node].name.clone());
            if refused.contains(&names) {
                return None;
            }
            let fused = graph.fused(first, second).ok().filter(|fused| {
                let place = if second < first { first - 1 } else { first };
                // Kernels that do not fit a tile, or take too long together, stay apart; and so do nodes with more sources or sinks than a tile
                // has streams.
                compiler.has_streams(fused, place)
                    && compiler.kernel(&fused.nodes[place]).is_ok_and(|kernel| kernel.cycles <= pace)
            });
            if fused.is_none() {
                refused.insert(names);
            }
            fused
        });
        match joined {
            Some(fused) => graph = fused,
            None => return Ok(graph),
        }
    }
}
