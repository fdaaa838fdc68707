//! A process that extends a divided trace, coset by coset.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::divided::{Divided, Question, Task};
use crate::{
    Constraints, StarkError, Trace,
    air::Preprocessed,
    commitment::check_shape,
    config::Config,
    domain::{coset, coset_shift, domain, reverse},
    error::unreachable_tree,
    openings::{Opened, combine, evaluate},
    proof::encoding::Writer,
    prove::{check, quotient::Quotient},
};
use proofmill_cpu::Level;
use proofmill_field::{
    Algebra, Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::Digest;
use proofmill_memory::Pages;
use proofmill_merkle::{Hash, RowMajor, Tree};
use proofmill_ntt::goldilocks::Order;
use std::collections::BTreeMap;

/// A coset of the extension.
struct Coset {
    /// The rows of the trace and of the preprocessed columns, both in bit-reversed order.
    trace: Pages<Goldilocks>,
    preprocessed: Pages<Goldilocks>,
    /// The tree over the trace's rows, once it was asked for.
    tree: Option<Tree>,
}

/// A trace that answers questions about cosets of its extension. Each coset is kept from the first question about it on.
///
/// A `Cosets` takes the memory of the trace. Each coset takes as much memory again, with two digests for each row.
pub struct Cosets {
    config: Config,
    constraints: Constraints,
    public_values: Vec<Goldilocks>,
    log_rows: u32,
    /// The coefficients of the polynomials of the trace, and of the preprocessed columns.
    coefficients: [Vec<Goldilocks>; 2],
    cosets: BTreeMap<usize, Coset>,
}

impl Cosets {
    /// Takes the statement that is proven.
    ///
    /// # Errors
    /// The errors that [`prove`](crate::prove) gives before it proves; [`StarkError::Indivisible`].
    pub fn new(
        level: Level,
        config: &Config,
        constraints: &Constraints,
        preprocessed: Option<&Preprocessed>,
        mut trace: Trace<'_>,
        public_values: &[Goldilocks],
    ) -> Result<Self, StarkError> {
        let parameters = &config.parameters;
        parameters.check()?;
        constraints.check_alone()?;
        let log_rows = check_shape("trace", trace.len(), constraints.columns, parameters)?;
        let fixed = match preprocessed {
            Some(Preprocessed { columns, values }) => {
                let log_rows = check_shape("preprocessed columns", values.len(), *columns, parameters)?;
                Some((*columns, log_rows))
            }
            None => None,
        };
        check(constraints, parameters, fixed, log_rows, public_values)?;
        Divided::check(constraints, parameters)?;
        let values = match trace.take() {
            Some(values) => values,
            None => {
                let mut values = vec![Goldilocks::ZERO; trace.len()];
                trace.read_all(&mut values)?;
                values
            }
        };
        // Coefficients are kept: each coset is one transform of them.
        let mut coefficients = [values, preprocessed.map_or(Vec::new(), |columns| columns.values.clone())];
        for values in coefficients.iter_mut().filter(|values| !values.is_empty()) {
            domain(log_rows).intt(level, values, Order::Natural);
        }
        Ok(Self {
            config: *config,
            constraints: constraints.clone(),
            public_values: public_values.to_vec(),
            log_rows,
            coefficients,
            cosets: BTreeMap::new(),
        })
    }

    /// The number of cosets.
    pub fn count(&self) -> usize {
        1 << self.config.parameters.log_blowup
    }

    /// Answers a question about a coset.
    ///
    /// # Errors
    /// [`StarkError::Question`] for bytes that are no question about this trace.
    pub fn answer(&mut self, level: Level, question: &Question) -> Result<Vec<u8>, StarkError> {
        match self.config.parameters.extension {
            2 => self.answer_in::<2>(level, question),
            _ => self.answer_in::<3>(level, question),
        }
    }

    fn answer_in<const D: usize>(&mut self, level: Level, question: &Question) -> Result<Vec<u8>, StarkError>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let index = question.coset;
        let no_question = || StarkError::Question(index);
        let task = Task::<D>::from_bytes(&question.bytes).filter(|_| index < self.count());
        let task = task.ok_or_else(no_question)?;
        let (log_rows, parameters) = (self.log_rows, &self.config.parameters);
        let (rows, constraints) = (1_usize << log_rows, &self.constraints);
        let columns = constraints.columns;
        let coset = self.cosets.entry(index).or_insert_with(|| {
            let shift = coset_shift(log_rows, parameters.log_blowup, reverse(index, parameters.log_blowup));
            Coset::new(level, log_rows, shift, &self.coefficients)
        });
        let mut writer = Writer::default();
        match task {
            Task::Commit { log_nodes } => {
                let height = log_rows.checked_sub(log_nodes).ok_or_else(no_question)?;
                writer.digests(coset.tree(level, self.config.hash, columns).layer(height));
            }
            Task::Quotient { factors } => {
                let log_chunks = constraints.log_chunks(parameters);
                if index >> log_chunks != 0 || factors.len() != constraints.len() {
                    return Err(no_question());
                }
                let scalars = &self.public_values;
                let quotient = Quotient { constraints, scalars, factors, log_rows, log_chunks };
                writer.extensions(&coset.quotient(level, &quotient, reverse(index, log_chunks)));
            }
            Task::Evaluate { points, opened } => {
                if index != 0 {
                    return Err(no_question());
                }
                let values = coset.evaluate(level, log_rows, columns, &points, &opened);
                let values = values.ok_or_else(no_question)?;
                writer.list(&values, |writer, values| writer.extensions(values));
            }
            Task::Combine { factors } => {
                if index != 0 || factors.len() != columns {
                    return Err(no_question());
                }
                let words = Goldilocks::as_words(&coset.trace);
                writer.extensions(&combine(level, words, columns, &factors));
            }
            Task::Open { rows: opened, nodes } => {
                let row = |row: &u32| (*row as usize) < rows;
                if !opened.iter().all(row) || !nodes.iter().all(|(height, _)| *height <= log_rows) {
                    return Err(no_question());
                }
                writer.list(&coset.rows(columns, &opened), |writer, value| writer.element(value));
                let nodes = coset.nodes(level, self.config.hash, columns, &nodes);
                writer.digests(&nodes.ok_or_else(no_question)?);
            }
        }
        Ok(writer.0)
    }
}

impl Coset {
    /// The coset with this shift: the values there of the polynomials with these coefficients.
    fn new(level: Level, log_rows: u32, shift: Goldilocks, coefficients: &[Vec<Goldilocks>; 2]) -> Self {
        let [trace, preprocessed] = coefficients.each_ref().map(|values| {
            let mut extension = Pages::new(values.len());
            extension.copy_from_slice(values);
            if !values.is_empty() {
                domain(log_rows).coset_ntt(level, &mut extension, shift, Order::BitReversed);
            }
            extension
        });
        Self { trace, preprocessed, tree: None }
    }

    /// [`Task::Quotient`] for a coset that is a chunk of the quotient.
    fn quotient<const D: usize>(
        &self,
        level: Level,
        quotient: &Quotient<'_, D>,
        chunk: usize,
    ) -> Vec<Extension<Goldilocks, D>>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        let Quotient { constraints, log_rows, .. } = *quotient;
        let words = Goldilocks::as_words(&self.trace);
        let preprocessed = Goldilocks::as_words(&self.preprocessed);
        quotient.on_coset(level, chunk, |row, to| {
            let row = reverse(row, log_rows);
            let (trace, others) = to.split_at_mut(constraints.columns);
            let of = |values: &[u64], width: usize, to: &mut [u64]| {
                let values = values.iter().skip(row * width);
                to.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
            };
            of(words, constraints.columns, trace);
            of(preprocessed, constraints.preprocessed, others);
        })
    }

    /// [`Task::Evaluate`] for the first coset. `None` if a point is in the coset, or if an opened point is not given or is the third.
    fn evaluate<const D: usize>(
        &self,
        level: Level,
        log_rows: u32,
        columns: usize,
        points: &[Extension<Goldilocks, D>],
        opened: &[u32],
    ) -> Option<Vec<Vec<Extension<Goldilocks, D>>>>
    where
        Extension<Goldilocks, D>: ExtensionField<D>,
    {
        // Barycentric weights divide by `z - x`: a point of the coset has none.
        let rows = [1 << log_rows];
        let own = coset().shift().pow_vartime(&rows);
        let is_outside =
            |point: &Extension<Goldilocks, D>| point.pow_vartime(&rows) != Extension::from_base(own);
        let opened: Vec<_> = opened.iter().map(|point| *point as usize).collect();
        let are_points = opened.len() <= 2 && opened.iter().all(|point| *point < points.len());
        if !are_points || !points.iter().all(is_outside) {
            return None;
        }
        let matrix = [Opened { words: Goldilocks::as_words(&self.trace), width: columns, points: opened }];
        let values = evaluate(level, coset(), log_rows, &matrix, points);
        Some(values.into_iter().flatten().collect())
    }

    /// The values of rows, one row after the other.
    fn rows(&self, columns: usize, rows: &[u32]) -> Vec<Goldilocks> {
        let row = |row: &u32| self.trace.iter().skip(*row as usize * columns).take(columns);
        rows.iter().flat_map(row).copied().collect()
    }

    /// Nodes as in [`Task::Open`]; `None` if one of them is in no layer.
    fn nodes(
        &mut self,
        level: Level,
        hash: Hash,
        columns: usize,
        nodes: &[(u32, u32)],
    ) -> Option<Vec<Digest>> {
        let tree = self.tree(level, hash, columns);
        let node = |(height, index): &(u32, u32)| tree.layer(*height).get(*index as usize).copied();
        nodes.iter().map(node).collect()
    }

    fn tree(&mut self, level: Level, hash: Hash, columns: usize) -> &Tree {
        self.tree.get_or_insert_with(|| {
            let leaves = RowMajor::new(Goldilocks::as_words(&self.trace), columns);
            let tree = leaves.and_then(|leaves| Tree::build(level, hash.tree_hash(), &leaves));
            tree.unwrap_or_else(|error| unreachable_tree(&error))
        })
    }
}
