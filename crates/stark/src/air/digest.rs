//! All of an AIR as bytes, for its digest.
//!
//! Numbers have a fixed length, and lists follow their length, so that no two AIRs have the same bytes. Nodes are those of the captured
//! graph, in its order: an AIR that is written to a file and read again has the same bytes.

use super::graph::{Cell, Expression, Graph, Input, Lookup, Node};
use proofmill_field::goldilocks::Goldilocks;

/// Appends numbers and lists to bytes.
#[derive(Default)]
pub(crate) struct AirBytes(pub(crate) Vec<u8>);

impl AirBytes {
    pub(crate) fn number(&mut self, number: usize) {
        self.0.extend((number as u64).to_le_bytes());
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.0.push(flag.into());
    }

    pub(crate) fn elements(&mut self, elements: &[Goldilocks]) {
        self.number(elements.len());
        elements.iter().for_each(|element| self.element(*element));
    }

    fn element(&mut self, element: Goldilocks) {
        self.0.extend(element.to_bytes_le());
    }

    fn id(&mut self, id: u32) {
        self.0.extend(id.to_le_bytes());
    }

    /// The kind of a node in one byte, then its operands.
    fn node(&mut self, node: Node) {
        let mut operation = |kind: u8, operands: [u32; 2]| {
            self.0.push(kind);
            operands.into_iter().for_each(|operand| self.id(operand));
        };
        match node {
            Node::Add(a, b) => operation(0, [a, b]),
            Node::Sub(a, b) => operation(1, [a, b]),
            Node::Mul(a, b) => operation(2, [a, b]),
            Node::Input(Input::Cell(Cell { matrix, column, next })) => {
                operation(3, [matrix, column]);
                self.flag(next);
            }
            Node::Input(Input::Scalar(index)) => {
                self.0.push(4);
                self.id(index);
            }
            Node::Constant(value) => {
                self.0.push(5);
                self.element(value);
            }
        }
    }

    fn expression(&mut self, expression: Expression) {
        match expression {
            Expression::Constant(value) => {
                self.flag(false);
                self.element(value);
            }
            Expression::Node(id) => {
                self.flag(true);
                self.id(id);
            }
        }
    }

    fn lookup(&mut self, lookup: &Lookup) {
        self.flag(lookup.bus.is_some());
        let name = lookup.bus.as_deref().unwrap_or_default();
        self.number(name.len());
        self.0.extend(name.bytes());
        self.id(lookup.most);
        self.number(lookup.terms.len());
        for term in &lookup.terms {
            self.number(term.message.len());
            term.message.iter().for_each(|value| self.expression(*value));
            self.expression(term.count);
            self.flag(term.flag.is_some());
            term.flag.into_iter().for_each(|flag| self.expression(flag));
        }
    }

    /// The nodes, the indices of the nodes that must vanish, and the lookups.
    pub(crate) fn graph(&mut self, graph: &Graph) {
        self.number(graph.nodes());
        (0..graph.nodes() as u32).for_each(|id| self.node(graph.node(id)));
        self.number(graph.roots().len());
        graph.roots().iter().for_each(|id| self.id(*id));
        self.number(graph.lookups().len());
        graph.lookups().iter().for_each(|lookup| self.lookup(lookup));
    }
}
