//! Symbols that record the operations on them.

use super::graph::{Expression, Graph, Input, Node};
use proofmill_field::goldilocks::Goldilocks;
use std::{
    cell::RefCell,
    iter::{Product, Sum},
    ops::{Add, Mul, Neg, Sub},
};

thread_local! {
    /// The graph of the capture that runs on this thread: operators of plain values reach it nowhere else.
    static GRAPH: RefCell<Option<Graph>> = const { RefCell::new(None) };
}

/// Runs code that makes expressions and constrains them, and returns the graph that it has recorded.
///
/// # Panics
/// If another capture runs on this thread.
pub fn capture(constrain: impl FnOnce()) -> Graph {
    capture_more(Graph::default(), constrain)
}

/// [`capture`] that adds to the graph of an earlier capture: expressions of that capture keep their meaning.
pub(super) fn capture_more(graph: Graph, constrain: impl FnOnce()) -> Graph {
    /// Ends the capture also if the code panics.
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            GRAPH.take();
        }
    }
    // Checked before the graph is replaced, so that the other capture loses nothing.
    assert!(GRAPH.with_borrow(Option::is_none), "one capture at a time runs on a thread");
    GRAPH.set(Some(graph));
    let running = Running;
    constrain();
    let graph = GRAPH.take();
    drop(running);
    graph.expect("the capture runs")
}

pub(super) fn record<R>(operation: impl FnOnce(&mut Graph) -> R) -> R {
    GRAPH.with_borrow_mut(|graph| {
        operation(graph.as_mut().expect("expressions are used only by the code that `capture` runs"))
    })
}

impl Expression {
    /// A value that is read. Its degree counts in degrees of a column: 1 for columns, 0 for scalars.
    pub fn input(input: Input, degree: u32) -> Self {
        Self::Node(record(|graph| graph.input(input, degree)))
    }

    /// Demands that the value is zero in every row.
    pub fn must_vanish(self) {
        record(|graph| {
            let id = self.id(graph);
            graph.constrain(id);
        });
    }

    pub(super) fn id(self, graph: &mut Graph) -> u32 {
        match self {
            Self::Constant(value) => graph.constant(value),
            Self::Node(id) => id,
        }
    }

    fn combine(self, other: Self, operation: fn(u32, u32) -> Node) -> Self {
        record(|graph| {
            let (left, right) = (self.id(graph), other.id(graph));
            let id = graph.operation(operation(left, right));
            match graph.node(id) {
                Node::Constant(value) => Self::Constant(value),
                _ => Self::Node(id),
            }
        })
    }
}

impl From<Goldilocks> for Expression {
    fn from(value: Goldilocks) -> Self {
        Self::Constant(value)
    }
}

/// Implements operators that record a node of the same name.
macro_rules! operators {
    ($($operator:ident $method:ident),*) => { $(
        impl $operator for Expression {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.combine(other, Node::$operator)
            }
        }
    )* };
}

operators!(Add add, Sub sub, Mul mul);

impl Neg for Expression {
    type Output = Self;
    fn neg(self) -> Self {
        Self::Constant(Goldilocks::new(0)) - self
    }
}

impl Sum for Expression {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::Constant(Goldilocks::new(0)), Add::add)
    }
}

impl Product for Expression {
    fn product<I: Iterator<Item = Self>>(factors: I) -> Self {
        factors.fold(Self::Constant(Goldilocks::new(1)), Mul::mul)
    }
}
