//! Keys of any proof system.

use super::{
    PolynomialCommitments, Proof, ProofSystem, ProofWithSignals, SolidityVerifier, SystemPrime, SystemScalar,
};
use crate::{
    Error, Result,
    circom::{PublicSignals, R1cs, Witness, in_memory},
    error::Names,
    machine::current,
};
use proofmill_circom::{BinFile, ContainerOrText, Text};
use proofmill_cpu::Level;
use proofmill_files::{FileName, Target, write_bytes, write_text};
use proofmill_plonk::Commit;
use proofmill_run::Run;
use std::{ops::Range, path::Path};

/// A proving key: a mapped `.zkey` of snarkjs, or a key of a wider arithmetisation of PLONK.
#[derive(Debug)]
pub struct ProvingKey<S: ProofSystem> {
    key: S::Key,
    verifying_key: VerifyingKey<S>,
}

impl<S: ProofSystem> ProvingKey<S> {
    /// Opens a key. For PLONK, [`MachineBuilder::memory`](crate::MachineBuilder::memory) sets how much of it is kept in memory.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a key of this proof system over its curve.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = BinFile::open(path.as_ref())?;
        let name = file.name().clone();
        Self::read(file, Some(name))
    }

    /// The key in the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::read(BinFile::from_bytes("proving key", bytes)?, None)
    }

    pub(crate) fn read(file: BinFile, name: Option<FileName>) -> Result<Self> {
        let machine = current();
        let named = |error| Names { key: name.as_ref(), ..Names::default() }.of(error);
        let proving_key = S::read(machine.run(), file).map_err(named)?;
        let key = S::verifying_key(machine.run(), &proving_key).map_err(named)?;
        let insecurity = S::insecurity(&key).or_else(|| S::insecurity_of_contributions(&proving_key));
        Ok(Self { key: proving_key, verifying_key: VerifyingKey { key, insecurity, name } })
    }

    /// Makes the key of a circuit in memory: the bytes of snarkjs's `setup`. PLONK's wider arithmetisations have
    /// [`setup_in`](Self::setup_in).
    ///
    /// Anyone can forge proofs for a key of Groth16 that was just made: [`Self::prove`] refuses it. Save it and contribute to it
    /// ([`ceremony`](crate::ceremony)) before use.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for powers of tau that are too few (fflonk needs `9 n + 18` for a domain of n points) or not prepared for
    /// phase 2, [`Error::Malformed`] for a circuit that cannot have such a key.
    pub fn setup(circuit: &R1cs<SystemPrime<S>>, powers: &S::Powers) -> Result<Self> {
        Self::from_bytes(in_memory(|target| S::setup(current().run(), circuit, powers, target))?)
    }

    /// [`Self::setup`] that writes the key to a file, completely or not at all, for keys larger than memory.
    ///
    /// # Errors
    /// As [`Self::setup`], and [`Error::Io`].
    pub fn write(path: impl AsRef<Path>, circuit: &R1cs<SystemPrime<S>>, powers: &S::Powers) -> Result<()> {
        S::setup(current().run(), circuit, powers, Target::File(path.as_ref()))
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        S::bytes(&self.key)
    }

    /// Writes the file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(write_bytes(path.as_ref(), self.as_bytes())?)
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.verifying_key.name.as_ref()
    }

    pub(crate) fn get(&self) -> &S::Key {
        &self.key
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> usize {
        self.verifying_key.public_signals()
    }

    /// Proves that the witness satisfies the circuit. PLONK and fflonk first check the witness row by row. The proof is blinded with the
    /// operating system's randomness, and verified before it is returned.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] for a witness that does not satisfy the circuit, with the first row that does not hold for PLONK and fflonk
    /// ([`R1cs::check`] finds the constraint); [`Error::Mismatch`] for a witness of another circuit, [`Error::Malformed`] for a damaged
    /// key, [`Error::InsecureSetup`] for a key for which anyone can forge proofs, [`Error::Io`] for a scratch folder that cannot be used,
    /// [`Error::System`] without randomness.
    pub fn prove(&self, witness: &Witness<SystemPrime<S>>) -> Result<Proof<S>> {
        self.finish(witness, |run| S::prove(run, &self.key, witness.values(), true))
    }

    /// [`Self::prove`] without the check of the witness, which takes PLONK and fflonk a few percent of the time. For a witness that does
    /// not satisfy the circuit, the error does not name the row.
    ///
    /// # Errors
    /// As [`Self::prove`].
    pub fn prove_unchecked(&self, witness: &Witness<SystemPrime<S>>) -> Result<Proof<S>> {
        self.finish(witness, |run| S::prove(run, &self.key, witness.values(), false))
    }

    /// The proof that `prove` makes of the witness, if the key may be used.
    pub(crate) fn finish(
        &self,
        witness: &Witness<SystemPrime<S>>,
        prove: impl FnOnce(Run<'_>) -> Result<ProofWithSignals<S>, S::Error>,
    ) -> Result<Proof<S>> {
        self.check_setup()?;
        let (proof, public) = prove(current().run()).map_err(|error| self.error(Some(witness), error))?;
        Ok(Proof::new(proof, public.into(), None))
    }

    /// An error of work with this key and a witness.
    pub(crate) fn error(&self, witness: Option<&Witness<SystemPrime<S>>>, error: S::Error) -> Error {
        let witness = witness.and_then(Witness::name);
        Names { key: self.name(), witness, ..Names::default() }.of(error)
    }

    /// Refuses a key for which anyone can forge proofs, or lets the machine warn of it.
    pub(crate) fn check_setup(&self) -> Result<()> {
        self.verifying_key.check_setup()
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> VerifyingKey<S> {
        self.verifying_key.clone()
    }
}

impl<S: PolynomialCommitments> ProvingKey<S> {
    /// [`Self::prove`] with commitments that `commit` makes, such as with several machines: the sums of the coefficients that it is given
    /// times the key's [`powers`](Self::powers), from the first on. The prover does not read the powers, and of the coefficients a
    /// commitment shows nothing that the proof does not. But they are as secret as the witness.
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
    pub fn prove_with_commitments(
        &self,
        witness: &Witness<SystemPrime<S>>,
        commit: Commit<'_>,
    ) -> Result<Proof<S>> {
        self.finish(witness, |run| S::prove_with_commitments(run, &self.key, witness.values(), commit))
    }

    /// The bytes of the file that hold the powers of tau, [`Powers::BYTES`](crate::srs::Powers::BYTES) each.
    pub fn powers(&self) -> Range<usize> {
        S::powers(&self.key)
    }
}

/// A verifying key: a `verification_key.json`, or the verifying key in a proving key.
#[derive(Clone, Debug)]
pub struct VerifyingKey<S: ProofSystem> {
    key: S::VerifyingKey,
    insecurity: Option<&'static str>,
    name: Option<FileName>,
}

impl<S: ProofSystem> VerifyingKey<S> {
    /// Opens a `verification_key.json`, or takes the verifying key of a proving key.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for a file that is neither.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::of(BinFile::open_or_text(path.as_ref())?)
    }

    /// The verifying key in the bytes of a `verification_key.json` or of a proving key.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::of(BinFile::from_bytes_or_text("verification key", bytes)?)
    }

    /// Parses the text of a `verification_key.json`.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Self::of_text(&Text::from_bytes("verification key", text.as_ref().to_vec()))
    }

    fn of(file: ContainerOrText) -> Result<Self> {
        match file {
            ContainerOrText::Container(file) => Self::of_container(file),
            ContainerOrText::Text(text) => Self::of_text(&text),
        }
    }

    pub(crate) fn of_container(file: BinFile) -> Result<Self> {
        let name = file.name().clone();
        let read = S::read_verifying_key(current().run(), file);
        let names = Names { key: Some(&name), ..Names::default() };
        let (key, insecurity) = read.map_err(|error| names.of(error))?;
        Ok(Self { key, insecurity, name: Some(name) })
    }

    pub(crate) fn of_text(text: &Text) -> Result<Self> {
        let name = text.name().clone();
        let names = Names { key: Some(&name), ..Names::default() };
        let key = S::verifying_key_of_text(text).map_err(|error| names.of(error))?;
        Ok(Self { insecurity: S::insecurity(&key), key, name: Some(name) })
    }

    /// The text of a `verification_key.json`, as snarkjs writes it.
    pub fn to_json(&self) -> String {
        S::verifying_key_text(&self.key)
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

    pub(crate) fn get(&self) -> &S::VerifyingKey {
        &self.key
    }

    /// The name in the key's file: that of the proof system, and `proofmill-plonk` for the wider arithmetisations of PLONK.
    pub fn protocol(&self) -> &'static str {
        S::protocol(&self.key)
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> usize {
        S::public_signals(&self.key)
    }

    /// Why anyone can forge proofs for this key, as far as the key shows it, or the list of contributions of the proving key that it was
    /// taken from. `None` does not mean that nobody can: the secrets of a setup leave no trace.
    pub fn insecurity(&self) -> Option<&'static str> {
        self.insecurity
    }

    /// Refuses a key for which anyone can forge proofs, or lets the machine warn of it.
    pub(crate) fn check_setup(&self) -> Result<()> {
        current().check_setup(self.name.as_ref(), self.insecurity)
    }

    /// Verifies the proof for these public signals, which replace those of the proof.
    ///
    /// # Errors
    /// As [`Proof::verify`].
    pub fn verify(&self, public: &PublicSignals<SystemPrime<S>>, proof: &Proof<S>) -> Result<()> {
        self.check_setup()?;
        let names = Names { public: public.name(), proof: proof.name(), ..self.names() };
        self.verdict(current().level, public, proof, &names)
    }

    pub(crate) fn verdict(
        &self,
        level: Level,
        public: &[SystemScalar<S>],
        proof: &Proof<S>,
        names: &Names<'_>,
    ) -> Result<()> {
        let (expected, found) = (self.protocol(), proof.protocol());
        if expected != found {
            let problem = format!("expected protocol {expected}, found {found}");
            return Err(Names::mismatch(names.proof, problem));
        }
        S::verify(level, &self.key, public, proof.get(), names)
    }

    /// Verifies proofs for their public signals. Groth16's take a fraction of the time of one after another; a batch with a wrong proof then
    /// passes with a probability of at most 2^-128.
    ///
    /// ```
    /// use proofmill::{circom::Witness, groth16::ProvingKey};
    ///
    /// # fn main() -> proofmill::Result<()> {
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
    /// # std::env::set_current_dir(folder).expect("the example");
    /// let (key, witness) = (ProvingKey::open("groth16.zkey")?, Witness::open("witness.wtns")?);
    /// let proofs = [key.prove(&witness)?, key.prove(&witness)?];
    /// key.verifying_key().verify_batch(&proofs)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of [`Proof::verify`] for the first proof that is not valid ([`Self::find_invalid`] returns all); [`Error::Malformed`] for an
    /// empty batch, which proves nothing; [`Error::System`] without randomness.
    pub fn verify_batch<'a>(&self, proofs: impl IntoIterator<Item = &'a Proof<S>>) -> Result<()> {
        let mut proofs = proofs.into_iter().peekable();
        if proofs.peek().is_none() {
            return Err(Error::malformed(None, "expected at least one proof in a batch, found none"));
        }
        self.find_invalid(proofs)?.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The indices of the proofs that are not valid for their public signals, ascending, each with the error of [`Proof::verify`]; none if
    /// all are valid.
    ///
    /// # Errors
    /// [`Error::Malformed`] and [`Error::InsecureSetup`] for the key, [`Error::System`] without randomness.
    pub fn find_invalid<'a>(
        &self,
        proofs: impl IntoIterator<Item = &'a Proof<S>>,
    ) -> Result<Vec<(usize, Error)>> {
        self.check_setup()?;
        S::find_invalid(current().level, self, &Vec::from_iter(proofs))
    }

    /// Calls `work` with the names of a proof in a batch: its number if it has none.
    pub(crate) fn in_batch<T>(
        &self,
        index: usize,
        proof: &Proof<S>,
        work: impl FnOnce(&Names<'_>) -> T,
    ) -> T {
        let place = FileName::new(format!("proof {index}").as_ref());
        let (public, name) = (proof.public().name(), proof.name());
        work(&Names { public: public.or(Some(&place)), proof: name.or(Some(&place)), ..self.names() })
    }

    pub(crate) fn names(&self) -> Names<'_> {
        Names { key: self.name.as_ref(), ..Names::default() }
    }
}

impl<S: SolidityVerifier> VerifyingKey<S> {
    /// A Solidity contract that verifies this key's proofs; see [`Proof::solidity_calldata`].
    ///
    /// # Errors
    /// [`Error::Malformed`] for a key that no circuit has, [`Error::InsecureSetup`] for one for which anyone can forge proofs.
    pub fn solidity_verifier(&self) -> Result<String> {
        self.check_setup()?;
        S::contract(&self.key, self.insecurity).map_err(|error| self.names().of(error))
    }
}

impl<S: ProofSystem> PartialEq for VerifyingKey<S> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<S: ProofSystem> Eq for VerifyingKey<S> {}

impl<S: ProofSystem> Proof<S> {
    /// Verifies the proof for its public signals.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a wrong proof; [`Error::Malformed`] for points outside
    /// their groups, or a number of points that PLONK's arithmetisation does not have; [`Error::Mismatch`] if the
    /// arithmetisation or the number of public signals is not the key's; [`Error::InsecureSetup`] for a key
    /// for which anyone can forge proofs.
    pub fn verify(&self, key: &VerifyingKey<S>) -> Result<()> {
        key.verify(self.public(), self)
    }
}
