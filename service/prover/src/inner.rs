//! STARKs to aggregate, with their public values.

use super::fault::TaskFault;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use proofmill::stark::Proof;
use proofmill_files::read_file_at_most;
use serde::Deserialize;
use std::path::Path;

/// The largest file of proofs, in bytes.
const LARGEST: u64 = 1 << 28;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    /// The proof in base64.
    proof: String,
    public: Vec<u64>,
}

/// Reads the proofs and their public values.
///
/// # Errors
/// For a file that is not such JSON, or in which a proof is malformed: the error names the first one.
pub(super) fn open(path: &Path) -> Result<Vec<(Proof, Vec<u64>)>, TaskFault> {
    let text = read_file_at_most(path, LARGEST).map_err(|error| TaskFault::Io("inner", error))?;
    let inner: Vec<Inner> = serde_json::from_slice(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        TaskFault::Input(format!(
            "inner: line {line}, column {column}: expected a JSON array of objects with proof in base64 and public, an array of integers"
        ))
    })?;
    let decoded = inner.into_iter().enumerate().map(|(index, inner)| {
        let malformed = |problem: String| TaskFault::Input(format!("inner: proof {index}: {problem}"));
        let bytes = STANDARD.decode(inner.proof).map_err(|error| malformed(error.to_string()))?;
        let proof = Proof::from_bytes(bytes).map_err(|error| malformed(error.to_string()))?;
        Ok((proof, inner.public))
    });
    decoded.collect()
}
