//! The challenges and columns of lookups.

use super::Tables;
use crate::{
    Constraints, StarkError, Trace,
    air::{BLOCK, Evaluation, Graph, Program, SELECTORS},
    prove::quotient::factors,
    trace::rows::RowInputs,
};
use hashbrown::HashMap;
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field, batch_invert_vartime,
    goldilocks::{Extension, ExtensionField, Goldilocks, MODULUS},
};
use proofmill_memory::Pages;
use proofmill_run::parallel;
use std::iter::successors;

/// The challenges that make a fraction of a message.
#[derive(Clone, Copy)]
pub(super) struct Challenges<const D: usize> {
    /// The challenge from which combinations of messages are subtracted.
    pub(super) alpha: Extension<Goldilocks, D>,
    /// The challenge whose powers combine the values of a message.
    pub(super) beta: Extension<Goldilocks, D>,
}

impl<const D: usize> Challenges<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// `alpha + (bus + 1) beta^width` for each lookup of a table. This keeps buses apart from each other and from all values.
    fn bases(&self, tables: &Tables, table: usize) -> impl Iterator<Item = Extension<Goldilocks, D>> {
        let (alpha, step) = (self.alpha, self.beta.pow_vartime(&[tables.width]));
        tables.buses[table].iter().map(move |bus| alpha + step.scale(Goldilocks::new(bus + 1)))
    }

    /// The scalars that a table's constraints read: its public values, then the scalars of
    /// [`with_lookups`](crate::air::Graph::with_lookups).
    pub(super) fn scalars(
        &self,
        tables: &Tables,
        table: usize,
        public_values: &[Goldilocks],
        total: Extension<Goldilocks, D>,
    ) -> Vec<Goldilocks> {
        let width = tables.tables[table].graph.lookup_scalars(0, D).width;
        let powers = successors(Some(self.beta), |power| Some(*power * self.beta));
        let elements = std::iter::once(total)
            .chain(powers.take(width.saturating_sub(1)))
            .chain(self.bases(tables, table));
        public_values.iter().copied().chain(elements.flat_map(|element| element.0)).collect()
    }
}

/// A trace, with the other inputs of its lookups.
#[derive(Clone, Copy)]
pub(super) struct TableRows<'a> {
    pub(super) inputs: RowInputs<'a>,
    pub(super) trace: &'a Trace<'a>,
}

impl TableRows<'_> {
    /// `count` rows of the trace from row `first` on. The first row follows the last one.
    fn rows(&self, first: usize, count: usize) -> Result<Vec<Goldilocks>, StarkError> {
        let columns = self.inputs.constraints.columns;
        let mut values = vec![Goldilocks::ZERO; count * columns];
        let (before_end, after) = values.split_at_mut(count.min(self.inputs.rows - first) * columns);
        self.trace.read(first * columns, before_end)?;
        self.trace.read(0, after)?;
        Ok(values)
    }

    /// The first row in which a constraint does not hold.
    pub(super) fn unsatisfied(&self) -> Result<Option<StarkError>, StarkError> {
        let columns = self.inputs.constraints.columns;
        self.inputs.unsatisfied(|row, values| self.trace.read(row * columns, values))
    }
}

/// Combinations of expressions on the rows of a trace.
fn evaluation<'a, const D: usize>(
    inputs: &RowInputs<'_>,
    program: &'a Program,
    factors: &[Extension<Goldilocks, D>],
) -> Evaluation<'a, D> {
    let Constraints { columns, preprocessed, periodic, .. } = inputs.constraints;
    let widths = [*columns, *preprocessed, 0, SELECTORS + periodic.len()];
    Evaluation::new(program, &widths, inputs.public_values, factors)
}

/// Writes the values of a row, where the values of the trace are given. Selectors are left out: lookups do not read them.
fn read(inputs: &RowInputs<'_>, row: usize, trace: &[Goldilocks], words: &mut [u64]) {
    let RowInputs { constraints, rows: count, preprocessed: fixed, .. } = inputs;
    let Constraints { columns, preprocessed, periodic, .. } = constraints;
    let (words_of_trace, words) = words.split_at_mut(*columns);
    words_of_trace.copy_from_slice(Goldilocks::as_words(trace));
    let row = row % count;
    let (words, rest) = words.split_at_mut(*preprocessed);
    words.copy_from_slice(Goldilocks::as_words(&fixed[row * preprocessed..][..*preprocessed]));
    for (word, column) in rest[SELECTORS..].iter_mut().zip(periodic) {
        *word = column[row % column.len()].to_canonical();
    }
}

/// The program that computes the sums of each term: the combination of its message, its count, and its flag if it has one. With it come the
/// factor of each expression of the program, and the number of expressions of each sum.
fn terms<const D: usize>(
    graph: &Graph,
    beta: Extension<Goldilocks, D>,
) -> (Program, Vec<Extension<Goldilocks, D>>, Vec<usize>)
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let one = Extension::<Goldilocks, D>::ONE;
    let (mut expressions, mut weights, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for term in graph.lookups().iter().flat_map(|lookup| &lookup.terms) {
        expressions.extend(&term.message);
        weights.extend(factors(term.message.len(), beta));
        lengths.push(term.message.len());
        for scalar in std::iter::once(term.count).chain(term.flag) {
            expressions.push(scalar);
            weights.push(one);
            lengths.push(1);
        }
    }
    (Program::new(&graph.only(&expressions)), weights, lengths)
}

/// Writes the fractions of lookups in some rows to `columns`. `values` has the sums of [`terms`]: `of_row` of them for each row.
fn write_fractions<const D: usize>(
    graph: &Graph,
    bases: &[Extension<Goldilocks, D>],
    values: &[Extension<Goldilocks, D>],
    of_row: usize,
    columns: &mut [Goldilocks],
) where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let (one, width) = (Extension::<Goldilocks, D>::ONE, D * graph.lookup_columns());
    let count = columns.len() / width;
    let mut next = 0;
    let mut value_of_rows = || {
        next += 1;
        values.iter().skip(next - 1).step_by(of_row).copied()
    };
    for (index, (lookup, base)) in graph.lookups().iter().zip(bases).enumerate() {
        let mut sums = vec![Extension([Goldilocks::ZERO; D]); count];
        let (mut selected, mut numerators) = (vec![one; count], sums.clone());
        for term in &lookup.terms {
            let mut denominators: Vec<_> = value_of_rows().map(|message| *base - message).collect();
            let counts = value_of_rows();
            if term.flag.is_some() {
                for (row, (flag, count)) in value_of_rows().zip(counts).enumerate() {
                    // With one flag set, the sum is the denominator of that term; with no flag set, the sum is 1.
                    selected[row] += flag * (denominators[row] - one);
                    numerators[row] += flag * count;
                }
            } else {
                invert(&mut denominators);
                let terms = denominators.iter().zip(counts);
                sums.iter_mut().zip(terms).for_each(|(sum, (inverse, count))| *sum += *inverse * count);
            }
        }
        if lookup.terms.iter().any(|term| term.flag.is_some()) {
            invert(&mut selected);
            let terms = numerators.iter().zip(&selected);
            sums.iter_mut().zip(terms).for_each(|(sum, (numerator, inverse))| *sum = *numerator * *inverse);
        }
        for (row, sum) in columns.chunks_exact_mut(width).zip(&sums) {
            row[D * (index + 1)..][..D].copy_from_slice(&sum.0);
        }
    }
}

/// Replaces every element but zero by its inverse. Only norms are inverted, in the base field.
fn invert<const D: usize>(elements: &mut [Extension<Goldilocks, D>])
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let parts = elements.iter().map(|element| Extension::conjugates_and_norm(*element));
    let (conjugates, mut norms): (Vec<_>, Vec<_>) = parts.unzip();
    batch_invert_vartime(&mut norms);
    let inverses = conjugates.into_iter().zip(norms).map(|(conjugates, norm)| conjugates.scale(norm));
    elements.iter_mut().zip(inverses).for_each(|(element, inverse)| *element = inverse);
}

/// The columns of a table's lookups, one row after the other, and the sum of all fractions.
///
/// Zero denominators, which challenges make with negligible probability, give a proof that is not accepted.
pub(super) fn columns<const D: usize>(
    level: Level,
    tables: &Tables,
    table: usize,
    rows: &TableRows<'_>,
    challenges: &Challenges<D>,
) -> Result<(Pages<Goldilocks>, Extension<Goldilocks, D>), StarkError>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    /// The number of rows of a task.
    const TASK: usize = 16 * BLOCK;
    let graph = &rows.inputs.constraints.graph;
    let (program, weights, lengths) = terms(graph, challenges.beta);
    let evaluation = evaluation(&rows.inputs, &program, &weights).with_sums(&lengths);
    let bases: Vec<_> = challenges.bases(tables, table).collect();
    let width = D * graph.lookup_columns();
    let mut columns = Pages::new(rows.inputs.rows * width);
    let tasks = (0..).step_by(TASK).zip(columns.chunks_mut(TASK * width));
    let done = parallel::map(tasks, |(first, columns)| {
        let count = columns.len() / width;
        let (trace, width_of_trace) = (rows.rows(first, count + 1)?, rows.inputs.constraints.columns);
        let mut values = vec![Extension([Goldilocks::ZERO; D]); count * lengths.len()];
        evaluation.run(level, first, &mut values, |row, words| {
            let trace = &trace[(row - first) * width_of_trace..][..width_of_trace];
            read(&rows.inputs, row, trace, words);
        });
        write_fractions(graph, &bases, &values, lengths.len(), columns);
        Ok(())
    });
    done.into_iter().collect::<Result<(), StarkError>>()?;
    // A row has the sum of all fractions in rows before it: constraints read two rows only.
    let mut total = Extension([Goldilocks::ZERO; D]);
    for row in columns.chunks_exact_mut(width) {
        let (before, fractions) = row.split_at_mut(D);
        before.copy_from_slice(&total.0);
        fractions.as_chunks::<D>().0.iter().for_each(|fraction| total += Extension(*fraction));
    }
    Ok((columns, total))
}

/// The error of the first message that is not offered as often as it is looked up in all tables. Messages are in the order of tables,
/// lookups and rows.
pub(super) fn unbalanced(tables: &Tables, rows: &[TableRows<'_>]) -> Result<Option<StarkError>, StarkError> {
    let mut counts: HashMap<(u64, Vec<u64>), (Goldilocks, usize)> = HashMap::new();
    for (rows, buses) in rows.iter().zip(&tables.buses) {
        let graph = &rows.inputs.constraints.graph;
        for (lookup, bus) in graph.lookups().iter().zip(buses) {
            for term in &lookup.terms {
                let expressions: Vec<_> =
                    term.flag.into_iter().chain([term.count]).chain(term.message.clone()).collect();
                let graph = graph.only(&expressions);
                for row in 0..rows.inputs.rows {
                    let trace = rows.rows(row, 2)?;
                    let (this, next) = trace.split_at(trace.len() / 2);
                    let value = |input| rows.inputs.value(row, [this, next], input);
                    let values = graph.evaluate(|constant| constant, value);
                    let (scalars, message) = values.split_at(1 + usize::from(term.flag.is_some()));
                    let count = scalars.iter().fold(Goldilocks::ONE, |product, factor| product * *factor);
                    let message = message.iter().map(|value| value.to_canonical()).collect();
                    let order = counts.len();
                    counts.entry((*bus, message)).or_insert((Goldilocks::ZERO, order)).0 += count;
                }
            }
        }
    }
    let unbalanced = counts.into_iter().filter(|(_, (count, _))| !count.is_zero());
    let Some(((bus, message), (count, _))) = unbalanced.min_by_key(|(_, (_, order))| *order) else {
        return Ok(None);
    };
    let names = rows
        .iter()
        .zip(&tables.buses)
        .flat_map(|(rows, buses)| rows.inputs.constraints.graph.lookups().iter().zip(buses));
    let name = names.filter(|(_, other)| **other == bus).find_map(|(lookup, _)| lookup.bus.clone());
    let count = count.to_canonical();
    let bus = name.unwrap_or_default();
    Ok(Some(StarkError::Unbalanced { bus, message, count, offered: MODULUS - count }))
}
