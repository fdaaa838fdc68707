//! FRI: the folds of queries.

use crate::{
    element::{Cubic, DEGREE, Element},
    powers::Elements,
    residue::Residue,
    tree::{Row, packed, select},
};
use proofmill_field::{Algebra, Field, Invert, goldilocks::Goldilocks};
use proofmill_plonk::{Bit, Circuit};
use proofmill_stark::protocol::generator;

/// The row of a round: the values of a proof, with the known one in its place.
pub(crate) fn row(circuit: &mut Circuit, known: &Element, place: usize, others: &[Cubic]) -> Row {
    let (before, after) = others.split_at(place);
    let known = known.value(circuit);
    let values = before.iter().chain([&known]).chain(after).flat_map(|value| value.0);
    Row::witness(circuit, &values.collect::<Vec<_>>())
}

/// Folds the row of a query in a round, where `place` has the bits of the known value's place in the row, and `index` those of the row.
/// Constrains the known value to be in its place.
pub(crate) fn fold(
    circuit: &mut Circuit,
    row: &Row,
    known: &Element,
    place: &[Bit],
    index: &[Bit],
    beta: &Element,
) -> Element {
    circuit.gadget("fold", |circuit| {
        let selected = select(circuit, place, &row.packs);
        let known = known.reduced(circuit);
        let known = packed(circuit, &known.0);
        circuit.assert_equal(selected, known);
        let values: Vec<Element> =
            row.words.chunks(DEGREE).map(|value| Element([0, 1, 2].map(|i| value[i].clone()))).collect();
        // The values are those of a polynomial, of degree below their number, on x times the roots of unity of that order, in bit-reversed
        // order. At beta it is the sum of its coefficients times the powers of beta / x.
        let inverse = Elements::Inverses.element(circuit, index, place.len()).factor(circuit);
        let ratio = Element(beta.0.each_ref().map(|coordinate| coordinate.mul(circuit, &inverse)));
        let coefficients = coefficients(circuit, &values, place.len() as u32);
        combined(circuit, &coefficients, &ratio)
    })
}

/// The coefficients of the polynomial with these values on the roots of unity of order `2^log_count`, in bit-reversed order.
fn coefficients(circuit: &mut Circuit, values: &[Element], log_count: u32) -> Vec<Element> {
    let count = values.len();
    let root = generator(log_count).invert_vartime().unwrap_or_default();
    let scale = Goldilocks::new(count as u64).invert_vartime().unwrap_or_default();
    let reversed = |i: usize| if log_count == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - log_count) };
    let coefficient = |circuit: &mut Circuit, power: usize| {
        let mut sum = Element::zero();
        for (i, value) in values.iter().enumerate() {
            let factor = root.pow_vartime(&[(power * reversed(i)) as u64]) * scale;
            let term = value.scale(circuit, factor);
            sum = sum.add(circuit, &term);
        }
        sum
    };
    (0..count).map(|power| coefficient(circuit, power)).collect()
}

/// The sum of the coefficients times powers of x: a product for each, and one for each power of x up to about the root of their number.
fn combined(circuit: &mut Circuit, coefficients: &[Element], x: &Element) -> Element {
    let group = 1 << coefficients.len().ilog2().div_ceil(2);
    let mut powers = vec![Element::one(), x.factor(circuit)];
    while powers.len() <= group.min(coefficients.len() - 1) {
        let power = powers[powers.len() - 1].mul(circuit, &powers[1]);
        powers.push(power.factor(circuit));
    }
    let mut sum: Option<Element> = None;
    for group_coefficients in coefficients.chunks(group).rev() {
        let mut next = group_coefficients[0].clone();
        if let Some(sum) = sum {
            next = next.add_product(circuit, &sum, &powers[group]);
        }
        for (coefficient, power) in group_coefficients.iter().zip(&powers).skip(1) {
            next = next.add_product(circuit, coefficient, power);
        }
        sum = Some(next);
    }
    sum.unwrap_or_else(Element::zero)
}

/// Constrains what is left of a query to be the value of the final polynomial.
pub(crate) fn assert_final(circuit: &mut Circuit, value: &Element, index: &[Bit], polynomial: &[Element]) {
    circuit.gadget("final polynomial", |circuit| {
        let x = match polynomial.len() {
            1 => Residue::constant(Goldilocks::ONE),
            _ => Elements::Subgroup.element(circuit, index, 0).factor(circuit),
        };
        let mut sum = Element::zero();
        for coefficient in polynomial.iter().rev() {
            sum = coefficient.add_scaled(circuit, &sum, &x);
        }
        sum.assert_equal(circuit, value);
    });
}
