//! Verification of contributions and of the powers that they lead to.

use super::{
    PIECE, Sections, base, contribute::remember, each_section, first_challenge, read, size_of_powers, wrong,
};
use crate::{
    CeremonyError,
    encoding::{CeremonyCurve, Form, Group, Member, encode},
    state::HashState,
    verify::{is_same_ratio, of_beacon_again},
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{
    FirstPowers, KnowledgeProof, PointCheck, Ptau, PtauContribution, PtauHeader, PtauPoints,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian};
use proofmill_field::{Algebra, Field, Fp, Invert, batch_invert_vartime};
use proofmill_parallel as parallel;
use proofmill_progress::Progress;
use proofmill_srs::{first_broken, sides};
use rand::{TryRngCore, rngs::OsRng};
use std::ops::Range;

/// Verifies the file of a ceremony: that each contribution knew its secrets and multiplied tau, alpha and beta by them, in the order of the
/// list; that the powers are those of the last tau, alpha and beta, each point in its group; that their hash is in the last contribution, if
/// the file has all powers of the ceremony; and the Lagrange polynomials, if it is prepared. Returns the hashes of the responses. Runs on
/// the ambient rayon pool.
///
/// Powers are verified by sums with powers of a random factor z, as [`Srs::check`](proofmill_srs::Srs::check) does; a wrong file passes with
/// a probability below 2^-220. The sum of `z^i tau^i` is also that of the values of `1 + z x + z^2 x^2 + ...` on a domain times the domain's
/// Lagrange polynomials at tau; a value is a fraction, so no transform is needed. Of the largest power, 28, the domain of 2^29 points is
/// not verified.
///
/// Nothing binds names, the hashes of responses before the last one, and bytes behind the buffer of their states.
///
/// # Errors
/// [`CeremonyError::NoContributions`], [`CeremonyError::Contribution`], [`CeremonyError::Powers`], [`CeremonyError::Challenge`],
/// [`CeremonyError::Beacon`] for one with too many iterations to be repeated, [`CeremonyError::Randomness`], [`CeremonyError::File`].
pub fn verify<C: CeremonyCurve>(
    level: Level,
    powers: &Ptau<C>,
    progress: Progress<'_>,
) -> Result<Vec<[u8; 64]>, CeremonyError> {
    powers.expect_complete()?;
    let PtauHeader { power, ceremony_power } = *powers.header();
    let contributions = powers.decoded_contributions()?;
    let Some(last) = contributions.last() else { return Err(CeremonyError::NoContributions) };
    progress.begin("hash of the first challenge");
    let mut challenge = first_challenge::<C>(ceremony_power)?;
    progress.begin("contributions");
    let mut before = FirstPowers::INITIAL;
    let mut responses = Vec::with_capacity(contributions.len());
    for (index, contribution) in contributions.iter().enumerate() {
        let failed = |problem| {
            let (number, name) = (index + 1, contribution.name.clone());
            CeremonyError::Contribution { number, name, problem }
        };
        if let Some(problem) = problem(level, contribution, &before, &challenge)? {
            return Err(failed(problem));
        }
        let response = response_hash(contribution, ceremony_power);
        responses.push(response.ok_or_else(|| failed("the state of its hash is not that of a response"))?);
        (before, challenge) = (contribution.powers, contribution.next_challenge);
    }
    OsRng.try_next_u64().map_err(|error| CeremonyError::Randomness(error.to_string()))?;
    let response = responses.last().copied().unwrap_or([0; 64]);
    let hash = Blake2b512::new_with_prefix(response);
    let z = Fp::<C::ScalarPrime>::random(&mut OsRng.unwrap_err());
    let mut verified = Verified { level, powers, last: last.powers, z, hash, progress };
    each_section(power, &mut verified)?;
    if power == ceremony_power && challenge != <[u8; 64]>::from(verified.hash.finalize()) {
        return Err(CeremonyError::Challenge);
    }
    Ok(responses)
}

/// The hash of a contribution's response, which snarkjs shows; `None` if the state in the contribution is not that of a response in a ceremony
/// of this power.
pub fn response_hash<C: CeremonyCurve>(
    contribution: &PtauContribution<C>,
    ceremony_power: u32,
) -> Option<[u8; 64]> {
    // The challenge's hash and all powers.
    let length = 64 + size_of_powers::<C>(Form::Compressed, ceremony_power);
    let mut state = HashState::from_bytes(&contribution.partial_hash, length as u64)?;
    state.update(&contribution.key());
    Some(state.finish())
}

/// What is wrong with a contribution to the powers `before` and the challenge with this hash.
pub(super) fn problem<C: CeremonyCurve>(
    level: Level,
    contribution: &PtauContribution<C>,
    before: &FirstPowers<C>,
    challenge: &[u8; 64],
) -> Result<Option<&'static str>, CeremonyError> {
    let PtauContribution { powers: after, proofs, beacon, .. } = contribution;
    let in_g1 = [after.tau_g1, after.alpha_g1, after.beta_g1];
    let in_g1 = in_g1.iter().chain(proofs.iter().flat_map(|proof| [&proof.s, &proof.sx]));
    let in_g2 = [after.tau_g2, after.beta_g2];
    let mut in_g2 = in_g2.iter().chain(proofs.iter().map(|proof| &proof.spx));
    if in_g1.into_iter().any(Affine::is_infinity) || in_g2.any(Affine::is_infinity) {
        return Ok(Some("one of its points is infinity"));
    }
    let steps =
        [[before.tau_g1, after.tau_g1], [before.alpha_g1, after.alpha_g1], [before.beta_g1, after.beta_g1]];
    for (which, (proof, [before, after])) in (0..).zip(proofs.iter().zip(&steps)) {
        let KnowledgeProof { s, sx, spx } = proof;
        let sp = base(which, challenge, s, sx);
        if !is_same_ratio(level, [s, sx], [&sp, spx]) {
            return Ok(Some("a proof of knowledge is wrong, or is to another challenge"));
        }
        if !is_same_ratio(level, [before, after], [&sp, spx]) {
            return Ok(Some(
                "it has not multiplied tau, alpha and beta in G1 by the secrets that it proves to know",
            ));
        }
    }
    let [tau, _, beta] = proofs;
    if !is_same_ratio(level, [&tau.s, &tau.sx], [&before.tau_g2, &after.tau_g2])
        || !is_same_ratio(level, [&beta.s, &beta.sx], [&before.beta_g2, &after.beta_g2])
    {
        return Ok(Some("it has not multiplied tau and beta in G2 by the secrets that it proves to know"));
    }
    if let Some(beacon) = beacon
        && super::Secrets::new(&mut of_beacon_again(beacon)?, challenge)?.1 != *proofs
    {
        return Ok(Some("its secrets are not the beacon's"));
    }
    Ok(None)
}

/// Verifies the sections against the last contribution.
struct Verified<'a, C: CeremonyCurve> {
    level: Level,
    powers: &'a Ptau<C>,
    last: FirstPowers<C>,
    z: C::Scalar,
    hash: Blake2b512,
    progress: Progress<'a>,
}

impl<C: CeremonyCurve> Sections<C> for Verified<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        let Self { level, powers, last, z, hash, progress } = self;
        progress.begin(section.section().content);
        let mut found = FirstPowers::INITIAL;
        // The sums of the first 1, 2, 4, ... terms.
        let mut prefixes = Vec::new();
        let sum = walk::<C, G>(*level, powers, section, 0..count, z, *progress, |start, points, sum| {
            if start.is_power_of_two() {
                prefixes.push(*sum);
            }
            remember(&mut found, section, start, points);
            hash.update(encode(points, Form::Uncompressed));
        })?;
        let mut expected = *last;
        let (found, expected) = (G::slot(&mut found, section), G::slot(&mut expected, section));
        if found != expected {
            return Err(wrong(section, "its first power is not that of the last contribution"));
        }
        if found.is_some_and(|(_, index)| index > 0) && sum.first != G::GENERATOR {
            return Err(wrong(section, "point 0 is not the generator"));
        }
        if count > 1 && !sum.holds(*level, z, last) {
            let broken = first_broken(0..count - 1, |range| {
                let z = Fp::<C::ScalarPrime>::random(&mut OsRng.unwrap_err());
                let sum = walk::<C, G>(
                    *level,
                    powers,
                    section,
                    range.start..range.end + 1,
                    &z,
                    Progress::NONE,
                    |_, _, _| (),
                )?;
                Ok::<_, CeremonyError>(sum.holds(*level, &z, last))
            })?;
            let at = broken.unwrap_or_default();
            return Err(wrong(section, format!("point {} is not tau times point {at}", at + 1)));
        }
        if let Some(prepared) = G::prepared(section)
            && powers.is_prepared()
        {
            progress.begin(prepared.section().content);
            prefixes.push(sum.sum);
            return lagrange::<C, G>(*level, powers, prepared, &prefixes, z, *progress);
        }
        Ok(())
    }
}

/// The sum of points of a section times the powers of z, from 1 on.
struct Sum<G: Curve> {
    sum: Jacobian<G>,
    first: Affine<G>,
    last: Affine<G>,
    /// The last point's power of z.
    power: G::Scalar,
}

impl<G: Group> Sum<G> {
    /// Whether each point is tau times the one before.
    fn holds<C: CeremonyCurve>(&self, level: Level, z: &G::Scalar, powers: &FirstPowers<C>) -> bool
    where
        G: Member<C>,
    {
        let [before, after] = sides(&self.sum, &self.first, (&self.last, &self.power), z);
        G::is_tau_times(level, &before, &after, powers)
    }
}

/// Reads points, of which it gives pieces to `each` with the sum of those before. Pieces begin at 0, 1, 2, 4 and so on from the first.
fn walk<C: CeremonyCurve, G: Group>(
    level: Level,
    powers: &Ptau<C>,
    section: PtauPoints,
    range: Range<usize>,
    z: &G::Scalar,
    progress: Progress<'_>,
    mut each: impl FnMut(usize, &[Affine<G>], &Jacobian<G>),
) -> Result<Sum<G>, CeremonyError> {
    let (first, last) = (Affine::INFINITY, Affine::INFINITY);
    let mut total = Sum { sum: Jacobian::INFINITY, first, last, power: G::Scalar::ONE };
    let mut next = G::Scalar::ONE;
    let mut done = 0;
    while done < range.len() {
        let length = done.clamp(1, PIECE).min(range.len() - done);
        let start = range.start + done;
        let points = read::<C, G>(level, powers, section, start..start + length)?;
        let mut scalars = Vec::with_capacity(length);
        for _ in 0..length {
            scalars.push(next);
            (total.power, next) = (next, next * *z);
        }
        if done == 0 {
            total.first = points.first().copied().unwrap_or(Affine::INFINITY);
        }
        total.last = points.last().copied().unwrap_or(Affine::INFINITY);
        each(done, &points, &total.sum);
        total.sum = total.sum.add(&G::msm(level, &points.as_slice(), &scalars));
        done += length;
        progress.share(done as u64, range.len() as u64);
    }
    Ok(total)
}

/// Verifies the Lagrange polynomials at tau of domains of 1, 2, 4 and so on points, by the sums of as many powers times those of z.
///
/// The polynomial `f = 1 + z x + ... + (z x)^(n-1)` has the value `(z^n - 1) / (z w^j - 1)` at the root w^j of order n; the sum of these times
/// the Lagrange polynomials is f at tau. The largest domain of tau in G1 lacks its highest power, so f does too.
fn lagrange<C: CeremonyCurve, G: Group + Curve<Scalar = C::Scalar>>(
    level: Level,
    powers: &Ptau<C>,
    section: PtauPoints,
    prefixes: &[Jacobian<G>],
    z: &C::Scalar,
    progress: Progress<'_>,
) -> Result<(), CeremonyError> {
    let all = powers.points::<G>(section)?;
    for (log_n, expected) in (0..).zip(prefixes) {
        let n = 1 << log_n;
        let Some(root) = C::root_of_unity(log_n) else { continue };
        let lacks_highest = log_n > powers.header().power;
        let z_to_n = z.pow_vartime(&[n as u64]);
        let highest =
            if lacks_highest { z_to_n * z.invert_vartime().unwrap_or_default() } else { C::Scalar::ZERO };
        // w^j and w^-j, which is w^(j (n-1)).
        let (mut power, mut inverse_power) = (C::Scalar::ONE, C::Scalar::ONE);
        let inverse = root.invert_vartime().unwrap_or_default();
        let mut sum = Jacobian::INFINITY;
        for range in parallel::ranges(n, PIECE) {
            let points =
                all.slice(n - 1 + range.start..n - 1 + range.end)?.decode(level, PointCheck::InSubgroup)?;
            let (mut scalars, mut terms) = (Vec::with_capacity(range.len()), Vec::with_capacity(range.len()));
            for _ in range.clone() {
                scalars.push(*z * power - C::Scalar::ONE);
                terms.push(highest * inverse_power);
                (power, inverse_power) = (power * root, inverse_power * inverse);
            }
            batch_invert_vartime(&mut scalars);
            for (scalar, term) in scalars.iter_mut().zip(&terms) {
                *scalar = (z_to_n - C::Scalar::ONE) * *scalar - *term;
            }
            sum = sum.add(&G::msm(level, &points.as_slice(), &scalars));
            progress.share((n - 1 + range.end) as u64, all.len() as u64);
        }
        if sum != *expected {
            return Err(wrong(section, format!("the domain of 2^{log_n} points is not that of the powers")));
        }
    }
    Ok(())
}
