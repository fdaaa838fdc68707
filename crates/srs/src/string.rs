//! The string: the sources of its powers, and how they are read.

use crate::{
    SrsError,
    transcript::{self, IgnitionTranscript},
};
use proofmill_circom::{BinFile, CircomError, PointCheck, Ptau};
use proofmill_cpu::{Level, Portable};
use proofmill_curve::{
    Affine, Bases, Curve, FixedBase, Jacobian, Msm,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};
use proofmill_files::FileName;
use proofmill_memory::Elements;
use proofmill_pairing::pairing_product_is_one;
use proofmill_run::parallel;
use proofmill_sha256::Sha256;
use std::{
    fmt, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// The source of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SrsKind {
    /// A `.ptau` file.
    Ptau,
    /// Transcripts of the Ignition ceremony.
    Ignition,
    /// No file: made in memory from a known tau.
    Insecure,
}

impl fmt::Display for SrsKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ptau => "ptau",
            Self::Ignition => "ignition",
            Self::Insecure => "insecure",
        })
    }
}

/// Powers of tau: `tau^i` in G1 for i below [`Self::len`], and tau in G2.
#[derive(Debug)]
pub struct Srs {
    name: FileName,
    source: Source,
    len: usize,
    tau_g1: Affine<G1>,
    tau_g2: Affine<G2>,
}

#[derive(Debug)]
enum Source {
    Ptau(Box<Ptau>),
    /// Does not include the generator, which Ignition does not store.
    Ignition(Vec<IgnitionTranscript>),
    Memory(Elements<Affine<G1>>),
}

/// Whether this is a pipe or a device.
fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The least number of powers: the second one is needed to check tau in G2.
const FEWEST: usize = 2;

impl Srs {
    /// Opens a `.ptau` file, one Ignition transcript (the first), or a folder with transcripts `transcriptNN.dat`. Of these, it
    /// takes the first ones without a gap. The first two powers are checked in G1 and in G2: by the pairing, tau is the same in
    /// both.
    ///
    /// # Errors
    /// [`SrsError`] for anything else, or if the first powers are wrong.
    pub fn open(path: &Path) -> Result<Self, SrsError> {
        if path.is_dir() {
            return Self::open_transcripts(&transcript::files_in(path)?);
        }
        let name = FileName::new(path);
        // A pipe can be read only once, so it is expected to be a ptau.
        let transcript = if is_stream(path) { None } else { IgnitionTranscript::open(path)? };
        match transcript {
            Some(first) => Self::of_transcripts(name, vec![first]),
            None => Self::of_ptau(name, Ptau::open(path).map_err(kind_of)?),
        }
    }

    /// Opens consecutive Ignition transcripts from the first one on; the last ones may be missing.
    ///
    /// # Errors
    /// As [`Self::open`], and for files that are not consecutive.
    pub fn open_transcripts(paths: &[PathBuf]) -> Result<Self, SrsError> {
        let open = |path: &PathBuf| {
            IgnitionTranscript::open(path)?
                .ok_or_else(|| transcript::kind_error(path, "another kind of file"))
        };
        let files = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        match paths.first() {
            Some(first) => Self::of_transcripts(FileName::new(first), files),
            None => Err(transcript::kind_error("".as_ref(), "no files")),
        }
    }

    /// [`Self::open`] of a file's bytes; `name` stands for it in messages.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, SrsError> {
        let file = FileName::new(name.as_ref());
        if transcript::looks_like_one(&bytes) {
            let first = IgnitionTranscript::from_bytes(file.clone(), bytes)?;
            return Self::of_transcripts(file, vec![first]);
        }
        let ptau = BinFile::from_bytes(name, bytes).and_then(Ptau::read);
        Self::of_ptau(file, ptau.map_err(kind_of)?)
    }

    /// The first `count` powers of a tau that the caller knows, in memory. For tests and benchmarks that need the same string
    /// again: with tau, false statements can be proven. Runs on the ambient rayon pool.
    ///
    /// # Panics
    /// If `tau` is zero or `count` below 2.
    pub fn insecure_from_known_tau(level: Level, tau: Fr, count: usize) -> Self {
        Self::insecure_in(level, tau, vec![Affine::INFINITY; count].into())
    }

    /// [`Self::insecure_from_known_tau`] in a temporary file in `folder`, which has no name and is freed with the string.
    ///
    /// # Errors
    /// The operating system's error if the file cannot be created.
    ///
    /// # Panics
    /// As [`Self::insecure_from_known_tau`].
    pub fn insecure_in_folder(level: Level, tau: Fr, count: usize, folder: &Path) -> io::Result<Self> {
        Ok(Self::insecure_in(level, tau, Elements::zeroed(Some(folder), count)?))
    }

    fn insecure_in(level: Level, tau: Fr, mut points: Elements<Affine<G1>>) -> Self {
        /// Powers that are computed together.
        const PIECE: usize = 1 << 16;
        let count = points.len();
        assert!(!tau.is_zero() && count >= FEWEST, "a tau other than zero, and 2 powers at least");
        let mut fixed = FixedBase::new(level, &G1::GENERATOR, count);
        let mut powers = std::iter::successors(Some(Fr::ONE), |power| Some(*power * tau)).take(count);
        for start in (0..count).step_by(PIECE) {
            let scalars: Vec<_> = powers.by_ref().take(PIECE).collect();
            let range = start..start + scalars.len();
            fixed.multiply(&scalars, points.get_mut(range.clone()).unwrap_or_default());
            points.release(range);
        }
        Self {
            name: FileName::new("insecure powers of tau".as_ref()),
            source: Source::Memory(points),
            len: count,
            tau_g1: G1::GENERATOR.mul_vartime(&tau).to_affine(),
            tau_g2: G2::GENERATOR.mul_vartime(&tau).to_affine(),
        }
    }

    fn of_ptau(name: FileName, ptau: Ptau) -> Result<Self, SrsError> {
        let level = Level::Portable(Portable);
        let len = ptau.tau_g1()?.len();
        if len < FEWEST {
            return Err(SrsError::TooFew { file: name, needed: FEWEST, found: len });
        }
        let g2 = ptau.tau_g2()?.slice(0..FEWEST)?.decode(level, PointCheck::InSubgroup)?;
        let [one, tau_g2] = *g2.as_slice() else {
            return Err(SrsError::inconsistent(&name, "expected two powers of tau in G2"));
        };
        if one != G2::GENERATOR {
            return Err(SrsError::inconsistent(&name, "the first power of tau in G2 is not the generator"));
        }
        Self::begin(name, Source::Ptau(Box::new(ptau)), len, &[tau_g2])
    }

    fn of_transcripts(name: FileName, files: Vec<IgnitionTranscript>) -> Result<Self, SrsError> {
        let (len, candidates) = transcript::join(&files)?;
        Self::begin(name, Source::Ignition(files), len, &candidates)
    }

    /// Checks the first two powers, the second one against tau in G2, which must be one of `candidates`.
    fn begin(
        name: FileName,
        source: Source,
        len: usize,
        candidates: &[Affine<G2>],
    ) -> Result<Self, SrsError> {
        let level = Level::Portable(Portable);
        let mut srs = Self { name, source, len, tau_g1: Affine::INFINITY, tau_g2: Affine::INFINITY };
        let mut first = [Affine::INFINITY; FEWEST];
        srs.read(level, 0, &mut first)?;
        let [one, tau_g1] = first;
        if one != G1::GENERATOR {
            return Err(SrsError::inconsistent(
                &srs.name,
                "the first power of tau in G1 is not the generator",
            ));
        }
        let same = |tau_g2: &&Affine<G2>| {
            pairing_product_is_one(level, &[(tau_g1, G2::GENERATOR), (-one, **tau_g2)])
        };
        let Some(tau_g2) = candidates.iter().find(same) else {
            return Err(SrsError::inconsistent(&srs.name, "tau in G2 is not the tau of the powers in G1"));
        };
        (srs.tau_g1, srs.tau_g2) = (tau_g1, *tau_g2);
        Ok(srs)
    }

    /// The source of the string.
    pub fn kind(&self) -> SrsKind {
        match self.source {
            Source::Ptau(_) => SrsKind::Ptau,
            Source::Ignition(_) => SrsKind::Ignition,
            Source::Memory(_) => SrsKind::Insecure,
        }
    }

    /// The file's name in messages; the first name of several files.
    pub fn name(&self) -> &FileName {
        &self.name
    }

    /// The number of powers in G1, the generator included.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always `false`: there are at least two powers.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The size in bytes of the files, or of the points in memory.
    pub fn bytes(&self) -> u64 {
        match &self.source {
            Source::Ptau(ptau) => ptau.file().len() as u64,
            Source::Ignition(files) => files.iter().map(IgnitionTranscript::bytes).sum(),
            Source::Memory(points) => size_of_val(&**points) as u64,
        }
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        match &self.source {
            Source::Ptau(_) => 1,
            Source::Ignition(files) => files.len(),
            Source::Memory(_) => 0,
        }
    }

    /// The `.ptau`, if the string was opened from one.
    pub fn ptau(&self) -> Option<&Ptau> {
        match &self.source {
            Source::Ptau(ptau) => Some(ptau),
            _ => None,
        }
    }

    /// A reason why someone may know tau, such as that nobody contributed to the string; `None` if none is known.
    pub fn insecurity(&self) -> Option<&'static str> {
        match &self.source {
            Source::Ptau(ptau) => ptau.insecurity(),
            Source::Ignition(_) => None,
            Source::Memory(_) => Some("nobody contributed to this string"),
        }
    }

    pub(crate) fn transcripts(&self) -> &[IgnitionTranscript] {
        match &self.source {
            Source::Ignition(files) => files,
            _ => &[],
        }
    }

    /// tau in G1: the second power.
    pub fn tau_g1(&self) -> &Affine<G1> {
        &self.tau_g1
    }

    /// tau in G2, in the subgroup.
    pub fn tau_g2(&self) -> &Affine<G2> {
        &self.tau_g2
    }

    /// An identifier of the string for Fiat-Shamir transcripts: SHA-256 of the 16 bytes `proofmill-srs-v1`, tau in G1 and tau
    /// in G2, points as the EVM encodes them ([`Affine::to_evm`]: x then y, 32 big-endian bytes each; for an element of Fq2 the
    /// second coefficient first). tau determines all other powers.
    pub fn identity(&self) -> [u8; 32] {
        let hash = Sha256::new().chain(b"proofmill-srs-v1");
        hash.chain(&self.tau_g1.to_evm()).chain(&self.tau_g2.to_evm()).finish()
    }

    /// The powers in G1 with indices in `range`, each checked to be on the curve. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`SrsError::TooFew`], and the errors of a damaged file.
    pub fn powers(&self, level: Level, range: Range<usize>) -> Result<Vec<Affine<G1>>, SrsError> {
        /// Points that one task decodes.
        const PIECE: usize = 1 << 12;
        self.expect(range.end)?;
        let mut points = vec![Affine::INFINITY; range.len()];
        let pieces = (range.start..).step_by(PIECE).zip(points.chunks_mut(PIECE));
        let results = parallel::map(pieces, |(start, points)| self.read(level, start, points));
        // The first error in the order of powers, whichever thread is faster.
        results.into_iter().collect::<Result<(), _>>()?;
        Ok(points)
    }

    /// The sum of `scalars[i] * tau^(start + i)` in G1: the commitment to the polynomial with these coefficients, lowest first,
    /// times `X^start`. Points are decoded on the way, without a copy of all of them. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`SrsError::TooFew`], and the errors of a damaged file.
    pub fn msm(&self, level: Level, start: usize, scalars: &[Fr]) -> Result<Jacobian<G1>, SrsError> {
        let bases = self.bases(level, start..start.saturating_add(scalars.len()))?;
        let sum = G1::msm(level, &bases, scalars);
        bases.finish()?;
        Ok(sum)
    }

    /// The powers with indices in `range`, as the bases of a sum. [`SrsBases::finish`] must be called after the sum.
    ///
    /// # Errors
    /// [`SrsError::TooFew`].
    pub fn bases(&self, level: Level, range: Range<usize>) -> Result<SrsBases<'_>, SrsError> {
        self.expect(range.end)?;
        Ok(SrsBases { srs: self, level, range, fault: Mutex::new(None) })
    }

    /// Checks that there are at least `needed` powers.
    ///
    /// # Errors
    /// [`SrsError::TooFew`].
    pub fn expect(&self, needed: usize) -> Result<(), SrsError> {
        match needed <= self.len {
            true => Ok(()),
            false => Err(SrsError::TooFew { file: self.name.clone(), needed, found: self.len }),
        }
    }

    /// The power with this index.
    pub(crate) fn power(&self, level: Level, index: usize) -> Result<Affine<G1>, SrsError> {
        let mut power = [Affine::INFINITY];
        self.read(level, index, &mut power)?;
        Ok(power[0])
    }

    /// Reads the powers from index `start` on, on the calling thread.
    fn read(&self, level: Level, start: usize, points: &mut [Affine<G1>]) -> Result<(), SrsError> {
        match &self.source {
            Source::Memory(all) => {
                let some = all.get(start..).unwrap_or_default();
                points.iter_mut().zip(some).for_each(|(to, from)| *to = *from);
                all.release(start..start + points.len());
            }
            Source::Ptau(ptau) => ptau.tau_g1()?.read(level, start, points)?,
            Source::Ignition(files) => transcript::read(files, level, start, points)?,
        }
        match points.iter().position(Affine::is_infinity) {
            None => Ok(()),
            Some(at) => {
                let problem = format!("power {} of tau in G1 is infinity", start + at);
                Err(SrsError::inconsistent(&self.name, problem))
            }
        }
    }
}

/// Replaces the error for a wrong kind of file, since here more kinds are accepted.
fn kind_of(error: CircomError) -> SrsError {
    match error {
        CircomError::Kind { file, found, .. } => SrsError::Kind { file, found },
        error => error.into(),
    }
}

/// Powers as the bases of a sum, decoded during the sum.
#[derive(Debug)]
pub struct SrsBases<'a> {
    srs: &'a Srs,
    level: Level,
    range: Range<usize>,
    /// The position of the first block that could not be decoded, and the error.
    fault: Mutex<Option<(usize, SrsError)>>,
}

impl SrsBases<'_> {
    /// Checks that every base was decoded; otherwise the sum is meaningless.
    ///
    /// # Errors
    /// The first error of decoding.
    pub fn finish(self) -> Result<(), SrsError> {
        match self.fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some((_, error)) => Err(error),
        }
    }
}

impl Bases<G1> for SrsBases<'_> {
    fn count(&self) -> usize {
        self.range.len()
    }

    fn read(&self, start: usize, bases: &mut [Affine<G1>]) {
        if let Err(error) = self.srs.read(self.level, self.range.start + start, bases) {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            if fault.as_ref().is_none_or(|(first, _)| start < *first) {
                *fault = Some((start, error));
            }
        }
    }
}
