//! Several nodes as one, for one tile.

use super::{DataflowGraph, Edge, GraphNode, GraphSink, NodeStep, Port, check::MOST_STEPS};
use crate::PipelineError;

impl DataflowGraph {
    /// The graph with two nodes as one, which computes the steps of the first and then those of the second. Values that the second reads from
    /// the first need no buffer any more.
    ///
    /// # Errors
    /// As [`order`](Self::order): nodes that do not exist or are the same, a second node that the first one waits for, and nodes between both.
    pub fn fused(&self, first: usize, second: usize) -> Result<Self, PipelineError> {
        self.order()?;
        let (Some(a), Some(b)) = (self.nodes.get(first), self.nodes.get(second)) else {
            return Err(self.problem("the whole", format!("there are no nodes {first} and {second}")));
        };
        if first == second {
            return Err(self.problem(&format!("node {}", a.name), "it cannot be joined with itself".into()));
        }
        let mut inputs = a.inputs.clone();
        // The value that the second node reads: an output of the first, or an input of both.
        let from_first = |edge: &Edge| match edge.from {
            Port::Node(node, output) if node == first && edge.initial == 0 => Some(output),
            _ => None,
        };
        let mut read = Vec::new();
        for edge in &b.inputs {
            read.push(match from_first(edge) {
                Some(output) => Err(output),
                None => Ok(inputs.iter().position(|known| known == edge).unwrap_or_else(|| {
                    inputs.push(*edge);
                    inputs.len() - 1
                })),
            });
        }
        let of_first = |value: usize| match value.checked_sub(a.inputs.len()) {
            None => value,
            Some(step) => inputs.len() + step,
        };
        let of_second = |value: usize| match value.checked_sub(b.inputs.len()) {
            None => match read[value] {
                Ok(input) => input,
                Err(output) => of_first(a.outputs[output]),
            },
            Some(step) => inputs.len() + a.steps.len() + step,
        };
        let step = |step: &NodeStep, value: &dyn Fn(usize) -> usize| NodeStep {
            operation: step.operation,
            operands: step.operands.iter().map(|operand| value(*operand)).collect(),
        };
        let steps = a.steps.iter().map(|inner| step(inner, &of_first));
        let steps = steps.chain(b.steps.iter().map(|inner| step(inner, &of_second))).collect();
        let outputs = a.outputs.iter().map(|value| of_first(*value));
        let outputs = outputs.chain(b.outputs.iter().map(|value| of_second(*value))).collect();
        let name = joined_name(&a.name, &b.name, a.steps.len() + b.steps.len());
        self.with_joined(first, second, GraphNode { name, inputs: inputs.clone(), steps, outputs })
    }

    /// The graph with a node in the place of two. Its outputs are those of the first, and then those of the second.
    fn with_joined(&self, first: usize, second: usize, joined: GraphNode) -> Result<Self, PipelineError> {
        let moved = self.nodes[first].outputs.len();
        let mut graph = self.clone();
        graph.nodes[first] = joined;
        for edge in graph.edges_mut() {
            if let Port::Node(node, output) = edge.from
                && node == second
            {
                edge.from = Port::Node(first, moved + output);
            }
        }
        graph.nodes.remove(second);
        for edge in graph.edges_mut() {
            if let Port::Node(node, _) = &mut edge.from
                && *node > second
            {
                *node -= 1;
            }
        }
        graph.drop_unread();
        graph.order()?;
        Ok(graph)
    }

    /// The graph with all nodes as one, which has as many results as there are sinks; `None` if it has delays, or more steps
    /// than a node may have.
    ///
    /// # Errors
    /// As [`order`](Self::order).
    pub(crate) fn as_one_node(&self) -> Result<Option<Self>, PipelineError> {
        let order = self.order()?;
        let count: usize = self.nodes.iter().map(|node| node.steps.len()).sum();
        if count > MOST_STEPS || self.edges().any(|(_, edge)| edge.initial > 0) {
            return Ok(None);
        }
        let inputs: Vec<_> = (0..self.sources.len()).map(|source| Edge::new(Port::Source(source))).collect();
        let mut steps: Vec<NodeStep> = Vec::new();
        // Which value each output of each node is.
        let mut sent: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let value = |sent: &[Vec<usize>], port: Port| match port {
            Port::Source(source) => source,
            Port::Node(node, output) => sent[node][output],
        };
        for index in order {
            let node = &self.nodes[index];
            let mut values: Vec<_> = node.inputs.iter().map(|edge| value(&sent, edge.from)).collect();
            for step in &node.steps {
                let operands = step.operands.iter().map(|operand| values[*operand]).collect();
                values.push(inputs.len() + steps.len());
                steps.push(NodeStep { operation: step.operation, operands });
            }
            sent[index] = node.outputs.iter().map(|output| values[*output]).collect();
        }
        let outputs = self.sinks.iter().map(|sink| value(&sent, sink.edge.from)).collect();
        let sinks = self.sinks.iter().enumerate();
        let sinks = sinks.map(|(output, sink)| GraphSink {
            name: sink.name.clone(),
            edge: Edge::new(Port::Node(0, output)),
        });
        let node = GraphNode { name: "all".into(), inputs, steps, outputs };
        Ok(Some(Self { sinks: sinks.collect(), nodes: vec![node], ..self.clone() }))
    }

    /// Drops the outputs that nobody reads.
    fn drop_unread(&mut self) {
        for node in 0..self.nodes.len() {
            let mut output = 0;
            while output < self.nodes[node].outputs.len() {
                let here = Port::Node(node, output);
                if self.edges().any(|(_, edge)| edge.from == here) {
                    output += 1;
                    continue;
                }
                self.nodes[node].outputs.remove(output);
                for edge in self.edges_mut() {
                    if let Port::Node(from, later) = &mut edge.from
                        && *from == node
                        && *later > output
                    {
                        *later -= 1;
                    }
                }
            }
        }
    }
}

/// Both names, or the beginning of the first if they are long together.
fn joined_name(first: &str, second: &str, steps: usize) -> String {
    const MOST: usize = 48;
    if first.len() + second.len() < MOST && ![first, second].iter().any(|name| name.contains(' ')) {
        return format!("{first}+{second}");
    }
    let head = first.split(['+', ' ']).next().unwrap_or(first);
    format!("{head} and {} steps more", steps.saturating_sub(1))
}
