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
    field::Fr,
    machine::current,
};
pub use proofmill_srs::SrsKind;
use proofmill_srs::{SPARE, write_insecure};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Powers of tau in G1, and tau in G2: mapped files, of which what an operation does not need is not read. Clones share them.
#[derive(Clone, Debug)]
pub struct Srs {
    srs: Arc<proofmill_srs::Srs>,
}

impl Srs {
    /// Opens a snarkjs `.ptau`, a transcript of Aztec's Ignition ceremony (the first), or a folder of them.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for what is none of these or does not begin so.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        proofmill_srs::Srs::open(path.as_ref()).map(Self::from).map_err(Error::from)
    }

    /// Opens Ignition transcripts that continue each other, the first one first.
    ///
    /// # Errors
    /// As [`Self::open`], and for files that do not continue each other.
    pub fn open_transcripts(paths: &[PathBuf]) -> Result<Self> {
        Ok(proofmill_srs::Srs::open_transcripts(paths)?.into())
    }

    /// The string in the bytes of one such file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Ok(proofmill_srs::Srs::from_bytes("reference string", bytes)?.into())
    }

    /// Makes a string for circuits of up to `size` rows, from a random tau that is wiped afterwards: for tests. The program
    /// that makes a string may know its tau, and a program that knows tau proves what is false.
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

    /// [`Self::insecure`] in a `.ptau` file, which the string then is mapped from.
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

    /// Accepts a string whose powers are all those of one tau: each is tau times the one before, and Ignition's transcripts
    /// have their checksums. No file can show that tau is unknown.
    ///
    /// # Errors
    /// [`Error::Rejected`] with the first power that is wrong, or a damaged file.
    pub fn verify(&self) -> Result<()> {
        Ok(self.srs.check(current().level)?)
    }

    /// How many powers there are in G1, the generator among them.
    #[expect(clippy::len_without_is_empty, reason = "there are at least two")]
    pub fn len(&self) -> usize {
        self.srs.len()
    }

    /// Bytes of the files that it was opened from.
    pub fn bytes(&self) -> u64 {
        self.srs.bytes()
    }

    /// How many files it was opened from.
    pub fn files(&self) -> usize {
        self.srs.files()
    }

    /// How many contributions a `.ptau` says it has: without any, the program that made it may know tau. `None` for
    /// transcripts, which do not say.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a `.ptau` that does not say.
    pub fn contributions(&self) -> Result<Option<u32>> {
        Ok(self.srs.ptau().map(|ptau| ptau.contributions()).transpose()?)
    }

    /// What it was opened from.
    pub fn kind(&self) -> SrsKind {
        self.srs.kind()
    }

    /// What stands for the string in transcripts: a hash of tau in G1 and G2.
    pub fn identity(&self) -> [u8; 32] {
        self.srs.identity()
    }

    /// Some powers in G1.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if there are fewer, or a damaged file.
    pub fn powers(&self, range: Range<usize>) -> Result<Vec<Affine<bn254::G1>>> {
        Ok(self.srs.powers(current().level, range)?)
    }

    /// tau in G2.
    pub fn tau_g2(&self) -> Affine<bn254::G2> {
        *self.srs.tau_g2()
    }

    /// KZG's commitment to the polynomial with these coefficients: its value at tau, in G1.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if there are fewer powers than coefficients, or a damaged file.
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
