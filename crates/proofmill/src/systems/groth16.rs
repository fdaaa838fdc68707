//! Groth16 (eprint 2016/260) over BN254 and BLS12-381, with the files of circom and snarkjs.
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

use super::{ProofSystem, ProofWithSignals, SolidityVerifier, SystemScalar};
use crate::{
    Error, Result,
    circom::{Description, MemoryBound, Ptau, R1cs, SetupSize, SetupSizes, Witness, count, sum, times},
    curve::{Affine, Curve, bn254},
    error::Names,
    machine::current,
};
use proofmill_circom::{BinFile, CircomError, Groth16Proof, Groth16VerificationKey, Groth16Zkey, Text};
use proofmill_cpu::Level;
use proofmill_field::LANES;
use proofmill_files::Target;
use proofmill_groth16::{DividedQuotient as Steps, Groth16Error, Statement, solidity, verifying_key_text};
pub use proofmill_groth16::{Groth16Curve, Sums};
use proofmill_run::Run;
use std::{marker::PhantomData, ops::Range, path::Path};
use zeroize::{Zeroize, Zeroizing};

/// The proof system, over a curve.
#[derive(Clone, Copy, Debug)]
pub struct Groth16<C = bn254::G1>(PhantomData<C>);

/// A proving key over BN254: a mapped `.zkey` of snarkjs. Of other curves: `proofmill::ProvingKey<Groth16<C>>`.
pub type ProvingKey = super::ProvingKey<Groth16>;

/// A verifying key over BN254: snarkjs's `verification_key.json`, or the verifying key in a proving key.
pub type VerifyingKey = super::VerifyingKey<Groth16>;

/// A proof over BN254 and its public signals.
pub type Proof = super::Proof<Groth16>;

impl<C: Groth16Curve> ProofSystem for Groth16<C> {
    type Curve = C;
    type Powers = Ptau<C>;
    const NAME: &'static str = "groth16";
    const PROVE_PHASES: usize = 10;
    // rapidsnark's, which programs may have copied.
    const LONGEST_PROOF: usize = 810;
    type Key = Groth16Zkey<C>;
    type VerifyingKey = Groth16VerificationKey<C>;
    type Proof = Groth16Proof<C>;
    type Error = Groth16Error;

    fn setup(
        run: Run<'_>,
        circuit: &R1cs<C::ScalarPrime>,
        powers: &Ptau<C>,
        target: Target<'_>,
    ) -> Result<()> {
        let made = proofmill_groth16::setup(run, circuit.get(), powers.get(), target);
        let (circuit, powers) = (circuit.name(), Some(powers.get().file().name()));
        made.map_err(|error| Names { circuit, powers, ..Names::default() }.of(error))
    }

    fn setup_size(sizes: &SetupSizes) -> Option<SetupSize> {
        Some(sizes.groth16)
    }

    fn read(_run: Run<'_>, file: BinFile) -> Result<Self::Key, Groth16Error> {
        Ok(Groth16Zkey::read(file)?)
    }

    fn bytes(key: &Self::Key) -> &[u8] {
        key.file().bytes()
    }

    fn verifying_key(run: Run<'_>, key: &Self::Key) -> Result<Self::VerifyingKey, Groth16Error> {
        proofmill_groth16::verifying_key(run.level, key)
    }

    fn verifying_key_of_text(text: &Text) -> Result<Self::VerifyingKey, Groth16Error> {
        Ok(Groth16VerificationKey::of_text(text)?)
    }

    fn verifying_key_text(key: &Self::VerifyingKey) -> String {
        verifying_key_text(current().level, key)
    }

    fn insecurity(key: &Self::VerifyingKey) -> Option<&'static str> {
        proofmill_groth16::insecurity(key)
    }

    fn insecurity_of_contributions(key: &Self::Key) -> Option<&'static str> {
        proofmill_groth16::insecurity_of_contributions(key)
    }

    fn public_signals(key: &Self::VerifyingKey) -> usize {
        key.ic.len().saturating_sub(1)
    }

    fn prove(
        run: Run<'_>,
        key: &Self::Key,
        witness: &[SystemScalar<Self>],
        _check: bool,
    ) -> Result<ProofWithSignals<Self>, Groth16Error> {
        let proof = proofmill_groth16::prove(run, key, witness)?;
        Ok((proof, public_signals(key, witness).to_vec()))
    }

    /// The quotient's three vectors and the sum over H come first, then the sums over the witness. The one on G2 is the largest. A sum of n
    /// points takes about 150 n bytes on G1 and 250 n on G2, scalars included, and up to 72 n more for each further thread.
    fn memory_bound(key: &Description, verifying_key: &Self::VerifyingKey) -> MemoryBound {
        let (domain, wires) = (Self::domain(key, verifying_key), count(key, "wires"));
        let quotient = sum([times(domain, 184), times(wires, 34)]);
        let signals = times(Self::public_signals(verifying_key) as u64, 200);
        MemoryBound {
            memory: sum([MemoryBound::IDLE, quotient.max(times(wires, 250)), signals]),
            per_thread: sum([MemoryBound::THREAD, times(domain.max(wires), 72)]),
            per_input_byte: 2,
            kept: sum([1 << 16, signals]),
        }
    }

    fn proof_of_text(text: &Text) -> Result<Self::Proof, CircomError> {
        Groth16Proof::of_text(text)
    }

    fn proof_text(proof: &Self::Proof) -> String {
        proof.text()
    }

    fn verify(
        level: Level,
        key: &Self::VerifyingKey,
        public: &[SystemScalar<Self>],
        proof: &Self::Proof,
        names: &Names<'_>,
    ) -> Result<()> {
        let verdict = proofmill_groth16::verify(level, key, public, proof);
        verdict.map_err(|error: Groth16Error| names.of(error))
    }

    /// Verifies with one product of pairings, in a fraction of the time of single verifications. A batch with a wrong proof passes with
    /// a probability of at most 2^-128: the equations are multiplied by random factors of the operating system. Wrong proofs are found
    /// by bisection, so that few need few products.
    fn find_invalid(
        level: Level,
        key: &super::VerifyingKey<Self>,
        proofs: &[&super::Proof<Self>],
    ) -> Result<Vec<(usize, Error)>> {
        let statements: Vec<_> =
            proofs.iter().map(|proof| Statement { public: proof.public(), proof: proof.get() }).collect();
        let invalid = proofmill_groth16::find_invalid(level, key.get(), &statements);
        let invalid = invalid.map_err(|error| key.names().of(error))?.into_iter();
        let named = |(index, error): (usize, Groth16Error)| {
            let proof = proofs.get(index)?;
            Some((index, key.in_batch(index, proof, |names| names.of(error))))
        };
        Ok(invalid.filter_map(named).collect())
    }
}

impl SolidityVerifier for Groth16 {
    const GAS: [u64; 2] = [181_900, 6_515];

    fn contract(key: &Self::VerifyingKey, insecurity: Option<&'static str>) -> Result<String, Groth16Error> {
        Ok(solidity::verifier(key, insecurity))
    }

    fn calldata(proof: &Self::Proof, public: &[SystemScalar<Self>]) -> String {
        solidity::calldata(proof, public)
    }
}

/// The public signals among the values of a witness.
fn public_signals<'a, C: Groth16Curve>(key: &Groth16Zkey<C>, witness: &'a [C::Scalar]) -> &'a [C::Scalar] {
    witness.get(1..=key.header().public as usize).unwrap_or_default()
}

impl<C: Groth16Curve> super::ProvingKey<Groth16<C>> {
    /// Writes the key as JSON, as `snarkjs zkey export json` does: everything but the contributions. Memory is bounded.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for a point off its curve.
    pub fn write_json(&self, path: impl AsRef<Path>) -> Result<()> {
        Ok(proofmill_circom::write_groth16_json(current().level, self.get(), path.as_ref())?)
    }

    /// The number of wires: values of a witness, and points of each sum over wires.
    pub fn wires(&self) -> u32 {
        self.get().header().wires
    }

    /// The number of points of the domain: values of a quotient, a power of two.
    pub fn domain_size(&self) -> u32 {
        self.get().header().domain_size
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
        let quotient = proofmill_groth16::quotient(machine.run(), self.get(), witness.values());
        quotient.map(Zeroizing::new).map_err(|error| self.error(Some(witness), error))
    }

    /// The values of A and B times the witness on the domain, with which a [`DividedQuotient`] begins. Secret as the witness.
    ///
    /// # Errors
    /// As [`Self::quotient`].
    pub fn constraints(&self, witness: &Witness<C::ScalarPrime>) -> Result<[Zeroizing<Vec<C::Scalar>>; 2]> {
        let machine = current();
        let values = proofmill_groth16::constraints(machine.run(), self.get(), witness.values());
        values.map(|values| values.map(Zeroizing::new)).map_err(|error| self.error(Some(witness), error))
    }

    /// Step 2: the sums of the wires from `first` on that have these values.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for more values than the key has wires, [`Error::Malformed`] for a damaged key.
    pub fn sum_wires(&self, first: usize, values: &[C::Scalar]) -> Result<Sums<C>> {
        let machine = current();
        let sums = Sums::of_wires(machine.run(), self.get(), first, values);
        sums.map_err(|error| self.error(None, error))
    }

    /// Step 2: the sum of the quotient's values from index `first` on.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for more values than the domain has points, [`Error::Malformed`] for a damaged key.
    pub fn sum_quotient(&self, first: usize, values: &[C::Scalar]) -> Result<Sums<C>> {
        let machine = current();
        let sums = Sums::of_quotient(machine.run(), self.get(), first, values);
        sums.map_err(|error| self.error(None, error))
    }

    /// Step 3: the proof, from the sums over all wires and the whole quotient. It is blinded with the operating system's randomness, and
    /// verified before it is returned. Only the public signals of the witness are used.
    ///
    /// # Errors
    /// As [`Self::prove`]; [`Error::Unsatisfied`] also for sums that are wrong or not complete.
    pub fn assemble(
        &self,
        witness: &Witness<C::ScalarPrime>,
        sums: &Sums<C>,
    ) -> Result<super::Proof<Groth16<C>>> {
        self.finish(witness, |run| {
            let public = public_signals(self.get(), witness.values());
            Ok((proofmill_groth16::assemble(run, self.get(), public, sums)?, public.to_vec()))
        })
    }

    /// The bytes of the file that [`Self::sum_wires`] and [`Self::sum_quotient`] read for these wires and these points of the domain:
    /// ascending ranges. A file of the key's length with these bytes, and holes elsewhere, opens as a key for those sums.
    pub fn slice(&self, wires: Range<usize>, domain: Range<usize>) -> Vec<Range<usize>> {
        self.get().slice(wires, domain)
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
    /// The bounds of ranges are multiples of this.
    pub const LANES: usize = LANES;

    /// The divided quotient for a domain of this many points, of a key over BN254. `None` if it is no power of two, less than 64, or
    /// larger than the field allows.
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

impl<C: Groth16Curve> super::Proof<Groth16<C>> {
    /// The point A.
    pub fn a(&self) -> Affine<C> {
        self.get().a
    }

    /// The point B.
    pub fn b(&self) -> Affine<C::G2> {
        self.get().b
    }

    /// The point C.
    pub fn c(&self) -> Affine<C> {
        self.get().c
    }
}
