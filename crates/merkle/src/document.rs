//! Openings as JSON.
//!
//! Words are strings of decimal digits, because JSON readers with only floating-point numbers round those above 2^53; digests
//! are encoded by [`digest_to_hex`]. Every number and digest has only one encoding.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Hash, MerkleError, Opening, digest_from_hex, digest_to_hex};
use serde::{Deserialize, Serialize};
use serde_json::ser::{PrettyFormatter, Serializer};

/// The value of a document's `format`.
const FORMAT: &str = "proofmill merkle opening";

/// The version that is written and read.
const VERSION: u32 = 1;

/// An opening with any hash, as a JSON document.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OpeningDocument {
    format: String,
    version: u32,
    hash: String,
    rows: u64,
    columns: u64,
    openings: Vec<OpenedRow>,
    siblings: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct OpenedRow {
    index: u64,
    row: Vec<String>,
}

impl OpeningDocument {
    /// Parses a document. Memory is a small multiple of the text's length.
    ///
    /// # Errors
    /// [`MerkleError::Json`], and [`MerkleError::JsonValue`] for another format or version.
    pub fn parse(text: &[u8]) -> Result<Self, MerkleError> {
        let document: Self = serde_json::from_slice(text)?;
        let refuse = |key: &str, problem| MerkleError::JsonValue { key: key.to_owned(), problem };
        if document.format != FORMAT {
            let found: String = document.format.escape_default().take(40).collect();
            return Err(refuse("format", format!("expected \"{FORMAT}\", found \"{found}\"")));
        }
        if document.version != VERSION {
            return Err(refuse("version", format!("expected {VERSION}, found {}", document.version)));
        }
        Ok(document)
    }

    /// The document of an opening of a tree with this hash.
    pub fn new(hash: Hash, opening: &Opening) -> Self {
        let columns = opening.columns.max(1) as usize;
        let rows = opening.values.chunks(columns).map(|row| row.iter().map(u64::to_string).collect());
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            hash: hash.name().to_owned(),
            rows: opening.rows,
            columns: opening.columns,
            openings: opening
                .indices
                .iter()
                .zip(rows)
                .map(|(index, row)| OpenedRow { index: *index, row })
                .collect(),
            siblings: opening
                .siblings
                .iter()
                .map(|sibling| digest_to_hex(hash.tree_hash(), sibling))
                .collect(),
        }
    }

    /// The document's text, which ends with a newline.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b" "));
        // Serialising strings and integers to memory does not fail, and JSON is UTF-8.
        let written = self.serialize(&mut serializer);
        debug_assert!(written.is_ok());
        bytes.push(b'\n');
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The hash of the opening's tree.
    ///
    /// # Errors
    /// [`MerkleError::UnknownHash`].
    pub fn hash(&self) -> Result<Hash, MerkleError> {
        self.hash.parse()
    }

    /// The opening, of a tree with this hash. [`Opening::check`] checks whether it is well-formed and right.
    ///
    /// # Errors
    /// [`MerkleError::WrongHash`], [`MerkleError::UnknownHash`], [`MerkleError::JsonValue`], [`MerkleError::Digest`].
    pub fn opening(&self, hash: Hash) -> Result<Opening, MerkleError> {
        let found = self.hash()?;
        if found != hash {
            return Err(MerkleError::WrongHash { expected: hash.name(), found: found.name() });
        }
        let mut values = Vec::new();
        for (at, opened) in self.openings.iter().enumerate() {
            if opened.row.len() as u64 != self.columns {
                let (columns, found) = (self.columns, opened.row.len());
                let problem = format!("expected {columns} values, found {found}");
                return Err(MerkleError::JsonValue { key: format!("openings[{at}].row"), problem });
            }
            for (column, text) in opened.row.iter().enumerate() {
                values.push(decimal(text).ok_or_else(|| MerkleError::JsonValue {
                    key: format!("openings[{at}].row[{column}]"),
                    problem: "expected the decimal digits of an integer below 2^64".to_owned(),
                })?);
            }
        }
        let digest = |(at, text): (usize, &String)| {
            digest_from_hex(hash.tree_hash(), text, &format!("siblings[{at}]"))
        };
        Ok(Opening {
            rows: self.rows,
            columns: self.columns,
            indices: self.openings.iter().map(|opened| opened.index).collect(),
            values,
            siblings: self.siblings.iter().enumerate().map(digest).collect::<Result<_, _>>()?,
        })
    }
}

/// A decimal integer exactly as `to_string` writes it; `None` for any other text.
pub fn decimal(text: &str) -> Option<u64> {
    let is_shortest =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_shortest)
}
