//! Proofs and verification keys as JSON: snarkjs's format for the standard arithmetisation, Proofmill's own
//! for the others.

use crate::{
    MalformedError, Proof, VerifyingKey, arithmetisation::permutation, key::circuit_file::CircuitNames,
};
use proofmill_circom::{AnyPlonkVerificationKey, CircuitProof, CircuitVerificationKey};

impl Proof {
    /// The text of the proof's file, for this key.
    pub fn text(&self, key: &VerifyingKey) -> String {
        let standard = if key.system.is_standard() { self.snarkjs() } else { None };
        if let Some(file) = standard {
            return file.text();
        }
        CircuitProof::from(self).text()
    }
}

impl From<&Proof> for CircuitProof {
    fn from(proof: &Proof) -> Self {
        Self {
            commitments: proof.commitments.clone(),
            quotient: proof.quotient.clone(),
            evaluations: proof.evaluations.clone(),
            openings: [proof.opening, proof.shifted_opening],
        }
    }
}

impl From<CircuitProof> for Proof {
    fn from(file: CircuitProof) -> Self {
        let CircuitProof { commitments, quotient, evaluations, openings: [opening, shifted_opening] } = file;
        Self { commitments, quotient, evaluations, opening, shifted_opening }
    }
}

impl VerifyingKey {
    /// The text of the key's file.
    pub fn text(&self) -> String {
        if let Some(file) = self.snarkjs() {
            return file.text();
        }
        let names = CircuitNames::of(&self.system);
        let file = CircuitVerificationKey {
            wires: names.wires,
            gates: names.gates,
            lookup: names.lookup,
            columns: names.columns,
            public: self.public,
            power: self.log_n,
            commitments: self.fixed.clone(),
            x_2: self.tau,
            insecure_setup: self.insecure_setup,
        };
        file.text()
    }
}

impl TryFrom<&AnyPlonkVerificationKey> for VerifyingKey {
    type Error = MalformedError;

    /// The key of a file. [`verify`](crate::verify) checks it further.
    ///
    /// # Errors
    /// [`MalformedError::System`] for names that do not describe an arithmetisation.
    fn try_from(file: &AnyPlonkVerificationKey) -> Result<Self, MalformedError> {
        let file = match file {
            AnyPlonkVerificationKey::Snarkjs(file) => return Ok(Self::from(file)),
            AnyPlonkVerificationKey::Circuit(file) => file,
        };
        let names = CircuitNames {
            wires: file.wires,
            gates: file.gates.clone(),
            lookup: file.lookup.clone(),
            columns: file.columns.clone(),
        };
        Ok(Self {
            system: names.system().map_err(MalformedError::System)?,
            log_n: file.power,
            public: file.public,
            multipliers: permutation::multipliers(),
            fixed: file.commitments.clone(),
            tau: file.x_2,
            insecure_setup: file.insecure_setup,
        })
    }
}
