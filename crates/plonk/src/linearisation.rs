//! The identity at xi as a combination of committed polynomials (the paper's r(X), section 8.3).
//!
//! With the wires, S1, S2 and the shifted z replaced by their values at xi, what is left is linear in
//! polynomials whose commitments everyone has. The prover adds the polynomials up, the verifier the points.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Evaluations, SELECTORS, Standard, StandardTerms, VerifyingKey, WIRES,
    arithmetisation::permutation_factor, challenges::Challenges, polynomial::repeated_square,
};
use proofmill_field::{Algebra, Field, batch_invert, bn254::Fr};

/// Factors of the committed polynomials; the combination, plus `constant`, is zero at xi.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linearisation {
    /// Of the selectors.
    pub(crate) selectors: [Fr; SELECTORS],
    /// Of z.
    pub(crate) grand_product: Fr,
    /// Of S3.
    pub(crate) last_sigma: Fr,
    /// Of the quotient's three parts.
    pub(crate) quotient: [Fr; 3],
    /// What has no polynomial (the paper's r_0).
    pub(crate) constant: Fr,
}

impl Linearisation {
    /// The factors for the challenges (v and u are not used); `None` if xi is in the domain, where the
    /// identity says nothing. `public` has as many values as the key says, and the domain as many rows.
    pub(crate) fn new(
        key: &VerifyingKey,
        public: &[Fr],
        challenges: &Challenges,
        evaluations: &Evaluations,
    ) -> Option<Self> {
        let &Challenges { beta, gamma, alpha, xi, .. } = challenges;
        let xi_n = repeated_square(xi, key.log_n);
        let vanishing = xi_n - Fr::ONE;
        if vanishing.is_zero() {
            return None;
        }
        let (first_lagrange, public_input) = public_input(key.log_n, public, xi, vanishing)?;

        let [k1, k2] = key.multipliers;
        let [a, b, c] = evaluations.wires;
        let [s1, s2] = evaluations.sigmas;
        let shifted = evaluations.shifted_grand_product;
        let labels = [xi, k1 * xi, k2 * xi].map(|label| beta * label);
        let identity = alpha * permutation_factor([a, b, c], labels, gamma);
        // (a + beta s1 + gamma)(b + beta s2 + gamma)(c + beta S3(X) + gamma) z(xi omega) alpha, apart from its
        // last factor, which is linear in S3.
        let sigma = alpha * shifted * (a + beta * s1 + gamma) * (b + beta * s2 + gamma);
        let start = alpha.square() * first_lagrange;
        Some(Self {
            selectors: Standard::terms::<Fr>([a, b, c]),
            grand_product: identity + start,
            last_sigma: -(sigma * beta),
            quotient: [-vanishing, -(vanishing * xi_n), -(vanishing * xi_n.square())],
            constant: public_input - sigma * (c + gamma) - start,
        })
    }
}

/// `L_1(xi)` and `PI(xi) = -sum of public[i] L_(i+1)(xi)`, where `vanishing = xi^n - 1` is not zero and
/// `L_i(xi) = omega^(i-1) vanishing / (n (xi - omega^(i-1)))`.
fn public_input(log_n: u32, public: &[Fr], xi: Fr, vanishing: Fr) -> Option<(Fr, Fr)> {
    let root = Fr::root_of_unity(log_n)?;
    let roots = std::iter::successors(Some(Fr::ONE), |power| Some(*power * root));
    let size = Fr::from(1 << log_n);
    let mut lagrange: Vec<Fr> =
        roots.clone().take(public.len().max(1)).map(|power| size * (xi - power)).collect();
    batch_invert(&mut lagrange);
    for (value, power) in lagrange.iter_mut().zip(roots) {
        *value = *value * power * vanishing;
    }
    let sum = public.iter().zip(&lagrange).fold(Fr::ZERO, |sum, (input, value)| sum - *input * *value);
    Some((*lagrange.first()?, sum))
}

/// The powers v, v^2, ... with which the openings of a, b, c, S1, S2 are folded.
pub(crate) fn opening_factors(v: Fr) -> [Fr; 2 * WIRES - 1] {
    let mut power = Fr::ONE;
    [(); 2 * WIRES - 1].map(|()| {
        power *= v;
        power
    })
}
