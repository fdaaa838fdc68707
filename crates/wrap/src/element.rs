//! The cubic extension of Goldilocks, with x^3 = x + 1.

use crate::residue::{Residue, factors};
use proofmill_field::{
    Field, Invert,
    goldilocks::{Extension, Goldilocks},
};
use proofmill_plonk::Circuit;

/// The degree of the extension.
pub(crate) const DEGREE: usize = 3;

/// An element of the cubic extension outside of circuits.
pub(crate) type Cubic = Extension<Goldilocks, DEGREE>;

/// An element: its coordinates for 1, x and x^2.
#[derive(Clone, Debug)]
pub(crate) struct Element(pub(crate) [Residue; DEGREE]);

impl Element {
    pub(crate) fn of_base(base: Residue) -> Self {
        Self([base, Residue::zero(), Residue::zero()])
    }

    pub(crate) fn constant(base: Goldilocks) -> Self {
        Self::of_base(Residue::constant(base))
    }

    pub(crate) fn zero() -> Self {
        Self::constant(Goldilocks::ZERO)
    }

    pub(crate) fn one() -> Self {
        Self::constant(Goldilocks::ONE)
    }

    pub(crate) fn value(&self, circuit: &Circuit) -> Cubic {
        Extension(self.0.each_ref().map(|coordinate| coordinate.value(circuit)))
    }

    /// The same element with coordinates that are ready to be factors.
    pub(crate) fn factor(&self, circuit: &mut Circuit) -> Self {
        Self(self.0.each_ref().map(|coordinate| coordinate.factor(circuit)))
    }

    pub(crate) fn reduced(&self, circuit: &mut Circuit) -> Self {
        Self(self.0.each_ref().map(|coordinate| coordinate.reduced(circuit)))
    }

    pub(crate) fn add(&self, circuit: &mut Circuit, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].add(circuit, &other.0[i])))
    }

    pub(crate) fn sub(&self, circuit: &mut Circuit, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].sub(circuit, &other.0[i])))
    }

    pub(crate) fn scale(&self, circuit: &mut Circuit, by: Goldilocks) -> Self {
        Self(self.0.each_ref().map(|coordinate| coordinate.scale(circuit, by)))
    }

    /// This times x.
    pub(crate) fn shifted(&self, circuit: &mut Circuit) -> Self {
        let [a, b, c] = &self.0;
        Self([c.clone(), a.add(circuit, c), b.clone()])
    }

    /// This and the product: nine rows.
    pub(crate) fn add_product(&self, circuit: &mut Circuit, a: &Self, b: &Self) -> Self {
        let [[a0, a1, a2], [b0, b1, b2]] = &factors(circuit, [&a.0, &b.0]);
        // Of x^3 and x^4: x + 1 and x^2 + x.
        let cubes = Residue::zero().add_products(circuit, [(a1, b2), (a2, b1)]);
        let fourths = Residue::zero().add_products(circuit, [(a2, b2)]);
        let [c0, c1, c2] = &self.0;
        let c0 = c0.add(circuit, &cubes);
        let c1 = c1.add(circuit, &cubes).add(circuit, &fourths);
        let c2 = c2.add(circuit, &fourths);
        Self([
            c0.add_products(circuit, [(a0, b0)]),
            c1.add_products(circuit, [(a0, b1), (a1, b0)]),
            c2.add_products(circuit, [(a0, b2), (a1, b1), (a2, b0)]),
        ])
    }

    pub(crate) fn mul(&self, circuit: &mut Circuit, other: &Self) -> Self {
        Self::zero().add_product(circuit, self, other)
    }

    pub(crate) fn square(&self, circuit: &mut Circuit) -> Self {
        let factor = self.factor(circuit);
        factor.mul(circuit, &factor)
    }

    /// This and an element times a base element: three rows.
    pub(crate) fn add_scaled(&self, circuit: &mut Circuit, element: &Self, by: &Residue) -> Self {
        Self(std::array::from_fn(|i| self.0[i].add_products(circuit, [(&element.0[i], by)])))
    }

    /// Constrains both to be equal.
    pub(crate) fn assert_equal(&self, circuit: &mut Circuit, other: &Self) {
        self.sub(circuit, other).0.iter().for_each(|coordinate| coordinate.assert_zero(circuit));
    }

    /// The quotient by an element that the caller knows not to be zero.
    pub(crate) fn quotient(&self, circuit: &mut Circuit, by: &Self) -> Self {
        let inverse = by.value(circuit).invert_vartime().unwrap_or(Extension::ZERO);
        let value = self.value(circuit) * inverse;
        let quotient = Self(value.0.map(|coordinate| Residue::witness(circuit, coordinate)));
        quotient.mul(circuit, by).assert_equal(circuit, self);
        quotient
    }
}
