//! The compilation of a graph to instructions, with as few temporaries as the order of the constraints allows.

use super::graph::{Cell, Graph, Input, Node};
use hashbrown::HashMap;
use proofmill_field::goldilocks::Goldilocks;
use std::collections::BTreeMap;

/// The number of rows that one instruction works on.
pub const BLOCK: usize = 64;

/// The number of words from one slot of the scratch memory to the next: a block, the row after it, and padding to whole vectors.
pub(super) const STRIDE: usize = BLOCK + 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    /// `left + scalar`.
    AddScalar,
    /// `left - scalar`.
    SubScalar,
    /// `scalar - left`.
    ScalarSub,
    /// `left * scalar`.
    MulScalar,
    /// The scalar in every row.
    Broadcast,
    /// Adds `left` times the factor of the constraint with index `right` to that constraint's sum.
    Constrain,
}

/// An operation on blocks. `to`, `left` and `right` are indices of words in the scratch memory; `right` can also be the index of a scalar
/// or of a constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) operation: Operation,
    pub(super) to: u32,
    pub(super) left: u32,
    pub(super) right: u32,
}

/// The source of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar {
    Constant(Goldilocks),
    Given(u32),
}

/// Constraints as instructions. Blocks of rows are transposed to columns, one slot each; temporaries are further slots.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) instructions: Vec<Instruction>,
    pub(super) scalars: Vec<Scalar>,
    /// The columns that are read, by matrix and column: slot i has the i-th column.
    pub(super) columns: Vec<(u32, u32)>,
    pub(super) slots: usize,
    pub(super) constraints: usize,
}

/// The place of a node's value.
#[derive(Clone, Copy)]
enum Place {
    Word(u32),
    Scalar(u32),
}

impl Program {
    /// Compiles the captured constraints.
    ///
    /// # Panics
    /// If the scratch memory would have 2^32 words.
    pub fn new(graph: &Graph) -> Self {
        let order = order(graph);
        let mut columns = BTreeMap::new();
        for (id, _) in &order {
            if let Node::Input(Input::Cell(cell)) = graph.node(*id) {
                columns.insert((cell.matrix, cell.column), 0);
            }
        }
        for (slot, index) in columns.values_mut().zip(0_u32..) {
            *slot = index;
        }
        let mut uses = vec![0; graph.nodes()];
        for (id, constraint) in &order {
            let operands = operands(graph.node(*id));
            let read = if constraint.is_some() { [Some(*id), None] } else { operands };
            read.into_iter().flatten().for_each(|id| uses[id as usize] += 1);
        }
        let first = columns.len() as u32;
        let mut compiler = Compiler {
            graph,
            first,
            columns,
            uses,
            places: HashMap::new(),
            free: Vec::new(),
            slots: first,
            ids: HashMap::new(),
            scalars: Vec::new(),
            instructions: Vec::new(),
        };
        for (id, constraint) in order {
            match constraint {
                Some(index) => compiler.constrain(id, index),
                None => compiler.compute(id),
            }
        }
        let Compiler { columns, slots, scalars, instructions, .. } = compiler;
        assert!(slots as usize * STRIDE < 1 << 32, "fewer than 2^32 words of scratch memory");
        Self {
            instructions,
            scalars,
            columns: columns.into_keys().collect(),
            slots: slots as usize,
            constraints: graph.constraints(),
        }
    }

    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether nothing is constrained.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// The largest number of temporaries that are in use at a time.
    pub fn temporaries(&self) -> usize {
        self.slots - self.columns.len()
    }

    /// The number of constraints.
    pub fn constraints(&self) -> usize {
        self.constraints
    }
}

fn operands(node: Node) -> [Option<u32>; 2] {
    match node {
        Node::Input(_) | Node::Constant(_) => [None; 2],
        Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => [Some(a), Some(b)],
    }
}

/// The nodes that constraints need. A node follows its operands, and comes only when the first constraint that needs it is computed. The
/// index of a constraint follows the node of its value.
fn order(graph: &Graph) -> Vec<(u32, Option<u32>)> {
    let (mut order, mut done) = (Vec::new(), vec![false; graph.nodes()]);
    let mut stack = Vec::new();
    for (root, index) in graph.roots().iter().zip(0..) {
        stack.push((*root, false));
        while let Some((id, ready)) = stack.pop() {
            if done[id as usize] {
                continue;
            }
            if ready {
                done[id as usize] = true;
                order.push((id, None));
            } else {
                stack.push((id, true));
                stack.extend(operands(graph.node(id)).into_iter().rev().flatten().map(|id| (id, false)));
            }
        }
        order.push((*root, Some(index)));
    }
    order
}

struct Compiler<'a> {
    graph: &'a Graph,
    columns: BTreeMap<(u32, u32), u32>,
    /// The first slot of temporaries.
    first: u32,
    /// The number of times that each node will still be read.
    uses: Vec<u32>,
    places: HashMap<u32, Place>,
    free: Vec<u32>,
    slots: u32,
    /// The index of each scalar.
    ids: HashMap<Scalar, u32>,
    scalars: Vec<Scalar>,
    instructions: Vec<Instruction>,
}

impl Compiler<'_> {
    fn compute(&mut self, id: u32) {
        let place = match self.graph.node(id) {
            Node::Input(Input::Cell(Cell { matrix, column, next })) => {
                Place::Word(self.columns[&(matrix, column)] * STRIDE as u32 + u32::from(next))
            }
            Node::Input(Input::Scalar(index)) => self.scalar(Scalar::Given(index)),
            Node::Constant(value) => self.scalar(Scalar::Constant(value)),
            Node::Add(a, b) => self.operation(Operation::Add, a, b),
            Node::Sub(a, b) => self.operation(Operation::Sub, a, b),
            Node::Mul(a, b) => self.operation(Operation::Mul, a, b),
        };
        self.places.insert(id, place);
    }

    fn constrain(&mut self, id: u32, index: u32) {
        let left = self.word(id);
        self.release(id, left);
        self.emit(Operation::Constrain, 0, left, index);
    }

    fn operation(&mut self, operation: Operation, a: u32, b: u32) -> Place {
        use Operation::*;
        let (operation, a, b) = match (operation, self.places[&a], self.places[&b]) {
            (Add, Place::Scalar(_), Place::Word(_)) => (AddScalar, b, a),
            (Mul, Place::Scalar(_), Place::Word(_)) => (MulScalar, b, a),
            (Sub, Place::Scalar(_), Place::Word(_)) => (ScalarSub, b, a),
            (Add, _, Place::Scalar(_)) => (AddScalar, a, b),
            (Mul, _, Place::Scalar(_)) => (MulScalar, a, b),
            (Sub, _, Place::Scalar(_)) => (SubScalar, a, b),
            (operation, Place::Word(_), Place::Word(_)) => (operation, a, b),
            _ => unreachable!("every pair of places has an operation"),
        };
        let left = self.word(a);
        let right = match self.places[&b] {
            Place::Word(word) => word,
            Place::Scalar(index) => index,
        };
        // Released first: an instruction may overwrite its own operands.
        self.release(a, left);
        if let Place::Word(word) = self.places[&b] {
            self.release(b, word);
        }
        let to = self.temporary();
        self.emit(operation, to, left, right);
        Place::Word(to)
    }

    /// The place of a node's value in the scratch memory, where scalars are written first.
    fn word(&mut self, id: u32) -> u32 {
        match self.places[&id] {
            Place::Word(word) => word,
            Place::Scalar(index) => {
                let to = self.temporary();
                self.emit(Operation::Broadcast, to, 0, index);
                to
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> Place {
        Place::Scalar(*self.ids.entry(scalar).or_insert_with(|| {
            self.scalars.push(scalar);
            (self.scalars.len() - 1) as u32
        }))
    }

    fn temporary(&mut self) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        slot * STRIDE as u32
    }

    /// Counts a read of a node, whose value is at `word`. The slot of the value is free after the last read.
    fn release(&mut self, id: u32, word: u32) {
        let uses = &mut self.uses[id as usize];
        *uses -= 1;
        let slot = word / STRIDE as u32;
        let broadcast = matches!(self.places[&id], Place::Scalar(_));
        if slot >= self.first && (*uses == 0 || broadcast) {
            self.free.push(slot);
        }
    }

    fn emit(&mut self, operation: Operation, to: u32, left: u32, right: u32) {
        self.instructions.push(Instruction { operation, to, left, right });
    }
}
