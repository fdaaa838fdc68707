//! Whether a key belongs to a circuit: whether it is the circuit's key before contributions, but for delta.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Groth16Curve, Groth16Error};
use proofmill_circom::{Groth16Header, Groth16Points, Groth16Zkey, PointCheck, Points};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, msm};
use proofmill_field::{Field, Fp};
use proofmill_pairing::pairing_product_is_one;
use proofmill_poly::Domain;
use rand::{RngCore, TryRngCore, rngs::OsRng};

/// Compares a key with the one that [`setup`](crate::setup) makes of a circuit. Contributions divide the points C and H by their
/// secret and multiply delta by it; everything else must be the same. Returns the first part that differs.
///
/// C and H are compared as random combinations: a difference is missed with a probability of 2^-128. The factors of H are the values of a
/// random polynomial of degree n - 2 on the points' coset: quotients have no higher degree, and keys that were imported from bellman's format
/// lack that power.
/// Whether delta's logarithm is unknown, and the contributions' proofs of knowledge, are not checked.
///
/// # Errors
/// [`Groth16Error::File`] for a point that is not in its group, [`Groth16Error::Randomness`].
pub fn differs<C: Groth16Curve>(
    level: Level,
    key: &Groth16Zkey<C>,
    fresh: &Groth16Zkey<C>,
) -> Result<Option<&'static str>, Groth16Error> {
    let shape = |header: &Groth16Header<C>| (header.wires, header.public, header.domain_size);
    if shape(key.header()) != shape(fresh.header()) {
        return Ok(Some("the numbers of wires, public signals or constraints"));
    }
    let of_powers =
        |header: &Groth16Header<C>| (header.alpha_1, header.beta_1, header.beta_2, header.gamma_2);
    if of_powers(key.header()) != of_powers(fresh.header()) {
        return Ok(Some("alpha, beta or gamma: it is from other powers of tau"));
    }
    if key.coefficients_section().bytes() != fresh.coefficients_section().bytes() {
        return Ok(Some("the matrices"));
    }
    for (points, name) in [
        (Groth16Points::Ic, "the points of the public signals"),
        (Groth16Points::A, "the points A"),
        (Groth16Points::B1, "the points B in G1"),
        (Groth16Points::B2, "the points B in G2"),
    ] {
        if key.section(points).bytes() != fresh.section(points).bytes() {
            return Ok(Some(name));
        }
    }
    let (delta_1, delta_2) = (key.header().delta_1, key.header().delta_2);
    if !pairing_product_is_one(level, &[(delta_1, C::G2::GENERATOR), (-C::GENERATOR, delta_2)]) {
        return Ok(Some("delta in G1 and in G2"));
    }
    let of_c = random::<C>(key.c().len())?;
    let mut of_h = random::<C>(key.h().len())?;
    of_h.iter_mut().last().into_iter().for_each(|highest| *highest = C::Scalar::ZERO);
    let log_n = key.header().domain_size.ilog2();
    let domain = C::root_of_unity(log_n).and_then(|root| Domain::<C::ScalarPrime>::with_root(log_n, root));
    if let (Some(domain), Some(shift)) = (domain, C::root_of_unity(log_n + 1)) {
        domain.coset_ntt(level, &mut of_h, shift);
    }
    for (points, expected, factors, name) in
        [(key.c(), fresh.c(), of_c, "the points C"), (key.h(), fresh.h(), of_h, "the points H")]
    {
        let [sum, expected] =
            [combination(level, points, &factors)?, combination(level, expected, &factors)?];
        if !pairing_product_is_one(level, &[(sum, delta_2), (-expected, C::G2::GENERATOR)]) {
            return Ok(Some(name));
        }
    }
    // A key that was imported from JSON has no hash.
    let hash = |key: &Groth16Zkey<C>| {
        Ok::<_, Groth16Error>(key.decoded_contributions()?.map(|all| all.circuit_hash))
    };
    let (own, expected) = (hash(key)?, hash(fresh)?);
    Ok((own.is_some() && own != expected).then_some("the circuit's hash"))
}

fn combination<C: Groth16Curve>(
    level: Level,
    points: Points<'_, C>,
    factors: &[C::Scalar],
) -> Result<Affine<C>, Groth16Error> {
    // Pairings do not see what is outside the subgroup.
    Ok(msm::<C>(level, &points.decode(level, PointCheck::InSubgroup)?, factors).to_affine())
}

/// Factors of 128 bits from the operating system.
fn random<C: Groth16Curve>(count: usize) -> Result<Vec<C::Scalar>, Groth16Error> {
    OsRng.try_next_u64().map_err(|error| Groth16Error::Randomness(error.to_string()))?;
    let mut rng = OsRng.unwrap_err();
    let factor =
        || Fp::<C::ScalarPrime>::from_canonical([rng.next_u64(), rng.next_u64(), 0, 0]).unwrap_or_default();
    Ok(std::iter::repeat_with(factor).take(count).collect())
}
