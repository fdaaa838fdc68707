//! Proofs of several tables.

use crate::{OpenedValues, OpeningProof};
use proofmill_field::goldilocks::{Extension, Goldilocks};
use proofmill_hash::Digest;

/// A proof of several tables with challenges in the extension of degree `D`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablesProof<const D: usize> {
    /// The base-2 logarithm of the number of rows of each table.
    pub log_rows: Vec<u32>,
    /// The commitment to the traces.
    pub traces: Vec<Digest>,
    /// The proof of work before the challenges of lookups; zero without lookups.
    pub lookup_work: Goldilocks,
    /// The commitment to the columns of lookups; empty without lookups.
    pub lookups: Vec<Digest>,
    /// For each table with lookups, the sum of its fractions.
    pub totals: Vec<Extension<Goldilocks, D>>,
    /// The commitment to the quotients.
    pub quotients: Vec<Digest>,
    /// The commitment to random polynomials; empty without blinding.
    pub random: Vec<Digest>,
    /// The proof of work before the point outside of the domains.
    pub out_of_domain_work: Goldilocks,
    /// The values of each table at that point.
    pub opened: Vec<TableValues<D>>,
    /// The argument that the committed polynomials have these values. Its rows are of random polynomials, traces, quotients, preprocessed
    /// columns, and columns of lookups.
    pub opening: OpeningProof<D>,
}

/// The values of a table's columns at the point outside of the domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableValues<const D: usize> {
    /// The values of all columns but the columns of lookups.
    pub columns: OpenedValues<D>,
    /// The values of the columns of lookups. With blinding, the values of random columns follow.
    pub lookups: Vec<Extension<Goldilocks, D>>,
    /// The values of the columns of lookups at the next row's point.
    pub next_lookups: Vec<Extension<Goldilocks, D>>,
}
