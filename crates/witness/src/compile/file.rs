//! Files of compiled circuits.
//!
//! Layout, all integers little-endian: the magic `pmwg`; the version (u32); the field's modulus (32 bytes); sections in this order, each
//! behind its length in bytes (u64):
//!
//! 1. inputs, in the order of their names: the name's length (LEB128), the name, the position of its first value and the number of its
//!    values (LEB128);
//! 2. constants, 32 bytes each;
//! 3. the numbers of places and steps (u32);
//! 4. operations: the tape (`graph/tape.rs`);
//! 5. wires: LEB128 differences of each one's source, as on the tape, to the last, with the sign in the lowest bit;
//! 6. what is printed: 0 and a source (LEB128), 1, a length (LEB128) and a word, or 2 at the end of a line;
//! 7. the WASM.

use super::Compiled;
use crate::{
    error::WitnessError,
    graph::{FilePart, Graph, InputRange, Tape, ValueSource, message::Fields, push_leb128},
    machine::Print,
    number,
    wasm::{Limits, RunSettings},
};
use proofmill_circom::ScalarPrime;
use proofmill_field::Fp;
use proofmill_files::FileBytes;
use std::{collections::BTreeMap, sync::Arc};

const MAGIC: [u8; 4] = *b"pmwg";
/// The version of the format. It changes when the meaning of a graph changes, so that graphs of other versions are refused.
const VERSION: u32 = 2;
const HEADER: usize = 4 + 4 + 32;

impl<P: ScalarPrime> Compiled<P> {
    /// The first bytes of a compiled circuit.
    pub const MAGIC: [u8; 4] = MAGIC;
    /// The bytes of the magic, the version and the modulus.
    pub const HEADER: usize = HEADER;

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { graph, prints, wasm, .. } = self;
        let mut inputs = Vec::new();
        for (name, place) in &graph.inputs {
            push_leb128(&mut inputs, name.len() as u64);
            inputs.extend(name.as_bytes());
            push_leb128(&mut inputs, place.offset.into());
            push_leb128(&mut inputs, place.length.into());
        }
        let constants = graph.constants.iter().flat_map(|value| value.to_canonical().map(u64::to_le_bytes));
        let constants: Vec<u8> = constants.flatten().collect();
        let Tape { bytes: tape, places, steps } = &graph.tape;
        let counts = [places.to_le_bytes(), steps.to_le_bytes()].concat();
        let wires = differences(graph.wires.iter().map(|wire| wire.code()));
        let mut printed = Vec::new();
        for print in prints {
            match print {
                Print::Value(source) => {
                    printed.push(0);
                    push_leb128(&mut printed, source.code());
                }
                Print::Word(word) => {
                    printed.push(1);
                    push_leb128(&mut printed, word.len() as u64);
                    printed.extend(word.as_bytes());
                }
                Print::EndOfLine => printed.push(2),
            }
        }
        let mut bytes =
            [&MAGIC[..], &VERSION.to_le_bytes(), P::MODULUS.map(u64::to_le_bytes).as_flattened()].concat();
        let sections: [&[u8]; 7] = [&inputs, &constants, &counts, tape, &wires, &printed, wasm];
        for section in sections {
            bytes.extend((section.len() as u64).to_le_bytes());
            bytes.extend(section);
        }
        bytes
    }

    /// Decodes a compiled circuit and keeps its bytes. The circuit takes at most eight times their memory.
    ///
    /// # Errors
    /// [`WitnessError::Program`], [`WitnessError::Prime`].
    pub fn from_bytes(bytes: impl Into<Vec<u8>>, limits: Limits) -> Result<Self, WitnessError> {
        Self::from_file(FileBytes::Owned(bytes.into()), limits)
    }

    /// [`Self::from_bytes`] of a file. If it is mapped, only a few pages of its operations are in memory at a time.
    ///
    /// # Errors
    /// As [`Self::from_bytes`].
    pub fn from_file(file: FileBytes, limits: Limits) -> Result<Self, WitnessError> {
        let file = Arc::new(file);
        let problem = |problem: &str| WitnessError::Program(format!("not a compiled circuit: {problem}"));
        let rest = file.strip_prefix(&MAGIC).ok_or_else(|| problem("expected the magic pmwg"))?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(|| problem("it ends in its header"))?;
        match u32::from_le_bytes(*version) {
            VERSION => {}
            version => {
                let text = format!("expected the version {VERSION}, found {version}: compile it again");
                return Err(problem(&text));
            }
        }
        let (modulus, mut rest) =
            rest.split_first_chunk::<32>().ok_or_else(|| problem("it ends in its header"))?;
        if number::limbs(modulus) != P::MODULUS {
            let found = modulus.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            return Err(WitnessError::Prime { expected: P::NAME, found });
        }
        let mut section = |name: &str| {
            let section = rest.split_first_chunk().and_then(|(length, rest)| {
                rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
            });
            let (section, behind) = section.ok_or_else(|| problem(&format!("it ends in its {name}")))?;
            rest = behind;
            let end = file.len() - behind.len();
            Ok(FilePart::new(&file, end - section.len()..end))
        };
        let inputs = section("inputs")?;
        let constants = section("constants")?;
        let counts = section("counts")?;
        let tape = section("operations")?;
        let wires = section("wires")?;
        let prints = section("prints")?;
        let wasm = section("WASM")?;
        if !rest.is_empty() {
            return Err(problem("there are bytes behind its end"));
        }
        let malformed = |name: &str| problem(&format!("its {name} are malformed"));
        let inputs = decode_inputs(&inputs).ok_or_else(|| malformed("inputs"))?;
        let constants = constants.as_chunks();
        let elements: Option<Vec<Fp<P>>> = constants.0.iter().map(number::element).collect();
        let constants = elements.filter(|_| constants.1.is_empty()).ok_or_else(|| malformed("constants"))?;
        let tape = decode_tape(&counts, tape).ok_or_else(|| malformed("operations"))?;
        let wires = decode_sources(&wires).ok_or_else(|| malformed("wires"))?;
        let prints = decode_prints(&prints).ok_or_else(|| malformed("prints"))?;
        let graph = Graph::new(tape, constants, wires, inputs).map_err(|text| problem(&text))?;
        Ok(Self { graph, prints, wasm, settings: RunSettings::new(limits) })
    }
}

/// The WASM in the bytes of a compiled circuit; `None` for any other bytes.
pub fn embedded_wasm(bytes: &[u8]) -> Option<&[u8]> {
    let (_, mut rest) = bytes.split_at_checked(HEADER).filter(|_| bytes.starts_with(&MAGIC))?;
    let mut last = None;
    while let Some((length, behind)) = rest.split_first_chunk() {
        let (section, behind) =
            behind.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        (last, rest) = (Some(section), behind);
    }
    last
}

fn decode_tape(counts: &[u8], bytes: FilePart) -> Option<Tape> {
    let ([places, steps], []) = counts.as_chunks() else { return None };
    let [places, steps] = [*places, *steps].map(u32::from_le_bytes);
    // Each place and step takes two bytes or more: no small file makes a large allocation.
    let most = bytes.len() as u64 / 2;
    let fits = u64::from(places) <= most && u64::from(steps) <= most;
    fits.then_some(Tape { bytes, places, steps })
}

fn decode_inputs(section: &[u8]) -> Option<BTreeMap<String, InputRange>> {
    let mut fields = Fields::new(section);
    let mut inputs = BTreeMap::new();
    while fields.left() > 0 {
        let name = std::str::from_utf8(fields.delimited()?).ok()?.to_owned();
        let [offset, length] = [fields.varint()?, fields.varint()?].map(u32::try_from);
        inputs.insert(name, InputRange { offset: offset.ok()?, length: length.ok()? });
    }
    Some(inputs)
}

fn decode_prints(section: &[u8]) -> Option<Vec<Print<ValueSource>>> {
    let mut fields = Fields::new(section);
    let mut prints = Vec::new();
    while fields.left() > 0 {
        prints.push(match fields.byte()? {
            0 => Print::Value(ValueSource::from_code(fields.varint()?)?),
            1 => Print::Word(std::str::from_utf8(fields.delimited()?).ok()?.to_owned()),
            2 => Print::EndOfLine,
            _ => return None,
        });
    }
    Some(prints)
}

/// Encodes integers below 2^63 by their differences.
fn differences(integers: impl Iterator<Item = u64>) -> Vec<u8> {
    let (mut bytes, mut last) = (Vec::new(), 0);
    for integer in integers {
        let difference = integer.wrapping_sub(last) as i64;
        // Zigzag: small differences of either sign become small numbers.
        push_leb128(&mut bytes, (difference << 1 ^ difference >> 63) as u64);
        last = integer;
    }
    bytes
}

fn decode_sources(section: &[u8]) -> Option<Vec<ValueSource>> {
    let mut fields = Fields::new(section);
    let (mut sources, mut last) = (Vec::new(), 0_u64);
    while fields.left() > 0 {
        let difference = fields.varint()?;
        last = last.wrapping_add(difference >> 1 ^ 0_u64.wrapping_sub(difference & 1));
        sources.push(ValueSource::from_code(last)?);
    }
    Some(sources)
}
