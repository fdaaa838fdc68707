//! Compiled circuits that are kept for later.

use super::{
    CircomCurve, PairingCurve, ScalarPrime, WitnessCalculator, over_curve, witness_calculator::open_circuit,
};
use crate::{Error, Result};
use etcetera::BaseStrategy;
use proofmill_sha256::digest;
use proofmill_witness::{Program, likely_curve};
use std::{
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A folder of circuits that were compiled as by [`WitnessCalculator::compile`], by the digests of their WASM. The least recently used ones
/// are removed when it exceeds its limit of bytes. Its owner alone can read what it writes: a compiled circuit tells how often the sample's
/// inputs went through loops, and which indices they gave.
///
/// Who can write to the folder can make its circuits give wrong witnesses. Provers refuse those that do not satisfy the circuit.
#[derive(Clone, Debug)]
pub struct CircuitCache {
    /// The folder; `None` keeps nothing.
    folder: Option<PathBuf>,
    most_bytes: u64,
}

/// The environment variable that names the user's folder, or is `off`.
const VARIABLE: &str = "PROOFMILL_CIRCUIT_CACHE";
/// The most bytes of the user's cache.
const MOST_BYTES: u64 = 1 << 30;
/// The ends of files' names: a compiled circuit, and the mark of one that cannot be compiled.
const COMPILED: &str = "wcd";
const REFUSED: &str = "refused";

/// Whether these are the bytes of a WASM. Nothing else is compiled, so no digest of other files is needed.
fn is_wasm(bytes: &[u8]) -> bool {
    bytes.starts_with(&<Program>::MAGIC)
}

/// The file of a circuit with these bytes. Its name contains the version of Proofmill, because the next version may compile circuits that
/// this one cannot.
fn place(folder: &Path, bytes: &[u8], end: &str) -> PathBuf {
    let digest: String = digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("{digest}-{}.{end}", env!("CARGO_PKG_VERSION")))
}

impl CircuitCache {
    /// A cache in a folder, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>, most_bytes: u64) -> Self {
        Self { folder: Some(folder.into()), most_bytes }
    }

    /// The user's cache: `proofmill/circuits` in the system's folder for caches, or the folder that `PROOFMILL_CIRCUIT_CACHE`
    /// names, of up to 1 GiB. It keeps nothing if that is `off`, or the user has no such folder.
    pub fn of_user() -> Self {
        let folder = match env::var_os(VARIABLE) {
            Some(value) if value == "off" => None,
            Some(folder) if !folder.is_empty() => Some(folder.into()),
            _ => {
                let strategy = etcetera::choose_base_strategy().ok();
                strategy.map(|strategy| strategy.cache_dir().join("proofmill").join("circuits"))
            }
        };
        Self { folder, most_bytes: MOST_BYTES }
    }

    /// The circuit in a file: compiled if it is here, otherwise as the file has it.
    ///
    /// # Errors
    /// As [`WitnessCalculator::open`].
    pub fn open<P: ScalarPrime>(&self, path: impl AsRef<Path>) -> Result<WitnessCalculator<P>> {
        let path = path.as_ref();
        let bytes = open_circuit(path)?;
        match self.find(&bytes) {
            Some(circuit) => Ok(circuit),
            None => WitnessCalculator::decode_file(bytes, path),
        }
    }

    /// [`Self::open`] of bytes.
    ///
    /// # Errors
    /// As [`WitnessCalculator::from_bytes`].
    pub fn decode<P: ScalarPrime>(&self, bytes: Vec<u8>) -> Result<WitnessCalculator<P>> {
        match self.find(&bytes) {
            Some(circuit) => Ok(circuit),
            None => WitnessCalculator::decode_bytes(bytes),
        }
    }

    /// The compiled circuit of a WASM with these bytes.
    fn find<P: ScalarPrime>(&self, bytes: &[u8]) -> Option<WitnessCalculator<P>> {
        if !is_wasm(bytes) {
            return None;
        }
        let kept = place(self.folder.as_ref()?, bytes, COMPILED);
        // A file that is damaged is as good as none.
        match WitnessCalculator::open_over(&kept) {
            Ok(circuit) => {
                if let Ok(file) = fs::File::open(&kept) {
                    // Without it the circuit is only removed sooner.
                    drop(file.set_modified(SystemTime::now()));
                }
                Some(circuit)
            }
            Err(_) => {
                drop(fs::remove_file(&kept));
                None
            }
        }
    }

    /// Whether [`Self::compile`] makes sense for a circuit: it is a WASM that is neither here nor marked as one that cannot be compiled.
    pub fn lacks(&self, circuit: &[u8]) -> bool {
        let Some(folder) = self.folder.as_ref().filter(|_| is_wasm(circuit)) else { return false };
        ![COMPILED, REFUSED].iter().any(|end| place(folder, circuit, end).exists())
    }

    /// [`Self::compile`] if the cache lacks the circuit. Callers that have the witness can ignore a failure.
    pub fn keep(&self, circuit: &[u8], inputs_json: &[u8]) {
        if self.lacks(circuit) {
            drop(self.compile(circuit, inputs_json));
        }
    }

    /// Compiles a circuit's WASM for inputs like these, the text of an `input.json`, and keeps it, or the mark that it is not possible.
    /// A circuit with more than 32 operations for each wire is not compiled, because nobody has asked for the time and memory that it
    /// takes: [`WitnessCalculator::compile`] does it.
    ///
    /// # Errors
    /// [`Error::Io`], and those of [`WitnessCalculator::compile`].
    pub fn compile(&self, wasm: &[u8], inputs_json: &[u8]) -> Result<()> {
        let curve = likely_curve(wasm).unwrap_or(PairingCurve::Bn254);
        over_curve!(curve, C => self.compile_over::<<C as CircomCurve>::ScalarPrime>(wasm, inputs_json))
    }

    fn compile_over<P: ScalarPrime>(&self, wasm: &[u8], inputs_json: &[u8]) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        let compiled = WitnessCalculator::<P>::compile_small(wasm, inputs_json);
        if let Err(error @ Error::Malformed(_)) = &compiled {
            let mark = place(folder, wasm, REFUSED);
            fs::write(&mark, error.to_string()).map_err(|error| Error::io(&mark, error))?;
        }
        compiled?.save(place(folder, wasm, COMPILED))?;
        self.shrink(folder);
        Ok(())
    }

    /// Removes the least recently used circuits, until the cache is within its limit of bytes.
    fn shrink(&self, folder: &Path) {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_ours = |path: &Path| path.extension().is_some_and(|end| end == COMPILED || end == REFUSED);
        let mut files: Vec<_> = files
            .filter(|file| is_ours(&file.path()))
            .filter_map(|file| Some((file.metadata().ok()?, file.path())))
            .filter_map(|(metadata, path)| Some((metadata.modified().ok()?, metadata.len(), path)))
            .collect();
        files.sort();
        let mut bytes: u64 = files.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in files {
            if bytes <= self.most_bytes {
                break;
            }
            // Another process may have removed it.
            drop(fs::remove_file(path));
            bytes -= length;
        }
    }
}
