//! The verifier.

use crate::{Groth16Error, Proof, VerifyingKey};
use proofmill_cpu::Level;
use proofmill_curve::{bn254::G1, msm};
use proofmill_field::bn254::Fr;
use proofmill_pairing::pairing_product_is_one;

/// Verifies a proof for these public signals (outputs, then public inputs; without the constant).
///
/// All inputs are checked here, whatever their source: curve equations, G2's subgroup, no infinity in the proof. The equation
/// is `e(A, B) = e(alpha, beta) e(sum of public IC, gamma) e(C, delta)`.
///
/// # Errors
/// [`Groth16Error::Rejected`] for a wrong proof; [`Groth16Error::MalformedProof`], [`Groth16Error::Malformed`] and
/// [`Groth16Error::PublicLength`] for malformed proofs, malformed keys, and a wrong number of signals.
pub fn verify(level: Level, key: &VerifyingKey, public: &[Fr], proof: &Proof) -> Result<(), Groth16Error> {
    let Some((constant, signals)) = key.ic.split_first().filter(|(_, signals)| signals.len() == public.len())
    else {
        let expected = key.ic.len().saturating_sub(1);
        return Err(Groth16Error::PublicLength { expected, found: public.len() });
    };
    for point in key.ic.iter().chain([&key.alpha_1]) {
        if !point.is_on_curve() {
            return Err(Groth16Error::Malformed("a point of the verification key is not on the curve"));
        }
    }
    for point in [&key.beta_2, &key.gamma_2, &key.delta_2] {
        if point.is_infinity() || !point.is_on_curve() || !point.is_in_subgroup() {
            return Err(Groth16Error::Malformed("a point of the verification key is not in G2"));
        }
    }
    if [&proof.a, &proof.c].iter().any(|point| !point.is_on_curve()) {
        return Err(Groth16Error::MalformedProof("a point of the proof is not on the curve"));
    }
    if !proof.b.is_on_curve() || !proof.b.is_in_subgroup() {
        return Err(Groth16Error::MalformedProof("pi_b is not in G2"));
    }
    let inputs = msm::<G1>(level, signals, public).add_affine(constant).to_affine();
    let pairs: [_; 4] =
        [(-proof.a, proof.b), (key.alpha_1, key.beta_2), (inputs, key.gamma_2), (proof.c, key.delta_2)];
    if pairing_product_is_one(level, &pairs) { Ok(()) } else { Err(Groth16Error::Rejected) }
}
