//! PLONK (eprint 2019/953) over BN254 in three arithmetisations: snarkjs's, with its files, and two with fewer, wider rows.
//!
//! ```
//! use proofmill::{circom::{PublicSignals, Witness}, plonk};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let key = plonk::ProvingKey::open("plonk.zkey")?;
//! let proof = key.prove(&Witness::open("witness.wtns")?)?;
//! proof.verify(&key.verifying_key())?;
//!
//! let expected = PublicSignals::open("public.json")?;
//! let proof = plonk::Proof::open("plonk.proof.json", expected)?;
//! proof.verify(&plonk::VerifyingKey::open("plonk.vk.json")?)?;
//! # Ok(())
//! # }
//! ```
//!
//! Circuits can be written in Rust, with gadgets for ranges, words, hashes and curves ([`Circuit`]):
//!
//! ```
//! use proofmill::{Machine, field::Fr, plonk::{Arithmetisation, Circuit, ProvingKey}, srs::Srs};
//!
//! # fn main() -> proofmill::Result<()> {
//! // I know the factors of 1517, and both fit into 8 bits.
//! let mut circuit = Circuit::new(Arithmetisation::Turbo);
//! let (p, q) = (circuit.witness(Fr::from(37)), circuit.witness(Fr::from(41)));
//! circuit.range(p, 8);
//! circuit.range(q, 8);
//! let product = circuit.mul(p, q);
//! circuit.publish(product);
//!
//! // For a test. In production, `Srs::open` a ceremony's powers of tau; then no permission is needed.
//! let machine = Machine::builder().allow_insecure_setup(|warning| eprintln!("{warning}")).build()?;
//! machine.run(|| {
//!     let key = ProvingKey::of_circuit(&circuit, &Srs::insecure(64)?)?;
//!     let proof = key.prove(&circuit.into())?;
//!     proof.verify(&key.verifying_key())?;
//!     assert_eq!(proof.public()[..], [Fr::from(1517)]);
//!     Ok(())
//! })
//! # }
//! ```

use crate::{
    Error, Result,
    circom::{PublicSignals, R1cs, Witness, in_memory},
    error::Names,
    field::Fr,
    machine::{Settings, current},
    srs::Srs,
};
use proofmill_circom::{
    AnyPlonkProof, AnyPlonkVerificationKey, BinFile, CircuitProof, ContainerOrText, Text,
};
use proofmill_files::{FileName, Target, write_bytes, write_text, write_texts};
pub use proofmill_plonk::{
    Arithmetisation, Bit, Circuit, Commit, GadgetReport, LookupArgument, MerkleNode, Multiples, Point,
    Report, Table, TableNumber, TableReport, Variable,
};
use proofmill_plonk::{Derivations, Layout, PlonkError, ProveOptions, r1cs, setup_circuit, solidity};
use std::{ops::Range, path::Path};

/// A proving key: snarkjs's `.zkey` of PLONK, or a key of a wider arithmetisation.
#[derive(Debug)]
pub struct ProvingKey {
    key: proofmill_plonk::ProvingKey,
    name: Option<FileName>,
}

impl ProvingKey {
    /// Opens a key of either kind, which the file determines. [`MachineBuilder::memory`](crate::MachineBuilder::memory) sets
    /// how much of it is kept in memory.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a key of PLONK over BN254.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        let name = file.name().clone();
        Self::read(file, Some(name))
    }

    /// The key in the bytes of a key file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::read(BinFile::from_bytes("proving key", bytes)?, None)
    }

    pub(crate) fn read(file: BinFile, name: Option<FileName>) -> Result<Self> {
        let machine = current();
        let key = proofmill_plonk::ProvingKey::read(machine.run(), file);
        let key = key.map_err(|error| Names { key: name.as_ref(), ..Names::default() }.plonk(error))?;
        Ok(Self { key, name })
    }

    /// Makes the key of a circuit of circom's in memory: for [`Arithmetisation::Standard`] the bytes of `snarkjs plonk
    /// setup`, which needs a `.ptau` prepared for phase 2; for the wider ones a key of Proofmill's own, which takes any
    /// reference string.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a reference string that is too short or of the wrong kind, [`Error::Malformed`] for a circuit
    /// that cannot have such a key.
    pub fn setup(circuit: &R1cs, srs: &Srs, arithmetisation: Arithmetisation) -> Result<Self> {
        Self::from_bytes(in_memory(|target| setup(circuit, srs, arithmetisation, target))?)
    }

    /// Makes the key of a circuit that was written in Rust. It proves every witness of the same circuit: the values of
    /// `circuit` do not matter.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a reference string that is too short, [`Error::Malformed`] for a circuit without rows or with
    /// too many.
    pub fn of_circuit(circuit: &Circuit, srs: &Srs) -> Result<Self> {
        let derivations = Derivations::new(circuit.values().len() as u32);
        let layout = circuit.layout();
        Self::from_bytes(in_memory(|target| setup_layout(layout, &derivations, srs, None, target))?)
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
        Ok(write_bytes(path.as_ref(), self.as_bytes())?)
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
    /// [`Error::Malformed`] for an inconsistent key, [`Error::InsecureSetup`] for a key from a reference string to which nobody
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

    /// [`Self::prove`] with commitments that `commit` makes, such as with several machines: the sums of the coefficients that it is given
    /// times the key's [`powers`](Self::powers), from the first on. The prover does not read the powers, and of the coefficients a commitment shows
    /// nothing that the proof does not. But they are as secret as the witness.
    ///
    /// ```
    /// use proofmill::{circom::Witness, plonk::ProvingKey, srs::Powers};
    ///
    /// # fn main() -> proofmill::Result<()> {
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
    /// # std::env::set_current_dir(folder).expect("the example");
    /// let key = ProvingKey::open("plonk.zkey")?;
    /// // One machine, which has all powers.
    /// let powers = Powers::from_bytes(&key.as_bytes()[key.powers()])?;
    /// let proof = key.prove_with_commitments(&Witness::open("witness.wtns")?, &|coefficients| {
    ///     Ok(powers.sum(0, coefficients)?)
    /// })?;
    /// proof.verify(&key.verifying_key())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Self::prove`]; [`Error::System`] for a commitment that could not be made, [`Error::Unsatisfied`] also for one that is wrong.
    pub fn prove_with_commitments(&self, witness: &Witness, commit: Commit<'_>) -> Result<Proof> {
        self.finish(witness, |machine| {
            let (run, options) = (machine.run(), ProveOptions::default());
            proofmill_plonk::prove_with_commitments(run, &self.key, witness.values(), options, commit)
        })
    }

    /// The bytes of the file that hold the powers of tau, [`Powers::BYTES`](crate::srs::Powers::BYTES) each.
    pub fn powers(&self) -> Range<usize> {
        // Always present: see `as_bytes`.
        self.key.powers().unwrap_or_default()
    }

    fn prove_with(&self, witness: &Witness, options: ProveOptions) -> Result<Proof> {
        self.finish(witness, |machine| {
            proofmill_plonk::prove(machine.run(), &self.key, witness.values(), options)
        })
    }

    fn finish(
        &self,
        witness: &Witness,
        prove: impl FnOnce(&Settings) -> std::result::Result<(proofmill_plonk::Proof, Vec<Fr>), PlonkError>,
    ) -> Result<Proof> {
        let machine = current();
        machine.check_setup(self.name.as_ref(), self.key.verifying_key().insecurity())?;
        let names = Names { key: self.name.as_ref(), witness: witness.name(), ..Names::default() };
        let (proof, public) = prove(&machine).map_err(|error| names.plonk(error))?;
        let standard = self.key.verifying_key().system.is_standard();
        Ok(Proof { proof, standard, public: public.into(), name: None })
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
pub fn write_key(
    path: impl AsRef<Path>,
    circuit: &R1cs,
    srs: &Srs,
    arithmetisation: Arithmetisation,
) -> Result<()> {
    setup(circuit, srs, arithmetisation, Target::File(path.as_ref()))
}

/// [`ProvingKey::of_circuit`] that writes the key to a file, completely or not at all, for keys larger than memory.
///
/// # Errors
/// As [`ProvingKey::of_circuit`], and [`Error::Io`].
pub fn write_circuit_key(path: impl AsRef<Path>, circuit: Circuit, srs: &Srs) -> Result<()> {
    let (layout, values) = circuit.into_layout();
    let derivations = Derivations::new(values.len() as u32);
    setup_layout(layout, &derivations, srs, None, Target::File(path.as_ref()))
}

fn setup(circuit: &R1cs, srs: &Srs, arithmetisation: Arithmetisation, target: Target<'_>) -> Result<()> {
    let machine = current();
    if arithmetisation != Arithmetisation::Standard {
        machine.progress().begin("compile");
        let names = Names { circuit: circuit.name(), ..Names::default() };
        let layout = r1cs::layout(circuit.get(), arithmetisation).map_err(|error| names.plonk(error))?;
        return setup_layout(layout.0, &layout.1, srs, circuit.name(), target);
    }
    let Some(ptau) = srs.get().ptau() else {
        let problem = "expected a .ptau prepared for phase 2 for the standard arithmetisation";
        return Err(Names::mismatch(Some(srs.get().name()), problem));
    };
    let made = proofmill_plonk::setup(machine.run(), circuit.get(), ptau, target);
    made.map_err(|error| setup_error(error, srs, circuit.name()))
}

fn setup_layout(
    layout: Layout,
    derivations: &Derivations,
    srs: &Srs,
    circuit: Option<&FileName>,
    target: Target<'_>,
) -> Result<()> {
    let machine = current();
    let made = setup_circuit(machine.run(), layout, derivations, srs.get(), target);
    made.map_err(|error| setup_error(error, srs, circuit))
}

fn setup_error(error: PlonkError, srs: &Srs, circuit: Option<&FileName>) -> Error {
    Names { circuit, powers: Some(srs.get().name()), ..Names::default() }.plonk(error)
}

/// The values of a circuit's variables.
impl From<Circuit> for Witness {
    fn from(circuit: Circuit) -> Self {
        Self::from_values(circuit.values().to_vec())
    }
}

/// A verifying key: snarkjs's `verification_key.json`, the same for a wider arithmetisation, or the verifying key in a proving
/// key.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    key: proofmill_plonk::VerifyingKey,
    name: Option<FileName>,
}

impl VerifyingKey {
    /// Opens a verification key, or takes the one in a proving key; the file determines which.
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
        let name = Some(file.name().clone());
        let key = proofmill_plonk::VerifyingKey::read(current().level, file);
        let key = key.map_err(|error| Names { key: name.as_ref(), ..Names::default() }.plonk(error))?;
        Ok(Self { key, name })
    }

    pub(crate) fn of_text(text: &Text) -> Result<Self> {
        let names = Names { key: Some(text.name()), ..Names::default() };
        let key = proofmill_plonk::VerifyingKey::try_from(&AnyPlonkVerificationKey::of_text(text)?);
        Ok(Self { key: key.map_err(|error| names.malformed(error))?, name: Some(text.name().clone()) })
    }

    pub(crate) fn get(&self) -> &proofmill_plonk::VerifyingKey {
        &self.key
    }

    /// The verifying key in the bytes of either file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let key = proofmill_plonk::VerifyingKey::parse(current().level, "verification key", bytes);
        Ok(Self { key: key.map_err(|error| Names::default().plonk(error))?, name: None })
    }

    /// Parses the text of a verification key.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Self::from_bytes(text.as_ref().to_vec())
    }

    /// The JSON text of the key; for the standard arithmetisation, as snarkjs writes it.
    pub fn to_json(&self) -> String {
        self.key.text()
    }

    /// Writes the text to a file, completely or not at all.
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
        solidity::verifier(&self.key).map_err(|error| names.malformed(error))
    }

    /// Why anyone can forge proofs for this key, as far as the key shows it. `None` does not mean that nobody can: the secrets of a
    /// setup leave no trace.
    pub fn insecurity(&self) -> Option<&'static str> {
        self.key.insecurity()
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
        if self.key.system.is_standard() != proof.standard {
            let protocol = |standard| if standard { "plonk" } else { "proofmill-plonk" };
            let (expected, found) = (protocol(!proof.standard), protocol(proof.standard));
            let problem = format!("expected protocol {expected}, found {found}");
            return Err(Names::mismatch(names.proof, problem));
        }
        let verdict = proofmill_plonk::verify(current().level, &self.key, public, &proof.proof);
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
    proof: proofmill_plonk::Proof,
    /// Whether the arithmetisation is standard, and the text in snarkjs's format.
    standard: bool,
    public: PublicSignals,
    name: Option<FileName>,
}

impl Proof {
    /// Opens a `proof.json` of any arithmetisation, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a proof of PLONK over BN254.
    pub fn open(path: impl AsRef<Path>, public: impl Into<PublicSignals>) -> Result<Self> {
        let path = path.as_ref();
        Ok(Self::read(AnyPlonkProof::open(path)?, public.into(), Some(FileName::new(path))))
    }

    pub(crate) fn of_text(text: &Text, public: PublicSignals) -> Result<Self> {
        Ok(Self::read(AnyPlonkProof::of_text(text)?, public, Some(text.name().clone())))
    }

    pub(crate) fn is_standard(&self) -> bool {
        self.standard
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    /// Parses the text of a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>, public: impl Into<PublicSignals>) -> Result<Self> {
        Ok(Self::read(AnyPlonkProof::parse("proof", text.as_ref())?, public.into(), None))
    }

    fn read(file: AnyPlonkProof, public: PublicSignals, name: Option<FileName>) -> Self {
        let standard = matches!(file, AnyPlonkProof::Snarkjs(_));
        Self { proof: file.into(), standard, public, name }
    }

    /// Verifies the proof for its public signals.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a wrong proof; [`Error::Malformed`] for points outside their groups, or a number of points that
    /// the key's arithmetisation does not have; [`Error::Mismatch`] if the arithmetisation or the number of public signals is
    /// not the key's; [`Error::InsecureSetup`] for a key for which anyone can forge proofs.
    pub fn verify(&self, key: &VerifyingKey) -> Result<()> {
        key.verify(&self.public, self)
    }

    /// The public signals: outputs, then public inputs.
    pub fn public(&self) -> &PublicSignals {
        &self.public
    }

    /// The text of a `proof.json`, without the public signals; for the standard arithmetisation, as snarkjs writes it.
    pub fn to_json(&self) -> String {
        match self.proof.snarkjs().filter(|_| self.standard) {
            Some(file) => file.text(),
            None => CircuitProof::from(&self.proof).text(),
        }
    }

    /// Writes a `proof.json` and a `public.json`, both or neither.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, proof: impl AsRef<Path>, public: impl AsRef<Path>) -> Result<()> {
        let texts = [(proof.as_ref(), &*self.to_json()), (public.as_ref(), &*self.public.to_json())];
        Ok(write_texts(&texts)?)
    }

    /// The arguments of `verifyProof` in the contract of [`VerifyingKey::solidity_verifier`]: the proof and its public signals,
    /// as snarkjs prints them.
    pub fn solidity_calldata(&self) -> String {
        solidity::calldata(&self.proof, &self.public)
    }
}
