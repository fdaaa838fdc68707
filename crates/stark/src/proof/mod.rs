//! Proofs.

pub(crate) mod encoding;

use proofmill_field::goldilocks::{Extension, Goldilocks};
use proofmill_hash::Digest;

/// A proof with challenges in the extension of degree `D`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof<const D: usize> {
    /// The base-2 logarithm of the number of rows of the trace.
    pub log_rows: u32,
    /// The commitment to the trace.
    pub trace: Vec<Digest>,
    /// The commitment to the quotient.
    pub quotient: Vec<Digest>,
    /// The commitment to random polynomials; empty without blinding.
    pub random: Vec<Digest>,
    /// The proof of work before the point outside of the domain.
    pub out_of_domain_work: Goldilocks,
    /// The values of all columns at that point.
    pub opened: OpenedValues<D>,
    /// The argument that the committed polynomials have these values.
    pub opening: OpeningProof<D>,
}

/// The values of all columns at the point outside of the domain. With blinding, the values of the trace's random columns follow those of
/// its own columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedValues<const D: usize> {
    /// The values of the trace.
    pub trace: Vec<Extension<Goldilocks, D>>,
    /// The values of the trace at the next row's point; empty if constraints do not read the next row.
    pub next: Vec<Extension<Goldilocks, D>>,
    /// The values of the preprocessed columns.
    pub preprocessed: Vec<Extension<Goldilocks, D>>,
    /// The values of the preprocessed columns at the next row's point; empty if constraints do not read the next row.
    pub next_preprocessed: Vec<Extension<Goldilocks, D>>,
    /// The values of the coordinates of each polynomial of the quotient.
    pub quotient: Vec<[Extension<Goldilocks, D>; D]>,
    /// The values of the random columns that follow each polynomial of the quotient; empty without blinding.
    pub beside_quotient: Vec<Extension<Goldilocks, D>>,
    /// The values of the random polynomials that are committed to on their own; empty without blinding.
    pub random: Vec<Extension<Goldilocks, D>>,
}

/// The argument that committed polynomials have the opened values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningProof<const D: usize> {
    /// The proof of work before all openings are combined.
    pub batching_work: Goldilocks,
    /// The rounds of FRI.
    pub rounds: Vec<Round<D>>,
    /// The coefficients of the polynomial that FRI ends with.
    pub final_polynomial: Vec<Extension<Goldilocks, D>>,
    /// The proof of work before the queries.
    pub query_work: Goldilocks,
    /// The queried rows of each commitment: to random polynomials, trace, quotient, preprocessed columns.
    pub rows: Vec<OpenedRows>,
}

/// A round of FRI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round<const D: usize> {
    /// The commitment to the word that is folded, with a row for each value of the folded word.
    pub commitment: Vec<Digest>,
    /// The proof of work before the challenge.
    pub work: Goldilocks,
    /// For each query, the row without the value that the verifier knows.
    pub others: Vec<Extension<Goldilocks, D>>,
    /// For each query, the salt of the row; empty without blinding.
    pub salts: Vec<Goldilocks>,
    /// Digests that lead from the rows to the commitment.
    pub siblings: Vec<Digest>,
}

/// Opened rows of a commitment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedRows {
    /// The row of each query, in the order of the queries. With blinding, the row of each matrix is followed by its salt.
    pub values: Vec<Goldilocks>,
    /// Digests that lead from the rows to the commitment: layer by layer, left to right.
    pub siblings: Vec<Digest>,
}
