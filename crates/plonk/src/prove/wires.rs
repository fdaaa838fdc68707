//! Round 1: the values on the wires, the check that they satisfy the gates, and their polynomials.

use super::{Blinding, ProveOptions, Prover};
use crate::{
    PlonkError, ProvingKey, SELECTORS, Standard, StandardTerms, WIRES,
    polynomial::{CHUNK, Loader, blind, load},
};
use proofmill_circom::Addition;
use proofmill_field::{Engine, Field, LANES, Vector, bn254::Fr};
use proofmill_simd::{Level, dispatch};
use rayon::prelude::*;
use std::ops::Range;

/// Values on the rows of the domain.
pub(super) struct Assignment {
    /// a, b, c on every row.
    pub(super) wires: [Vec<Fr>; WIRES],
    /// The public inputs.
    pub(super) public: Vec<Fr>,
}

impl Prover<'_> {
    /// Step 1.1: from the witness to the wires.
    pub(super) fn round1_assign(
        &mut self,
        witness: &[Fr],
        options: ProveOptions,
    ) -> Result<Assignment, PlonkError> {
        self.phase("check witness");
        let variables = variables(self.key, witness)?;
        let n = self.domain.len();
        let mut wires = self.key.wire_maps()?.map(|map| {
            let mut values: Vec<Fr> = map.par_iter().map(|variable| variables[*variable as usize]).collect();
            values.resize(n, Fr::ZERO);
            values
        });
        wires.iter_mut().for_each(|values| values.shrink_to_fit());
        let public = variables[1..=self.key.verifying_key().public as usize].to_vec();
        let assignment = Assignment { wires, public };
        if options.check_witness {
            self.check(&assignment)?;
        }
        Ok(assignment)
    }

    /// Refuses an assignment with the first gate that does not hold. Copy constraints hold because wires of
    /// one variable are read from one place; that the key's permutation says the same is checked in round 2.
    fn check(&self, assignment: &Assignment) -> Result<(), PlonkError> {
        let mut selectors = [const { Vec::new() }; SELECTORS];
        for (selector, values) in selectors.iter_mut().enumerate() {
            *values = self.key.selector_values(selector)?;
        }
        match first_failing_row(self.level, &selectors, assignment) {
            None => Ok(()),
            Some(gate) => Err(PlonkError::Unsatisfied { gate }),
        }
    }

    /// Steps 1.2 and 1.3: the wires' polynomials, each blinded by two coefficients.
    pub(super) fn round1_wires(&mut self, assignment: &Assignment, blinding: &Blinding) -> [Vec<Fr>; WIRES] {
        self.phase("ntt");
        std::array::from_fn(|wire| {
            let mut coefficients = Vec::with_capacity(self.domain.len() + 2);
            coefficients.extend_from_slice(&assignment.wires[wire]);
            self.domain.intt(self.level, &mut coefficients);
            blind(&mut coefficients, &blinding.wires[wire]);
            coefficients
        })
    }
}

/// The values of all variables: 0 for variable 0, the witness's for R1CS's wires, sums for the others.
fn variables(key: &ProvingKey, witness: &[Fr]) -> Result<Vec<Fr>, PlonkError> {
    let (count, additions) = (key.variables() as usize, key.additions()?);
    let expected = count - additions.len();
    if witness.len() != expected {
        return Err(PlonkError::WitnessLength { expected, found: witness.len() });
    }
    let mut values = Vec::with_capacity(count);
    values.extend_from_slice(witness);
    if let Some(constant) = values.first_mut() {
        *constant = Fr::ZERO;
    }
    for Addition { left, right, left_factor, right_factor } in additions {
        values.push(left_factor * values[left as usize] + right_factor * values[right as usize]);
    }
    Ok(values)
}

/// The first row where selectors times terms, minus the row's public input, is not zero.
fn first_failing_row(
    level: Level,
    selectors: &[Vec<Fr>; SELECTORS],
    assignment: &Assignment,
) -> Option<usize> {
    let n = assignment.wires[0].len();
    let starts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    starts.par_iter().find_map_first(|&start| {
        let rows = start..(start + CHUNK).min(n);
        dispatch!(level, engine => engine.run(
            #[inline(always)]
            || first_failing_of(engine, selectors, assignment, rows)
        ))
    })
}

#[inline(always)]
fn first_failing_of<E: Engine>(
    engine: E,
    selectors: &[Vec<Fr>; SELECTORS],
    assignment: &Assignment,
    rows: Range<usize>,
) -> Option<usize> {
    // A loop, as the iterator's search is a call that the compiler does not inline here.
    for row in rows.step_by(LANES) {
        let failing = failing_lanes(engine, selectors, assignment, row);
        if failing != 0 {
            return Some(row + failing.trailing_zeros() as usize);
        }
    }
    None
}

/// Which of the eight rows from `row` do not hold, bit i for the i-th.
#[inline(always)]
fn failing_lanes<E: Engine>(
    _: E,
    selectors: &[Vec<Fr>; SELECTORS],
    assignment: &Assignment,
    row: usize,
) -> u8 {
    let rows = Loader::<E>::at(row);
    let [a, b, c] = &assignment.wires;
    let [qm, ql, qr, qo, qc] = selectors;
    let wires = [rows.from(a), rows.from(b), rows.from(c)];
    let selectors = [rows.from(qm), rows.from(ql), rows.from(qr), rows.from(qo), rows.from(qc)];
    let public = assignment.public.get(row..).unwrap_or_default();
    let sum = Standard::row(selectors, wires) - load::<E>(public);
    !sum.zero_lanes()
}
