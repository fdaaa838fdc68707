//! The verifier's equation from the challenges and the values of a proof, for values of any type: scalars, or the
//! expressions of a contract.
//!
//! Let `r_0, r_1, r_2` be the polynomials of degree below 8, 4 and 6 that agree with C0, C1, C2 on the points where
//! they are opened, and `H_0 = y^8 - xi`, `H_1 = y^4 - xi`, `H_2 = (y^3 - xi)(y^3 - xi omega)` the values at y of
//! the polynomials that vanish there. The proof is valid if
//! `C0 + alpha H_0/H_1 C1 + alpha^2 H_0/H_2 C2 - (r_0(y) + alpha H_0/H_1 r_1(y) + alpha^2 H_0/H_2 r_2(y)) - H_0 W1`
//! has the value zero at y, which W2 shows (section 4 of the paper).
//!
//! The coefficients of r_0 and r_1 are the opened values themselves, because C0 at an 8th root h of xi is
//! `sum of h^j f_j(xi)`. The same holds for C2 at cube roots of xi and of xi omega; r_2 interpolates these two
//! polynomials of X. (snarkjs uses Lagrange's formula over all 18 points.)
//!
//! A proof has the inverse of a product P of everything that snarkjs's verifiers divide by. With the roots of unity
//! multiplied out, `P = c xi^20 H_0 H_1^2 H_2^2 Z (product of xi - omega^i for i below max(l, 1))` with
//! `c = -8^8 4^4 3^6 omega^2 (1 - omega)^6 n^max(l, 1)`, where `Z = xi^n - 1` and l is the number of public inputs.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::VerifyingKey;
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};

/// The values of the key in the formulas.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyConstants<A> {
    /// The generator of the domain, omega.
    pub(super) root: A,
    /// `1 / (1 - omega)`.
    inverse_difference: A,
    /// The constant factor of P.
    product: A,
    k1: A,
    k2: A,
}

impl KeyConstants<Fr> {
    /// The constants of a key, or `None` if there is no such domain.
    pub(super) fn new(key: &VerifyingKey) -> Option<Self> {
        let root = Fr::root_of_unity(key.power)?;
        let difference = Fr::ONE - root;
        let lagrange = u64::from(key.public.max(1));
        // -8^8 4^4 3^6, from Lagrange's denominators at 8th, 4th and cube roots.
        let number = -Fr::from((1 << 24) * (1 << 8) * 729);
        let product = number
            * root.square()
            * difference.pow_vartime(&[6])
            * Fr::from(1 << key.power).pow_vartime(&[lagrange]);
        let inverse_difference = difference.invert_vartime()?;
        Some(Self { root, inverse_difference, product, k1: key.k1, k2: key.k2 })
    }

    /// Applies `f` to every value.
    pub(super) fn map<B>(&self, mut f: impl FnMut(Fr) -> B) -> KeyConstants<B> {
        let Self { root, inverse_difference, product, k1, k2 } = *self;
        KeyConstants {
            root: f(root),
            inverse_difference: f(inverse_difference),
            product: f(product),
            k1: f(k1),
            k2: f(k2),
        }
    }
}

/// Everything that vanishes at the points of the openings and the domain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vanishing<A> {
    xi: A,
    y: A,
    /// `y^3 - xi` and `y^3 - xi omega`.
    cubes: [A; 2],
    h0: A,
    h1: A,
    h2: A,
    /// `xi^n - 1`.
    domain: A,
}

impl<A: Algebra> Vanishing<A> {
    pub(super) fn new(constants: &KeyConstants<A>, xi: A, y: A, domain: A) -> Self {
        let square = y.square();
        let (cube, fourth) = (square * y, square.square());
        let cubes = [cube - xi, cube - xi * constants.root];
        let [here, after] = cubes;
        Self { xi, y, cubes, h0: fourth.square() - xi, h1: fourth - xi, h2: here * after, domain }
    }

    /// The values other than xi and y.
    pub(super) fn words(&self) -> [A; 6] {
        let [here, after] = self.cubes;
        [here, after, self.h0, self.h1, self.h2, self.domain]
    }

    /// The inverse of [`Self::words`].
    pub(super) fn of_words(xi: A, y: A, [here, after, h0, h1, h2, domain]: [A; 6]) -> Self {
        Self { xi, y, cubes: [here, after], h0, h1, h2, domain }
    }

    /// The factor of P without those of [`Self::inverted`] and of the product of `xi - omega^i`.
    pub(super) fn repeated(&self, constants: &KeyConstants<A>) -> A {
        let square = self.xi.square();
        let sixteenth = square.square().square().square();
        constants.product * sixteenth * square * self.xi * self.h0 * self.h1 * self.h2
    }

    /// The product of the values to be inverted: xi, H_1, H_2, Z.
    pub(super) fn inverted(&self) -> A {
        self.xi * self.h1 * self.h2 * self.domain
    }
}

/// The challenges in the equation, and the values at xi that the verifier computes itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct EquationInputs<A> {
    pub(super) beta: A,
    pub(super) gamma: A,
    pub(super) alpha: A,
    /// The inverse of [`Vanishing::inverted`].
    pub(super) inverse: A,
    /// `L_1(xi)`.
    pub(super) first_lagrange: A,
    /// `PI(xi)`.
    pub(super) public_input: A,
}

/// The factors of the points in the equation; that of C0 is 1 and that of W2 is y.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors<A> {
    pub(super) c1: A,
    pub(super) c2: A,
    pub(super) generator: A,
    pub(super) w1: A,
}

/// The factors for the values of a proof, in its order.
pub(super) fn factors<A: Algebra>(
    constants: &KeyConstants<A>,
    vanishing: &Vanishing<A>,
    known: &EquationInputs<A>,
    evaluations: &[A; 15],
) -> Factors<A> {
    let [ql, qr, qm, qo, qc, s1, s2, s3, a, b, c, z, zw, t1w, t2w] = *evaluations;
    let &Vanishing { xi, y, cubes: [here, after], h0, h1, h2, domain } = vanishing;
    let &EquationInputs { beta, gamma, alpha, inverse, first_lagrange, public_input } = known;
    let one = A::one(xi.token());
    // From the one inverse of xi H_1 H_2 Z: the inverses of xi, Z, H_1 and H_2.
    let (openings, without_domain) = (h1 * h2, inverse * domain);
    let [inverse_xi, inverse_domain] = [without_domain * openings, inverse * xi * openings];
    let without_domain = without_domain * xi;
    let [inverse_h1, inverse_h2] = [without_domain * h2, without_domain * h1];

    // The values at xi of the quotients: the constraints divided by Z.
    let t0 = (ql * a + qr * b + qm * a * b + qo * c + qc + public_input) * inverse_domain;
    let t1 = (z - one) * first_lagrange * inverse_domain;
    // The labels of the wires on the row at xi are xi, k1 xi and k2 xi.
    let label = beta * xi;
    let own =
        (a + label + gamma) * (b + constants.k1 * label + gamma) * (c + constants.k2 * label + gamma) * z;
    let other = (a + beta * s1 + gamma) * (b + beta * s2 + gamma) * (c + beta * s3 + gamma) * zw;
    let t2 = (own - other) * inverse_domain;

    // The value at y, by Horner's rule.
    let polynomial = |coefficients: &[A]| {
        let mut descending = coefficients.iter().rev().copied();
        let highest = descending.next().unwrap_or(one);
        descending.fold(highest, |value, coefficient| value * y + coefficient)
    };
    let r0 = polynomial(&[ql, qr, qo, qm, qc, s1, s2, s3]);
    let r1 = polynomial(&[a, b, c, t0]);
    // At cube roots of xi the second summand is zero, at those of xi omega the first one is.
    let interpolated = polynomial(&[z, t1, t2]) * after - polynomial(&[zw, t1w, t2w]) * here;
    // Divided by xi - xi omega, which both denominators of the interpolation are up to sign.
    let r2 = interpolated * inverse_xi * constants.inverse_difference;
    let alpha_h0 = alpha * h0;
    let (c1, c2) = (alpha_h0 * inverse_h1, alpha * alpha_h0 * inverse_h2);
    // The equation was multiplied by H_0, so that the point C0 of the key has the factor 1.
    Factors { c1, c2, generator: -(r0 + c1 * r1 + c2 * r2), w1: -h0 }
}
