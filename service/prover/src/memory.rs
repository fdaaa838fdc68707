//! Bounds on the memory of tasks, from the counts in a key's header.
//!
//! Each formula has the vectors that are in memory at the same time, and was fitted to the measured peaks of proofs with 2^10 to 2^17
//! points and 1 to 64 threads. From the second proof on a process has up to a fifth more than in the first, since blocks that are used
//! again have all their pages; the bounds include this. A test compares them with the peaks of this machine. n is the number of points of the domain, w that
//! of the witness's values. A sum of n points takes about 150 n bytes on G1 and 250 n on G2, scalars included, and up to 72 n more
//! for each further thread.

use proofmill::circom::{Description, FileKind};
use proofmill_plonk::System;

/// A process without a task: the program, its threads, and the blocks of files that are mapped at a time.
const IDLE: u64 = 20 << 20;

/// What a thread takes at any size: its stack, blocks of files, buckets, and what the allocator keeps for it between tasks.
const THREAD: u64 = 2 << 20;

/// Bytes of an addition of PLONK and fflonk in the files of snarkjs.
const ADDITION: u64 = 72;

/// The most that a program's memory may grow beyond what it declares, in bytes.
const GROWTH: u64 = 64 << 20;

/// The memory of a WASM without a declaration that is understood, in bytes.
const UNDECLARED: u64 = 1 << 30;

/// A bound on the memory of a task, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// With one thread.
    pub(super) memory: u64,
    pub(super) per_thread: u64,
    pub(super) per_input_byte: u64,
    /// What stays in memory while the key is open.
    pub(super) kept: u64,
}

/// Multiplies by bytes; a header can have any counts.
fn times(count: u64, bytes: u64) -> u64 {
    count.saturating_mul(bytes)
}

fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Of a key of Groth16. The quotient's three vectors and the sum over H come first, then the sums over the witness, of which the one
/// on G2 is the largest.
pub(super) fn groth16(key: &Description, domain: u64, public: u64) -> Bound {
    let wires = count(key, "wires");
    let quotient = sum([times(domain, 184), times(wires, 34)]);
    let signals = times(public, 200);
    Bound {
        memory: sum([IDLE, quotient.max(times(wires, 250)), signals]),
        per_thread: sum([THREAD, times(domain.max(wires), 72)]),
        per_input_byte: 2,
        kept: sum([1 << 16, signals]),
    }
}

/// Of a key of PLONK in snarkjs's format: coefficients of the witness's columns, four parts of the quotient, and the powers of tau.
/// Of the key nothing is kept.
pub(super) fn plonk(key: &Description, domain: u64, public: u64) -> Bound {
    Bound {
        memory: sum([IDLE, times(domain, 1_000), times(values(key), 34), times(public, 200)]),
        per_thread: sum([THREAD, times(domain, 64)]),
        per_input_byte: 2,
        kept: 1 << 16,
    }
}

/// Of a key of fflonk: its polynomials are up to nine times as long as the domain, and so are the sums. A further thread was
/// measured to take up to 3.2 MiB at 2^12 points.
pub(super) fn fflonk(key: &Description, domain: u64, public: u64) -> Bound {
    Bound {
        memory: sum([IDLE, times(domain, 3_250), times(values(key), 34), times(public, 200)]),
        per_thread: sum([2 * THREAD, times(domain, 208)]),
        per_input_byte: 2,
        kept: 1 << 16,
    }
}

/// Of a key in an arithmetisation of Proofmill's own: coefficients and values of all fixed columns stay in memory, and while the
/// quotient is computed there are their values on a coset, and those of the witness's columns.
pub(super) fn wide(key: &Description, system: &System, domain: u64) -> Bound {
    let variables = count(key, "variables");
    let fixed = system.fixed().len() as u64;
    let lookups = if system.lookup().is_some() { 5 } else { 0 };
    let witness = u64::from(system.wires()) + 1 + lookups;
    let parts = system.parts() as u64;
    let kept = sum([times(domain, 64 * fixed + 64), times(variables, 8)]);
    let columns = times(domain, 32 * (fixed + 2 * witness + parts) + 128);
    Bound {
        memory: sum([IDLE, kept, columns, times(variables, 48)]),
        per_thread: sum([THREAD, times(domain, 64)]),
        per_input_byte: 2,
        kept: sum([1 << 16, kept]),
    }
}

/// Of an AIR: for each row of the trace, the eightfold extension of each column, and of a few elements of the extension field and
/// the digests of the trees.
pub(super) fn air(file: u64, columns: u64, degree: u64) -> Bound {
    let row = sum([times(columns, 72), 2_000, times(degree, 250)]);
    let kept = times(file, 24);
    Bound {
        memory: sum([IDLE, kept]),
        per_thread: THREAD,
        per_input_byte: row.div_ceil(times(columns, 8).max(1)),
        kept,
    }
}

/// Of a program that calculates witnesses, whose WASM has at most this much memory: a parsed value of a JSON text takes up to 40
/// times as much as its shortest text.
pub(super) fn program(file: u64, memory: u64) -> Bound {
    let kept = times(file, 16);
    Bound { memory: sum([IDLE, kept, times(memory, 2)]), per_thread: 0, per_input_byte: 40, kept }
}

/// Of a verification key.
pub(super) fn verification(file: u64) -> Bound {
    Bound { memory: sum([IDLE, times(file, 8)]), per_thread: THREAD, per_input_byte: 8, kept: times(file, 4) }
}

/// The values of a witness, and those that are derived from them by additions.
fn values(key: &Description) -> u64 {
    debug_assert_eq!(key.kind, FileKind::Zkey);
    let additions = key.sections.iter().filter(|section| section.id == 3).map(|section| section.bytes);
    count(key, "wires").saturating_add(additions.map(|bytes| bytes / ADDITION).sum())
}

/// A count of the header.
pub(super) fn count(key: &Description, name: &str) -> u64 {
    key.counts.iter().find(|(found, _)| *found == name).map_or(0, |(_, count)| *count)
}

/// The most memory that a WASM may have, in bytes: what it declares or imports, and some more.
pub(super) fn wasm_limit(bytes: &[u8]) -> u64 {
    declared(bytes).map_or(UNDECLARED, |declared| declared + GROWTH)
}

/// Bytes of a page of WASM.
const PAGE: u64 = 1 << 16;

/// Bytes of memory that a WASM declares or imports.
fn declared(bytes: &[u8]) -> Option<u64> {
    let mut rest = bytes.get(8..)?;
    while let [section, after @ ..] = rest {
        rest = after;
        let length = usize::try_from(number(&mut rest)?).ok()?;
        let mut content = rest.get(..length)?;
        rest = rest.get(length..)?;
        let pages = match section {
            2 => imported_memory(&mut content),
            5 if number(&mut content)? > 0 => limits(&mut content),
            _ => None,
        };
        if let Some(pages) = pages {
            return Some(u64::from(pages) * PAGE);
        }
    }
    None
}

/// The least pages of the memory among the imports.
fn imported_memory(content: &mut &[u8]) -> Option<u32> {
    for _ in 0..number(content)? {
        for _ in 0..2 {
            let length = number(content)? as usize;
            *content = content.get(length..)?;
        }
        let (kind, rest) = content.split_first()?;
        *content = rest;
        match kind {
            0 => _ = number(content)?,
            1 => {
                *content = content.get(1..)?;
                limits(content)?;
            }
            2 => return limits(content),
            3 => *content = content.get(2..)?,
            _ => return None,
        }
    }
    None
}

/// The least of two bounds.
fn limits(content: &mut &[u8]) -> Option<u32> {
    let (has_most, rest) = content.split_first()?;
    *content = rest;
    let least = number(content)?;
    if has_most & 1 == 1 {
        number(content)?;
    }
    Some(least)
}

/// A number in LEB128.
fn number(content: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u64;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = content.split_first()?;
        *content = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}
