//! The buffers of a network, and whether they suffice.

use crate::{
    DataflowGraph, PipelineError,
    graph::{Edge, EdgeReader, Port},
};
use std::collections::VecDeque;

/// Chooses which of the nodes that can fire does so: returns an index into its argument.
pub(super) type NodeChoice<'a> = &'a mut dyn FnMut(&[usize]) -> usize;

impl DataflowGraph {
    /// Checks that buffers suffice: every node can fire once. Then all buffers hold as much as before, so every node can fire again and
    /// again.
    ///
    /// # Errors
    /// As [`order`](Self::order), and a deadlock, with the nodes that wait for each other.
    pub fn check_buffers(&self) -> Result<(), PipelineError> {
        self.order()?;
        let inputs = vec![VecDeque::from([()]); self.sources.len()];
        let fire = |node: usize, _| Ok(vec![(); self.nodes[node].outputs.len()]);
        Buffers::new(self, inputs, ()).run(fire, None).map(drop)
    }

    /// The network with buffers so small that no node waits forever and no single buffer could be smaller. Edges are tried one after
    /// another.
    ///
    /// # Errors
    /// As [`order`](Self::order).
    pub fn with_least_buffers(&self) -> Result<Self, PipelineError> {
        self.order()?;
        let mut graph = self.clone();
        // A buffer that holds all that waits in it, and what its writer sends next, stops nobody.
        graph.edges_mut().for_each(|edge| edge.depth = edge.initial + 1);
        graph.check_buffers()?;
        for index in 0..graph.edges().count() {
            let mut less = graph.clone();
            less.edges_mut().skip(index).take(1).for_each(|edge| edge.depth = edge.initial.max(1));
            if less.check_buffers().is_ok() {
                graph = less;
            }
        }
        Ok(graph)
    }
}

/// The buffers of all edges, with bundles or with values that stand for them.
pub(super) struct Buffers<'a, T> {
    graph: &'a DataflowGraph,
    edges: Vec<(EdgeReader, Edge)>,
    bundles: Vec<VecDeque<T>>,
    /// The edges that each node reads, by input.
    reads: Vec<Vec<usize>>,
    /// The edges that each output of each node fills.
    fills: Vec<Vec<Vec<usize>>>,
    /// The edges that each source fills.
    sources: Vec<Vec<usize>>,
    /// The bundles that sources have not sent yet.
    inputs: Vec<VecDeque<T>>,
    results: Vec<Vec<T>>,
}

impl<'a, T: Clone> Buffers<'a, T> {
    pub(super) fn new(graph: &'a DataflowGraph, inputs: Vec<VecDeque<T>>, zeros: T) -> Self {
        let edges: Vec<_> = graph.edges().map(|(reader, edge)| (reader, *edge)).collect();
        let mut buffers = Self {
            graph,
            bundles: edges.iter().map(|(_, edge)| vec![zeros.clone(); edge.initial].into()).collect(),
            reads: graph.nodes.iter().map(|_| Vec::new()).collect(),
            fills: graph.nodes.iter().map(|node| vec![Vec::new(); node.outputs.len()]).collect(),
            sources: vec![Vec::new(); graph.sources.len()],
            inputs,
            results: graph.sinks.iter().map(|_| Vec::new()).collect(),
            edges,
        };
        for (index, (reader, edge)) in buffers.edges.iter().enumerate() {
            if let EdgeReader::Node(node, _) = reader {
                buffers.reads[*node].push(index);
            }
            // Wrong places are found by `run`, before anything is sent.
            match edge.from {
                Port::Source(source) => buffers.sources.get_mut(source).map(|edges| edges.push(index)),
                Port::Node(node, output) => buffers
                    .fills
                    .get_mut(node)
                    .and_then(|outputs| outputs.get_mut(output))
                    .map(|edges| edges.push(index)),
            };
        }
        buffers
    }

    /// Fires each node as often as sources have bundles: in the graph's order, or as `choose` says.
    pub(super) fn run(
        mut self,
        mut fire: impl FnMut(usize, Vec<T>) -> Result<Vec<T>, PipelineError>,
        mut choose: Option<NodeChoice<'_>>,
    ) -> Result<Vec<Vec<T>>, PipelineError> {
        let order = self.graph.order()?;
        let bundles = self.inputs.first().map_or(0, VecDeque::len);
        let mut firings = vec![0; order.len()];
        loop {
            self.fill();
            let mut ready = order.clone();
            ready.retain(|node| firings[*node] < bundles);
            if let Some(choose) = &mut choose {
                ready.retain(|node| self.can_fire(*node));
                if !ready.is_empty() {
                    ready = vec![ready[choose(&ready)]];
                }
            }
            let before: usize = firings.iter().sum();
            for node in ready {
                while firings[node] < bundles && self.can_fire(node) {
                    let operands = self.take(node);
                    let outputs = fire(node, operands)?;
                    self.send(node, outputs);
                    firings[node] += 1;
                    if choose.is_some() {
                        break;
                    }
                }
            }
            if firings.iter().sum::<usize>() == before {
                break;
            }
        }
        match firings.iter().position(|firings| *firings < bundles) {
            Some(node) => Err(PipelineError::Deadlock(self.circle(node))),
            None => Ok(self.results),
        }
    }

    /// Lets sources send bundles for which there is room, and lets sinks take their bundles.
    fn fill(&mut self) {
        for source in 0..self.inputs.len() {
            while !self.inputs[source].is_empty()
                && self.sources[source].iter().all(|edge| self.has_room(*edge))
            {
                let bundle = self.inputs[source].pop_front().expect("it is not empty");
                self.sources[source].iter().for_each(|edge| self.bundles[*edge].push_back(bundle.clone()));
            }
        }
        for (index, (reader, _)) in self.edges.iter().enumerate() {
            if let EdgeReader::Sink(sink) = reader {
                self.results[*sink].extend(self.bundles[index].drain(..));
            }
        }
    }

    /// Sinks take bundles at once.
    fn has_room(&self, edge: usize) -> bool {
        let (reader, inner) = &self.edges[edge];
        matches!(reader, EdgeReader::Sink(_)) || self.bundles[edge].len() < inner.depth
    }

    fn can_fire(&self, node: usize) -> bool {
        let full = |edge: &usize| {
            // A node that feeds itself makes room first.
            !self.has_room(*edge) && !self.reads[node].contains(edge)
        };
        self.reads[node].iter().all(|edge| !self.bundles[*edge].is_empty())
            && !self.fills[node].iter().flatten().any(full)
    }

    fn take(&mut self, node: usize) -> Vec<T> {
        let bundles = &mut self.bundles;
        self.reads[node].iter().map(|edge| bundles[*edge].pop_front().expect("the node can fire")).collect()
    }

    fn send(&mut self, node: usize, outputs: Vec<T>) {
        for (edges, output) in self.fills[node].iter().zip(outputs) {
            edges.iter().for_each(|edge| self.bundles[*edge].push_back(output.clone()));
        }
    }

    /// The nodes that wait for each other in a circle, the last for the first. The search begins at a node that waits.
    fn circle(&self, node: usize) -> String {
        let mut path: Vec<(usize, String)> = Vec::new();
        let mut next = Some(node);
        while let Some(waiting) = next {
            if let Some(start) = path.iter().position(|(earlier, _)| *earlier == waiting) {
                path.drain(..start);
                // The same text wherever the search began.
                let first = (0..path.len()).min_by_key(|index| path[*index].0).unwrap_or(0);
                path.rotate_left(first);
                break;
            }
            let reason = self.reason(waiting);
            path.push((waiting, reason.1));
            next = reason.0;
        }
        path.into_iter().map(|(_, reason)| reason).collect::<Vec<_>>().join("; ")
    }

    /// The node that a node waits for, if it is one, and the reason.
    fn reason(&self, node: usize) -> (Option<usize>, String) {
        let name = |node: usize| &self.graph.nodes[node].name;
        if let Some(edge) = self.reads[node].iter().find(|edge| self.bundles[**edge].is_empty()) {
            return match self.edges[*edge].1.from {
                Port::Node(from, _) => {
                    (Some(from), format!("{} waits for a bundle of {}", name(node), name(from)))
                }
                Port::Source(source) => self.reason_of_source(node, source),
            };
        }
        let full = self.fills[node].iter().flatten().find(|edge| !self.has_room(**edge));
        match full {
            Some(edge) => self.full(name(node), *edge),
            None => (None, format!("{} can go on", name(node))),
        }
    }

    /// A source waits for the slowest of its readers.
    fn reason_of_source(&self, node: usize, source: usize) -> (Option<usize>, String) {
        let (node, source_name) = (&self.graph.nodes[node].name, &self.graph.sources[source]);
        match self.sources[source].iter().find(|edge| !self.has_room(**edge)) {
            None => (None, format!("{node} waits for a bundle of source {source_name}, which has ended")),
            Some(edge) => {
                let (next, reason) = self.full(&format!("source {source_name}"), *edge);
                (next, format!("{node} waits for a bundle of source {source_name}; {reason}"))
            }
        }
    }

    fn full(&self, writer: &str, edge: usize) -> (Option<usize>, String) {
        let (reader, edge) = &self.edges[edge];
        let EdgeReader::Node(node, input) = reader else { unreachable!("sinks have room") };
        let name = &self.graph.nodes[*node].name;
        (
            Some(*node),
            format!(
                "{writer} waits for room in front of {name}, input {input}, whose buffer of {} is full",
                edge.depth
            ),
        )
    }
}
