//! AIRs as JSON files.
//!
//! Elements are strings of decimal digits, because JSON readers with only floating-point numbers round integers above 2^53.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Constraints, StarkError,
    air::{Graph, NodeDocument, Preprocessed, parse_element},
};
use proofmill_field::goldilocks::Goldilocks;
use serde::{Deserialize, Serialize};

/// The value of a document's `format`.
const FORMAT: &str = "proofmill air";

/// The version that is written and read.
const VERSION: u32 = 1;

/// The largest number of nodes of a graph.
const MOST_NODES: usize = 1 << 24;

/// An AIR: its constraints and preprocessed columns.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AirDocument {
    format: String,
    version: u32,
    /// The number of columns of the trace.
    columns: usize,
    public_values: usize,
    /// The preprocessed columns, each a list of elements.
    #[serde(default)]
    preprocessed: Vec<Vec<String>>,
    /// The periodic columns, each a list of elements.
    #[serde(default)]
    periodic: Vec<Vec<String>>,
    /// Whether the next row is opened of the trace, and of the preprocessed columns.
    opens_next: [bool; 2],
    nodes: Vec<NodeDocument>,
    /// The indices of the nodes that must vanish.
    constraints: Vec<u32>,
}

/// Why a text is no AIR.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The text is not JSON, or has other keys than an AIR.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A value of the document is wrong.
    #[error("{key}: {problem}")]
    Value {
        /// The key of the value.
        key: String,
        /// The description of the expected value.
        problem: String,
    },
    /// The constraints do not fit the columns.
    #[error(transparent)]
    Air(#[from] StarkError),
}

impl AirDocument {
    /// The document of captured constraints, with the AIR's preprocessed columns if it has any.
    ///
    /// # Panics
    /// If there are lookups, for which a document has no place, or if constraints read next rows of periodic columns.
    pub fn new(constraints: &Constraints, preprocessed: Option<&Preprocessed>) -> Self {
        assert!(constraints.check_alone().is_ok(), "a document has no lookups");
        let text = |value: &Goldilocks| value.to_canonical().to_string();
        let columns = |preprocessed: &Preprocessed| {
            let column = |column| {
                preprocessed.values.iter().skip(column).step_by(preprocessed.columns).map(text).collect()
            };
            (0..preprocessed.columns).map(column).collect()
        };
        let Some((nodes, roots)) = constraints.graph.to_document() else {
            unreachable!("constraints were checked when they were captured");
        };
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            columns: constraints.columns,
            public_values: constraints.public_values,
            preprocessed: preprocessed.map(columns).unwrap_or_default(),
            periodic: constraints.periodic.iter().map(|column| column.iter().map(text).collect()).collect(),
            opens_next: constraints.reads_next,
            constraints: roots.to_vec(),
            nodes,
        }
    }

    /// The document's text, which ends with a newline.
    pub fn text(&self) -> String {
        // Serialising strings and integers to memory does not fail.
        let text = serde_json::to_string(self);
        debug_assert!(text.is_ok());
        text.unwrap_or_default() + "\n"
    }

    /// Parses a document. The memory that it takes is a multiple of the text's length.
    ///
    /// # Errors
    /// [`DocumentError::Json`], and [`DocumentError::Value`] for another format or version, or for too many nodes.
    pub fn parse(text: &[u8]) -> Result<Self, DocumentError> {
        let document: Self = serde_json::from_slice(text)?;
        if document.format != FORMAT {
            let found: String = document.format.escape_default().take(40).collect();
            return value("format", format!("expected \"{FORMAT}\", found \"{found}\""));
        }
        if document.version != VERSION {
            return value("version", format!("expected {VERSION}, found {}", document.version));
        }
        if document.nodes.len() > MOST_NODES {
            return value("nodes", format!("expected at most {MOST_NODES}, found {}", document.nodes.len()));
        }
        Ok(document)
    }

    /// The constraints.
    ///
    /// # Errors
    /// [`DocumentError::Value`], and [`DocumentError::Air`] if the constraints read a column or value that the AIR does not have.
    pub fn constraints(&self) -> Result<Constraints, DocumentError> {
        let graph = Graph::from_document(&self.nodes, &self.constraints)
            .map_err(|(key, problem)| DocumentError::Value { key, problem })?;
        let periodic = parse_columns("periodic", &self.periodic)?;
        let (columns, preprocessed, public_values) =
            (self.columns, self.preprocessed.len(), self.public_values);
        let opens_next = self.opens_next;
        Ok(Constraints::from_graph(graph, columns, preprocessed, public_values, periodic, opens_next)?)
    }

    /// The preprocessed columns.
    ///
    /// # Errors
    /// [`DocumentError::Value`].
    pub fn preprocessed(&self) -> Result<Option<Preprocessed>, DocumentError> {
        let columns = parse_columns("preprocessed", &self.preprocessed)?;
        let Some(rows) = columns.first().map(Vec::len) else { return Ok(None) };
        if let Some(at) = columns.iter().position(|column| column.len() != rows) {
            return value(format!("preprocessed[{at}]"), format!("expected {rows} values as in column 0"));
        }
        let row = |row| columns.iter().filter_map(move |column| column.get(row).copied());
        Ok(Some(Preprocessed { columns: columns.len(), values: (0..rows).flat_map(row).collect() }))
    }
}

fn value<T>(key: impl Into<String>, problem: String) -> Result<T, DocumentError> {
    Err(DocumentError::Value { key: key.into(), problem })
}

fn parse_columns(name: &str, columns: &[Vec<String>]) -> Result<Vec<Vec<Goldilocks>>, DocumentError> {
    let element = |column: usize, row: usize, text: &String| {
        parse_element(text).map_or_else(
            || {
                let problem = "expected the decimal digits of an integer below 2^64 - 2^32 + 1".to_owned();
                value(format!("{name}[{column}][{row}]"), problem)
            },
            Ok,
        )
    };
    let parse = |(column, texts): (usize, &Vec<String>)| {
        texts.iter().enumerate().map(|(row, text)| element(column, row, text)).collect()
    };
    columns.iter().enumerate().map(parse).collect()
}
