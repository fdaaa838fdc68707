//! Graphs of iden3's circom-witnesscalc (`.wcd`): a circuit as one list of operations, evaluated in order without branches.
//!
//! Layout: `wtns.graph.001`; the count of nodes (u64, little-endian); each node as a Protocol Buffers message behind its length; the
//! metadata likewise, with the node of each wire and the position of each input; the metadata's offset (u64). A node's operands
//! come before it. Input 0 is the constant 1. Source: circom-witnesscalc's storage.rs, graph.rs and messages.proto.

pub(crate) mod message;
mod operation;

use crate::{
    error::WitnessError,
    input::{Inputs, shown},
    names,
    wasm::expect_one,
};
use message::{Fields, Message};
pub use operation::{Binary, Unary};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, bn254::FrParams};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// One step of a graph; operands are indices of earlier steps.
#[derive(Clone, Copy, Debug)]
enum Node<P: ScalarPrime> {
    Input(u32),
    Constant(Fp<P>),
    Unary(Unary, u32),
    Binary(Binary, u32, u32),
    /// The second operand if the first is not 0, otherwise the third.
    Select(u32, u32, u32),
}

/// The positions of an input signal's values.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u32,
    length: u32,
}

/// A circuit as a graph of operations.
#[derive(Debug)]
pub struct Graph<P: ScalarPrime = FrParams> {
    nodes: Vec<Node<P>>,
    wires: Vec<u32>,
    inputs: BTreeMap<String, Place>,
    /// The number of input values, with the constant 1.
    size: usize,
}

impl<P: ScalarPrime> Graph<P> {
    /// The first bytes of a graph.
    pub const MAGIC: &[u8] = b"wtns.graph.001";

    /// Decodes a graph. It takes at most 24 times the memory of its bytes.
    ///
    /// # Errors
    /// [`WitnessError::Program`] with the position of what is malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WitnessError> {
        let problem =
            |problem: &str| WitnessError::Program(format!("not a graph of circom-witnesscalc: {problem}"));
        let rest =
            bytes.strip_prefix(Self::MAGIC).ok_or_else(|| problem("expected the magic wtns.graph.001"))?;
        let (count, rest) = rest.split_first_chunk().ok_or_else(|| problem("it ends in its header"))?;
        let (rest, offset) = rest.split_last_chunk().ok_or_else(|| problem("it ends in its header"))?;
        let (count, offset) = (u64::from_le_bytes(*count), u64::from_le_bytes(*offset));
        let mut messages = Fields::new(rest);
        let mut nodes = Vec::new();
        for index in 0..count {
            let node = messages.delimited().and_then(|message| Self::node(message, nodes.len()));
            nodes.push(node.ok_or_else(|| problem(&format!("node {index} of {count} is malformed")))?);
        }
        if u32::try_from(nodes.len()).is_err() {
            return Err(problem("2^32 nodes or more"));
        }
        let start = Self::MAGIC.len() + 8 + (rest.len() - messages.left());
        if offset != start as u64 {
            return Err(problem(&format!("its metadata begin at {start}, it says {offset}")));
        }
        let metadata = messages.delimited().filter(|_| messages.left() == 0);
        let metadata = metadata.ok_or_else(|| problem("its metadata are malformed"))?;
        let (wires, inputs) =
            Self::metadata(metadata).ok_or_else(|| problem("its metadata are malformed"))?;
        Self::checked(nodes, wires, inputs).map_err(|text| problem(&text))
    }

    fn node(message: &[u8], before: usize) -> Option<Node<P>> {
        let (kind, Message::Bytes(content)) = Fields::new(message).only()? else { return None };
        let operand = |field| Fields::new(content).number(field).filter(|index| (*index as usize) < before);
        Some(match kind {
            1 => Node::Input(Fields::new(content).number(1)?),
            2 => {
                let value = match Fields::new(content).bytes(1)? {
                    [] => &[],
                    value => Fields::new(value).bytes(1)?,
                };
                Node::Constant(operation::from_bytes(value))
            }
            3 => Node::Unary(Unary::from_code(Fields::new(content).number(1)?)?, operand(2)?),
            4 => Node::Binary(Binary::from_code(Fields::new(content).number(1)?)?, operand(2)?, operand(3)?),
            5 if Fields::new(content).number(1)? == 0 => Node::Select(operand(2)?, operand(3)?, operand(4)?),
            _ => return None,
        })
    }

    /// The node of each wire, and the inputs by name.
    fn metadata(message: &[u8]) -> Option<(Vec<u32>, BTreeMap<String, Place>)> {
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
                    let place = Place {
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

    fn checked(
        nodes: Vec<Node<P>>,
        wires: Vec<u32>,
        inputs: BTreeMap<String, Place>,
    ) -> Result<Self, String> {
        if let Some(wire) = wires.iter().position(|node| *node as usize >= nodes.len()) {
            return Err(format!("wire {wire} has no node"));
        }
        // Inputs of the main component are wires, as are its outputs, which may come before them. The bound keeps a few bytes from
        // taking much memory.
        let end = |place: &Place| u64::from(place.offset) + u64::from(place.length);
        let size = inputs.values().map(end).max().unwrap_or(0).max(1);
        if size > (1 << 16) + nodes.len() as u64 + wires.len() as u64 {
            let (nodes, wires) = (nodes.len(), wires.len());
            return Err(format!("{size} input values for {nodes} nodes and {wires} wires"));
        }
        let outside = |node: &Node<P>| matches!(node, Node::Input(index) if u64::from(*index) >= size);
        if let Some(index) = nodes.iter().position(outside) {
            return Err(format!("node {index} is an input that has no name"));
        }
        Ok(Self { nodes, wires, inputs, size: size as usize })
    }

    /// Evaluates the graph on these inputs.
    ///
    /// A graph has no assertions: check its witness against the circuit's constraints.
    ///
    /// # Errors
    /// [`WitnessError::Signals`] for inputs that are missing, unknown or of another size.
    pub fn calculate(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let given = self.given(inputs)?;
        let mut values: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(Vec::with_capacity(self.nodes.len()));
        for node in &self.nodes {
            // Checked when the graph was decoded.
            let at = |index: u32| values.get(index as usize).copied().unwrap_or(Fp::ZERO);
            let value = match *node {
                Node::Input(index) => given.get(index as usize).copied().unwrap_or(Fp::ZERO),
                Node::Constant(value) => value,
                Node::Unary(operation, a) => operation.evaluate(at(a)),
                Node::Binary(operation, a, b) => operation.evaluate(at(a), at(b)),
                Node::Select(condition, a, b) => at(if at(condition) == Fp::ZERO { b } else { a }),
            };
            values.push(value);
        }
        let wire = |node: &u32| values.get(*node as usize).copied().unwrap_or(Fp::ZERO);
        let witness: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(self.wires.iter().map(wire).collect());
        expect_one(&witness)?;
        Ok(witness)
    }

    /// The input values by position, the first of which is 1.
    fn given(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let mut values = Zeroizing::new(vec![Fp::ZERO; self.size]);
        for signal in inputs.signals() {
            let name = shown(&signal.name);
            let place = self.inputs.get(&signal.name).ok_or_else(|| {
                WitnessError::Signals(format!("signal {name} is not an input of the circuit"))
            })?;
            let (expected, found) = (place.length as usize, signal.values.len());
            let range = place.offset as usize..place.offset as usize + expected;
            match values.get_mut(range) {
                Some(values) if expected == found => values.copy_from_slice(&signal.values),
                _ => {
                    let problem = format!("signal {name}: expected {expected} values, found {found}");
                    return Err(WitnessError::Signals(problem));
                }
            }
        }
        let given: std::collections::HashSet<&str> =
            inputs.signals().iter().map(|signal| signal.name.as_str()).collect();
        let missing = self.inputs.iter().filter(|(name, _)| !given.contains(name.as_str()));
        let missing: Vec<_> = missing.map(|(name, place)| (name.clone(), place.length as usize)).collect();
        if !missing.is_empty() {
            return Err(WitnessError::Signals(names::missing(&missing)));
        }
        if let Some(one) = values.first_mut() {
            *one = Fp::ONE;
        }
        Ok(values)
    }
}
