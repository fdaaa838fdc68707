//! The proving key as the rounds see it: polynomials by wire and by selector.

use crate::{PlonkError, SELECTORS, VerifyingKey, WIRES};
use proofmill_circom::{Addition, Column, PlonkHeader, PlonkZkey, PointCheck, Polynomial, Selector};
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::bn254::Fr;
use proofmill_simd::Level;
use std::ops::RangeInclusive;

/// Logarithms of the domains' sizes that the protocol works on: the quotient's 3n + 6 coefficients are
/// blinded in the last 6 of n, and the domain of 4n has a root of unity.
pub(crate) const LOG_N: RangeInclusive<u32> = 3..=26;

/// Points of the extended domain per point of the domain.
const EXTENSION: usize = 4;

/// A proving key whose polynomials stay in the file until a round asks for them.
#[derive(Debug)]
pub struct ProvingKey {
    zkey: PlonkZkey,
    verifying_key: VerifyingKey,
}

impl ProvingKey {
    /// A key around an open file.
    pub fn new(zkey: PlonkZkey) -> Self {
        let verifying_key = VerifyingKey::from(zkey.header());
        Self { zkey, verifying_key }
    }

    /// What a verifier needs of it.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// R1CS's wires and the additions' variables.
    pub(crate) fn variables(&self) -> u32 {
        self.zkey.header().wires
    }

    /// How the variables that R1CS does not have are computed, in order; inputs come before outputs.
    pub(crate) fn additions(&self) -> Result<Vec<Addition>, PlonkError> {
        Ok(self.zkey.additions()?)
    }

    /// The variable on each gate's wires a, b, c; all below `variables()`.
    pub(crate) fn wire_maps(&self) -> Result<[Vec<u32>; WIRES], PlonkError> {
        let [a, b, c] = Column::ALL.map(|column| self.zkey.wire_map(column));
        Ok([a?, b?, c?])
    }

    fn selector(&self, selector: usize) -> Polynomial<'_> {
        self.zkey.selector(Selector::ALL[selector])
    }

    fn sigma(&self, wire: usize) -> Polynomial<'_> {
        self.zkey.sigma(Column::ALL[wire])
    }

    /// n coefficients of a selector.
    pub(crate) fn selector_coefficients(&self, level: Level, selector: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.selector(selector).coefficients.decode(level)?)
    }

    /// n coefficients of a permutation polynomial.
    pub(crate) fn sigma_coefficients(&self, level: Level, wire: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.sigma(wire).coefficients.decode(level)?)
    }

    /// The highest coefficients of a permutation polynomial, lowest first.
    pub(crate) fn sigma_last_coefficients(
        &self,
        level: Level,
        wire: usize,
        count: usize,
    ) -> Result<Vec<Fr>, PlonkError> {
        let coefficients = self.sigma(wire).coefficients;
        let length = coefficients.len();
        Ok(coefficients.slice(length.saturating_sub(count)..length)?.decode(level)?)
    }

    /// n values of a selector at `zeta^phase omega^i`, where zeta generates the extended domain; phase 0 is
    /// the domain itself.
    pub(crate) fn selector_values(&self, selector: usize, phase: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.selector(selector).extended.decode_strided(phase, EXTENSION)?)
    }

    /// n values of a permutation polynomial, as [`Self::selector_values`].
    pub(crate) fn sigma_values(&self, wire: usize, phase: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.sigma(wire).extended.decode_strided(phase, EXTENSION)?)
    }

    /// n values of the first Lagrange polynomial, as [`Self::selector_values`].
    pub(crate) fn first_lagrange_values(&self, phase: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.zkey.lagrange(0).extended.decode_strided(phase, EXTENSION)?)
    }

    /// n + 6 powers of tau in G1.
    pub(crate) fn reference(&self, level: Level) -> Result<Vec<Affine<G1>>, PlonkError> {
        Ok(self.zkey.ptau().decode(level, PointCheck::OnCurve)?)
    }
}

impl From<&PlonkHeader> for VerifyingKey {
    fn from(header: &PlonkHeader) -> Self {
        const { assert!(SELECTORS == Selector::ALL.len() && WIRES == Column::ALL.len()) }
        Self {
            log_n: header.domain_size.trailing_zeros(),
            public: header.public,
            multipliers: [header.k1, header.k2],
            selectors: header.selectors,
            sigmas: header.sigma,
            tau: header.x_2,
        }
    }
}
