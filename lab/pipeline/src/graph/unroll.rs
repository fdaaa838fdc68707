//! Copies of a graph as one.

use super::{DataflowGraph, GraphNode, GraphSink, Port};
use crate::PipelineError;

/// The most copies.
const COPIES: usize = 64;
/// The most nodes of all copies.
const NODES: usize = 1 << 12;

impl DataflowGraph {
    /// `copies` of the graph that do not depend on each other, as one: first everything of copy 0, then of copy 1. Names end with the copy's
    /// number: `X1.0`. Nodes that take less time than others can then work for several copies ([`fused`](Self::fused)).
    ///
    /// # Errors
    /// As [`order`](Self::order); no copies, more than 64, and more than 4096 nodes.
    pub fn unrolled(&self, copies: usize) -> Result<Self, PipelineError> {
        self.order()?;
        let nodes = self.nodes.len();
        if !(1..=COPIES).contains(&copies) || copies * nodes > NODES {
            let problem = format!(
                "{copies} copies of {nodes} nodes: from 1 to {COPIES} copies are possible, and {NODES} nodes of all"
            );
            return Err(self.problem("the whole", problem));
        }
        let mut unrolled = Self {
            name: format!("{}-x{copies}", self.name),
            sources: Vec::new(),
            nodes: Vec::new(),
            sinks: Vec::new(),
        };
        for copy in 0..copies {
            let named = |name: &str| format!("{name}.{copy}");
            let mut moved = self.clone();
            for edge in moved.edges_mut() {
                edge.from = match edge.from {
                    Port::Source(source) => Port::Source(copy * self.sources.len() + source),
                    Port::Node(node, output) => Port::Node(copy * nodes + node, output),
                };
            }
            unrolled.sources.extend(moved.sources.iter().map(|name| named(name)));
            unrolled
                .nodes
                .extend(moved.nodes.into_iter().map(|node| GraphNode { name: named(&node.name), ..node }));
            unrolled
                .sinks
                .extend(moved.sinks.into_iter().map(|sink| GraphSink { name: named(&sink.name), ..sink }));
        }
        Ok(unrolled)
    }
}
