//! Formulas as graphs: symbols that record what is computed with them.

use super::{Edge, Graph, Node, Operation, Port, Sink, Step};
use proofmill_field::Algebra;
use std::{
    cell::RefCell,
    ops::{Add, Mul, Neg, Sub},
};

thread_local! {
    /// The graph that is being recorded on this thread: operators of plain values reach it nowhere else.
    static GRAPH: RefCell<Option<Graph>> = const { RefCell::new(None) };
}

/// A value in a formula that is recorded.
///
/// # Panics
/// Its operators panic outside of [`record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(Port);

/// The graph of a formula: a node for each operation, the same operation on the same values only once.
///
/// # Panics
/// If the formula uses constants, or records another one.
pub fn record<const N: usize, const M: usize>(
    name: &str,
    sources: [&str; N],
    sinks: [&str; M],
    formula: impl FnOnce([Symbol; N]) -> [Symbol; M],
) -> Graph {
    /// Ends the recording also if the formula panics.
    struct Recording;
    impl Drop for Recording {
        fn drop(&mut self) {
            GRAPH.take();
        }
    }
    assert!(GRAPH.with_borrow(Option::is_none), "one formula at a time is recorded on a thread");
    let recording = Recording;
    GRAPH.set(Some(Graph {
        name: name.into(),
        sources: sources.map(String::from).to_vec(),
        nodes: Vec::new(),
        sinks: Vec::new(),
    }));
    let results = formula(std::array::from_fn(|source| Symbol(Port::Source(source))));
    let mut graph = GRAPH.take().expect("the formula is being recorded");
    drop(recording);
    graph.sinks = sinks
        .into_iter()
        .zip(results)
        .map(|(name, Symbol(from))| Sink { name: name.into(), edge: Edge::new(from) })
        .collect();
    graph
}

fn operation(operation: Operation, operands: &[Symbol]) -> Symbol {
    GRAPH.with_borrow_mut(|graph| {
        let graph = graph.as_mut().expect("symbols are used only by the formula that `record` runs");
        let inputs: Vec<_> = operands.iter().map(|operand| Edge::new(operand.0)).collect();
        let steps = vec![Step { operation, operands: (0..inputs.len()).collect() }];
        let known = graph.nodes.iter().position(|node| node.inputs == inputs && node.steps == steps);
        let index = known.unwrap_or_else(|| {
            let name = format!("{}-{}", operation.name(), graph.nodes.len());
            let outputs = vec![inputs.len()];
            graph.nodes.push(Node { name, inputs, steps, outputs });
            graph.nodes.len() - 1
        });
        Symbol(Port::Node(index, 0))
    })
}

impl Add for Symbol {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        if self == rhs { self.double() } else { operation(Operation::Add, &[self, rhs]) }
    }
}

impl Sub for Symbol {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        operation(Operation::Subtract, &[self, rhs])
    }
}

impl Mul for Symbol {
    type Output = Self;
    fn mul(self, rhs: Self) -> Self {
        if self == rhs { self.square() } else { operation(Operation::Multiply, &[self, rhs]) }
    }
}

impl Neg for Symbol {
    type Output = Self;
    fn neg(self) -> Self {
        operation(Operation::Negate, &[self])
    }
}

impl Algebra for Symbol {
    type Token = ();

    fn token(&self) {}

    fn zero((): ()) -> Self {
        unimplemented!("formulas of pipelines have no constants")
    }

    fn one((): ()) -> Self {
        unimplemented!("formulas of pipelines have no constants")
    }

    fn square(self) -> Self {
        operation(Operation::Square, &[self])
    }

    fn double(self) -> Self {
        operation(Operation::Double, &[self])
    }

    fn products<const N: usize, const S: usize>(
        (): (),
        factors: [[&Self; 2]; N],
        squares: [&Self; S],
    ) -> ([Self; N], [Self; S]) {
        (factors.map(|[a, b]| *a * *b), squares.map(|a| a.square()))
    }
}
