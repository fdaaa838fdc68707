//! Round 3: the permutation argument's grand product z, and the lookup argument's grand product z or running
//! sum phi. They start at 1 or 0 on the first row; an argument defines the growth per row ([`Growing`]).
//!
//! After the last row they return to the first value if the argument's relation holds, and otherwise only
//! with probability about n/r.

use super::{
    ColumnValues, ProverState, WitnessColumns,
    rows::{LaneCells, SEGMENT, Slots, Whole, splat_all},
    wires::Assignment,
};
use crate::{
    Column, LookupArgument, PlonkError,
    arithmetisation::{
        called::Called,
        lookup::{log_derivative::LogDerivative, plookup::Plookup},
        permutation::{self, PermutationArgument},
        summand::{FormulaParameters, Growing},
        system::Argument,
    },
    memory::{CowScalars, Scalars},
    polynomial::{
        CHAINS, CHUNK, GROUP, Lanes, each_chunk, form, load, load_bits, repeated_square, splat, store,
        store_bits,
    },
};
use proofmill_cpu::{Level, Portable, Token};
use proofmill_field::{
    Algebra, Backend, Engine, Field, Fp, LANES, batch_invert_vartime,
    bn254::{Fr, FrParams},
    dispatch,
};
use proofmill_run::parallel;

/// The operation by which the column grows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Running {
    Product,
    Sum,
}

impl Running {
    fn start(self) -> Fr {
        if self == Self::Product { Fr::ONE } else { Fr::ZERO }
    }

    /// Replaces each element by the total of the elements before it, and returns the total of all.
    fn before<B: Backend>(self, backend: B, values: &mut [Fp<FrParams, B>]) -> Fp<FrParams, B> {
        let mut total = if self == Self::Product { Fp::one(backend) } else { Fp::zero(backend) };
        for value in values {
            let next = if self == Self::Product { total * *value } else { total + *value };
            *value = total;
            total = next;
        }
        total
    }
}

impl ProverState<'_> {
    /// The values of the running columns, in the order of their commitments.
    pub(crate) fn round3_running(
        &mut self,
        assignment: Assignment,
    ) -> Result<ColumnValues<'static>, PlonkError> {
        self.phase("grand product");
        let mut columns = WitnessColumns::new();
        for (column, values) in assignment.values {
            columns.push((column, self.in_form(CowScalars::Owned(values))?));
        }
        // Round 2 of the paper: on each row z grows by the ratio of the wires folded with their
        // own labels and with those of sigma. The ratios cancel if sigma only joins equal values.
        let permutation = PermutationArgument { wires: self.system.wires() };
        let level = self.level;
        let (values, total) = self.running(
            Argument::Permutation,
            &|slots, parameters, values| ratios(level, permutation, slots, parameters, values),
            Running::Product,
            &columns,
        )?;
        // The wires of a variable have one value, so only an inconsistent key comes here.
        if total != Fr::ONE {
            return Err(self.copy_constraint_error()?);
        }
        let mut running_columns = vec![(Column::GrandProduct, CowScalars::Owned(values))];
        if let Some(argument) = self.system.lookup() {
            let lookup = Argument::Lookup(argument);
            // logUp adds fractions, plookup multiplies ratios: phi begins at 0 and z at 1.
            let (running, growth): (_, Growth<'_>) = match argument {
                LookupArgument::LogDerivative => (Running::Sum, &|slots, parameters, values| {
                    ratios(level, LogDerivative, slots, parameters, values);
                }),
                LookupArgument::Plookup => (Running::Product, &|slots, parameters, values| {
                    ratios(level, Plookup, slots, parameters, values);
                }),
            };
            let (values, total) = self.running(lookup, growth, running, &columns)?;
            if total != running.start() {
                return Err(PlonkError::NotProven);
            }
            running_columns.push((Column::LookupAccumulator, CowScalars::Owned(values)));
        }
        Ok(running_columns)
    }

    /// The values of a running column, and its value after the last row; `columns` are those of the witness,
    /// in [`form`].
    fn running(
        &self,
        argument: Argument,
        growth: Growth<'_>,
        running: Running,
        columns: &WitnessColumns,
    ) -> Result<(Scalars, Fr), PlonkError> {
        let parameters = self.system.parameters(&self.challenges, self.key.verifying_key().multipliers);
        let fixed = self.fixed_in_form(argument)?;
        let columns = Whole::new(fixed.iter().chain(columns).map(|(column, values)| (*column, values)));
        let (level, root, form) = (self.level, self.domain.root(), form(self.level));
        let mut values = self.storage().scalars(self.domain.len())?;
        // Chunks run in parallel, each from the neutral element; earlier totals follow below.
        let mut before: Vec<Fr> = Vec::new();
        for (segment, values) in values.chunks_mut(SEGMENT).enumerate() {
            let (first, count) = (segment * SEGMENT, values.len());
            let chunks = (first..).step_by(CHUNK).zip(values.chunks_mut(CHUNK));
            before.extend(parallel::map(chunks, |(start, values)| {
                let points = points(level, root, form * root.pow_vartime(&[start as u64]), values.len());
                let mut slots = columns.from(start);
                slots.set(Column::Point, &points);
                growth(&slots, &parameters, values);
                dispatch!(level, engine => {
                    let backend = engine.backend();
                    running.before(backend, Fr::slice_with_backend_mut(backend, values)).portable()
                })
            }));
            columns.release(first..first + count);
        }
        let total = running.before(Portable, &mut before);
        each_chunk(&mut values, |start, values| {
            let before = before[start / CHUNK];
            dispatch!(level, engine => engine.run(#[inline(always)] || carry(engine, running, values, before)));
        });
        Ok((values, total))
    }

    /// The first row where the permutation of the key differs from its wire maps, as an error.
    fn copy_constraint_error(&self) -> Result<PlonkError, PlonkError> {
        let n = self.domain.len();
        let maps = self.key.variables_of()?;
        let mut sigmas = Vec::new();
        for column in self.system.fixed_columns(Argument::Permutation) {
            sigmas.push(self.key.values(self.level, &self.domain, column)?);
        }
        let positions = permutation::sigma(&maps, self.key.variables(), n, self.key.free_rows);
        let labels = permutation::labels(&positions, &permutation::powers(self.domain.root(), n));
        let differs = |row: &usize| {
            sigmas.iter().zip(labels.chunks(n)).any(|(sigma, labels)| sigma[*row] != labels[*row])
        };
        Ok(match (0..n).find(differs) {
            Some(gate) => PlonkError::CopyConstraint { gate },
            None => PlonkError::NotProven,
        })
    }
}

/// Writes the ratios numerator / denominator of the growth, one per row of the slice.
type Growth<'a> = &'a (dyn Fn(&Slots<'_>, &FormulaParameters<Fr>, &mut [Fr]) + Sync);

/// The [`Growth`] of a summand.
fn ratios(
    level: Level,
    summand: impl Growing,
    slots: &Slots<'_>,
    parameters: &FormulaParameters<Fr>,
    ratios: &mut [Fr],
) {
    dispatch!(level, engine => engine.run(#[inline(always)] || lane_ratios(engine, summand, slots, parameters, ratios)));
}

#[inline(always)]
fn lane_ratios<E: Engine>(
    engine: E,
    summand: impl Growing,
    slots: &Slots<'_>,
    parameters: &FormulaParameters<Fr>,
    ratios: &mut [Fr],
) {
    let parameters = splat_all(engine, parameters);
    let mut denominators = Vec::with_capacity(CHUNK / LANES);
    for (i, ratios) in ratios.chunks_mut(LANES).enumerate() {
        let cells = LaneCells::at(engine, slots, i * LANES);
        let [Called(numerator), Called(denominator)] = summand.growth(&cells, &parameters);
        store(numerator, ratios);
        denominators.push(denominator);
    }
    divide(engine, ratios, &denominators);
}

/// `numerators /= denominators` by Montgomery's trick, lane by lane in [`CHAINS`] chains. Zero where a
/// product is zero.
#[inline(never)]
pub(super) fn divide<E: Engine>(engine: E, numerators: &mut [Fr], denominators: &[Lanes<E>]) {
    engine.run(
        #[inline(always)]
        || divide_lanes(engine, numerators, denominators),
    );
}

#[inline(always)]
fn divide_lanes<E: Engine>(engine: E, numerators: &mut [Fr], denominators: &[Lanes<E>]) {
    let mut prefixes = Vec::with_capacity(denominators.len());
    let mut products = [Lanes::<E>::one(engine); CHAINS];
    for group in denominators.chunks(CHAINS) {
        for (product, denominator) in products.iter_mut().zip(group) {
            prefixes.push(*product);
            *product = *product * *denominator;
        }
    }
    // One inversion for the products of all chains and lanes.
    let mut inverses = [Fr::ZERO; GROUP];
    for (product, inverses) in products.iter().zip(inverses.chunks_mut(LANES)) {
        store(*product, inverses);
    }
    batch_invert_vartime(&mut inverses);
    for (product, inverses) in products.iter_mut().zip(inverses.chunks(LANES)) {
        *product = load(engine, inverses);
    }
    // Backwards: `products` holds the inverse of the product up to the current group.
    let groups = denominators.chunks(CHAINS).zip(prefixes.chunks(CHAINS));
    for (numerators, (denominators, prefixes)) in numerators.chunks_mut(GROUP).zip(groups).rev() {
        let group = denominators.iter().zip(prefixes).zip(numerators.chunks_mut(LANES));
        for (inverse, ((denominator, prefix), numerators)) in products.iter_mut().zip(group) {
            store_bits(load_bits(engine, numerators) * *inverse * *prefix, numerators);
            *inverse = *inverse * *denominator;
        }
    }
}

/// Applies the total of the earlier chunks to all values of a chunk.
#[inline(always)]
fn carry<E: Engine>(engine: E, running: Running, values: &mut [Fr], before: Fr) {
    let (factor, summand) = (splat(engine, before), load_bits(engine, &[before; LANES]));
    for values in values.chunks_mut(LANES) {
        let lanes = load_bits(engine, values);
        let lanes = if running == Running::Product { lanes * factor } else { lanes + summand };
        store_bits(lanes, values);
    }
}

/// `first * root^i` for i below `count`.
pub(super) fn points(level: Level, root: Fr, first: Fr, count: usize) -> Vec<Fr> {
    let mut points = vec![Fr::ZERO; count];
    dispatch!(level, engine => engine.run(#[inline(always)] || fill_points(engine, root, first, &mut points)));
    points
}

#[inline(always)]
fn fill_points<E: Engine>(engine: E, root: Fr, first: Fr, points: &mut [Fr]) {
    let mut powers = [first; GROUP];
    for i in 1..GROUP {
        powers[i] = powers[i - 1] * root;
    }
    // All lanes of all chains go on by root^GROUP: the chains do not wait for each other.
    let step = splat(engine, repeated_square(root, GROUP.trailing_zeros()));
    let mut next = [Lanes::<E>::zero(engine); CHAINS];
    for (next, powers) in next.iter_mut().zip(powers.chunks(LANES)) {
        *next = load_bits(engine, powers);
    }
    for points in points.chunks_mut(GROUP) {
        for (next, points) in next.iter_mut().zip(points.chunks_mut(LANES)) {
            store_bits(*next, points);
            *next = *next * step;
        }
    }
}
