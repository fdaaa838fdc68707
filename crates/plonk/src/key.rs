//! The proving key as the rounds see it: polynomials by wire and by selector.

use crate::{PlonkError, SELECTORS, VerifyingKey, WIRES};
use proofmill_circom::{Addition, Column, PlonkHeader, PlonkZkey, PointCheck, Polynomial, Selector};
use proofmill_curve::{Affine, bn254::G1};
use proofmill_field::bn254::Fr;
use proofmill_simd::Level;
use std::ops::{Range, RangeInclusive};

/// Logarithms of the domains' sizes that the protocol works on: the quotient's 3n + 6 coefficients are
/// blinded in the last 6 of n, and the domain of 4n has a root of unity.
pub(crate) const LOG_N: RangeInclusive<u32> = 3..=26;

/// Points of the extended domain per point of the domain.
pub(crate) const EXTENSION: usize = 4;

/// Values of the key's polynomials on some rows of a coset.
#[derive(Debug, Default)]
pub(crate) struct KeyRows {
    pub(crate) selectors: [Vec<Fr>; SELECTORS],
    pub(crate) sigmas: [Vec<Fr>; WIRES],
    pub(crate) first_lagrange: Vec<Fr>,
}

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

    /// n values of a selector on the domain.
    pub(crate) fn selector_values(&self, selector: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.selector(selector).extended.decode_strided(0, EXTENSION)?)
    }

    /// n values of a permutation polynomial on the domain.
    pub(crate) fn sigma_values(&self, wire: usize) -> Result<Vec<Fr>, PlonkError> {
        Ok(self.sigma(wire).extended.decode_strided(0, EXTENSION)?)
    }

    /// Values of all polynomials at the points `zeta^k omega^row` of these rows, by `k`, where zeta generates
    /// the extended domain. One task; for callers that run many.
    pub(crate) fn extended_rows(&self, rows: Range<usize>) -> Result<[KeyRows; EXTENSION], PlonkError> {
        let mut by_coset: [KeyRows; EXTENSION] = Default::default();
        let columns = |polynomial: Polynomial<'_>| {
            let range = rows.start * EXTENSION..rows.end * EXTENSION;
            polynomial.extended.slice(range)?.decode_columns::<EXTENSION>()
        };
        for selector in 0..SELECTORS {
            for (rows, column) in by_coset.iter_mut().zip(columns(self.selector(selector))?) {
                rows.selectors[selector] = column;
            }
        }
        for wire in 0..WIRES {
            for (rows, column) in by_coset.iter_mut().zip(columns(self.sigma(wire))?) {
                rows.sigmas[wire] = column;
            }
        }
        for (rows, column) in by_coset.iter_mut().zip(columns(self.zkey.lagrange(0))?) {
            rows.first_lagrange = column;
        }
        Ok(by_coset)
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
