//! Formulas as graphs: symbols that record the operations on them.

use super::{DataflowGraph, Edge, FieldOperation, GraphNode, GraphSink, NodeStep, Port};
use crate::limbs::{LIMBS, digits_of};
use proofmill_field::{Algebra, Fp, Prime};
use std::{
    cell::RefCell,
    ops::{Add, Mul, Neg, Sub},
};

thread_local! {
    /// The graph that is being recorded on this thread: operators of plain values reach it nowhere else.
    static GRAPH: RefCell<Option<DataflowGraph>> = const { RefCell::new(None) };
}

/// A value in a formula that is recorded.
///
/// # Panics
/// Its operators panic outside of [`record`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(Origin);

/// Where a symbol's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Port(Port),
    Constant([i32; LIMBS]),
}

impl Symbol {
    /// A constant, of the field that the graph is used with. Fields that [`SignedField`](crate::limbs::SignedField) refuses are refused
    /// by the compiler.
    pub fn constant<P: Prime<Limbs = [u64; 4]>>(element: Fp<P>) -> Self {
        Self(Origin::Constant(digits_of(element)))
    }
}

/// The graph of a formula: a node for each operation, the same operation on the same values only once. Operations on constants alone
/// would be nodes that wait for nothing, which [`DataflowGraph::order`] refuses: compute them before.
///
/// # Panics
/// If a result is a constant, or the formula records another one.
pub fn record<const N: usize, const M: usize>(
    name: &str,
    sources: [&str; N],
    sinks: [&str; M],
    formula: impl FnOnce([Symbol; N]) -> [Symbol; M],
) -> DataflowGraph {
    /// Ends the recording also if the formula panics.
    struct Recording;
    impl Drop for Recording {
        fn drop(&mut self) {
            GRAPH.take();
        }
    }
    assert!(GRAPH.with_borrow(Option::is_none), "one formula at a time is recorded on a thread");
    let recording = Recording;
    GRAPH.set(Some(DataflowGraph {
        name: name.into(),
        sources: sources.map(String::from).to_vec(),
        nodes: Vec::new(),
        sinks: Vec::new(),
    }));
    let results = formula(std::array::from_fn(|source| Symbol(Origin::Port(Port::Source(source)))));
    let mut graph = GRAPH.take().expect("the formula is being recorded");
    drop(recording);
    graph.sinks = sinks
        .into_iter()
        .zip(results)
        .map(|(name, Symbol(origin))| match origin {
            Origin::Port(from) => GraphSink { name: name.into(), edge: Edge::new(from) },
            Origin::Constant(_) => panic!("{name} is a constant, which no node computes"),
        })
        .collect();
    graph
}

fn operation(operation: FieldOperation, operands: &[Symbol]) -> Symbol {
    GRAPH.with_borrow_mut(|graph| {
        let graph = graph.as_mut().expect("symbols are used only by the formula that `record` runs");
        let is_port = |operand: &&Symbol| matches!(operand.0, Origin::Port(_));
        let ports = operands.iter().filter(is_port).count();
        let (mut inputs, mut steps, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for operand in operands {
            match operand.0 {
                Origin::Port(from) => {
                    values.push(inputs.len());
                    inputs.push(Edge::new(from));
                }
                Origin::Constant(digits) => {
                    values.push(ports + steps.len());
                    steps
                        .push(NodeStep { operation: FieldOperation::Constant(digits), operands: Vec::new() });
                }
            }
        }
        steps.push(NodeStep { operation, operands: values });
        let known = graph.nodes.iter().position(|node| node.inputs == inputs && node.steps == steps);
        let index = known.unwrap_or_else(|| {
            let name = format!("{}-{}", operation.name(), graph.nodes.len());
            let outputs = vec![inputs.len() + steps.len() - 1];
            graph.nodes.push(GraphNode { name, inputs, steps, outputs });
            graph.nodes.len() - 1
        });
        Symbol(Origin::Port(Port::Node(index, 0)))
    })
}

impl Add for Symbol {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        if self == rhs { self.double() } else { operation(FieldOperation::Add, &[self, rhs]) }
    }
}

impl Sub for Symbol {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        operation(FieldOperation::Subtract, &[self, rhs])
    }
}

impl Mul for Symbol {
    type Output = Self;
    fn mul(self, rhs: Self) -> Self {
        if self == rhs { self.square() } else { operation(FieldOperation::Multiply, &[self, rhs]) }
    }
}

impl Neg for Symbol {
    type Output = Self;
    fn neg(self) -> Self {
        operation(FieldOperation::Negate, &[self])
    }
}

impl Algebra for Symbol {
    type Token = ();

    fn token(&self) {}

    fn zero((): ()) -> Self {
        Self(Origin::Constant([0; LIMBS]))
    }

    fn one((): ()) -> Self {
        unimplemented!("a graph has no field whose one it could be: `Symbol::constant` takes an element")
    }

    fn square(self) -> Self {
        operation(FieldOperation::Square, &[self])
    }

    fn double(self) -> Self {
        operation(FieldOperation::Double, &[self])
    }

    fn products<const N: usize, const S: usize>(
        (): (),
        factors: [[&Self; 2]; N],
        squares: [&Self; S],
    ) -> ([Self; N], [Self; S]) {
        (factors.map(|[a, b]| *a * *b), squares.map(|a| a.square()))
    }
}
