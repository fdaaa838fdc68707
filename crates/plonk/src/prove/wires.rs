//! Round 1: the values on the wires, the check that they satisfy the gates, and how often tables are looked up.

use super::{
    Columns, ProveOptions, Prover, Values,
    rows::{Slots, add_summand},
};
use crate::{
    Column, LookupArgument, PlonkError, ProvingKey, Selector,
    challenges::Challenges,
    check::failing_constraints,
    lookup::{RowCells, TABLE_COLUMNS, Tuples},
    polynomial::{form, in_form, linear_combination},
    system::{Argument, with_summand},
};
use proofmill_field::{Field, bn254::Fr};
use rand::{SeedableRng, rngs::StdRng};
use rayon::prelude::*;
use std::borrow::Cow;

/// Values on the rows of the domain; those of columns that the next row is looked at of, and again the first.
pub(super) struct Assignment {
    /// The wires, what is looked up how often and, later, folded tables and what is sorted.
    pub(super) values: Values,
    /// The public inputs.
    pub(super) public: Vec<Fr>,
    /// Which row of the tables each row looks up.
    pub(super) tuples: Option<Tuples>,
}

impl Assignment {
    /// The columns that are committed to, n values each.
    pub(super) fn columns(&self) -> impl Iterator<Item = (Column, Cow<'_, [Fr]>)> {
        self.values.iter().map(|(column, values)| (*column, Cow::Borrowed(without_wrap(values))))
    }

    /// A column's n + 1 values.
    pub(super) fn column(&self, column: Column) -> &[Fr] {
        self.values.iter().find(|(each, _)| *each == column).map_or(&[], |(_, values)| values)
    }
}

/// The values without the first one's repetition.
pub(super) fn without_wrap(values: &[Fr]) -> &[Fr] {
    values.split_last().map_or(values, |(_, values)| values)
}

/// The values and again the first.
pub(super) fn wrapped(mut values: Vec<Fr>) -> Vec<Fr> {
    values.reserve_exact(1);
    values.extend(values.first().copied());
    values
}

impl Prover<'_> {
    /// From the witness to the wires and multiplicities.
    pub(super) fn round1_assign(
        &mut self,
        witness: &[Fr],
        options: ProveOptions,
    ) -> Result<Assignment, PlonkError> {
        self.phase("check witness");
        let variables = variables(self.key, witness)?;
        let n = self.domain.len();
        let maps = self.key.variables_of()?;
        let wire = |map: &Vec<u32>| {
            let mut values = Vec::with_capacity(n + 1);
            map.par_iter().map(|variable| variables[*variable as usize]).collect_into_vec(&mut values);
            values.resize(n, Fr::ZERO);
            wrapped(values)
        };
        let values: Values = (0..).map(Column::Wire).zip(maps.iter().map(wire)).collect();
        drop(maps);
        let public = self.key.verifying_key().public as usize;
        let public = values.first().map_or(&[][..], |(_, values)| values)[..public].to_vec();
        let mut assignment = Assignment { values, public, tuples: None };
        if options.check_witness {
            self.check(&assignment)?;
        }
        if let Some(argument) = self.system.lookup() {
            let tuples = self.tuples(&assignment)?;
            if argument == LookupArgument::LogDerivative {
                assignment.values.push((Column::Multiplicities, wrapped(tuples.multiplicities(n))));
            }
            assignment.tuples = Some(tuples);
        }
        Ok(assignment)
    }

    /// Refuses an assignment with the first row that does not hold. Copy constraints hold because wires of
    /// one variable are read from one place; that the key's permutation says the same is checked in round 3.
    fn check(&mut self, assignment: &Assignment) -> Result<(), PlonkError> {
        let n = self.domain.len();
        let form = form(self.level);
        let mut failures = vec![Fr::ZERO; n];
        for (failure, input) in failures.iter_mut().zip(&assignment.public) {
            *failure = -*input * form;
        }
        let wires: Values = assignment
            .values
            .iter()
            .map(|(column, values)| (*column, in_form(self.level, Cow::Borrowed(values))))
            .collect();
        // Constraints of one row are folded by powers of a number that no witness was made for.
        let alpha = Fr::random(&mut StdRng::from_os_rng());
        let challenges = Challenges { alpha, ..Challenges::default() };
        let parameters = self.system.parameters(&challenges, self.key.verifying_key().multipliers);
        for argument in self.system.arguments() {
            let Argument::Gate(_) = argument else { continue };
            let fixed = self.fixed_in_form(argument)?;
            let mut slots = Slots::new();
            fixed.iter().for_each(|(column, values)| slots.set(*column, values));
            wires.iter().for_each(|(column, values)| slots.set(*column, values));
            let known = |_, _| [Vec::new(), Vec::new()];
            with_summand!(self.system, argument, summand => {
                add_summand(self.level, summand, &slots, &parameters, known, &mut failures);
            });
        }
        match failures.par_iter().position_first(|value| !value.is_zero()) {
            None => Ok(()),
            Some(row) => Err(self.unsatisfied(assignment, row)?),
        }
    }

    /// What the checker says of a row that does not hold.
    fn unsatisfied(&self, assignment: &Assignment, row: usize) -> Result<PlonkError, PlonkError> {
        let value = |column: Column| {
            let values = self.key.values(self.level, &self.domain, column)?;
            Ok(values.get(row).copied().unwrap_or_default())
        };
        let values = |columns: &mut dyn Iterator<Item = Column>| -> Result<Vec<Fr>, PlonkError> {
            columns
                .map(|column| if self.system.lacks(column) { Ok(Fr::ZERO) } else { value(column) })
                .collect()
        };
        let wire = |wire| assignment.column(Column::Wire(wire)).get(row..).unwrap_or_default();
        let wires: Vec<&[Fr]> = (0..4).map(wire).collect();
        let data = values(&mut (0..4).map(Column::Data))?;
        let data: Vec<&[Fr]> = data.iter().map(std::slice::from_ref).collect();
        // The slices begin with the row.
        let cells = RowCells { row: 0, wires: &wires, data: &data };
        for (index, gate) in self.system.gates().iter().enumerate() {
            let selectors = values(&mut gate.selectors().iter().copied().map(Column::Selector))?;
            let public = index == 0 && row < assignment.public.len();
            let failing =
                failing_constraints(&cells, row, *gate, &gate.constants(), |index| selectors[index], public);
            if let Some(first) = failing.into_iter().next() {
                return Ok(PlonkError::Unsatisfied(first));
            }
        }
        Ok(PlonkError::NotProven)
    }

    /// The values of the key's columns that an argument looks at, in [`form`].
    pub(super) fn fixed_in_form(&self, argument: Argument) -> Result<Values, PlonkError> {
        let columns = self.system.fixed_columns(argument).into_iter();
        let in_form = |column| {
            let values = self.key.values(self.level, &self.domain, column)?;
            Ok((column, in_form(self.level, values)))
        };
        columns.map(in_form).collect()
    }

    /// Which rows of the tables are looked up.
    fn tuples(&mut self, assignment: &Assignment) -> Result<Tuples, PlonkError> {
        self.phase("look up");
        let values = |column: Column| -> Result<Cow<'_, [Fr]>, PlonkError> {
            if self.system.lacks(column) {
                return Ok(Cow::Borrowed(&[]));
            }
            self.key.values(self.level, &self.domain, column)
        };
        let mut tables = Vec::new();
        for column in TABLE_COLUMNS {
            tables.push(values(column)?);
        }
        let mut data = Vec::new();
        for index in 0..4 {
            data.push(values(Column::Data(index))?);
        }
        let selector = values(Column::Selector(Selector::Lookup))?;
        let wires: Vec<&[Fr]> = (0..4).map(|wire| assignment.column(Column::Wire(wire))).collect();
        Tuples::find(&selector, &wires, &data, &tables, self.domain.len())
    }

    /// Folds the tables' columns by eta.
    pub(super) fn fold_tables(&mut self, assignment: &mut Assignment) -> Result<(), PlonkError> {
        if self.system.lookup().is_none() {
            return Ok(());
        }
        self.phase("look up");
        let (level, n, eta) = (self.level, self.domain.len(), self.challenges.eta);
        let mut columns = Vec::new();
        for column in TABLE_COLUMNS {
            columns.push(if self.system.lacks(column) {
                Cow::Borrowed(&[][..])
            } else {
                self.key.coefficients(level, column)?
            });
        }
        let powers = std::iter::successors(Some(Fr::ONE), |power| Some(*power * eta));
        let terms: Vec<(Fr, &[Fr])> = powers.zip(columns.iter().map(|column| &**column)).collect();
        let folded = linear_combination(level, n, &terms);
        let mut values = folded.clone();
        self.polynomials.insert(Column::Table, folded);
        self.domain.ntt(level, &mut values);
        assignment.values.push((Column::Table, wrapped(values)));
        Ok(())
    }

    /// Sorts lookups and tables where the argument wants it.
    pub(super) fn round2_sorted(&mut self, assignment: &mut Assignment) -> Columns<'static> {
        if self.system.lookup() != Some(LookupArgument::Plookup) {
            return Vec::new();
        }
        self.phase("look up");
        let table = without_wrap(assignment.column(Column::Table)).to_vec();
        let halves = assignment.tuples.as_ref().map(|tuples| tuples.sorted(&table));
        let [even, odd] = halves.unwrap_or_default();
        let columns = [(Column::Sorted(0), even), (Column::Sorted(1), odd)];
        assignment.values.extend(columns.iter().cloned().map(|(column, values)| (column, wrapped(values))));
        columns.into_iter().map(|(column, values)| (column, Cow::Owned(values))).collect()
    }
}

/// The values of all variables: 0 for variable 0, the witness's, and those derived of it.
fn variables<'w>(key: &ProvingKey, witness: &'w [Fr]) -> Result<Cow<'w, [Fr]>, PlonkError> {
    if let Some(derivations) = key.derivations()? {
        return derivations.assign(witness).map(Cow::Owned);
    }
    let (expected, found) = (key.variables() as usize, witness.len());
    if found != expected {
        return Err(PlonkError::WitnessLength { expected, found });
    }
    if witness.first().is_some_and(Fr::is_zero) {
        return Ok(Cow::Borrowed(witness));
    }
    let mut values = witness.to_vec();
    if let Some(constant) = values.first_mut() {
        *constant = Fr::ZERO;
    }
    Ok(Cow::Owned(values))
}
