//! Round 1: the values on the wires, the check of the gates, and the multiplicities of lookups.
//! Round 2: the folded table and the sorted columns.

use super::{
    ColumnValues, ProveOptions, ProverState, WitnessColumns,
    rows::{Whole, add_summand},
};
use crate::{
    Column, LookupArgument, PlonkError, ProvingKey, Selector,
    arithmetisation::{
        lookup::{RowCells, TABLE_COLUMNS, Tuples},
        summand::Challenges,
        system::Argument,
    },
    circuit::check::failing_constraints,
    memory::{CowScalars, Scalars},
    polynomial::{CHUNK, add_multiple, bring_in_form},
};
use proofmill_field::{Field, bn254::Fr};
use proofmill_run::parallel;
use rand::{SeedableRng, rngs::StdRng};
use std::borrow::Cow;

/// Columns as values on the n rows of the domain, followed by the first value again for columns whose next
/// row is used.
pub(crate) struct Assignment {
    /// The wires, the multiplicities and, later, the folded tables and the sorted columns.
    pub(crate) values: WitnessColumns,
    /// The public inputs.
    pub(crate) public: Vec<Fr>,
    /// The row of the tables that each row looks up.
    pub(super) tuples: Option<Tuples>,
}

impl Assignment {
    /// The columns to commit to.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (Column, CowScalars<'_>)> {
        self.values.iter().map(|(column, values)| (*column, CowScalars::from(values)))
    }

    /// The n + 1 values of a column.
    pub(super) fn column(&self, column: Column) -> &[Fr] {
        self.values.iter().find(|(each, _)| *each == column).map_or(&[], |(_, values)| values)
    }
}

/// Copies the first value to the last place, and releases the pages if the vector is in a file.
pub(super) fn wrap(values: &mut Scalars) {
    if let [first, .., last] = &mut **values {
        *last = *first;
    }
    values.release(0..values.len());
}

impl ProverState<'_> {
    /// The wires and multiplicities of a witness.
    pub(crate) fn round1_assign(
        &mut self,
        witness: &[Fr],
        options: ProveOptions,
    ) -> Result<Assignment, PlonkError> {
        self.phase("check witness");
        let variables = variables(self.key, witness)?;
        let n = self.domain.len();
        let maps = self.key.variables_of()?;
        let mut values = WitnessColumns::new();
        for (wire, map) in (0..).map(Column::Wire).zip(maps.iter()) {
            let mut column = self.storage().scalars(n + 1)?;
            parallel::for_each(column.chunks_mut(CHUNK).zip(map.chunks(CHUNK)), |(values, map)| {
                for (value, variable) in values.iter_mut().zip(map) {
                    *value = variables[*variable as usize];
                }
            });
            wrap(&mut column);
            values.push((wire, column));
        }
        drop(maps);
        // The first rows of a circuit have the public inputs on the first wire.
        let public = self.key.verifying_key().public as usize;
        let public = values.first().map_or(&[][..], |(_, values)| values)[..public].to_vec();
        let mut assignment = Assignment { values, public, tuples: None };
        if options.check_witness {
            self.check(&assignment)?;
        }
        if let Some(argument) = self.system.lookup() {
            let tuples = self.tuples(&assignment)?;
            // logUp commits to multiplicities here: they must be fixed before delta is drawn.
            if argument == LookupArgument::LogDerivative {
                assignment.values.push((Column::Multiplicities, self.wrapped(&tuples.multiplicities(n))?));
            }
            assignment.tuples = Some(tuples);
        }
        Ok(assignment)
    }

    /// The n values followed by the first one again.
    fn wrapped(&self, values: &[Fr]) -> Result<Scalars, PlonkError> {
        let mut wrapped = self.storage().copy(values, values.len() + 1)?;
        wrap(&mut wrapped);
        Ok(wrapped)
    }

    /// The values times [`form`](crate::polynomial::form).
    pub(super) fn in_form(&self, values: CowScalars<'_>) -> Result<Scalars, PlonkError> {
        let mut values = match values {
            CowScalars::Owned(values) => values,
            CowScalars::Borrowed(values) => self.storage().copy(&values, values.len())?,
        };
        bring_in_form(self.level, &mut values);
        values.release(0..values.len());
        Ok(values)
    }

    /// Returns an error for the first row that does not hold. Copy constraints hold because the wires of a
    /// variable read the same value; that the key's permutation agrees is checked in round 3.
    fn check(&mut self, assignment: &Assignment) -> Result<(), PlonkError> {
        let mut failures = self.storage().scalars(self.domain.len())?;
        for (failure, input) in failures.iter_mut().zip(&assignment.public) {
            // The values of PI, which is in the identity of the gates.
            *failure = -*input;
        }
        let mut wires = WitnessColumns::new();
        for (column, values) in &assignment.values {
            wires.push((*column, self.in_form(CowScalars::from(values))?));
        }
        // Random, so that no witness can be made to cancel violated constraints of one row.
        let alpha = Fr::random(&mut StdRng::from_os_rng());
        let challenges = Challenges { alpha, ..Challenges::default() };
        let parameters = self.system.parameters(&challenges, self.key.verifying_key().multipliers);
        for argument in self.system.arguments() {
            let Argument::Gate(gate) = argument else { continue };
            // In every product of a summand exactly one factor is not in form, so the sums are those of
            // values in form divided by the form.
            let [factors, inside] = self.system.factors_and_inside(gate);
            debug_assert!(inside.iter().all(|column| !factors.contains(column)), "read in two ways");
            let mut fixed = Vec::new();
            for column in &factors {
                fixed.push((*column, self.key.values(self.level, &self.domain, *column)?));
            }
            for column in &inside {
                let values = self.key.values(self.level, &self.domain, *column)?;
                fixed.push((*column, CowScalars::Owned(self.in_form(values)?)));
            }
            let columns = fixed.iter().map(|(column, values)| (*column, &**values));
            let columns = Whole::new(columns.chain(wires.iter().map(|(column, values)| (*column, values))));
            let known = |_, _| [Vec::new(), Vec::new()];
            add_summand(self.level, self.system, argument, &columns, &parameters, &known, &mut failures);
        }
        let chunks = (0..).step_by(CHUNK).zip(failures.chunks(CHUNK));
        let failing = parallel::map(chunks, |(start, failures)| {
            Some(start + failures.iter().position(|value| !value.is_zero())?)
        });
        match failing.into_iter().flatten().next() {
            None => Ok(()),
            Some(row) => Err(self.unsatisfied(assignment, row)?),
        }
    }

    /// The checker's error for a row that does not hold.
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
        // The slices begin at this row.
        let cells = RowCells { row: 0, wires: &wires, data: &data };
        for (index, gate) in self.system.gates().iter().enumerate() {
            let selectors = values(&mut gate.selectors().iter().copied().map(Column::Selector))?;
            let public = index == 0 && row < assignment.public.len();
            let failing =
                failing_constraints(&cells, row, *gate, &gate.constants(), &|index| selectors[index], public);
            if let Some(first) = failing.into_iter().next() {
                return Ok(PlonkError::Unsatisfied(first));
            }
        }
        Ok(PlonkError::NotProven)
    }

    /// The values of the key's columns that an argument uses, times `form`.
    pub(super) fn fixed_in_form(&self, argument: Argument) -> Result<WitnessColumns, PlonkError> {
        let columns = self.system.fixed_columns(argument).into_iter();
        let in_form = |column| {
            let values = self.key.values(self.level, &self.domain, column)?;
            Ok((column, self.in_form(values)?))
        };
        columns.map(in_form).collect()
    }

    /// Finds the rows of the tables that are looked up.
    fn tuples(&mut self, assignment: &Assignment) -> Result<Tuples, PlonkError> {
        self.phase("look up");
        let values = |column: Column| -> Result<CowScalars<'_>, PlonkError> {
            if self.system.lacks(column) {
                return Ok(CowScalars::Owned(Vec::new().into()));
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

    /// Folds the tables' columns by powers of eta.
    pub(super) fn fold_tables(&mut self, assignment: &mut Assignment) -> Result<(), PlonkError> {
        if self.system.lookup().is_none() {
            return Ok(());
        }
        self.phase("look up");
        let (level, n, eta) = (self.level, self.domain.len(), self.challenges.eta);
        // No new commitment: the verifier folds those of the key by the same powers.
        let mut folded = self.storage().scalars(n)?;
        let mut power = Fr::ONE;
        for column in TABLE_COLUMNS {
            if !self.system.lacks(column) {
                add_multiple(level, &mut folded, power, &self.key.coefficients(level, column)?);
            }
            power *= eta;
        }
        let mut values = self.storage().copy(&folded, n + 1)?;
        folded.release(0..n);
        self.polynomials.insert(Column::Table, folded);
        self.domain.ntt(level, &mut values[..n]);
        wrap(&mut values);
        assignment.values.push((Column::Table, values));
        Ok(())
    }

    /// Sorts lookups and tables if the argument needs them sorted.
    pub(super) fn round2_sorted<'v>(
        &mut self,
        assignment: &'v mut Assignment,
    ) -> Result<ColumnValues<'v>, PlonkError> {
        let first = assignment.values.len();
        if self.system.lookup() == Some(LookupArgument::Plookup) {
            self.phase("look up");
            let table = &assignment.column(Column::Table)[..self.domain.len()];
            let halves = assignment.tuples.as_ref().map(|tuples| tuples.sorted(table));
            for (index, half) in (0..).zip(halves.unwrap_or_default()) {
                assignment.values.push((Column::Sorted(index), self.wrapped(&half)?));
            }
        }
        Ok(assignment.values[first..]
            .iter()
            .map(|(column, values)| (*column, CowScalars::from(values)))
            .collect())
    }
}

/// The values of all variables: 0 for variable 0, then the witness, then the derived variables.
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
