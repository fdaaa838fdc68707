//! The prover.

use crate::{Groth16Error, Progress, Proof, VerifyingKey, quotient::quotient, verify};
use proofmill_circom::{CircomError, Coordinate, Groth16Zkey, PointCheck, Points};
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Bases, Curve, Jacobian, Msm,
    constant_time::{invert, invert_quadratic, multiple, to_affine},
};
use proofmill_field::bn254::Fr;
use proofmill_pairing::pairing;
use rand::{CryptoRng, TryRngCore, rngs::OsRng};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// Proves knowledge of `witness` (one value for each wire, the first is 1) with blinding from the operating system's
/// randomness. The proof is verified before it is returned.
///
/// `progress` receives the name of each phase. Runs on the ambient rayon pool. In addition to the mapped key it needs 128 bytes
/// for each point of the domain, and later the scratch memory of one sum at a time ([`Msm`]). Its running time depends on the
/// witness.
///
/// # Errors
/// [`Groth16Error::WitnessLength`], [`Groth16Error::Unsatisfied`], [`Groth16Error::Randomness`], and the errors of a damaged
/// key.
pub fn prove(
    level: Level,
    key: &Groth16Zkey,
    witness: &[Fr],
    progress: Progress<'_>,
) -> Result<Proof, Groth16Error> {
    // A failure inside `rng` would panic, so test the generator once.
    OsRng.try_next_u64().map_err(|error| Groth16Error::Randomness(error.to_string()))?;
    prove_with_rng(level, key, witness, &mut OsRng.unwrap_err(), progress)
}

/// [`prove`] with the blinding from `rng`, for tests that need the same proof twice. A predictable generator reveals the
/// witness.
///
/// # Errors
/// As [`prove`].
pub fn prove_with_rng(
    level: Level,
    key: &Groth16Zkey,
    witness: &[Fr],
    rng: &mut impl CryptoRng,
    progress: Progress<'_>,
) -> Result<Proof, Groth16Error> {
    let header = key.header();
    if witness.len() != header.wires as usize {
        return Err(Groth16Error::WitnessLength { expected: header.wires, found: witness.len() });
    }
    let (public, private) = witness.split_at(header.public as usize + 1);
    // They hide the witness, so products with them are computed in constant time.
    let [r, s] = [Fr::random(rng), Fr::random(rng)].map(Zeroizing::new);
    let delta_1 = Jacobian::from(header.delta_1);
    let blinding_a = multiple(level, &delta_1, &r);
    let blinding_b1 = multiple(level, &delta_1, &s);
    let blinding_b2 = multiple(level, &Jacobian::from(header.delta_2), &s);
    let blinding_c = multiple(level, &delta_1, &Zeroizing::new(-(*r * *s)));

    let quotient = quotient(level, key, witness, progress)?;
    progress.begin("msm h");
    let h = sum(level, key.h(), &quotient)?;
    drop(quotient);
    progress.begin("msm a");
    let a = sum(level, key.a(), witness)?.add_affine(&header.alpha_1).add(&blinding_a);
    progress.begin("msm b1");
    let b1 = sum(level, key.b1(), witness)?.add_affine(&header.beta_1).add(&blinding_b1);
    progress.begin("msm b2");
    let b2 = sum(level, key.b2(), witness)?.add_affine(&header.beta_2).add(&blinding_b2);
    progress.begin("msm c");
    let c = sum(level, key.c(), private)?
        .add(&h)
        .add(&multiple(level, &a, &s))
        .add(&multiple(level, &b1, &r))
        .add(&blinding_c);
    let [a, c] = [a, c].map(|point| to_affine(&point, invert));
    let proof = Proof { a, b: to_affine(&b2, invert_quadratic), c };
    progress.begin("verify");
    match verify(level, &verifying_key(level, key)?, public.get(1..).unwrap_or_default(), &proof) {
        Ok(()) => Ok(proof),
        Err(Groth16Error::Rejected) => Err(Groth16Error::Unsatisfied),
        Err(error) => Err(error),
    }
}

/// The verifying key in a proving key.
///
/// # Errors
/// The errors of a damaged key.
pub fn verifying_key(level: Level, key: &Groth16Zkey) -> Result<VerifyingKey, Groth16Error> {
    let header = key.header();
    Ok(VerifyingKey {
        alpha_1: header.alpha_1,
        beta_2: header.beta_2,
        gamma_2: header.gamma_2,
        delta_2: header.delta_2,
        ic: key.ic().decode(level, PointCheck::OnCurve)?,
    })
}

/// The sum of `scalars[i] * points[i]`. The points are decoded block by block during the sum.
fn sum<C: Msm<Scalar = Fr, Base: Coordinate>>(
    level: Level,
    points: Points<'_, C>,
    scalars: &[Fr],
) -> Result<Jacobian<C>, Groth16Error> {
    if points.len() != scalars.len() {
        return Err(Groth16Error::Malformed(
            "a section of the proving key has another length than its header says",
        ));
    }
    let bases = MappedBases { level, points, fault: Mutex::new(None) };
    let sum = C::msm(level, &bases, scalars);
    match bases.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(sum),
        Some((_, error)) => Err(error.into()),
    }
}

/// Points of a mapped key as the bases of a sum.
struct MappedBases<'a, C> {
    level: Level,
    points: Points<'a, C>,
    /// The position of the first block that could not be decoded, and the error.
    fault: Mutex<Option<(usize, CircomError)>>,
}

impl<C: Curve<Base: Coordinate>> Bases<C> for MappedBases<'_, C> {
    fn count(&self) -> usize {
        self.points.len()
    }

    fn read(&self, start: usize, bases: &mut [Affine<C>]) {
        if let Err(error) = self.points.read(self.level, start, bases) {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            if fault.as_ref().is_none_or(|(first, _)| start < *first) {
                *fault = Some((start, error));
            }
        }
    }
}

/// The JSON text of a verifying key, as `snarkjs zkey export verificationkey` writes it.
pub fn verifying_key_text(level: Level, key: &VerifyingKey) -> String {
    let alpha_beta = pairing(level, &key.alpha_1, &key.beta_2);
    key.text([alpha_beta.c0.c, alpha_beta.c1.c])
}
