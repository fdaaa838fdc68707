//! The evaluation of a tape.

use super::{
    Binary,
    message::Fields,
    tape::{Source, Step, Tape},
};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, Invert};
use zeroize::Zeroizing;

/// Why a tape has no values.
pub(crate) enum Stop {
    /// A guard fails.
    Guard,
    /// It is malformed.
    Malformed,
}

/// The values of a tape's places, and what it reads.
pub(crate) struct Values<'a, P: ScalarPrime> {
    places: Zeroizing<Vec<Fp<P>>>,
    free: Vec<u32>,
    constants: &'a [Fp<P>],
    inputs: &'a [Fp<P>],
}

impl<'a, P: ScalarPrime> Values<'a, P> {
    /// Evaluates a tape.
    pub(crate) fn of(tape: &Tape, constants: &'a [Fp<P>], inputs: &'a [Fp<P>]) -> Result<Self, Stop> {
        // A step takes two bytes or more: no file makes this large.
        let places = (tape.places as usize).min(tape.bytes.len());
        let mut values =
            Self { places: Zeroizing::new(Vec::with_capacity(places)), free: Vec::new(), constants, inputs };
        let mut rest = Fields::new(&tape.bytes);
        // Several bits of one value follow each other.
        let mut integer = (Fp::ZERO, [0; 4]);
        while let Some(code) = rest.byte() {
            let step = Step::from_code(code).ok_or(Stop::Malformed)?;
            let result = match step {
                // Most are these.
                Step::Binary(Binary::Multiply) => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    a * b
                }
                Step::Binary(Binary::Add) => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    a + b
                }
                Step::Binary(Binary::Subtract) => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    a - b
                }
                Step::Binary(operation) => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    operation.evaluate(a, b)
                }
                Step::Unary(operation) => {
                    let [a] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    operation.evaluate(a)
                }
                Step::Select => {
                    let [condition, a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    if condition == Fp::ZERO { b } else { a }
                }
                Step::Bit => {
                    let position = rest.byte().ok_or(Stop::Malformed)?;
                    let [a] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    if integer.0 != a {
                        integer = (a, a.to_canonical());
                    }
                    let limb = integer.1.get(usize::from(position / 64)).ok_or(Stop::Malformed)?;
                    if limb >> (position % 64) & 1 == 1 { Fp::ONE } else { Fp::ZERO }
                }
                Step::Quotients => {
                    values.divide(&mut rest).ok_or(Stop::Malformed)?;
                    continue;
                }
                Step::Equal => {
                    let [a, b] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    if a != b {
                        return Err(Stop::Guard);
                    }
                    continue;
                }
                Step::Zero | Step::Nonzero => {
                    let [a] = values.read(&mut rest).ok_or(Stop::Malformed)?;
                    if (a == Fp::ZERO) != matches!(step, Step::Zero) {
                        return Err(Stop::Guard);
                    }
                    continue;
                }
            };
            values.write(result);
        }
        Ok(values)
    }

    /// The value of a source; `None` if there is none.
    #[inline(always)]
    pub(crate) fn get(&self, source: Source) -> Option<Fp<P>> {
        match source {
            Source::Place(index) | Source::LastOfPlace(index) => self.places.get(index as usize),
            Source::Constant(index) => self.constants.get(index as usize),
            Source::Input(index) => self.inputs.get(index as usize),
        }
        .copied()
    }

    #[inline(always)]
    fn next(&mut self, rest: &mut Fields<'_>) -> Option<Fp<P>> {
        let source = Source::from_code(rest.varint()?)?;
        if let Source::LastOfPlace(place) = source {
            self.free.push(place);
        }
        self.get(source)
    }

    #[inline(always)]
    fn read<const N: usize>(&mut self, rest: &mut Fields<'_>) -> Option<[Fp<P>; N]> {
        let mut values = [Fp::ZERO; N];
        for value in &mut values {
            *value = self.next(rest)?;
        }
        Some(values)
    }

    #[inline(always)]
    fn write(&mut self, value: Fp<P>) {
        match self.free.pop().and_then(|place| self.places.get_mut(place as usize)) {
            Some(place) => *place = value,
            None => self.places.push(value),
        }
    }

    /// Quotients with one inversion. Those by zero are zero.
    fn divide(&mut self, rest: &mut Fields<'_>) -> Option<()> {
        let count = usize::try_from(rest.varint()?).ok().filter(|count| *count <= rest.left() / 2)?;
        let mut quotients: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(Vec::with_capacity(count));
        let mut divisors: Zeroizing<Vec<Fp<P>>> = Zeroizing::new(Vec::with_capacity(count));
        for _ in 0..count {
            let [dividend, divisor] = self.read(rest)?;
            quotients.push(dividend);
            divisors.push(divisor);
        }
        if let [quotient] = quotients.as_mut_slice()
            && let [divisor] = divisors.as_slice()
        {
            *quotient = Binary::Divide.evaluate(*quotient, *divisor);
        } else {
            divide_all(&mut quotients, &divisors);
        }
        for quotient in quotients.iter() {
            self.write(*quotient);
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
    for ((quotient, divisor), product) in quotients.iter_mut().zip(divisors).zip(products.iter()).rev() {
        if *divisor == Fp::ZERO {
            *quotient = Fp::ZERO;
        } else {
            *quotient *= inverse * *product;
            inverse *= *divisor;
        }
    }
}
