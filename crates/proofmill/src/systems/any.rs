//! Keys and proofs of whichever proof system their files name, over BN254. The list of systems is at the end.

use super::{Proof, ProofSystem, ProvingKey, VerifyingKey};
use crate::{
    Result,
    circom::{Description, MemoryBound, PublicSignals, Witness},
    error::Names,
};
use proofmill_circom::{BinFile, ContainerOrText, FileKind, Text, describe_file};
use proofmill_run::UnknownName;
use std::{path::Path, str::FromStr};

/// Defines what has a variant for each proof system: of each its name, its module and its documentation.
macro_rules! systems {
    ($d:tt $($System:ident in $module:ident: $doc:literal),+ $(,)?) => {
        /// A proof system of circom's circuits.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum System {
            $(#[doc = $doc] $System,)+
        }

        /// Evaluates an expression with a type that is the system's, over BN254: `over_system!(system, S => S::NAME)`.
        #[macro_export]
        macro_rules! over_system {
            ($d system:expr, $d S:ident => $d value:expr) => {
                match $d system {
                    $($crate::System::$System => {
                        type $d S = $crate::$module::$System;
                        $d value
                    })+
                }
            };
        }

        impl System {
            /// The names of all systems.
            pub const NAMES: &'static [&'static str] = &[$(<crate::$module::$System as ProofSystem>::NAME),+];

            /// The system of a protocol's name in a file; Groth16's for no known name, whose readers say what is wrong with the file.
            fn of_protocol(name: Option<&str>) -> Self {
                let has = |names: &[&str]| name.is_some_and(|name| names.contains(&name));
                $(if has(<crate::$module::$System as ProofSystem>::PROTOCOLS) {
                    return Self::$System;
                })+
                Self::Groth16
            }
        }

        impl FromStr for System {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                let error = || UnknownName { what: "a proof system", known: Self::NAMES, found: name.to_owned() };
                match name {
                    $(<crate::$module::$System as ProofSystem>::NAME => Ok(Self::$System),)+
                    _ => Err(error()),
                }
            }
        }

        /// A proving key of any proof system.
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum AnyProvingKey {
            $(#[doc = $doc] $System(crate::$module::ProvingKey),)+
        }

        impl AnyProvingKey {
            /// Proves that the witness satisfies the circuit. The proof is verified before it is returned.
            ///
            /// # Errors
            /// Those of [`ProvingKey::prove`].
            pub fn prove(&self, witness: &Witness) -> Result<AnyProof> {
                match self {
                    $(Self::$System(key) => key.prove(witness).map(AnyProof::$System),)+
                }
            }

            /// The verifying key.
            pub fn verifying_key(&self) -> AnyVerifyingKey {
                match self {
                    $(Self::$System(key) => AnyVerifyingKey::$System(key.verifying_key()),)+
                }
            }
        }

        /// A verifying key of any proof system. A pipe can be opened too: it is read once.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyVerifyingKey {
            $(#[doc = $doc] $System(crate::$module::VerifyingKey),)+
        }

        impl AnyVerifyingKey {
            /// The proof system.
            pub fn system(&self) -> System {
                match self {
                    $(Self::$System(_) => System::$System,)+
                }
            }

            /// The name in the key's file: `groth16`, `plonk`, `proofmill-plonk` for the wider arithmetisations, or `fflonk`.
            pub fn protocol(&self) -> &'static str {
                match self {
                    $(Self::$System(key) => key.protocol(),)+
                }
            }

            /// The number of public signals of a proof.
            pub fn public_signals(&self) -> usize {
                match self {
                    $(Self::$System(key) => key.public_signals(),)+
                }
            }

            /// A bound on the memory of a proof with the proving key of this description, whose verifying key this is.
            pub fn memory_bound(&self, key: &Description) -> MemoryBound {
                match self {
                    $(Self::$System(verifying_key) => {
                        <crate::$module::$System as ProofSystem>::memory_bound(key, verifying_key.get())
                    })+
                }
            }

            /// The number of points of the domain of the proving key of this description, whose verifying key this is.
            pub fn domain(&self, key: &Description) -> u64 {
                match self {
                    $(Self::$System(verifying_key) => <crate::$module::$System as ProofSystem>::domain(key, verifying_key.get()),)+
                }
            }

            /// The text of a `verification_key.json`, for verifiers: it is what [`Self::save`] writes.
            ///
            /// # Errors
            /// [`Error::InsecureSetup`](crate::Error::InsecureSetup) for a key for which anyone can forge proofs.
            pub fn export_json(&self) -> Result<String> {
                match self {
                    $(Self::$System(key) => key.export_json(),)+
                }
            }

            /// Writes a `verification_key.json`, completely or not at all.
            ///
            /// # Errors
            /// [`Error::Io`](crate::Error::Io), and [`Error::InsecureSetup`](crate::Error::InsecureSetup) for a key for which anyone
            /// can forge proofs.
            pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
                match self {
                    $(Self::$System(key) => key.save(path),)+
                }
            }

            /// A Solidity contract that verifies this key's proofs.
            ///
            /// # Errors
            /// [`Error::Malformed`](crate::Error::Malformed) for a key that no circuit has,
            /// [`Error::InsecureSetup`](crate::Error::InsecureSetup) for one for which anyone can forge proofs.
            pub fn solidity_verifier(&self) -> Result<String> {
                match self {
                    $(Self::$System(key) => key.solidity_verifier(),)+
                }
            }
        }

        /// A proof of any proof system, and its public signals.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum AnyProof {
            $(#[doc = $doc] $System(crate::$module::Proof),)+
        }

        impl AnyProof {
            /// Verifies the proof for its public signals.
            ///
            /// # Errors
            /// [`Error::Mismatch`](crate::Error::Mismatch) for a key of another proof system, and those of [`Proof::verify`].
            pub fn verify(&self, key: &AnyVerifyingKey) -> Result<()> {
                match (self, key) {
                    $((Self::$System(proof), AnyVerifyingKey::$System(key)) => proof.verify(key),)+
                    $((Self::$System(proof), _) => {
                        let (expected, found) = (key.protocol(), proof.protocol());
                        let problem = format!("expected a proof of {expected}, found one of {found}");
                        Err(Names::mismatch(proof.name(), problem))
                    })+
                }
            }

            /// The name in the proof's file, as [`AnyVerifyingKey::protocol`].
            pub fn protocol(&self) -> &'static str {
                match self {
                    $(Self::$System(proof) => proof.protocol(),)+
                }
            }

            /// The public signals: outputs, then public inputs.
            pub fn public(&self) -> &PublicSignals {
                match self {
                    $(Self::$System(proof) => proof.public(),)+
                }
            }

            /// The text of a `proof.json`, as snarkjs writes it; without the public signals.
            pub fn to_json(&self) -> String {
                match self {
                    $(Self::$System(proof) => proof.to_json(),)+
                }
            }

            /// The arguments of `verifyProof` in the contract of [`AnyVerifyingKey::solidity_verifier`].
            pub fn solidity_calldata(&self) -> String {
                match self {
                    $(Self::$System(proof) => proof.solidity_calldata(),)+
                }
            }
        }

        $(
            impl From<crate::$module::ProvingKey> for AnyProvingKey {
                fn from(key: crate::$module::ProvingKey) -> Self {
                    Self::$System(key)
                }
            }

            impl From<crate::$module::VerifyingKey> for AnyVerifyingKey {
                fn from(key: crate::$module::VerifyingKey) -> Self {
                    Self::$System(key)
                }
            }

            impl From<crate::$module::Proof> for AnyProof {
                fn from(proof: crate::$module::Proof) -> Self {
                    Self::$System(proof)
                }
            }
        )+
    };
}

systems! { $
    Groth16 in groth16: "Groth16.",
    Plonk in plonk: "PLONK, in any arithmetisation.",
    Fflonk in fflonk: "fflonk.",
}

impl System {
    /// The name in files and of commands, such as `groth16`.
    pub fn name(self) -> &'static str {
        over_system!(self, S => S::NAME)
    }
}

impl AnyProvingKey {
    /// Opens a `.zkey`, or a key of a wider arithmetisation of PLONK.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for any other file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        let (system, name) = (system_of(&file)?, Some(file.name().clone()));
        over_system!(system, S => ProvingKey::<S>::read(file, name).map(Self::from))
    }
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
            ContainerOrText::Container(file) => {
                over_system!(system_of(&file)?, S => VerifyingKey::<S>::of_container(file).map(Self::from))
            }
            ContainerOrText::Text(text) => {
                let system = System::of_protocol(text.protocol()?.as_deref());
                over_system!(system, S => VerifyingKey::<S>::of_text(&text).map(Self::from))
            }
        }
    }
}

impl AnyProof {
    /// Opens a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), and [`Error::Malformed`](crate::Error::Malformed) for anything but a proof over BN254.
    pub fn open(path: impl AsRef<Path>, public: impl Into<PublicSignals>) -> Result<Self> {
        let text = Text::open(path.as_ref())?;
        let system = System::of_protocol(text.protocol()?.as_deref());
        over_system!(system, S => Proof::<S>::of_text(&text, public.into()).map(Self::from))
    }
}

/// The system of a proving key's file.
pub(crate) fn system_of(file: &BinFile) -> Result<System> {
    Ok(System::of_protocol(protocol_of(file)?.as_deref()))
}

/// The protocol of a proving key; `None` for other files.
pub(crate) fn protocol_of(file: &BinFile) -> Result<Option<String>> {
    match file.kind() {
        FileKind::Pmpk => Ok(Some("proofmill-plonk".to_owned())),
        _ => Ok(describe_file(file)?.protocol),
    }
}
