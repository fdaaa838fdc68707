//! The beginning of the transcript: the statement's shape, and the digest of its AIR.

use crate::{air::constraints::Constraints, security::Parameters, transcript::Description};

/// The description of the outer protocol, for a trace of `2^log_rows` rows. Without a digest it is Plonky3's description.
pub(crate) fn description<const D: usize>(
    constraints: &Constraints,
    parameters: &Parameters,
    log_rows: u32,
) -> Description {
    let name = if constraints.digest().is_some() { "proofmill-stark" } else { "p3-uni-stark" };
    let mut steps = Description::new(name).commitment("trace_commitment");
    if constraints.preprocessed > 0 {
        steps = steps.commitment("preprocessed_commitment");
    }
    steps = steps
        .public_values("public_values", constraints.public_values)
        .challenge("alpha", D)
        .commitment("quotient_commitment");
    if parameters.is_blinded() {
        steps = steps.commitment("random_commitment");
    }
    let steps = steps
        .work("ood_pow", parameters.grinding.out_of_domain)
        .challenge("zeta", D)
        .protocol("opening_argument")
        .number(parameters.log_coefficients(log_rows) as usize)
        .number(log_rows as usize)
        .number(constraints.columns)
        .number(constraints.preprocessed)
        .number(constraints.periodic.len())
        .number(constraints.chunks(parameters))
        .number(constraints.reads_next[0].into())
        .number(constraints.reads_next[1].into());
    match constraints.digest() {
        Some(digest) => steps.bytes(digest),
        None => steps,
    }
}
