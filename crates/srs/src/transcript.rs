//! Transcripts of Aztec's Ignition ceremony (2020): one string in several files `transcriptNN.dat`, defined by the ceremony's
//! `Transcript_spec.md`.
//!
//! Seven big-endian words of 32 bits: the file's number, the number of files, the numbers of points of G1 and of G2 in all
//! files, of points of G1 and of G2 in this file, and of points of G1 in earlier files. Then the points of G1, in the first
//! file two points of G2, and BLAKE2b-512 of everything before. A coordinate is an integer in four words of 64 bits, lowest
//! word first, each big-endian; a point is x then y, an element of Fq2 its coefficient of 1, then that of u.
//!
//! The first point of G1 is tau's first power: the generator is not stored. One point of G2 is tau, the other the factor of the
//! last participant; revisions of the specification differ in their order, so the pairing decides. The checksum only detects
//! damaged downloads. It requires reading the whole file, so only [`Srs::check`](crate::Srs::check) compares it.

use crate::SrsError;
use blake2::{Blake2b512, Digest};
use proofmill_cpu::{Level, Token};
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{
    Algebra, Engine, Field, LANES, Lanes, Prime, Vector,
    bn254::{Fq, Fq2, FqParams},
    dispatch,
};
use proofmill_files::{FileBytes, FileError, FileName, MappedFile};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
};

/// Bytes of the manifest, before the points.
const MANIFEST: usize = 28;
/// Bytes of a point of G1.
const G1_BYTES: usize = 64;
/// Bytes of a point of G2.
const G2_BYTES: usize = 128;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 64;
/// The most files; Ignition has 20.
const MOST_FILES: u32 = 1 << 12;

/// The words at the beginning of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Manifest {
    number: u32,
    files: u32,
    total_g1: u32,
    total_g2: u32,
    g1: u32,
    g2: u32,
    start: u32,
}

impl Manifest {
    /// Reads the manifest and checks it against the file's length.
    fn read(file: &FileName, bytes: &[u8]) -> Result<Self, SrsError> {
        let word = |i: usize| bytes.get(4 * i..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        let fields = [word(0), word(1), word(2), word(3), word(4), word(5), word(6)];
        let [Some(number), Some(files), Some(total_g1), Some(total_g2), Some(g1), Some(g2), Some(start)] =
            fields
        else {
            let found = bytes.len();
            let problem = format!("expected {MANIFEST} bytes of manifest, found {found} bytes in all");
            return Err(SrsError::malformed(file, 0, problem));
        };
        let manifest = Self { number, files, total_g1, total_g2, g1, g2, start };
        match manifest.problem(bytes.len()) {
            None => Ok(manifest),
            Some((field, problem)) => Err(SrsError::malformed(file, 4 * field, problem)),
        }
    }

    /// The index of the first invalid word, and the problem.
    fn problem(&self, bytes: usize) -> Option<(u64, String)> {
        let Self { number, files, total_g1, g1, g2, start, .. } = *self;
        if files == 0 || files > MOST_FILES || number >= files {
            return Some((0, format!("transcript number {number}, counted from 0, of {files}")));
        }
        if g1 == 0 || u64::from(start) + u64::from(g1) > u64::from(total_g1) {
            let end = u64::from(start) + u64::from(g1);
            return Some((4, format!("points {start} to {end} of G1 of {total_g1} in all transcripts")));
        }
        let expected = if number == 0 { 1..=2 } else { 0..=0 };
        if !expected.contains(&g2) {
            let problem =
                format!("{g2} points of G2 in transcript {number}: the first has one or two, others none");
            return Some((5, problem));
        }
        let length = (MANIFEST + CHECKSUM) as u64 + 64 * u64::from(g1) + 128 * u64::from(g2);
        (length != bytes as u64).then(|| {
            (4, format!("expected {length} bytes with {g1} points of G1 and {g2} of G2, found {bytes}"))
        })
    }
}

/// An open file: the manifest is checked, the rest is not.
#[derive(Debug)]
pub(crate) struct IgnitionTranscript {
    name: FileName,
    content: FileBytes,
    manifest: Manifest,
}

/// Whether a file begins like a transcript: with the high bytes of its number.
pub(crate) fn looks_like_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0, 0])
}

/// The error for a path that is not a transcript.
pub(crate) fn kind_error(path: &Path, found: &str) -> SrsError {
    SrsError::Kind { file: FileName::new(path), found: found.to_owned() }
}

/// The transcripts in a folder, from the first one on, by name.
pub(crate) fn files_in(folder: &Path) -> Result<Vec<PathBuf>, SrsError> {
    let names = (0..MOST_FILES).map(|number| folder.join(format!("transcript{number:02}.dat")));
    let files: Vec<_> = names.take_while(|path| fs::metadata(path).is_ok()).collect();
    match files.is_empty() {
        false => Ok(files),
        true => Err(kind_error(folder, "a folder without transcript00.dat")),
    }
}

impl IgnitionTranscript {
    /// Maps a file; `None` if it does not begin like a transcript.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, SrsError> {
        let name = FileName::new(path);
        let file = MappedFile::open(path).map_err(|source| FileError::new(&name, source))?;
        if !looks_like_one(file.bytes()) {
            return Ok(None);
        }
        Self::new(name, FileBytes::Mapped(file)).map(Some)
    }

    /// A transcript in memory.
    pub(crate) fn from_bytes(name: FileName, bytes: Vec<u8>) -> Result<Self, SrsError> {
        Self::new(name, FileBytes::Owned(bytes))
    }

    fn new(name: FileName, content: FileBytes) -> Result<Self, SrsError> {
        let manifest = Manifest::read(&name, &content)?;
        Ok(Self { name, content, manifest })
    }

    fn all(&self) -> &[u8] {
        &self.content
    }

    /// The size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.all().len() as u64
    }

    /// Releases pages of the mapping.
    fn release(&self, range: Range<usize>) {
        self.content.release(range);
    }

    /// Compares the checksum with the rest of the file.
    pub(crate) fn check_sum(&self) -> Result<(), SrsError> {
        /// Bytes that are hashed before their pages are released.
        const PIECE: usize = 1 << 20;
        let all = self.all();
        let (content, expected) = all.split_at(all.len().saturating_sub(CHECKSUM));
        let mut hash = Blake2b512::new();
        for (index, piece) in content.chunks(PIECE).enumerate() {
            hash.update(piece);
            self.release(index * PIECE..index * PIECE + piece.len());
        }
        if hash.finalize().as_slice() == expected {
            return Ok(());
        }
        let problem = "the checksum is not that of the file's content: download it again";
        Err(SrsError::inconsistent(&self.name, problem))
    }

    /// Reads the points of G1 from index `start` of this file on.
    fn read(&self, level: Level, start: usize, points: &mut [Affine<G1>]) -> Result<(), SrsError> {
        let range = MANIFEST + start * G1_BYTES..MANIFEST + (start + points.len()) * G1_BYTES;
        let bytes = self.all().get(range.clone()).unwrap_or_default();
        let block = dispatch!(level, engine => engine.run(
            #[inline(always)]
            || decode(engine, bytes, points)
        ));
        self.release(range.clone());
        block.map_err(|(index, problem)| {
            let offset = (range.start + index * G1_BYTES) as u64;
            SrsError::malformed(&self.name, offset, format!("point {} of G1: {problem}", start + index))
        })
    }

    /// The points of G2, checked to be in the subgroup.
    fn g2(&self) -> Result<Vec<Affine<G2>>, SrsError> {
        let start = MANIFEST + self.manifest.g1 as usize * G1_BYTES;
        let end = start + self.manifest.g2 as usize * G2_BYTES;
        let points = self.all().get(start..end).unwrap_or_default().chunks_exact(G2_BYTES);
        let decode = |(index, bytes): (usize, &[u8])| {
            decode_g2(bytes).map_err(|problem| {
                let offset = (start + index * G2_BYTES) as u64;
                SrsError::malformed(&self.name, offset, format!("point {index} of G2: {problem}"))
            })
        };
        points.enumerate().map(decode).collect()
    }
}

/// Checks that the files are consecutive from the first one on. Returns their total number of powers, the generator included,
/// and the points of G2.
pub(crate) fn join(files: &[IgnitionTranscript]) -> Result<(usize, Vec<Affine<G2>>), SrsError> {
    let mut start = 0u32;
    for (index, file) in files.iter().enumerate() {
        let Manifest { number, g1, .. } = file.manifest;
        if number as usize != index {
            let problem =
                format!("expected transcript number {index}, found {number}: give all, the first one first");
            return Err(SrsError::malformed(&file.name, 0, problem));
        }
        if file.manifest.start != start {
            let found = file.manifest.start;
            let problem = format!("expected to continue at point {start} of G1, found {found}");
            return Err(SrsError::malformed(&file.name, 24, problem));
        }
        let totals = |manifest: &Manifest| [manifest.files, manifest.total_g1, manifest.total_g2];
        if files.first().is_some_and(|first| totals(&first.manifest) != totals(&file.manifest)) {
            let problem = "the totals are not those of the first transcript: take files of one ceremony";
            return Err(SrsError::malformed(&file.name, 4, problem));
        }
        // No overflow: the sum is at most the total.
        start += g1;
    }
    let candidates = files.first().map_or(Ok(Vec::new()), IgnitionTranscript::g2)?;
    Ok((start as usize + 1, candidates))
}

/// Reads the powers from index `start` on from consecutive files.
pub(crate) fn read(
    files: &[IgnitionTranscript],
    level: Level,
    start: usize,
    points: &mut [Affine<G1>],
) -> Result<(), SrsError> {
    let (generator, mut rest) = points.split_at_mut(points.len().min(usize::from(start == 0)));
    generator.fill(G1::GENERATOR);
    let mut number = start.max(1);
    for file in files {
        // Power 1 is point 0 of the first file.
        let (first, count) = (file.manifest.start as usize + 1, file.manifest.g1 as usize);
        let within = number.saturating_sub(first);
        if within < count && !rest.is_empty() {
            let some_here = rest.len().min(count - within);
            let (some, others) = std::mem::take(&mut rest).split_at_mut(some_here);
            file.read(level, within, some)?;
            (number, rest) = (number + some.len(), others);
        }
    }
    Ok(())
}

const NOT_BELOW_Q: &str = "coordinate is not below the modulus of bn254's base field";
const OFF_CURVE: &str = "not on the curve";

/// The words of a coordinate, lowest first.
#[inline(always)]
fn words(bytes: &[u8]) -> Option<[u64; 4]> {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.first_chunk::<32>()?.as_chunks().0) {
        *word = u64::from_be_bytes(*bytes);
    }
    Some(words)
}

/// Decodes and checks points of G1 in lanes. An error has the index of the first bad point and the problem.
#[inline(always)]
fn decode<E: Engine>(
    engine: E,
    bytes: &[u8],
    points: &mut [Affine<G1>],
) -> Result<(), (usize, &'static str)> {
    // An integer read as Montgomery limbs is the value divided by R; the limbs of R^2 are the value R.
    let radix = Fq::from_montgomery(FqParams::R2).unwrap_or_default();
    let radix = E::Packed::<FqParams>::broadcast(engine, radix);
    let b = E::Packed::broadcast(engine, G1::B);
    let groups = bytes.chunks(LANES * G1_BYTES).zip(points.chunks_mut(LANES)).enumerate();
    for (group, (bytes, points)) in groups {
        let (mut xs, mut ys) = ([Fq::ZERO; LANES], [Fq::ZERO; LANES]);
        for (i, (bytes, (x, y))) in bytes.chunks_exact(G1_BYTES).zip(xs.iter_mut().zip(&mut ys)).enumerate() {
            let (x_bytes, y_bytes) = bytes.split_at(G1_BYTES / 2);
            *x = words(x_bytes).and_then(Fq::from_montgomery).ok_or((group * LANES + i, NOT_BELOW_Q))?;
            *y = words(y_bytes).and_then(Fq::from_montgomery).ok_or((group * LANES + i, NOT_BELOW_Q))?;
        }
        let x = E::Packed::<FqParams>::load(engine, &xs) * radix;
        let y = E::Packed::<FqParams>::load(engine, &ys) * radix;
        let on_curve = (y.square() - (x.square() * x + b)).zero_lanes();
        x.store(&mut xs);
        y.store(&mut ys);
        for (i, (point, (x, y))) in points.iter_mut().zip(xs.into_iter().zip(ys)).enumerate() {
            if on_curve >> i & 1 == 0 {
                let infinity = x.is_zero() && y.is_zero();
                return Err((group * LANES + i, if infinity { "infinity" } else { OFF_CURVE }));
            }
            *point = Affine { x, y };
        }
    }
    Ok(())
}

fn decode_g2(bytes: &[u8]) -> Result<Affine<G2>, &'static str> {
    let coordinate = |i: usize| bytes.get(32 * i..).and_then(words).and_then(Fq::from_canonical);
    let [Some(x0), Some(x1), Some(y0), Some(y1)] = [0, 1, 2, 3].map(coordinate) else {
        return Err(NOT_BELOW_Q);
    };
    let point = Affine { x: Fq2::new(x0, x1), y: Fq2::new(y0, y1) };
    match point {
        _ if point.is_infinity() => Err("infinity"),
        _ if !point.is_on_curve() => Err(OFF_CURVE),
        _ if !point.is_in_subgroup() => Err("not in the subgroup of prime order"),
        _ => Ok(point),
    }
}
