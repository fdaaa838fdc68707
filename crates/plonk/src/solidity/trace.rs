//! Formulas as straight-line programs: an algebra that records each distinct operation once.

use proofmill_field::{Algebra, Field, bn254::Fr};
use std::{
    cell::RefCell,
    ops::{Add, Mul, Neg, Sub},
};

/// A value of the recorded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Traced(u32);

impl Traced {
    /// The index in the program.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn constant(value: Fr) -> Self {
        push(TracedOperation::Constant(value))
    }

    /// An input of the program.
    pub(crate) fn input(word: InputWord) -> Self {
        push(TracedOperation::Input(word))
    }
}

/// The address of an input, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputWord {
    Calldata(usize),
    Memory(usize),
}

/// An operation of the program. Operands precede the operations that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TracedOperation {
    Constant(Fr),
    Input(InputWord),
    Sum(Traced, Traced),
    Difference(Traced, Traced),
    Product(Traced, Traced),
    Negative(Traced),
}

impl TracedOperation {
    /// The operands.
    pub(crate) fn operands(self) -> impl Iterator<Item = Traced> {
        let (first, second) = match self {
            Self::Constant(_) | Self::Input(_) => (None, None),
            Self::Sum(a, b) | Self::Difference(a, b) | Self::Product(a, b) => (Some(a), Some(b)),
            Self::Negative(a) => (Some(a), None),
        };
        first.into_iter().chain(second)
    }
}

thread_local! {
    static RECORDING: RefCell<Vec<TracedOperation>> = const { RefCell::new(Vec::new()) };
}

/// Runs formulas on [`Traced`] values and returns their result and the program.
pub(crate) fn record<T>(formulas: impl FnOnce() -> T) -> (T, Vec<TracedOperation>) {
    RECORDING.take();
    let result = formulas();
    (result, RECORDING.take())
}

/// Returns the value of an equal operation if there is one (programs have hundreds of them, so the search is
/// linear), and adds a new one otherwise.
fn push(node: TracedOperation) -> Traced {
    RECORDING.with_borrow_mut(|nodes| {
        let place = nodes.iter().position(|other| *other == node);
        let place = place.unwrap_or_else(|| {
            nodes.push(node);
            nodes.len() - 1
        });
        Traced(place as u32)
    })
}

fn node(value: Traced) -> TracedOperation {
    RECORDING.with_borrow(|nodes| nodes[value.index()])
}

fn is_constant(value: Traced, constant: Fr) -> bool {
    node(value) == TracedOperation::Constant(constant)
}

impl Add for Traced {
    type Output = Self;

    fn add(self, rhs: Self) -> Self {
        match (node(self), node(rhs)) {
            (TracedOperation::Constant(a), TracedOperation::Constant(b)) => Self::constant(a + b),
            (TracedOperation::Constant(Fr::ZERO), _) => rhs,
            (_, TracedOperation::Constant(Fr::ZERO)) => self,
            (_, TracedOperation::Negative(b)) => self - b,
            (TracedOperation::Negative(a), _) => rhs - a,
            _ => push(TracedOperation::Sum(self.min(rhs), self.max(rhs))),
        }
    }
}

impl Sub for Traced {
    type Output = Self;

    fn sub(self, rhs: Self) -> Self {
        match (node(self), node(rhs)) {
            (TracedOperation::Constant(a), TracedOperation::Constant(b)) => Self::constant(a - b),
            (_, TracedOperation::Constant(Fr::ZERO)) => self,
            (_, TracedOperation::Constant(b)) => self + Self::constant(-b),
            (TracedOperation::Constant(Fr::ZERO), _) => -rhs,
            (_, TracedOperation::Negative(b)) => self + b,
            _ => push(TracedOperation::Difference(self, rhs)),
        }
    }
}

impl Mul for Traced {
    type Output = Self;

    fn mul(self, rhs: Self) -> Self {
        match (node(self), node(rhs)) {
            (TracedOperation::Constant(a), TracedOperation::Constant(b)) => Self::constant(a * b),
            _ if is_constant(self, Fr::ZERO) || is_constant(rhs, Fr::ONE) => self,
            _ if is_constant(self, Fr::ONE) || is_constant(rhs, Fr::ZERO) => rhs,
            (TracedOperation::Negative(a), _) => -(a * rhs),
            (_, TracedOperation::Negative(b)) => -(self * b),
            _ => push(TracedOperation::Product(self.min(rhs), self.max(rhs))),
        }
    }
}

impl Neg for Traced {
    type Output = Self;

    fn neg(self) -> Self {
        match node(self) {
            TracedOperation::Constant(a) => Self::constant(-a),
            TracedOperation::Negative(a) => a,
            TracedOperation::Difference(a, b) => b - a,
            _ => push(TracedOperation::Negative(self)),
        }
    }
}

impl Algebra for Traced {
    type Token = ();

    fn token(&self) {}

    fn zero((): ()) -> Self {
        Self::constant(Fr::ZERO)
    }

    fn one((): ()) -> Self {
        Self::constant(Fr::ONE)
    }
}
