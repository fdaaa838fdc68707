//! Mutations of circom's WASM and of graphs that leave them well-formed. Most changes of single bytes are refused by the validation of
//! types or by the next length, and never run.

mod graph;
mod wasm;

use libfuzzer_sys::fuzzer_mutate;
use proofmill_witness::{Graph, Program};

/// libFuzzer's mutation, or in three cases of four that of this module.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let bytes = &data[..size];
    let mut choices = Choices(u64::from(seed));
    let changed = match choices.below(4) {
        0 => None,
        _ if bytes.starts_with(&<Program>::MAGIC) => wasm::change(bytes, &mut choices),
        _ if bytes.starts_with(<Graph>::MAGIC) => graph::change(bytes, &mut choices),
        _ => None,
    };
    match changed {
        Some(changed) if changed.len() <= max_size => {
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

/// Pseudo-random choices (SplitMix64).
pub struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, 0 below 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Takes an unsigned LEB128 off the front, which is also Protocol Buffers' varint.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at(length);
    *bytes = rest;
    digits.iter().rev().try_fold(0_u64, |value, byte| Some(value.checked_mul(128)? | u64::from(byte & 0x7f)))
}

/// Takes bytes behind their length off the front.
fn take_delimited<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_number(bytes)?.try_into().ok()?;
    let (content, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(content)
}

fn number(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn delimited(content: &[u8]) -> Vec<u8> {
    [&number(content.len() as u64), content].concat()
}
