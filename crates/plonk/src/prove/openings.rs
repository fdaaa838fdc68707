//! Rounds 4 and 5: the values at xi and the polynomials that prove them.

use super::{Opened, Polynomials, Prover};
use crate::{
    Evaluations, PlonkError, SELECTORS, WIRES,
    challenges::Challenges,
    linearisation::{Linearisation, opening_factors},
    polynomial::{divide_by_linear, evaluate, linear_combination},
};
use proofmill_field::{Field, bn254::Fr};

impl Prover<'_> {
    /// Step 4.2: the wires, S1 and S2 at xi, z at xi omega.
    pub(super) fn round4_evaluate(
        &mut self,
        Polynomials { wires, grand_product }: &Polynomials,
        xi: Fr,
    ) -> Result<Opened, PlonkError> {
        self.phase("open");
        let mut sigmas = [const { Vec::new() }; WIRES - 1];
        for (wire, coefficients) in sigmas.iter_mut().enumerate() {
            *coefficients = self.key.sigma_coefficients(self.level, wire)?;
        }
        let at_xi = |coefficients: &Vec<Fr>| evaluate(self.level, coefficients, xi);
        let evaluations = Evaluations {
            wires: wires.each_ref().map(at_xi),
            sigmas: sigmas.each_ref().map(at_xi),
            shifted_grand_product: evaluate(self.level, grand_product, xi * self.domain.root()),
        };
        Ok(Opened { evaluations, sigmas })
    }

    /// Steps 5.2 to 5.4: the quotients of the folded openings at xi, and of z's at xi omega.
    pub(super) fn round5_open(
        &mut self,
        Polynomials { wires, grand_product }: Polynomials,
        quotient: [Vec<Fr>; 3],
        Opened { evaluations, sigmas }: &Opened,
        public: &[Fr],
        challenges: &Challenges,
    ) -> Result<[Vec<Fr>; 2], PlonkError> {
        self.phase("open");
        let key = self.key.verifying_key();
        // Nobody but the hash function can put xi into the domain.
        let linearisation =
            Linearisation::new(key, public, challenges, evaluations).ok_or(PlonkError::NotProven)?;
        let mut key_polynomials = Vec::with_capacity(SELECTORS + 1);
        for selector in 0..SELECTORS {
            key_polynomials.push(self.key.selector_coefficients(self.level, selector)?);
        }
        key_polynomials.push(self.key.sigma_coefficients(self.level, WIRES - 1)?);

        let folded = wires.iter().chain(sigmas);
        let values = evaluations.wires.iter().chain(&evaluations.sigmas);
        let factors = opening_factors(challenges.v);
        let mut terms: Vec<(Fr, &[Fr])> = factors.into_iter().zip(folded.map(Vec::as_slice)).collect();
        let key_factors = linearisation.selectors.into_iter().chain([linearisation.last_sigma]);
        terms.extend(key_factors.zip(key_polynomials.iter().map(Vec::as_slice)));
        terms.extend(linearisation.quotient.into_iter().zip(quotient.iter().map(Vec::as_slice)));
        terms.push((linearisation.grand_product, &grand_product));
        let mut opening = linear_combination(self.level, self.domain.len() + 6, &terms);
        opening[0] += linearisation.constant;
        opening[0] -= factors.into_iter().zip(values).fold(Fr::ZERO, |sum, (v, value)| sum + v * *value);
        let remainder = divide_by_linear(self.level, &mut opening, challenges.xi);
        if !remainder.is_zero() {
            return Err(PlonkError::NotProven);
        }
        opening.pop();

        let mut shifted_opening = grand_product;
        shifted_opening[0] -= evaluations.shifted_grand_product;
        let shifted_xi = challenges.xi * self.domain.root();
        let shifted_remainder = divide_by_linear(self.level, &mut shifted_opening, shifted_xi);
        debug_assert!(shifted_remainder.is_zero(), "what is subtracted is the value");
        shifted_opening.pop();
        Ok([opening, shifted_opening])
    }
}
