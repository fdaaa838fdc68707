//! Kahn process networks of field operations, as data.

mod check;
mod fuse;
mod record;
mod reduce;

pub use record::{Symbol, record};
pub use reduce::Reductions;

use serde::{Deserialize, Serialize};

/// A network: bundles of field elements go from sources through nodes to sinks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// What it computes.
    pub name: String,
    /// The names of the sources, in the order of the inputs.
    pub sources: Vec<String>,
    /// The nodes, in any order.
    pub nodes: Vec<Node>,
    /// The sinks, in the order of the results.
    pub sinks: Vec<Sink>,
}

/// What one tile computes: for each bundle that all inputs have got, its steps in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The buffers that it reads from.
    pub inputs: Vec<Edge>,
    /// The operations.
    pub steps: Vec<Step>,
    /// Which values it sends: indices as in [`Step::operands`].
    pub outputs: Vec<usize>,
}

/// An operation of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What is done.
    pub operation: Operation,
    /// What it is done with: the node's inputs, counted from 0, then the results of earlier steps.
    pub operands: Vec<usize>,
}

/// An operation on elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// `a b / R`, the Montgomery product.
    Multiply,
    /// `a a / R`.
    Square,
    /// `a + b`, not reduced.
    Add,
    /// `a - b`, not reduced.
    Subtract,
    /// `-a`, not reduced.
    Negate,
    /// `2 a`, not reduced.
    Double,
    /// `a` less a multiple of the modulus, at most half of it and a little in size.
    Reduce,
}

impl Operation {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Multiply => "multiply",
            Self::Square => "square",
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Negate => "negate",
            Self::Double => "double",
            Self::Reduce => "reduce",
        }
    }

    /// The number of operands.
    pub fn operands(self) -> usize {
        match self {
            Self::Multiply | Self::Add | Self::Subtract => 2,
            Self::Square | Self::Negate | Self::Double | Self::Reduce => 1,
        }
    }
}

/// Where a bundle comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Port {
    /// A source.
    Source(usize),
    /// A node and which of its outputs.
    Node(usize, usize),
}

/// A buffer in front of a node or a sink: first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// What fills it.
    pub from: Port,
    /// The bundles that it holds: 2 for a buffer that is filled while it is read.
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
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// Its name.
    pub name: String,
    /// The buffer.
    pub edge: Edge,
}

impl Graph {
    /// All edges with what they lead to: the node and its input, or the sink.
    pub fn edges(&self) -> impl Iterator<Item = (Reader, &Edge)> {
        let of_nodes = self.nodes.iter().enumerate().flat_map(|(node, inner)| {
            inner.inputs.iter().enumerate().map(move |(input, edge)| (Reader::Node(node, input), edge))
        });
        of_nodes.chain(self.sinks.iter().enumerate().map(|(sink, inner)| (Reader::Sink(sink), &inner.edge)))
    }

    /// All edges, in the order of [`edges`](Self::edges), to be changed.
    pub fn edges_mut(&mut self) -> impl Iterator<Item = &mut Edge> {
        let of_nodes = self.nodes.iter_mut().flat_map(|node| &mut node.inputs);
        of_nodes.chain(self.sinks.iter_mut().map(|sink| &mut sink.edge))
    }

    /// How often an operation occurs.
    pub fn count(&self, operation: Operation) -> usize {
        self.nodes.iter().flat_map(|node| &node.steps).filter(|step| step.operation == operation).count()
    }
}

/// What reads an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    /// A node and which of its inputs.
    Node(usize, usize),
    /// A sink.
    Sink(usize),
}
