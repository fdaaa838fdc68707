//! Groth16 (eprint 2016/260) over BN254, with the files of circom and snarkjs.
//!
//! ```
//! use proofmill::{circom::{PublicSignals, Witness}, groth16};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # std::env::set_current_dir(folder).expect("the example");
//! let key = groth16::ProvingKey::open("groth16.zkey")?;
//! let proof = key.prove(&Witness::open("witness.wtns")?)?;
//! proof.verify(&key.verifying_key())?;
//!
//! // The text that a verifier receives, and its verification.
//! let (proof, public) = (proof.to_json(), proof.public().to_json());
//! let key = groth16::VerifyingKey::open("groth16.vk.json")?;
//! groth16::Proof::from_json(proof, PublicSignals::from_json(public)?)?.verify(&key)?;
//! # Ok(())
//! # }
//! ```

use crate::{
    Error, Result,
    circom::{Ptau, PublicSignals, R1cs, Witness, in_memory},
    curve::{Affine, Curve, bn254},
    error::Names,
    machine::{Settings, current},
};
use proofmill_circom::{
    BinFile, ContainerOrText, FileKind, Groth16Proof, Groth16VerificationKey, Groth16Zkey, Text,
};
use proofmill_field::LANES;
use proofmill_files::{FileName, Target, write_bytes, write_text, write_texts};
use proofmill_groth16::{DividedQuotient as Steps, Groth16Error, Statement, solidity, verifying_key_text};
pub use proofmill_groth16::{Groth16Curve, Sums};
use std::{ops::Range, path::Path};
use zeroize::{Zeroize, Zeroizing};

/// A proving key: a mapped `.zkey` of snarkjs.
#[derive(Debug)]
pub struct ProvingKey<C: Groth16Curve = bn254::G1> {
    zkey: Groth16Zkey<C>,
    verifying_key: VerifyingKey<C>,
}

impl ProvingKey {
    /// Opens a `.zkey` file of BN254.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a key of Groth16 over BN254.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// The key in the bytes of a `.zkey` file.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_bytes_over(bytes)
    }
}

impl<C: Groth16Curve> ProvingKey<C> {
    /// Opens a `.zkey` file over any curve.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a key of Groth16 over this curve.
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(BinFile::open(path.as_ref())?, Some(FileName::new(path.as_ref())))
    }

    /// Writes the key as JSON, as `snarkjs zkey export json` does: everything but the contributions. Memory is bounded.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for a point off its curve.
    pub fn write_json(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(proofmill_circom::write_groth16_json(current().level, &self.zkey, path.as_ref())?)
    }

    fn from_bytes_over(bytes: Vec<u8>) -> Result<Self> {
        Self::read(BinFile::from_bytes("proving key", bytes)?, None)
    }

    pub(crate) fn read(file: BinFile, name: Option<FileName>) -> Result<Self> {
        let zkey = Groth16Zkey::read(file)?;
        let key = proofmill_groth16::verifying_key(current().level, &zkey);
        let key = key.map_err(|error| Names { key: name.as_ref(), ..Names::default() }.groth16(error))?;
        let of_contributions = proofmill_groth16::insecurity_of_contributions(&zkey);
        let insecurity = proofmill_groth16::insecurity(&key).or(of_contributions);
        Ok(Self { zkey, verifying_key: VerifyingKey { key, insecurity, name } })
    }

    /// Makes the key of a circuit in memory: the bytes of `snarkjs groth16 setup`.
    ///
    /// Anyone can forge proofs for this key: [`Self::prove`] refuses it. Save it and contribute to it ([`ceremony`](crate::ceremony))
    /// before use.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for powers of tau that are too few or not prepared for phase 2, [`Error::Malformed`] for a circuit
    /// that cannot have such a key.
    pub fn setup(circuit: &R1cs<C::ScalarPrime>, powers: &Ptau<C>) -> Result<Self> {
        Self::from_bytes_over(in_memory(|target| setup(circuit, powers, target))?)
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        self.zkey.file().bytes()
    }

    /// Writes the file, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_bytes(path.as_ref(), self.as_bytes()).map_err(Error::from)
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.verifying_key.name.as_ref()
    }

    pub(crate) fn get(&self) -> &Groth16Zkey<C> {
        &self.zkey
    }

    /// Refuses a key for which anyone can forge proofs, or lets the machine warn of it.
    pub(crate) fn check_setup(&self) -> Result<()> {
        self.verifying_key.check_setup()
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> u32 {
        self.zkey.header().public
    }

    /// Proves that the witness satisfies the circuit. The proof is blinded with the operating system's randomness, and verified
    /// before it is returned.
    ///
    /// # Errors
    /// [`Error::Unsatisfied`] for a witness that does not satisfy the circuit ([`R1cs::check`] finds the constraint),
    /// [`Error::Mismatch`] for one of another circuit, [`Error::Malformed`] for a damaged key, [`Error::InsecureSetup`] for a key
    /// to which nobody contributed, [`Error::System`] without randomness.
    pub fn prove(&self, witness: &Witness<C::ScalarPrime>) -> Result<Proof<C>> {
        self.finish(witness, |machine, _| {
            proofmill_groth16::prove(machine.run(), &self.zkey, witness.values())
        })
    }

    /// The number of wires: values of a witness, and points of each sum over wires.
    pub fn wires(&self) -> u32 {
        self.zkey.header().wires
    }

    /// The number of points of the domain: values of a quotient, a power of two.
    pub fn domain_size(&self) -> u32 {
        self.zkey.header().domain_size
    }

    /// Divides a proof among machines, step 1: the scalars of the points H, one for each point of the domain. Secret as the witness.
    ///
    /// ```
    /// use proofmill::{circom::Witness, groth16::{ProvingKey, Sums}};
    ///
    /// # fn main() -> proofmill::Result<()> {
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
    /// # std::env::set_current_dir(folder).expect("the example");
    /// let (key, witness) = (ProvingKey::open("groth16.zkey")?, Witness::open("witness.wtns")?);
    /// let quotient = key.quotient(&witness)?;
    /// let (first, second) = witness.values().split_at(10);
    /// // Each of these may be computed on another machine, and sent as bytes.
    /// let parts = [key.sum_wires(0, first)?, key.sum_wires(10, second)?, key.sum_quotient(0, &quotient)?];
    /// let proof = key.assemble(&witness, &parts.into_iter().sum::<Sums>())?;
    /// proof.verify(&key.verifying_key())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a witness of another circuit, [`Error::Malformed`] for a damaged key.
    pub fn quotient(&self, witness: &Witness<C::ScalarPrime>) -> Result<Zeroizing<Vec<C::Scalar>>> {
        let machine = current();
        let quotient = proofmill_groth16::quotient(machine.run(), &self.zkey, witness.values());
        quotient.map(Zeroizing::new).map_err(|error| self.names(Some(witness)).groth16(error))
    }

    /// The values of A and B times the witness on the domain, with which a [`DividedQuotient`] begins. Secret as the witness.
    ///
    /// # Errors
    /// As [`Self::quotient`].
    pub fn constraints(&self, witness: &Witness<C::ScalarPrime>) -> Result<[Zeroizing<Vec<C::Scalar>>; 2]> {
        let machine = current();
        let values = proofmill_groth16::constraints(machine.run(), &self.zkey, witness.values());
        values
            .map(|values| values.map(Zeroizing::new))
            .map_err(|error| self.names(Some(witness)).groth16(error))
    }

    /// Step 2: the sums of the wires from `first` on that have these values.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for more values than the key has wires, [`Error::Malformed`] for a damaged key.
    pub fn sum_wires(&self, first: usize, values: &[C::Scalar]) -> Result<Sums<C>> {
        let machine = current();
        let sums = Sums::of_wires(machine.run(), &self.zkey, first, values);
        sums.map_err(|error| self.names(None).groth16(error))
    }

    /// Step 2: the sum of the quotient's values from index `first` on.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for more values than the domain has points, [`Error::Malformed`] for a damaged key.
    pub fn sum_quotient(&self, first: usize, values: &[C::Scalar]) -> Result<Sums<C>> {
        let machine = current();
        let sums = Sums::of_quotient(machine.run(), &self.zkey, first, values);
        sums.map_err(|error| self.names(None).groth16(error))
    }

    /// Step 3: the proof, from the sums over all wires and the whole quotient. It is blinded with the operating system's randomness, and
    /// verified before it is returned. Of the witness only the public signals are used.
    ///
    /// # Errors
    /// As [`Self::prove`]; [`Error::Unsatisfied`] also for sums that are wrong or not complete.
    pub fn assemble(&self, witness: &Witness<C::ScalarPrime>, sums: &Sums<C>) -> Result<Proof<C>> {
        self.finish(witness, |machine, public| {
            proofmill_groth16::assemble(machine.run(), &self.zkey, public, sums)
        })
    }

    /// The proof that `prove` makes for these public signals.
    fn finish(
        &self,
        witness: &Witness<C::ScalarPrime>,
        prove: impl FnOnce(&Settings, &[C::Scalar]) -> std::result::Result<Groth16Proof<C>, Groth16Error>,
    ) -> Result<Proof<C>> {
        self.check_setup()?;
        let public = witness.values().get(1..=self.public_signals() as usize).unwrap_or_default();
        let proof = prove(&current(), public).map_err(|error| self.names(Some(witness)).groth16(error))?;
        Ok(Proof { proof, public: public.into(), name: None })
    }

    fn names<'a>(&'a self, witness: Option<&'a Witness<C::ScalarPrime>>) -> Names<'a> {
        Names { key: self.name(), witness: witness.and_then(Witness::name), ..Names::default() }
    }

    /// The bytes of the file that [`Self::sum_wires`] and [`Self::sum_quotient`] read for these wires and these points of the domain:
    /// ascending ranges. A file of the key's length with these bytes, and holes elsewhere, opens as a key for those sums.
    pub fn slice(&self, wires: Range<usize>, domain: Range<usize>) -> Vec<Range<usize>> {
        self.zkey.slice(wires, domain)
    }

    /// The verifying key.
    pub fn verifying_key(&self) -> VerifyingKey<C> {
        self.verifying_key.clone()
    }
}

/// The [quotient](ProvingKey::quotient), divided among machines in three steps of each, between which all send values to all.
///
/// The domain is a matrix of [`rows`](Self::rows) times [`columns`](Self::columns) points, stored row by row. A machine has a range of
/// the columns and one of the rows, whose bounds are multiples of [`LANES`](Self::LANES). It begins with its columns of
/// [`ProvingKey::constraints`]. Each step yields matrices; each machine is sent what is in its rows of them, and puts these pieces side
/// by side for its next step. After the last step, a machine's rows are a range of the quotient, for [`ProvingKey::sum_quotient`].
///
/// ```
/// use proofmill::{circom::Witness, groth16::{DividedQuotient, ProvingKey}};
///
/// # fn main() -> proofmill::Result<()> {
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
/// # std::env::set_current_dir(folder).expect("the example");
/// let (key, witness) = (ProvingKey::open("groth16.zkey")?, Witness::open("witness.wtns")?);
/// let steps = DividedQuotient::new(key.domain_size() as usize).expect("a domain of at least 64 points");
/// // One machine, which has all.
/// let (rows, columns) = (0..steps.rows(), 0..steps.columns());
/// let values = steps.interpolate(columns.clone(), key.constraints(&witness)?);
/// let values = steps.extend(rows, values);
/// assert_eq!(steps.finish(columns, values), key.quotient(&witness)?);
/// # Ok(())
/// # }
/// ```
///
/// All values are secret as the witness. Ranges and lengths that are not as described panic.
pub struct DividedQuotient<C: Groth16Curve = bn254::G1>(Steps<C>);

/// Field elements that are wiped.
type Secrets<C> = Zeroizing<Vec<<C as Curve>::Scalar>>;

impl DividedQuotient {
    /// What divides the bounds of ranges.
    pub const LANES: usize = LANES;

    /// For a domain of this many points, of a key over BN254. `None` if it is no power of two, less than 64, or larger than the field
    /// allows.
    pub fn new(points: usize) -> Option<Self> {
        Self::new_over(points)
    }
}

impl<C: Groth16Curve> DividedQuotient<C> {
    /// [`DividedQuotient::new`] over another curve.
    pub fn new_over(points: usize) -> Option<Self> {
        Steps::new(points).map(Self)
    }

    /// The number of rows of constraints and quotient.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The number of their columns.
    pub fn columns(&self) -> usize {
        self.0.columns()
    }

    /// Step 1: from these columns of the constraints to three matrices of `rows` times these columns.
    pub fn interpolate(&self, columns: Range<usize>, values: [Secrets<C>; 2]) -> [Secrets<C>; 3] {
        self.0.interpolate(current().level, columns, each(&values)).map(Zeroizing::new)
    }

    /// Step 2: from these rows of step 1's matrices to three matrices of `columns` times these rows, which are now columns.
    pub fn extend(&self, rows: Range<usize>, values: [Secrets<C>; 3]) -> [Secrets<C>; 3] {
        self.0.extend(current().level, rows, each(&values)).map(Zeroizing::new)
    }

    /// Step 3: from rows of step 2's matrices, those that have the numbers of these columns, to these columns of the quotient: a matrix of
    /// `rows` rows.
    pub fn finish(&self, columns: Range<usize>, values: [Secrets<C>; 3]) -> Secrets<C> {
        Zeroizing::new(self.0.finish(current().level, columns, each(&values)))
    }
}

fn each<T: Zeroize, const N: usize>(values: &[Zeroizing<Vec<T>>; N]) -> [&[T]; N] {
    values.each_ref().map(|values| values.as_slice())
}

/// [`ProvingKey::setup`] that writes the key to a file, completely or not at all, for keys larger than memory.
///
/// # Errors
/// As [`ProvingKey::setup`], and [`Error::Io`].
pub fn write_key<C: Groth16Curve>(
    path: impl AsRef<Path>,
    circuit: &R1cs<C::ScalarPrime>,
    powers: &Ptau<C>,
) -> Result<()> {
    setup(circuit, powers, Target::File(path.as_ref()))
}

fn setup<C: Groth16Curve>(
    circuit: &R1cs<C::ScalarPrime>,
    powers: &Ptau<C>,
    target: Target<'_>,
) -> Result<()> {
    let machine = current();
    let made = proofmill_groth16::setup(machine.run(), circuit.get(), powers.get(), target);
    let (circuit, powers) = (circuit.name(), Some(powers.get().file().name()));
    made.map_err(|error| Names { circuit, powers, ..Names::default() }.groth16(error))
}

/// A verifying key: snarkjs's `verification_key.json`, or the verifying key in a proving key.
#[derive(Clone, Debug)]
pub struct VerifyingKey<C: Groth16Curve = bn254::G1> {
    key: Groth16VerificationKey<C>,
    insecurity: Option<&'static str>,
    name: Option<FileName>,
}

impl VerifyingKey {
    /// Opens a `verification_key.json`, or takes the verifying key of a `.zkey`, of BN254.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for a file that is neither.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// The verifying key in the bytes of a `verification_key.json` or of a `.zkey`.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        match FileKind::of(&bytes) {
            Some(_) => Ok(ProvingKey::from_bytes(bytes)?.verifying_key),
            None => Self::from_json(bytes),
        }
    }

    /// Parses the text of a `verification_key.json`.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        Ok(Self::new(Groth16VerificationKey::parse("verification key", text.as_ref())?, None))
    }

    /// A Solidity contract that verifies this key's proofs; see [`Proof::solidity_calldata`].
    ///
    /// # Errors
    /// [`Error::InsecureSetup`] for a key for which anyone can forge proofs.
    pub fn solidity_verifier(&self) -> Result<String> {
        self.check_setup()?;
        Ok(solidity::verifier(&self.key, self.insecurity))
    }
}

impl<C: Groth16Curve> VerifyingKey<C> {
    /// A key without a list of contributions.
    fn new(key: Groth16VerificationKey<C>, name: Option<FileName>) -> Self {
        Self { insecurity: proofmill_groth16::insecurity(&key), key, name }
    }

    /// [`VerifyingKey::open`] over any curve.
    ///
    /// # Errors
    /// As there.
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        match BinFile::open_or_text(path.as_ref())? {
            ContainerOrText::Container(file) => Self::of_container(file),
            ContainerOrText::Text(text) => Self::of_text(&text),
        }
    }

    pub(crate) fn of_container(file: BinFile) -> Result<Self> {
        let name = file.name().clone();
        Ok(ProvingKey::<C>::read(file, Some(name))?.verifying_key)
    }

    pub(crate) fn of_text(text: &Text) -> Result<Self> {
        Ok(Self::new(Groth16VerificationKey::of_text(text)?, Some(text.name().clone())))
    }

    /// The text of a `verification_key.json`, as snarkjs writes it.
    pub fn to_json(&self) -> String {
        verifying_key_text(current().level, &self.key)
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

    pub(crate) fn get(&self) -> &Groth16VerificationKey<C> {
        &self.key
    }

    /// The number of public signals of a proof.
    pub fn public_signals(&self) -> usize {
        self.key.ic.len().saturating_sub(1)
    }

    /// Why anyone can forge proofs for this key, as far as the key shows it, or the list of contributions of the proving key that it was
    /// taken from. `None` does not mean that nobody can: the secrets of a setup leave no trace.
    pub fn insecurity(&self) -> Option<&'static str> {
        self.insecurity
    }

    fn check_setup(&self) -> Result<()> {
        current().check_setup(self.name.as_ref(), self.insecurity())
    }

    /// Verifies the proof for these public signals, which replace those of the proof.
    ///
    /// # Errors
    /// As [`Proof::verify`].
    pub fn verify(&self, public: &PublicSignals<C::ScalarPrime>, proof: &Proof<C>) -> Result<()> {
        self.check_setup()?;
        let names = Names { public: public.name(), proof: proof.name.as_ref(), ..self.names() };
        let verdict = proofmill_groth16::verify(current().level, &self.key, public, &proof.proof);
        verdict.map_err(|error: Groth16Error| names.groth16(error))
    }

    /// Verifies proofs for their public signals, with one product of pairings, which takes a fraction of the time of one after another.
    ///
    /// A batch with a wrong proof passes with a probability of at most 2^-128: the equations are multiplied by random factors of the
    /// operating system.
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
    pub fn verify_batch<'a>(&self, proofs: impl IntoIterator<Item = &'a Proof<C>>) -> Result<()> {
        let mut proofs = proofs.into_iter().peekable();
        if proofs.peek().is_none() {
            return Err(Error::malformed(None, "expected at least one proof in a batch, found none"));
        }
        self.find_invalid(proofs)?.into_iter().next().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The indices of the proofs that are not valid for their public signals, ascending, each with the error of [`Proof::verify`]; none if
    /// all are valid. Wrong proofs are found by bisection, so that few need few products of pairings.
    ///
    /// # Errors
    /// [`Error::Malformed`] and [`Error::InsecureSetup`] for the key, [`Error::System`] without randomness.
    pub fn find_invalid<'a>(
        &self,
        proofs: impl IntoIterator<Item = &'a Proof<C>>,
    ) -> Result<Vec<(usize, Error)>> {
        self.check_setup()?;
        let proofs: Vec<&Proof<C>> = proofs.into_iter().collect();
        let statement = |proof: &&'a Proof<C>| Statement { public: &proof.public, proof: &proof.proof };
        let statements: Vec<_> = proofs.iter().map(statement).collect();
        let invalid = proofmill_groth16::find_invalid(current().level, &self.key, &statements);
        let invalid = invalid.map_err(|error| self.names().groth16(error))?.into_iter();
        let named = invalid.filter_map(|(index, error)| {
            let (proof, place) = (proofs.get(index)?, FileName::new(format!("proof {index}").as_ref()));
            let (public, name) = (proof.public.name(), proof.name.as_ref());
            let names =
                Names { public: public.or(Some(&place)), proof: name.or(Some(&place)), ..self.names() };
            Some((index, names.groth16(error)))
        });
        Ok(named.collect())
    }

    fn names(&self) -> Names<'_> {
        Names { key: self.name.as_ref(), ..Names::default() }
    }
}

impl<C: Groth16Curve> PartialEq for VerifyingKey<C> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<C: Groth16Curve> Eq for VerifyingKey<C> {}

/// A proof and its public signals.
///
/// A verifier must know which signals to expect: an attacker chooses both a proof and its signals. Compare [`Self::public`]
/// with the expected signals, or pass the expected signals to [`Self::open`], [`Self::from_json`] or [`VerifyingKey::verify`].
#[derive(Clone, Debug)]
pub struct Proof<C: Groth16Curve = bn254::G1> {
    proof: Groth16Proof<C>,
    public: PublicSignals<C::ScalarPrime>,
    name: Option<FileName>,
}

impl Proof {
    /// Opens a `proof.json` of BN254, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a proof of Groth16 over BN254.
    pub fn open(path: impl AsRef<Path>, public: impl Into<PublicSignals>) -> Result<Self> {
        Self::open_over(path, public)
    }

    pub(crate) fn of_text(text: &Text, public: PublicSignals) -> Result<Self> {
        Ok(Self { proof: Groth16Proof::of_text(text)?, public, name: Some(text.name().clone()) })
    }

    /// Parses the text of a `proof.json`, as a proof for these public signals.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_json(text: impl AsRef<[u8]>, public: impl Into<PublicSignals>) -> Result<Self> {
        let proof = Groth16Proof::parse("proof", text.as_ref())?;
        Ok(Self { proof, public: public.into(), name: None })
    }

    /// The arguments of `verifyProof` in the contract of [`VerifyingKey::solidity_verifier`], and in snarkjs's: the proof and its
    /// public signals, as snarkjs prints them.
    pub fn solidity_calldata(&self) -> String {
        solidity::calldata(&self.proof, &self.public)
    }
}

impl<C: Groth16Curve> Proof<C> {
    /// [`Proof::open`] over any curve.
    ///
    /// # Errors
    /// As there.
    pub fn open_over(
        path: impl AsRef<Path>,
        public: impl Into<PublicSignals<C::ScalarPrime>>,
    ) -> Result<Self> {
        let path = path.as_ref();
        let proof = Groth16Proof::open(path)?;
        Ok(Self { proof, public: public.into(), name: Some(FileName::new(path)) })
    }

    pub(crate) fn name(&self) -> Option<&FileName> {
        self.name.as_ref()
    }

    /// Verifies the proof for its public signals.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a wrong proof; [`Error::Malformed`] for points outside their groups; [`Error::Mismatch`] if the
    /// number of public signals is not the key's; [`Error::InsecureSetup`] for a key for which anyone can forge proofs.
    pub fn verify(&self, key: &VerifyingKey<C>) -> Result<()> {
        key.verify(&self.public, self)
    }

    /// The public signals: outputs, then public inputs.
    pub fn public(&self) -> &PublicSignals<C::ScalarPrime> {
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

    /// The point A.
    pub fn a(&self) -> Affine<C> {
        self.proof.a
    }

    /// The point B.
    pub fn b(&self) -> Affine<C::G2> {
        self.proof.b
    }

    /// The point C.
    pub fn c(&self) -> Affine<C> {
        self.proof.c
    }
}
