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
pub(crate) struct CubicElement(pub(crate) [Residue; DEGREE]);

impl CubicElement {
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

    /// This and the products of pairs: nine rows for each.
    pub(crate) fn add_products<'a>(
        &self,
        circuit: &mut Circuit,
        pairs: impl IntoIterator<Item = (&'a Self, &'a Self)>,
    ) -> Self {
        let zero = Residue::zero();
        let [c0, c1, c2] = &self.0;
        // The coefficients of 1 to x^4.
        let mut sums = [c0, c1, c2, &zero, &zero].map(Residue::clone);
        for (a, b) in pairs {
            let [a, b] = factors(circuit, [&a.0, &b.0]);
            for (degree, sum) in sums.iter_mut().enumerate() {
                let pairs = (degree.saturating_sub(DEGREE - 1)..DEGREE.min(degree + 1))
                    .map(|place| (&a[place], &b[degree - place]));
                *sum = sum.add_products(circuit, pairs);
            }
        }
        // x^3 = x + 1, x^4 = x^2 + x.
        let [s0, s1, s2, s3, s4] = &sums;
        let s1 = s1.add(circuit, s3);
        Self([s0.add(circuit, s3), s1.add(circuit, s4), s2.add(circuit, s4)])
    }

    pub(crate) fn mul(&self, circuit: &mut Circuit, other: &Self) -> Self {
        Self::zero().add_products(circuit, [(self, other)])
    }

    pub(crate) fn square(&self, circuit: &mut Circuit) -> Self {
        let factor = self.factor(circuit);
        factor.mul(circuit, &factor)
    }

    /// This times a base element: three rows.
    pub(crate) fn scaled(&self, circuit: &mut Circuit, by: &Residue) -> Self {
        Self(self.0.each_ref().map(|coordinate| coordinate.mul(circuit, by)))
    }

    /// This and the products of elements with base elements: three rows for each.
    pub(crate) fn add_scaled<'a>(
        &self,
        circuit: &mut Circuit,
        pairs: impl IntoIterator<Item = (&'a Self, &'a Residue), IntoIter: Clone>,
    ) -> Self {
        let pairs = pairs.into_iter();
        Self(std::array::from_fn(|i| {
            let pairs = pairs.clone().map(|(element, by)| (&element.0[i], by));
            self.0[i].add_products(circuit, pairs)
        }))
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
