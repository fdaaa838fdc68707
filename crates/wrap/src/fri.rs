//! FRI: the folds of queries.

use crate::{
    element::{Cubic, CubicElement, DEGREE},
    powers::{Elements, PowerLookup},
    tree::{OpenedRow, packed, select},
};
use proofmill_field::{Algebra, Invert, goldilocks::Goldilocks};
use proofmill_plonk::{Bit, Circuit};
use proofmill_stark::protocol::generator;

/// The row of a round: the values of a proof, with the known one in its place.
pub(crate) fn row(circuit: &mut Circuit, known: &CubicElement, place: usize, others: &[Cubic]) -> OpenedRow {
    let (before, after) = others.split_at(place);
    let known = known.value(circuit);
    let values = before.iter().chain([&known]).chain(after).flat_map(|value| value.0);
    OpenedRow::witness(circuit, &values.collect::<Vec<_>>())
}

/// Folds the row of a query in a round, with the powers of its challenge. `place` has the bits of the known value's place in the row, and `index` those of the row's
/// index. Constrains the known value to be in its place.
pub(crate) fn fold(
    circuit: &mut Circuit,
    domain: PowerLookup,
    row: &OpenedRow,
    known: &CubicElement,
    place: &[Bit],
    index: &[Bit],
    betas: &[CubicElement],
) -> CubicElement {
    circuit.gadget("fold", |circuit| {
        // What the rounds before led to is the value that this round committed to.
        let selected = select(circuit, place, &row.packs);
        let known = known.reduced(circuit);
        let known = packed(circuit, &known.0);
        circuit.assert_equal(selected, known);
        let values: Vec<CubicElement> =
            row.words.chunks(DEGREE).map(|value| CubicElement([0, 1, 2].map(|i| value[i].clone()))).collect();
        // The values are those of a polynomial, of degree below their number, on x times the roots of unity of that order, in bit-reversed
        // order. At beta it is the sum of its coefficients, times the powers of beta / x.
        let inverses = domain.powers(circuit, Elements::Inverses, index, place.len(), values.len());
        let coefficients = coefficients(circuit, &values, place.len() as u32);
        let (first, rest) = coefficients.split_at(1);
        let scaled: Vec<_> = rest
            .iter()
            .zip(&inverses)
            .map(|(coefficient, power)| coefficient.scaled(circuit, power))
            .collect();
        let constant = first[0].scale(circuit, share(values.len()));
        constant.add_products(circuit, scaled.iter().zip(betas))
    })
}

/// One over the number of values in a row.
fn share(count: usize) -> Goldilocks {
    Goldilocks::new(count as u64).invert_vartime().unwrap_or_default()
}

/// The powers of a challenge from 1 on that the folds of a round take, each over the number of values in a row.
pub(crate) fn powers_of_challenge(
    circuit: &mut Circuit,
    beta: &CubicElement,
    count: usize,
) -> Vec<CubicElement> {
    let mut powers = vec![beta.scale(circuit, share(count)).factor(circuit)];
    while powers.len() + 1 < count {
        let power = powers[powers.len() - 1].mul(circuit, beta);
        powers.push(power.reduced(circuit));
    }
    powers
}

/// The coefficients of the polynomial with these values on the roots of unity of order `2^log_count`, in bit-reversed order, times their
/// number. Roots of an order up to 64 are powers of two up to their sign, so that little is added to the values' bounds.
fn coefficients(circuit: &mut Circuit, values: &[CubicElement], log_count: u32) -> Vec<CubicElement> {
    let root = generator(log_count).invert_vartime().unwrap_or_default();
    let reversed = |i: usize| if log_count == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - log_count) };
    let coefficient = |circuit: &mut Circuit, power: usize| {
        let mut sum = CubicElement::zero();
        for (i, value) in values.iter().enumerate() {
            let term = value.scale(circuit, root.pow_vartime(&[(power * reversed(i)) as u64]));
            sum = sum.add(circuit, &term);
        }
        sum
    };
    (0..values.len()).map(|power| coefficient(circuit, power)).collect()
}

/// The logarithm of the number of a final polynomial's coefficients in a block.
const LOG_BLOCK: usize = 3;

/// Constrains the last value of a query to be that of the final polynomial.
pub(crate) fn assert_final(
    circuit: &mut Circuit,
    domain: PowerLookup,
    value: &CubicElement,
    index: &[Bit],
    polynomial: &[CubicElement],
) {
    circuit.gadget("final polynomial", |circuit| {
        // Blocks take low powers of x only; powers of `x^8` combine the blocks.
        let length = polynomial.len().min(1 << LOG_BLOCK);
        let powers = domain.powers(circuit, Elements::Subgroup, index, 0, length);
        let blocks: Vec<CubicElement> = polynomial
            .chunks(length)
            .map(|block| block[0].add_scaled(circuit, block[1..].iter().zip(&powers)))
            .collect();
        // The square of an element is at half of its index.
        let index = index.get(LOG_BLOCK..).unwrap_or_default();
        let powers = domain.powers(circuit, Elements::Subgroup, index, 0, blocks.len());
        let sum = blocks[0].add_scaled(circuit, blocks[1..].iter().zip(&powers));
        sum.assert_equal(circuit, value);
    });
}
