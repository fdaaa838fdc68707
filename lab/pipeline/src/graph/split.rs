//! One node as two, for two tiles.

use super::{DataflowGraph, Edge, FieldOperation, GraphNode, NodeStep, Port};
use crate::PipelineError;

impl DataflowGraph {
    /// The graph with a product as two nodes, each with half of its products of limbs: [`FieldOperation::MultiplyLower`] in a new node, the
    /// last one, and [`FieldOperation::MultiplyUpper`] in the node's place.
    ///
    /// # Errors
    /// As [`order`](Self::order); nodes that do not exist, or that compute anything but one [`FieldOperation::Multiply`] or
    /// [`FieldOperation::Square`] of inputs and constants.
    pub fn split(&self, node: usize) -> Result<Self, PipelineError> {
        self.order()?;
        let Some(GraphNode { name, inputs, steps, outputs }) = self.nodes.get(node) else {
            return Err(self.problem("the whole", format!("there is no node {node}")));
        };
        let mut others = steps.iter().enumerate().filter(|(_, step)| !step.operation.is_constant());
        let is_product =
            |step: &NodeStep| matches!(step.operation, FieldOperation::Multiply | FieldOperation::Square);
        let (Some((product, _)), None) = (others.next().filter(|(_, step)| is_product(step)), others.next())
        else {
            let problem = "it is not one product or square, and is not split".into();
            return Err(self.problem(&format!("node {name}"), problem));
        };
        // The values that the steps compute come after the inputs, of which the upper half has one more.
        let moved = |value: usize, by: usize| if value < inputs.len() { value } else { value + by };
        let half = |operation, t: Option<usize>| {
            let by = t.iter().len();
            let half = |step: &NodeStep| {
                let factors = step.operands.iter().cycle().take(2).map(|value| moved(*value, by));
                NodeStep { operation, operands: factors.chain(t).collect() }
            };
            let steps = steps.iter();
            steps.map(|step| if is_product(step) { half(step) } else { step.clone() }).collect()
        };
        let t = Edge::new(Port::Node(self.nodes.len(), 0));
        let mut graph = self.clone();
        graph.nodes.push(GraphNode {
            name: format!("{name}-lower"),
            inputs: inputs.clone(),
            steps: half(FieldOperation::MultiplyLower, None),
            outputs: vec![inputs.len() + product],
        });
        graph.nodes[node] = GraphNode {
            name: format!("{name}-upper"),
            inputs: [inputs.as_slice(), &[t]].concat(),
            steps: half(FieldOperation::MultiplyUpper, Some(inputs.len())),
            outputs: outputs.iter().map(|output| moved(*output, 1)).collect(),
        };
        graph.order()?;
        Ok(graph)
    }

    /// The graph with all nodes that are one product as two nodes each.
    ///
    /// # Errors
    /// As [`order`](Self::order).
    pub fn with_split_products(&self) -> Result<Self, PipelineError> {
        let is_product = |node: &GraphNode| {
            let operations = node.steps.iter().map(|step| step.operation);
            let operations: Vec<_> = operations.filter(|operation| !operation.is_constant()).collect();
            matches!(operations.as_slice(), [FieldOperation::Multiply | FieldOperation::Square])
        };
        let mut graph = self.clone();
        for (index, node) in self.nodes.iter().enumerate() {
            if is_product(node) {
                graph = graph.split(index)?;
            }
        }
        Ok(graph)
    }
}
