//! Kahn process networks of field operations, as data.

mod check;
mod fuse;
mod record;
mod reduce;
mod split;
mod unroll;

pub use record::{Symbol, record};
pub use reduce::Reductions;

use crate::limbs::LIMBS;
use serde::{Deserialize, Serialize};
use std::mem::discriminant;

/// A network: bundles of field elements go from sources through nodes to sinks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataflowGraph {
    /// The name of the formula that it computes.
    pub name: String,
    /// The names of the sources, in the order of the inputs.
    pub sources: Vec<String>,
    /// The nodes, in any order.
    pub nodes: Vec<GraphNode>,
    /// The sinks, in the order of the results.
    pub sinks: Vec<GraphSink>,
}

/// The work of one tile: for each bundle that all inputs have got, its steps in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// The buffers that it reads from.
    pub inputs: Vec<Edge>,
    /// The operations.
    pub steps: Vec<NodeStep>,
    /// The values that it sends: indices as in [`NodeStep::operands`].
    pub outputs: Vec<usize>,
}

impl GraphNode {
    /// A node with one operation on as many sources as it has operands.
    pub fn of(name: &str, operation: FieldOperation) -> Self {
        let operands: Vec<_> = (0..operation.operands()).collect();
        let inputs: Vec<_> = operands.iter().map(|source| Edge::new(Port::Source(*source))).collect();
        let outputs = vec![inputs.len()];
        Self { name: name.into(), inputs, steps: vec![NodeStep { operation, operands }], outputs }
    }
}

/// An operation of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeStep {
    /// The operation.
    pub operation: FieldOperation,
    /// The operands: indices of the node's inputs, counted from 0, then of the results of earlier steps.
    pub operands: Vec<usize>,
}

/// An operation on elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldOperation {
    /// `a b / R`, the Montgomery product.
    Multiply,
    /// `a a / R`.
    Square,
    /// `t = a b_lower / 2^128`, where `b = b_lower + 2^128 b_upper` and both halves have four signed limbs.
    MultiplyLower,
    /// `(a b_upper + t) / 2^128`: the Montgomery product of a and b, with the t of [`MultiplyLower`](Self::MultiplyLower).
    MultiplyUpper,
    /// `a + b`, not reduced.
    Add,
    /// `a - b`, not reduced.
    Subtract,
    /// `-a`, not reduced.
    Negate,
    /// `2 a`, not reduced.
    Double,
    /// `a` minus a multiple of the modulus. Its size is at most a little more than half of the modulus.
    Reduce,
    /// The element of an integer below the modulus: from eight limbs without sign, least significant first, as the bit patterns of
    /// signed ones. It reads a source, all of whose readers are such operations.
    FromCanonical,
    /// The integer below the modulus of an element, as [`FromCanonical`](Self::FromCanonical) reads it. Only sinks read it.
    ToCanonical,
    /// A constant: an element's signed limbs, least significant first, as in [`Bundle::digits`](crate::limbs::Bundle::digits); at
    /// most 3/4 of the modulus in size.
    Constant([i32; LIMBS]),
}

impl FieldOperation {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Multiply => "multiply",
            Self::Square => "square",
            Self::MultiplyLower => "multiply-lower",
            Self::MultiplyUpper => "multiply-upper",
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Negate => "negate",
            Self::Double => "double",
            Self::Reduce => "reduce",
            Self::FromCanonical => "from-canonical",
            Self::ToCanonical => "to-canonical",
            Self::Constant(_) => "constant",
        }
    }

    /// Whether it is a constant, which takes no instruction.
    pub fn is_constant(self) -> bool {
        matches!(self, Self::Constant(_))
    }

    /// The number of operands.
    pub fn operands(self) -> usize {
        match self {
            Self::MultiplyUpper => 3,
            Self::Multiply | Self::MultiplyLower | Self::Add | Self::Subtract => 2,
            Self::Square | Self::Negate | Self::Double | Self::Reduce => 1,
            Self::FromCanonical | Self::ToCanonical => 1,
            Self::Constant(_) => 0,
        }
    }
}

/// Where a bundle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Port {
    /// A source.
    Source(usize),
    /// The output of a node: the indices of both.
    Node(usize, usize),
}

/// A buffer in front of a node or a sink: first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The port that fills it.
    pub from: Port,
    /// The number of bundles that it can hold: 2 for a buffer that is filled while it is read.
    #[serde(default = "Edge::ping_pong")]
    pub depth: usize,
    /// Bundles of zeros that it holds at the beginning: a delay.
    #[serde(default)]
    pub initial: usize,
}

impl Edge {
    /// A double buffer.
    pub fn new(from: Port) -> Self {
        Self { from, depth: Self::ping_pong(), initial: 0 }
    }

    fn ping_pong() -> usize {
        2
    }

    /// The bundles that wait at the beginning of a stream.
    pub(crate) fn sent(&self) -> usize {
        self.depth.min(Self::ping_pong().max(self.initial))
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSink {
    /// Its name.
    pub name: String,
    /// The buffer.
    pub edge: Edge,
}

impl DataflowGraph {
    /// All edges with their readers: the node and its input, or the sink.
    pub fn edges(&self) -> impl Iterator<Item = (EdgeReader, &Edge)> {
        let of_nodes = self.nodes.iter().enumerate().flat_map(|(node, inner)| {
            inner.inputs.iter().enumerate().map(move |(input, edge)| (EdgeReader::Node(node, input), edge))
        });
        of_nodes
            .chain(self.sinks.iter().enumerate().map(|(sink, inner)| (EdgeReader::Sink(sink), &inner.edge)))
    }

    /// All edges, in the order of [`edges`](Self::edges), to be changed.
    pub fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let of_nodes = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        of_nodes.chain(self.sinks.iter_mut().map(|sink| &mut sink.edge))
    }

    /// The operation whose result comes from a port, if a node's step computes it.
    pub(crate) fn operation(&self, port: Port) -> Option<FieldOperation> {
        let Port::Node(node, output) = port else { return None };
        let node = self.nodes.get(node)?;
        node.operation(*node.outputs.get(output)?)
    }

    /// Whether a source's integers are in canonical form.
    pub(crate) fn is_canonical(&self, source: usize) -> bool {
        self.edges().any(|(reader, edge)| match reader {
            EdgeReader::Node(node, input) if edge.from == Port::Source(source) => {
                self.nodes[node].steps.iter().any(|step| {
                    step.operation == FieldOperation::FromCanonical && step.operands.contains(&input)
                })
            }
            _ => false,
        })
    }

    /// How often an operation occurs.
    pub fn count(&self, operation: FieldOperation) -> usize {
        self.nodes.iter().flat_map(|node| &node.steps).filter(|step| step.operation == operation).count()
    }
}

impl GraphNode {
    /// Whether two nodes run the same kernel: they differ in names, buffers and constants only.
    pub fn has_same_kernel(&self, other: &Self) -> bool {
        let steps = self.steps.iter().zip(&other.steps);
        self.inputs.len() == other.inputs.len()
            && self.steps.len() == other.steps.len()
            && self.outputs == other.outputs
            && steps.into_iter().all(|(step, other)| {
                discriminant(&step.operation) == discriminant(&other.operation)
                    && step.operands == other.operands
            })
    }

    /// The operation whose result a value is, if it is none of the inputs.
    pub(crate) fn operation(&self, value: usize) -> Option<FieldOperation> {
        Some(self.steps.get(value.checked_sub(self.inputs.len())?)?.operation)
    }
}

/// The reader of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeReader {
    /// The input of a node: the indices of both.
    Node(usize, usize),
    /// A sink.
    Sink(usize),
}
