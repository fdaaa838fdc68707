//! The beginning of the transcript: the shape of the tables, and the digests of their AIRs.

use super::Tables;
use crate::{Constraints, Parameters, transcript::Description};
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks};

/// The first message: the base-2 logarithm of the number of coefficients of each table's columns.
pub(super) fn heights<const D: usize>(
    parameters: &Parameters,
    log_rows: &[u32],
) -> Vec<Extension<Goldilocks, D>>
where
    Extension<Goldilocks, D>: ExtensionField<D>,
{
    let height = |log_rows: &u32| u64::from(parameters.log_coefficients(*log_rows));
    log_rows.iter().map(|log_rows| Extension::from_base(Goldilocks::new(height(log_rows)))).collect()
}

/// The description of the outer protocol. Without digests it is Plonky3's description.
pub(super) fn description<const D: usize>(tables: &Tables, parameters: &Parameters) -> Description {
    let digests = || tables.tables.iter().filter_map(Constraints::digest);
    let name = if digests().next().is_some() { "proofmill-tables" } else { "p3-batch-stark" };
    let mut steps = Description::new(name);
    for _ in &tables.tables {
        steps = steps.element("degree_bits", D);
    }
    steps = steps.commitment("main_commitment");
    for table in &tables.tables {
        steps = steps.public_values("public_values", table.public_values);
    }
    if tables.with_preprocessed().next().is_some() {
        steps = steps.commitment("preprocessed_commitment");
    }
    if tables.with_lookups().next().is_some() {
        steps = steps
            .work_of_any_bits("lookup_pow", parameters.grinding.lookups)
            .challenge("lookup_alpha", D)
            .challenge("lookup_beta", D)
            .commitment("permutation_commitment");
        for _ in tables.with_lookups() {
            steps = steps.element("lookup_terminal", D);
        }
    }
    steps = steps.challenge("constraint_challenge", D).commitment("quotient_commitment");
    if parameters.is_blinded() {
        steps = steps.commitment("randomization_commitment");
    }
    steps = steps
        .work_of_any_bits("ood_pow", parameters.grinding.out_of_domain)
        .challenge("zeta", D)
        .protocol("opening_argument")
        .number(tables.tables.len());
    steps = tables.tables.iter().fold(steps, |steps, table| steps.number(table.columns));
    steps = tables.tables.iter().fold(steps, |steps, table| steps.number(table.preprocessed));
    digests().fold(steps, |steps, digest| steps.bytes(digest))
}
