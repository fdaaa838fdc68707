//! Round 4: the quotient t of the identity by `X^n - 1`.
//!
//! t has D n coefficients and a few more, where D is the system's number of parts. It is computed on D cosets
//! of the n-point domain H, one at a time:
//!
//! * On a coset `X^n` is a constant c, so the divisor is `c - 1`, and an n-point inverse transform gives
//!   `t mod (X^n - c)`, a combination of t's parts. D of them determine `t mod M`, where M is the product of
//!   the `X^n - c`.
//! * `t = (t mod M) + M h` for an h of few coefficients, the highest of t. They depend only on the highest
//!   coefficients of the identity's polynomials ([`leading`](super::leading)).
//!
//! No transform is longer than n, and no second vector carries the blinding (snarkjs evaluates on 4n points,
//! which include H, and computes the blinding part of every product separately).

use super::{
    ProverState,
    products::{divide, points},
    rows::{SEGMENT, Whole, add_summand},
    wires::wrap,
};
use crate::{
    Column, LookupArgument, PlonkError,
    arithmetisation::{summand::FormulaParameters, system::Argument},
    key::QuotientCosets,
    memory::{CowScalars, Scalars},
    polynomial::{CHUNK, Lanes, bring_in_form, form, load, load_bits, splat, store_bits},
};
use proofmill_cpu::Token;
use proofmill_field::{Algebra, Engine, Field, Invert, LANES, bn254::Fr, dispatch};
use proofmill_run::parallel;

/// A coset of the domain.
#[derive(Clone, Copy)]
struct Coset {
    /// The number of the coset, counted from 0.
    index: usize,
    shift: Fr,
    /// The value of `X^n`.
    power: Fr,
    /// The level's [`form`].
    form: Fr,
}

impl<'a> ProverState<'a> {
    /// t in parts of n coefficients; the last part also has the excess. Blinding at the borders between parts
    /// cancels in the sum.
    pub(super) fn round4_quotient(&mut self, public: &[Fr]) -> Result<Vec<Scalars>, PlonkError> {
        let n = self.domain.len();
        self.interpolate_public_inputs(public)?;
        let parameters = self.system.parameters(&self.challenges, self.key.verifying_key().multipliers);
        let (count, room) = (self.system.parts(), self.system.excess().max(1));
        let mut parts = self.quotient_parts(&self.system.arguments(), &parameters, count, room)?;
        let beyond = self.quotient_beyond_parts()?;
        // t = parts + M h. These are the coefficients of M, lowest first, without the leading one.
        let powers = QuotientCosets::new(n.trailing_zeros(), count).powers;
        // M has only powers of X^n, so M h changes the first few coefficients of each part.
        for (part, coefficient) in parts.iter_mut().zip(product_of_linear(&powers)) {
            for (value, beyond) in part.iter_mut().zip(&beyond) {
                *value += coefficient * *beyond;
            }
        }
        if let Some(last) = parts.last_mut() {
            last[n..n + beyond.len()].copy_from_slice(&beyond);
        }
        // Round 3 of the paper: `t_lo + b_10 X^n`, `t_mid - b_10 + b_11 X^n` and so on. Each part
        // is blinded because each has a commitment of its own.
        let blinding = std::mem::take(&mut self.blinding.quotient);
        for (border, blinding) in blinding.into_iter().enumerate() {
            parts[border][n] = blinding;
            parts[border + 1][0] -= blinding;
        }
        Ok(parts)
    }

    /// Adds the column of the public inputs to the witness columns.
    pub(crate) fn interpolate_public_inputs(&mut self, public: &[Fr]) -> Result<(), PlonkError> {
        self.phase("ntt");
        let mut input = self.storage().scalars(self.domain.len())?;
        for (value, public) in input.iter_mut().zip(public) {
            // PI of the paper, minus the inputs. The verifier computes it: it is not blinded.
            *value = -*public;
        }
        self.domain.intt(self.level, &mut input);
        self.polynomials.insert(Column::PublicInput, input);
        Ok(())
    }

    /// The quotient of the sum of these arguments, and of the public inputs if their column is there, modulo
    /// the product of `X^n - c` over `count` cosets. It has `count` parts of n coefficients, with `room`
    /// zeros after each.
    pub(crate) fn quotient_parts(
        &mut self,
        arguments: &[Argument],
        parameters: &FormulaParameters<Fr>,
        count: usize,
        room: usize,
    ) -> Result<Vec<Scalars>, PlonkError> {
        let n = self.domain.len();
        let cosets = QuotientCosets::new(n.trailing_zeros(), count);
        let form = form(self.level);
        let mut parts = Vec::with_capacity(count);
        let mut spare = Vec::new();
        for (index, (shift, power)) in cosets.shifts.iter().zip(&cosets.powers).enumerate() {
            let coset = Coset { index, shift: *shift, power: *power, form };
            let mut values = self.storage().scalars(n + room)?;
            self.identity_on_coset(coset, arguments, parameters, &mut values[..n], &mut spare)?;
            self.phase("ntt");
            self.domain.coset_intt(self.level, &mut values[..n], *shift);
            values.release(0..n);
            parts.push(values);
        }
        drop(spare);
        self.phase("quotient");
        self.interpolate(&mut parts, &cosets.powers, form);
        Ok(parts)
    }

    /// Writes the sum of the arguments on a coset, times [`form`] (as all values here). `spare` holds reusable
    /// vectors of n + 1 scalars.
    fn identity_on_coset(
        &mut self,
        coset: Coset,
        arguments: &[Argument],
        parameters: &FormulaParameters<Fr>,
        values: &mut [Fr],
        spare: &mut Vec<Scalars>,
    ) -> Result<(), PlonkError> {
        self.phase("ntt");
        let (level, n) = (self.level, self.domain.len());
        let Coset { index, shift, power, form } = coset;
        self.witness_on_coset(Column::PublicInput, shift, power, form, values);
        let names: Vec<Column> =
            self.polynomials.keys().copied().filter(|name| *name != Column::PublicInput).collect();
        let mut witness = Vec::with_capacity(names.len());
        for column in names {
            let mut values = self.vector(spare)?;
            self.witness_on_coset(column, shift, power, form, &mut values[..n]);
            wrap(&mut values);
            witness.push((column, values));
        }
        // A column of the key stays in memory only until the last argument that needs it.
        let needs: Vec<Vec<Column>> =
            arguments.iter().map(|argument| self.system.fixed_columns(*argument)).collect();
        let mut fixed: Vec<(Column, CowScalars<'_>)> = Vec::new();
        for (place, argument) in arguments.iter().enumerate() {
            self.progress.begin("ntt");
            for column in &needs[place] {
                if fixed.iter().all(|(have, _)| have != column) {
                    fixed.push((*column, self.fixed_on_coset(*column, index, shift, form, spare)?));
                }
            }
            self.progress.begin("quotient");
            let columns = fixed.iter().map(|(column, values)| (*column, &**values));
            let columns = Whole::new(columns.chain(witness.iter().map(|(column, values)| (*column, values))));
            let on_coset = self.known_on_coset(shift, power, form);
            // Other arguments do not use X or the first Lagrange polynomial.
            let about_points =
                matches!(argument, Argument::Permutation | Argument::Lookup(LookupArgument::Plookup));
            let known = |start, count| if about_points { on_coset(start, count) } else { [vec![], vec![]] };
            add_summand(level, self.system, *argument, &columns, parameters, &known, values);
            let done = |column: &Column| needs[place + 1..].iter().all(|needs| !needs.contains(column));
            for (_, values) in fixed.extract_if(.., |(column, _)| done(column)) {
                if let CowScalars::Owned(values) = values {
                    spare.push(values);
                }
            }
        }
        spare.extend(witness.into_iter().map(|(_, values)| values));
        Ok(())
    }

    /// A vector of n + 1 scalars with arbitrary content.
    fn vector(&self, spare: &mut Vec<Scalars>) -> Result<Scalars, PlonkError> {
        spare.pop().map_or_else(|| self.storage().scalars(self.domain.len() + 1), Ok)
    }

    /// Writes the n values of a witness column on a coset, times `form`, to `values`.
    fn witness_on_coset(&mut self, column: Column, shift: Fr, power: Fr, form: Fr, values: &mut [Fr]) {
        let n = self.domain.len();
        if let Some(coefficients) = self.polynomials.get_mut(&column) {
            // On the coset, coefficient n + i acts as `power` times coefficient i. Add it before the
            // transform and undo that afterwards.
            let (low, high) = coefficients.split_at_mut(n);
            low.iter_mut().zip(&*high).for_each(|(value, coefficient)| *value += power * *coefficient);
            self.domain.coset_ntt_into(self.level, low, shift, form, values);
            low.iter_mut().zip(&*high).for_each(|(value, coefficient)| *value -= power * *coefficient);
            coefficients.release(0..n);
        }
    }

    /// The values of a key's column on a coset.
    fn fixed_on_coset(
        &self,
        column: Column,
        index: usize,
        shift: Fr,
        form: Fr,
        spare: &mut Vec<Scalars>,
    ) -> Result<CowScalars<'a>, PlonkError> {
        if let Some(values) = self.key.coset_values(column, index, form) {
            return Ok(values);
        }
        let n = self.domain.len();
        let mut values = self.vector(spare)?;
        if self.key.read_coset_values(column, index, &mut values[..n])? {
            bring_in_form(self.level, &mut values[..n]);
        } else {
            let coefficients = self.key.coefficients(self.level, column)?;
            self.domain.coset_ntt_into(self.level, &coefficients, shift, form, &mut values[..n]);
        }
        values.release(0..n);
        Ok(CowScalars::Owned(values))
    }

    /// X and L_1 on a range of rows of a coset: `L_1(x) = (x^n - 1) / (n (x - 1))`.
    fn known_on_coset(
        &self,
        shift: Fr,
        power: Fr,
        form: Fr,
    ) -> impl Fn(usize, usize) -> [Vec<Fr>; 2] + Sync + use<> {
        let (level, root) = (self.level, self.domain.root());
        // The divisor is (x - 1) times form.
        let factor = (power - Fr::ONE) * inverse(Fr::from(self.domain.len() as u64)) * form.square();
        move |start, count| {
            let points = points(level, root, form * shift * root.pow_vartime(&[start as u64]), count);
            let mut first_lagrange = vec![factor; count];
            dispatch!(level, engine => engine.run(
                #[inline(always)]
                || divide_by_points(engine, &points, form, &mut first_lagrange)
            ));
            [points, first_lagrange]
        }
    }

    /// Computes the parts of t modulo M from [`form`] times the identity modulo `X^n - c` for every c in
    /// `powers`. The identity there is `(c - 1)` times the sum of `c^i part_i`.
    fn interpolate(&self, parts: &mut [Scalars], powers: &[Fr], form: Fr) {
        let mut matrix = inverse_vandermonde(powers);
        for row in &mut matrix {
            for (entry, power) in row.iter_mut().zip(powers) {
                // Not zero: the domain itself, where X^n is 1, is not among the cosets.
                *entry *= inverse((*power - Fr::ONE) * form);
            }
        }
        let (level, n) = (self.level, self.domain.len());
        for start in (0..n).step_by(SEGMENT) {
            let rows = start..n.min(start + SEGMENT);
            let mut chunks: Vec<Vec<&mut [Fr]>> =
                (0..rows.len().div_ceil(CHUNK)).map(|_| Vec::new()).collect();
            for part in parts.iter_mut() {
                for (chunks, chunk) in chunks.iter_mut().zip(part[rows.clone()].chunks_mut(CHUNK)) {
                    chunks.push(chunk);
                }
            }
            parallel::for_each(chunks, |mut parts| {
                dispatch!(level, engine => engine.run(
                    #[inline(always)]
                    || multiply_by_matrix(engine, &matrix, &mut parts)
                ));
            });
            parts.iter().for_each(|part| part.release(rows.clone()));
        }
    }
}

/// The inverse of a nonzero element.
fn inverse(element: Fr) -> Fr {
    element.invert_vartime().unwrap_or_default()
}

/// The coefficients of the product of `Y - root` over the roots, lowest first, without the leading one.
fn product_of_linear(roots: &[Fr]) -> Vec<Fr> {
    let mut product = vec![Fr::ONE];
    for root in roots {
        product.insert(0, Fr::ZERO);
        for i in 0..product.len() - 1 {
            let next = product[i + 1];
            product[i] -= *root * next;
        }
    }
    product.pop();
    product
}

/// The matrix from values at the points to the coefficients of the interpolating polynomial. Its columns are
/// the coefficients of the Lagrange basis polynomials.
fn inverse_vandermonde(points: &[Fr]) -> Vec<Vec<Fr>> {
    let basis: Vec<Vec<Fr>> = (0..points.len())
        .map(|k| {
            let others: Vec<Fr> =
                points.iter().copied().enumerate().filter(|(i, _)| *i != k).map(|(_, x)| x).collect();
            // Lagrange basis: the product of the other linear factors, scaled to 1 at point k.
            let scale = inverse(others.iter().fold(Fr::ONE, |product, other| product * (points[k] - *other)));
            let mut coefficients = product_of_linear(&others);
            coefficients.push(Fr::ONE);
            coefficients.into_iter().map(|coefficient| coefficient * scale).collect()
        })
        .collect();
    (0..points.len()).map(|i| basis.iter().map(|coefficients| coefficients[i]).collect()).collect()
}

/// Replaces the rows by the matrix times the rows.
#[inline(always)]
fn multiply_by_matrix<E: Engine>(engine: E, matrix: &[Vec<Fr>], rows: &mut [&mut [Fr]]) {
    let matrix: Vec<Vec<Lanes<E>>> = matrix
        .iter()
        .map(
            #[inline(always)]
            |row| {
                row.iter()
                    .map(
                        #[inline(always)]
                        |entry| splat(engine, *entry),
                    )
                    .collect()
            },
        )
        .collect();
    let length = rows.first().map_or(0, |row| row.len());
    let mut inputs = Vec::with_capacity(rows.len());
    for start in (0..length).step_by(LANES) {
        inputs.clear();
        for row in rows.iter() {
            inputs.push(load_bits(engine, &row[start..]));
        }
        for (row, entries) in rows.iter_mut().zip(&matrix) {
            let mut sum = Lanes::<E>::zero(engine);
            for (entry, input) in entries.iter().zip(&inputs) {
                sum = sum + *entry * *input;
            }
            store_bits(sum, &mut row[start..]);
        }
    }
}

/// `values /= x - x0`.
#[inline(always)]
fn divide_by_points<E: Engine>(engine: E, points: &[Fr], x0: Fr, values: &mut [Fr]) {
    let x0 = splat(engine, x0);
    let mut denominators = Vec::with_capacity(points.len().div_ceil(LANES));
    for points in points.chunks(LANES) {
        denominators.push(load(engine, points) - x0);
    }
    divide(engine, values, &denominators);
}
