//! Proofs of columns that an honest prover does not commit to. The verifier must refuse them, and the
//! identity must fail exactly where it is forged.
//!
//! The forger runs the prover without its checks and changes columns before they are committed to. Each
//! forgery breaks one argument on one row. The test computes this from the formulas, row by row, so that the
//! refusal is due to that argument alone.

use super::{BlindingCoefficients, Committer, ProverState, wires::Assignment};
use crate::{
    Arithmetisation, Cells, Circuit, Column, FixedColumns, Layout, LookupArgument, Memory, Progress,
    ProveOptions, ProvingKey, Selector, Variable,
    arithmetisation::{
        lookup::{log_derivative::LogDerivative, plookup::Plookup},
        permutation::PermutationArgument,
        summand::{Challenges, FormulaParameters, Growing, SummandSink},
        system::Argument,
    },
    memory::CowScalars,
    verify,
};
use proofmill_cpu::Level;
use proofmill_field::{Algebra, Field, Invert, bn254::Fr};
use proofmill_run::Run;
use proofmill_srs::Srs;
use rand::{SeedableRng, rngs::StdRng};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

static SRS: LazyLock<Arc<Srs>> =
    LazyLock::new(|| Arc::new(Srs::insecure_from_known_tau(Level::best(), Fr::from(12345), 1 << 7)));

/// n values of every column.
type Table = BTreeMap<Column, Vec<Fr>>;

/// A row of a [`Table`].
struct Row<'a> {
    columns: &'a Table,
    row: usize,
}

impl Cells<Fr> for Row<'_> {
    fn here(&self, column: Column) -> Fr {
        self.columns.get(&column).map_or(Fr::ZERO, |values| values[self.row % values.len()])
    }

    fn after(&self, column: Column) -> Fr {
        Row { row: self.row + 1, ..*self }.here(column)
    }
}

/// The value of an argument on a row.
struct Residue<'a>(&'a Row<'a>, Fr);

impl SummandSink<Fr> for Residue<'_> {
    fn linear(&mut self, column: Column, factor: Fr) {
        self.1 += factor * self.0.here(column);
    }

    fn constant(&mut self, value: Fr) {
        self.1 += value;
    }
}

/// A running product or sum on all rows, and its value after the last row.
fn running(
    summand: impl Growing,
    is_product: bool,
    columns: &Table,
    parameters: &FormulaParameters<Fr>,
) -> (Vec<Fr>, Fr) {
    let n = columns[&Column::Wire(0)].len();
    let mut total = if is_product { Fr::ONE } else { Fr::ZERO };
    let mut values = Vec::new();
    for row in 0..n {
        values.push(total);
        let [numerator, denominator] = summand.growth(&Row { columns, row }, parameters);
        let growth = numerator * denominator.invert_vartime().expect("not zero");
        total = if is_product { total * growth } else { total + growth };
    }
    (values, total)
}

/// The running column of an argument of lookups, as [`running`].
fn running_of_lookups(
    argument: LookupArgument,
    columns: &Table,
    parameters: &FormulaParameters<Fr>,
) -> (Vec<Fr>, Fr) {
    match argument {
        LookupArgument::LogDerivative => running(LogDerivative, false, columns, parameters),
        LookupArgument::Plookup => running(Plookup, true, columns, parameters),
    }
}

/// The forger's knowledge when it changes a column.
struct Moment {
    challenges: Challenges,
    /// The value of a running column after the last row.
    total: Fr,
}

/// Changes a column's n values.
type Change<'a> = &'a dyn Fn(&mut [Fr], &Moment);

/// The result of a forgery.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// The arguments that do not hold, each with its row.
    broken: Vec<(Argument, usize)>,
    accepted: bool,
}

impl Outcome {
    fn honest() -> Self {
        Self { broken: vec![], accepted: true }
    }

    fn refused(argument: Argument, row: usize) -> Self {
        Self { broken: vec![(argument, row)], accepted: false }
    }
}

struct Forger {
    key: ProvingKey,
    values: Vec<Fr>,
}

impl Forger {
    fn new(layout: &Layout, values: &[Fr]) -> Self {
        let columns =
            FixedColumns::new(Run { memory: Some(Memory::Balanced), ..Level::best().into() }, layout.clone());
        let key = columns.expect("columns").commit(Level::best().into(), SRS.clone()).expect("a key");
        Self { key, values: values.to_vec() }
    }

    fn n(&self) -> usize {
        1 << self.key.verifying_key().log_n
    }

    fn last_row(&self) -> usize {
        self.n() - 1
    }

    /// The outcome of a proof with changed columns.
    fn forge(&self, changes: &[(Column, Change<'_>)]) -> Outcome {
        let (level, key) = (Level::best(), self.key.verifying_key());
        let progress: Progress<'_> = Progress::NONE;
        let blinding = BlindingCoefficients::random(&key.system, &mut StdRng::seed_from_u64(1));
        let committer = Committer::here(Run { progress, ..level.into() }, &self.key).expect("powers");
        let mut prover = ProverState::new(Run { progress, ..level.into() }, &self.key, blinding, committer)
            .expect("a prover");
        let mut columns = self.fixed(&prover);
        let change = |prover: &ProverState<'_>,
                      columns: &mut Table,
                      column: Column,
                      mut values: Vec<Fr>,
                      total: Fr| {
            values.truncate(self.n());
            for (_, change) in changes.iter().filter(|(changed, _)| *changed == column) {
                change(&mut values, &Moment { challenges: prover.challenges, total });
            }
            columns.insert(column, values);
        };
        let commit = |prover: &mut ProverState<'_>, columns: &Table, names: &[Column]| {
            let values = names.iter().map(|name| (*name, CowScalars::Owned(columns[name].clone().into())));
            prover.commit_columns(values.collect::<Vec<_>>()).expect("commitments")
        };
        let [first_names, second_names, third_names] = key.system.rounds();

        let options = ProveOptions { check_witness: false };
        let mut assignment: Assignment = prover.round1_assign(&self.values, options).expect("honest");
        let public = assignment.public.clone();
        for (column, values) in &assignment.values {
            change(&prover, &mut columns, *column, values.to_vec(), Fr::ZERO);
        }
        let first = commit(&mut prover, &columns, &first_names);
        prover.challenges.after_first_round(key, &public, &first);

        prover.fold_tables(&mut assignment).expect("tables");
        if key.system.lookup().is_some() {
            let table = assignment.column(Column::Table)[..self.n()].to_vec();
            columns.insert(Column::Table, table);
        }
        for (column, values) in prover.round2_sorted(&mut assignment).expect("memory") {
            change(&prover, &mut columns, column, values.to_vec(), Fr::ZERO);
        }
        let second = commit(&mut prover, &columns, &second_names);
        prover.challenges.after_second_round(key, &second);

        let parameters = key.system.parameters(&prover.challenges, key.multipliers);
        let wires = key.system.wires();
        let (values, total) = running(PermutationArgument { wires }, true, &columns, &parameters);
        change(&prover, &mut columns, Column::GrandProduct, values, total);
        if let Some(argument) = key.system.lookup() {
            let (values, total) = running_of_lookups(argument, &columns, &parameters);
            change(&prover, &mut columns, Column::LookupAccumulator, values, total);
        }
        let third = commit(&mut prover, &columns, &third_names);
        prover.challenges.after_third_round(key, &third);

        let parameters = key.system.parameters(&prover.challenges, key.multipliers);
        let broken = self.broken(&columns, &parameters, &public);
        let proof = prover.conclude([first, second, third], &public).expect("a proof");
        Outcome { broken, accepted: verify(level, key, &public, &proof).is_ok() }
    }

    /// The key's columns, and those that the verifier computes itself.
    fn fixed(&self, prover: &ProverState<'_>) -> Table {
        let names = self.key.verifying_key().system.fixed().iter();
        let value = |column: &Column| {
            let values = self.key.values(prover.level, &prover.domain, *column).expect("values");
            (*column, values.to_vec())
        };
        let mut columns: Table = names.map(value).collect();
        let mut first_row = vec![Fr::ZERO; self.n()];
        first_row[0] = Fr::ONE;
        columns.insert(Column::FirstLagrange, first_row);
        columns.insert(
            Column::Point,
            crate::arithmetisation::permutation::powers(prover.domain.root(), self.n()),
        );
        columns
    }

    /// The arguments and rows where the identity does not hold.
    fn broken(
        &self,
        columns: &Table,
        parameters: &FormulaParameters<Fr>,
        public: &[Fr],
    ) -> Vec<(Argument, usize)> {
        let system = &self.key.verifying_key().system;
        let mut broken = Vec::new();
        for (place, argument) in system.arguments().into_iter().enumerate() {
            for row in 0..self.n() {
                let cells = Row { columns, row };
                let input = public.get(row).filter(|_| place == 0).copied().unwrap_or_default();
                let mut residue = Residue(&cells, -input);
                system.argument_terms(&[argument], &cells, parameters, &mut residue);
                if !residue.1.is_zero() {
                    broken.push((argument, row));
                }
            }
        }
        broken
    }
}

/// A table, and rows that look up these tuples with separate variables.
const TABLE: [[u64; 3]; 3] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
const LOOKUPS: [[u64; 3]; 4] = [[1, 2, 3], [4, 5, 6], [1, 2, 3], [1, 2, 3]];

fn lookups(argument: LookupArgument) -> Forger {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let rows: Arc<[[Fr; 3]]> = TABLE.iter().map(|row| row.map(Fr::from)).collect();
    let number = circuit.table("table", || rows);
    for tuple in LOOKUPS {
        let wires = tuple.map(|value| circuit.witness(Fr::from(value)));
        circuit.lookup(number, wires, [Fr::ZERO; 3]);
    }
    let layout = Layout { lookup: Some(argument), ..circuit.layout() };
    Forger::new(&layout, circuit.values())
}

/// Makes row 1 look up another tuple: (4, 5, 9), which is not in the table, or the zeros that pad the tables.
fn wrong_lookup(tuple: [u64; 3]) -> [impl Fn(&mut [Fr], &Moment); 3] {
    tuple.map(|value| move |values: &mut [Fr], _: &Moment| values[1] = Fr::from(value))
}

fn with_wires<'a>(
    wires: &'a [impl Fn(&mut [Fr], &Moment)],
    others: &[(Column, Change<'a>)],
) -> Vec<(Column, Change<'a>)> {
    let wires = (0..).map(Column::Wire).zip(wires).map(|(column, change)| (column, change as Change<'a>));
    wires.chain(others.iter().copied()).collect()
}

/// Changes a running sum or product from row `k` on so that it closes.
fn jump(is_product: bool, k: usize) -> impl Fn(&mut [Fr], &Moment) {
    move |values, moment| {
        for value in &mut values[k..] {
            let inverse = moment.total.invert_vartime().unwrap_or_default();
            *value = if is_product { *value * inverse } else { *value - moment.total };
        }
    }
}

#[test]
fn unchanged_columns_are_accepted() {
    for argument in LookupArgument::ALL {
        assert_eq!(lookups(argument).forge(&[]), Outcome::honest());
    }
    // The first value of a sum is free: only its differences are constrained.
    let shifted: Change<'_> = &|values, _| values.iter_mut().for_each(|value| *value += Fr::from(5));
    let outcome = lookups(LookupArgument::LogDerivative).forge(&[(Column::LookupAccumulator, shifted)]);
    assert_eq!(outcome, Outcome::honest());
}

#[test]
fn forged_multiplicities_are_refused() {
    let forger = lookups(LookupArgument::LogDerivative);
    let lookup = Argument::Lookup(LookupArgument::LogDerivative);
    let refused = Outcome::refused(lookup, forger.last_row());
    // Rows of the table, and one row of padding.
    for row in [0, 1, 2, 3, forger.last_row()] {
        let more: Change<'_> = &|values, _| values[row] += Fr::ONE;
        let less: Change<'_> = &|values, _| values[row] -= Fr::ONE;
        assert_eq!(forger.forge(&[(Column::Multiplicities, more)]), refused);
        assert_eq!(forger.forge(&[(Column::Multiplicities, less)]), refused);
    }
    let moved: Change<'_> = &|values, _| values.swap(0, 1);
    assert_eq!(forger.forge(&[(Column::Multiplicities, moved)]), refused);
    let none: Change<'_> = &|values, _| values.fill(Fr::ZERO);
    assert_eq!(forger.forge(&[(Column::Multiplicities, none)]), refused);
}

#[test]
fn a_row_outside_the_tables_is_refused_for_any_multiplicities() {
    let forger = lookups(LookupArgument::LogDerivative);
    let lookup = Argument::Lookup(LookupArgument::LogDerivative);
    let refused = Outcome::refused(lookup, forger.last_row());
    for tuple in [[4, 5, 9], [0, 0, 0], [7, 5, 6]] {
        let wires = wrong_lookup(tuple);
        assert_eq!(forger.forge(&with_wires(&wires, &[])), refused, "{tuple:?}");
        let places = (0..4).chain([forger.last_row()]);
        for place in places {
            let counted: Change<'_> = &|values, _| {
                values[1] -= Fr::ONE;
                values[place] += Fr::ONE;
            };
            let outcome = forger.forge(&with_wires(&wires, &[(Column::Multiplicities, counted)]));
            assert_eq!(outcome, refused, "{tuple:?} counted on row {place}");
        }
        // A jump closes the sum.
        for row in [1, 2, forger.last_row()] {
            let closed = jump(false, row);
            let outcome = forger.forge(&with_wires(&wires, &[(Column::LookupAccumulator, &closed)]));
            assert_eq!(outcome, Outcome::refused(lookup, row - 1), "{tuple:?}");
        }
    }
    // A tuple of the table, with its multiplicity.
    let counted: Change<'_> =
        &|values, _| (values[1], values[2]) = (values[1] - Fr::ONE, values[2] + Fr::ONE);
    let wires = wrong_lookup([7, 8, 9]);
    assert_eq!(forger.forge(&with_wires(&wires, &[(Column::Multiplicities, counted)])), Outcome::honest());
}

/// A tuple with the table's number, folded as in the arguments.
fn folded(tuple: [u64; 3], moment: &Moment) -> Fr {
    let [v1, v2, v3] = tuple.map(Fr::from);
    let eta = moment.challenges.eta;
    v1 + eta * (v2 + eta * (v3 + eta * Fr::ONE))
}

#[test]
fn forged_sorted_columns_are_refused() {
    let forger = lookups(LookupArgument::Plookup);
    let lookup = Argument::Lookup(LookupArgument::Plookup);
    let refused = Outcome::refused(lookup, forger.last_row());
    for half in [0, 1].map(Column::Sorted) {
        let swapped: Change<'_> = &|values, _| values.swap(0, 3);
        assert_eq!(forger.forge(&[(half, swapped)]), refused);
        let other: Change<'_> = &|values, moment| values[1] = folded([7, 8, 9], moment);
        assert_eq!(forger.forge(&[(half, other)]), refused);
        let foreign: Change<'_> = &|values, moment| values[1] = folded([4, 5, 9], moment);
        assert_eq!(forger.forge(&[(half, foreign)]), refused);
        let nothing: Change<'_> = &|values, _| values.fill(Fr::ZERO);
        assert_eq!(forger.forge(&[(half, nothing)]), refused);
    }
}

#[test]
fn a_row_outside_the_tables_is_refused_for_any_sorted_position() {
    let forger = lookups(LookupArgument::Plookup);
    let lookup = Argument::Lookup(LookupArgument::Plookup);
    let refused = Outcome::refused(lookup, forger.last_row());
    for tuple in [[4, 5, 9], [0, 0, 0], [7, 5, 6]] {
        let wires = wrong_lookup(tuple);
        assert_eq!(forger.forge(&with_wires(&wires, &[])), refused, "{tuple:?}");
        // It replaces one of the two entries that come from the table and from row 1.
        let sorted: Change<'_> = &|values, moment| {
            let honest = folded([4, 5, 6], moment);
            let place = values.iter().position(|value| *value == honest).expect("once in each half");
            values[place] = folded(tuple, moment);
        };
        for half in [0, 1].map(Column::Sorted) {
            assert_eq!(forger.forge(&with_wires(&wires, &[(half, sorted)])), refused, "{tuple:?}");
        }
        for row in [1, 2, forger.last_row()] {
            let closed = jump(true, row);
            let outcome = forger.forge(&with_wires(&wires, &[(Column::LookupAccumulator, &closed)]));
            assert_eq!(outcome, Outcome::refused(lookup, row - 1), "{tuple:?}");
        }
    }
}

#[test]
fn running_products_with_another_first_value_are_refused() {
    let doubled: Change<'_> = &|values, _| values.iter_mut().for_each(|value| *value = value.double());
    let zero: Change<'_> = &|values, _| values.fill(Fr::ZERO);
    for change in [doubled, zero] {
        let forger = lookups(LookupArgument::Plookup);
        let lookup = Argument::Lookup(LookupArgument::Plookup);
        let outcome = forger.forge(&[(Column::LookupAccumulator, change)]);
        assert_eq!(outcome, Outcome::refused(lookup, 0));
        for arithmetisation in Arithmetisation::ALL {
            let forger = copies(arithmetisation);
            let outcome = forger.forge(&[(Column::GrandProduct, change)]);
            assert_eq!(outcome, Outcome::refused(Argument::Permutation, 0), "{arithmetisation}");
        }
    }
}

/// A sum, and on the next row its summands on wires that no gate uses.
fn copies(arithmetisation: Arithmetisation) -> Forger {
    let mut circuit = Circuit::new(arithmetisation);
    let [one, two, three] = [1, 2, 3].map(|value| circuit.witness(Fr::from(value)));
    let selectors = [(0, Fr::ONE), (1, Fr::ONE), (2, -Fr::ONE)];
    let selectors = selectors.map(|(wire, factor)| (Column::Selector(Selector::Wire(wire)), factor));
    circuit.row([one, two, three, Variable::NONE], &selectors);
    circuit.row([three, one, two, Variable::NONE], &[]);
    Forger::new(&circuit.layout(), circuit.values())
}

#[test]
fn copies_that_differ_are_refused() {
    for arithmetisation in Arithmetisation::ALL {
        let forger = copies(arithmetisation);
        assert_eq!(forger.forge(&[]), Outcome::honest(), "{arithmetisation}");
        for wire in [0, 1, 2].map(Column::Wire) {
            let other: Change<'_> = &|values, _| values[1] += Fr::ONE;
            let refused = Outcome::refused(Argument::Permutation, forger.last_row());
            assert_eq!(forger.forge(&[(wire, other)]), refused, "{arithmetisation}: {wire}");
            let closed = jump(true, 2);
            let outcome = forger.forge(&[(wire, other), (Column::GrandProduct, &closed)]);
            assert_eq!(outcome, Outcome::refused(Argument::Permutation, 1), "{arithmetisation}: {wire}");
        }
    }
}
