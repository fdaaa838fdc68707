//! Graphs: lists of nodes with consistent counts and offsets.

use super::{Choices, delimited, number, take_delimited};
use proofmill_witness::Graph;

/// The graph with one node, or the metadata, changed; `None` for other bytes.
pub fn change(bytes: &[u8], choices: &mut Choices) -> Option<Vec<u8>> {
    let rest = bytes.strip_prefix(<Graph>::MAGIC)?;
    let (count, rest) = rest.split_first_chunk()?;
    let (mut rest, _) = rest.split_last_chunk::<8>()?;
    let mut nodes = Vec::new();
    for _ in 0..u64::from_le_bytes(*count) {
        nodes.push(take_delimited(&mut rest)?.to_vec());
    }
    let mut metadata = take_delimited(&mut rest)?.to_vec();
    if nodes.is_empty() {
        nodes.push(node(0, choices));
    }
    let (at, last) = (choices.below(nodes.len()), nodes.len() - 1);
    match choices.below(8) {
        0 => drop(nodes.remove(at)),
        1 => nodes[at] = node(at, choices),
        2 => nodes.insert(at, node(at, choices)),
        3 => nodes.swap(at, last),
        4 => metadata = self::metadata(nodes.len(), choices),
        // One more wire.
        5 => metadata.extend([&[8][..], &number(choices.below(nodes.len()) as u64)].concat()),
        _ => nodes.push(node(nodes.len(), choices)),
    }
    let mut changed = [<Graph>::MAGIC, &(nodes.len() as u64).to_le_bytes()].concat();
    nodes.iter().for_each(|node| changed.extend(delimited(node)));
    let offset = changed.len() as u64;
    changed.extend(delimited(&metadata));
    changed.extend(offset.to_le_bytes());
    Some(changed)
}

/// A field of bytes.
fn field(position: u8, content: &[u8]) -> Vec<u8> {
    [&[position << 3 | 2], &delimited(content)[..]].concat()
}

/// Fields of numbers, from this position.
fn numbers(first: u8, values: &[usize]) -> Vec<u8> {
    let fields = (first..).zip(values);
    fields.flat_map(|(position, value)| [vec![position << 3], number(*value as u64)].concat()).collect()
}

/// A node after this many.
fn node(before: usize, choices: &mut Choices) -> Vec<u8> {
    let mut operand = || choices.below(before);
    let (a, b, c) = (operand(), operand(), operand());
    match choices.below(8) {
        0 => field(1, &numbers(1, &[choices.below(4)])),
        1 => {
            let byte = *choices.of(&[0, 1, 2, 0x7f, 0x80, 0xff]);
            let value = vec![byte; *choices.of(&[0, 1, 4, 8, 31, 32, 33])];
            field(2, &field(1, &field(1, &value)))
        }
        2 => field(3, &numbers(1, &[choices.below(2), a])),
        3 => field(5, &numbers(2, &[a, b, c])),
        _ => field(4, &numbers(1, &[choices.below(20), a, b])),
    }
}

/// Wires and the inputs `a` and `b` of one and two values.
fn metadata(nodes: usize, choices: &mut Choices) -> Vec<u8> {
    let wires: Vec<u8> = (0..choices.below(8)).flat_map(|_| number(choices.below(nodes) as u64)).collect();
    let mut input = |name: &[u8], length| {
        let offset = *choices.of(&[0, 1, 2, 3, 1 << 16, 1 << 24, u32::MAX as usize]);
        field(2, &[field(1, name), field(2, &numbers(1, &[offset, length]))].concat())
    };
    [field(1, &[&[0], &wires[..]].concat()), input(b"a", 1), input(b"b", 2)].concat()
}
