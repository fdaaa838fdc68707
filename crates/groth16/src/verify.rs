//! The verifier.

use crate::{Groth16Curve, Groth16Error, Proof, VerifyingKey};
use proofmill_circom::Coordinate;
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, msm};
use proofmill_pairing::pairing_product_is_one;

/// Verifies a proof for these public signals (outputs, then public inputs; without the constant).
///
/// All inputs are checked here, whatever their source: curve equations, G2's subgroup, no infinity in the proof. The equation
/// is `e(A, B) = e(alpha, beta) e(sum of public IC, gamma) e(C, delta)`.
///
/// # Errors
/// [`Groth16Error::Rejected`] for a wrong proof; [`Groth16Error::MalformedProof`], [`Groth16Error::Malformed`] and
/// [`Groth16Error::PublicLength`] for malformed proofs, malformed keys, and a wrong number of signals.
pub fn verify<C: Groth16Curve>(
    level: Level,
    key: &VerifyingKey<C>,
    public: &[C::Scalar],
    proof: &Proof<C>,
) -> Result<(), Groth16Error> {
    let (constant, signals) = of_signals(key, public)?;
    check_key(level, key)?;
    check_proof(level, proof)?;
    // The public part: `IC_0 + sum x_i IC_i`, where IC_0 belongs to the constant one.
    let inputs = msm::<C>(level, signals, public).add_affine(constant).to_affine();
    // A is negated to bring all pairings to one side: they share one final exponentiation.
    let pairs: [_; 4] =
        [(-proof.a, proof.b), (key.alpha_1, key.beta_2), (inputs, key.gamma_2), (proof.c, key.delta_2)];
    if pairing_product_is_one(level, &pairs) { Ok(()) } else { Err(Groth16Error::Rejected) }
}

/// The key's points of the constant and of these public signals.
pub(crate) fn of_signals<'a, C: Groth16Curve>(
    key: &'a VerifyingKey<C>,
    public: &[C::Scalar],
) -> Result<(&'a Affine<C>, &'a [Affine<C>]), Groth16Error> {
    let points = key.ic.split_first().filter(|(_, signals)| signals.len() == public.len());
    let expected = key.ic.len().saturating_sub(1);
    points.ok_or(Groth16Error::PublicLength { expected, found: public.len() })
}

/// Checks that the points of a key are in their groups.
pub(crate) fn check_key<C: Groth16Curve>(level: Level, key: &VerifyingKey<C>) -> Result<(), Groth16Error> {
    let in_g2 = [key.beta_2, key.gamma_2, key.delta_2];
    // With one of these at infinity, anyone can forge proofs (see `insecurity`).
    if key.alpha_1.is_infinity() || in_g2.iter().any(Affine::is_infinity) {
        return Err(Groth16Error::Malformed("a point of the verification key is infinity"));
    }
    if !are_in_group(level, &key.ic) || !are_in_group(level, &[key.alpha_1]) {
        return Err(Groth16Error::Malformed("a point of the verification key is not in G1"));
    }
    if !are_in_group(level, &in_g2) {
        return Err(Groth16Error::Malformed("a point of the verification key is not in G2"));
    }
    Ok(())
}

/// Checks that the points of a proof are in their groups and finite.
pub(crate) fn check_proof<C: Groth16Curve>(level: Level, proof: &Proof<C>) -> Result<(), Groth16Error> {
    check_finite(proof)?;
    if !are_in_group(level, &[proof.a, proof.c]) {
        return Err(Groth16Error::MalformedProof("a point of the proof is not in G1"));
    }
    if !are_in_group(level, &[proof.b]) {
        return Err(Groth16Error::MalformedProof("pi_b is not in G2"));
    }
    Ok(())
}

pub(crate) fn check_finite<C: Groth16Curve>(proof: &Proof<C>) -> Result<(), Groth16Error> {
    if [proof.a, proof.c].iter().any(Affine::is_infinity) || proof.b.is_infinity() {
        return Err(Groth16Error::MalformedProof("a point of the proof is infinity"));
    }
    Ok(())
}

/// Whether all points are in their group of prime order; infinity is.
pub(crate) fn are_in_group<G: Curve<Base: Coordinate>>(level: Level, points: &[Affine<G>]) -> bool {
    points.iter().all(Affine::is_on_curve) && G::Base::first_outside(level, points).is_none()
}
