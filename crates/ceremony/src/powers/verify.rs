//! Verification of contributions and of the resulting powers.

use super::{
    PIECE, Sections, base, contribute::remember, each_section, first_challenge, read, size_of_powers, wrong,
};
use crate::{
    CeremonyError,
    encoding::{CeremonyCurve, Group, Member, PointEncoding, encode},
    state::HashState,
    transform,
    verify::{is_same_ratio, of_beacon_again},
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{
    Contributors, FirstPowers, KnowledgeProof, PointCheck, Ptau, PtauContribution, PtauHeader, PtauPoints,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, Jacobian};
use proofmill_field::{Field, Fp, batch_invert_vartime};
use proofmill_run::{Run, parallel};
use proofmill_srs::{first_broken, sides};
use rand::{TryRngCore, rngs::OsRng};
use std::ops::Range;

/// Verifies the file of a ceremony. Each contributor must have known the secrets, and multiplied tau, alpha and beta by them, in the order
/// of the list. The powers must be those of the last tau, alpha and beta, each point in its group. If the file has all powers of the
/// ceremony, their hash must be in the last contribution. If the file is prepared, the Lagrange polynomials are verified, too. Returns the
/// hashes of the responses. Runs on the ambient rayon pool.
///
/// Powers are verified by sums with powers of a random factor z, as [`Srs::check`](proofmill_srs::Srs::check) does; a wrong file passes with
/// a probability below 2^-220. The sum of `z^i tau^i` is also the sum of the values of `1 + z x + z^2 x^2 + ...` on a domain times the
/// domain's Lagrange polynomials at tau. Each value is a fraction, so no transform is needed. The largest domain of tau in G1 needs one
/// power more than the file has: in its place is either zero or the next power, which a pairing decides. The domain of 2^29 points, which
/// only files of power 28 have, is not verified.
///
/// Nothing binds names, the hashes of responses before the last one, and bytes behind the buffer of their states.
///
/// # Errors
/// [`CeremonyError::NoContributions`], [`CeremonyError::OnlyBeacons`], [`CeremonyError::Contribution`], [`CeremonyError::Powers`], [`CeremonyError::Challenge`],
/// [`CeremonyError::Beacon`] for one with too many iterations to be repeated, [`CeremonyError::Randomness`], [`CeremonyError::File`].
pub fn verify<C: CeremonyCurve>(run: Run<'_>, powers: &Ptau<C>) -> Result<Vec<[u8; 64]>, CeremonyError> {
    let Run { level, progress, .. } = run;
    powers.expect_complete()?;
    let PtauHeader { power, ceremony_power } = *powers.header();
    let contributions = powers.decoded_contributions()?;
    let Some(last) = contributions.last() else { return Err(CeremonyError::NoContributions) };
    if powers.contributors() == Contributors::OnlyBeacons {
        return Err(CeremonyError::OnlyBeacons);
    }
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
    // The draws of z below panic without a source of randomness: here it is an error.
    OsRng.try_next_u64().map_err(|error| CeremonyError::Randomness(error.to_string()))?;
    let response = responses.last().copied().unwrap_or([0; 64]);
    let hash = Blake2b512::new_with_prefix(response);
    // The author of the file cannot know z, and so cannot make errors cancel out.
    let z = Fp::<C::ScalarPrime>::random(&mut OsRng.unwrap_err());
    let mut verified = Verified { run, powers, last: last.powers, z, hash };
    each_section(power, &mut verified)?;
    // A truncated file lacks powers of the challenge, so this hash cannot be compared.
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
    let length = 64 + size_of_powers::<C>(PointEncoding::Compressed, ceremony_power);
    let mut state = HashState::from_bytes(&contribution.partial_hash, length as u64)?;
    state.update(&contribution.key());
    Some(state.finish())
}

/// The fault of a contribution to the powers `before` and the challenge with this hash.
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
    // Pairings with infinity are 1: such points could pass the checks below.
    if in_g1.into_iter().any(Affine::is_infinity) || in_g2.any(Affine::is_infinity) {
        return Ok(Some("one of its points is infinity"));
    }
    let steps =
        [[before.tau_g1, after.tau_g1], [before.alpha_g1, after.alpha_g1], [before.beta_g1, after.beta_g1]];
    for (which, (proof, [before, after])) in (0..).zip(proofs.iter().zip(&steps)) {
        let KnowledgeProof { s, sx, spx } = proof;
        // The challenge decides the base of the proof: a proof of another round does not fit.
        let sp = base(which, challenge, s, sx);
        if !is_same_ratio(level, [s, sx], [&sp, spx]) {
            return Ok(Some("a proof of knowledge is wrong, or is to another challenge"));
        }
        // The same secret leads from the power before to the one after.
        if !is_same_ratio(level, [before, after], [&sp, spx]) {
            return Ok(Some(
                "it has not multiplied tau, alpha and beta in G1 by the secrets that it proves to know",
            ));
        }
    }
    // In G2 the roles change: s and x s in G1 check the powers. Alpha has none in G2.
    let [tau, _, beta] = proofs;
    if !is_same_ratio(level, [&tau.s, &tau.sx], [&before.tau_g2, &after.tau_g2])
        || !is_same_ratio(level, [&beta.s, &beta.sx], [&before.beta_g2, &after.beta_g2])
    {
        return Ok(Some("it has not multiplied tau and beta in G2 by the secrets that it proves to know"));
    }
    if let Some(beacon) = beacon
        // The secrets of a beacon are public: drawn again, they give the same proofs.
        && super::Secrets::new(&mut of_beacon_again(beacon)?, challenge)?.1 != *proofs
    {
        return Ok(Some("its secrets are not the beacon's"));
    }
    Ok(None)
}

/// Verifies the sections against the last contribution.
struct Verified<'a, C: CeremonyCurve> {
    run: Run<'a>,
    powers: &'a Ptau<C>,
    last: FirstPowers<C>,
    z: C::Scalar,
    hash: Blake2b512,
}

impl<C: CeremonyCurve> Sections<C> for Verified<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        let Self { run, powers, last, z, hash } = self;
        let Run { level, progress, .. } = *run;
        progress.begin(section.section().content);
        let mut found = FirstPowers::INITIAL;
        let prepared = G::prepared(section).filter(|_| powers.is_prepared());
        let sum = walk::<C, G>(level, powers, section, 0..count, z, prepared.is_some(), |start, points| {
            remember(&mut found, section, start, points);
            hash.update(encode(points, PointEncoding::Uncompressed));
            progress.share((start + points.len()) as u64, count as u64);
        })?;
        let mut expected = *last;
        let (found, expected) = (G::slot(&mut found, section), G::slot(&mut expected, section));
        if found != expected {
            return Err(wrong(section, "its first power is not that of the last contribution"));
        }
        if found.is_some_and(|(_, index)| index > 0) && sum.first != G::GENERATOR {
            return Err(wrong(section, "point 0 is not the generator"));
        }
        if count > 1 && !sum.holds(level, z, last) {
            let broken = first_broken(0..count - 1, |range| {
                let z = Fp::<C::ScalarPrime>::random(&mut OsRng.unwrap_err());
                // One more point, so that the step from the last one is checked, too.
                let range = range.start..range.end + 1;
                let sum = walk::<C, G>(level, powers, section, range, &z, false, |_, _| ())?;
                Ok::<_, CeremonyError>(sum.holds(level, &z, last))
            })?;
            let at = broken.unwrap_or_default();
            return Err(wrong(section, format!("point {} is not tau times point {at}", at + 1)));
        }
        let Some(prepared) = prepared else { return Ok(()) };
        progress.begin(prepared.section().content);
        lagrange::<C, G>(*run, powers, prepared, &sum, (last, z))
    }
}

/// The sum of points of a section times the powers of z, from 1 on.
struct Sum<G: Curve> {
    sum: Jacobian<G>,
    first: Affine<G>,
    last: Affine<G>,
    /// The last point's power of z.
    power: G::Scalar,
    /// If requested, the sums of the first 1, 2, 4 and so on terms, and of all terms.
    prefixes: Vec<Jacobian<G>>,
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

/// Reads points piece by piece. `each` receives the pieces, with the index of their first point in the range.
fn walk<C: CeremonyCurve, G: Group>(
    level: Level,
    powers: &Ptau<C>,
    section: PtauPoints,
    range: Range<usize>,
    z: &G::Scalar,
    with_prefixes: bool,
    mut each: impl FnMut(usize, &[Affine<G>]),
) -> Result<Sum<G>, CeremonyError> {
    let (first, last) = (Affine::INFINITY, Affine::INFINITY);
    let mut total = Sum { sum: Jacobian::INFINITY, first, last, power: G::Scalar::ONE, prefixes: Vec::new() };
    for piece in parallel::ranges(range.len(), PIECE) {
        let points =
            read::<C, G>(level, powers, section, range.start + piece.start..range.start + piece.end)?;
        each(piece.start, &points);
        let scalars = transform::powers(G::Scalar::ONE, *z, piece.clone());
        if let (0, Some(first)) = (piece.start, points.first()) {
            total.first = *first;
        }
        if let (Some(last), Some(power)) = (points.last(), scalars.last()) {
            (total.last, total.power) = (*last, *power);
        }
        let (mut points, mut scalars, mut done) = (points.as_slice(), scalars.as_slice(), piece.start);
        while !points.is_empty() {
            // Up to the next power of two, at which a prefix ends.
            let end = if with_prefixes { (done + 1).next_power_of_two() } else { piece.end };
            let (part, of_part);
            (part, points) = points.split_at(points.len().min(end - done));
            (of_part, scalars) = scalars.split_at(part.len());
            total.sum = total.sum.add(&G::msm(level, &part, of_part));
            done += part.len();
            if with_prefixes && (done.is_power_of_two() || done == range.len()) {
                total.prefixes.push(total.sum);
            }
        }
    }
    Ok(total)
}

/// Verifies the Lagrange polynomials at tau of the domains of 1, 2, 4 and so on points, by the sums of powers times powers of z. All
/// domains are verified together, with random factors; if the sums differ, the wrong domain is found by halves.
///
/// The polynomial `f = 1 + z x + ... + (z x)^(n-1)` has the value `(z^n - 1) / (z w^j - 1)` at the root w^j of order n; the sum of these times
/// the Lagrange polynomials is f at tau. All n terms of f are used in every domain, so that no difference is orthogonal to its values.
///
/// The file has n - 1 powers for the largest domain of tau in G1. Prepared from these, the domain has zero in place of `tau^(n-1)`; as a part
/// of a larger file it has that power. So the difference to the sum of the n - 1 powers must be infinity or `z^(n-1) tau^(n-1)`.
fn lagrange<C: CeremonyCurve, G: Member<C> + Curve<Scalar = C::Scalar>>(
    run: Run<'_>,
    powers: &Ptau<C>,
    section: PtauPoints,
    sum: &Sum<G>,
    (last, z): (&FirstPowers<C>, &C::Scalar),
) -> Result<(), CeremonyError> {
    let Run { level, progress, .. } = run;
    let all = powers.points::<G>(section)?;
    let expected = Jacobian::batch_to_affine(&sum.prefixes);
    let roots: Vec<_> = (0..expected.len() as u32).map_while(C::root_of_unity).collect();
    let holds = |domains: Range<usize>| {
        let factors: Vec<_> =
            domains.clone().map(|_| Fp::<C::ScalarPrime>::random(&mut OsRng.unwrap_err())).collect();
        let negative: Vec<_> = factors.iter().map(|factor| -*factor).collect();
        let expected = expected.get(domains.clone()).unwrap_or_default();
        let mut rest = G::msm(level, &expected, &negative);
        let first = (1 << domains.start) - 1;
        for piece in parallel::ranges((1 << domains.end) - 1 - first, PIECE) {
            let piece = first + piece.start..first + piece.end;
            let points = all.slice(piece.clone())?.decode(level, PointCheck::InSubgroup)?;
            let mut scalars = Vec::with_capacity(piece.len());
            for (log_n, factor) in domains.clone().zip(&factors) {
                // The domain begins after the n - 1 points of all smaller ones.
                let n = 1_usize << log_n;
                let within = |at: usize| at.clamp(n - 1, 2 * n - 1) - (n - 1);
                if let Some(root) = roots.get(log_n) {
                    scalars.extend(values(n, within(piece.start)..within(piece.end), z, root, factor));
                }
            }
            rest = rest.add(&G::msm(level, &points.as_slice(), &scalars));
            progress.share(piece.end as u64, all.len() as u64);
        }
        // The file has one power less than the largest domain has points: the power of z of the missing one is the next.
        let lacks_power = domains.end > powers.header().power as usize + 1;
        let next = || {
            let factor = factors.last().copied().unwrap_or_default() * sum.power * *z;
            let before = sum.last.mul_vartime(&factor).to_affine();
            G::is_tau_times(level, &before, &rest.to_affine(), last)
        };
        Ok::<_, CeremonyError>(rest.is_infinity() || (lacks_power && next()))
    };
    match first_broken(0..roots.len(), holds)? {
        None => Ok(()),
        Some(log_n) => {
            Err(wrong(section, format!("the domain of 2^{log_n} points is not that of the powers")))
        }
    }
}

/// The values of f times a factor at a range of the powers of a root of order n.
fn values<F: Field>(n: usize, range: Range<usize>, z: &F, root: &F, factor: &F) -> Vec<F> {
    /// The number of values that share an inversion.
    const BLOCK: usize = 1 << 10;
    let numerator = (z.pow_vartime(&[n as u64]) - F::ONE) * *factor;
    let blocks = parallel::map(parallel::ranges(range.len(), BLOCK), |block| {
        let block = range.start + block.start..range.start + block.end;
        let mut values: Vec<F> =
            transform::powers(*z, *root, block).into_iter().map(|power| power - F::ONE).collect();
        batch_invert_vartime(&mut values);
        values.iter_mut().for_each(|value| *value = numerator * *value);
        values
    });
    blocks.concat()
}
