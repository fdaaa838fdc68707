//! Goldilocks inside of BN254's scalar field: integers that stand for their residues modulo p = 2^64 - 2^32 + 1.
//!
//! Sums and products are those of integers, with an upper bound that stays below r, BN254's modulus, so that nothing wraps around. An
//! integer V is reduced only when its bound grows too large: V = q p + x with x below 2^64, and q in a range that the bound of V gives. Both
//! sides are below r, so the equation holds for integers. x may be p or more: it is a representative, not the canonical one.

use proofmill_field::{
    Algebra, Field,
    bn254::Fr,
    goldilocks::{Goldilocks, MODULUS},
};
use proofmill_plonk::{Circuit, Variable};
use std::{array, cmp::Ordering};

/// The bits of a representative.
pub(crate) const WORD: u32 = 64;

/// The largest value that an integer from 0 on can have: 256 bits, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound(pub(crate) [u64; 4]);

impl Bound {
    /// 2^252. No integer is larger: twice as much, and a word, is still below r, which is above 1.5 * 2^253.
    pub(crate) const LARGEST: Self = Self([0, 0, 0, 1 << 60]);
    /// 2^120, the bound for factors of many products: a sum of many products of two such factors stays below the largest bound.
    const FACTOR: Self = Self([0, 1 << 56, 0, 0]);

    pub(crate) fn word(value: u64) -> Self {
        Self([value, 0, 0, 0])
    }

    /// `2^exponent`, for an exponent below 256.
    pub(crate) fn power(exponent: u32) -> Self {
        let mut words = [0; 4];
        words[exponent as usize / 64] = 1 << (exponent % 64);
        Self(words)
    }

    /// The bound of integers with this many bits.
    pub(crate) fn of_bits(bits: u32) -> Self {
        Self(array::from_fn(|index| match bits.saturating_sub(64 * index as u32) {
            bits @ 0..64 => (1 << bits) - 1,
            _ => u64::MAX,
        }))
    }

    /// The bits of every integer up to the bound.
    pub(crate) fn bits(self) -> u32 {
        let highest = self.0.iter().rposition(|word| *word > 0);
        highest.map_or(0, |index| 64 * index as u32 + u64::BITS - self.0[index].leading_zeros())
    }

    /// The bits of a quotient by p.
    pub(crate) fn quotient_bits(self) -> u32 {
        Self(divided(self.0).0).bits()
    }

    /// The bound of a sum. Both are at most 2^254.
    pub(crate) fn plus(self, other: Self) -> Self {
        debug_assert!(self.bits().max(other.bits()) <= 255);
        let mut carry = false;
        Self(array::from_fn(|index| {
            let (sum, first) = self.0[index].overflowing_add(other.0[index]);
            let (sum, second) = sum.overflowing_add(carry.into());
            carry = first | second;
            sum
        }))
    }

    /// The bound of a product; 2^254, which is too large, if it has more bits.
    pub(crate) fn times(self, other: Self) -> Self {
        if self.bits() + other.bits() > 254 {
            return Self::power(254);
        }
        let mut words = [0; 4];
        for (start, factor) in self.0.into_iter().enumerate() {
            let mut carry = 0;
            for (word, other) in words[start..].iter_mut().zip(other.0) {
                let sum = u128::from(factor) * u128::from(other) + u128::from(*word) + carry;
                (*word, carry) = (sum as u64, sum >> 64);
            }
        }
        Self(words)
    }
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
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
fn divided(integer: [u64; 4]) -> ([u64; 4], u64) {
    let (mut quotient, mut rest) = ([0; 4], 0_u128);
    for (digit, word) in quotient.iter_mut().zip(integer).rev() {
        let value = rest << 64 | u128::from(word);
        (*digit, rest) = ((value / u128::from(MODULUS)) as u64, value % u128::from(MODULUS));
    }
    (quotient, rest as u64)
}

/// The quotient of an element by p as integers, and the remainder.
fn divided_element(integer: Fr) -> (Fr, u64) {
    let (quotient, rest) = divided(integer.to_canonical());
    (Fr::from_canonical(quotient).unwrap_or_default(), rest)
}

impl Residue {
    pub(crate) fn constant(value: Goldilocks) -> Self {
        let value = value.to_canonical();
        Self { terms: Vec::new(), constant: word(value), most: Bound::word(value) }
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
        self.terms.is_empty().then(|| Goldilocks::new(divided_element(self.constant).1))
    }

    fn integer(&self, circuit: &Circuit) -> Fr {
        self.terms
            .iter()
            .fold(self.constant, |sum, (variable, factor)| sum + circuit.value(*variable) * *factor)
    }

    /// The residue.
    pub(crate) fn value(&self, circuit: &Circuit) -> Goldilocks {
        Goldilocks::new(divided_element(self.integer(circuit)).1)
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
        if self.most <= Bound::of_bits(WORD) {
            return self.clone().gathered(circuit);
        }
        if let Some(value) = self.as_constant() {
            return Self::constant(value);
        }
        let (quotient, rest) = divided_element(self.integer(circuit));
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
        if self.most > Bound::FACTOR {
            return self.reduced(circuit);
        }
        self.clone().gathered(circuit)
    }

    /// Constrains the residue to be 0.
    pub(crate) fn assert_zero(&self, circuit: &mut Circuit) {
        let quotient = circuit.witness(divided_element(self.integer(circuit)).0);
        circuit.range(quotient, self.most.quotient_bits());
        let mut terms = self.terms.clone();
        terms.push((quotient, -word(MODULUS)));
        circuit.assert_linear_zero(&terms, self.constant);
    }

    pub(crate) fn add(&self, circuit: &mut Circuit, other: &Self) -> Self {
        let most = self.most.plus(other.most);
        if most > Bound::LARGEST {
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
        if self.most > Bound::power(250) {
            return self.reduced(circuit).negated(circuit);
        }
        // A multiple of p that is not less than the bound: the difference is not negative.
        let exponent = self.most.quotient_bits();
        Self {
            terms: self.terms.iter().map(|(variable, factor)| (*variable, -*factor)).collect(),
            constant: multiple(exponent) - self.constant,
            most: Bound::word(MODULUS).times(Bound::power(exponent)),
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
        // The smaller factor gives the smaller bound.
        if opposite < by {
            return self.scale(circuit, Goldilocks::new(opposite)).negated(circuit);
        }
        let most = self.most.times(Bound::word(by));
        if most > Bound::LARGEST {
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
            let product = a.most.times(b.most);
            if sum.most.plus(product) > Bound::LARGEST {
                sum = sum.reduced(circuit);
            }
            let (a, b) = (a.variable(circuit), b.variable(circuit));
            let variable = circuit.quadratic((Fr::ONE, a, b), &sum.terms, sum.constant);
            let most = sum.most.plus(product);
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
    let most = |element: &[Residue; D]| {
        element.iter().map(|coordinate| coordinate.most).max().unwrap_or(Bound::word(0))
    };
    for _ in 0..2 {
        if most(&a).times(most(&b)).times(Bound::word(8)) > Bound::LARGEST {
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
