//! Keys in bellman's format of the second phase, as kobigurk's phase2-bn254 has it, for participants who use that program.
//!
//! Points are uncompressed, counts and coordinates big-endian: alpha and beta in G1, beta and gamma in G2, delta in G1 and G2; then IC,
//! H, L (a zkey's C), A, B in G1 and B in G2, each after its count of 32 bits; the circuit's hash; the count of the contributions, and
//! these, without names and beacons. The facts are from snarkjs's `zkey_export_bellman.js` and `zkey_import_bellman.js`.
//!
//! H are powers of tau times (tau^n - 1) / delta; a zkey has Lagrange polynomials on the odd coset instead. With w of order 2
//! n, `H_i = -2 w^i sum_j w^(2 i j) h_j` for i below n - 1.

use crate::{
    CeremonyError, Randomness,
    contribute::{Secret, multiplied, named},
    encoding::{CeremonyCurve, Group, PointEncoding, encode},
    raw_file::RawFile,
    transform::{
        ButterflyProgress, Direction, PIECE, PointTransform, butterflies, fill, inverse, powers, scratch,
    },
    verify,
};
use proofmill_circom::{
    CircomError, Groth16Header, Groth16Points, Groth16Writer, Groth16Zkey, PointCheck, Points,
    ZkeyContribution, ZkeyContributions,
};
use proofmill_cpu::Level;
use proofmill_curve::{Affine, Curve, products_of_points};
use proofmill_field::Field;
use proofmill_files::{FileError, Output, Target};
use proofmill_run::{Run, parallel};
use std::{ops::Range, path::Path};

/// Bytes of a count.
const COUNT: usize = 4;
/// Bytes of a hash.
const HASH: usize = 64;

/// Bytes of points of G1 and of G2.
const fn sizes<C: CeremonyCurve>() -> (usize, usize) {
    (PointEncoding::Uncompressed.size::<C>(), PointEncoding::Uncompressed.size::<C::G2>())
}

/// The position of the deltas.
const fn deltas_at<C: CeremonyCurve>() -> usize {
    let (g1, g2) = sizes::<C>();
    2 * g1 + 2 * g2
}

/// The position after the deltas.
const fn deltas_end<C: CeremonyCurve>() -> usize {
    let (g1, g2) = sizes::<C>();
    deltas_at::<C>() + g1 + g2
}

/// Bytes of a contribution.
const fn size_of_contribution<C: CeremonyCurve>() -> usize {
    let (g1, g2) = sizes::<C>();
    3 * g1 + g2 + HASH
}

/// Writes a key in bellman's format. Runs on the ambient rayon pool. Points H of a domain of more than 2^21 points are in a temporary file
/// in `folder`.
///
/// # Errors
/// [`CeremonyError::NoList`], [`CeremonyError::File`], [`CeremonyError::Scratch`].
pub fn export<'a, C: CeremonyCurve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    target: impl Into<Target<'a>>,
    folder: &Path,
) -> Result<(), CeremonyError> {
    let Run { level, progress, .. } = run;
    let ZkeyContributions { circuit_hash, list } =
        key.decoded_contributions()?.ok_or(CeremonyError::NoList)?;
    let header = key.header();
    let mut out = Output::create(target)?;
    out.append(&encode(&[header.alpha_1, header.beta_1], PointEncoding::Uncompressed))?;
    out.append(&encode(&[header.beta_2, header.gamma_2], PointEncoding::Uncompressed))?;
    out.append(&encode(&[header.delta_1], PointEncoding::Uncompressed))?;
    out.append(&encode(&[header.delta_2], PointEncoding::Uncompressed))?;
    write_points(level, &mut out, key.ic())?;

    progress.begin("points h");
    let n = header.domain_size as usize;
    let mut points = scratch::<C>(folder, n)?;
    fill(&mut points, n, |range| key.h().slice(range)?.decode(level, PointCheck::OnCurve))?;
    write_count(&mut out, n - 1)?;
    let (minus_two, root) = (-C::Scalar::from(2), root_of_twice::<C>(n));
    let steps = ButterflyProgress::new(butterflies(n), progress);
    PointTransform { level, points: &mut points, roots: C::root_of_unity, steps: &steps }.run(
        0..n,
        Direction::Forward,
        |start, piece| {
            // The degree of a quotient is at most n - 2.
            let piece = piece.get(..piece.len().min(n - 1 - start)).unwrap_or_default();
            let factors = powers(minus_two, root, start..start + piece.len());
            out.append(&encode(&products_of_points(level, piece, &factors), PointEncoding::Uncompressed))
        },
    )?;

    progress.begin("other points");
    for points in [key.c(), key.a(), key.b1()] {
        write_points(level, &mut out, points)?;
    }
    write_points(level, &mut out, key.b2())?;
    out.append(&circuit_hash)?;
    write_count(&mut out, list.len())?;
    list.iter().try_for_each(|contribution| out.append(&contribution.public()))?;
    Ok(out.finish()?)
}

fn write_points<G: Group>(
    level: Level,
    out: &mut Output<'_>,
    points: Points<'_, G>,
) -> Result<(), CeremonyError> {
    write_count(out, points.len())?;
    parallel::ranges(points.len(), PIECE).try_for_each(|range| {
        let points = points.slice(range)?.decode(level, PointCheck::OnCurve)?;
        Ok(out.append(&encode(&points, PointEncoding::Uncompressed))?)
    })
}

fn write_count(out: &mut Output<'_>, count: usize) -> Result<(), FileError> {
    out.append(&(count as u32).to_be_bytes())
}

/// A root of order 2 n.
fn root_of_twice<C: CeremonyCurve>(n: usize) -> C::Scalar {
    C::root_of_unity(n.ilog2() + 1).unwrap_or(C::Scalar::ONE)
}

/// Writes bellman's parameters with one more contribution, and returns its hash, with which its author can find it. Points are checked to be
/// in their groups, not to be those of a circuit. Runs on the ambient rayon pool.
///
/// # Errors
/// [`CeremonyError::File`], also for a file that has another format, [`CeremonyError::Randomness`], [`CeremonyError::Beacon`].
pub fn contribute<'a, C: CeremonyCurve>(
    run: Run<'_>,
    parameters: &Path,
    target: impl Into<Target<'a>>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64], CeremonyError> {
    let Run { level, progress, .. } = run;
    let file = RawFile::open(level, parameters)?;
    let layout = Layout::of::<C>(&file)?;
    let (g1, _) = sizes::<C>();
    let ZkeyContributions { circuit_hash, list } = contributions::<C>(&file, layout.hash)?;
    progress.begin("secret");
    let secret = Secret::new(randomness, &circuit_hash, &list)?;
    let (delta_1, delta_2) = deltas::<C>(&file)?;
    let delta_1 = delta_1.mul_vartime(&secret.factor).to_affine();
    let delta_2 = delta_2.mul_vartime(&secret.factor).to_affine();
    let own = secret.contribution(None, None, delta_1);

    let mut out = Output::create(target)?;
    out.append(file.part(0..deltas_at::<C>()))?;
    out.append(&encode(&[delta_1], PointEncoding::Uncompressed))?;
    out.append(&encode(&[delta_2], PointEncoding::Uncompressed))?;
    copy(&file, &mut out, deltas_end::<C>()..layout.h.start - COUNT)?;
    for (section, phase) in [(&layout.h, "points h"), (&layout.l, "points l")] {
        progress.begin(phase);
        write_count(&mut out, section.len() / g1)?;
        multiplied::<C>(
            level,
            section.len() / g1,
            [&secret.inverse, &C::Scalar::ONE],
            progress,
            |range| Ok(file.points(section.start, PointEncoding::Uncompressed, range)?),
            |_, points| Ok(out.append(&encode(points, PointEncoding::Uncompressed))?),
        )?;
    }
    copy(&file, &mut out, layout.l.end..layout.hash)?;
    out.append(&circuit_hash)?;
    write_count(&mut out, list.len() + 1)?;
    for contribution in list.iter().chain([&own]) {
        out.append(&contribution.public())?;
    }
    out.finish()?;
    Ok(own.hash())
}

fn copy(file: &RawFile, out: &mut Output<'_>, range: Range<usize>) -> Result<(), FileError> {
    const PIECE: usize = 1 << 24;
    parallel::ranges(range.len(), PIECE).try_for_each(|piece| {
        let piece = range.start + piece.start..range.start + piece.end;
        out.append(file.part(piece.clone()))?;
        file.release(piece);
        Ok(())
    })
}

/// Writes a key with the contributions in bellman's parameters that were exported from it, and returns the hashes of all. All contributions
/// are verified and the points H and L are checked to be in their group; [`verify::key`] verifies the whole. The other points stay. `name` is
/// that of the new contributions. Points H of a domain of more than 2^21 points are in a temporary file in `folder`. Runs on the ambient rayon
/// pool.
///
/// # Errors
/// [`CeremonyError::NoList`], [`CeremonyError::File`], also for a file that has another format, [`CeremonyError::OtherKey`],
/// [`CeremonyError::Contribution`], [`CeremonyError::Delta`], [`CeremonyError::TooLong`], [`CeremonyError::Scratch`].
pub fn import<'a, C: CeremonyCurve>(
    run: Run<'_>,
    key: &Groth16Zkey<C>,
    parameters: &Path,
    target: impl Into<Target<'a>>,
    name: Option<&str>,
    folder: &Path,
) -> Result<Vec<[u8; 64]>, CeremonyError> {
    let Run { level, progress, .. } = run;
    let before = key.decoded_contributions()?.ok_or(CeremonyError::NoList)?;
    let file = RawFile::open(level, parameters)?;
    let layout = Layout::of::<C>(&file)?;
    let (g1, _) = sizes::<C>();
    layout.expect_counts(&file, key.header())?;
    progress.begin("verify contributions");
    let Verified { all, hashes, delta_1, delta_2 } = verified(level, &file, layout.hash, &before, name)?;
    let encoded: Option<Vec<_>> = all.list.iter().map(ZkeyContribution::to_bytes).collect();
    let encoded = encoded.ok_or(CeremonyError::TooLong)?.concat();

    let header = Groth16Header { delta_1, delta_2, ..*key.header() };
    let mut out = Groth16Writer::create(target, &header)?;
    out.copy(key, Groth16Points::Ic)?;
    out.copy_coefficients(key)?;
    progress.begin("points h");
    let n = header.domain_size as usize;
    let mut points = scratch::<C>(folder, n)?;
    let (minus_half, root) = (-inverse(&C::Scalar::from(2)), inverse(&root_of_twice::<C>(n)));
    fill(&mut points, n - 1, |range| {
        let piece = file.points(layout.h.start, PointEncoding::Uncompressed, range.clone())?;
        let factors = powers(minus_half, root, range);
        Ok::<_, CircomError>(products_of_points(level, &piece, &factors))
    })?;
    let steps = ButterflyProgress::new(butterflies(n), progress);
    out.points(Groth16Points::H, |out| {
        let write = |_, piece: &[Affine<C>]| out.points(piece);
        PointTransform { level, points: &mut points, roots: C::root_of_unity, steps: &steps }.run(
            0..n,
            Direction::Inverse,
            write,
        )
    })?;
    progress.begin("other points");
    out.points(Groth16Points::C, |out| {
        parallel::ranges(layout.l.len() / g1, PIECE).try_for_each(|range| {
            out.points(&file.points::<C>(layout.l.start, PointEncoding::Uncompressed, range)?)
        })
    })?;
    for points in [Groth16Points::A, Groth16Points::B1, Groth16Points::B2] {
        out.copy(key, points)?;
    }
    out.contributions(&all.circuit_hash, all.list.len() as u32, &encoded)?;
    out.finish()?;
    Ok(hashes)
}

/// The contributions of a file, and the deltas that they result in.
struct Verified<C: CeremonyCurve> {
    all: ZkeyContributions<C>,
    hashes: Vec<[u8; 64]>,
    delta_1: Affine<C>,
    delta_2: Affine<C::G2>,
}

/// Verifies the contributions at a place of a file, which go on from those of the key. The new ones get the name.
fn verified<C: CeremonyCurve>(
    level: Level,
    file: &RawFile,
    at: usize,
    before: &ZkeyContributions<C>,
    name: Option<&str>,
) -> Result<Verified<C>, CeremonyError> {
    let mut all = contributions::<C>(file, at)?;
    let (delta_1, delta_2) = deltas::<C>(file)?;
    if all.circuit_hash != before.circuit_hash {
        return Err(CeremonyError::OtherKey("they are of another circuit"));
    }
    let same = |(old, new): (&ZkeyContribution<C>, &ZkeyContribution<C>)| old.public() == new.public();
    if all.list.len() <= before.list.len() {
        return Err(CeremonyError::OtherKey("they have no new contribution"));
    }
    // The list of the key must be the beginning of the new one: no contribution is lost.
    if !before.list.iter().zip(&all.list).all(same) {
        return Err(CeremonyError::OtherKey("they have other contributions than the key"));
    }
    // Bellman's format has neither names nor beacons: those of the key stay.
    for (index, contribution) in all.list.iter_mut().enumerate() {
        match before.list.get(index) {
            Some(old) => *contribution = old.clone(),
            None => contribution.name = named(name),
        }
    }
    let (hashes, delta) = verify::contributions(level, &all)?;
    // The list leads to delta in G1 only: a pairing compares it with delta in G2.
    if delta != delta_1
        || !verify::is_same_ratio(level, [&C::GENERATOR, &delta_1], [&C::G2::GENERATOR, &delta_2])
    {
        return Err(CeremonyError::Delta);
    }
    Ok(Verified { all, hashes, delta_1, delta_2 })
}

/// The positions of the parts of a file.
struct Layout {
    ic: Range<usize>,
    h: Range<usize>,
    l: Range<usize>,
    a: Range<usize>,
    b1: Range<usize>,
    b2: Range<usize>,
    /// The position of the circuit's hash.
    hash: usize,
}

impl Layout {
    fn of<C: CeremonyCurve>(file: &RawFile) -> Result<Self, CircomError> {
        let (g1, g2) = sizes::<C>();
        let mut at = deltas_end::<C>();
        let mut section = |content: &str, size: usize| {
            let start = at + COUNT;
            let end = start.saturating_add(count(file, at).saturating_mul(size));
            if end > file.len() {
                return Err(file.malformed(
                    at,
                    format!("expected bellman's parameters, {content} goes beyond their end"),
                ));
            }
            at = end;
            Ok(start..end)
        };
        let (ic, h) = (section("IC", g1)?, section("H", g1)?);
        let (l, a) = (section("L", g1)?, section("A", g1)?);
        let (b1, b2) = (section("B in G1", g1)?, section("B in G2", g2)?);
        let hash = b2.end;
        let expected = (hash + HASH + COUNT)
            .saturating_add(count(file, hash + HASH).saturating_mul(size_of_contribution::<C>()));
        if file.len() == expected {
            return Ok(Self { ic, h, l, a, b1, b2, hash });
        }
        let problem = format!("expected bellman's parameters, {expected} bytes, found {}", file.len());
        Err(file.malformed(hash, problem))
    }

    /// Checks that there are as many points as a key has.
    fn expect_counts<C: CeremonyCurve>(
        &self,
        file: &RawFile,
        header: &Groth16Header<C>,
    ) -> Result<(), CircomError> {
        let (g1, g2) = sizes::<C>();
        let (wires, public) = (header.wires as usize, header.public as usize);
        for (content, section, size, expected) in [
            ("IC", &self.ic, g1, public + 1),
            ("H", &self.h, g1, header.domain_size as usize - 1),
            ("L", &self.l, g1, wires - public - 1),
            ("A", &self.a, g1, wires),
            ("B in G1", &self.b1, g1, wires),
            ("B in G2", &self.b2, g2, wires),
        ] {
            let found = section.len() / size;
            if found != expected {
                let problem = format!("{content} has {found} points, the key {expected}");
                return Err(file.malformed(section.start - COUNT, problem));
            }
        }
        Ok(())
    }
}

/// The count at a place; 0 beyond the end.
fn count(file: &RawFile, at: usize) -> usize {
    let bytes = file.part(at..at + COUNT).first_chunk();
    bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes) as usize)
}

fn deltas<C: CeremonyCurve>(file: &RawFile) -> Result<(Affine<C>, Affine<C::G2>), CircomError> {
    let at = deltas_at::<C>();
    Ok((point(file, at)?, point(file, at + sizes::<C>().0)?))
}

/// The point at a place, which is not infinity.
fn point<G: Group>(file: &RawFile, at: usize) -> Result<Affine<G>, CircomError> {
    let points = file.finite_points(at, PointEncoding::Uncompressed, 0..1)?;
    points.first().copied().ok_or_else(|| file.malformed(at, "expected a point".to_owned()))
}

/// The circuit's hash and the contributions after it.
fn contributions<C: CeremonyCurve>(file: &RawFile, at: usize) -> Result<ZkeyContributions<C>, CircomError> {
    let (g1, g2) = sizes::<C>();
    let hash = |at: usize| {
        let bytes = file.part(at..at + HASH).first_chunk().copied();
        bytes.ok_or_else(|| file.malformed(at, "expected a hash".to_owned()))
    };
    let contribution = |at: usize| -> Result<ZkeyContribution<C>, CircomError> {
        Ok(ZkeyContribution {
            name: None,
            beacon: None,
            delta_after: point(file, at)?,
            s: point(file, at + g1)?,
            sx: point(file, at + 2 * g1)?,
            spx: point(file, at + 3 * g1)?,
            transcript: hash(at + 3 * g1 + g2)?,
        })
    };
    let first = at + HASH + COUNT;
    let list = (0..count(file, at + HASH)).map(|i| contribution(first + i * size_of_contribution::<C>()));
    Ok(ZkeyContributions { circuit_hash: hash(at)?, list: list.collect::<Result<_, CircomError>>()? })
}
