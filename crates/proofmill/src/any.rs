//! Verifying keys and proofs of any proof system of circom's circuits, which their files name.

use crate::{Result, circom::PublicSignals, error::Names, fflonk, groth16, plonk};
use proofmill_circom::{BinFile, ContainerOrText, FileKind, Text, describe_file};
use std::path::Path;

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
        match BinFile::open_or_text(path.as_ref())? {
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

    /// The arguments of `verifyProof` in the contract of [`AnyVerifyingKey::solidity_verifier`].
    pub fn solidity_calldata(&self) -> String {
        each!(self, proof => proof.solidity_calldata())
    }
}
