//! A graph's operations in the order in which they are evaluated, in few bytes, and with few values at a time.
//!
//! Each is a byte, and LEB128 numbers for its operands. An operand is an index, doubled twice, and in the two lowest bits of what: 0 a
//! place, 1 a place that is free afterwards, 2 a constant, 3 an input. A result goes to the place that became free last, or else to a new one.
//! What only one sum reads is a part of it: another sum, or a product with a constant.

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
pub(crate) struct Place {
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

/// One operation of a graph that is made; operands are indices of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
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

impl Node {
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

/// What a graph demands of a node's value: without it, its wires are not the circuit's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) node: u32,
    /// Whether the value is not 0.
    pub(crate) nonzero: bool,
}

/// A value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Place(u32),
    /// One that no later operation reads.
    LastOfPlace(u32),
    Constant(u32),
    Input(u32),
}

impl Source {
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
pub(super) enum Step {
    Unary(Unary),
    Binary(Binary),
    Select,
    /// A bit of the operand, at the position that the next byte has.
    Bit,
    /// So many terms; each is a coefficient, twice the number of a constant plus 2 or 0 for 1, plus 1 if it is subtracted, and an operand.
    Sum,
    /// Quotients, none of which is an operand of another: so many, then their dividends and divisors.
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

impl Step {
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
pub(crate) struct Part {
    file: Arc<FileBytes>,
    range: Range<usize>,
}

impl Part {
    pub(crate) fn new(file: &Arc<FileBytes>, range: Range<usize>) -> Self {
        Self { file: file.clone(), range }
    }

    /// Removes pages of a mapped file, which are read again when they are next used, from memory: those of these bytes.
    pub(super) fn release(&self, bytes: Range<usize>) {
        self.file.release(self.range.start + bytes.start..self.range.start + bytes.end);
    }
}

impl From<Vec<u8>> for Part {
    fn from(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self { file: Arc::new(FileBytes::Owned(bytes)), range }
    }
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.file.get(self.range.clone()).unwrap_or_default()
    }
}

/// The steps of a graph.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) bytes: Part,
    /// The most places that have a value at a time.
    pub(crate) places: u32,
    /// The number of values and guards.
    pub(crate) steps: u32,
}

impl Tape {
    /// The steps that the outputs and guards need, the constants that they read, and where the outputs' values are afterwards. Guards are
    /// checked as soon as their operands are there.
    pub(crate) fn new<P: ScalarPrime>(
        nodes: &[Node],
        constants: &[Fp<P>],
        outputs: &[u32],
        guards: &[Guard],
    ) -> (Self, Vec<Fp<P>>, Vec<Source>) {
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

/// What is written at a time.
#[derive(Debug)]
enum Item {
    Node(u32),
    Quotients(Vec<u32>),
    Equal(u32, u32),
    Guard(Guard),
}

/// Which nodes are needed, and when.
struct Schedule<'a> {
    nodes: &'a [Node],
    /// The quotients before each node on the longest way to it: those with the same number are calculated together. `NOT_NEEDED` if it is not needed.
    depths: Vec<u32>,
    /// Whether each node is a part of the only sum that reads it.
    folded: Vec<bool>,
    guards: Vec<Item>,
}

const NOT_NEEDED: u32 = u32::MAX;

impl<'a> Schedule<'a> {
    fn new(nodes: &'a [Node], outputs: &[u32], guards: &[Guard]) -> Self {
        let mut schedule =
            Self { nodes, depths: vec![NOT_NEEDED; nodes.len()], folded: Vec::new(), guards: Vec::new() };
        for guard in guards {
            schedule.guards.push(match nodes.get(guard.node as usize) {
                // A guard on an equality compares the operands, so its node may not be needed.
                Some(Node::Binary(Binary::Equal, a, b)) if guard.nonzero => Item::Equal(*a, *b),
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

    /// Finds the nodes that are parts of sums; those that something else reads are not.
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

    /// All that is to be written, in order: at each depth first the quotients, and each guard behind its last operand.
    fn order(&mut self) -> Vec<Item> {
        let deepest = self.depths.iter().filter(|depth| **depth != NOT_NEEDED).max().copied().unwrap_or(0);
        let mut by_depth: Vec<Vec<u32>> = vec![Vec::new(); deepest as usize + 1];
        for (index, node) in (0..).zip(self.nodes) {
            let is_part = self.folded.get(index as usize) == Some(&true);
            let is_value = !is_part && !matches!(node, Node::Input(_) | Node::Constant(_));
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
                Item::Node(node) if operands(node).is_some_and(Node::is_sum) => {
                    let terms = terms(self.nodes, &self.folded, *node);
                    terms.iter().for_each(|term| read(term.node, at));
                }
                Item::Node(node) => {
                    operands(node).into_iter().flat_map(Node::operands).for_each(|node| read(node, at));
                }
                Item::Quotients(quotients) => {
                    let nodes = quotients.iter().filter_map(operands);
                    nodes.flat_map(Node::operands).for_each(|node| read(node, at));
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
fn terms(nodes: &[Node], folded: &[bool], sum: u32) -> Vec<Term> {
    let (mut terms, mut parts) = (Vec::new(), vec![(sum, false)]);
    while let Some((part, negative)) = parts.pop() {
        let term = Term { node: part, coefficient: None, negative };
        match nodes.get(part as usize) {
            Some(node) if part == sum || folded.get(part as usize) == Some(&true) => match *node {
                Node::Binary(Binary::Add, a, b) => parts.extend([(b, negative), (a, negative)]),
                Node::Binary(Binary::Subtract, a, b) => parts.extend([(b, !negative), (a, negative)]),
                Node::Unary(Unary::Negate, a) => parts.push((a, !negative)),
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
fn scaled(nodes: &[Node], node: Node) -> Option<(u32, u32)> {
    let is_constant = |node: u32| matches!(nodes.get(node as usize), Some(Node::Constant(_)));
    match node {
        Node::Binary(Binary::Multiply, a, b) if is_constant(a) => Some((a, b)),
        Node::Binary(Binary::Multiply, a, b) if is_constant(b) => Some((b, a)),
        _ => None,
    }
}

fn is_quotient(node: Node) -> bool {
    matches!(node, Node::Binary(Binary::Divide, ..))
}

struct Writer<'a> {
    nodes: &'a [Node],
    folded: Vec<bool>,
    /// When each node is read last.
    last: Vec<u32>,
    /// The place of each node that has one.
    places: Vec<u32>,
    free: Vec<u32>,
    /// The constants that are read, and the number of each among them.
    constants: Vec<u32>,
    numbers: Vec<Option<u32>>,
    /// What is written, and how many places and steps it has.
    bytes: Vec<u8>,
    places_used: u32,
    steps: u32,
}

impl Writer<'_> {
    fn write(&mut self, at: u32, item: &Item) {
        match item {
            Item::Quotients(quotients) => {
                self.step(Step::Quotients);
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
                    Node::Select(..) => Step::Select,
                    Node::Bit(..) => Step::Bit,
                    Node::Unary(operation, _) => Step::Unary(operation),
                    Node::Binary(operation, ..) => Step::Binary(operation),
                    Node::Input(_) | Node::Constant(_) => return,
                });
                if let Node::Bit(_, bit) = content {
                    self.bytes.push(bit);
                }
                let operands: Vec<u32> = content.operands().collect();
                self.read(&operands, at);
                self.result(*node);
            }
            Item::Equal(a, b) => {
                self.step(Step::Equal);
                self.read(&[*a, *b], at);
                self.steps += 1;
            }
            Item::Guard(guard) => {
                self.step(if guard.nonzero { Step::Nonzero } else { Step::Zero });
                self.read(&[guard.node], at);
                self.steps += 1;
            }
        }
    }

    fn step(&mut self, step: Step) {
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
        self.step(Step::Sum);
        push_leb128(&mut self.bytes, terms.len() as u64);
        let nodes: Vec<u32> = terms.iter().map(|term| term.node).collect();
        for (term, source) in terms.iter().zip(self.sources(&nodes, at)) {
            let constant = term.coefficient.map(|constant| self.source(constant, at));
            let constant =
                if let Some(Source::Constant(number)) = constant { u64::from(number) + 1 } else { 0 };
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

    fn push(&mut self, source: Source) {
        push_leb128(&mut self.bytes, source.code());
        if let Source::LastOfPlace(place) = source {
            self.free.push(place);
        }
    }

    /// Where nodes' values are, that are read in order.
    fn sources(&mut self, nodes: &[u32], at: u32) -> Vec<Source> {
        let mut sources: Vec<Source> = Vec::with_capacity(nodes.len());
        // From behind, so that of equal operands the last one frees the place.
        for node in nodes.iter().rev() {
            let source = self.source(*node, at);
            if let (Source::LastOfPlace(_), Some(last)) = (source, self.last.get_mut(*node as usize)) {
                *last = u32::MAX;
            }
            sources.push(source);
        }
        sources.reverse();
        sources
    }

    /// Where a node's value is, when it is read at a position of the order.
    fn source(&mut self, node: u32, at: u32) -> Source {
        let place = self.places.get(node as usize).copied().unwrap_or(0);
        match self.nodes.get(node as usize) {
            Some(Node::Input(index)) => Source::Input(*index),
            Some(Node::Constant(index)) => {
                let Self { constants, numbers, .. } = self;
                let next = constants.len() as u32;
                let number = numbers.get_mut(*index as usize).map_or(next, |number| {
                    *number.get_or_insert_with(|| {
                        constants.push(*index);
                        next
                    })
                });
                Source::Constant(number)
            }
            _ if at != u32::MAX && self.last.get(node as usize) == Some(&at) => Source::LastOfPlace(place),
            _ => Source::Place(place),
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
