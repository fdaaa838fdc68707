//! Checks of graphs: every place exists, and nodes have an order.

use super::{DataflowGraph, EdgeReader, FieldOperation, Port};
use crate::{
    PipelineError,
    error::{beginning, problem_of_name},
};

/// The most sources, nodes, inputs, steps, outputs and sinks together.
const MOST_PARTS: usize = 1 << 15;
/// The most steps of a node.
pub(super) const MOST_STEPS: usize = 1 << 10;
/// The most bundles that all buffers together hold.
const MOST_BUNDLES: usize = 1 << 16;

impl DataflowGraph {
    /// Checks the graph and returns its nodes in an order in which each node comes after the nodes whose bundles it needs first.
    ///
    /// # Errors
    /// References to places that do not exist, operations with a wrong number of operands, and names that occur twice. Buffers that hold
    /// nothing or more than they can, and cycles without a delay. Graphs of more than 32768 parts, which are sources, nodes, their inputs,
    /// steps and outputs, and sinks. Nodes of more than 1024 steps, buffers of more than 65536 bundles together, and names of more than 4096
    /// bytes.
    pub fn order(&self) -> Result<Vec<usize>, PipelineError> {
        self.check()?;
        let mut missing = vec![0; self.nodes.len()];
        let mut readers = vec![Vec::new(); self.nodes.len()];
        for (reader, edge) in self.edges() {
            if let (EdgeReader::Node(node, _), Port::Node(from, _), 0) = (reader, edge.from, edge.initial) {
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
        let mut readers = vec![Vec::new(); self.nodes.len()];
        let mut ends = vec![false; self.nodes.len()];
        let mut next = Vec::new();
        for (reader, edge) in self.edges() {
            match (reader, edge.from) {
                (EdgeReader::Node(node, _), Port::Source(_)) => next.push(node),
                (EdgeReader::Node(node, _), Port::Node(from, _)) => readers[from].push(node),
                (EdgeReader::Sink(_), _) => {}
            }
        }
        while let Some(node) = next.pop() {
            if !std::mem::replace(&mut ends[node], true) {
                next.append(&mut readers[node]);
            }
        }
        match ends.iter().position(|ends| !ends) {
            None => Ok(()),
            Some(node) => {
                let place = format!("node {}", self.nodes[node].name);
                Err(self.problem(&place, "it depends on no source and would never end".into()))
            }
        }
    }

    /// Checks that the graph is not too large to be worked with, and that its names fit a message.
    fn check_size(&self) -> Result<(), PipelineError> {
        if let Some(problem) = problem_of_name(&self.name) {
            let graph = beginning(&self.name);
            return Err(PipelineError::Graph { graph, place: "its name".into(), problem });
        }
        let of_nodes =
            self.nodes.iter().map(|node| node.inputs.len() + node.steps.len() + node.outputs.len());
        let parts = self.sources.len() + self.nodes.len() + self.sinks.len() + of_nodes.sum::<usize>();
        if parts > MOST_PARTS {
            let problem = format!(
                "{parts} sources, nodes, inputs, steps, outputs and sinks: {MOST_PARTS} are possible"
            );
            return Err(self.problem("the whole", problem));
        }
        let bundles = self.edges().fold(0usize, |sum, (_, edge)| sum.saturating_add(edge.depth));
        if bundles > MOST_BUNDLES {
            let problem = format!("buffers of {bundles} bundles together: {MOST_BUNDLES} are possible");
            return Err(self.problem("the whole", problem));
        }
        if let Some((index, node)) =
            self.nodes.iter().enumerate().find(|(_, node)| node.steps.len() > MOST_STEPS)
        {
            let problem = format!("{} steps: {MOST_STEPS} are possible", node.steps.len());
            return Err(self.problem(&format!("node {index}"), problem));
        }
        let sources = self.sources.iter().enumerate().map(|(index, name)| ("source", index, name));
        let nodes = self.nodes.iter().enumerate().map(|(index, node)| ("node", index, &node.name));
        let sinks = self.sinks.iter().enumerate().map(|(index, sink)| ("sink", index, &sink.name));
        let problem =
            |(kind, index, name): (&'static str, usize, &String)| Some((kind, index, problem_of_name(name)?));
        match sources.chain(nodes).chain(sinks).find_map(problem) {
            None => Ok(()),
            Some((kind, index, problem)) => Err(self.problem(&format!("{kind} {index}"), problem)),
        }
    }

    fn check(&self) -> Result<(), PipelineError> {
        self.check_size()?;
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
                EdgeReader::Node(node, input) => format!("node {}, input {input}", self.nodes[node].name),
                EdgeReader::Sink(sink) => format!("sink {}", self.sinks[sink].name),
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
        self.check_forms()
    }

    /// Checks that integers in canonical form go from sources to [`FieldOperation::FromCanonical`], and from [`FieldOperation::ToCanonical`] to
    /// sinks.
    fn check_forms(&self) -> Result<(), PipelineError> {
        let canonical: Vec<_> = (0..self.sources.len()).map(|source| self.is_canonical(source)).collect();
        for node in &self.nodes {
            for (index, step) in node.steps.iter().enumerate() {
                for operand in &step.operands {
                    let from = node.inputs.get(*operand).map(|edge| edge.from);
                    let source = from.and_then(|from| match from {
                        Port::Source(source) => Some(source),
                        Port::Node(..) => None,
                    });
                    let computed = node.operation(*operand).or(from.and_then(|from| self.operation(from)));
                    let reads = step.operation == FieldOperation::FromCanonical;
                    let problem = if reads && source.is_none() {
                        "reads what is no source"
                    } else if !reads && source.is_some_and(|source| canonical[source]) {
                        "reads a source of integers in canonical form"
                    } else if computed == Some(FieldOperation::ToCanonical) {
                        "reads an integer in canonical form"
                    } else {
                        continue;
                    };
                    let problem = format!("step {index}, {}, {problem}", step.operation.name());
                    return Err(self.problem(&format!("node {}", node.name), problem));
                }
            }
        }
        Ok(())
    }

    pub(super) fn problem(&self, place: &str, problem: String) -> PipelineError {
        PipelineError::Graph { graph: self.name.clone(), place: place.into(), problem }
    }
}
