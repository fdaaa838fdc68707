//! Keys.
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use super::{FREE_ROWS, LOG_N, VerifyingKey};
use crate::{PlonkError, System, arithmetisation::permutation};
use proofmill_circom::{BinFile, FflonkHeader, FflonkZkey, GateSections, Scalars as Encoded};
use proofmill_field::{Field, bn254::Fr};
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// A proving key: snarkjs's zkey, mapped. Its polynomials stay in the file.
#[derive(Debug)]
pub struct ProvingKey {
    /// The circuit. Its verification key has no commitments to single columns: C0 commits to all of them.
    pub(super) circuit: crate::ProvingKey,
    verifying_key: VerifyingKey,
}

impl ProvingKey {
    /// Opens a key.
    ///
    /// # Errors
    /// [`PlonkError::File`] for anything but a key of fflonk, [`PlonkError::Domain`].
    pub fn open(path: &Path) -> Result<Self, PlonkError> {
        Self::read(BinFile::open(path)?)
    }

    /// [`Self::open`] for a container that is already open.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn read(file: BinFile) -> Result<Self, PlonkError> {
        let zkey = FflonkZkey::read(file)?;
        let header = *zkey.header();
        let log_n = header.counts.power();
        if !LOG_N.contains(&log_n) {
            return Err(PlonkError::Domain { log_n });
        }
        let mut circuit = crate::ProvingKey::of_gates(zkey.into_gates(), without_commitments(&header));
        circuit.free_rows = FREE_ROWS;
        Ok(Self { circuit, verifying_key: VerifyingKey::from(&header) })
    }

    /// Stores the vectors of proofs in temporary files in this folder.
    #[must_use]
    pub fn with_scratch(mut self, folder: Option<PathBuf>) -> Self {
        self.circuit = self.circuit.with_scratch(folder);
        self
    }

    /// [`crate::ProvingKey::powers`].
    pub fn powers(&self) -> Option<Range<usize>> {
        self.circuit.powers()
    }

    /// The file that the key was read from.
    pub fn file(&self) -> Option<&BinFile> {
        self.circuit.file()
    }

    /// The verification key.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// The coefficients of C0.
    pub(super) fn c0(&self) -> Result<Encoded<'_>, PlonkError> {
        // Always present: the key was read from a zkey of fflonk.
        self.circuit.gates().and_then(GateSections::c0).ok_or(PlonkError::NotProven)
    }
}

/// PLONK's verification key of the same circuit, without commitments.
fn without_commitments(header: &FflonkHeader) -> crate::VerifyingKey {
    let [.., k3] = permutation::multipliers();
    crate::VerifyingKey {
        system: System::standard(),
        log_n: header.counts.power(),
        public: header.counts.public,
        multipliers: [Fr::ONE, header.k1, header.k2, k3],
        fixed: Vec::new(),
        tau: header.x_2,
        insecure_setup: header.counts.insecure_setup,
    }
}
