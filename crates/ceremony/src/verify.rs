//! Verification of contributions, and of the resulting key.

use crate::{
    CeremonyError,
    contribute::{of_beacon, transcript},
    encoding::{CeremonyCurve, draw_point},
    generator::Generator,
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{Beacon, Groth16Zkey, PointCheck, Ptau, ZkeyContribution, ZkeyContributions};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve};
use proofmill_groth16::differs;
use proofmill_pairing::pairing_product_is_one;

/// The most iterations of a beacon that are repeated, as a logarithm: some hours.
const MOST_LOG_ITERATIONS: u8 = 40;

/// Verifies that each contributor knew the secret and multiplied delta by it, in the order of the list. Returns their hashes and delta
/// in G1 after the last one.
///
/// # Errors
/// [`CeremonyError::Contribution`], [`CeremonyError::Beacon`] for one with too many iterations to be repeated.
pub fn contributions<C: CeremonyCurve>(
    level: Level,
    all: &ZkeyContributions<C>,
) -> Result<(Vec<[u8; 64]>, Affine<C>), CeremonyError> {
    // A ceremony of a key begins with delta = 1.
    let mut delta = C::GENERATOR;
    let mut before = Blake2b512::new_with_prefix(all.circuit_hash);
    let mut hashes = Vec::with_capacity(all.list.len());
    for (index, contribution) in all.list.iter().enumerate() {
        let transcript = transcript(&before, &contribution.s, &contribution.sx);
        if let Some(problem) = problem(level, contribution, &transcript, &delta)? {
            let (number, name) = (index + 1, contribution.name.clone());
            return Err(CeremonyError::Contribution { number, name, problem });
        }
        before.update(contribution.public());
        hashes.push(contribution.hash());
        delta = contribution.delta_after;
    }
    Ok((hashes, delta))
}

fn problem<C: CeremonyCurve>(
    level: Level,
    contribution: &ZkeyContribution<C>,
    transcript: &[u8; 64],
    delta_before: &Affine<C>,
) -> Result<Option<&'static str>, CeremonyError> {
    let ZkeyContribution { beacon, delta_after, s, sx, spx, .. } = contribution;
    // The transcript binds the proof to this circuit and to all contributions before it.
    if contribution.transcript != *transcript {
        return Ok(Some("its transcript is not that of the contributions before it"));
    }
    // Pairings with infinity are 1: such points could pass the checks below.
    if [s, sx, delta_after].into_iter().any(Affine::is_infinity) || spx.is_infinity() {
        return Ok(Some("one of its points is infinity"));
    }
    let sp = draw_point::<C::G2>(&mut Generator::new(transcript));
    if !is_same_ratio(level, [s, sx], [&sp, spx]) {
        return Ok(Some("its proof of knowledge is wrong"));
    }
    // The same secret leads from the delta before to the one after.
    if !is_same_ratio(level, [delta_before, delta_after], [&sp, spx]) {
        return Ok(Some("it has not multiplied delta by the secret that it proves to know"));
    }
    if let Some(beacon) = beacon {
        // The secret of a beacon is public: drawn again, it must give the same s and x s.
        let mut generator = of_beacon_again(beacon)?;
        let secret = generator.element::<C::ScalarPrime>();
        let expected: Affine<C> = draw_point(&mut generator);
        if expected != *s || expected.mul_vartime(&secret).to_affine() != *sx {
            return Ok(Some("its secret is not the beacon's"));
        }
    }
    Ok(None)
}

/// The generator of a beacon that another has used.
pub(crate) fn of_beacon_again(beacon: &Beacon) -> Result<Generator, CeremonyError> {
    let log = beacon.log_iterations;
    if log > MOST_LOG_ITERATIONS {
        let problem = format!("2^{log} iterations, more than the 2^{MOST_LOG_ITERATIONS} that are repeated");
        return Err(CeremonyError::Beacon(problem));
    }
    of_beacon(beacon)
}

/// Whether `b = x a` in G1 and `d = x c` in G2 for the same x; no point is infinity.
pub(crate) fn is_same_ratio<C: CeremonyCurve>(
    level: Level,
    [a, b]: [&Affine<C>; 2],
    [c, d]: [&Affine<C::G2>; 2],
) -> bool {
    pairing_product_is_one(level, &[(*a, *d), (-*b, *c)])
}

/// Verifies a key against the one from which the ceremony began, which is the circuit's: all contributions, and all parts of the key
/// (see [`differs`]). Returns the contributions' hashes; without any, anyone can forge proofs for the key.
///
/// # Errors
/// The errors of [`contributions`], [`CeremonyError::NoList`], [`CeremonyError::NotInitial`],
/// [`CeremonyError::Differs`], [`CeremonyError::Delta`], [`CeremonyError::Key`].
pub fn key<C: CeremonyCurve>(
    level: Level,
    key: &Groth16Zkey<C>,
    initial: &Groth16Zkey<C>,
) -> Result<Vec<[u8; 64]>, CeremonyError> {
    let all = key.decoded_contributions()?.ok_or(CeremonyError::NoList)?;
    check_initial(initial)?;
    if let Some(part) = differs(level, key, initial)? {
        return Err(CeremonyError::Differs(part));
    }
    let (hashes, delta) = contributions(level, &all)?;
    if delta != key.header().delta_1 {
        return Err(CeremonyError::Delta);
    }
    Ok(hashes)
}

fn check_initial<C: CeremonyCurve>(key: &Groth16Zkey<C>) -> Result<(), CeremonyError> {
    let contributions = key.decoded_contributions()?.map_or(0, |all| all.list.len());
    let has_delta = (key.header().delta_1, key.header().delta_2) != (C::GENERATOR, C::G2::GENERATOR);
    if contributions > 0 || has_delta { Err(CeremonyError::NotInitial(contributions)) } else { Ok(()) }
}

/// Makes sure that an initial key has these powers of tau: alpha, beta, gamma, and the points H. Its other points depend on the circuit.
///
/// # Errors
/// [`CeremonyError::NotInitial`], [`CeremonyError::Differs`], [`CeremonyError::File`] for powers that are not prepared or too few.
pub fn powers<C: CeremonyCurve>(
    level: Level,
    initial: &Groth16Zkey<C>,
    ptau: &Ptau<C>,
) -> Result<(), CeremonyError> {
    check_initial(initial)?;
    let header = initial.header();
    let first = |points: proofmill_circom::Points<'_, C>| {
        Ok::<_, CeremonyError>(points.slice(0..1)?.decode(level, PointCheck::OnCurve)?.first().copied())
    };
    let (alpha, beta) = (first(ptau.alpha_tau_g1()?)?, first(ptau.beta_tau_g1()?)?);
    let of_powers = (alpha, beta, ptau.beta_g2()?, C::G2::GENERATOR);
    if (Some(header.alpha_1), Some(header.beta_1), header.beta_2, header.gamma_2) != of_powers {
        return Err(CeremonyError::Differs("alpha, beta or gamma"));
    }
    let log_n = header.domain_size.trailing_zeros();
    let odd = ptau.lagrange_tau_g1(log_n + 1)?.decode(level, PointCheck::OnCurve)?;
    let h = initial.h().decode(level, PointCheck::OnCurve)?;
    if !odd.into_iter().skip(1).step_by(2).eq(h) {
        return Err(CeremonyError::Differs("the points H"));
    }
    Ok(())
}
