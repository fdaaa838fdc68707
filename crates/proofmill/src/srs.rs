//! Structured reference strings over BN254: the powers of a secret tau.
//!
//! ```
//! use proofmill::{field::Fr, srs::Srs};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let srs = Srs::open("pot8.ptau")?;
//! srs.verify()?;
//! let commitment = srs.commit(&[1, 2, 3].map(Fr::from))?;
//! assert!(commitment.is_on_curve());
//! # Ok(())
//! # }
//! ```

use crate::{
    Error, Result,
    curve::{Affine, bn254},
    error::Names,
    field::Fr,
    machine::current,
    msm::msm,
};
use proofmill_field::bn254::Fq;
pub use proofmill_srs::SrsKind;
use proofmill_srs::{SPARE, write_insecure, write_insecure_prepared};
use rayon::prelude::*;
use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Some consecutive powers of tau in G1 of a proving key of PLONK or fflonk, for a machine that makes parts of its commitments
/// ([`crate::plonk::ProvingKey::prove_with_commitments`]).
#[derive(Clone, Debug)]
pub struct Powers(Vec<Affine<bn254::G1>>);

impl Powers {
    /// Bytes of a power in a key's file.
    pub const BYTES: usize = 64;

    /// Decodes consecutive powers from the range of bytes that [`crate::plonk::ProvingKey::powers`] returns.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a point that is not on the curve, or a part of one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        const BLOCK: usize = 1 << 12;
        let point = |bytes: &[u8]| {
            let (x, y) = <&[u8; Self::BYTES]>::try_from(bytes).ok()?.split_at(Self::BYTES / 2);
            let point = Affine { x: Fq::from_montgomery_le(x).ok()?, y: Fq::from_montgomery_le(y).ok()? };
            point.is_on_curve().then_some(point)
        };
        let blocks = bytes.par_chunks(BLOCK * Self::BYTES);
        let points: Option<Vec<_>> =
            blocks.map(|block| block.chunks(Self::BYTES).map(point).collect::<Option<Vec<_>>>()).collect();
        let powers =
            points.ok_or_else(|| Error::malformed(None, "powers of tau: expected points of BN254's G1"))?;
        Ok(Self(powers.concat()))
    }

    /// The sum of these coefficients times the powers from index `first` on.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for more coefficients than there are powers.
    pub fn sum(&self, first: usize, coefficients: &[Fr]) -> Result<Affine<bn254::G1>> {
        let powers = first.checked_add(coefficients.len()).and_then(|end| self.0.get(first..end));
        let problem = || {
            let (count, found) = (coefficients.len(), self.0.len());
            Names::mismatch(
                None,
                format!("expected at most {found} powers of tau, found {count} coefficients from {first} on"),
            )
        };
        Ok(msm::<bn254::G1>(powers.ok_or_else(problem)?, coefficients).to_affine())
    }
}

/// Powers of tau in G1, and tau in G2, in mapped files. Operations read only the parts that they need. Clones share the
/// files.
#[derive(Clone, Debug)]
pub struct Srs {
    srs: Arc<proofmill_srs::Srs>,
}

impl Srs {
    /// Opens a snarkjs `.ptau`, a transcript of Aztec's Ignition ceremony (the first), or a folder of them.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything else, or if the first powers are wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        proofmill_srs::Srs::open(path.as_ref()).map(Self::from).map_err(Error::from)
    }

    /// Opens consecutive Ignition transcripts from the first one on.
    ///
    /// # Errors
    /// As [`Self::open`], and for files that are not consecutive.
    pub fn open_transcripts(paths: &[PathBuf]) -> Result<Self> {
        Ok(proofmill_srs::Srs::open_transcripts(paths)?.into())
    }

    /// The string in the bytes of one of these files.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Ok(proofmill_srs::Srs::from_bytes("reference string", bytes)?.into())
    }

    /// Makes a string for circuits of up to `size` rows from a random tau, which is wiped afterwards. For tests only: those who
    /// control the program may know tau, and can then prove false statements.
    ///
    /// # Errors
    /// [`Error::System`] without randomness.
    ///
    /// # Panics
    /// If `size` is above 2^28.
    pub fn insecure(size: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        write_insecure(current().level, &mut bytes, size + SPARE)?;
        Self::from_bytes(bytes)
    }

    /// [`Self::insecure`] in a `.ptau` file, from which the string is then mapped.
    ///
    /// # Errors
    /// As [`Self::insecure`], and [`Error::Io`].
    ///
    /// # Panics
    /// If `size` is above 2^28.
    pub fn insecure_to(path: impl AsRef<Path>, size: usize) -> Result<Self> {
        write_insecure(current().level, path.as_ref(), size + SPARE)?;
        Self::open(path)
    }

    /// Writes a `.ptau` with all sections, prepared for phase 2, for circuits of up to `2^power` rows, from a random tau, alpha and
    /// beta, which are wiped afterwards. For tests only, as [`Self::insecure`].
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::System`] without randomness.
    ///
    /// # Panics
    /// If `power` is 0 or above 27.
    pub fn write_insecure_prepared(path: impl AsRef<Path>, power: u32) -> Result<()> {
        Ok(write_insecure_prepared(current().level, path.as_ref(), power)?)
    }

    /// Checks that all powers are those of one tau: each is tau times the one before. Also checks the checksums of Ignition's
    /// transcripts. No check can show that tau is unknown.
    ///
    /// # Errors
    /// [`Error::Rejected`] with the first wrong power or the file with a wrong checksum; other errors for a damaged file.
    pub fn verify(&self) -> Result<()> {
        Ok(self.srs.check(current().level)?)
    }

    /// The number of powers in G1, the generator included.
    #[expect(clippy::len_without_is_empty, reason = "there are at least two")]
    pub fn len(&self) -> usize {
        self.srs.len()
    }

    /// The size of the files in bytes.
    pub fn bytes(&self) -> u64 {
        self.srs.bytes()
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.srs.files()
    }

    /// The number of contributions that a `.ptau` claims; without any, its author may know tau. `None` for transcripts, which
    /// do not state it.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a `.ptau` where the section is missing or malformed.
    pub fn contributions(&self) -> Result<Option<u32>> {
        Ok(self.srs.ptau().map(|ptau| ptau.contributions()).transpose()?)
    }

    /// A reason why someone may know tau: nobody contributed to the string, or only beacons did. `None` if no reason is known. Keys
    /// made from such a string are refused.
    pub fn insecurity(&self) -> Option<&'static str> {
        self.srs.insecurity()
    }

    /// The source of the string.
    pub fn kind(&self) -> SrsKind {
        self.srs.kind()
    }

    /// An identifier of the string for Fiat-Shamir transcripts: a hash of tau in G1 and G2.
    pub fn identity(&self) -> [u8; 32] {
        self.srs.identity()
    }

    /// The powers in G1 with indices in `range`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if there are fewer powers, and the errors of a damaged file.
    pub fn powers(&self, range: Range<usize>) -> Result<Vec<Affine<bn254::G1>>> {
        Ok(self.srs.powers(current().level, range)?)
    }

    /// tau in G2.
    pub fn tau_g2(&self) -> Affine<bn254::G2> {
        *self.srs.tau_g2()
    }

    /// The KZG commitment to the polynomial with these coefficients, lowest first: its value at tau, times the generator of G1.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if there are fewer powers than coefficients, and the errors of a damaged file.
    pub fn commit(&self, coefficients: &[Fr]) -> Result<Affine<bn254::G1>> {
        Ok(self.srs.msm(current().level, 0, coefficients)?.to_affine())
    }

    pub(crate) fn get(&self) -> &Arc<proofmill_srs::Srs> {
        &self.srs
    }
}

impl From<proofmill_srs::Srs> for Srs {
    fn from(srs: proofmill_srs::Srs) -> Self {
        Self { srs: Arc::new(srs) }
    }
}
