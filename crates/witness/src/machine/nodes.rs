//! The nodes of a circuit's graph, with their values for the sample. A recent operation on the same operands gives its node again.

use super::{memory::ElementOperand, value::Truth};
use crate::{
    graph::{Binary, GraphNode, Guard, Tape, Unary, ValueSource},
    wasm::{element::WasmElement, native},
};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp};
use std::hash::BuildHasher;
use zeroize::Zeroizing;

const RECENT: usize = 1 << 14;

#[derive(Debug)]
pub(super) struct Nodes<P: ScalarPrime> {
    nodes: Vec<GraphNode>,
    constants: Vec<Fp<P>>,
    /// The value of each node for the sample.
    values: Zeroizing<Vec<Fp<P>>>,
    /// The number of the last node with each hash. A map of all nodes would find about a percent more of them, but would mostly wait
    /// for memory. This table stays in the processor's cache.
    recent: Vec<(GraphNode, u32)>,
    hasher: FixedState,
    numbers_of_constants: HashMap<[u64; 4], u32>,
    /// The constants of elements in the short form, which are the most frequent.
    numbers_of_short: HashMap<i32, u32>,
}

impl<P: ScalarPrime> Nodes<P> {
    pub(super) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            constants: Vec::new(),
            values: Zeroizing::default(),
            recent: vec![(GraphNode::Input(u32::MAX), 0); RECENT],
            hasher: FixedState::default(),
            numbers_of_constants: HashMap::new(),
            numbers_of_short: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of a node, and its value for the sample.
    fn number(&mut self, node: GraphNode, value: impl FnOnce(&[Fp<P>]) -> Fp<P>) -> u32 {
        let next = self.nodes.len() as u32;
        let place = self.hasher.hash_one(node) as usize % RECENT;
        match self.recent.get_mut(place) {
            Some((recent, number)) if *recent == node => return *number,
            Some(recent) => *recent = (node, next),
            None => {}
        }
        self.nodes.push(node);
        let value = value(&self.values);
        self.values.push(value);
        next
    }

    pub(super) fn input(&mut self, position: u32, value: Fp<P>) -> u32 {
        self.number(GraphNode::Input(position), |_| value)
    }

    /// The node of an operand.
    pub(super) fn node(&mut self, operand: ElementOperand<P>) -> u32 {
        match operand {
            ElementOperand::Node(node) => node,
            ElementOperand::Known(WasmElement::Short(short)) => {
                if let Some(node) = self.numbers_of_short.get(&short) {
                    return *node;
                }
                let node = self.constant(WasmElement::<P>::Short(short).value());
                self.numbers_of_short.insert(short, node);
                node
            }
            ElementOperand::Known(WasmElement::Normal(value) | WasmElement::Montgomery(value)) => {
                self.constant(value)
            }
        }
    }

    fn constant(&mut self, value: Fp<P>) -> u32 {
        let key = value.to_montgomery();
        if let Some(node) = self.numbers_of_constants.get(&key) {
            return *node;
        }
        let node = self.number(GraphNode::Constant(self.constants.len() as u32), |_| value);
        self.constants.push(value);
        self.numbers_of_constants.insert(key, node);
        node
    }

    /// Its value for the sample.
    pub(super) fn value(&self, node: u32) -> Fp<P> {
        self.values.get(node as usize).copied().unwrap_or(Fp::ZERO)
    }

    /// Whether it holds for the sample.
    pub(super) fn holds(&self, truth: Truth) -> bool {
        (self.value(truth.node) != Fp::ZERO) == truth.nonzero
    }

    pub(super) fn unary(&mut self, operation: Unary, a: ElementOperand<P>) -> ElementOperand<P> {
        match a {
            ElementOperand::Known(a) => {
                ElementOperand::Known(WasmElement::Montgomery(operation.evaluate(a.value())))
            }
            ElementOperand::Node(a) => ElementOperand::Node(
                self.number(GraphNode::Unary(operation, a), |values| operation.evaluate(at(values, a))),
            ),
        }
    }

    /// The result; `None` if it traps whatever the inputs are.
    pub(super) fn binary(
        &mut self,
        operation: Binary,
        a: ElementOperand<P>,
        b: ElementOperand<P>,
    ) -> Option<ElementOperand<P>> {
        let (x, y) = (zero_or_one(&a), zero_or_one(&b));
        let zero = ElementOperand::Known(WasmElement::Short(0));
        Some(match (operation, a, b) {
            (_, ElementOperand::Known(a), ElementOperand::Known(b)) => {
                ElementOperand::Known(native::binary(operation, a, b)?)
            }
            (Binary::Add, _, b) if x == Some(0) => b,
            (Binary::Add | Binary::Subtract, a, _) if y == Some(0) => a,
            (Binary::Multiply, _, b) if x == Some(1) => b,
            (Binary::Multiply | Binary::Divide, a, _) if y == Some(1) => a,
            (Binary::Multiply, ..) if x == Some(0) || y == Some(0) => zero,
            (Binary::ShiftLeft | Binary::ShiftRight, a, _) if y == Some(0) => a,
            (Binary::BitAnd, a, _) if y == Some(1) && self.is_bit(a) => a,
            (Binary::BitAnd, ElementOperand::Node(a), _) if y == Some(1) && self.shifted(a).is_some() => {
                let (of, position) = self.shifted(a)?;
                ElementOperand::Node(self.number(GraphNode::Bit(of, position), |values| {
                    operation.evaluate(at(values, a), Fp::ONE)
                }))
            }
            // The constraint of a bit: it is 0 or 1.
            (Binary::Multiply, ElementOperand::Node(a), ElementOperand::Node(b))
                if self.is_bit(ElementOperand::Node(a)) && self.is_one_less(b, a)
                    || self.is_bit(ElementOperand::Node(b)) && self.is_one_less(a, b) =>
            {
                zero
            }
            (operation, a, b) => {
                let (mut a, mut b) = (self.node(a), self.node(b));
                // One order for both, so that the same operation is found again.
                if operation.commutes() && a > b {
                    (a, b) = (b, a);
                }
                let node = GraphNode::Binary(operation, a, b);
                ElementOperand::Node(
                    self.number(node, |values| operation.evaluate(at(values, a), at(values, b))),
                )
            }
        })
    }

    /// Whether a node is 0 or 1 whatever the inputs are, as far as its operation tells.
    fn is_bit(&self, operand: ElementOperand<P>) -> bool {
        let ElementOperand::Node(node) = operand else { return false };
        match self.nodes.get(node as usize) {
            Some(GraphNode::Bit(..)) => true,
            Some(GraphNode::Binary(operation, ..)) => operation.is_truth(),
            _ => false,
        }
    }

    /// The node and the number of bits by which it is shifted right in another.
    fn shifted(&self, node: u32) -> Option<(u32, u8)> {
        let Some(GraphNode::Binary(Binary::ShiftRight, of, by)) = self.nodes.get(node as usize) else {
            return None;
        };
        let Some(GraphNode::Constant(_)) = self.nodes.get(*by as usize) else { return None };
        match self.value(*by).to_canonical() {
            // Those of the modulus.
            [by, 0, 0, 0] if by < 253 => Some((*of, by as u8)),
            _ => None,
        }
    }

    /// Whether a node is another minus one.
    fn is_one_less(&self, node: u32, than: u32) -> bool {
        let difference = match self.nodes.get(node as usize) {
            Some(GraphNode::Binary(Binary::Subtract, a, b)) if *a == than => (*b, Fp::ONE),
            Some(GraphNode::Binary(Binary::Add, a, b)) if *a == than => (*b, -Fp::ONE),
            Some(GraphNode::Binary(Binary::Add, a, b)) if *b == than => (*a, -Fp::ONE),
            _ => return false,
        };
        let is_constant = matches!(self.nodes.get(difference.0 as usize), Some(GraphNode::Constant(_)));
        is_constant && self.value(difference.0) == difference.1
    }

    /// The first operand where the condition holds, elsewhere the second.
    pub(super) fn select(
        &mut self,
        condition: Truth,
        a: ElementOperand<P>,
        b: ElementOperand<P>,
    ) -> ElementOperand<P> {
        match (a, b) {
            (ElementOperand::Known(a), ElementOperand::Known(b)) if a.value() == b.value() => {
                return ElementOperand::Known(a);
            }
            (ElementOperand::Node(a), ElementOperand::Node(b)) if a == b => return ElementOperand::Node(a),
            _ => {}
        }
        let (a, b) = if condition.nonzero { (a, b) } else { (b, a) };
        let (a, b) = (self.node(a), self.node(b));
        let node = GraphNode::Select(condition.node, a, b);
        let number = self.number(node, |values| {
            let chosen = if at(values, condition.node) == Fp::ZERO { b } else { a };
            at(values, chosen)
        });
        ElementOperand::Node(number)
    }

    /// The tape of all that the outputs and guards need, the constants that it reads, and where the outputs are.
    pub(super) fn finish(self, outputs: &[u32], guards: &[Guard]) -> (Tape, Vec<Fp<P>>, Vec<ValueSource>) {
        // The values take most of the memory, and the tape needs none of them.
        let Self { nodes, constants, values, .. } = self;
        drop(values);
        Tape::new(&nodes, &constants, outputs, guards)
    }

    /// A node that is 1 where all conditions hold, and 0 elsewhere.
    pub(super) fn all(&mut self, conditions: [Truth; 2]) -> Truth {
        let [a, b] = conditions.map(|condition| self.bit(condition));
        let node = match self.binary(Binary::And, ElementOperand::Node(a), ElementOperand::Node(b)) {
            Some(ElementOperand::Node(node)) => node,
            _ => a,
        };
        Truth { node, nonzero: true }
    }

    /// A node that is not 0 where the condition holds.
    fn bit(&mut self, condition: Truth) -> u32 {
        if condition.nonzero {
            return condition.node;
        }
        let zero = ElementOperand::Known(WasmElement::Short(0));
        match self.binary(Binary::Equal, ElementOperand::Node(condition.node), zero) {
            Some(ElementOperand::Node(node)) => node,
            _ => condition.node,
        }
    }
}

/// An operand that is known to be 0 or 1.
fn zero_or_one<P: ScalarPrime>(operand: &ElementOperand<P>) -> Option<u8> {
    match operand {
        ElementOperand::Known(WasmElement::Short(value)) => {
            u8::try_from(*value).ok().filter(|value| *value <= 1)
        }
        ElementOperand::Known(element) if element.value() == Fp::ZERO => Some(0),
        ElementOperand::Known(element) if element.value() == Fp::ONE => Some(1),
        _ => None,
    }
}

fn at<P: ScalarPrime>(values: &[Fp<P>], node: u32) -> Fp<P> {
    values.get(node as usize).copied().unwrap_or(Fp::ZERO)
}
