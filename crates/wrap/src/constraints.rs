//! The constraints and the quotient at the point outside of the domain.

use crate::{DEGREE, element::CubicElement, residue::Residue};
use proofmill_cpu::Level;
use proofmill_field::{Algebra, Field, Invert, goldilocks::Goldilocks};
use proofmill_ntt::goldilocks::Order;
use proofmill_plonk::Circuit;
use proofmill_stark::{
    Constraints,
    air::{Input, Operation, SELECTORS},
    protocol::{coset_shift, domain, generator},
};
use std::{cell::RefCell, rc::Rc};

/// The opened values.
pub(crate) struct Opened {
    pub(crate) trace: Vec<CubicElement>,
    pub(crate) next: Vec<CubicElement>,
    pub(crate) preprocessed: Vec<CubicElement>,
    pub(crate) next_preprocessed: Vec<CubicElement>,
    /// Three values for each polynomial of the quotient.
    pub(crate) quotient: Vec<CubicElement>,
}

/// Constrains the quotient at zeta, which is not in the base field, to be that of the constraints.
pub(crate) fn assert_hold(
    circuit: &mut Circuit,
    constraints: &Constraints,
    log_rows: u32,
    public_values: &[Residue],
    opened: &Opened,
    alpha: &CubicElement,
    zeta: &CubicElement,
) {
    circuit.gadget("constraints", |circuit| {
        // zeta^(2^i)
        let mut powers = vec![zeta.factor(circuit)];
        for i in 0..log_rows as usize {
            let square = powers[i].square(circuit);
            powers.push(square.factor(circuit));
        }
        let power = powers[log_rows as usize].clone();
        let one = CubicElement::one();
        let vanishing = power.sub(circuit, &one).factor(circuit);
        let selectors = selectors(circuit, log_rows, zeta, &vanishing);
        let periodic = periodic(circuit, constraints, log_rows, &powers);
        let input = |input: Input| match input {
            Input::Scalar(index) => CubicElement::of_base(public_values[index as usize].clone()),
            Input::Cell(cell) => {
                let column = cell.column as usize;
                match (cell.matrix, cell.next) {
                    (0, false) => &opened.trace[column],
                    (0, true) => &opened.next[column],
                    (1, false) => &opened.preprocessed[column],
                    (1, true) => &opened.next_preprocessed[column],
                    _ if column < SELECTORS => &selectors[column],
                    _ => &periodic[column - SELECTORS],
                }
                .clone()
            }
        };
        let sum = combined(circuit, constraints, alpha, input);
        // Multiplied out: no division by the vanishing polynomial.
        let quotient = of_chunks(circuit, log_rows, &opened.quotient, &power);
        quotient.mul(circuit, &vanishing).assert_equal(circuit, &sum);
    });
}

/// The selectors of the first row, the last row and transitions at zeta, which is outside of the base field.
fn selectors(
    circuit: &mut Circuit,
    log_rows: u32,
    zeta: &CubicElement,
    vanishing: &CubicElement,
) -> [CubicElement; SELECTORS] {
    let last = generator(log_rows).invert_vartime().unwrap_or_default();
    let [from_first, transition] =
        [Goldilocks::ONE, last].map(|root| zeta.sub(circuit, &CubicElement::constant(root)).factor(circuit));
    [vanishing.quotient(circuit, &from_first), vanishing.quotient(circuit, &transition), transition]
}

/// The periodic columns at zeta, from its powers zeta^(2^i).
fn periodic(
    circuit: &mut Circuit,
    constraints: &Constraints,
    log_rows: u32,
    powers: &[CubicElement],
) -> Vec<CubicElement> {
    constraints
        .periodic()
        .iter()
        .map(|column| {
            let x = &powers[(log_rows - column.len().ilog2()) as usize];
            let mut coefficients = column.clone();
            domain(column.len().ilog2()).intt(Level::best(), &mut coefficients, Order::Natural);
            let horner = |sum: CubicElement, coefficient: &Goldilocks| {
                CubicElement::constant(*coefficient).add_products(circuit, [(&sum, x)])
            };
            coefficients.iter().rev().fold(CubicElement::zero(), horner)
        })
        .collect()
}

/// The constraints, combined by the powers of alpha.
fn combined(
    circuit: &mut Circuit,
    constraints: &Constraints,
    alpha: &CubicElement,
    input: impl Fn(Input) -> CubicElement,
) -> CubicElement {
    // Factors are reduced once, where they are.
    let values = constraints.graph().interpret(|operation: Operation<'_, Rc<RefCell<CubicElement>>>| {
        let value = match operation {
            Operation::Input(read) => input(read),
            Operation::Constant(value) => CubicElement::constant(value),
            Operation::Add(a, b) => a.borrow().add(circuit, &b.borrow()),
            Operation::Sub(a, b) => a.borrow().sub(circuit, &b.borrow()),
            Operation::Mul(a, b) => {
                for operand in [a, b] {
                    let factor = operand.borrow().factor(circuit);
                    operand.replace(factor);
                }
                a.borrow().mul(circuit, &b.borrow())
            }
        };
        Rc::new(RefCell::new(value))
    });
    // Horner's rule: the last constraint has the factor 1, as in the prover.
    let mut sum = CubicElement::zero();
    for value in values {
        sum = value.borrow().add_products(circuit, [(&sum, alpha)]);
    }
    sum
}

/// The quotient at a point whose power of the number of rows is `power`.
fn of_chunks(
    circuit: &mut Circuit,
    log_rows: u32,
    values: &[CubicElement],
    power: &CubicElement,
) -> CubicElement {
    let chunks = values.len() / DEGREE;
    let shift = |chunk| coset_shift(log_rows, chunks.ilog2(), chunk).pow_vartime(&[1 << log_rows]);
    // Lagrange interpolation between the cosets, whose elements are constants of the circuit.
    let elements: Vec<_> = (0..chunks).map(shift).collect();
    let mut sum = CubicElement::zero();
    for (chunk, values) in values.chunks(DEGREE).enumerate() {
        let mut factor = CubicElement::one();
        let mut scale = Goldilocks::ONE;
        for (_, other) in elements.iter().enumerate().filter(|(index, _)| *index != chunk) {
            scale *= elements[chunk] - *other;
            let difference = power.sub(circuit, &CubicElement::constant(*other));
            factor = factor.mul(circuit, &difference);
        }
        let mut value = CubicElement::zero();
        for coordinate in values.iter().rev() {
            value = value.shifted(circuit).add(circuit, coordinate);
        }
        let value = value.scale(circuit, scale.invert_vartime().unwrap_or_default());
        sum = sum.add_products(circuit, [(&factor, &value)]);
    }
    sum
}
