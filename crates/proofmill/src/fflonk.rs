//! fflonk (eprint 2021/1167) over BN254, with the files of snarkjs. A contract verifies its proofs with five multiplications of
//! points, PLONK's with 18. Proving takes about three times as long as with PLONK.
//!
//! ```
//! use proofmill::{circom::{PublicSignals, Witness}, fflonk};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let key = fflonk::ProvingKey::open("fflonk.zkey")?;
//! let proof = key.prove(&Witness::open("witness.wtns")?)?;
//! proof.verify(&key.verifying_key())?;
//!
//! let expected = PublicSignals::open("public.json")?;
//! let proof = fflonk::Proof::open("fflonk.proof.json", expected)?;
//! proof.verify(&fflonk::VerifyingKey::open("fflonk.vk.json")?)?;
//! # Ok(())
//! # }
//! ```

use crate::{
    Error, Result,
    circom::{Ptau, PublicSignals, R1cs, Witness, in_memory},
    error::Names,
    field::Fr,
    machine::{Settings, current},
};
use proofmill_circom::{BinFile, ContainerOrText, FileKind, Text};
use proofmill_files::{FileName, Target, write_bytes, write_text, write_texts};
pub use proofmill_plonk::Commit;
use proofmill_plonk::{PlonkError, ProveOptions, fflonk};
use std::{ops::Range, path::Path};

/// A proving key: snarkjs's `.zkey` of fflonk, mapped.
#[derive(Debug)]
pub struct ProvingKey {
    key: fflonk::ProvingKey,
    name: Option<FileName>,
}

impl ProvingKey {
    /// Opens a key.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a key of fflonk over BN254.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(BinFile::open(path.as_ref())?, Some(FileName::new(path.as_ref())))
    }

    /// The key in the bytes of a `.zkey` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::read(BinFile::from_bytes("proving key", bytes)?, None)
    }

    pub(crate) fn read(file: BinFile, name: Option<FileName>) -> Result<Self> {
        let key = fflonk::ProvingKey::read(file);
        let key = key.map_err(|error| Names { key: name.as_ref(), ..Names::default() }.plonk(error))?;
        Ok(Self { key: key.with_scratch(current().scratch.clone()), name })
    }

    /// Makes the key of a circuit in memory: the bytes of `snarkjs fflonk setup`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for too few powers of tau (`9 n + 18` for a domain of n points), [`Error::Malformed`] for a circuit
    /// that cannot have such a key.
    pub fn setup(circuit: &R1cs, powers: &Ptau) -> Result<Self> {
        Self::from_bytes(in_memory(|target| setup(circuit, powers, target))?)
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        // Always present: this type's keys are read from a file or its bytes.
        self.key.file().map(BinFile::bytes).unwrap_or_default()
    }

    /// Writes the file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_bytes(path.as_ref(), self.as_bytes()).map_err(Error::from)
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> u32 {
        self.key.verifying_key().public
    }

    /// Proves that the witness satisfies the circuit. The witness is first checked row by row. The proof is blinded with the
    /// operating system's randomness, and verified before it is returned.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] with the first row that does not hold, [`Error::Mismatch`] for a witness of another circuit,
    /// [`Error::Malformed`] for an inconsistent key, [`Error::InsecureSetup`] for a key from powers of tau to which nobody
    /// contributed, [`Error::Io`] for a scratch folder that cannot be used, [`Error::System`] without randomness.
    pub fn prove(&self, witness: &Witness) -> Result<Proof> {
        self.prove_with(witness, ProveOptions { check_witness: true })
    }

    /// [`Self::prove`] without the check of the witness, which takes a few percent of the time. For a witness that does not
    /// satisfy the circuit, the error does not name the row.
    ///
    /// # Errors
    /// As [`Self::prove`].
    pub fn prove_unchecked(&self, witness: &Witness) -> Result<Proof> {
        self.prove_with(witness, ProveOptions { check_witness: false })
    }

    /// [`crate::plonk::ProvingKey::prove_with_commitments`].
    ///
    /// # Errors
    /// As there.
    pub fn prove_with_commitments(&self, witness: &Witness, commit: Commit<'_>) -> Result<Proof> {
        self.finish(witness, |machine| {
            let (run, options) = (machine.run(), ProveOptions::default());
            fflonk::prove_with_commitments(run, &self.key, witness.values(), options, commit)
        })
    }

    /// [`crate::plonk::ProvingKey::powers`].
    pub fn powers(&self) -> Range<usize> {
        // Always present: see `as_bytes`.
        self.key.powers().unwrap_or_default()
    }

    fn prove_with(&self, witness: &Witness, options: ProveOptions) -> Result<Proof> {
        self.finish(witness, |machine| fflonk::prove(machine.run(), &self.key, witness.values(), options))
    }

    fn finish(
        &self,
        witness: &Witness,
        prove: impl FnOnce(&Settings) -> std::result::Result<(fflonk::Proof, Vec<Fr>), PlonkError>,
    ) -> Result<Proof> {
        let machine = current();
        self.verifying_key().check_setup()?;
        let names = Names { key: self.name.as_ref(), witness: witness.name(), ..Names::default() };
        let (proof, public) = prove(&machine).map_err(|error| names.plonk(error))?;
        Ok(Proof { proof, public: public.into(), name: None })
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey { key: self.key.verifying_key().clone(), name: self.name.clone() }
    }
}

/// [`ProvingKey::setup`] that writes the key to a file, completely or not at all, for keys larger than memory.
///
/// # Errors
/// As [`ProvingKey::setup`], and [`Error::Io`].
pub fn write_key(path: impl AsRef<Path>, circuit: &R1cs, powers: &Ptau) -> Result<()> {
    setup(circuit, powers, Target::File(path.as_ref()))
}

fn setup(circuit: &R1cs, powers: &Ptau, target: Target<'_>) -> Result<()> {
    let machine = current();
    let made = fflonk::setup(machine.run(), circuit.get(), powers.get(), target);
    let (circuit, powers) = (circuit.name(), Some(powers.get().file().name()));
    made.map_err(|error| Names { circuit, powers, ..Names::default() }.plonk(error))
}

/// A verifying key: snarkjs's `verification_key.json`, or the verifying key in a proving key.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    key: fflonk::VerifyingKey,
    name: Option<FileName>,
}

impl VerifyingKey {
    /// Opens a `verification_key.json`, or takes the verifying key of a `.zkey`.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for a file that is neither.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        match BinFile::open_or_text(path.as_ref())? {
            ContainerOrText::Container(file) => Self::of_container(file),
            ContainerOrText::Text(text) => Self::of_text(&text),
        }
    }

    pub(crate) fn of_container(file: BinFile) -> Result<Self> {
        let name = file.name().clone();
        Ok(ProvingKey::read(file, Some(name))?.verifying_key())
    }

    pub(crate) fn of_text(text: &Text) -> Result<Self> {
        Ok(Self { key: fflonk::VerifyingKey::of_text(text)?, name: Some(text.name().clone()) })
    }

    /// The verifying key in the bytes of a `verification_key.json` or of a `.zkey`.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        match FileKind::of(&bytes) {
            Some(_) => Ok(ProvingKey::from_bytes(bytes)?.verifying_key()),
            None => Self::from_json(bytes),
        }
    }

    /// Parses the text of a `verification_key.json`.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        let key = fflonk::VerifyingKey::parse("verification key", text.as_ref())?;
        Ok(Self { key, name: None })
    }

    /// The text of a `verification_key.json`, as snarkjs writes it.
    pub fn to_json(&self) -> String {
        self.key.text()
    }

    /// Writes a `verification_key.json`, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::InsecureSetup`] for a key for which anyone can forge proofs.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_text(path.as_ref(), &self.export_json()?)?)
    }

    pub(crate) fn export_json(&self) -> Result<String> {
        self.check_setup()?;
        Ok(self.to_json())
    }

    pub(crate) fn get(&self) -> &fflonk::VerifyingKey {
        &self.key
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> u32 {
        self.key.public
    }

    /// A Solidity contract that verifies this key's proofs; see [`Proof::solidity_calldata`].
    ///
    /// # Errors
    /// [`Error::Malformed`] for a key that no circuit has, [`Error::InsecureSetup`] for one for which anyone can forge proofs.
    pub fn solidity_verifier(&self) -> Result<String> {
        self.check_setup()?;
        let names = Names { key: self.name.as_ref(), ..Names::default() };
        fflonk::solidity::verifier(&self.key).map_err(|error| names.malformed(error))
    }

    /// Why anyone can forge proofs for this key, as far as the key shows it. `None` does not mean that nobody can: the secrets of a
    /// setup leave no trace.
    pub fn insecurity(&self) -> Option<&'static str> {
        fflonk::insecurity(&self.key)
    }

    /// Refuses a key for which anyone can forge proofs, or lets the machine warn of it.
    fn check_setup(&self) -> Result<()> {
        current().check_setup(self.name.as_ref(), self.insecurity())
    }

    /// Verifies the proof for these public signals, which replace those of the proof.
    ///
    /// # Errors
    /// As [`Proof::verify`].
    pub fn verify(&self, public: &PublicSignals, proof: &Proof) -> Result<()> {
        self.check_setup()?;
        let names = Names {
            key: self.name.as_ref(),
            public: public.name(),
            proof: proof.name.as_ref(),
            ..Names::default()
        };
        let verdict = fflonk::verify(current().level, &self.key, public, &proof.proof);
        verdict.map_err(|error| names.verdict(error))
    }
}

impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for VerifyingKey {}

/// A proof and its public signals.
///
/// A verifier must know which signals to expect: an attacker chooses both a proof and its signals. Compare [`Self::public`]
/// with the expected signals, or pass the expected signals to [`Self::open`], [`Self::from_json`] or [`VerifyingKey::verify`].
#[derive(Clone, Debug)]
pub struct Proof {
    proof: fflonk::Proof,
    public: PublicSignals,
    name: Option<FileName>,
}

impl Proof {
    /// Opens a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a proof of fflonk over BN254.
    pub fn open(path: impl AsRef<Path>, public: impl Into<PublicSignals>) -> Result<Self> {
        let path = path.as_ref();
        let proof = fflonk::Proof::open(path)?;
        Ok(Self { proof, public: public.into(), name: Some(FileName::new(path)) })
    }

    pub(crate) fn of_text(text: &Text, public: PublicSignals) -> Result<Self> {
        Ok(Self { proof: fflonk::Proof::of_text(text)?, public, name: Some(text.name().clone()) })
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    /// Parses the text of a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>, public: impl Into<PublicSignals>) -> Result<Self> {
        let proof = fflonk::Proof::parse("proof", text.as_ref())?;
        Ok(Self { proof, public: public.into(), name: None })
    }

    /// Verifies the proof for its public signals.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a wrong proof; [`Error::Malformed`] for points outside their groups; [`Error::Mismatch`] if the
    /// number of public signals is not the key's; [`Error::InsecureSetup`] for a key for which anyone can forge proofs.
    pub fn verify(&self, key: &VerifyingKey) -> Result<()> {
        key.verify(&self.public, self)
    }

    /// The public signals: outputs, then public inputs.
    pub fn public(&self) -> &PublicSignals {
        &self.public
    }

    /// The text of a `proof.json`, as snarkjs writes it; without the public signals.
    pub fn to_json(&self) -> String {
        self.proof.text()
    }

    /// Writes a `proof.json` and a `public.json`, both or neither.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, proof: impl AsRef<Path>, public: impl AsRef<Path>) -> Result<()> {
        let texts = [(proof.as_ref(), &*self.to_json()), (public.as_ref(), &*self.public.to_json())];
        Ok(write_texts(&texts)?)
    }

    /// The arguments of `verifyProof` in the contract of [`VerifyingKey::solidity_verifier`], and in that of snarkjs: the proof and
    /// its public signals.
    pub fn solidity_calldata(&self) -> String {
        fflonk::solidity::calldata(&self.proof, &self.public)
    }
}
