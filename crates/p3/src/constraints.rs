//! The constraints of an AIR, captured.

use crate::elements::element;
use hashbrown::HashMap;
use p3_air::{
    Air,
    symbolic::{
        AirLayout, BaseEntry, BaseLeaf, ConstraintLayout, SymbolicAirBuilder, SymbolicExpr,
        SymbolicExpression, SymbolicExpressionExt,
    },
};
use p3_field::{Algebra, ExtensionField};
use p3_goldilocks::Goldilocks;
use p3_lookup::{InteractionSymbolicBuilder, Kind, Lookup};
use proofmill_stark::{
    StarkError,
    air::{self, Cell, Expression, Graph, Input, Matrix, SELECTORS, Term, capture},
};
use std::{cell::RefCell, ptr};

/// The constraints of an AIR without lookups.
///
/// # Errors
/// [`StarkError::Air`] if the AIR has constraints over extensions.
pub(crate) fn graph<A: Air<SymbolicAirBuilder<Goldilocks>>>(
    air: &A,
    layout: AirLayout,
) -> Result<Graph, StarkError> {
    layout.validate_against_air(air);
    let mut builder = SymbolicAirBuilder::<Goldilocks>::new(layout);
    air.eval(&mut builder);
    captured(&builder.base_constraints(), &builder.constraint_layout(), &[])
}

/// The constraints of an AIR with its lookups.
///
/// # Errors
/// As [`graph`].
pub(crate) fn graph_with_lookups<C, A>(
    air: &A,
    layout: AirLayout,
    lookups: &[Lookup<Goldilocks>],
) -> Result<Graph, StarkError>
where
    C: ExtensionField<Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, C>>,
    SymbolicExpressionExt<Goldilocks, C>: Algebra<C>,
{
    layout.validate_against_air(air);
    let mut builder = InteractionSymbolicBuilder::<Goldilocks, C>::new(layout);
    air.eval(&mut builder);
    captured(&builder.base_constraints(), &builder.constraint_layout(), lookups)
}

/// Captures constraints and lookups.
fn captured(
    constraints: &[SymbolicExpression<Goldilocks>],
    layout: &ConstraintLayout,
    lookups: &[Lookup<Goldilocks>],
) -> Result<Graph, StarkError> {
    if !layout.ext_indices.is_empty() {
        let what = "it has constraints over an extension, which only Plonky3's own prover supports";
        return Err(StarkError::Air(what.to_owned()));
    }
    Ok(capture(|| {
        let known = RefCell::new(HashMap::new());
        let of =
            |expression: &SymbolicExpression<Goldilocks>| translated(expression, &mut known.borrow_mut());
        constraints.iter().for_each(|constraint| of(constraint).must_vanish());
        lookups.iter().for_each(|lookup| record(lookup, of));
    }))
}

/// Captures a lookup, whose expressions `of` translates.
fn record(lookup: &Lookup<Goldilocks>, of: impl Fn(&SymbolicExpression<Goldilocks>) -> Expression + Copy) {
    let all = |expressions: &[SymbolicExpression<Goldilocks>]| expressions.iter().map(of).collect();
    let flags = lookup.flags.as_deref().map(all);
    let flags: Option<Vec<Expression>> = flags;
    let terms = lookup.elements.iter().zip(&lookup.multiplicities).enumerate();
    let terms = terms.map(|(index, (message, count))| Term {
        message: all(message),
        count: of(count),
        flag: flags.as_ref().map(|flags| flags[index]),
    });
    let bus = match &lookup.kind {
        Kind::Global(name) => Some(name.clone()),
        Kind::Local => None,
    };
    air::Lookup { bus, terms: terms.collect(), most: lookup.count_weight }.record();
}

/// Translates an expression. Its parts may be shared: each part is captured once. The function is not recursive, because sums may have
/// thousands of terms.
fn translated<'a>(
    root: &'a SymbolicExpression<Goldilocks>,
    known: &mut HashMap<*const SymbolicExpression<Goldilocks>, Expression>,
) -> Expression {
    let mut stack: Vec<(&'a SymbolicExpression<Goldilocks>, bool)> = vec![(root, false)];
    while let Some((node, ready)) = stack.pop() {
        if !ready && known.contains_key(&ptr::from_ref(node)) {
            continue;
        }
        let operands: &[&'a SymbolicExpression<Goldilocks>] = match node {
            SymbolicExpr::Leaf(_) => &[],
            SymbolicExpr::Neg { x, .. } => &[x],
            SymbolicExpr::Add { x, y, .. }
            | SymbolicExpr::Sub { x, y, .. }
            | SymbolicExpr::Mul { x, y, .. } => &[x, y],
        };
        if !ready && !operands.is_empty() {
            stack.push((node, true));
            stack.extend(operands.iter().map(|operand| (*operand, false)));
            continue;
        }
        let operand = |index: usize| known[&ptr::from_ref(operands[index])];
        let value = match node {
            SymbolicExpr::Leaf(value) => leaf(value),
            SymbolicExpr::Neg { .. } => -operand(0),
            SymbolicExpr::Add { .. } => operand(0) + operand(1),
            SymbolicExpr::Sub { .. } => operand(0) - operand(1),
            SymbolicExpr::Mul { .. } => operand(0) * operand(1),
        };
        known.insert(ptr::from_ref(node), value);
    }
    known[&ptr::from_ref(root)]
}

fn scalar(index: usize) -> Expression {
    Expression::input(Input::Scalar(index as u32), 0)
}

fn cell(matrix: usize, column: usize, offset: usize) -> Expression {
    assert!(offset <= 1, "constraints read a row and the next");
    let cell = Cell { matrix: matrix as u32, column: column as u32, next: offset == 1 };
    // The selector of transitions is linear.
    let linear = matrix == Matrix::Row as usize && column == SELECTORS - 1;
    Expression::input(Input::Cell(cell), if linear { 0 } else { 1 })
}

fn leaf(leaf: &BaseLeaf<Goldilocks>) -> Expression {
    let of_row = |column| cell(Matrix::Row as usize, column, 0);
    match leaf {
        BaseLeaf::Constant(value) => element(*value).into(),
        BaseLeaf::IsFirstRow => of_row(0),
        BaseLeaf::IsLastRow => of_row(1),
        BaseLeaf::IsTransition => of_row(2),
        BaseLeaf::Variable(variable) => match variable.entry {
            BaseEntry::Main { offset } => cell(Matrix::Trace as usize, variable.index, offset),
            BaseEntry::Preprocessed { offset } => cell(Matrix::Preprocessed as usize, variable.index, offset),
            BaseEntry::Periodic => of_row(SELECTORS + variable.index),
            BaseEntry::Public => scalar(variable.index),
        },
    }
}
