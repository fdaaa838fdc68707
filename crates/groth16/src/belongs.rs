//! Whether a key belongs to a circuit: whether it is the circuit's key before contributions, but for delta.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{Groth16Curve, Groth16Error, factors::random_factors};
use proofmill_circom::{Groth16Header, Groth16Points, Groth16Zkey, PointCheck, Points};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, msm};
use proofmill_field::Field;
use proofmill_ntt::Domain;
use proofmill_pairing::pairing_product_is_one;

/// Compares a key with the one that [`setup`](crate::setup) makes of a circuit. Contributions divide the points C and H by their
/// secret and multiply delta by it; everything else must be the same. Returns the first part that differs.
///
/// C and H are compared by sums with a random factor of 128 bits for each point, so that any difference is missed with a probability of
/// 2^-128. One other form of H is accepted, and nothing between the two: that of keys imported from bellman's format, which lack the
/// power `x^(n-1)` of the quotient.
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
    // e(delta_1, G2) = e(G1, delta_2) with the generators: both have the same logarithm.
    let (delta_1, delta_2) = (key.header().delta_1, key.header().delta_2);
    if !pairing_product_is_one(level, &[(delta_1, C::G2::GENERATOR), (-C::GENERATOR, delta_2)]) {
        return Ok(Some("delta in G1 and in G2"));
    }
    // e(sum, delta) = e(expected, G2) only if the sum is the expected one divided by delta.
    let is_divided = |points: Points<'_, C>, fresh: Points<'_, C>, factors: &[C::Scalar]| {
        let [sum, expected] = [combination(level, points, factors)?, combination(level, fresh, factors)?];
        Ok::<_, Groth16Error>(pairing_product_is_one(level, &[(sum, delta_2), (-expected, C::G2::GENERATOR)]))
    };
    if !is_divided(key.c(), fresh.c(), &random_factors::<C>(key.c().len())?)? {
        return Ok(Some("the points C"));
    }
    if !is_divided(key.h(), fresh.h(), &random_factors::<C>(key.h().len())?)? {
        let Some(lowest) = without_highest(level, key)? else { return Ok(Some("the points H")) };
        if !is_divided(key.h(), fresh.h(), &lowest)? {
            return Ok(Some("the points H"));
        }
    }
    // A key that was imported from JSON has no hash.
    let hash = |key: &Groth16Zkey<C>| {
        Ok::<_, Groth16Error>(key.decoded_contributions()?.map(|all| all.circuit_hash))
    };
    let (own, expected) = (hash(key)?, hash(fresh)?);
    Ok((own.is_some() && own != expected).then_some("the circuit's hash"))
}

/// For a key in which the highest power of the quotient is infinity, as in bellman's format: factors that compare the other powers. They
/// are the values of a random polynomial of degree n - 2 on the points' coset. `None` for any other key.
///
/// The points H are `L_j(tau) / delta`, up to a factor, for the Lagrange polynomials L_j of the coset's points x_j. So the power i of the
/// quotient is the sum of the points times `x_j^i`, and n such sums determine the n points.
fn without_highest<C: Groth16Curve>(
    level: Level,
    key: &Groth16Zkey<C>,
) -> Result<Option<Vec<C::Scalar>>, Groth16Error> {
    let log_n = key.header().domain_size.ilog2();
    let domain = C::root_of_unity(log_n).and_then(|root| Domain::<C::ScalarPrime>::with_root(log_n, root));
    let (Some(domain), Some(shift)) = (domain, C::root_of_unity(log_n + 1)) else { return Ok(None) };
    let values = |mut coefficients: Vec<C::Scalar>, highest: C::Scalar| {
        coefficients.iter_mut().last().into_iter().for_each(|last| *last = highest);
        domain.coset_ntt(level, &mut coefficients, shift);
        coefficients
    };
    let highest = values(vec![C::Scalar::ZERO; key.h().len()], C::Scalar::ONE);
    let is_bellmans = combination(level, key.h(), &highest)?.is_infinity();
    let lowest = || Ok(values(random_factors::<C>(key.h().len())?, C::Scalar::ZERO));
    is_bellmans.then(lowest).transpose()
}

fn combination<C: Groth16Curve>(
    level: Level,
    points: Points<'_, C>,
    factors: &[C::Scalar],
) -> Result<Affine<C>, Groth16Error> {
    // Pairings do not see what is outside the subgroup.
    Ok(msm::<C>(level, &points.decode(level, PointCheck::InSubgroup)?, factors).to_affine())
}
