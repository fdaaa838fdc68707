//! The verifiers of `p3_uni_stark` and `p3_batch_stark` on our engine.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{
    batch_key, constraints,
    elements::element,
    proof::{Configuration, batch_from_plonky3, from_plonky3, log_rows_from_plonky3},
    tables,
};
use p3_air::{
    Air,
    symbolic::{SymbolicAirBuilder, SymbolicExpressionExt},
};
use p3_batch_stark::{BatchProof, CommonData};
use p3_commit::PolynomialSpace;
use p3_field::Algebra;
use p3_goldilocks::Goldilocks;
use p3_lookup::InteractionSymbolicBuilder;
use p3_uni_stark::{Domain, PreprocessedVerifierKey, Proof};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks as Element};
use proofmill_stark::{Parameters, StarkError, StarkHash, VerifyError};

/// Verifies a proof of Plonky3, as [`p3_uni_stark::verify`] does, but never panics, whatever the proof and the public values are.
///
/// `hash` is the hash of trees and transcript, with Plonky3's default constants: `Sponge(Poseidon2::<8>)` and `Sponge(Poseidon2::<12>)` of
/// `proofmill_hash`, or `Keccak`. `parameters` have the same meaning as those of the configuration. The configuration is not read: its type
/// tells only that the proof is of this kind.
///
/// **Not checked**, as by Plonky3's verifier: that the AIR was fixed before the proof was made, without which a proof shows nothing. How
/// many bits are proven is not checked, either; [`Parameters::security`] computes the bits for the number of rows.
///
/// It refuses all proofs that Plonky3's verifier refuses. An element of a proof in memory is taken modulo p, as Plonky3's verifier takes
/// it. Both verifiers leave the number of rows to the prover: a statement about a certain number has to compare `proof.degree_bits`.
///
/// The constraints of the AIR are captured each time. For many proofs of one AIR, [`constraints`](crate::constraints()) captures them once,
/// for [`from_plonky3`] and [`proofmill_stark::verify`].
///
/// # Errors
/// As [`proofmill_stark::verify`]; [`VerifyError::Malformed`] also as [`from_plonky3`].
///
/// # Panics
/// As [`constraints`](crate::constraints()): because of the AIR, not because of the proof.
pub fn verify<SC, A, const D: usize>(
    hash: &dyn StarkHash,
    parameters: &Parameters,
    air: &A,
    proof: &Proof<SC>,
    public_values: &[Goldilocks],
) -> Result<(), VerifyError>
where
    SC: Configuration<D>,
    A: Air<SymbolicAirBuilder<Goldilocks>>,
    Extension<Element, D>: ExtensionField<D>,
{
    verify_with_preprocessed(hash, parameters, air, proof, public_values, None)
}

/// [`verify`] for an AIR with preprocessed columns, as [`p3_uni_stark::verify_with_preprocessed`].
///
/// A key of ours, [`preprocessed_key`](crate::preprocessed_key), is for [`from_plonky3`] and [`proofmill_stark::verify`].
///
/// # Errors
/// As [`verify`]; [`VerifyError::Statement`] if the key is not one of the AIR.
///
/// # Panics
/// As [`verify`].
pub fn verify_with_preprocessed<SC, A, const D: usize>(
    hash: &dyn StarkHash,
    parameters: &Parameters,
    air: &A,
    proof: &Proof<SC>,
    public_values: &[Goldilocks],
    preprocessed: Option<&PreprocessedVerifierKey<SC>>,
) -> Result<(), VerifyError>
where
    SC: Configuration<D>,
    A: Air<SymbolicAirBuilder<Goldilocks>>,
    Extension<Element, D>: ExtensionField<D>,
{
    let statement = |text: String| VerifyError::Statement(text);
    let constraints = constraints(air).map_err(|error| statement(error.to_string()))?;
    let key = match preprocessed {
        None => None,
        Some(key) => {
            let (expected, found) = (air.preprocessed_width(), key.width);
            if expected != found {
                return Err(statement(format!("expected a key of {expected} columns, found one of {found}")));
            }
            let log_rows = log_rows_from_plonky3(key.degree_bits, SC::BLINDED)
                .map_err(|error| statement(error.to_string()))?;
            Some((SC::digests(&key.commitment), log_rows))
        }
    };
    let key = key.as_ref().map(|(digests, log_rows)| (digests.as_slice(), *log_rows));
    let public_values: Vec<_> = public_values.iter().map(|value| element(*value)).collect();
    let proof = from_plonky3(proof)?;
    proofmill_stark::verify(Level::best(), hash, parameters, &constraints, key, &public_values, &proof)
}

/// Verifies a proof of Plonky3 of several tables, as [`p3_batch_stark::verify_batch`] does, but never panics, whatever the proof and the
/// public values are.
///
/// `hash`, `parameters`, the numbers of rows and what is not checked are as in [`verify`]. The verdicts are those of Plonky3's verifier
/// with one exception: tables whose extensions have fewer rows than the commitment has digests are refused. `MerkleTreeMmcs` of Plonky3
/// adds such rows above the cap. So the commitment does not depend on them, and any opened row passes for one of them.
///
/// The constraints of the AIRs are captured each time. For many proofs, [`tables`] and [`batch_key`] capture them once, for
/// [`batch_from_plonky3`] and [`proofmill_stark::verify_tables`].
///
/// # Errors
/// As [`proofmill_stark::verify_tables`]; [`VerifyError::Malformed`] also as [`batch_from_plonky3`].
///
/// # Panics
/// As [`tables`]: because of the AIRs, not because of the proof.
pub fn verify_batch<SC, A, const D: usize>(
    hash: &dyn StarkHash,
    parameters: &Parameters,
    airs: &[A],
    proof: &BatchProof<SC>,
    public_values: &[Vec<Goldilocks>],
    common: &CommonData<SC>,
) -> Result<(), VerifyError>
where
    SC: Configuration<D>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    A: Air<InteractionSymbolicBuilder<Goldilocks, SC::Challenge>>,
    SymbolicExpressionExt<Goldilocks, SC::Challenge>: Algebra<SC::Challenge>,
    Extension<Element, D>: ExtensionField<D>,
{
    let statement = |error: StarkError| VerifyError::Statement(error.to_string());
    let tables = tables::<SC::Challenge, A>(airs, &common.lookups).map_err(statement)?;
    let key = batch_key(&tables, common).map_err(statement)?;
    let public_values: Vec<Vec<_>> =
        public_values.iter().map(|values| values.iter().map(|value| element(*value)).collect()).collect();
    let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
    let proof = batch_from_plonky3(proof)?;
    proofmill_stark::verify_tables(
        Level::best(),
        hash,
        parameters,
        &tables,
        key.as_ref(),
        &public_values,
        &proof,
    )
}
