//! The transcript: the messages that prover and verifier hash, and the challenges that follow from them, as in Plonky3 0.9.0-rc.2.
//!
//! Each of the three nested protocols ([`crate::prove`], its opening argument, FRI) begins with a description of all its steps and of its
//! shape. Both sides derive it from values that the verifier knows. The description is hashed before any message.

mod challenger;
mod description;
pub(crate) mod hash;
mod poseidon_bn254;
pub(crate) mod shape;

pub use challenger::Challenger;
pub(crate) use challenger::{DuplexChallenger, HashChallenger};
pub(crate) use description::Description;
pub use poseidon_bn254::{DRAW_BITS, PoseidonBn254Challenger};

use crate::VerifyError;
use proofmill_field::{
    Field,
    goldilocks::{Extension, Goldilocks},
};
use proofmill_hash::Digest;

/// A uniform element of the extension.
pub(crate) fn sample<const D: usize>(challenger: &mut dyn Challenger) -> Extension<Goldilocks, D> {
    let mut element = Extension([Goldilocks::ZERO; D]);
    element.0.iter_mut().for_each(|coefficient| *coefficient = challenger.sample());
    element
}

/// Observes elements of the extension.
pub(crate) fn observe<const D: usize>(
    challenger: &mut dyn Challenger,
    elements: &[Extension<Goldilocks, D>],
) {
    elements.iter().flat_map(|element| element.0).for_each(|coefficient| challenger.observe(coefficient));
}

/// Observes a commitment.
pub(crate) fn observe_cap(challenger: &mut dyn Challenger, cap: &[Digest]) {
    cap.iter().for_each(|digest| challenger.observe_digest(digest));
}

/// Takes a proof of work, which is zero where none is asked for.
pub(crate) fn check_work(
    challenger: &mut dyn Challenger,
    bits: u32,
    witness: Goldilocks,
) -> Result<(), VerifyError> {
    // Nothing else reads an unused witness: any value would be another valid proof.
    if bits == 0 && !witness.is_zero() {
        return Err(VerifyError::Rejected("a proof of work that nobody asked for"));
    }
    if challenger.check_work(bits, witness) {
        Ok(())
    } else {
        Err(VerifyError::Rejected("a proof of work proves too little"))
    }
}
