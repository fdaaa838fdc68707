//! Round 3: the quotient t of the identity's numerator by `X^n - 1`.
//!
//! The numerator has degree 4n + 5 and t has 3n + 6 coefficients. The key stores its polynomials' values on the
//! extended domain of 4n points, which is n-point domain H and its cosets `zeta^k H` for k = 1, 2, 3, where zeta
//! has order 4n. On H the divisor is zero; on coset k it is the constant `i^k - 1` (i = zeta^n). So the three
//! cosets give t modulo `X^n - i^k` for k = 1, 2, 3 with n-point transforms and the key's own values, and what
//! is missing, t's six highest coefficients, are the numerator's six highest: products of the factors' highest
//! coefficients. (snarkjs evaluates on all 4n points, which include H, and carries the blinding
//! part of every product apart, in a second vector, so that the division stays possible.)

use super::{Polynomials, Prover, grand_product::Labels};
use crate::{
    PlonkError, ProvingKey, Standard, StandardTerms, WIRES,
    arithmetisation::permutation_factor,
    challenges::Challenges,
    key::{EXTENSION, KeyRows},
    polynomial::{CHUNK, Lanes, Loader, load, repeated_square, splat, store},
};
use proofmill_field::{Algebra, Engine, Field, LANES, bn254::Fr};
use proofmill_simd::{Level, dispatch};
use rayon::prelude::*;

/// Coefficients of the quotient beyond 3n.
const HIGHEST: usize = 6;

/// The cosets that the quotient is computed on: all of the extended domain but the domain itself.
const COSETS: usize = EXTENSION - 1;

/// The witness's polynomials on a coset; index j belongs to `shift * omega^j`.
struct Coset {
    shift: Fr,
    /// `x^n` on the coset.
    power: Fr,
    /// `1 / (x^n - 1)` on the coset.
    inverse_vanishing: Fr,
    wires: [Vec<Fr>; WIRES],
    /// z, and again its first value: at `x omega` it is the next one.
    grand_product: Vec<Fr>,
}

/// The numbers in the numerator that all cosets share.
struct Constants {
    challenges: Challenges,
    /// k1, k2.
    multipliers: [Fr; WIRES - 1],
    root: Fr,
}

impl Prover<'_> {
    /// Steps 3.2 and 3.3: t in three parts of n coefficients, the last with the six highest, whose borders are
    /// blinded in a way that cancels in the sum.
    pub(super) fn round3_quotient(
        &mut self,
        polynomials: &Polynomials,
        public: &[Fr],
        challenges: &Challenges,
        &[b10, b11]: &[Fr; 2],
    ) -> Result<[Vec<Fr>; 3], PlonkError> {
        let highest = self.highest_coefficients(polynomials, challenges)?;
        self.phase("ntt");
        let (cosets, mut remainders) = self.cosets(polynomials, public)?;
        self.phase("quotient");
        let constants = Constants {
            challenges: *challenges,
            multipliers: self.key.verifying_key().multipliers,
            root: self.domain.root(),
        };
        divide(self.level, self.key, &cosets, &constants, &mut remainders)?;
        self.phase("ntt");
        for (coset, values) in cosets.iter().zip(&mut remainders) {
            self.domain.coset_intt(self.level, values, coset.shift);
            // What is left modulo X^n - power of the six coefficients from 3n on.
            for (value, coefficient) in values.iter_mut().zip(highest) {
                *value -= coset.power * coset.power.square() * coefficient;
            }
        }
        drop(cosets);
        self.phase("quotient");
        interpolate(self.level, &mut remainders);
        let [mut low, mut middle, mut high] = remainders;
        high.extend(highest);
        low.push(b10);
        middle[0] -= b10;
        middle.push(b11);
        high[0] -= b11;
        Ok([low, middle, high])
    }

    /// Values on the cosets of the witness's polynomials and, apart, of the public inputs'.
    fn cosets(
        &self,
        polynomials: &Polynomials,
        public: &[Fr],
    ) -> Result<([Coset; COSETS], [Vec<Fr>; COSETS]), PlonkError> {
        let log_n = self.domain.len().trailing_zeros();
        let public = self.public_input_polynomial(public);
        let zeta = Fr::root_of_unity(log_n + 2).ok_or(PlonkError::NotProven)?;
        let coset = |k: u64| {
            let shift = zeta.pow_vartime(&[k]);
            let power = repeated_square(shift, log_n);
            let mut grand_product = self.values_on_coset(&polynomials.grand_product, shift);
            grand_product.push(grand_product[0]);
            Coset {
                shift,
                power,
                // Never zero: the coset is not the domain.
                inverse_vanishing: (power - Fr::ONE).invert().unwrap_or_default(),
                wires: polynomials.wires.each_ref().map(|wire| self.values_on_coset(wire, shift)),
                grand_product,
            }
        };
        let cosets = [coset(1), coset(2), coset(3)];
        let public = cosets.each_ref().map(|coset| self.values_on_coset(&public, coset.shift));
        Ok((cosets, public))
    }

    /// The polynomial with minus the public inputs on the first rows and zero elsewhere.
    fn public_input_polynomial(&self, public: &[Fr]) -> Vec<Fr> {
        let mut values = vec![Fr::ZERO; self.domain.len()];
        for (value, input) in values.iter_mut().zip(public) {
            *value = -*input;
        }
        self.domain.intt(self.level, &mut values);
        values
    }

    fn values_on_coset(&self, coefficients: &[Fr], shift: Fr) -> Vec<Fr> {
        let n = self.domain.len();
        let (low, high) = coefficients.split_at(n);
        let mut values = low.to_vec();
        // X^n is a constant on the coset.
        let power = repeated_square(shift, n.trailing_zeros());
        for (value, coefficient) in values.iter_mut().zip(high) {
            *value += power * *coefficient;
        }
        self.domain.coset_ntt(self.level, &mut values, shift);
        values
    }

    /// t's coefficients from 3n on: the numerator's from 4n on. Only the two products of the permutation
    /// argument reach so far.
    fn highest_coefficients(
        &self,
        Polynomials { wires, grand_product }: &Polynomials,
        challenges: &Challenges,
    ) -> Result<[Fr; HIGHEST], PlonkError> {
        let n = self.domain.len();
        // The last coefficients, highest first: of a wire from n + 1, of z from n + 2 down.
        let top = |coefficients: &[Fr]| -> [Fr; HIGHEST] {
            std::array::from_fn(|i| coefficients[coefficients.len() - 1 - i])
        };
        let tops = wires.each_ref().map(|wire| top(wire));
        let mut identity = top(grand_product);
        let mut sigma = identity;
        for (i, coefficient) in sigma.iter_mut().enumerate() {
            *coefficient *= self.domain.root().pow_vartime(&[(n + 2 - i) as u64]);
        }
        for (wire, top) in tops.iter().enumerate() {
            // beta k X + gamma is too low to be seen; S has its coefficients from n - 1 down.
            identity = truncated_product(&identity, top);
            let mut folded = *top;
            let last = self.key.sigma_last_coefficients(self.level, wire, HIGHEST - 2)?;
            for (coefficient, label) in folded[2..].iter_mut().zip(last.iter().rev()) {
                *coefficient += challenges.beta * *label;
            }
            sigma = truncated_product(&sigma, &folded);
        }
        // Lowest first.
        Ok(std::array::from_fn(|i| {
            let i = HIGHEST - 1 - i;
            challenges.alpha * (identity[i] - sigma[i])
        }))
    }
}

/// From t modulo `X^n - i`, `X^n + 1` and `X^n + i` (without its highest coefficients) to its thirds:
/// `u_k = t_0 + i^k t_1 + i^2k t_2`.
fn interpolate(level: Level, [u1, u2, u3]: &mut [Vec<Fr>; 3]) {
    let half = Fr::from(2).invert().unwrap_or_default();
    let i = Fr::root_of_unity(2).unwrap_or_default();
    // 1 / (2 i)
    let half_of_minus_i = -(half * i);
    u1.par_chunks_mut(CHUNK).zip(u2.par_chunks_mut(CHUNK)).zip(u3.par_chunks_mut(CHUNK)).for_each(
        |((u1, u2), u3)| {
            dispatch!(level, engine => engine.run(
                #[inline(always)]
                || interpolate_chunk(engine, half, half_of_minus_i, u1, u2, u3)
            ));
        },
    );
}

/// The highest coefficients of the product of two polynomials by their highest ones.
fn truncated_product(p: &[Fr; HIGHEST], q: &[Fr; HIGHEST]) -> [Fr; HIGHEST] {
    std::array::from_fn(|i| (0..=i).fold(Fr::ZERO, |sum, j| sum + p[j] * q[i - j]))
}

/// Replaces the public inputs' values on each coset by the quotient's. A task takes some rows of all three
/// cosets, because the key's values for them lie beside each other in the file.
fn divide(
    level: Level,
    key: &ProvingKey,
    cosets: &[Coset; COSETS],
    constants: &Constants,
    [first, second, third]: &mut [Vec<Fr>; COSETS],
) -> Result<(), PlonkError> {
    first
        .par_chunks_mut(CHUNK)
        .zip(second.par_chunks_mut(CHUNK))
        .zip(third.par_chunks_mut(CHUNK))
        .enumerate()
        .try_for_each(|(index, ((first, second), third))| {
            let start = index * CHUNK;
            let [_, key_rows @ ..] = key.extended_rows(start..start + first.len())?;
            for ((coset, key), values) in cosets.iter().zip(&key_rows).zip([first, second, third]) {
                dispatch!(level, engine => engine.run(
                    #[inline(always)]
                    || divide_chunk(engine, coset, key, constants, start, values)
                ));
            }
            Ok(())
        })
}

/// Replaces the public inputs' values at the points from `start` by the numerator over `x^n - 1`:
/// gates + alpha (identity z(x) - sigma z(x omega)) + alpha^2 (z(x) - 1) L_1(x).
#[inline(always)]
fn divide_chunk<E: Engine>(
    _: E,
    coset: &Coset,
    key: &KeyRows,
    constants: &Constants,
    start: usize,
    values: &mut [Fr],
) {
    let Constants { challenges: Challenges { beta, gamma, alpha, .. }, multipliers, root } = *constants;
    let mut labels = Labels::<E>::new(root, coset.shift * root.pow_vartime(&[start as u64]) * beta);
    // The divisor's inverse is folded into the factors of the three summands.
    let inverse = coset.inverse_vanishing;
    let [for_gates, for_permutation, for_start] =
        [splat::<E>(inverse), splat::<E>(alpha * inverse), splat::<E>(alpha.square() * inverse)];
    let (beta, gamma) = (splat::<E>(beta), splat::<E>(gamma));
    let [k1, k2] = [splat::<E>(multipliers[0]), splat::<E>(multipliers[1])];
    let [a, b, c] = &coset.wires;
    let [qm, ql, qr, qo, qc] = &key.selectors;
    let [s1, s2, s3] = &key.sigmas;
    for (i, values) in values.chunks_mut(LANES).enumerate() {
        let rows = Loader::<E>::at(start + i * LANES);
        let key_rows = Loader::<E>::at(i * LANES);
        let wires = [rows.from(a), rows.from(b), rows.from(c)];
        let selectors =
            [key_rows.from(qm), key_rows.from(ql), key_rows.from(qr), key_rows.from(qo), key_rows.from(qc)];
        let gates = Standard::row(selectors, wires) + load::<E>(values);

        let z = rows.from(&coset.grand_product);
        let shifted = load::<E>(&coset.grand_product[start + i * LANES + 1..]);
        let label = labels.next();
        let identity = permutation_factor(wires, [label, k1 * label, k2 * label], gamma) * z;
        let sigmas = [beta * key_rows.from(s1), beta * key_rows.from(s2), beta * key_rows.from(s3)];
        let sigma = permutation_factor(wires, sigmas, gamma) * shifted;

        let at_first = (z - Lanes::<E>::one()) * key_rows.from(&key.first_lagrange);
        store(for_gates * gates + for_permutation * (identity - sigma) + for_start * at_first, values);
    }
}

#[inline(always)]
fn interpolate_chunk<E: Engine>(
    _: E,
    half: Fr,
    half_of_minus_i: Fr,
    u1: &mut [Fr],
    u2: &mut [Fr],
    u3: &mut [Fr],
) {
    let half = splat::<E>(half);
    let half_of_minus_i = splat::<E>(half_of_minus_i);
    for ((u1, u2), u3) in u1.chunks_mut(LANES).zip(u2.chunks_mut(LANES)).zip(u3.chunks_mut(LANES)) {
        let [v1, v2, v3] = [load::<E>(u1), load::<E>(u2), load::<E>(u3)];
        let middle = half_of_minus_i * (v1 - v3);
        let difference = half * (v1 + v3);
        let sum = v2 + middle;
        store(half * (sum + difference), u1);
        store(middle, u2);
        store(half * (sum - difference), u3);
    }
}
