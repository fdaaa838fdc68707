//! Opens keys and proofs in files of any supported format.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crate::{CircuitKey, PlonkError, Proof, ProvingKey, VerifyingKey};
use proofmill_circom::{
    AnyPlonkProof, AnyPlonkVerificationKey, BinFile, ContainerOrText, FileKind, PlonkZkey,
};
use proofmill_cpu::Level;
use proofmill_run::Run;
use std::path::Path;

impl ProvingKey {
    /// Opens a proving key of any arithmetisation: snarkjs's zkey, or a key of
    /// [`setup_circuit`](crate::setup_circuit).
    ///
    /// Runs on the ambient rayon pool.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file of another kind, and the errors of [`Self::of_circuit`].
    pub fn open(run: Run<'_>, path: &Path) -> Result<Self, PlonkError> {
        Self::read(run, BinFile::open(path)?)
    }

    /// [`Self::open`] for a container that is already open.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(run: Run<'_>, file: BinFile) -> Result<Self, PlonkError> {
        if file.kind() == FileKind::Pmpk {
            let file = CircuitKey::read(file)?;
            let mut key = Self::of_circuit(run, &file)?;
            key.file = Some(file.into_file());
            return Ok(key);
        }
        Ok(Self::new(PlonkZkey::read(file)?).with_scratch(run.scratch.map(Path::to_owned)))
    }
}

impl VerifyingKey {
    /// Opens a verification key in snarkjs's or Proofmill's format, or extracts that of a proving key of any
    /// arithmetisation.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file of another kind, [`PlonkError::Key`] for names that do not describe an
    /// arithmetisation.
    pub fn open(level: Level, path: &Path) -> Result<Self, PlonkError> {
        match BinFile::open_or_text(path)? {
            ContainerOrText::Container(file) => Self::read(level, file),
            ContainerOrText::Text(text) => Ok(Self::try_from(&AnyPlonkVerificationKey::of_text(&text)?)?),
        }
    }

    /// [`Self::open`] for bytes in memory; `name` replaces the path in messages.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn parse(level: Level, name: &str, bytes: Vec<u8>) -> Result<Self, PlonkError> {
        if FileKind::of(&bytes).is_some() {
            return Self::read(level, BinFile::from_bytes(name, bytes)?);
        }
        Ok(Self::try_from(&AnyPlonkVerificationKey::parse(name, &bytes)?)?)
    }

    /// Extracts the verification key from a proving key's file, of any arithmetisation.
    ///
    /// # Errors
    /// [`PlonkError::File`] for a file of another kind.
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
