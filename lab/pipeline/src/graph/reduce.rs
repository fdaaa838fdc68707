//! Where elements have to be reduced, by the intervals of their highest limbs.

use super::{DataflowGraph, Edge, FieldOperation, GraphNode, NodeStep, Port};
use crate::{
    PipelineError,
    limbs::{ElementWords, FieldConstants, Interval, LIMBS, Ranges, SignedField},
};
use serde::{Deserialize, Serialize};

/// How sums are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reductions {
    /// Every node of sums and differences reduces its results.
    InNodes,
    /// Nodes of their own, where an element could become too large.
    WhereNeeded,
}

impl Reductions {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::InNodes, Self::WhereNeeded];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::InNodes => "in-nodes",
            Self::WhereNeeded => "where-needed",
        }
    }
}

impl DataflowGraph {
    /// The graph with reductions, so that no number of any tile can overflow and results are as small as sources may be.
    ///
    /// # Errors
    /// As [`intervals`](Self::intervals), where reducing does not help.
    pub fn reduced(&self, field: &SignedField, reductions: Reductions) -> Result<Self, PipelineError> {
        self.order()?;
        let mut graph = self.clone();
        if reductions == Reductions::InNodes {
            graph.nodes.iter_mut().for_each(GraphNode::reduce);
        }
        loop {
            let port = match graph.bounds(field)? {
                Bounds::Fit(outputs) => {
                    let delayed = graph.edges().filter(|(reader, edge)| {
                        edge.initial > 0 || matches!(reader, super::EdgeReader::Sink(_))
                    });
                    // Integers in canonical form are as small as they can be.
                    let delayed = delayed
                        .filter(|(_, edge)| graph.operation(edge.from) != Some(FieldOperation::ToCanonical));
                    let large = delayed
                        .map(|(_, edge)| edge.from)
                        .find(|from| !field.bound().contains(graph.interval(&outputs, *from, field)));
                    match large {
                        None => return Ok(graph),
                        Some(port) => port,
                    }
                }
                Bounds::Overflow { error, largest } => match largest {
                    Some(port) => port,
                    None => return Err(error),
                },
            };
            graph.reduce(port);
        }
    }

    /// The interval of the highest limb of each output of each node, if sources are within [`SignedField::bound`].
    ///
    /// # Errors
    /// As [`order`](Self::order), numbers that may not fit the registers of a tile, and constants that exceed the bound of sources.
    pub fn intervals(&self, field: &SignedField) -> Result<Vec<Vec<Interval>>, PipelineError> {
        match self.bounds(field)? {
            Bounds::Fit(outputs) => Ok(outputs),
            Bounds::Overflow { error, .. } => Err(error),
        }
    }

    fn bounds(&self, field: &SignedField) -> Result<Bounds, PipelineError> {
        let mut outputs: Vec<Vec<Interval>> = self.nodes.iter().map(|_| Vec::new()).collect();
        for index in self.order()? {
            let node = &self.nodes[index];
            let mut tile = Ranges::default();
            let constants = FieldConstants::new(&mut tile, field);
            let inputs = node.inputs.iter().map(|edge| {
                // An edge with a delay is checked at the end.
                if edge.initial > 0 { field.bound() } else { self.interval(&outputs, edge.from, field) }
            });
            let mut values: Vec<ElementWords<Ranges>> = inputs.map(Ranges::value).collect();
            for step in &node.steps {
                if let FieldOperation::Constant(digits) = step.operation
                    && !field.bound().contains(Interval::of(digits[LIMBS - 1].into()))
                {
                    let problem = "its constant exceeds 3/4 of the modulus: take a smaller residue".into();
                    return Err(self.problem(&format!("node {}", node.name), problem));
                }
                values.push(constants.step(&mut tile, step, &values));
            }
            if let Some((Interval { least, most }, bits)) = tile.overflow() {
                let (graph, node_name) = (self.name.clone(), node.name.clone());
                let reducible =
                    node.inputs.iter().filter(|edge| edge.initial == 0 && !self.is_reduced(edge.from));
                let largest = reducible.max_by_key(|edge| self.interval(&outputs, edge.from, field).most);
                return Ok(Bounds::Overflow {
                    error: PipelineError::Overflow { graph, node: node_name, least, most, bits },
                    largest: largest.map(|edge| edge.from),
                });
            }
            outputs[index] = node.outputs.iter().map(|output| Ranges::top(&values[*output])).collect();
        }
        Ok(Bounds::Fit(outputs))
    }

    /// Whether an element is within the bound of sources, or the result of a reduction.
    fn is_reduced(&self, port: Port) -> bool {
        matches!(port, Port::Source(_)) || self.operation(port) == Some(FieldOperation::Reduce)
    }

    fn interval(&self, outputs: &[Vec<Interval>], port: Port, field: &SignedField) -> Interval {
        match port {
            Port::Source(source) if self.is_canonical(source) => field.canonical(),
            Port::Source(_) => field.bound(),
            Port::Node(node, output) => outputs[node][output],
        }
    }

    /// Puts a reduction behind a port.
    fn reduce(&mut self, port: Port) {
        let reduced = Port::Node(self.nodes.len(), 0);
        // Nodes that were joined have left their numbers behind.
        let mut number = self.nodes.len();
        let named = |number: usize| format!("reduce-{number}");
        while self.nodes.iter().any(|node| node.name == named(number)) {
            number += 1;
        }
        self.edges_mut().filter(|edge| edge.from == port).for_each(|edge| edge.from = reduced);
        self.nodes.push(GraphNode {
            name: named(number),
            inputs: vec![Edge::new(port)],
            steps: vec![NodeStep { operation: FieldOperation::Reduce, operands: vec![0] }],
            outputs: vec![1],
        });
    }
}

impl GraphNode {
    /// Reduces the outputs that are not products.
    fn reduce(&mut self) {
        for output in &mut self.outputs {
            let step = output.checked_sub(self.inputs.len()).map(|step| self.steps[step].operation);
            if matches!(
                step,
                Some(
                    FieldOperation::Add
                        | FieldOperation::Subtract
                        | FieldOperation::Negate
                        | FieldOperation::Double
                )
            ) {
                self.steps.push(NodeStep { operation: FieldOperation::Reduce, operands: vec![*output] });
                *output = self.inputs.len() + self.steps.len() - 1;
            }
        }
    }
}

enum Bounds {
    Fit(Vec<Vec<Interval>>),
    Overflow {
        error: PipelineError,
        /// The port that feeds the largest operand that can be reduced.
        largest: Option<Port>,
    },
}
