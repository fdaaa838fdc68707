//! A trace whose extension is in other processes.
//!
//! The extension of a trace consists of its values on `2^log_blowup` cosets. A coset has consecutive rows of the extension, which are the
//! leaves of a subtree. It also has the row after each of its rows, which constraints read. So a process with the trace can extend a coset,
//! hash it and evaluate the quotient on it without the other cosets.
//!
//! The prover asks [`Question`]s. The answers of [`Cosets`](crate::Cosets) are pure: any process may give any answer, and repeat it.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    Constraints, StarkError,
    domain::reverse,
    error::unreachable_tree,
    proof::{
        OpenedRows,
        encoding::{DecodeError, Reader, Writer},
    },
    security::Parameters,
};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::{Extension, Goldilocks};
use proofmill_hash::{Digest, TreeHash};
use proofmill_merkle::{Tree, siblings_of};
use std::{collections::BTreeMap, error::Error, iter, sync::Arc};

/// A question of a prover about a coset of the extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The index of the coset. Cosets are in the order of their rows.
    pub coset: usize,
    /// The question as bytes, for [`Cosets::answer`](crate::Cosets::answer).
    pub bytes: Vec<u8>,
}

/// Gives the answers to questions, in their order.
pub type Ask = Arc<dyn Fn(&[Question]) -> Result<Vec<Vec<u8>>, Box<dyn Error + Send + Sync>> + Send + Sync>;

/// A question before it is bytes.
pub(crate) enum Task<const D: usize> {
    /// The layer of the coset's tree that has `2^log_nodes` nodes.
    Commit { log_nodes: u32 },
    /// The quotient on the coset, in natural order, with the factor of each constraint.
    Quotient { factors: Vec<Extension<Goldilocks, D>> },
    /// Of the first coset: the values of the columns at the points with the indices `opened`.
    Evaluate { points: Vec<Extension<Goldilocks, D>>, opened: Vec<u32> },
    /// Of the first coset: the sum of the columns times their factors in each row.
    Combine { factors: Vec<Extension<Goldilocks, D>> },
    /// Rows, and nodes of the tree by the height of their layer and their index in it.
    Open { rows: Vec<u32>, nodes: Vec<(u32, u32)> },
}

impl<const D: usize> Task<D> {
    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Commit { log_nodes } => {
                writer.integer(0);
                writer.integer(*log_nodes);
            }
            Self::Quotient { factors } => {
                writer.integer(1);
                writer.extensions(factors);
            }
            Self::Evaluate { points, opened } => {
                writer.integer(2);
                writer.extensions(points);
                writer.list(opened, |writer, index| writer.integer(*index));
            }
            Self::Combine { factors } => {
                writer.integer(3);
                writer.extensions(factors);
            }
            Self::Open { rows, nodes } => {
                writer.integer(4);
                writer.list(rows, |writer, row| writer.integer(*row));
                writer.list(nodes, |writer, (height, index)| {
                    writer.integer(*height);
                    writer.integer(*index);
                });
            }
        }
        writer.0
    }

    /// `None` for bytes that are no question.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut read = || {
            Ok::<_, DecodeError>(match reader.integer()? {
                0 => Some(Self::Commit { log_nodes: reader.integer()? }),
                1 => Some(Self::Quotient { factors: reader.extensions()? }),
                2 => {
                    let points = reader.extensions()?;
                    Some(Self::Evaluate { points, opened: reader.list(4, Reader::integer)? })
                }
                3 => Some(Self::Combine { factors: reader.extensions()? }),
                4 => {
                    let rows = reader.list(4, Reader::integer)?;
                    let node = |reader: &mut Reader<'_>| Ok((reader.integer()?, reader.integer()?));
                    Some(Self::Open { rows, nodes: reader.list(8, node)? })
                }
                _ => None,
            })
        };
        let task = read().ok()?;
        reader.end().ok()?;
        task
    }
}

/// The rows to open of a coset, and the nodes, as in [`Task::Open`].
#[derive(Default)]
struct Wanted {
    rows: Vec<u32>,
    nodes: Vec<(u32, u32)>,
}

/// The prover's side: the extension of a trace of `2^log_rows` rows.
pub(crate) struct Divided {
    pub(crate) ask: Ask,
    pub(crate) columns: usize,
    pub(crate) log_rows: u32,
    pub(crate) log_blowup: u32,
}

impl Divided {
    /// Checks that a trace of an AIR can be divided with these parameters.
    pub(crate) fn check(constraints: &Constraints, parameters: &Parameters) -> Result<(), StarkError> {
        if parameters.is_blinded() {
            return Err(StarkError::Indivisible("it is not known with zero knowledge"));
        }
        if constraints.log_chunks(parameters) > parameters.log_blowup {
            return Err(StarkError::Indivisible("the quotient has more cosets than the extension"));
        }
        Ok(())
    }

    /// Asks one question for each task, and reads the answers. `is_right` checks the shape of an answer.
    fn ask<T, const D: usize>(
        &self,
        tasks: Vec<(usize, Task<D>)>,
        read: impl Fn(&mut Reader<'_>) -> Result<T, DecodeError>,
        is_right: impl Fn(usize, &T) -> bool,
    ) -> Result<Vec<T>, StarkError> {
        let questions = tasks.iter().map(|(coset, task)| Question { coset: *coset, bytes: task.to_bytes() });
        let questions: Vec<_> = questions.collect();
        let answers = (self.ask)(&questions).map_err(StarkError::Ask)?;
        if answers.len() != questions.len() {
            let problem = format!("expected {} answers, found {}", questions.len(), answers.len());
            return Err(StarkError::Answer(problem));
        }
        let read = |(index, (question, bytes)): (usize, (&Question, &Vec<u8>))| {
            let mut reader = Reader::new(bytes);
            let answer = read(&mut reader).and_then(|answer| reader.end().map(|()| answer));
            let problem = match answer {
                Ok(answer) if is_right(index, &answer) => return Ok(answer),
                Ok(_) => "an answer of another length".to_owned(),
                Err(error) => format!("no answer: {error}"),
            };
            Err(StarkError::Answer(format!("coset {}: {problem}", question.coset)))
        };
        questions.iter().zip(&answers).enumerate().map(read).collect()
    }

    /// The upper layers of the tree, from the layer that has one node for each coset, or as many nodes as the cap if these are more.
    pub(crate) fn tree(&self, level: Level, hash: &dyn TreeHash, log_cap: u32) -> Result<Tree, StarkError> {
        let log_nodes = log_cap.saturating_sub(self.log_blowup);
        let tasks = (0..1 << self.log_blowup).map(|coset| (coset, Task::<2>::Commit { log_nodes }));
        let is_right = |_, digests: &Vec<_>| digests.len() == 1 << log_nodes;
        let digests = self.ask(tasks.collect(), |reader| reader.digests(hash), is_right)?.concat();
        // The nodes of all cosets, in this order, are the lowest layer that is kept here.
        let leaves = iter::once((0, |nodes: &mut [Digest]| {
            nodes.copy_from_slice(&digests);
            Ok(())
        }));
        Ok(Tree::of_layers(level, hash, digests.len(), leaves)
            .unwrap_or_else(|error| unreachable_tree(&error)))
    }

    /// The quotient on each of its `2^log_chunks` cosets, in natural order, with the factor of each constraint.
    pub(crate) fn quotient<const D: usize>(
        &self,
        log_chunks: u32,
        factors: &[Extension<Goldilocks, D>],
    ) -> Result<Vec<Vec<Extension<Goldilocks, D>>>, StarkError> {
        // Cosets are numbered in the order of their rows, which is bit-reversed; chunks are not.
        let task = |chunk| (reverse(chunk, log_chunks), Task::Quotient { factors: factors.to_vec() });
        let tasks = (0..1 << log_chunks).map(task).collect();
        self.ask(tasks, |reader| reader.extensions(), |_, values: &Vec<_>| values.len() == 1 << self.log_rows)
    }

    /// The values of all columns at the points with the indices `opened`.
    pub(crate) fn evaluate<const D: usize>(
        &self,
        points: &[Extension<Goldilocks, D>],
        opened: &[usize],
    ) -> Result<Vec<Vec<Extension<Goldilocks, D>>>, StarkError> {
        let opened: Vec<_> = opened.iter().map(|index| *index as u32).collect();
        let is_right = |_, values: &Vec<Vec<_>>| {
            values.len() == opened.len() && values.iter().all(|values| values.len() == self.columns)
        };
        let tasks = vec![(0, Task::Evaluate { points: points.to_vec(), opened: opened.clone() })];
        let read = |reader: &mut Reader<'_>| reader.list(4, Reader::extensions);
        Ok(self.ask(tasks, read, is_right)?.into_iter().flatten().collect())
    }

    /// The sum of all columns times their factors in each row of the first coset.
    pub(crate) fn combine<const D: usize>(
        &self,
        factors: &[Extension<Goldilocks, D>],
    ) -> Result<Vec<Extension<Goldilocks, D>>, StarkError> {
        let tasks = vec![(0, Task::Combine { factors: factors.to_vec() })];
        let sums = self.ask(
            tasks,
            |reader| reader.extensions(),
            |_, sums: &Vec<_>| sums.len() == 1 << self.log_rows,
        )?;
        Ok(sums.concat())
    }

    /// The rows of queries, in the order of the queries; `tree` comes from [`tree`](Self::tree).
    pub(crate) fn open(
        &self,
        hash: &dyn TreeHash,
        tree: &Tree,
        cap: usize,
        queries: &[usize],
        indices: &[usize],
    ) -> Result<OpenedRows, StarkError> {
        let log_rows = self.log_rows;
        let known = log_rows + self.log_blowup - tree.rows().ilog2();
        // The coset of a node below the layers that are known here, and its index there.
        let place = |height: u32, index: usize| {
            (index >> (log_rows - height), index & ((1 << (log_rows - height)) - 1))
        };
        let mut wanted: BTreeMap<usize, Wanted> = BTreeMap::new();
        for query in queries {
            let (coset, row) = place(0, *query);
            wanted.entry(coset).or_default().rows.push(row as u32);
        }
        let siblings = |node: &mut dyn FnMut(u32, usize) -> Digest| {
            siblings_of(indices, 1 << (log_rows + self.log_blowup), cap, node)
                .unwrap_or_else(|error| unreachable_tree(&error))
        };
        // The first pass lists the nodes to ask for; the second pass has their values.
        siblings(&mut |height, index| {
            if height < known {
                let (coset, index) = place(height, index);
                wanted.entry(coset).or_default().nodes.push((height, index as u32));
            }
            Digest::default()
        });
        let lengths: Vec<_> =
            wanted.values().map(|Wanted { rows, nodes }| (rows.len(), nodes.len())).collect();
        let cosets: Vec<_> = wanted.keys().copied().collect();
        let tasks = wanted
            .into_iter()
            .map(|(coset, Wanted { rows, nodes })| (coset, Task::<2>::Open { rows, nodes }));
        let read = |reader: &mut Reader<'_>| Ok((reader.elements()?, reader.digests(hash)?));
        let is_right = |index: usize, (values, digests): &(Vec<_>, Vec<_>)| {
            lengths.get(index) == Some(&(values.len() / self.columns, digests.len()))
                && values.len().is_multiple_of(self.columns)
        };
        let answers = self.ask(tasks.collect(), read, is_right)?;
        // Each coset's answers, in the order of the questions.
        let (values, digests): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        let mut rows: BTreeMap<_, _> =
            iter::zip(&cosets, values.iter().map(|of| of.chunks(self.columns))).collect();
        let mut nodes: BTreeMap<_, _> =
            iter::zip(&cosets, digests.iter().map(|of| of.iter().copied())).collect();
        let next =
            |query: &usize| rows.get_mut(&place(0, *query).0).and_then(Iterator::next).unwrap_or_default();
        let values = queries.iter().flat_map(next).copied().collect();
        let siblings = siblings(&mut |height, index| match height.checked_sub(known) {
            None => nodes.get_mut(&place(height, index).0).and_then(Iterator::next).unwrap_or_default(),
            Some(height) => tree.layer(height).get(index).copied().unwrap_or_default(),
        });
        Ok(OpenedRows { values, siblings })
    }
}
