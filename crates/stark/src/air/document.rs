//! Graphs as lists of nodes for files.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::{
    definition::{Matrix, SELECTORS},
    graph::{Cell, Graph, Input, Node},
};
use proofmill_field::goldilocks::{Goldilocks, MODULUS};
use proofmill_merkle::decimal;
use serde::{Deserialize, Serialize};

/// A node as it is written: `"first"`, `{"column":3}`, `{"mul":[0,7]}`. Operands are the indices of earlier nodes.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum NodeDocument {
    /// A column of the trace, in this row.
    Column(u32),
    /// A column of the trace, in the next row.
    Next(u32),
    /// A preprocessed column, in this row.
    Preprocessed(u32),
    /// A preprocessed column, in the next row.
    NextPreprocessed(u32),
    /// A periodic column, in this row.
    Periodic(u32),
    /// The selector of the first row.
    First,
    /// The selector of the last row.
    Last,
    /// The selector of all rows but the last.
    Transition,
    /// A public value.
    Public(u32),
    /// An element in decimal digits.
    Constant(String),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
}

/// The element that is written with these decimal digits: an integer below the modulus, as `to_string` writes it.
pub(crate) fn parse_element(text: &str) -> Option<Goldilocks> {
    decimal(text).filter(|word| *word < MODULUS).map(Goldilocks::new)
}

impl Graph {
    /// The nodes, and the indices of the nodes that must vanish. `None` if the graph reads values that an AIR does not have.
    pub(crate) fn to_document(&self) -> Option<(Vec<NodeDocument>, &[u32])> {
        const ROW: u32 = Matrix::Row as u32;
        let selectors = SELECTORS as u32;
        let document = |id| {
            Some(match self.node(id) {
                Node::Input(Input::Scalar(index)) => NodeDocument::Public(index),
                Node::Input(Input::Cell(Cell { matrix, column, next })) => match (matrix, column, next) {
                    (0, column, false) => NodeDocument::Column(column),
                    (0, column, true) => NodeDocument::Next(column),
                    (1, column, false) => NodeDocument::Preprocessed(column),
                    (1, column, true) => NodeDocument::NextPreprocessed(column),
                    (ROW, 0, false) => NodeDocument::First,
                    (ROW, 1, false) => NodeDocument::Last,
                    (ROW, 2, false) => NodeDocument::Transition,
                    (ROW, column, false) => NodeDocument::Periodic(column - selectors),
                    _ => return None,
                },
                Node::Constant(value) => NodeDocument::Constant(value.to_canonical().to_string()),
                Node::Add(a, b) => NodeDocument::Add(a, b),
                Node::Sub(a, b) => NodeDocument::Sub(a, b),
                Node::Mul(a, b) => NodeDocument::Mul(a, b),
            })
        };
        Some(((0..self.nodes() as u32).map(document).collect::<Option<_>>()?, self.roots()))
    }

    /// The graph of a document.
    ///
    /// # Errors
    /// The key of a wrong value, and a description of the expected value.
    pub(crate) fn from_document(
        nodes: &[NodeDocument],
        constraints: &[u32],
    ) -> Result<Self, (String, String)> {
        let mut graph = Self::default();
        let mut ids: Vec<u32> = Vec::with_capacity(nodes.len());
        let earlier = |ids: &[u32], key: String, index: u32| -> Result<u32, (String, String)> {
            let found = ids.get(index as usize).copied();
            found.ok_or_else(|| (key, format!("expected the index of an earlier node, found {index}")))
        };
        for (at, document) in nodes.iter().enumerate() {
            let mut cell = |matrix: Matrix, column, next, degree| {
                graph.input(Input::Cell(Cell { matrix: matrix as u32, column, next }), degree)
            };
            let key = || format!("nodes[{at}]");
            let operand = |index: &u32| earlier(&ids, key(), *index);
            let id = match document {
                NodeDocument::Column(column) => cell(Matrix::Trace, *column, false, 1),
                NodeDocument::Next(column) => cell(Matrix::Trace, *column, true, 1),
                NodeDocument::Preprocessed(column) => cell(Matrix::Preprocessed, *column, false, 1),
                NodeDocument::NextPreprocessed(column) => cell(Matrix::Preprocessed, *column, true, 1),
                NodeDocument::First => cell(Matrix::Row, 0, false, 1),
                NodeDocument::Last => cell(Matrix::Row, 1, false, 1),
                NodeDocument::Transition => cell(Matrix::Row, 2, false, 0),
                NodeDocument::Periodic(column) => {
                    cell(Matrix::Row, column.saturating_add(SELECTORS as u32), false, 1)
                }
                NodeDocument::Public(index) => graph.input(Input::Scalar(*index), 0),
                NodeDocument::Constant(text) => graph.constant(parse_element(text).ok_or_else(|| {
                    (key(), "expected the decimal digits of an integer below 2^64 - 2^32 + 1".to_owned())
                })?),
                NodeDocument::Add(a, b) => graph.operation(Node::Add(operand(a)?, operand(b)?)),
                NodeDocument::Sub(a, b) => graph.operation(Node::Sub(operand(a)?, operand(b)?)),
                NodeDocument::Mul(a, b) => graph.operation(Node::Mul(operand(a)?, operand(b)?)),
            };
            ids.push(id);
        }
        for (at, index) in constraints.iter().enumerate() {
            graph.constrain(earlier(&ids, format!("constraints[{at}]"), *index)?);
        }
        Ok(graph)
    }
}
