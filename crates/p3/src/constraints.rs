//! The constraints of an AIR as a program.

use crate::elements::element;
use hashbrown::HashMap;
use p3_air::{
    Air,
    symbolic::{
        AirLayout, BaseEntry, BaseLeaf, ConstraintLayout, ExtEntry, ExtLeaf, SymbolicAirBuilder,
        SymbolicExpr, SymbolicExpression, SymbolicExpressionExt,
    },
};
use p3_field::{Algebra, ExtensionField};
use p3_goldilocks::Goldilocks;
use p3_lookup::{InteractionSymbolicBuilder, LogUpGadget, Lookup, LookupProtocol};
use proofmill_field::goldilocks::Goldilocks as Element;
use proofmill_stark::air::{Cell, Expression, Graph, Input, Matrix, Program, SELECTORS, capture};
use std::{cell::RefCell, ptr};

/// The matrix with the columns of lookups, after those of [`Matrix`]: each column over the extension is one for each coordinate.
pub(crate) const LOOKUPS: usize = Matrix::Row as usize + 1;

/// Constraints as a program.
pub(crate) struct Captured {
    pub(crate) program: Program,
    /// Of each constraint of the program: that of the AIR which it is a part of, and the coordinate.
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

    /// The constraints of an AIR and of its lookups. Scalars are the public values, then the coordinates of the challenges of each lookup,
    /// then those of the terminal.
    pub(crate) fn with_lookups<C, A>(air: &A, layout: AirLayout, lookups: &[Lookup<Goldilocks>]) -> Self
    where
        C: ExtensionField<Goldilocks>,
        A: Air<InteractionSymbolicBuilder<Goldilocks, C>>,
        SymbolicExpressionExt<Goldilocks, C>: Algebra<C>,
    {
        let gadget = LogUpGadget::new();
        layout.validate_against_air(air);
        let layout = AirLayout {
            permutation_width: if lookups.is_empty() { 0 } else { lookups.len() + 1 },
            num_permutation_challenges: lookups.len() * gadget.num_challenges(),
            num_permutation_values: usize::from(!lookups.is_empty()),
            ..layout
        };
        let mut builder = InteractionSymbolicBuilder::<Goldilocks, C>::new(layout);
        gadget.eval_air_and_lookups(air, &mut builder, lookups);
        let (base, extension) = (builder.base_constraints(), builder.extension_constraints());
        let ConstraintLayout { base_indices, ext_indices } = builder.constraint_layout();
        let challenges = layout.num_public_values;
        let terminal = challenges + C::DIMENSION * layout.num_permutation_challenges;
        let graph = capture(|| {
            let of_base = RefCell::new(HashMap::new());
            let of_base = |expression: &SymbolicExpression<Goldilocks>| {
                translated(expression, &mut of_base.borrow_mut(), &leaf, &of_operation)
            };
            base.iter().for_each(|constraint| of_base(constraint).must_vanish());
            let products = Products::of::<C>();
            let leaf = |leaf: &ExtLeaf<Goldilocks, C>| match leaf {
                ExtLeaf::Base(expression) => {
                    let mut coordinates = vec![Element::default().into(); C::DIMENSION];
                    coordinates[0] = of_base(expression);
                    coordinates
                }
                ExtLeaf::ExtConstant(value) => {
                    value.as_basis_coefficients_slice().iter().map(|value| element(*value).into()).collect()
                }
                ExtLeaf::ExtVariable(variable) => {
                    let input = |coordinate: usize| match variable.entry {
                        ExtEntry::Permutation { offset } => {
                            cell(LOOKUPS, variable.index * C::DIMENSION + coordinate, offset)
                        }
                        ExtEntry::Challenge => {
                            scalar(challenges + variable.index * C::DIMENSION + coordinate)
                        }
                        ExtEntry::PermutationValue => {
                            scalar(terminal + variable.index * C::DIMENSION + coordinate)
                        }
                    };
                    (0..C::DIMENSION).map(input).collect()
                }
            };
            let mut captured = HashMap::new();
            for constraint in &extension {
                let coordinates = translated(constraint, &mut captured, &leaf, &|operation| {
                    products.of_operation(operation)
                });
                coordinates.into_iter().for_each(Expression::must_vanish);
            }
        });
        let of_extension = ext_indices
            .iter()
            .flat_map(|index| (0..C::DIMENSION).map(move |coordinate| (*index, coordinate)));
        Self {
            program: Program::new(&graph),
            parts: base_indices.iter().map(|index| (*index, 0)).chain(of_extension).collect(),
            count: base_indices.len() + ext_indices.len(),
        }
    }
}

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

/// Translates an expression, whose parts may be shared: each is captured once. Not recursive, because sums may have thousands of
/// terms.
fn translated<'a, L, T: Clone>(
    root: &'a SymbolicExpr<L>,
    captured: &mut HashMap<*const SymbolicExpr<L>, T>,
    leaf: &impl Fn(&L) -> T,
    of_operation: &impl Fn(Operation<T>) -> T,
) -> T {
    let mut stack = vec![(root, false)];
    while let Some((node, ready)) = stack.pop() {
        if captured.contains_key(&ptr::from_ref(node)) {
            continue;
        }
        let operands: &[&'a SymbolicExpr<L>] = match node {
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

/// The products of an extension's basis, by both factors: their coordinates.
struct Products(Vec<Vec<Vec<Element>>>);

impl Products {
    fn of<C: ExtensionField<Goldilocks>>() -> Self {
        let basis = |index| C::ith_basis_element(index).expect("an element of the basis");
        let coordinates = |i, j| {
            let product = basis(i) * basis(j);
            product.as_basis_coefficients_slice().iter().map(|value| element(*value)).collect()
        };
        let of_first = |i| (0..C::DIMENSION).map(|j| coordinates(i, j)).collect();
        Self((0..C::DIMENSION).map(of_first).collect())
    }

    /// An operation on elements of the extension by their coordinates.
    fn of_operation(&self, operation: Operation<Vec<Expression>>) -> Vec<Expression> {
        let each =
            |x: Vec<Expression>, y: Vec<Expression>, operation: fn(Expression, Expression) -> Expression| {
                x.into_iter().zip(y).map(|(x, y)| operation(x, y)).collect()
            };
        match operation {
            Operation::Neg(x) => x.into_iter().map(|x| -x).collect(),
            Operation::Add(x, y) => each(x, y, |x, y| x + y),
            Operation::Sub(x, y) => each(x, y, |x, y| x - y),
            Operation::Mul(x, y) => {
                let mut sums = vec![Expression::Constant(Element::default()); x.len()];
                for (x, products) in x.iter().zip(&self.0) {
                    for (y, coordinates) in y.iter().zip(products) {
                        let product = *x * *y;
                        for (sum, factor) in sums.iter_mut().zip(coordinates) {
                            *sum = *sum + product * Expression::Constant(*factor);
                        }
                    }
                }
                sums
            }
        }
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
