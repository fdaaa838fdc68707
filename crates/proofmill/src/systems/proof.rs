//! Proofs of any proof system.

use super::{ProofSystem, SolidityVerifier, SystemPrime};
use crate::{Result, circom::PublicSignals};
use proofmill_circom::Text;
use proofmill_files::{FileName, write_texts};
use std::path::Path;

/// A proof and its public signals.
///
/// A verifier must know which signals to expect: an attacker chooses both a proof and its signals. Compare [`Self::public`]
/// with the expected signals, or pass the expected signals to [`Self::open`], [`Self::from_json`] or [`VerifyingKey::verify`](crate::VerifyingKey::verify).
#[derive(Clone, Debug)]
pub struct Proof<S: ProofSystem> {
    proof: S::Proof,
    public: PublicSignals<SystemPrime<S>>,
    name: Option<FileName>,
}

impl<S: ProofSystem> Proof<S> {
    pub(crate) fn new(
        proof: S::Proof,
        public: PublicSignals<SystemPrime<S>>,
        name: Option<FileName>,
    ) -> Self {
        Self { proof, public, name }
    }

    /// Opens a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for anything but a proof of this proof system
    /// over its curve.
    pub fn open(path: impl AsRef<Path>, public: impl Into<PublicSignals<SystemPrime<S>>>) -> Result<Self> {
        Self::of_text(&Text::open(path.as_ref())?, public.into())
    }

    /// Parses the text of a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed).
    pub fn from_json(
        text: impl AsRef<[u8]>,
        public: impl Into<PublicSignals<SystemPrime<S>>>,
    ) -> Result<Self> {
        let proof = S::proof_of_text(&Text::from_bytes("proof", text.as_ref().to_vec()))?;
        Ok(Self::new(proof, public.into(), None))
    }

    pub(crate) fn of_text(text: &Text, public: PublicSignals<SystemPrime<S>>) -> Result<Self> {
        Ok(Self::new(S::proof_of_text(text)?, public, Some(text.name().clone())))
    }

    pub(crate) fn get(&self) -> &S::Proof {
        &self.proof
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    /// The name in the proof's file, as [`VerifyingKey::protocol`](crate::VerifyingKey::protocol).
    pub fn protocol(&self) -> &'static str {
        S::protocol_of_proof(&self.proof)
    }

    /// The public signals: outputs, then public inputs.
    pub fn public(&self) -> &PublicSignals<SystemPrime<S>> {
        &self.public
    }

    /// The text of a `proof.json`, as snarkjs writes it; without the public signals.
    pub fn to_json(&self) -> String {
        S::proof_text(&self.proof)
    }

    /// Writes a `proof.json` and a `public.json`, both or neither.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn save(&self, proof: impl AsRef<Path>, public: impl AsRef<Path>) -> Result<()> {
        let texts = [(proof.as_ref(), &*self.to_json()), (public.as_ref(), &*self.public.to_json())];
        Ok(write_texts(&texts)?)
    }
}

impl<S: SolidityVerifier> Proof<S> {
    /// The arguments of `verifyProof` in the contract of [`VerifyingKey::solidity_verifier`](crate::VerifyingKey::solidity_verifier), and in that of snarkjs: the proof and its
    /// public signals, as snarkjs prints them.
    pub fn solidity_calldata(&self) -> String {
        S::calldata(&self.proof, &self.public)
    }
}
