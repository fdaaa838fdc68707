//! Round 2: the permutation argument's grand product.
//!
//! `z(1) = 1` and `z(omega^(i+1)) = z(omega^i) * f(i) / g(i)`, where f multiplies the wires of row i folded
//! with their own labels and g folded with the labels of where sigma sends them. The product over all rows is
//! one exactly (but for a chance of about n/r) if wires hold the same value wherever sigma connects them.

use super::Prover;
use crate::{
    PlonkError, WIRES,
    arithmetisation::permutation_factor,
    permutation,
    polynomial::{CHUNK, Lanes, Loader, load, splat, store},
};
use proofmill_field::{
    Algebra, Backend, Engine, Field, Fp, LANES, Packed, batch_invert,
    bn254::{Fr, FrParams},
};
use proofmill_simd::{Level, dispatch};
use rayon::prelude::*;

/// What the ratios of all rows are computed with.
struct Folding<'a> {
    wires: &'a [Vec<Fr>; WIRES],
    sigmas: &'a [Vec<Fr>; WIRES],
    /// k1, k2.
    multipliers: [Fr; WIRES - 1],
    root: Fr,
    beta: Fr,
    gamma: Fr,
}

impl Prover<'_> {
    /// Steps 2.2 and 2.3: the coefficients of z, not yet blinded.
    pub(super) fn round2_grand_product(
        &mut self,
        wires: [Vec<Fr>; WIRES],
        beta: Fr,
        gamma: Fr,
    ) -> Result<Vec<Fr>, PlonkError> {
        self.phase("grand product");
        let mut sigmas = [const { Vec::new() }; WIRES];
        for (wire, labels) in sigmas.iter_mut().enumerate() {
            *labels = self.key.sigma_values(wire)?;
        }
        let multipliers = self.key.verifying_key().multipliers;
        let root = self.domain.root();
        let folding = Folding { wires: &wires, sigmas: &sigmas, multipliers, root, beta, gamma };
        let mut values = vec![Fr::ZERO; self.domain.len()];
        if folding.grand_product(self.level, &mut values) != Fr::ONE {
            return Err(self.copy_constraint_error(&sigmas, multipliers));
        }
        drop((wires, sigmas));
        self.phase("ntt");
        self.domain.intt(self.level, &mut values);
        Ok(values)
    }

    /// Names the first gate whose permutation in the key is not what the key's wires say.
    fn copy_constraint_error(&self, sigmas: &[Vec<Fr>; WIRES], [k1, k2]: [Fr; WIRES - 1]) -> PlonkError {
        let n = self.domain.len();
        let maps = match self.key.wire_maps() {
            Ok(maps) => maps,
            Err(error) => return error,
        };
        let rows: Vec<[u32; WIRES]> =
            (0..maps[0].len()).map(|row| std::array::from_fn(|wire| maps[wire][row])).collect();
        let positions = permutation::sigma(&rows, self.key.variables(), n);
        let labels =
            permutation::labels(&positions, [Fr::ONE, k1, k2], &permutation::powers(self.domain.root(), n));
        let differs = |row: &usize| (0..WIRES).any(|wire| sigmas[wire][*row] != labels[wire * n + row]);
        match (0..n).find(differs) {
            Some(gate) => PlonkError::CopyConstraint { gate },
            None => PlonkError::NotProven,
        }
    }
}

impl Folding<'_> {
    /// Writes z's value on every row; the product of all ratios.
    fn grand_product(&self, level: Level, values: &mut [Fr]) -> Fr {
        let products: Vec<Fr> = values
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(index, values)| {
                dispatch!(level, engine => {
                    engine.run(#[inline(always)] || self.ratios(engine, index * CHUNK, values));
                    let values = Fr::slice_with_backend_mut(engine.backend(), values);
                    exclusive_products(values).portable()
                })
            })
            .collect();
        let mut before = products;
        let product = exclusive_products(&mut before);
        values.par_chunks_mut(CHUNK).zip(before).for_each(|(values, before)| {
            dispatch!(level, engine => engine.run(#[inline(always)] || scale(engine, values, before)));
        });
        product
    }

    /// The ratios f / g of the rows from `start`, as many as there are places.
    #[inline(always)]
    fn ratios<E: Engine>(&self, _: E, start: usize, ratios: &mut [Fr]) {
        let gamma = splat::<E>(self.gamma);
        let beta = splat::<E>(self.beta);
        let [k1, k2] = [splat::<E>(self.multipliers[0]), splat::<E>(self.multipliers[1])];
        let ([a, b, c], [s1, s2, s3]) = (self.wires, self.sigmas);
        let mut labels = Labels::<E>::new(self.root, self.root.pow_vartime(&[start as u64]) * self.beta);
        let mut denominators = Vec::with_capacity(CHUNK / LANES);
        for (i, ratios) in ratios.chunks_mut(LANES).enumerate() {
            let row = start + i * LANES;
            let rows = Loader::<E>::at(row);
            let wires = [rows.from(a), rows.from(b), rows.from(c)];
            let label = labels.next();
            store(permutation_factor(wires, [label, k1 * label, k2 * label], gamma), ratios);
            let sigmas = [beta * rows.from(s1), beta * rows.from(s2), beta * rows.from(s3)];
            denominators.push(permutation_factor(wires, sigmas, gamma));
        }
        divide::<E>(ratios, &denominators);
    }
}

/// `numerators /= denominators` by Montgomery's trick, lane by lane; zero where a product is zero.
#[inline(always)]
fn divide<E: Engine>(numerators: &mut [Fr], denominators: &[Lanes<E>]) {
    let mut prefixes = Vec::with_capacity(denominators.len());
    let mut product = Lanes::<E>::one();
    for denominator in denominators {
        prefixes.push(product);
        product = product * *denominator;
    }
    let mut inverses = [Fr::ZERO; LANES];
    product.store(&mut inverses);
    batch_invert(&mut inverses);
    let mut inverse = Lanes::<E>::load(&inverses);
    for ((numerators, denominator), prefix) in
        numerators.chunks_mut(LANES).zip(denominators).zip(prefixes).rev()
    {
        store(load::<E>(numerators) * inverse * prefix, numerators);
        inverse = inverse * *denominator;
    }
}

/// Replaces each element by the product of those before it; the product of all.
fn exclusive_products<B: Backend>(values: &mut [Fp<FrParams, B>]) -> Fp<FrParams, B> {
    values.iter_mut().fold(Fp::ONE, |product, value| {
        let next = product * *value;
        *value = product;
        next
    })
}

#[inline(always)]
fn scale<E: Engine>(_: E, values: &mut [Fr], factor: Fr) {
    let factor = splat::<E>(factor);
    for values in values.chunks_mut(LANES) {
        store(load::<E>(values) * factor, values);
    }
}

/// The geometric sequence `first * root^i`, eight at a time.
pub(super) struct Labels<E: Engine> {
    next: Lanes<E>,
    step: Lanes<E>,
}

impl<E: Engine> Labels<E> {
    #[inline(always)]
    pub(super) fn new(root: Fr, first: Fr) -> Self {
        let mut powers = [first; LANES];
        for i in 1..LANES {
            powers[i] = powers[i - 1] * root;
        }
        Self { next: Lanes::<E>::load(&powers), step: splat::<E>(root.square().square().square()) }
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Lanes<E> {
        let labels = self.next;
        self.next = labels * self.step;
        labels
    }
}
