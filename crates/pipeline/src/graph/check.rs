//! Checks of graphs: every place exists, and nodes have an order.

use super::{Graph, Port, Reader};
use crate::PipelineError;

impl Graph {
    /// Checks the graph and returns its nodes in an order in which each comes after those whose bundles it needs first.
    ///
    /// # Errors
    /// References to what does not exist, operations with a wrong number of operands, buffers that hold nothing or more than they
    /// can, names that occur twice, and cycles without a delay.
    pub fn order(&self) -> Result<Vec<usize>, PipelineError> {
        self.check()?;
        let mut missing = vec![0; self.nodes.len()];
        let mut readers = vec![Vec::new(); self.nodes.len()];
        for (reader, edge) in self.edges() {
            if let (Reader::Node(node, _), Port::Node(from, _), 0) = (reader, edge.from, edge.initial) {
                missing[node] += 1;
                readers[from].push(node);
            }
        }
        let mut order: Vec<_> = (0..self.nodes.len()).filter(|node| missing[*node] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            for reader in &readers[order[next]] {
                missing[*reader] -= 1;
                if missing[*reader] == 0 {
                    order.push(*reader);
                }
            }
            next += 1;
        }
        match missing.iter().position(|missing| *missing > 0) {
            None => self.check_ends().map(|()| order),
            Some(node) => Err(self.problem(
                &format!("node {}", self.nodes[node].name),
                "it waits for itself: a cycle of edges needs one with an initial bundle".into(),
            )),
        }
    }

    /// Checks that every node waits for a source, at least by way of other nodes.
    fn check_ends(&self) -> Result<(), PipelineError> {
        let mut ends = vec![false; self.nodes.len()];
        loop {
            let waits = |node: &usize| {
                self.nodes[*node].inputs.iter().any(|edge| match edge.from {
                    Port::Source(_) => true,
                    Port::Node(from, _) => ends[from],
                })
            };
            let Some(next) = (0..ends.len()).find(|node| !ends[*node] && waits(node)) else { break };
            ends[next] = true;
        }
        match ends.iter().position(|ends| !ends) {
            None => Ok(()),
            Some(node) => {
                let place = format!("node {}", self.nodes[node].name);
                Err(self.problem(&place, "it depends on no source and would never end".into()))
            }
        }
    }

    fn check(&self) -> Result<(), PipelineError> {
        let names = self.sources.iter().map(|name| ("source", name));
        let names = names.chain(self.nodes.iter().map(|node| ("node", &node.name)));
        let mut names: Vec<_> = names.chain(self.sinks.iter().map(|sink| ("sink", &sink.name))).collect();
        names.sort_unstable();
        if let Some([(kind, name), _]) = names.array_windows().find(|[first, second]| first == second) {
            return Err(self.problem(&format!("{kind} {name}"), "there are two of this name".into()));
        }
        if self.sinks.is_empty() {
            return Err(self.problem("the whole", "it has no sinks".into()));
        }
        for (reader, edge) in self.edges() {
            let place = match reader {
                Reader::Node(node, input) => format!("node {}, input {input}", self.nodes[node].name),
                Reader::Sink(sink) => format!("sink {}", self.sinks[sink].name),
            };
            let exists = match edge.from {
                Port::Source(source) => source < self.sources.len(),
                Port::Node(node, output) => {
                    self.nodes.get(node).is_some_and(|node| output < node.outputs.len())
                }
            };
            if !exists {
                return Err(self.problem(&place, format!("{:?} does not exist", edge.from)));
            }
            if edge.depth == 0 || edge.initial > edge.depth {
                let problem =
                    format!("a buffer of {} bundles cannot hold {} and pass one", edge.depth, edge.initial);
                return Err(self.problem(&place, problem));
            }
        }
        for node in &self.nodes {
            let place = format!("node {}", node.name);
            for (index, step) in node.steps.iter().enumerate() {
                let known = node.inputs.len() + index;
                if step.operands.len() != step.operation.operands() {
                    let problem = format!("step {index} needs {} operands", step.operation.operands());
                    return Err(self.problem(&place, problem));
                }
                if let Some(operand) = step.operands.iter().find(|operand| **operand >= known) {
                    let problem = format!("step {index} reads value {operand}, which is not there before it");
                    return Err(self.problem(&place, problem));
                }
            }
            let values = node.inputs.len() + node.steps.len();
            if let Some(output) = node.outputs.iter().find(|output| **output >= values) {
                return Err(self.problem(&place, format!("it sends value {output} of {values}")));
            }
        }
        Ok(())
    }

    pub(super) fn problem(&self, place: &str, problem: String) -> PipelineError {
        PipelineError::Graph { graph: self.name.clone(), place: place.into(), problem }
    }
}
