//! Facts about a key file, from its header and cheap checks.

use super::{fault::TaskFault, memory_bounds};
use proofmill::{
    AnyVerifyingKey, System,
    circom::{Limits, MemoryBound, WitnessCalculator, describe, embedded_wasm},
    stark::Constraints,
};
use proofmill_files::read_file_at_most;
use proofmill_job::{KeyFacts, KeyKind};
use serde::{Deserialize, de::IgnoredAny};
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// The largest key that is JSON, in bytes.
const LARGEST_JSON: u64 = 1 << 24;

/// The largest program, in bytes.
const LARGEST_PROGRAM: u64 = 1 << 28;

/// The name of the file in messages.
pub(super) const NAME: &str = "key";

/// A key's kind, sizes and bound of memory.
#[derive(Debug)]
pub(super) struct Inspected {
    kind: KeyKind,
    domain: Option<u64>,
    public: Option<u64>,
    pub(super) bound: MemoryBound,
}

impl From<Inspected> for KeyFacts {
    fn from(inspected: Inspected) -> Self {
        let Inspected { kind, domain, public, bound } = inspected;
        let MemoryBound { memory, per_thread, per_input_byte, .. } = bound;
        Self {
            kind,
            domain,
            public,
            memory,
            memory_per_thread: per_thread,
            memory_per_input_byte: per_input_byte,
        }
    }
}

/// The facts about a file.
///
/// # Errors
/// For a file that is no key, or cannot be read.
pub(super) fn inspect(path: &Path) -> Result<Inspected, TaskFault> {
    let io = |error| TaskFault::Io(NAME, error);
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(TaskFault::Input(format!("{NAME}: not a regular file")));
    }
    let mut start = Vec::new();
    file.take(16).read_to_end(&mut start).map_err(io)?;
    match start.as_slice() {
        [b'z', b'k', b'e', b'y', ..] | [b'p', b'm', b'p', b'k', ..] => proving_key(path),
        [0, b'a', b's', b'm', ..] | [b'w', b't', b'n', b's', b'.', ..] | [b'p', b'm', b'w', b'g', ..] => {
            program(path)
        }
        start if matches!(start.trim_ascii_start(), [b'{', ..]) => document(path, metadata.len()),
        _ => Err(unknown()),
    }
}

fn unknown() -> TaskFault {
    TaskFault::Input(format!(
        "{NAME}: expected a proving key, a verification key, a program that calculates witnesses, or an AIR"
    ))
}

fn proving_key(path: &Path) -> Result<Inspected, TaskFault> {
    let (key, description) = (AnyVerifyingKey::open(path)?, describe(path)?);
    let kind = match key.system() {
        System::Groth16 => KeyKind::Groth16,
        System::Plonk => KeyKind::Plonk,
        System::Fflonk => KeyKind::Fflonk,
    };
    let (domain, public) = (Some(key.domain(&description)), Some(key.public_signals() as u64));
    Ok(Inspected { kind, domain, public, bound: key.memory_bound(&description) })
}

fn program(path: &Path) -> Result<Inspected, TaskFault> {
    let (_, bound) = open_program(path)?;
    Ok(Inspected { kind: KeyKind::Program, domain: None, public: None, bound })
}

/// Opens a program with a limit of memory that its file determines.
///
/// # Errors
/// For a file that is no such program, or cannot be read.
pub(super) fn open_program(path: &Path) -> Result<(WitnessCalculator, MemoryBound), TaskFault> {
    let bytes = read_file_at_most(path, LARGEST_PROGRAM).map_err(|error| TaskFault::Io("program", error))?;
    let memory = memory_bounds::wasm_limit(embedded_wasm(&bytes).unwrap_or(&bytes));
    let bound = memory_bounds::program(bytes.len() as u64, memory);
    drop(bytes);
    Ok((WitnessCalculator::open_with_limits(path, Limits { memory, steps: None })?, bound))
}

/// The fields that tell a verification key from an AIR.
#[derive(Deserialize)]
struct Document {
    protocol: Option<IgnoredAny>,
    format: Option<IgnoredAny>,
}

/// A verification key or an AIR.
fn document(path: &Path, bytes: u64) -> Result<Inspected, TaskFault> {
    if bytes > LARGEST_JSON {
        let error = format!("expected at most {LARGEST_JSON} bytes of JSON, found {bytes}");
        return Err(TaskFault::Io(NAME, io::Error::new(io::ErrorKind::FileTooLarge, error)));
    }
    let text = read_file_at_most(path, LARGEST_JSON).map_err(|error| TaskFault::Io(NAME, error))?;
    match serde_json::from_slice(&text) {
        Ok(Document { format: Some(_), .. }) => {
            drop(text);
            let constraints = Constraints::open(path)?;
            let (columns, degree) = (constraints.columns() as u64, constraints.shape(1).degree.into());
            let public = Some(constraints.public_values() as u64);
            Ok(Inspected {
                kind: KeyKind::Air,
                domain: None,
                public,
                bound: memory_bounds::air(bytes, columns, degree),
            })
        }
        Ok(Document { protocol: Some(_), .. }) => {
            let public = Some(AnyVerifyingKey::open(path)?.public_signals() as u64);
            let bound = memory_bounds::verification(bytes);
            Ok(Inspected { kind: KeyKind::Verification, domain: None, public, bound })
        }
        _ => Err(unknown()),
    }
}
