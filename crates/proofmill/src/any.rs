//! Keys and proofs of any proof system of circom's circuits, which their files name.

use crate::{
    Result,
    circom::{PublicSignals, Witness},
    error::Names,
    fflonk, groth16, plonk,
};
use proofmill_circom::{BinFile, ContainerOrText, FileKind, Text, describe_file};
use std::path::Path;

/// A proving key of any proof system.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "there are few")]
pub enum AnyProvingKey {
    /// Of Groth16.
    Groth16(groth16::ProvingKey),
    /// Of PLONK, in any arithmetisation.
    Plonk(plonk::ProvingKey),
    /// Of fflonk.
    Fflonk(fflonk::ProvingKey),
}

impl AnyProvingKey {
    /// Opens a `.zkey`, or a key of a wider arithmetisation of PLONK.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for any other file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        let name = Some(file.name().clone());
        match protocol_of(&file)?.as_deref() {
            Some("plonk" | "proofmill-plonk") => plonk::ProvingKey::read(file, name).map(Self::Plonk),
            Some("fflonk") => fflonk::ProvingKey::read(file, name).map(Self::Fflonk),
            _ => groth16::ProvingKey::read(file, name).map(Self::Groth16),
        }
    }

    /// Proves that the witness satisfies the circuit. The proof is verified before it is returned.
    ///
    /// # Errors
    /// Those of each system's prover.
    pub fn prove(&self, witness: &Witness) -> Result<AnyProof> {
        match self {
            Self::Groth16(key) => key.prove(witness).map(AnyProof::Groth16),
            Self::Plonk(key) => key.prove(witness).map(AnyProof::Plonk),
            Self::Fflonk(key) => key.prove(witness).map(AnyProof::Fflonk),
        }
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> AnyVerifyingKey {
        match self {
            Self::Groth16(key) => AnyVerifyingKey::Groth16(key.verifying_key()),
            Self::Plonk(key) => AnyVerifyingKey::Plonk(key.verifying_key()),
            Self::Fflonk(key) => AnyVerifyingKey::Fflonk(key.verifying_key()),
        }
    }
}

/// A verifying key of any proof system. A pipe can be opened too: it is read once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyVerifyingKey {
    /// Of Groth16.
    Groth16(groth16::VerifyingKey),
    /// Of PLONK, in any arithmetisation.
    Plonk(plonk::VerifyingKey),
    /// Of fflonk.
    Fflonk(fflonk::VerifyingKey),
}

/// Evaluates an expression for whichever key or proof this is.
macro_rules! each {
    ($any:expr, $one:ident => $value:expr) => {
        match $any {
            Self::Groth16($one) => $value,
            Self::Plonk($one) => $value,
            Self::Fflonk($one) => $value,
        }
    };
}

impl AnyVerifyingKey {
    /// Opens a `verification_key.json`, or takes the verifying key of a proving key.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for a file that is neither.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::of(BinFile::open_or_text(path.as_ref())?)
    }

    /// The verifying key in the bytes of a `verification_key.json` or of a proving key.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(BinFile::from_bytes_or_text("key", bytes)?)
    }

    fn of(key: ContainerOrText) -> Result<Self> {
        match key {
            ContainerOrText::Container(file) => match protocol_of(&file)?.as_deref() {
                Some("plonk" | "proofmill-plonk") => plonk::VerifyingKey::of_container(file).map(Self::Plonk),
                Some("fflonk") => fflonk::VerifyingKey::of_container(file).map(Self::Fflonk),
                _ => groth16::VerifyingKey::of_container(file).map(Self::Groth16),
            },
            ContainerOrText::Text(text) => match text.protocol()?.as_deref() {
                Some("plonk" | "proofmill-plonk") => plonk::VerifyingKey::of_text(&text).map(Self::Plonk),
                Some("fflonk") => fflonk::VerifyingKey::of_text(&text).map(Self::Fflonk),
                _ => groth16::VerifyingKey::of_text(&text).map(Self::Groth16),
            },
        }
    }

    /// The name in the key's file: `groth16`, `plonk`, `proofmill-plonk` for the wider arithmetisations, or `fflonk`.
    pub fn protocol(&self) -> &'static str {
        match self {
            Self::Groth16(_) => "groth16",
            Self::Plonk(key) => plonk_name(key.get().system.is_standard()),
            Self::Fflonk(_) => "fflonk",
        }
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> u64 {
        match self {
            Self::Groth16(key) => key.public_signals() as u64,
            Self::Plonk(key) => key.public_signals().into(),
            Self::Fflonk(key) => key.public_signals().into(),
        }
    }

    /// The text of a `verification_key.json`, for verifiers: it is what [`Self::save`] writes.
    ///
    /// # Errors
    /// [`Error::InsecureSetup`](crate::Error::InsecureSetup) for a key for which anyone can forge proofs.
    pub fn export_json(&self) -> Result<String> {
        each!(self, key => key.export_json())
    }

    /// Writes a `verification_key.json`, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::InsecureSetup`](crate::Error::InsecureSetup) for a key for which anyone can forge proofs.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        each!(self, key => key.save(path))
    }

    /// A Solidity contract that verifies this key's proofs.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for a key that no circuit has, [`Error::InsecureSetup`](crate::Error::InsecureSetup) for one for which anyone can forge proofs.
    pub fn solidity_verifier(&self) -> Result<String> {
        each!(self, key => key.solidity_verifier())
    }
}

/// The name of PLONK in files, which depends on the arithmetisation.
fn plonk_name(standard: bool) -> &'static str {
    if standard { "plonk" } else { "proofmill-plonk" }
}

/// The protocol of a proving key; `None` for other files.
pub(crate) fn protocol_of(file: &BinFile) -> Result<Option<String>> {
    match file.kind() {
        FileKind::Pmpk => Ok(Some("proofmill-plonk".to_owned())),
        _ => Ok(describe_file(file)?.protocol),
    }
}

/// A proof of any proof system, and its public signals.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum AnyProof {
    /// Of Groth16.
    Groth16(groth16::Proof),
    /// Of PLONK, in any arithmetisation.
    Plonk(plonk::Proof),
    /// Of fflonk.
    Fflonk(fflonk::Proof),
}

impl AnyProof {
    /// Opens a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for anything but a proof over BN254.
    pub fn open(path: impl AsRef<Path>, public: impl Into<PublicSignals>) -> Result<Self> {
        let (text, public): (Text, _) = (Text::open(path.as_ref())?, public.into());
        Ok(match text.protocol()?.as_deref() {
            Some("plonk" | "proofmill-plonk") => Self::Plonk(plonk::Proof::of_text(&text, public)?),
            Some("fflonk") => Self::Fflonk(fflonk::Proof::of_text(&text, public)?),
            _ => Self::Groth16(groth16::Proof::of_text(&text, public)?),
        })
    }

    /// Verifies the proof for its public signals.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) for a key of another proof system, and the errors of each system's verifier.
    pub fn verify(&self, key: &AnyVerifyingKey) -> Result<()> {
        match (self, key) {
            (Self::Groth16(proof), AnyVerifyingKey::Groth16(key)) => proof.verify(key),
            (Self::Plonk(proof), AnyVerifyingKey::Plonk(key)) => proof.verify(key),
            (Self::Fflonk(proof), AnyVerifyingKey::Fflonk(key)) => proof.verify(key),
            _ => {
                let problem =
                    format!("expected a proof of {}, found one of {}", key.protocol(), self.protocol());
                Err(Names::mismatch(each!(self, proof => proof.name()), problem))
            }
        }
    }

    /// The name in the proof's file, as [`AnyVerifyingKey::protocol`].
    pub fn protocol(&self) -> &'static str {
        match self {
            Self::Groth16(_) => "groth16",
            Self::Plonk(proof) => plonk_name(proof.is_standard()),
            Self::Fflonk(_) => "fflonk",
        }
    }

    /// The public signals: outputs, then public inputs.
    pub fn public(&self) -> &PublicSignals {
        each!(self, proof => proof.public())
    }

    /// The text of a `proof.json`, as snarkjs writes it; without the public signals.
    pub fn to_json(&self) -> String {
        each!(self, proof => proof.to_json())
    }

    /// The arguments of `verifyProof` in the contract of [`AnyVerifyingKey::solidity_verifier`].
    pub fn solidity_calldata(&self) -> String {
        each!(self, proof => proof.solidity_calldata())
    }
}
