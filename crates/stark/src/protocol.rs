//! The parts of the protocol that a verifier elsewhere needs, such as a verifier inside of a circuit.

pub use crate::domain::{SHIFT, coset, coset_shift, domain, generator, inverses};

use crate::{
    Constraints, OpenedRows, OpenedValues, VerifyError, commitment,
    openings::{claims, fri},
    security::Parameters,
    transcript::shape,
};
use proofmill_cpu::Level;
use proofmill_field::{
    Field,
    goldilocks::{Extension, ExtensionField, Goldilocks},
};
use proofmill_hash::{Digest, TreeHash};

/// The elements that the transcript takes at the beginning of each of the three nested protocols.
#[derive(Clone, Debug)]
pub struct Descriptions {
    /// The description of the statement, before all messages.
    pub statement: Vec<Goldilocks>,
    /// The description of the opening argument, before the opened values.
    pub opening: Vec<Goldilocks>,
    /// The description of FRI, before its first commitment.
    pub fri: Vec<Goldilocks>,
}

/// The descriptions for a trace of `2^log_rows` rows.
pub fn descriptions<const D: usize>(
    constraints: &Constraints,
    parameters: &Parameters,
    log_rows: u32,
) -> Descriptions
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let (values, log_height) = (blank_values::<D>(parameters, constraints), parameters.log_height(log_rows));
    let claims = claims::of_statement(constraints, &values, log_height, Extension::ZERO, Extension::ONE);
    let arities: Vec<_> = parameters.log_arities(parameters.log_coefficients(log_rows)).collect();
    Descriptions {
        statement: shape::description::<D>(constraints, parameters, log_rows).elements_of_seed().collect(),
        opening: claims::description(parameters, &claims).elements_of_seed().collect(),
        fri: fri::description::<D>(parameters, &arities, log_height).elements_of_seed().collect(),
    }
}

/// Opened values as in a proof of this shape, all of them zero.
pub fn blank_values<const D: usize>(parameters: &Parameters, constraints: &Constraints) -> OpenedValues<D>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let zeros = |count: usize| vec![Extension([Goldilocks::ZERO; D]); count];
    let [next, next_preprocessed] = constraints.reads_next.map(usize::from);
    let (chunks, random) = (constraints.chunks(parameters), parameters.random_columns as usize);
    OpenedValues {
        trace: zeros(constraints.columns + random),
        next: zeros(next * (constraints.columns + random)),
        preprocessed: zeros(constraints.preprocessed),
        next_preprocessed: zeros(next_preprocessed * constraints.preprocessed),
        quotient: vec![[Extension([Goldilocks::ZERO; D]); D]; chunks],
        beside_quotient: zeros(chunks * random),
        random: zeros(if parameters.is_blinded() { D + random } else { 0 }),
    }
}

/// For each query, the siblings of its row, from the leaf to the cap.
///
/// # Errors
/// [`VerifyError`] for rows that no tree of this shape has. The rows are not compared with a commitment.
pub fn paths(
    level: Level,
    hash: &dyn TreeHash,
    parameters: &Parameters,
    log_rows: u32,
    columns: usize,
    queries: &[usize],
    opened: &OpenedRows,
) -> Result<Vec<Vec<Digest>>, VerifyError> {
    VerifyError::check_length("values of opened rows", queries.len() * columns, opened.values.len())?;
    let opening = commitment::opening(&[(log_rows, columns)], queries, opened)?;
    let paths = opening
        .paths(level, hash, 1 << parameters.log_cap(log_rows))
        .map_err(|_| VerifyError::Rejected("rows are not those of a tree"))?;
    let of_query = |query: &usize| {
        let place = opening.indices.binary_search(&(*query as u64)).ok();
        place.and_then(|place| paths.get(place)).cloned().unwrap_or_default()
    };
    Ok(queries.iter().map(of_query).collect())
}
