//! New powers, and contributions to them.

use super::{PIECE, Secrets, Sections, each_section, expect_whole, first_challenge, next_challenge, read};
use crate::{
    CeremonyError, Randomness,
    contribute::{multiplied, named},
    encoding::{CeremonyCurve, Member, PointEncoding, encode},
    state::HashState,
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{
    Beacon, CircomError, FirstPowers, KnowledgeProof, Ptau, PtauContribution, PtauHeader, PtauPoints,
    PtauWriter,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve};
use proofmill_files::Target;
use proofmill_run::{Progress, Run, parallel};

/// Sections of powers.
pub(super) const SECTIONS: u32 = PtauPoints::POWERS.len() as u32;
/// The bytes of compressed points that snarkjs hashes together when it contributes. The state of the hash shows it.
pub(super) const HASHED: usize = 1 << 19;

/// Writes powers of tau = 1, to which nobody contributed, for circuits of up to `2^power` rows. Returns the hash of the challenge to the
/// first contributor.
///
/// # Errors
/// [`CeremonyError::File`].
///
/// # Panics
/// If `power` is 0 or above 28.
pub fn new<'a, C: CeremonyCurve>(
    target: impl Into<Target<'a>>,
    power: u32,
    progress: Progress<'_>,
) -> Result<[u8; 64], CeremonyError> {
    assert!((1..=28).contains(&power), "a power from 1 to 28");
    progress.begin("write powers");
    let header = PtauHeader { power, ceremony_power: power };
    let mut ones = Ones(PtauWriter::<C>::create(target, &header, SECTIONS)?);
    each_section(power, &mut ones)?;
    ones.0.no_contributions()?;
    ones.0.finish()?;
    progress.begin("hash of the challenge");
    first_challenge::<C>(power)
}

struct Ones<'a, C: CeremonyCurve>(PtauWriter<'a, C>);

impl<C: CeremonyCurve> Sections<C> for Ones<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        let piece = vec![G::GENERATOR; count.min(1 << 12)];
        let write = |out: &mut proofmill_circom::SectionWriter<'_>| {
            parallel::ranges(count, piece.len())
                .try_for_each(|range| out.points(piece.get(..range.len()).unwrap_or_default()))
        };
        Ok(self.0.points(section, write)?)
    }
}

/// Writes the powers with one more contribution, and returns the hash of its response, with which its author can find it. Lagrange polynomials
/// are left out: prepare the result for phase 2 again. Runs on the ambient rayon pool.
///
/// Each point is checked to be in its group, not to be the power that it should be: see [`verify`](super::verify).
///
/// # Errors
/// [`CeremonyError::File`], [`CeremonyError::Reduced`], [`CeremonyError::Powers`] for infinity, [`CeremonyError::Randomness`],
/// [`CeremonyError::Beacon`], [`CeremonyError::TooLong`].
pub fn contribute<'a, C: CeremonyCurve>(
    run: Run<'_>,
    powers: &Ptau<C>,
    target: impl Into<Target<'a>>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64], CeremonyError> {
    let Run { level, progress, .. } = run;
    let power = expect_whole(powers)?;
    let (name, beacon) = (named(name), randomness.beacon());
    expect_short(name.as_deref(), beacon.as_ref())?;
    progress.begin("hash of the challenge");
    let challenge = next_challenge(power, &powers.decoded_contributions()?)?;
    progress.begin("secrets");
    let (secrets, proofs) = Secrets::new(&mut randomness.generator()?, &challenge)?;
    let mut response = HashState::new();
    // A response is the hash of its challenge, all powers in compressed form, and the proofs.
    response.update(&challenge);
    let file = PtauWriter::create(target, powers.header(), SECTIONS)?;
    let first = FirstPowers::INITIAL;
    let mut multiplied = Multiplied { level, powers, secrets, file, response, first, progress };
    each_section(power, &mut multiplied)?;
    let Multiplied { file, response, first, .. } = multiplied;
    finish(file, powers, response, contribution(name, beacon, first, proofs), progress)
}

/// Refuses a name or beacon that has no room in the file, before anything is computed.
pub(super) fn expect_short(name: Option<&str>, beacon: Option<&Beacon>) -> Result<(), CeremonyError> {
    let longest = name.map_or(0, str::len).max(beacon.map_or(0, |beacon| beacon.seed.len()));
    if u8::try_from(longest).is_ok() { Ok(()) } else { Err(CeremonyError::TooLong) }
}

/// A contribution whose hashes are not known yet.
pub(super) fn contribution<C: CeremonyCurve>(
    name: Option<String>,
    beacon: Option<Beacon>,
    powers: FirstPowers<C>,
    proofs: [KnowledgeProof<C>; 3],
) -> PtauContribution<C> {
    PtauContribution { name, beacon, powers, proofs, partial_hash: [0; 216], next_challenge: [0; 64] }
}

/// Ends a file whose powers are written by a contribution, with the hashes of both.
pub(super) fn finish<C: CeremonyCurve>(
    mut file: PtauWriter<'_, C>,
    before: &Ptau<C>,
    mut response: HashState,
    mut contribution: PtauContribution<C>,
    progress: Progress<'_>,
) -> Result<[u8; 64], CeremonyError> {
    progress.begin("hash of the next challenge");
    // The state before the proofs: with the proofs, a verifier gets the hash of the response.
    contribution.partial_hash = response.to_bytes();
    response.update(&contribution.key());
    let response = response.finish();
    // The next challenge is the hash of the response and all new powers, uncompressed.
    let mut written = Written { file: &mut file, hash: Blake2b512::new_with_prefix(response) };
    each_section(before.header().power, &mut written)?;
    contribution.next_challenge = written.hash.finalize().into();
    let own = contribution.to_bytes().ok_or(CeremonyError::TooLong)?;
    let encoded = [before.encoded_contributions()?, &own].concat();
    file.contributions(before.contributions()? + 1, &encoded)?;
    file.finish()?;
    Ok(response)
}

/// Writes the powers of a file times those of the secrets.
struct Multiplied<'a, C: CeremonyCurve> {
    level: Level,
    powers: &'a Ptau<C>,
    secrets: Secrets<C>,
    file: PtauWriter<'a, C>,
    response: HashState,
    first: FirstPowers<C>,
    progress: Progress<'a>,
}

impl<C: CeremonyCurve> Sections<C> for Multiplied<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        let Self { level, powers, secrets, file, response, first, progress } = self;
        progress.begin(section.section().content);
        file.points(section, |out| {
            multiplied::<G>(
                *level,
                count,
                secrets.factors(section),
                *progress,
                |range| read(*level, powers, section, range),
                |start, points| {
                    remember(first, section, start, points);
                    encode(points, PointEncoding::Compressed)
                        .chunks(HASHED)
                        .for_each(|bytes| response.update(bytes));
                    Ok(out.points(points)?)
                },
            )
        })
    }
}

/// Keeps a section's first power, if it is among these points, which begin at index `start`.
pub(super) fn remember<C: CeremonyCurve, G: Member<C>>(
    powers: &mut FirstPowers<C>,
    section: PtauPoints,
    start: usize,
    points: &[Affine<G>],
) {
    if let Some((slot, index)) = G::slot(powers, section)
        && let Some(point) = index.checked_sub(start).and_then(|index| points.get(index))
    {
        *slot = *point;
    }
}

/// Hashes the points that were written.
struct Written<'a, 'b, C: CeremonyCurve> {
    file: &'a mut PtauWriter<'b, C>,
    hash: Blake2b512,
}

impl<C: CeremonyCurve> Sections<C> for Written<'_, '_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        _: usize,
    ) -> Result<(), CeremonyError> {
        let Self { file, hash } = self;
        Ok(file.reread::<G>(section, PIECE, |points| {
            hash.update(encode(points, PointEncoding::Uncompressed));
            Ok::<_, CircomError>(())
        })?)
    }
}
