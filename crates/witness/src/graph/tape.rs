//! A graph's operations in the order in which they are evaluated, in few bytes, and with few values at a time.
//!
//! Each is a byte, and LEB128 numbers for its operands. An operand is four times an index, plus the kind of the index: 0 a place, 1 a place
//! that is free afterwards, 2 a constant, 3 an input. A result goes to the place that became free last, or else to a new one. A sum or a
//! product with a constant that only one sum reads is a part of that sum.

use super::{Binary, Unary, message::push_leb128};
use proofmill_circom::ScalarPrime;
use proofmill_field::Fp;
use proofmill_files::FileBytes;
use std::{
    ops::{Deref, Range},
    sync::Arc,
};

/// The positions of an input signal's values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputRange {
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

/// One operation of a graph that is made; operands are indices of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GraphNode {
    /// The input value at a position.
    Input(u32),
    /// The constant with this index.
    Constant(u32),
    /// The second operand if the first is not 0, otherwise the third.
    Select(u32, u32, u32),
    /// The bit at this position of the canonical integer.
    Bit(u32, u8),
    Unary(Unary, u32),
    Binary(Binary, u32, u32),
}

impl GraphNode {
    /// Its operands.
    fn operands(self) -> impl Iterator<Item = u32> {
        let operands = match self {
            Self::Input(_) | Self::Constant(_) => [None; 3],
            Self::Select(condition, a, b) => [Some(condition), Some(a), Some(b)],
            Self::Bit(a, _) | Self::Unary(_, a) => [Some(a), None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None],
        };
        operands.into_iter().flatten()
    }

    fn is_sum(self) -> bool {
        matches!(self, Self::Binary(Binary::Add | Binary::Subtract, ..) | Self::Unary(Unary::Negate, _))
    }
}

/// A condition on a node's value. If it fails, the graph's wires are not the circuit's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) node: u32,
    /// Whether the value is not 0.
    pub(crate) nonzero: bool,
}

/// A value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSource {
    Place(u32),
    /// A place that no later operation reads.
    LastOfPlace(u32),
    Constant(u32),
    Input(u32),
}

impl ValueSource {
    pub(crate) fn code(self) -> u64 {
        let (index, kind) = match self {
            Self::Place(index) => (index, 0),
            Self::LastOfPlace(index) => (index, 1),
            Self::Constant(index) => (index, 2),
            Self::Input(index) => (index, 3),
        };
        u64::from(index) << 2 | kind
    }

    #[inline(always)]
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        let index = u32::try_from(code >> 2).ok()?;
        Some(match code & 3 {
            0 => Self::Place(index),
            1 => Self::LastOfPlace(index),
            2 => Self::Constant(index),
            _ => Self::Input(index),
        })
    }
}

/// A step of the evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) enum TapeStep {
    Unary(Unary),
    Binary(Binary),
    Select,
    /// A bit of the operand; the next byte is its position.
    Bit,
    /// A sum: the number of terms, then for each its coefficient and its operand. A coefficient is 0 for one, or twice the number of a constant plus
    /// 2; plus 1 if the term is subtracted.
    Sum,
    /// Independent quotients: their number, then their dividends and divisors.
    Quotients,
    /// Both operands are equal, or the graph is not for these inputs.
    Equal,
    /// The operand is zero, or not, or the graph is not for these inputs.
    Zero,
    Nonzero,
}

const SELECT: u8 = 0;
const BIT: u8 = 1;
const QUOTIENTS: u8 = 2;
const EQUAL: u8 = 3;
const ZERO: u8 = 4;
const NONZERO: u8 = 5;
const SUM: u8 = 6;
const UNARY: u8 = 8;
const BINARY: u8 = 16;

impl TapeStep {
    fn code(self) -> u8 {
        match self {
            Self::Select => SELECT,
            Self::Bit => BIT,
            Self::Quotients => QUOTIENTS,
            Self::Equal => EQUAL,
            Self::Zero => ZERO,
            Self::Nonzero => NONZERO,
            Self::Sum => SUM,
            Self::Unary(operation) => UNARY + operation.code(),
            Self::Binary(operation) => BINARY + operation.code(),
        }
    }

    #[inline(always)]
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            BINARY.. => Self::Binary(Binary::from_code(code - BINARY)?),
            UNARY.. => Self::Unary(Unary::from_code(code - UNARY)?),
            SELECT => Self::Select,
            BIT => Self::Bit,
            QUOTIENTS => Self::Quotients,
            EQUAL => Self::Equal,
            ZERO => Self::Zero,
            NONZERO => Self::Nonzero,
            SUM => Self::Sum,
            _ => return None,
        })
    }
}

/// A part of a file's bytes.
#[derive(Clone, Debug)]
pub(crate) struct FilePart {
    file: Arc<FileBytes>,
    range: Range<usize>,
}

impl FilePart {
    pub(crate) fn new(file: &Arc<FileBytes>, range: Range<usize>) -> Self {
        Self { file: file.clone(), range }
    }

    /// Removes the pages of these bytes of a mapped file from memory. They are read again when they are next used.
    pub(super) fn release(&self, bytes: Range<usize>) {
        self.file.release(self.range.start + bytes.start..self.range.start + bytes.end);
    }
}

impl From<Vec<u8>> for FilePart {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { file: Arc::new(FileBytes::Owned(bytes)), range }
    }
}

impl Deref for FilePart {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

/// The steps of a graph.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) bytes: FilePart,
    /// The most places that have a value at a time.
    pub(crate) places: u32,
    /// The number of values and guards.
    pub(crate) steps: u32,
}

impl Tape {
    /// The steps that the outputs and guards need, the constants that they read, and where the outputs' values are afterwards. Guards are
    /// checked as soon as their operands are there.
    pub(crate) fn new<P: ScalarPrime>(
        nodes: &[GraphNode],
        constants: &[Fp<P>],
        outputs: &[u32],
        guards: &[Guard],
    ) -> (Self, Vec<Fp<P>>, Vec<ValueSource>) {
        let mut schedule = Schedule::new(nodes, outputs, guards);
        let order = schedule.order();
        let last = schedule.last_reads(&order, outputs);
        let mut writer = Writer {
            nodes,
            folded: schedule.folded,
            last,
            places: vec![0; nodes.len()],
            free: Vec::new(),
            constants: Vec::new(),
            numbers: vec![None; constants.len()],
            bytes: Vec::new(),
            places_used: 0,
            steps: 0,
        };
        for (at, item) in (0..).zip(&order) {
            writer.write(at, item);
        }
        let outputs = outputs.iter().map(|node| writer.source(*node, u32::MAX)).collect();
        let used = writer.constants.iter().filter_map(|index| constants.get(*index as usize).copied());
        let used = used.collect();
        let tape = Self { bytes: writer.bytes.into(), places: writer.places_used, steps: writer.steps };
        (tape, used, outputs)
    }
}

/// An item of the tape.
#[derive(Debug)]
enum Item {
    Node(u32),
    Quotients(Vec<u32>),
    Equal(u32, u32),
    Guard(Guard),
}

/// The nodes that are needed, and the order in which they are computed.
struct Schedule<'a> {
    nodes: &'a [GraphNode],
    /// For each node the most quotients on a path to it. Quotients with the same number are calculated together. `NOT_NEEDED` for other nodes.
    depths: Vec<u32>,
    /// Whether each node is a part of the only sum that reads it.
    folded: Vec<bool>,
    guards: Vec<Item>,
}

const NOT_NEEDED: u32 = u32::MAX;

impl<'a> Schedule<'a> {
    fn new(nodes: &'a [GraphNode], outputs: &[u32], guards: &[Guard]) -> Self {
        let mut schedule =
            Self { nodes, depths: vec![NOT_NEEDED; nodes.len()], folded: Vec::new(), guards: Vec::new() };
        for guard in guards {
            schedule.guards.push(match nodes.get(guard.node as usize) {
                // A guard on an equality compares the operands, so its node may not be needed.
                Some(GraphNode::Binary(Binary::Equal, a, b)) if guard.nonzero => Item::Equal(*a, *b),
                _ => Item::Guard(*guard),
            });
        }
        let guarded: Vec<u32> = schedule.guards.iter().flat_map(Item::reads_of_guard).collect();
        for node in outputs.iter().chain(&guarded) {
            schedule.set_depth(*node, 0);
        }
        // Backwards, since operands come before their readers: what is needed needs its operands.
        for (index, node) in nodes.iter().enumerate().rev() {
            let index = index as u32;
            if schedule.depth(index) != NOT_NEEDED {
                node.operands().for_each(|operand| schedule.set_depth(operand, 0));
            }
        }
        // Forwards: quotients of one depth do not depend on each other and share one inversion.
        for (index, node) in (0..).zip(nodes) {
            if schedule.depth(index) != NOT_NEEDED {
                let before = node.operands().map(|operand| schedule.depth(operand)).max().unwrap_or(0);
                schedule.set_depth(index, before + u32::from(is_quotient(*node)));
            }
        }
        schedule.fold(outputs.iter().chain(&guarded));
        schedule
    }

    /// Finds the nodes that are parts of sums: those that nothing else reads.
    fn fold<'b>(&mut self, read: impl Iterator<Item = &'b u32>) {
        let mut reads = vec![0_u8; self.nodes.len()];
        let mut count = |node: u32, times: u8| {
            if let Some(reads) = reads.get_mut(node as usize) {
                *reads = reads.saturating_add(times);
            }
        };
        // Two reads keep outputs and nodes of guards out of sums: their values are needed.
        read.for_each(|node| count(*node, 2));
        let needed = (0..).zip(self.nodes).filter(|(index, _)| self.depth(*index) != NOT_NEEDED);
        for (_, node) in needed.clone() {
            node.operands().for_each(|operand| count(operand, 1));
        }
        let mut folded = vec![false; self.nodes.len()];
        for operand in needed.filter(|(_, node)| node.is_sum()).flat_map(|(_, node)| node.operands()) {
            let (Some(node), Some(1)) = (self.nodes.get(operand as usize), reads.get(operand as usize))
            else {
                continue;
            };
            if let Some(folded) = folded.get_mut(operand as usize) {
                *folded = node.is_sum() || scaled(self.nodes, *node).is_some();
            }
        }
        self.folded = folded;
    }

    fn depth(&self, node: u32) -> u32 {
        self.depths.get(node as usize).copied().unwrap_or(NOT_NEEDED)
    }

    fn set_depth(&mut self, node: u32, depth: u32) {
        if let Some(place) = self.depths.get_mut(node as usize) {
            *place = depth;
        }
    }

    /// All items in order: at each depth the quotients first, and each guard after its last operand.
    fn order(&mut self) -> Vec<Item> {
        let deepest = self.depths.iter().filter(|depth| **depth != NOT_NEEDED).max().copied().unwrap_or(0);
        let mut by_depth: Vec<Vec<u32>> = vec![Vec::new(); deepest as usize + 1];
        for (index, node) in (0..).zip(self.nodes) {
            let is_part = self.folded.get(index as usize) == Some(&true);
            let is_value = !is_part && !matches!(node, GraphNode::Input(_) | GraphNode::Constant(_));
            if let Some(level) = by_depth.get_mut(self.depth(index) as usize).filter(|_| is_value) {
                level.push(index);
            }
        }
        let mut positions = vec![0; self.nodes.len()];
        let (mut order, mut position) = (Vec::new(), 0);
        for level in by_depth {
            let is_quotient =
                |node: &u32| self.nodes.get(*node as usize).is_some_and(|node| is_quotient(*node));
            let (quotients, others): (Vec<_>, Vec<_>) = level.into_iter().partition(is_quotient);
            for node in quotients.iter().chain(&others) {
                if let Some(place) = positions.get_mut(*node as usize) {
                    *place = position;
                }
                position += 1;
            }
            let first = position - others.len();
            if !quotients.is_empty() {
                // Before any guard of one of them.
                order.push((first - quotients.len(), Item::Quotients(quotients)));
            }
            order.extend((first..).zip(others.into_iter().map(Item::Node)));
        }
        // Behind what is at their last operand's position, because sorting is stable.
        let at = |item: &Item| {
            let reads = item.reads_of_guard();
            reads.filter_map(|node| positions.get(node as usize).copied()).max().unwrap_or(0)
        };
        order.extend(self.guards.drain(..).map(|guard| (at(&guard), guard)));
        order.sort_by_key(|(position, _)| *position);
        order.into_iter().map(|(_, item)| item).collect()
    }

    /// The position in the order of the last item that reads each node; `u32::MAX` if it is an output.
    fn last_reads(&self, order: &[Item], outputs: &[u32]) -> Vec<u32> {
        let mut last = vec![0; self.nodes.len()];
        let mut read = |node: u32, at: u32| {
            if let Some(place) = last.get_mut(node as usize) {
                *place = at;
            }
        };
        let operands = |node: &u32| self.nodes.get(*node as usize).copied();
        for (at, item) in (0..).zip(order) {
            match item {
                Item::Node(node) if operands(node).is_some_and(GraphNode::is_sum) => {
                    let terms = terms(self.nodes, &self.folded, *node);
                    terms.iter().for_each(|term| read(term.node, at));
                }
                Item::Node(node) => {
                    operands(node).into_iter().flat_map(GraphNode::operands).for_each(|node| read(node, at));
                }
                Item::Quotients(quotients) => {
                    let nodes = quotients.iter().filter_map(operands);
                    nodes.flat_map(GraphNode::operands).for_each(|node| read(node, at));
                }
                guard => guard.reads_of_guard().for_each(|node| read(node, at)),
            }
        }
        outputs.iter().for_each(|node| read(*node, u32::MAX));
        last
    }
}

impl Item {
    /// The nodes that a guard reads.
    fn reads_of_guard(&self) -> impl Iterator<Item = u32> + use<> {
        let reads = match self {
            Self::Equal(a, b) => [Some(*a), Some(*b)],
            Self::Guard(guard) => [Some(guard.node), None],
            Self::Node(_) | Self::Quotients(_) => [None; 2],
        };
        reads.into_iter().flatten()
    }
}

/// A part of a sum: a node, or its product with a constant, added or subtracted.
#[derive(Clone, Copy)]
struct Term {
    node: u32,
    /// The node of the constant.
    coefficient: Option<u32>,
    negative: bool,
}

/// The terms of a sum with its parts.
fn terms(nodes: &[GraphNode], folded: &[bool], sum: u32) -> Vec<Term> {
    let (mut terms, mut parts) = (Vec::new(), vec![(sum, false)]);
    while let Some((part, negative)) = parts.pop() {
        let term = Term { node: part, coefficient: None, negative };
        match nodes.get(part as usize) {
            Some(node) if part == sum || folded.get(part as usize) == Some(&true) => match *node {
                GraphNode::Binary(Binary::Add, a, b) => parts.extend([(b, negative), (a, negative)]),
                GraphNode::Binary(Binary::Subtract, a, b) => parts.extend([(b, !negative), (a, negative)]),
                GraphNode::Unary(Unary::Negate, a) => parts.push((a, !negative)),
                node => terms.push(match scaled(nodes, node) {
                    Some((constant, node)) => Term { node, coefficient: Some(constant), negative },
                    None => term,
                }),
            },
            _ => terms.push(term),
        }
    }
    terms
}

/// The constant and the other operand of a product with a constant.
fn scaled(nodes: &[GraphNode], node: GraphNode) -> Option<(u32, u32)> {
    let is_constant = |node: u32| matches!(nodes.get(node as usize), Some(GraphNode::Constant(_)));
    match node {
        GraphNode::Binary(Binary::Multiply, a, b) if is_constant(a) => Some((a, b)),
        GraphNode::Binary(Binary::Multiply, a, b) if is_constant(b) => Some((b, a)),
        _ => None,
    }
}

fn is_quotient(node: GraphNode) -> bool {
    matches!(node, GraphNode::Binary(Binary::Divide, ..))
}

struct Writer<'a> {
    nodes: &'a [GraphNode],
    folded: Vec<bool>,
    /// The position at which each node is read last.
    last: Vec<u32>,
    /// The place of each node that has one.
    places: Vec<u32>,
    free: Vec<u32>,
    /// The constants that are read, and the number of each among them.
    constants: Vec<u32>,
    numbers: Vec<Option<u32>>,
    /// The tape so far, with the numbers of its places and steps.
    bytes: Vec<u8>,
    places_used: u32,
    steps: u32,
}

impl Writer<'_> {
    fn write(&mut self, at: u32, item: &Item) {
        match item {
            Item::Quotients(quotients) => {
                self.step(TapeStep::Quotients);
                push_leb128(&mut self.bytes, quotients.len() as u64);
                let pairs: Vec<u32> = quotients
                    .iter()
                    .filter_map(|quotient| self.nodes.get(*quotient as usize))
                    .flat_map(|node| node.operands())
                    .collect();
                self.read(&pairs, at);
                quotients.iter().for_each(|quotient| self.result(*quotient));
                self.steps += quotients.len() as u32;
            }
            Item::Node(node) => {
                let Some(content) = self.nodes.get(*node as usize).copied() else { return };
                self.steps += 1;
                if content.is_sum() && self.write_sum(*node, at) {
                    return self.result(*node);
                }
                self.step(match content {
                    GraphNode::Select(..) => TapeStep::Select,
                    GraphNode::Bit(..) => TapeStep::Bit,
                    GraphNode::Unary(operation, _) => TapeStep::Unary(operation),
                    GraphNode::Binary(operation, ..) => TapeStep::Binary(operation),
                    GraphNode::Input(_) | GraphNode::Constant(_) => return,
                });
                if let GraphNode::Bit(_, bit) = content {
                    self.bytes.push(bit);
                }
                let operands: Vec<u32> = content.operands().collect();
                self.read(&operands, at);
                self.result(*node);
            }
            Item::Equal(a, b) => {
                self.step(TapeStep::Equal);
                self.read(&[*a, *b], at);
                self.steps += 1;
            }
            Item::Guard(guard) => {
                self.step(if guard.nonzero { TapeStep::Nonzero } else { TapeStep::Zero });
                self.read(&[guard.node], at);
                self.steps += 1;
            }
        }
    }

    fn step(&mut self, step: TapeStep) {
        self.bytes.push(step.code());
    }

    /// Writes a sum that has parts.
    fn write_sum(&mut self, node: u32, at: u32) -> bool {
        let is_part = |operand: u32| self.folded.get(operand as usize) == Some(&true);
        let mut operands = self.nodes.get(node as usize).into_iter().flat_map(|node| node.operands());
        if !operands.any(is_part) {
            return false;
        }
        let terms = terms(self.nodes, &self.folded, node);
        self.step(TapeStep::Sum);
        push_leb128(&mut self.bytes, terms.len() as u64);
        let nodes: Vec<u32> = terms.iter().map(|term| term.node).collect();
        for (term, source) in terms.iter().zip(self.sources(&nodes, at)) {
            let constant = term.coefficient.map(|constant| self.source(constant, at));
            let constant =
                if let Some(ValueSource::Constant(number)) = constant { u64::from(number) + 1 } else { 0 };
            push_leb128(&mut self.bytes, constant << 1 | u64::from(term.negative));
            self.push(source);
        }
        true
    }

    /// Reads nodes.
    fn read(&mut self, nodes: &[u32], at: u32) {
        for source in self.sources(nodes, at) {
            self.push(source);
        }
    }

    fn push(&mut self, source: ValueSource) {
        push_leb128(&mut self.bytes, source.code());
        if let ValueSource::LastOfPlace(place) = source {
            self.free.push(place);
        }
    }

    /// The places of nodes' values that are read in this order.
    fn sources(&mut self, nodes: &[u32], at: u32) -> Vec<ValueSource> {
        let mut sources: Vec<ValueSource> = Vec::with_capacity(nodes.len());
        // From behind, so that of equal operands the last one frees the place.
        for node in nodes.iter().rev() {
            let source = self.source(*node, at);
            if let (ValueSource::LastOfPlace(_), Some(last)) = (source, self.last.get_mut(*node as usize)) {
                *last = u32::MAX;
            }
            sources.push(source);
        }
        sources.reverse();
        sources
    }

    /// The place of a node's value when it is read at a position of the order.
    fn source(&mut self, node: u32, at: u32) -> ValueSource {
        let place = self.places.get(node as usize).copied().unwrap_or(0);
        match self.nodes.get(node as usize) {
            Some(GraphNode::Input(index)) => ValueSource::Input(*index),
            Some(GraphNode::Constant(index)) => {
                let Self { constants, numbers, .. } = self;
                let next = constants.len() as u32;
                let number = numbers.get_mut(*index as usize).map_or(next, |number| {
                    *number.get_or_insert_with(|| {
                        constants.push(*index);
                        next
                    })
                });
                ValueSource::Constant(number)
            }
            _ if at != u32::MAX && self.last.get(node as usize) == Some(&at) => {
                ValueSource::LastOfPlace(place)
            }
            _ => ValueSource::Place(place),
        }
    }

    /// Gives a node's value a place.
    fn result(&mut self, node: u32) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places_used += 1;
            self.places_used - 1
        });
        if let Some(own) = self.places.get_mut(node as usize) {
            *own = place;
        }
    }
}
