//! The evaluation of a tape.

use super::{
    Binary,
    message::Fields,
    number::{Number, ProductSum},
    tape::{Tape, TapeStep, ValueSource},
};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, Invert};
use zeroize::Zeroizing;

/// The bytes of a tape that are removed from memory at a time, after they are read.
const RELEASED: usize = 1 << 22;

/// Why a tape has no values.
pub(crate) enum Stop {
    /// A guard fails.
    Guard,
    /// It is malformed.
    Malformed,
}

/// Evaluates a tape, and gives the values of these sources.
pub(crate) fn evaluate<P: ScalarPrime>(
    tape: &Tape,
    constants: &[Fp<P>],
    inputs: &[Fp<P>],
    wanted: &[&[ValueSource]],
) -> Result<Zeroizing<Vec<Fp<P>>>, Stop> {
    let values = Values::of(tape, constants, inputs)?;
    let count = wanted.iter().map(|sources| sources.len()).sum();
    let mut found = Zeroizing::new(Vec::with_capacity(count));
    for source in wanted.iter().copied().flatten() {
        found.push(values.get(*source).ok_or(Stop::Malformed)?.element());
    }
    Ok(found)
}

/// The values of a tape's places, constants and inputs.
struct Values<'a, P: ScalarPrime> {
    places: Zeroizing<Vec<Number<P>>>,
    free: Vec<u32>,
    constants: &'a [Fp<P>],
    numbers: Vec<Number<P>>,
    inputs: Zeroizing<Vec<Number<P>>>,
}

impl<'a, P: ScalarPrime> Values<'a, P> {
    /// Evaluates a tape.
    fn of(tape: &Tape, constants: &'a [Fp<P>], inputs: &[Fp<P>]) -> Result<Self, Stop> {
        // A step takes two bytes or more: no file makes this large.
        let places = (tape.places as usize).min(tape.bytes.len());
        let numbers = |elements: &[Fp<P>]| elements.iter().map(|element| Number::from(*element)).collect();
        let mut values = Self {
            places: Zeroizing::new(Vec::with_capacity(places)),
            free: Vec::new(),
            constants,
            numbers: numbers(constants),
            inputs: Zeroizing::new(numbers(inputs)),
        };
        let mut rest = Fields::new(&tape.bytes);
        let mut released = 0;
        // Several bits of one value follow each other.
        let mut integer = (Fp::ZERO, [0; 4]);
        while let Some(code) = rest.byte() {
            let read = tape.bytes.len() - rest.left();
            if read - released >= RELEASED {
                tape.bytes.release(released..read);
                released = read;
            }
            let step = TapeStep::from_code(code).ok_or(Stop::Malformed)?;
            let result = match step {
                // Most are these.
                TapeStep::Binary(Binary::Multiply) => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    Number::binary(Binary::Multiply, a, b)
                }
                TapeStep::Sum => values.sum(&mut rest).ok_or(Stop::Malformed)?,
                TapeStep::Binary(operation) => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    Number::binary(operation, a, b)
                }
                TapeStep::Unary(operation) => {
                    let [a] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    Number::unary(operation, a)
                }
                TapeStep::Select => {
                    let [condition, a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    if condition.is_zero() { b } else { a }
                }
                TapeStep::Bit => values.bit(&mut rest, &mut integer).ok_or(Stop::Malformed)?,
                TapeStep::Quotients => {
                    values.divide(&mut rest).ok_or(Stop::Malformed)?;
                    continue;
                }
                TapeStep::Equal => {
                    values.expect_equal(&mut rest)?;
                    continue;
                }
                TapeStep::Zero | TapeStep::Nonzero => {
                    values.expect_zero(&mut rest, matches!(step, TapeStep::Zero))?;
                    continue;
                }
            };
            values.write(result);
        }
        Ok(values)
    }

    /// The value of a source; `None` if there is none.
    #[inline(always)]
    fn get(&self, source: ValueSource) -> Option<Number<P>> {
        match source {
            ValueSource::Place(index) | ValueSource::LastOfPlace(index) => self.places.get(index as usize),
            ValueSource::Constant(index) => self.numbers.get(index as usize),
            ValueSource::Input(index) => self.inputs.get(index as usize),
        }
        .copied()
    }

    #[inline(always)]
    fn next(&mut self, rest: &mut Fields<'_>) -> Option<Number<P>> {
        let source = ValueSource::from_code(rest.varint()?)?;
        if let ValueSource::LastOfPlace(place) = source {
            self.free.push(place);
        }
        self.get(source)
    }

    #[inline(always)]
    fn read<const N: usize>(&mut self, rest: &mut Fields<'_>) -> Option<[Number<P>; N]> {
        let mut values = [Number::ZERO; N];
        for value in &mut values {
            *value = self.next(rest)?;
        }
        Some(values)
    }

    #[inline(always)]
    fn write(&mut self, value: Number<P>) {
        match self.free.pop().and_then(|place| self.places.get_mut(place as usize)) {
            Some(place) => *place = value,
            None => self.places.push(value),
        }
    }

    #[inline(always)]
    fn sum(&mut self, rest: &mut Fields<'_>) -> Option<Number<P>> {
        let count = rest.varint()?;
        let mut sum = ProductSum::ZERO;
        for _ in 0..count {
            let coefficient = rest.varint()?;
            let sign = if coefficient & 1 == 0 { 1 } else { -1 };
            let value = self.next(rest)?;
            let Some(index) = (coefficient >> 1).checked_sub(1) else {
                match value {
                    Number::Small(value) => sum.add_small(i128::from(value) * sign),
                    Number::Element(value) if sign < 0 => sum.add(-value),
                    Number::Element(value) => sum.add(value),
                }
                continue;
            };
            let index = usize::try_from(index).ok()?;
            if let (Number::Small(value), Number::Small(constant)) = (value, *self.numbers.get(index)?) {
                sum.add_small(i128::from(value) * i128::from(constant) * sign);
                continue;
            }
            let constant = *self.constants.get(index)?;
            let product = match value {
                Number::Small(0) => continue,
                Number::Small(1) => constant,
                value => value.element() * constant,
            };
            sum.add(if sign < 0 { -product } else { product });
        }
        Some(sum.value())
    }

    /// A bit of a value. `integer` is the element whose bit was the last one, and its integer.
    #[inline(always)]
    fn bit(&mut self, rest: &mut Fields<'_>, integer: &mut (Fp<P>, [u64; 4])) -> Option<Number<P>> {
        let position = rest.byte()?;
        let [a] = self.read(rest)?;
        Some(if let Number::Small(a @ 0..) = a {
            Number::Small(a.checked_shr(position.into()).unwrap_or(0) & 1)
        } else {
            let a = a.element();
            if integer.0 != a {
                *integer = (a, a.to_canonical());
            }
            let limb = integer.1.get(usize::from(position / 64))?;
            Number::Small((limb >> (position % 64) & 1) as i64)
        })
    }

    /// A guard: two values are equal.
    #[inline(always)]
    fn expect_equal(&mut self, rest: &mut Fields<'_>) -> Result<(), Stop> {
        let [a, b] = self.read(rest).ok_or(Stop::Malformed)?;
        if a.is(b) { Ok(()) } else { Err(Stop::Guard) }
    }

    /// A guard: a value is zero, or is not.
    #[inline(always)]
    fn expect_zero(&mut self, rest: &mut Fields<'_>, zero: bool) -> Result<(), Stop> {
        let [a] = self.read(rest).ok_or(Stop::Malformed)?;
        if a.is_zero() == zero { Ok(()) } else { Err(Stop::Guard) }
    }

    /// Quotients with one inversion. Those by zero are zero.
    fn divide(&mut self, rest: &mut Fields<'_>) -> Option<()> {
        let count = usize::try_from(rest.varint()?).ok().filter(|count| *count <= rest.left() / 2)?;
        let mut quotients: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(Vec::with_capacity(count));
        let mut divisors: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(Vec::with_capacity(count));
        for _ in 0..count {
            let [dividend, divisor] = self.read(rest)?;
            quotients.push(dividend.element());
            divisors.push(divisor.element());
        }
        if let [quotient] = quotients.as_mut_slice()
            && let [divisor] = divisors.as_slice()
        {
            *quotient = Binary::Divide.evaluate(*quotient, *divisor);
        } else {
            divide_all(&mut quotients, &divisors);
        }
        for quotient in quotients.iter() {
            self.write(Number::Element(*quotient));
        }
        Some(())
    }
}

/// Divides each by its divisor, with one inversion.
fn divide_all<P: ScalarPrime>(quotients: &mut [Fp<P>], divisors: &[Fp<P>]) {
    // The product of all divisors before each.
    let mut products: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(Vec::with_capacity(divisors.len()));
    let mut product = Fp::ONE;
    for divisor in divisors {
        products.push(product);
        if *divisor != Fp::ZERO {
            product *= *divisor;
        }
    }
    let mut inverse = product.invert_vartime().unwrap_or(Fp::ZERO);
    // Montgomery's trick: `inverse` is that of all divisors up to this one, except zeros.
    for ((quotient, divisor), product) in quotients.iter_mut().zip(divisors).zip(products.iter()).rev() {
        if *divisor == Fp::ZERO {
            *quotient = Fp::ZERO;
        } else {
            *quotient *= inverse * *product;
            inverse *= *divisor;
        }
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::evaluate;
    use crate::graph::{Binary, GraphNode, Guard, Tape, Unary};
    use proofmill_field::{Field, Fp, bn254::FrParams};
    use proptest::{prelude::*, sample::Index};

    type F = Fp<FrParams>;

    const INPUTS: u32 = 3;

    /// An operation on earlier nodes.
    fn node() -> impl Strategy<Value = (u8, [Index; 3])> {
        (0..24_u8, any::<[Index; 3]>())
    }

    fn nodes(operations: &[(u8, [Index; 3])], constants: u32) -> Vec<GraphNode> {
        let mut nodes: Vec<GraphNode> =
            (1..=INPUTS).map(GraphNode::Input).chain((0..constants).map(GraphNode::Constant)).collect();
        for (kind, operands) in operations {
            let [a, b, c] = operands.map(|operand| operand.index(nodes.len()) as u32);
            nodes.push(match kind {
                0..=4 => GraphNode::Binary(Binary::Add, a, b),
                5..=8 => GraphNode::Binary(Binary::Subtract, a, b),
                9..=12 => GraphNode::Binary(Binary::Multiply, a, b),
                13..=15 => GraphNode::Unary(Unary::Negate, a),
                16..=20 => GraphNode::Binary(Binary::Divide, a, b),
                21 => GraphNode::Binary(Binary::Less, a, b),
                22 => GraphNode::Bit(a, (b % 254) as u8),
                _ => GraphNode::Select(a, b, c),
            });
        }
        nodes
    }

    /// The nodes' values, one by one.
    fn values(nodes: &[GraphNode], constants: &[F], inputs: &[F]) -> Vec<F> {
        let mut values: Vec<F> = Vec::new();
        for node in nodes {
            let of = |operand: u32| values[operand as usize];
            values.push(match *node {
                GraphNode::Input(position) => inputs[position as usize],
                GraphNode::Constant(index) => constants[index as usize],
                GraphNode::Select(condition, a, b) => of(if of(condition) == F::ZERO { b } else { a }),
                GraphNode::Bit(a, position) => {
                    let limb = of(a).to_canonical()[usize::from(position / 64)];
                    F::from(limb >> (position % 64) & 1)
                }
                GraphNode::Unary(operation, a) => operation.evaluate(of(a)),
                GraphNode::Binary(operation, a, b) => operation.evaluate(of(a), of(b)),
            });
        }
        values
    }

    proptest! {
        /// Sums contain the operations that only they read, places are reused, and quotients share an inversion: no value
        /// changes.
        #[test]
        fn tapes_give_the_nodes_values(
            operations in prop::collection::vec(node(), 1..40),
            outputs in prop::collection::vec(any::<Index>(), 1..4),
            guarded in prop::collection::vec(any::<Index>(), 0..8),
            inputs in any::<[u64; INPUTS as usize]>(),
        ) {
            let constants = [F::ZERO, F::ONE, -F::ONE, F::from(2), F::from(1 << 40)];
            let inputs: Vec<F> = [1].into_iter().chain(inputs).map(F::from).collect();
            let nodes = nodes(&operations, constants.len() as u32);
            let expected = values(&nodes, &constants, &inputs);
            let outputs: Vec<u32> = outputs.iter().map(|output| output.index(nodes.len()) as u32).collect();
            let guard = |index: &Index| {
                let node = index.index(nodes.len());
                Guard { node: node as u32, nonzero: expected[node] != F::ZERO }
            };
            let guards: Vec<Guard> = guarded.iter().map(guard).collect();
            let (tape, read, sources) = Tape::new(&nodes, &constants, &outputs, &guards);
            let found = evaluate(&tape, &read, &inputs, &[&sources]).ok();
            let wanted: Vec<F> = outputs.iter().map(|output| expected[*output as usize]).collect();
            prop_assert_eq!(found.as_deref(), Some(&wanted));
            for violated in 0..guards.len() {
                let mut guards = guards.clone();
                guards[violated].nonzero ^= true;
                let (tape, read, sources) = Tape::new(&nodes, &constants, &outputs, &guards);
                prop_assert!(evaluate(&tape, &read, &inputs, &[&sources]).is_err());
            }
        }
    }
}
