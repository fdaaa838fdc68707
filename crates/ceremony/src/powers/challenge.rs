//! Challenges and responses as files of their own.

use super::{
    PIECE, Secrets, Sections,
    contribute::{HASHED, SECTIONS, contribution, expect_short, finish, remember},
    each_section, expect_whole, next_challenge, read, size_of_powers,
    verify::{problem, response_hash},
};
use crate::{
    CeremonyError, Randomness,
    contribute::{multiplied, named},
    encoding::{CeremonyCurve, Member, PointEncoding, encode},
    raw_file::RawFile,
    state::HashState,
};
use blake2::{Blake2b512, Digest};
use proofmill_circom::{CircomError, FirstPowers, KnowledgeProof, Ptau, PtauPoints, PtauWriter};
use proofmill_cpu::Level;
use proofmill_curve::Curve;
use proofmill_files::{Output, Target};
use proofmill_run::{Progress, Run, parallel};
use std::path::Path;

/// Bytes of a hash.
const HASH: usize = 64;
/// Bytes of the proofs of knowledge in a response.
const fn size_of_proofs<C: CeremonyCurve>() -> usize {
    6 * PointEncoding::Uncompressed.size::<C>() + 3 * PointEncoding::Uncompressed.size::<C::G2>()
}
/// The bytes of a response that snarkjs hashes together when it imports one.
const IMPORTED: usize = 1 << 23;

/// Writes the challenge to the next contributor, and returns its hash.
///
/// # Errors
/// [`CeremonyError::File`], [`CeremonyError::Reduced`], [`CeremonyError::Powers`] for infinity, [`CeremonyError::Contribution`];
/// [`CeremonyError::Challenge`] if the hash is not the one in the file, and nothing is written.
pub fn export_challenge<'a, C: CeremonyCurve>(
    run: Run<'_>,
    powers: &Ptau<C>,
    target: impl Into<Target<'a>>,
) -> Result<[u8; 64], CeremonyError> {
    let Run { level, progress, .. } = run;
    let power = expect_whole(powers)?;
    progress.begin("hash of the challenge");
    let contributions = powers.decoded_contributions()?;
    let expected = next_challenge(power, &contributions)?;
    let response = match contributions.last() {
        Some(last) => response_hash(last, power).ok_or(CeremonyError::Challenge)?,
        None => Blake2b512::digest([]).into(),
    };
    let mut exported =
        Exported { level, powers, out: Output::create(target)?, hash: Blake2b512::new(), progress };
    exported.write(&response)?;
    each_section(power, &mut exported)?;
    let Exported { out, hash, .. } = exported;
    // Before the file gets its name: nobody may work on powers that no verifier accepts.
    if expected != <[u8; HASH]>::from(hash.finalize()) {
        return Err(CeremonyError::Challenge);
    }
    out.finish()?;
    Ok(expected)
}

struct Exported<'a, C: CeremonyCurve> {
    level: Level,
    powers: &'a Ptau<C>,
    out: Output<'a>,
    hash: Blake2b512,
    progress: Progress<'a>,
}

impl<C: CeremonyCurve> Exported<'_, C> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), CeremonyError> {
        self.hash.update(bytes);
        Ok(self.out.append(bytes)?)
    }
}

impl<C: CeremonyCurve> Sections<C> for Exported<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        self.progress.begin(section.section().content);
        parallel::ranges(count, PIECE).try_for_each(|range| {
            let points = read::<C, G>(self.level, self.powers, section, range)?;
            self.write(&encode(&points, PointEncoding::Uncompressed))
        })
    }
}

/// Writes a response to a challenge, and returns its hash, with which its author can find the contribution. Each point is checked to be in its
/// group. Runs on the ambient rayon pool.
///
/// # Errors
/// [`CeremonyError::File`], also for a file that is no challenge, [`CeremonyError::Randomness`], [`CeremonyError::Beacon`].
pub fn contribute_to_challenge<'a, C: CeremonyCurve>(
    run: Run<'_>,
    challenge: &Path,
    target: impl Into<Target<'a>>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64], CeremonyError> {
    let Run { level, progress, .. } = run;
    let input = RawFile::open(level, challenge)?;
    let power = input.power_of_challenge::<C>()?;
    progress.begin("hash of the challenge");
    let hash = input.hash();
    progress.begin("secrets");
    let (secrets, proofs) = Secrets::<C>::new(&mut randomness.generator()?, &hash)?;
    let out = Output::create(target)?;
    let mut response = Response { level, input, at: HASH, secrets, out, hash: HashState::new(), progress };
    response.write(&hash)?;
    each_section(power, &mut response)?;
    let first = FirstPowers::INITIAL;
    response.write(&contribution(None, None, first, proofs).key())?;
    let Response { out, hash, .. } = response;
    out.finish()?;
    Ok(hash.finish())
}

struct Response<'a, C: CeremonyCurve> {
    level: Level,
    input: RawFile,
    /// Where the next section begins.
    at: usize,
    secrets: Secrets<C>,
    out: Output<'a>,
    hash: HashState,
    progress: Progress<'a>,
}

impl<C: CeremonyCurve> Response<'_, C> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), CeremonyError> {
        bytes.chunks(HASHED).for_each(|bytes| self.hash.update(bytes));
        Ok(self.out.append(bytes)?)
    }
}

impl<C: CeremonyCurve> Sections<C> for Response<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        let Self { level, input, at, secrets, out, hash, progress } = self;
        progress.begin(section.section().content);
        multiplied::<G>(
            *level,
            count,
            secrets.factors(section),
            *progress,
            |range| Ok(input.finite_points(*at, PointEncoding::Uncompressed, range)?),
            |_, points| {
                let bytes = encode(points, PointEncoding::Compressed);
                bytes.chunks(HASHED).for_each(|bytes| hash.update(bytes));
                Ok(out.append(&bytes)?)
            },
        )?;
        *at += count * PointEncoding::Uncompressed.size::<G>();
        Ok(())
    }
}

/// Writes the powers of a response to their challenge, and returns the response's hash. The proofs of knowledge are verified, and each
/// point is checked to be in its group, not to be the power that it should be: see [`verify`](super::verify). Runs on the ambient rayon
/// pool.
///
/// # Errors
/// [`CeremonyError::File`], also for a file that is no response, [`CeremonyError::Reduced`], [`CeremonyError::OtherChallenge`],
/// [`CeremonyError::Contribution`], [`CeremonyError::TooLong`].
pub fn import_response<'a, C: CeremonyCurve>(
    run: Run<'_>,
    powers: &Ptau<C>,
    response: &Path,
    target: impl Into<Target<'a>>,
    name: Option<&str>,
) -> Result<[u8; 64], CeremonyError> {
    let Run { level, progress, .. } = run;
    let power = expect_whole(powers)?;
    let name = named(name);
    expect_short(name.as_deref(), None)?;
    progress.begin("hash of the challenge");
    let contributions = powers.decoded_contributions()?;
    let challenge = next_challenge(power, &contributions)?;
    let input = RawFile::open(level, response)?;
    input.expect_response::<C>(power)?;
    // A response begins with the hash of the challenge that it answers.
    if input.part(0..HASH) != challenge {
        return Err(CeremonyError::OtherChallenge);
    }
    let mut hash = HashState::new();
    hash.update(&challenge);
    let proofs = input.proofs()?;
    let file = PtauWriter::create(target, powers.header(), SECTIONS)?;
    let first = FirstPowers::INITIAL;
    let mut imported = Imported { input, at: HASH, file, hash, first, progress };
    each_section(power, &mut imported)?;
    let Imported { file, hash, first, .. } = imported;
    let contribution = contribution(name, None, first, proofs);
    let before = contributions.last().map_or(FirstPowers::<C>::INITIAL, |last| last.powers);
    // The output is not finished yet: a wrong response leaves no file.
    if let Some(problem) = problem(level, &contribution, &before, &challenge)? {
        let (number, name) = (contributions.len() + 1, contribution.name);
        return Err(CeremonyError::Contribution { number, name, problem });
    }
    finish(file, powers, hash, contribution, progress)
}

struct Imported<'a, C: CeremonyCurve> {
    input: RawFile,
    /// Where the next section begins.
    at: usize,
    file: PtauWriter<'a, C>,
    hash: HashState,
    first: FirstPowers<C>,
    progress: Progress<'a>,
}

impl<C: CeremonyCurve> Sections<C> for Imported<'_, C> {
    fn section<G: Member<C> + Curve<Scalar = C::Scalar>>(
        &mut self,
        section: PtauPoints,
        count: usize,
    ) -> Result<(), CeremonyError> {
        let Self { input, at, file, hash, first, progress } = self;
        progress.begin(section.section().content);
        let size = PointEncoding::Compressed.size::<G>();
        file.points(section, |out| {
            parallel::ranges(count, PIECE).try_for_each(|range| {
                let bytes = input.part(*at + range.start * size..*at + range.end * size);
                bytes.chunks(IMPORTED).for_each(|bytes| hash.update(bytes));
                let points = input.finite_points::<G>(*at, PointEncoding::Compressed, range.clone())?;
                remember(first, section, range.start, &points);
                out.points(&points)
            })
        })?;
        *at += count * size;
        Ok(())
    }
}

impl RawFile {
    /// The power of a challenge, by its length.
    fn power_of_challenge<C: CeremonyCurve>(&self) -> Result<u32, CircomError> {
        let length = self.len();
        let is_right =
            |power: &u32| HASH + size_of_powers::<C>(PointEncoding::Uncompressed, *power) == length;
        if let Some(power) = (1..=28).find(is_right) {
            return Ok(power);
        }
        let one = size_of_powers::<C>(PointEncoding::Uncompressed, 1)
            - size_of_powers::<C>(PointEncoding::Uncompressed, 0);
        let more = HASH + size_of_powers::<C>(PointEncoding::Uncompressed, 0) - one;
        let problem = format!(
            "expected a challenge, of {one} bytes for each of 2^1 to 2^28 powers and {more} more, found {length} bytes"
        );
        Err(self.malformed(0, problem))
    }

    /// Checks the length of a response: the challenge's hash, as many points as the challenge has, compressed, and the proofs of knowledge.
    fn expect_response<C: CeremonyCurve>(&self, power: u32) -> Result<(), CircomError> {
        let length = self.len();
        let expected = HASH + size_of_powers::<C>(PointEncoding::Compressed, power) + size_of_proofs::<C>();
        if length == expected {
            return Ok(());
        }
        let problem = format!("expected a response of 2^{power} powers, {expected} bytes, found {length}");
        Err(self.malformed(0, problem))
    }

    /// The proofs of knowledge at the end of a response.
    fn proofs<C: CeremonyCurve>(&self) -> Result<[KnowledgeProof<C>; 3], CircomError> {
        let at = self.len().saturating_sub(size_of_proofs::<C>());
        let in_g1 = self.finite_points::<C>(at, PointEncoding::Uncompressed, 0..6)?;
        let in_g2 = self.finite_points::<C::G2>(
            at + 6 * PointEncoding::Uncompressed.size::<C>(),
            PointEncoding::Uncompressed,
            0..3,
        )?;
        let proofs = in_g1.as_chunks::<2>().0.iter().zip(in_g2);
        let mut proofs = proofs.map(|([s, sx], spx)| KnowledgeProof { s: *s, sx: *sx, spx });
        match [proofs.next(), proofs.next(), proofs.next()] {
            [Some(tau), Some(alpha), Some(beta)] => Ok([tau, alpha, beta]),
            _ => Err(self.malformed(at, "expected three proofs of knowledge".to_owned())),
        }
    }
}
