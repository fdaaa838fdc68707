//! The facts that `info` shows of files without sections.

use proofmill::{
    circom::{CircomCurve, Symbols, describe_json, embedded_wasm, likely_curve, over_curve},
    merkle::{Opening, TreeFile},
    srs::Srs,
    stark,
};
use proofmill_circom::{Content, WasmDescription, describe_wasm};
use proofmill_console::{Failure, Outcome};
use proofmill_files::MappedFile;
use serde_json::{Map, Value, json};
use std::{
    fmt::Write as _,
    fs::{self, File},
    io::Read,
    path::Path,
};

/// Names and values, in the order in which they are shown.
pub(crate) struct ArtefactFacts(Vec<(&'static str, Value)>);

impl ArtefactFacts {
    pub(crate) fn outcome(self) -> Outcome {
        let mut text = String::new();
        let mut object = Map::new();
        for (name, value) in self.0 {
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:16} {shown}");
            object.insert(name.replace(' ', "_"), value);
        }
        Outcome { text, ..Outcome::done(object.into()) }
    }
}

/// Describes a file that its first bytes name; `None` for binary files with sections, and for unknown ones.
pub(crate) fn describe(path: &Path) -> Result<Option<ArtefactFacts>, Failure> {
    let io = |source| Failure::io(path, source);
    let (start, bytes) = if path.is_dir() {
        (vec![0, 0], None)
    } else if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe can be read only once.
        return Ok(None);
    } else {
        let file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        let mut start = Vec::new();
        file.take(Content::LONGEST as u64).read_to_end(&mut start).map_err(io)?;
        (start, Some(bytes))
    };
    let version = start.get(4..).unwrap_or_default();
    let facts = match Content::of(&start) {
        Content::MerkleTree => tree(path)?,
        Content::StarkProof => stark_proof(path)?,
        Content::Wasm => wasm(path, version)?,
        Content::CompiledCircuit => compiled_circuit(path, version)?,
        Content::WitnessGraph => vec![("kind", json!("graph of circom-witnesscalc, a witness generator"))],
        Content::Json => document(path)?,
        Content::Other(first) => match first.as_slice() {
            [0, 0, ..] => transcripts(path)?,
            [b'0'..=b'9', ..] => symbols(path)?,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(ArtefactFacts(facts.into_iter().chain(bytes.map(|bytes| ("bytes", json!(bytes)))).collect())))
}

/// A circuit's WASM, or another.
fn wasm(path: &Path, version: &[u8]) -> Result<Vec<(&'static str, Value)>, Failure> {
    let file = mapped(path)?;
    match describe_wasm(file.bytes()) {
        Some(circuit) => of_circuit("wasm of circom, a witness generator", version, path, circuit),
        None => Ok(versioned("wasm, but not of circom", version)),
    }
}

/// A circuit that `wtns compile` has written; it contains the circuit's WASM.
fn compiled_circuit(path: &Path, version: &[u8]) -> Result<Vec<(&'static str, Value)>, Failure> {
    let file = mapped(path)?;
    let circuit = embedded_wasm(file.bytes()).and_then(describe_wasm).unwrap_or_default();
    of_circuit("compiled circuit, a witness generator", version, path, circuit)
}

fn mapped(path: &Path) -> Result<MappedFile, Failure> {
    MappedFile::open(path).map_err(|source| Failure::io(path, source))
}

/// A file with a circuit's WASM: the facts of its exports, and the curve whose prime is in the file.
fn of_circuit(
    kind: &str,
    version: &[u8],
    path: &Path,
    WasmDescription { circom, inputs, wires }: WasmDescription,
) -> Result<Vec<(&'static str, Value)>, Failure> {
    let curve = likely_curve(path)?.map(|curve| over_curve!(curve, C => <C as CircomCurve>::NAME));
    let known = [
        ("circom", circom.map(Value::from)),
        ("curve", curve.map(Value::from)),
        ("inputs", inputs.map(Value::from)),
        ("wires", wires.map(Value::from)),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Ok(versioned(kind, version).into_iter().chain(known).collect())
}

/// The kind, and the version after the magic.
fn versioned(kind: &str, version: &[u8]) -> Vec<(&'static str, Value)> {
    let version = version.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    vec![("kind", json!(kind)), ("version", json!(version))]
}

fn tree(path: &Path) -> Result<Vec<(&'static str, Value)>, Failure> {
    let tree = TreeFile::open(path)?;
    Ok(vec![
        ("kind", json!("merkle tree")),
        ("hash", json!(tree.hash().to_string())),
        ("rows", json!(tree.rows())),
        ("columns", json!(tree.columns())),
        ("root", json!(tree.root()?.to_string())),
    ])
}

/// Ignition's transcripts: a folder of them, or the first one.
fn transcripts(path: &Path) -> Result<Vec<(&'static str, Value)>, Failure> {
    // `info` does not check, so it does not reject: an inconsistent string is bad input.
    let srs = Srs::open(path).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(vec![
        ("kind", json!(srs.kind().to_string())),
        ("curve", json!("bn254")),
        ("powers", json!(srs.len())),
        ("files", json!(srs.files())),
    ])
}

fn stark_proof(path: &Path) -> Result<Vec<(&'static str, Value)>, Failure> {
    let proof = stark::Proof::open(path)?;
    Ok(vec![
        ("kind", json!("stark proof")),
        ("hash", json!(proof.hash().to_string())),
        ("extension", json!(proof.extension())),
        ("rows", json!(proof.rows())),
    ])
}

/// A JSON file of snarkjs or of Proofmill.
fn document(path: &Path) -> Result<Vec<(&'static str, Value)>, Failure> {
    let description = match describe_json(path) {
        Ok(description) => description,
        Err(error) => {
            let other = opening(path).or_else(|_| air(path));
            return other.map_err(|_| error.into());
        }
    };
    let mut facts = vec![("kind", json!(description.kind))];
    if let Some(protocol) = description.protocol {
        facts.push(("protocol", json!(protocol)));
    }
    facts.push(("curve", json!(description.curve)));
    facts.extend(description.counts.into_iter().map(|(name, count)| (name, json!(count))));
    Ok(facts)
}

fn opening(path: &Path) -> proofmill::Result<Vec<(&'static str, Value)>> {
    let opening = Opening::open(path)?;
    Ok(vec![
        ("kind", json!("merkle opening")),
        ("hash", json!(opening.hash().to_string())),
        ("rows", json!(opening.rows())),
        ("columns", json!(opening.columns())),
        ("opened rows", json!(opening.indices().len())),
        ("siblings", json!(opening.siblings())),
    ])
}

fn air(path: &Path) -> proofmill::Result<Vec<(&'static str, Value)>> {
    let constraints = stark::Constraints::open(path)?;
    Ok(vec![
        ("kind", json!("air, the constraints of a stark")),
        ("columns", json!(constraints.columns())),
        ("public values", json!(constraints.public_values())),
        ("constraints", json!(constraints.len())),
        ("degree", json!(constraints.shape(1).degree)),
    ])
}

/// circom's `.sym`: lines of label, wire (-1 for a signal without one), component and name.
fn symbols(path: &Path) -> Result<Vec<(&'static str, Value)>, Failure> {
    let symbols = Symbols::open(path)?;
    Ok(vec![
        ("kind", json!("sym, names of a circuit's signals")),
        ("signals", json!(symbols.signals())),
        ("named wires", json!(symbols.wires())),
    ])
}
