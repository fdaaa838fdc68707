//! Constraints as a graph without duplicates: nodes with the same operation and operands are one node.

use hashbrown::HashMap;
use proofmill_field::{Algebra, Field, goldilocks::Goldilocks};

/// A value in a row of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The index of the matrix, in the order in which the evaluation gets matrices.
    pub matrix: u32,
    /// The column.
    pub column: u32,
    /// Whether the value is in the next row; the row after the last is the first.
    pub next: bool,
}

/// A value that a constraint reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// A value of a row.
    Cell(Cell),
    /// The index of a value that is the same in every row, such as a public value or a coefficient of a challenge.
    Scalar(u32),
}

/// A node of the graph; operands are earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Input(Input),
    Constant(Goldilocks),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
}

/// A value that depends on the row: an input, a constant, or the result of operations on them.
///
/// # Panics
/// Operators panic outside of [`capture`](super::capture). An expression of another capture has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A value that is the same in every row, known at capture.
    Constant(Goldilocks),
    /// A node of the graph that is being captured.
    Node(u32),
}

/// The fractions that one column adds up. All expressions of a lookup are from one capture.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The bus; `None` if the messages of this lookup are balanced by themselves.
    pub bus: Option<String>,
    /// The fractions. All have flags or none has. At most one flag is 1 in a row and the others are 0, which the AIR must constrain.
    pub terms: Vec<Term>,
    /// The largest sum of counts in a row, without the counts that may have any value.
    pub most: u32,
}

/// A fraction.
#[derive(Clone, Debug)]
pub struct Term {
    /// The values.
    pub message: Vec<Expression>,
    /// The number of times that the message is looked up; negative if it is offered.
    pub count: Expression,
    /// A flag that is 1 where the fraction counts, for fractions that exclude each other.
    pub flag: Option<Expression>,
}

/// A node with the results of its operands.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a, T> {
    /// An input.
    Input(Input),
    /// A constant.
    Constant(Goldilocks),
    /// A sum.
    Add(&'a T, &'a T),
    /// A difference.
    Sub(&'a T, &'a T),
    /// A product.
    Mul(&'a T, &'a T),
}

/// Captured constraints.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    degrees: Vec<u32>,
    ids: HashMap<Node, u32>,
    constraints: Vec<u32>,
    pub(super) lookups: Vec<Lookup>,
}

impl Graph {
    /// The number of different operations, reads and constants.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The number of constraints.
    pub fn constraints(&self) -> usize {
        self.constraints.len()
    }

    /// The degree of each constraint in degrees of a column, from the degrees that were given with the inputs.
    pub fn degrees(&self) -> impl Iterator<Item = u32> {
        self.constraints.iter().map(|id| self.degrees[*id as usize])
    }

    /// The lookups.
    pub fn lookups(&self) -> &[Lookup] {
        &self.lookups
    }

    /// The inputs of all nodes.
    pub fn inputs(&self) -> impl Iterator<Item = Input> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Input(input) => Some(*input),
            _ => None,
        })
    }

    /// The inputs that the constraints need.
    pub(super) fn inputs_of_roots(&self) -> impl Iterator<Item = Input> {
        let mut needed = vec![false; self.nodes.len()];
        self.constraints.iter().for_each(|id| needed[*id as usize] = true);
        for (id, node) in self.nodes.iter().enumerate().rev() {
            if let (true, Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b)) = (needed[id], *node) {
                (needed[a as usize], needed[b as usize]) = (true, true);
            }
        }
        self.nodes.iter().zip(needed).filter_map(|(node, needed)| match node {
            Node::Input(input) if needed => Some(*input),
            _ => None,
        })
    }

    /// The value of each constraint, where `input` gives the value of an input.
    pub fn evaluate<A: Algebra>(
        &self,
        constant: impl Fn(Goldilocks) -> A,
        input: impl Fn(Input) -> A,
    ) -> Vec<A> {
        self.interpret(|operation| match operation {
            Operation::Input(read) => input(read),
            Operation::Constant(value) => constant(value),
            Operation::Add(a, b) => *a + *b,
            Operation::Sub(a, b) => *a - *b,
            Operation::Mul(a, b) => *a * *b,
        })
    }

    /// The result of each constraint. `interpret` gives the result of each operation, in the order of the graph.
    pub fn interpret<T: Clone>(&self, mut interpret: impl FnMut(Operation<'_, T>) -> T) -> Vec<T> {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let value = |id: u32| &values[id as usize];
            let value = interpret(match *node {
                Node::Input(read) => Operation::Input(read),
                Node::Constant(value) => Operation::Constant(value),
                Node::Add(a, b) => Operation::Add(value(a), value(b)),
                Node::Sub(a, b) => Operation::Sub(value(a), value(b)),
                Node::Mul(a, b) => Operation::Mul(value(a), value(b)),
            });
            values.push(value);
        }
        self.constraints.iter().map(|id| values[*id as usize].clone()).collect()
    }

    /// The graph in which only these nodes must vanish, and without lookups.
    pub(super) fn restricted(self, roots: Vec<u32>) -> Self {
        Self { constraints: roots, lookups: Vec::new(), ..self }
    }

    pub(super) fn degree_of(&self, id: u32) -> u32 {
        self.degrees[id as usize]
    }

    pub(super) fn roots(&self) -> &[u32] {
        &self.constraints
    }

    pub(super) fn node(&self, id: u32) -> Node {
        self.nodes[id as usize]
    }

    pub(super) fn input(&mut self, input: Input, degree: u32) -> u32 {
        self.insert(Node::Input(input), degree)
    }

    pub(super) fn constant(&mut self, value: Goldilocks) -> u32 {
        self.insert(Node::Constant(value), 0)
    }

    pub(super) fn constrain(&mut self, id: u32) {
        self.constraints.push(id);
    }

    /// Adds an operation, or finds an equal node: constants are computed, and neutral operands vanish.
    pub(super) fn operation(&mut self, node: Node) -> u32 {
        let constant = |id: u32| match self.nodes[id as usize] {
            Node::Constant(value) => Some(value),
            _ => None,
        };
        let (zero, one) = (Some(Goldilocks::ZERO), Some(Goldilocks::ONE));
        let degree = |id: u32| self.degrees[id as usize];
        match node {
            Node::Input(_) | Node::Constant(_) => unreachable!("an operation"),
            Node::Add(a, b) => match (constant(a), constant(b)) {
                (Some(a), Some(b)) => self.constant(a + b),
                (left, _) if left == zero => b,
                (_, right) if right == zero => a,
                _ => self.insert(Node::Add(a.min(b), a.max(b)), degree(a).max(degree(b))),
            },
            Node::Sub(a, b) => match (constant(a), constant(b)) {
                (Some(a), Some(b)) => self.constant(a - b),
                (_, right) if right == zero => a,
                _ if a == b => self.constant(Goldilocks::ZERO),
                _ => self.insert(node, degree(a).max(degree(b))),
            },
            Node::Mul(a, b) => match (constant(a), constant(b)) {
                (Some(a), Some(b)) => self.constant(a * b),
                (left, right) if left == zero || right == zero => self.constant(Goldilocks::ZERO),
                (left, _) if left == one => b,
                (_, right) if right == one => a,
                _ => self.insert(Node::Mul(a.min(b), a.max(b)), degree(a).saturating_add(degree(b))),
            },
        }
    }

    fn insert(&mut self, node: Node, degree: u32) -> u32 {
        *self.ids.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.degrees.push(degree);
            u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 operations")
        })
    }
}
