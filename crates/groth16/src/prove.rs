//! The prover.

use crate::{Groth16Curve, Groth16Error, Proof, Sums, VerifyingKey, quotient, verify};
use proofmill_circom::{Groth16Zkey, PointCheck};
use proofmill_cpu::Level;
use proofmill_curve::{
    Jacobian,
    constant_time::{invert, invert_quadratic, multiple, to_affine},
};
use proofmill_field::Fp;
use proofmill_pairing::pairing;
use proofmill_run::Run;
use rand::{CryptoRng, TryRngCore, rngs::OsRng};
use zeroize::Zeroizing;

/// Proves knowledge of `witness` (one value for each wire, the first is 1) with blinding from the operating system's
/// randomness. The proof is verified before it is returned.
///
/// Runs on the ambient rayon pool. In addition to the mapped key it needs 128 bytes
/// for each point of the domain, and later the scratch memory of one sum at a time ([`Msm`](proofmill_curve::Msm)). Its running time depends on the
/// witness.
///
/// # Errors
/// [`Groth16Error::WitnessLength`], [`Groth16Error::Unsatisfied`], [`Groth16Error::Randomness`], and the errors of a damaged
/// key.
pub fn prove<C: Groth16Curve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    witness: &[C::Scalar],
) -> Result<Proof<C>, Groth16Error> {
    check_randomness()?;
    prove_with_rng(run, key, witness, &mut OsRng.unwrap_err())
}

/// [`prove`] with the blinding from `rng`, for tests that need the same proof twice. A predictable generator reveals the
/// witness.
///
/// # Errors
/// As [`prove`].
pub fn prove_with_rng<C: Groth16Curve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    witness: &[C::Scalar],
    rng: &mut impl CryptoRng,
) -> Result<Proof<C>, Groth16Error> {
    let quotient = quotient(run, key, witness)?;
    // The sum over H comes first, so that the quotient is freed before the sums over the wires.
    let of_quotient = Sums::of_quotient(run, key, 0, &quotient)?;
    drop(quotient);
    let sums = of_quotient + Sums::of_wires(run, key, 0, witness)?;
    let public = witness.get(1..=key.header().public as usize).unwrap_or_default();
    assemble_with_rng(run, key, public, &sums, rng)
}

/// The proof for these public signals, from the sums over all wires and the whole quotient, with blinding from the operating system's
/// randomness. It is verified before it is returned.
///
/// # Errors
/// [`Groth16Error::Unsatisfied`] if the sums are not those of a witness with these signals, [`Groth16Error::PublicLength`],
/// [`Groth16Error::Randomness`], and the errors of a damaged key.
pub fn assemble<C: Groth16Curve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    public: &[C::Scalar],
    sums: &Sums<C>,
) -> Result<Proof<C>, Groth16Error> {
    check_randomness()?;
    assemble_with_rng(run, key, public, sums, &mut OsRng.unwrap_err())
}

/// [`assemble`] with the blinding from `rng`, as [`prove_with_rng`].
///
/// # Errors
/// As [`assemble`].
pub fn assemble_with_rng<C: Groth16Curve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    public: &[C::Scalar],
    sums: &Sums<C>,
    rng: &mut impl CryptoRng,
) -> Result<Proof<C>, Groth16Error> {
    let Run { level, progress, .. } = run;
    let header = key.header();
    // They hide the witness, so products with them are computed in constant time.
    let [r, s] = [Fp::random(rng), Fp::random(rng)].map(Zeroizing::new);
    let delta_1 = Jacobian::from(header.delta_1);
    // Section 3.2 of the paper, Prove: `A = alpha + sum w_i a_i + r delta`, and B with beta and s.
    let a = sums.a.add_affine(&header.alpha_1).add(&multiple(level, &delta_1, &r));
    // B in G1 as well, because C has the summand r B.
    let b1 = sums.b1.add_affine(&header.beta_1).add(&multiple(level, &delta_1, &s));
    let blinding_b2 = multiple(level, &Jacobian::from(header.delta_2), &s);
    let b2 = sums.b2.add_affine(&header.beta_2).add(&blinding_b2);
    // `C = sums + s A + r B - r s delta`: s A and r B both contain r s delta, C needs it once.
    let c = sums.c.add(&multiple(level, &a, &s)).add(&multiple(level, &b1, &r)).add(&multiple(
        level,
        &delta_1,
        &Zeroizing::new(-(*r * *s)),
    ));
    // The Jacobian coordinates depend on r and s, so the inversions are in constant time as well.
    let [a, c] = [a, c].map(|point| to_affine(&point, invert));
    let proof = Proof { a, b: to_affine(&b2, invert_quadratic), c };
    // The quotient sets C to A B on the domain, so a wrong witness is found by the equation alone.
    progress.begin("verify");
    match verify(level, &verifying_key(level, key)?, public, &proof) {
        Ok(()) => Ok(proof),
        Err(Groth16Error::Rejected) => Err(Groth16Error::Unsatisfied),
        Err(error) => Err(error),
    }
}

/// A failure inside of the generator would panic, so it is tested once.
fn check_randomness() -> Result<(), Groth16Error> {
    OsRng.try_next_u64().map_err(|error| Groth16Error::Randomness(error.to_string()))?;
    Ok(())
}

/// The verifying key in a proving key.
///
/// # Errors
/// The errors of a damaged key.
pub fn verifying_key<C: Groth16Curve>(
    level: Level,
    key: &Groth16Zkey<C>,
) -> Result<VerifyingKey<C>, Groth16Error> {
    let header = key.header();
    Ok(VerifyingKey {
        alpha_1: header.alpha_1,
        beta_2: header.beta_2,
        gamma_2: header.gamma_2,
        delta_2: header.delta_2,
        ic: key.ic().decode(level, PointCheck::InSubgroup)?,
    })
}

/// The JSON text of a verifying key, as `snarkjs zkey export verificationkey` writes it.
pub fn verifying_key_text<C: Groth16Curve>(level: Level, key: &VerifyingKey<C>) -> String {
    let alpha_beta = pairing(level, &key.alpha_1, &key.beta_2);
    key.text([alpha_beta.c0.c, alpha_beta.c1.c])
}
