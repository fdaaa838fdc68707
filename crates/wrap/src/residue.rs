//! Goldilocks inside of BN254's scalar field: integers that stand for their residues modulo p = 2^64 - 2^32 + 1.
//!
//! Sums and products are those of integers, with an upper bound that stays below r, BN254's modulus, so that nothing wraps around. Only when
//! a bound grows too large is an integer V reduced: V = q p + x with x below 2^64 and q in a range that the bound of V gives. Both sides
//! are below r, so the equation holds for integers. x may be p or more: it is a representative, not the canonical one.

use proofmill_field::{
    Algebra, Field,
    bn254::Fr,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_plonk::{Circuit, Variable};
use std::array;

/// The bits of a representative.
pub(crate) const WORD: u32 = 64;

/// An upper bound of an integer from 0 on.
#[derive(Clone, Copy, Debug)]
struct Bound(f64);

impl Bound {
    /// No integer is larger: twice as much, and a word, is still below r, which is above 1.5 * 2^253.
    const LARGEST: f64 =
        (1_u64 << 63) as f64 * (1_u64 << 63) as f64 * (1_u64 << 63) as f64 * (1_u64 << 63) as f64;
    /// The most of what is a factor of many products: two of them, many times over, stay below the largest.
    const FACTOR: f64 = (1_u64 << 60) as f64 * (1_u64 << 60) as f64;
    /// More than what rounding loses in any circuit: each operation loses 2^-53 at most.
    const ROUNDING: f64 = 1.0 + 1.0 / (1_u64 << 20) as f64;

    fn of_bits(bits: u32) -> Self {
        Self(2_f64.powi(bits as i32))
    }

    /// The bits of every integer up to the bound.
    fn bits(self) -> u32 {
        let bound = self.0 * Self::ROUNDING;
        if bound < 1.0 { 0 } else { (bound.to_bits() >> 52) as u32 - 1022 }
    }

    /// The bits of a quotient by p.
    fn quotient_bits(self) -> u32 {
        Self(self.0 / MODULUS as f64).bits()
    }
}

/// An integer as a sum of variables with factors, which stands for its residue modulo p.
#[derive(Clone, Debug)]
pub(crate) struct Residue {
    terms: Vec<(Variable, Fr)>,
    constant: Fr,
    most: Bound,
}

/// The most terms of a sum that is not yet a variable.
const TERMS: usize = 8;

fn word(value: u64) -> Fr {
    Fr::from(value)
}

/// `p 2^exponent`.
fn multiple(exponent: u32) -> Fr {
    (0..exponent).fold(word(MODULUS), |multiple, _| multiple.double())
}

/// The quotient by p, and the remainder.
fn divided(integer: Fr) -> (Fr, u64) {
    let (mut quotient, mut rest) = ([0; 4], 0_u128);
    for (digit, word) in quotient.iter_mut().zip(integer.to_canonical()).rev() {
        let value = rest << 64 | u128::from(word);
        (*digit, rest) = ((value / u128::from(MODULUS)) as u64, value % u128::from(MODULUS));
    }
    (Fr::from_canonical(quotient).unwrap_or_default(), rest as u64)
}

impl Residue {
    pub(crate) fn constant(value: Goldilocks) -> Self {
        let value = value.to_canonical();
        Self { terms: Vec::new(), constant: word(value), most: Bound(value as f64) }
    }

    pub(crate) fn zero() -> Self {
        Self::constant(Goldilocks::ZERO)
    }

    /// A variable that is constrained to be below `2^bits`.
    pub(crate) fn of(variable: Variable, bits: u32) -> Self {
        Self { terms: vec![(variable, Fr::ONE)], constant: Fr::ZERO, most: Bound::of_bits(bits) }
    }

    /// A new variable with this value, which is constrained to be below 2^64.
    pub(crate) fn witness(circuit: &mut Circuit, value: Goldilocks) -> Self {
        let variable = circuit.witness(word(value.to_canonical()));
        circuit.range(variable, WORD);
        Self::of(variable, WORD)
    }

    /// The value, if it is a constant.
    fn as_constant(&self) -> Option<Goldilocks> {
        self.terms.is_empty().then(|| Goldilocks::new(divided(self.constant).1))
    }

    fn integer(&self, circuit: &Circuit) -> Fr {
        self.terms
            .iter()
            .fold(self.constant, |sum, (variable, factor)| sum + circuit.value(*variable) * *factor)
    }

    /// The residue.
    pub(crate) fn value(&self, circuit: &Circuit) -> Goldilocks {
        Goldilocks::new(divided(self.integer(circuit)).1)
    }

    /// The integer as a variable.
    pub(crate) fn variable(&self, circuit: &mut Circuit) -> Variable {
        circuit.linear(&self.terms, self.constant)
    }

    /// The same integer with one term.
    fn gathered(self, circuit: &mut Circuit) -> Self {
        if self.terms.is_empty() {
            return self;
        }
        let variable = self.variable(circuit);
        Self { terms: vec![(variable, Fr::ONE)], constant: Fr::ZERO, most: self.most }
    }

    /// The same residue below 2^64, as a variable or a constant.
    pub(crate) fn reduced(&self, circuit: &mut Circuit) -> Self {
        if self.most.0 <= Bound::of_bits(WORD).0 {
            return self.clone().gathered(circuit);
        }
        if let Some(value) = self.as_constant() {
            return Self::constant(value);
        }
        let (quotient, rest) = divided(self.integer(circuit));
        let [quotient, rest] = [quotient, word(rest)].map(|value| circuit.witness(value));
        self.assert_divided(circuit, quotient, rest)
    }

    /// Constrains the integer to be the quotient times p plus the rest, which is below 2^64.
    pub(crate) fn assert_divided(&self, circuit: &mut Circuit, quotient: Variable, rest: Variable) -> Self {
        circuit.range(quotient, self.most.quotient_bits());
        circuit.range(rest, WORD);
        let mut terms = self.terms.clone();
        terms.extend([(quotient, -word(MODULUS)), (rest, -Fr::ONE)]);
        circuit.assert_linear_zero(&terms, self.constant);
        Self::of(rest, WORD)
    }

    /// The same residue, ready to be a factor of many products.
    pub(crate) fn factor(&self, circuit: &mut Circuit) -> Self {
        if self.most.0 > Bound::FACTOR {
            return self.reduced(circuit);
        }
        self.clone().gathered(circuit)
    }

    /// Constrains the residue to be 0.
    pub(crate) fn assert_zero(&self, circuit: &mut Circuit) {
        let quotient = circuit.witness(divided(self.integer(circuit)).0);
        circuit.range(quotient, self.most.quotient_bits());
        let mut terms = self.terms.clone();
        terms.push((quotient, -word(MODULUS)));
        circuit.assert_linear_zero(&terms, self.constant);
    }

    pub(crate) fn add(&self, circuit: &mut Circuit, other: &Self) -> Self {
        let most = Bound(self.most.0 + other.most.0);
        if most.0 > Bound::LARGEST {
            let (a, b) = (self.reduced(circuit), other.reduced(circuit));
            return a.add(circuit, &b);
        }
        let mut terms = self.terms.clone();
        for (variable, factor) in &other.terms {
            match terms.iter_mut().find(|(known, _)| known == variable) {
                Some((_, sum)) => *sum += *factor,
                None => terms.push((*variable, *factor)),
            }
        }
        let sum = Self { terms, constant: self.constant + other.constant, most };
        if sum.terms.len() > TERMS { sum.gathered(circuit) } else { sum }
    }

    /// A multiple of p less this integer.
    fn negated(&self, circuit: &mut Circuit) -> Self {
        if let Some(value) = self.as_constant() {
            return Self::constant(-value);
        }
        if self.most.0 > Bound::LARGEST / 4.0 {
            return self.reduced(circuit).negated(circuit);
        }
        let exponent = self.most.quotient_bits();
        Self {
            terms: self.terms.iter().map(|(variable, factor)| (*variable, -*factor)).collect(),
            constant: multiple(exponent) - self.constant,
            most: Bound(MODULUS as f64 * Bound::of_bits(exponent).0),
        }
    }

    pub(crate) fn sub(&self, circuit: &mut Circuit, other: &Self) -> Self {
        let negated = other.negated(circuit);
        self.add(circuit, &negated)
    }

    pub(crate) fn scale(&self, circuit: &mut Circuit, by: Goldilocks) -> Self {
        if let Some(value) = self.as_constant() {
            return Self::constant(value * by);
        }
        let (by, opposite) = (by.to_canonical(), (-by).to_canonical());
        if opposite < by {
            return self.scale(circuit, Goldilocks::new(opposite)).negated(circuit);
        }
        let most = Bound(self.most.0 * by as f64);
        if most.0 > Bound::LARGEST {
            return self.reduced(circuit).scale(circuit, Goldilocks::new(by));
        }
        if by == 0 {
            return Self::zero();
        }
        let terms = self.terms.iter().map(|(variable, factor)| (*variable, *factor * word(by)));
        Self { terms: terms.collect(), constant: self.constant * word(by), most }
    }

    /// This and the products of pairs: a row for each.
    pub(crate) fn add_products<'a>(
        &self,
        circuit: &mut Circuit,
        pairs: impl IntoIterator<Item = (&'a Self, &'a Self)>,
    ) -> Self {
        let mut sum = self.clone();
        for (a, b) in pairs {
            let constants = (a.as_constant(), b.as_constant());
            if let (Some(constant), _) | (_, Some(constant)) = constants {
                let product = if constants.0.is_some() { b } else { a }.scale(circuit, constant);
                sum = sum.add(circuit, &product);
                continue;
            }
            let [[a], [b]] = factors(circuit, [array::from_ref(a), array::from_ref(b)]);
            let product = Bound(a.most.0 * b.most.0);
            if sum.most.0 + product.0 > Bound::LARGEST {
                sum = sum.reduced(circuit);
            }
            let (a, b) = (a.variable(circuit), b.variable(circuit));
            let variable = circuit.quadratic((Fr::ONE, a, b), &sum.terms, sum.constant);
            let most = Bound(sum.most.0 + product.0);
            sum = Self { terms: vec![(variable, Fr::ONE)], constant: Fr::ZERO, most };
        }
        sum
    }

    pub(crate) fn mul(&self, circuit: &mut Circuit, other: &Self) -> Self {
        Self::zero().add_products(circuit, [(self, other)])
    }
}

/// Coordinates of two elements as factors: reduced if eight products of them were too large, those of the larger element first.
pub(crate) fn factors<const D: usize>(
    circuit: &mut Circuit,
    factors: [&[Residue; D]; 2],
) -> [[Residue; D]; 2] {
    let [mut a, mut b] = factors.map(|factor| factor.clone().map(|coordinate| coordinate.gathered(circuit)));
    let most =
        |element: &[Residue; D]| element.iter().map(|coordinate| coordinate.most.0).fold(0.0, f64::max);
    for _ in 0..2 {
        if most(&a) * most(&b) * 8.0 > Bound::LARGEST {
            let larger = if most(&a) > most(&b) { &mut a } else { &mut b };
            *larger = larger.each_ref().map(|coordinate| coordinate.reduced(circuit));
        }
    }
    [a, b]
}

/// Constrains a variable below 2^64 to be below p.
pub(crate) fn assert_canonical(circuit: &mut Circuit, variable: Variable) {
    let difference = circuit.linear(&[(variable, -Fr::ONE)], word(MODULUS - 1));
    circuit.range(difference, WORD);
}

/// A new variable with this value, which is constrained to be below p.
pub(crate) fn canonical(circuit: &mut Circuit, value: Goldilocks) -> Variable {
    let variable = circuit.witness(word(value.to_canonical()));
    circuit.range(variable, WORD);
    assert_canonical(circuit, variable);
    variable
}

/// The largest bound, and the bits of its quotient.
#[cfg(test)]
pub(crate) fn largest() -> (f64, u32) {
    (Bound::LARGEST * Bound::ROUNDING, Bound(Bound::LARGEST).quotient_bits())
}
