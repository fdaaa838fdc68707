//! Keys and proofs in files: which kind a file holds is found out here.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{CircuitKey, PlonkError, Progress, Proof, ProvingKey, Storage, VerifyingKey};
use proofmill_circom::{AnyPlonkProof, AnyPlonkVerificationKey, BinFile, CircomError, FileKind, PlonkZkey};
use proofmill_cpu::Level;
use std::path::Path;

impl ProvingKey {
    /// Opens a proving key of any arithmetisation: snarkjs's zkey, or a key of [`setup_circuit`](crate::setup_circuit).
    ///
    /// `progress` receives the name of each phase. Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file that is neither, and as [`Self::of_circuit`].
    pub fn open(
        level: Level,
        path: &Path,
        storage: impl Into<Storage>,
        progress: Progress<'_>,
    ) -> Result<Self, PlonkError> {
        Self::read(level, BinFile::open(path)?, storage, progress)
    }

    /// [`Self::open`] of an open container.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(
        level: Level,
        file: BinFile,
        storage: impl Into<Storage>,
        progress: Progress<'_>,
    ) -> Result<Self, PlonkError> {
        let storage = storage.into();
        if file.kind() == FileKind::Pmpk {
            let file = CircuitKey::read(file)?;
            let mut key = Self::of_circuit(level, &file, storage, progress)?;
            key.file = Some(file.into_file());
            return Ok(key);
        }
        Ok(Self::new(PlonkZkey::read(file)?).with_scratch(storage.scratch))
    }
}

impl VerifyingKey {
    /// Opens a verification key, snarkjs's or one of ours, or takes that of a proving key of any arithmetisation.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file that is none of these, [`PlonkError::Key`] for names that are not those of an
    /// arithmetisation.
    pub fn open(level: Level, path: &Path) -> Result<Self, PlonkError> {
        match BinFile::open(path) {
            // What begins as no binary file does is JSON, or nothing.
            Err(CircomError::Kind { .. }) => Ok(Self::try_from(&AnyPlonkVerificationKey::open(path)?)?),
            file => Self::read(level, file?),
        }
    }

    /// [`Self::open`] of bytes in memory; `name` stands for them in messages.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn parse(level: Level, name: &str, bytes: Vec<u8>) -> Result<Self, PlonkError> {
        if FileKind::of(&bytes).is_some() {
            return Self::read(level, BinFile::from_bytes(name, bytes)?);
        }
        Ok(Self::try_from(&AnyPlonkVerificationKey::parse(name, &bytes)?)?)
    }

    /// The verification key of a proving key's file, of any arithmetisation.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file that is no such key.
    pub fn read(level: Level, file: BinFile) -> Result<Self, PlonkError> {
        if file.kind() == FileKind::Pmpk {
            return Self::of_circuit(level, &CircuitKey::read(file)?);
        }
        Ok(Self::from(PlonkZkey::read(file)?.header()))
    }
}

impl From<AnyPlonkProof> for Proof {
    fn from(file: AnyPlonkProof) -> Self {
        match file {
            AnyPlonkProof::Snarkjs(proof) => Self::from(&proof),
            AnyPlonkProof::Circuit(proof) => Self::from(proof),
        }
    }
}
