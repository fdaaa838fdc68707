//! The provers of `p3_uni_stark` and `p3_batch_stark`: the AIRs are captured, our engine proves, and its proof is converted.

use crate::{
    Configuration, batch_key, batch_to_plonky3, constraints,
    elements::{element, into_elements},
    tables, to_plonky3,
};
use p3_air::{
    Air,
    symbolic::{SymbolicAirBuilder, SymbolicExpressionExt},
};
use p3_batch_stark::{BatchProof, CommonData, StarkInstance};
use p3_commit::PolynomialSpace;
use p3_field::Algebra;
use p3_goldilocks::Goldilocks;
use p3_lookup::InteractionSymbolicBuilder;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{Domain, Proof};
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks as Element};
use proofmill_stark::{
    Parameters, PreprocessedKey, ReadValues, Run, StarkError, StarkHash, TablesKey, Trace, VerifyError,
    security::InvalidConfiguration,
};

/// Proves a trace with our engine. The proof is that of [`p3_uni_stark::prove`], or of `prove_with_preprocessed` with a
/// [key](crate::preprocessed_key), byte for byte if it is not blinded and its proofs of work were found on one thread.
///
/// `hash` and `parameters` are as in [`verify`](crate::verify), and `SC` is the configuration that they describe. The proof is verified
/// before it is returned. To prove many traces of one AIR, capture it once: [`constraints`](crate::constraints()), [`proofmill_stark::prove`],
/// [`to_plonky3`].
///
/// # Errors
/// As [`constraints`](crate::constraints()) and [`proofmill_stark::prove`]; [`StarkError::Parameters`] also if only one of the parameters
/// and of `SC` is blinded.
///
/// # Panics
/// If the trace's width is not that of the AIR, or if the AIR binds public values otherwise than by constraints.
pub fn prove<SC, A, const D: usize>(
    run: Run<'_>,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    air: &A,
    preprocessed: Option<&PreprocessedKey>,
    trace: RowMajorMatrix<Goldilocks>,
    public_values: &[Goldilocks],
) -> Result<Proof<SC>, StarkError>
where
    SC: Configuration<D>,
    A: Air<SymbolicAirBuilder<Goldilocks>>,
    Extension<Element, D>: ExtensionField<D>,
{
    check_blinding::<SC, D>(parameters)?;
    assert_eq!(trace.width(), air.width(), "columns of the trace, and of the AIR");
    let constraints = constraints(air)?;
    let public_values: Vec<_> = public_values.iter().map(|value| element(*value)).collect();
    let trace = into_elements(trace.values);
    let proof =
        proofmill_stark::prove(run, hash, parameters, &constraints, preprocessed, trace, &public_values)?;
    to_plonky3(&proof).map_err(|error| not_of(&error))
}

/// Proves traces of several AIRs with their lookups with our engine. The proof is that of [`p3_batch_stark::prove_batch`], as
/// that of [`prove`] is; `key` is that of the [preprocessed columns](crate::tables_key), if there are some.
///
/// `common` is what the verifier gets. Traces are converted when they are read: they are not in memory twice.
///
/// # Errors
/// As [`tables`] and [`proofmill_stark::prove_tables`]; [`StarkError::Parameters`] as [`prove`]; [`StarkError::Preprocessed`] also if the
/// key is not the one that `common` commits to. Plonky3's own key of blinded proofs has random salts, ours has none: the commitment in
/// `common` has to be the one of our key.
///
/// # Panics
/// As [`tables`], and if a trace's width is not that of its AIR.
pub fn prove_batch<SC, A, const D: usize>(
    run: Run<'_>,
    hash: &dyn StarkHash,
    parameters: &Parameters,
    instances: &[StarkInstance<'_, SC, A>],
    common: &CommonData<SC>,
    key: Option<&TablesKey>,
) -> Result<BatchProof<SC>, StarkError>
where
    SC: Configuration<D>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
    Extension<Element, D>: ExtensionField<D>,
{
    check_blinding::<SC, D>(parameters)?;
    for StarkInstance { air, trace, .. } in instances {
        assert_eq!(trace.width(), air.width(), "columns of a trace, and of its AIR");
    }
    let airs = instances.iter().map(|instance| instance.air);
    let tables = tables::<SC::Challenge, A>(airs, &common.lookups)?;
    if batch_key(&tables, common)? != key.map(TablesKey::verifying_key) {
        let [expected, found] = ["the commitment in the common data", "a key with another commitment"];
        return Err(StarkError::Preprocessed { expected: expected.to_owned(), found: found.to_owned() });
    }
    let public_values: Vec<Vec<_>> = instances
        .iter()
        .map(|instance| instance.public_values.iter().map(|value| element(*value)).collect())
        .collect();
    let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
    let readers: Vec<_> = instances.iter().map(|instance| reader(&instance.trace.values)).collect();
    let traces = instances.iter().zip(&readers);
    let traces: Vec<_> = traces
        .map(|(instance, read)| Trace::Parts { len: instance.trace.values.len(), read: read.as_ref() })
        .collect();
    let proof = proofmill_stark::prove_tables(run, hash, parameters, &tables, key, &traces, &public_values)?;
    batch_to_plonky3(&proof).map_err(|error| not_of(&error))
}

/// Reads our elements of a trace of Plonky3.
fn reader(values: &[Goldilocks]) -> Box<ReadValues<'_>> {
    Box::new(|first, to| {
        to.iter_mut().zip(&values[first..]).for_each(|(to, value)| *to = element(*value));
        Ok(())
    })
}

/// Checks that parameters blind proofs if and only if a configuration does.
fn check_blinding<SC: Configuration<D>, const D: usize>(parameters: &Parameters) -> Result<(), StarkError> {
    let expected = match SC::BLINDED {
        true if !parameters.is_blinded() => "at least 1, as the configuration is blinded",
        false if parameters.is_blinded() => "0, as the configuration is not blinded",
        _ => return Ok(()),
    };
    let (field, found) = ("random_columns", parameters.random_columns);
    Err(InvalidConfiguration { field, expected: expected.to_owned(), found }.into())
}

/// A verified proof that the configuration cannot express.
fn not_of(error: &VerifyError) -> StarkError {
    unreachable!("a verified proof has the lengths of its statement: {error}")
}
