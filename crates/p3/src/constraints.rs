//! The constraints of an AIR as a program.

use crate::elements::element;
use hashbrown::HashMap;
use p3_air::{
    Air,
    symbolic::{
        AirLayout, BaseEntry, BaseLeaf, ConstraintLayout, ExtLeaf, SymbolicAirBuilder, SymbolicExpr,
        SymbolicExpression, SymbolicExpressionExt,
    },
};
use p3_field::{Algebra, ExtensionField};
use p3_goldilocks::Goldilocks;
use p3_lookup::{InteractionSymbolicBuilder, Kind, Lookup};
use proofmill_field::goldilocks::Goldilocks as Element;
use proofmill_stark::air::{
    self, Cell, Expression, Graph, Input, Matrix, Products, Program, SELECTORS, Term, capture,
};
use std::{cell::RefCell, ptr};

/// Constraints as a program.
pub(crate) struct Captured {
    pub(crate) program: Program,
    /// For each constraint of the program, the index of the AIR's constraint that it is a part of, and its coordinate.
    pub(crate) parts: Vec<(usize, usize)>,
    /// The number of constraints of the AIR.
    pub(crate) count: usize,
}

impl Captured {
    /// The constraints of an AIR without lookups.
    ///
    /// # Panics
    /// As [`graph`].
    pub(crate) fn new<A: Air<SymbolicAirBuilder<Goldilocks>>>(air: &A, layout: AirLayout) -> Self {
        let graph = graph(air, layout);
        let count = graph.constraints();
        Self { program: Program::new(&graph), parts: (0..count).map(|index| (index, 0)).collect(), count }
    }

    /// The constraints of an AIR and of its lookups. Scalars are the public values, then the scalars of [`Graph::with_lookups`].
    pub(crate) fn with_lookups<C, A>(air: &A, layout: AirLayout, lookups: &[Lookup<Goldilocks>]) -> Self
    where
        C: ExtensionField<Goldilocks>,
        A: Air<InteractionSymbolicBuilder<Goldilocks, C>>,
        SymbolicExpressionExt<Goldilocks, C>: Algebra<C>,
    {
        let products = products::<C>();
        let (graph, mut parts) = graph_with_lookups::<C, A>(air, layout, lookups);
        let own = parts.iter().map(|(index, _)| index + 1).max().unwrap_or(0);
        let graph = graph.with_lookups(layout.num_public_values, &products);
        let of_lookups = (graph.constraints() - parts.len()) / C::DIMENSION;
        for index in own..own + of_lookups {
            parts.extend((0..C::DIMENSION).map(|coordinate| (index, coordinate)));
        }
        Self { program: Program::new(&graph), parts, count: own + of_lookups }
    }
}

/// The constraints of an AIR with its lookups. With each constraint comes the index of the AIR's constraint that it is a part of, and its
/// coordinate.
pub(crate) fn graph_with_lookups<C, A>(
    air: &A,
    layout: AirLayout,
    lookups: &[Lookup<Goldilocks>],
) -> (Graph, Vec<(usize, usize)>)
where
    C: ExtensionField<Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, C>>,
    SymbolicExpressionExt<Goldilocks, C>: Algebra<C>,
{
    layout.validate_against_air(air);
    let mut builder = InteractionSymbolicBuilder::<Goldilocks, C>::new(layout);
    air.eval(&mut builder);
    let (base, extension) = (builder.base_constraints(), builder.extension_constraints());
    let ConstraintLayout { base_indices, ext_indices } = builder.constraint_layout();
    let graph = capture(|| {
        let of_base = RefCell::new(HashMap::new());
        let of_base = |expression: &SymbolicExpression<Goldilocks>| {
            translated(expression, &mut of_base.borrow_mut(), &leaf, &of_operation)
        };
        base.iter().for_each(|constraint| of_base(constraint).must_vanish());
        let products = products::<C>();
        let leaf = |leaf: &ExtLeaf<Goldilocks, C>| match leaf {
            ExtLeaf::Base(expression) => {
                let mut coordinates = vec![Element::default().into(); C::DIMENSION];
                coordinates[0] = of_base(expression);
                coordinates
            }
            ExtLeaf::ExtConstant(value) => {
                value.as_basis_coefficients_slice().iter().map(|value| element(*value).into()).collect()
            }
            ExtLeaf::ExtVariable(_) => unreachable!("only lookups have columns over the extension"),
        };
        let mut captured = HashMap::new();
        for constraint in &extension {
            let coordinates = translated(constraint, &mut captured, &leaf, &|operation| {
                of_operation_on_coordinates(&products, operation)
            });
            coordinates.into_iter().for_each(Expression::must_vanish);
        }
        lookups.iter().for_each(|lookup| record(lookup, of_base));
    });
    let of_extension =
        ext_indices.iter().flat_map(|index| (0..C::DIMENSION).map(move |coordinate| (*index, coordinate)));
    (graph, base_indices.iter().map(|index| (*index, 0)).chain(of_extension).collect())
}

/// Captures a lookup, whose expressions `of_base` translates.
fn record(
    lookup: &Lookup<Goldilocks>,
    of_base: impl Fn(&SymbolicExpression<Goldilocks>) -> Expression + Copy,
) {
    let all = |expressions: &[SymbolicExpression<Goldilocks>]| expressions.iter().map(of_base).collect();
    let flags = lookup.flags.as_deref().map(all);
    let flags: Option<Vec<Expression>> = flags;
    let terms = lookup.elements.iter().zip(&lookup.multiplicities).enumerate();
    let terms = terms.map(|(index, (message, count))| Term {
        message: all(message),
        count: of_base(count),
        flag: flags.as_ref().map(|flags| flags[index]),
    });
    let bus = match &lookup.kind {
        Kind::Global(name) => Some(name.clone()),
        Kind::Local => None,
    };
    air::Lookup { bus, terms: terms.collect(), most: lookup.count_weight }.record();
}

/// Captures an AIR's constraints.
///
/// # Panics
/// If the AIR has constraints over extensions, which this prover does not support.
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
        constraints
            .iter()
            .for_each(|constraint| translated(constraint, &mut captured, &leaf, &of_operation).must_vanish());
    })
}

/// An operation on values.
enum Operation<T> {
    Neg(T),
    Add(T, T),
    Sub(T, T),
    Mul(T, T),
}

/// Translates an expression. Its parts may be shared: each part is captured once. The function is not recursive, because sums may have
/// thousands of terms.
fn translated<'a, L, T: Clone>(
    root: &'a SymbolicExpr<L>,
    captured: &mut HashMap<*const SymbolicExpr<L>, T>,
    leaf: &impl Fn(&L) -> T,
    of_operation: &impl Fn(Operation<T>) -> T,
) -> T {
    let mut stack = vec![(root, false)];
    while let Some((node, ready)) = stack.pop() {
        if !ready && captured.contains_key(&ptr::from_ref(node)) {
            continue;
        }
        let operands: &[&'a SymbolicExpr<L>] = match node {
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
        let operand = |index: usize| captured[&ptr::from_ref(operands[index])].clone();
        let value = match node {
            SymbolicExpr::Leaf(value) => leaf(value),
            SymbolicExpr::Neg { .. } => of_operation(Operation::Neg(operand(0))),
            SymbolicExpr::Add { .. } => of_operation(Operation::Add(operand(0), operand(1))),
            SymbolicExpr::Sub { .. } => of_operation(Operation::Sub(operand(0), operand(1))),
            SymbolicExpr::Mul { .. } => of_operation(Operation::Mul(operand(0), operand(1))),
        };
        captured.insert(ptr::from_ref(node), value);
    }
    captured[&ptr::from_ref(root)].clone()
}

fn of_operation(operation: Operation<Expression>) -> Expression {
    match operation {
        Operation::Neg(x) => -x,
        Operation::Add(x, y) => x + y,
        Operation::Sub(x, y) => x - y,
        Operation::Mul(x, y) => x * y,
    }
}

/// The products of an extension's basis.
pub(crate) fn products<C: ExtensionField<Goldilocks>>() -> Products {
    let basis = |index| C::ith_basis_element(index).expect("an element of the basis");
    let coordinates = |i, j| {
        let product = basis(i) * basis(j);
        product.as_basis_coefficients_slice().iter().map(|value| element(*value)).collect()
    };
    let of_first = |i| (0..C::DIMENSION).map(|j| coordinates(i, j)).collect();
    Products((0..C::DIMENSION).map(of_first).collect())
}

/// An operation on elements of the extension by their coordinates.
fn of_operation_on_coordinates(
    products: &Products,
    operation: Operation<Vec<Expression>>,
) -> Vec<Expression> {
    let each =
        |x: Vec<Expression>, y: Vec<Expression>, operation: fn(Expression, Expression) -> Expression| {
            x.into_iter().zip(y).map(|(x, y)| operation(x, y)).collect()
        };
    match operation {
        Operation::Neg(x) => x.into_iter().map(|x| -x).collect(),
        Operation::Add(x, y) => each(x, y, |x, y| x + y),
        Operation::Sub(x, y) => each(x, y, |x, y| x - y),
        Operation::Mul(x, y) => products.multiply(&x, &y),
    }
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
