//! Graphs of iden3's circom-witnesscalc (`.wcd`).
//!
//! Layout: `wtns.graph.001`; the count of nodes (u64, little-endian); each node as a Protocol Buffers message after its length; the
//! metadata likewise; the metadata's offset (u64). The metadata has the node of each wire and the position of each input. A node's
//! operands come before it. Input 0 is the constant 1. Source: circom-witnesscalc's storage.rs, graph.rs and messages.proto.

use super::{
    Binary, Graph, GraphNode, InputRange, Tape, Unary,
    message::{Fields, Message},
    operation,
};
use crate::error::WitnessError;
use proofmill_circom::ScalarPrime;
use proofmill_field::Fp;
use std::collections::BTreeMap;

/// The first bytes.
pub(super) const MAGIC: &[u8] = b"wtns.graph.001";

/// Decodes a graph. It takes at most 24 times the memory of its bytes.
pub(super) fn decode<P: ScalarPrime>(bytes: &[u8]) -> Result<Graph<P>, WitnessError> {
    let problem =
        |problem: &str| WitnessError::Program(format!("not a graph of circom-witnesscalc: {problem}"));
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| problem("expected the magic wtns.graph.001"))?;
    let (count, rest) = rest.split_first_chunk().ok_or_else(|| problem("it ends in its header"))?;
    let (rest, offset) = rest.split_last_chunk().ok_or_else(|| problem("it ends in its header"))?;
    let (count, offset) = (u64::from_le_bytes(*count), u64::from_le_bytes(*offset));
    let mut messages = Fields::new(rest);
    let count = u32::try_from(count).map_err(|_| problem("2^32 nodes or more"))?;
    let (mut nodes, mut constants) = (Vec::new(), Vec::new());
    for index in 0..count {
        let node = messages.delimited().and_then(|message| node(message, index, &mut constants));
        nodes.push(node.ok_or_else(|| problem(&format!("node {index} of {count} is malformed")))?);
    }
    let start = MAGIC.len() + 8 + (rest.len() - messages.left());
    if offset != start as u64 {
        return Err(problem(&format!("its metadata begin at {start}, it says {offset}")));
    }
    let metadata = messages.delimited().filter(|_| messages.left() == 0).and_then(metadata);
    let (wires, inputs) = metadata.ok_or_else(|| problem("its metadata are malformed"))?;
    if let Some(wire) = wires.iter().position(|node| *node >= count) {
        return Err(problem(&format!("wire {wire} has no node")));
    }
    let (tape, constants, wires) = Tape::new(&nodes, &constants, &wires, &[]);
    Graph::new(tape, constants, wires, inputs).map_err(|text| problem(&text))
}

/// A node that follows `before` others.
fn node<P: ScalarPrime>(message: &[u8], before: u32, constants: &mut Vec<Fp<P>>) -> Option<GraphNode> {
    let (kind, Message::Bytes(content)) = Fields::new(message).only()? else { return None };
    let operand = |field| Fields::new(content).number(field).filter(|index| *index < before);
    let code = |content| u8::try_from(Fields::new(content).number(1)?).ok();
    Some(match kind {
        1 => GraphNode::Input(Fields::new(content).number(1)?),
        2 => {
            let value = match Fields::new(content).bytes(1)? {
                [] => &[],
                value => Fields::new(value).bytes(1)?,
            };
            constants.push(operation::from_bytes(value));
            GraphNode::Constant(u32::try_from(constants.len() - 1).ok()?)
        }
        3 => GraphNode::Unary(
            Unary::from_code(code(content)?).filter(|operation| *operation != Unary::BitNot)?,
            operand(2)?,
        ),
        4 => GraphNode::Binary(Binary::from_code(code(content)?)?, operand(2)?, operand(3)?),
        5 if Fields::new(content).number(1)? == 0 => GraphNode::Select(operand(2)?, operand(3)?, operand(4)?),
        _ => return None,
    })
}

/// The node of each wire, and the inputs by name.
fn metadata(message: &[u8]) -> Option<(Vec<u32>, BTreeMap<String, InputRange>)> {
    let (mut wires, mut inputs) = (Vec::new(), BTreeMap::new());
    let mut fields = Fields::new(message);
    while let Some(field) = fields.next()? {
        match field {
            (1, Message::Number(wire)) => wires.push(u32::try_from(wire).ok()?),
            (1, Message::Bytes(packed)) => {
                let mut packed = Fields::new(packed);
                while packed.left() > 0 {
                    wires.push(u32::try_from(packed.varint()?).ok()?);
                }
            }
            (2, Message::Bytes(entry)) => {
                let name = String::from_utf8(Fields::new(entry).bytes(1)?.to_vec()).ok()?;
                let place = Fields::new(entry).bytes(2)?;
                let place = InputRange {
                    offset: Fields::new(place).number(1)?,
                    length: Fields::new(place).number(2)?,
                };
                inputs.insert(name, place);
            }
            _ => {}
        }
    }
    Some((wires, inputs))
}
