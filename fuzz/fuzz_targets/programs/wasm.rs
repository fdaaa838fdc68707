//! WASM: one instruction replaced by another of the same type, or hostile ones added. Source: WebAssembly Core Specification, 5.4 and 5.5.

use super::{Choices, delimited, number, take_delimited, take_number};
use wasmparser::{BinaryReader, FunctionBody};

const MAGIC_AND_VERSION: &[u8] = b"\0asm\x01\0\0\0";
const MEMORY: u8 = 5;
const START: u8 = 8;
const CODE: u8 = 10;

/// Codes of instructions with the same type.
const ALIKE: [std::ops::RangeInclusive<u8>; 7] =
    [0x46..=0x4f, 0x51..=0x5a, 0x67..=0x69, 0x6a..=0x78, 0x79..=0x7b, 0x7c..=0x8a, 0xc0..=0xc1];
/// Edges of constants, addresses and sizes.
const EDGES: [i64; 14] =
    [0, 1, 2, 7, 8, 40, 0xffff, 0x1_0000, 0x7fff_ffff, -1, -8, -0x8000_0000, i64::MAX, i64::MIN];

/// The WASM with one change; `None` for other bytes.
pub fn change(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut rest = bytes.strip_prefix(MAGIC_AND_VERSION)?;
    let mut sections = Vec::new();
    while let Some((id, behind)) = rest.split_first() {
        rest = behind;
        sections.push((*id, take_delimited(&mut rest)?.to_vec()));
    }
    match choices.below(32) {
        0 => {
            let pages = *choices.of(&[0, 1, 16, 1 << 9, 1 << 10, 1 << 15, 1 << 16]);
            *content(&mut sections, MEMORY)? = [&[1, 0][..], &number(pages)].concat();
        }
        1 => {
            let start = sections.iter().position(|(id, _)| (START..=CODE).contains(id))?;
            sections.insert(start, (START, number(choices.below(128) as u64)));
        }
        _ => {
            let code = content(&mut sections, CODE)?;
            *code = with_other_body(code, choices)?;
        }
    }
    let mut changed = MAGIC_AND_VERSION.to_vec();
    for (id, content) in sections {
        changed.push(id);
        changed.extend(delimited(&content));
    }
    Some(changed)
}

/// The content of a section.
fn content(sections: &mut [(u8, Vec<u8>)], wanted: u8) -> Option<&mut Vec<u8>> {
    sections.iter_mut().find(|(id, _)| *id == wanted).map(|(_, content)| content)
}

/// The code section with one function changed.
fn with_other_body(code: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let mut rest = code;
    let count = take_number(&mut rest)?;
    let mut bodies = Vec::new();
    for _ in 0..count {
        bodies.push(take_delimited(&mut rest)?);
    }
    let chosen = choices.below(bodies.len());
    let mut changed = number(count);
    for (index, body) in bodies.into_iter().enumerate() {
        if index == chosen {
            changed.extend(delimited(&with_other_instruction(body, choices)?));
        } else {
            changed.extend(delimited(body));
        }
    }
    Some(changed)
}

fn with_other_instruction(body: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let instructions = FunctionBody::new(BinaryReader::new(body, 0)).get_operators_reader().ok()?;
    let starts: Vec<usize> =
        instructions.into_iter_with_offsets().map_while(|next| Some(next.ok()?.1)).collect();
    let chosen = choices.below(starts.len());
    let start = *starts.get(chosen)?;
    let end = starts.get(chosen + 1).copied().unwrap_or(body.len());
    let added = if choices.below(4) == 0 { hostile(choices) } else { Vec::new() };
    let kept = if added.is_empty() { other(&body[start..end], choices) } else { body[start..end].to_vec() };
    Some([&body[..start], &added, &kept, &body[end..]].concat())
}

/// An instruction in place of this one.
fn other(instruction: &[u8], choices: &mut Choices) -> Vec<u8> {
    let Some(code) = instruction.first() else { return Vec::new() };
    if let Some(alike) = ALIKE.iter().find(|alike| alike.contains(code)) {
        let codes: Vec<u8> = alike.clone().collect();
        return vec![*choices.of(&codes)];
    }
    match code {
        // Calls, branches, and access to variables.
        0x0c | 0x0d | 0x10 | 0x20..=0x24 => [&[*code][..], &number(choices.below(128) as u64)].concat(),
        // Loads and stores.
        0x28..=0x3e => {
            let offset = *choices.of(&EDGES) as u32;
            [&[*code, 0][..], &number(offset.into())].concat()
        }
        0x41 => constant(*code, i64::from(*choices.of(&EDGES) as i32)),
        0x42 => constant(*code, *choices.of(&EDGES)),
        // The end of a block stays.
        0x0b => instruction.to_vec(),
        _ if choices.below(4) == 0 => vec![0],
        _ => instruction.to_vec(),
    }
}

/// Instructions that leave the stack as it is, or trap.
fn hostile(choices: &mut Choices) -> Vec<u8> {
    let constant = |choices: &mut Choices| self::constant(0x41, i64::from(*choices.of(&EDGES) as i32));
    match choices.below(9) {
        // A loop without end.
        0 => vec![0x03, 0x40, 0x0c, 0, 0x0b],
        // Grows the memory.
        1 => [&constant(choices)[..], &[0x40, 0, 0x1a]].concat(),
        // Stores a word.
        2 => [&constant(choices)[..], &constant(choices), &[0x36, 0, 0]].concat(),
        // Fills memory.
        3 => [&constant(choices)[..], &constant(choices), &constant(choices), &[0xfc, 0x0b, 0]].concat(),
        // Raises an exception.
        4 => vec![0x41, choices.below(10) as u8, 0x10, 0],
        // Calls functions: the host's for messages, or one of the circuit's.
        5 => vec![0x10, choices.below(6) as u8],
        6 => [&[0x10][..], &number(choices.below(128) as u64)].concat(),
        // Raises an error of circom 1's.
        7 => {
            let code = [0x41, choices.below(10) as u8];
            let more: Vec<u8> = (0..5).flat_map(|_| constant(choices)).collect();
            [&code[..], &more, &[0x10, 0]].concat()
        }
        _ => vec![0],
    }
}

/// A constant as a signed LEB128.
fn constant(code: u8, mut value: i64) -> Vec<u8> {
    let mut bytes = vec![code];
    loop {
        let byte = value as u8 & 0x7f;
        value >>= 7;
        if value == if byte & 0x40 == 0 { 0 } else { -1 } {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}
