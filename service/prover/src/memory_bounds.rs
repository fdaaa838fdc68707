//! Bounds on the memory of tasks with AIRs, programs and verification keys. Proofs of circuits have the bound of their proof
//! system.

use proofmill::circom::MemoryBound;

/// How far a program's memory may grow beyond its declaration, in bytes.
const GROWTH: u64 = 64 << 20;

/// The limit of a WASM's memory if its declaration is not understood, in bytes.
const UNDECLARED: u64 = 1 << 30;

/// The bound of an AIR, whose file has `file` bytes. Each row of the trace takes the eightfold extension of its columns and of a
/// few elements of the extension field, and the digests of the trees.
pub(super) fn air(file: u64, columns: u64, degree: u64) -> MemoryBound {
    let row = columns.saturating_mul(72).saturating_add(2_000 + degree.saturating_mul(250));
    let kept = file.saturating_mul(24);
    MemoryBound {
        memory: kept.saturating_add(MemoryBound::IDLE),
        per_thread: MemoryBound::THREAD,
        per_input_byte: row.div_ceil(columns.saturating_mul(8).max(1)),
        kept,
    }
}

/// The bound of a program that calculates witnesses, whose WASM has at most `memory` bytes. A parsed value of a JSON text takes
/// up to 40 times as much memory as its shortest text.
pub(super) fn program(file: u64, memory: u64) -> MemoryBound {
    let kept = file.saturating_mul(16);
    MemoryBound {
        memory: kept.saturating_add(memory.saturating_mul(2)).saturating_add(MemoryBound::IDLE),
        per_thread: 0,
        per_input_byte: 40,
        kept,
    }
}

/// The bound of a verification key, whose file has `file` bytes.
pub(super) fn verification(file: u64) -> MemoryBound {
    MemoryBound {
        memory: file.saturating_mul(8).saturating_add(MemoryBound::IDLE),
        per_thread: MemoryBound::THREAD,
        per_input_byte: 8,
        kept: file.saturating_mul(4),
    }
}

/// The limit of a WASM's memory, in bytes: the memory that it declares or imports, and [`GROWTH`] more.
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

/// The lower one of a memory's limits, in pages; the upper one is optional and skipped.
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
