//! The constraints of an AIR as a program.

use crate::elements::element;
use hashbrown::HashMap;
use p3_air::{
    Air,
    symbolic::{AirLayout, BaseEntry, BaseLeaf, SymbolicAirBuilder, SymbolicExpr, SymbolicExpression},
};
use p3_goldilocks::Goldilocks;
use proofmill_stark::air::{Cell, Expression, Graph, Input, Matrix, SELECTORS, capture};

/// Captures an AIR's constraints.
///
/// # Panics
/// If it has constraints over extensions, which this prover does not support.
pub(crate) fn graph<A: Air<SymbolicAirBuilder<Goldilocks>>>(air: &A, layout: AirLayout) -> Graph {
    layout.validate_against_air(air);
    let mut builder = SymbolicAirBuilder::<Goldilocks>::new(layout);
    air.eval(&mut builder);
    assert!(
        builder.constraint_layout().ext_indices.is_empty(),
        "the AIR has constraints over extensions: only `p3_uni_stark::prove` can prove it"
    );
    let constraints = builder.base_constraints();
    capture(|| {
        let mut captured = HashMap::new();
        constraints.iter().for_each(|constraint| expression(constraint, &mut captured).must_vanish());
    })
}

/// Translates an expression, whose parts may be shared: each is captured once. Not recursive, because sums may have thousands of
/// terms.
fn expression<'a>(
    root: &'a SymbolicExpression<Goldilocks>,
    captured: &mut HashMap<*const SymbolicExpression<Goldilocks>, Expression>,
) -> Expression {
    let mut stack = vec![(root, false)];
    while let Some((node, ready)) = stack.pop() {
        if captured.contains_key(&std::ptr::from_ref(node)) {
            continue;
        }
        let operands: &[&'a SymbolicExpression<Goldilocks>] = match node {
            SymbolicExpr::Leaf(_) => &[],
            SymbolicExpr::Neg { x, .. } => &[x],
            SymbolicExpr::Add { x, y, .. }
            | SymbolicExpr::Sub { x, y, .. }
            | SymbolicExpr::Mul { x, y, .. } => &[x, y],
        };
        if !ready {
            stack.push((node, true));
            stack.extend(operands.iter().map(|operand| (*operand, false)));
            continue;
        }
        let operand = |index: usize| captured[&std::ptr::from_ref(operands[index])];
        let value = match node {
            SymbolicExpr::Leaf(value) => leaf(value),
            SymbolicExpr::Neg { .. } => -operand(0),
            SymbolicExpr::Add { .. } => operand(0) + operand(1),
            SymbolicExpr::Sub { .. } => operand(0) - operand(1),
            SymbolicExpr::Mul { .. } => operand(0) * operand(1),
        };
        captured.insert(std::ptr::from_ref(node), value);
    }
    captured[&std::ptr::from_ref(root)]
}

fn leaf(leaf: &BaseLeaf<Goldilocks>) -> Expression {
    let cell = |matrix: Matrix, column: usize, offset: usize| {
        assert!(offset <= 1, "constraints read a row and the next");
        let cell = Cell { matrix: matrix as u32, column: column as u32, next: offset == 1 };
        let linear = matches!(leaf, BaseLeaf::IsTransition);
        Expression::input(Input::Cell(cell), if linear { 0 } else { 1 })
    };
    match leaf {
        BaseLeaf::Constant(value) => element(*value).into(),
        BaseLeaf::IsFirstRow => cell(Matrix::Row, 0, 0),
        BaseLeaf::IsLastRow => cell(Matrix::Row, 1, 0),
        BaseLeaf::IsTransition => cell(Matrix::Row, 2, 0),
        BaseLeaf::Variable(variable) => match variable.entry {
            BaseEntry::Main { offset } => cell(Matrix::Trace, variable.index, offset),
            BaseEntry::Preprocessed { offset } => cell(Matrix::Preprocessed, variable.index, offset),
            BaseEntry::Periodic => cell(Matrix::Row, SELECTORS + variable.index, 0),
            BaseEntry::Public => Expression::input(Input::Scalar(variable.index as u32), 0),
        },
    }
}
