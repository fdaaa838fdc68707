//! Verification: one multi-scalar multiplication and a product of two pairings.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{
    FREE_ROWS, LOG_N, Proof, VerifyingKey,
    challenges::FflonkChallenges,
    equation::{EquationInputs, Factors, KeyConstants, Vanishing, factors},
};
use crate::{
    MalformedError, VerifyError,
    arithmetisation::linearisation::public_input,
    polynomial::repeated_square,
    verify::{check_multipliers, check_point, check_tau},
};
use proofmill_cpu::Level;
use proofmill_curve::{
    Curve,
    bn254::{G1, G2},
    msm,
};
use proofmill_field::{Field, Invert, bn254::Fr};
use proofmill_pairing::pairing_product_is_one;

/// Accepts a proof of knowledge of a witness of the key's circuit with these public inputs.
///
/// The inverse in the proof must be right, as in Solidity verifiers; snarkjs's JavaScript ignores it.
///
/// # Errors
/// [`VerifyError::Rejected`] if the equations do not hold. [`VerifyError::Malformed`] for a point that is not
/// on its curve (or, in G2, not in the subgroup), a number of public inputs that is not the key's, or a key that no
/// circuit has.
pub fn verify(level: Level, key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Result<(), VerifyError> {
    check_key(key)?;
    for (name, point) in ["C1", "C2", "W1", "W2"].iter().zip(&proof.points) {
        check_point(name, point)?;
    }
    if public.len() != key.public as usize {
        return Err(MalformedError::PublicInputs { expected: key.public, found: public.len() }.into());
    }
    let challenges = FflonkChallenges::of(key, public, proof);
    let equation = VerifierEquation::new(key, public, &challenges).ok_or(VerifyError::Rejected)?;
    if equation.inverse != proof.inverse {
        return Err(VerifyError::Rejected);
    }
    let Factors { c1, c2, generator, w1 } = equation.factors(&challenges, &proof.evaluations);
    let [first, second, opening, last] = proof.points;
    // The sum is `F + y W2`, and `F = (X - y) W2` holds at X = tau, so it pairs as `e(W2, X_2)`.
    let points = [key.c0, first, second, G1::GENERATOR, opening, last];
    let sum = msm::<G1>(level, &points, &[Fr::ONE, c1, c2, generator, w1, challenges.y]).to_affine();
    if pairing_product_is_one(level, &[(sum, G2::GENERATOR), (-last, key.x_2)]) {
        Ok(())
    } else {
        Err(VerifyError::Rejected)
    }
}

/// Checks every point and the sizes.
pub(super) fn check_key(key: &VerifyingKey) -> Result<(), MalformedError> {
    let &VerifyingKey { public, power, k1, k2, x_2, c0, insecure_setup: _ } = key;
    // Rows of public inputs must not reach the free rows.
    if !LOG_N.contains(&power) || u64::from(public) + FREE_ROWS as u64 > 1 << power {
        return Err(MalformedError::Key { log_n: power, public });
    }
    check_point(&"C0", &c0)?;
    check_tau(&x_2)?;
    check_multipliers(&[Fr::ONE, k1, k2], power)
}

/// The values of the verifier's equation that do not depend on the proof's values.
pub(super) struct VerifierEquation {
    constants: KeyConstants<Fr>,
    vanishing: Vanishing<Fr>,
    first_lagrange: Fr,
    public_input: Fr,
    /// The inverse that a proof must have.
    pub(super) inverse: Fr,
    /// The inverse of [`Vanishing::inverted`].
    inverse_of_inverted: Fr,
}

impl VerifierEquation {
    /// `None` if something that is divided by is zero, which has negligible probability.
    pub(super) fn new(key: &VerifyingKey, public: &[Fr], challenges: &FflonkChallenges) -> Option<Self> {
        let constants = KeyConstants::new(key)?;
        let xi = challenges.xi();
        let domain = repeated_square(xi, key.power) - Fr::ONE;
        let vanishing = Vanishing::new(&constants, xi, challenges.y, domain);
        let roots = std::iter::successors(Some(Fr::ONE), |power| Some(*power * constants.root));
        let points = roots.take(public.len().max(1)).fold(Fr::ONE, |product, root| product * (xi - root));
        // One inversion: `inverted` is a factor of P, so its inverse is that of P times the rest.
        let inverse = (vanishing.repeated(&constants) * vanishing.inverted() * points).invert_vartime()?;
        let inverse_of_inverted = inverse * vanishing.repeated(&constants) * points;
        let (first_lagrange, public_input) = public_input(key.power, public, xi, domain)?;
        Some(Self { constants, vanishing, first_lagrange, public_input, inverse, inverse_of_inverted })
    }

    /// The factors of the points.
    pub(super) fn factors(&self, challenges: &FflonkChallenges, evaluations: &[Fr; 15]) -> Factors<Fr> {
        let &FflonkChallenges { beta, gamma, alpha, .. } = challenges;
        let &Self { first_lagrange, public_input, inverse_of_inverted: inverse, .. } = self;
        let known = EquationInputs { beta, gamma, alpha, inverse, first_lagrange, public_input };
        factors(&self.constants, &self.vanishing, &known, evaluations)
    }
}
