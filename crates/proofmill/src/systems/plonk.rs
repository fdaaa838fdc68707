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

use super::{PolynomialCommitments, ProofSystem, ProofWithSignals, SolidityVerifier, SystemPrime};
use crate::{
    Error, Result,
    circom::{Description, MemoryBound, R1cs, SetupSize, SetupSizes, Witness, count, in_memory, sum, times},
    curve::bn254,
    error::Names,
    field::Fr,
    machine::current,
    srs::Srs,
};
use proofmill_circom::{AnyPlonkProof, AnyPlonkVerificationKey, BinFile, CircomError, CircuitProof, Text};
use proofmill_cpu::Level;
use proofmill_files::{FileName, Target};
pub use proofmill_plonk::{
    Arithmetisation, Bit, Circuit, Commit, GadgetReport, LookupArgument, MerkleNode, Multiples, Point,
    Report, Table, TableNumber, TableReport, Variable,
};
use proofmill_plonk::{Derivations, Layout, PlonkError, ProveOptions, r1cs, setup_circuit, solidity};
use proofmill_run::Run;
use std::{ops::Range, path::Path};

/// The proof system, in any arithmetisation.
#[derive(Clone, Copy, Debug)]
pub struct Plonk;

/// A proving key: snarkjs's `.zkey` of PLONK, or a key of a wider arithmetisation, which the file determines.
pub type ProvingKey = super::ProvingKey<Plonk>;

/// A verifying key: snarkjs's `verification_key.json`, the same for a wider arithmetisation, or the verifying key in a proving key.
pub type VerifyingKey = super::VerifyingKey<Plonk>;

/// A proof and its public signals.
pub type Proof = super::Proof<Plonk>;

/// The names in files.
const STANDARD: &str = Plonk::NAME;
const WIDE: &str = "proofmill-plonk";

impl ProofSystem for Plonk {
    type Curve = bn254::G1;
    type Powers = Srs;
    const NAME: &'static str = "plonk";
    const PROTOCOLS: &'static [&'static str] = &[STANDARD, WIDE];
    const PROVE_PHASES: usize = 15;
    // Of every arithmetisation.
    const LONGEST_PROOF: usize = 8192;
    type Key = proofmill_plonk::ProvingKey;
    type VerifyingKey = proofmill_plonk::VerifyingKey;
    type Proof = AnyPlonkProof;
    type Error = PlonkError;

    fn setup(
        _run: Run<'_>,
        circuit: &R1cs<SystemPrime<Self>>,
        powers: &Srs,
        target: Target<'_>,
    ) -> Result<()> {
        setup(circuit, powers, Arithmetisation::Standard, target)
    }

    fn setup_size(sizes: &SetupSizes) -> Option<SetupSize> {
        sizes.plonk
    }

    fn read(run: Run<'_>, file: BinFile) -> Result<Self::Key, PlonkError> {
        proofmill_plonk::ProvingKey::read(run, file)
    }

    fn bytes(key: &Self::Key) -> &[u8] {
        // Always present: keys of this crate are read from a file or its bytes.
        key.file().map(BinFile::bytes).unwrap_or_default()
    }

    fn verifying_key(_run: Run<'_>, key: &Self::Key) -> Result<Self::VerifyingKey, PlonkError> {
        Ok(key.verifying_key().clone())
    }

    fn read_verifying_key(
        run: Run<'_>,
        file: BinFile,
    ) -> Result<(Self::VerifyingKey, Option<&'static str>), PlonkError> {
        // The columns of a wide key are not read.
        let key = proofmill_plonk::VerifyingKey::read(run.level, file)?;
        let insecurity = key.insecurity();
        Ok((key, insecurity))
    }

    fn verifying_key_of_text(text: &Text) -> Result<Self::VerifyingKey, PlonkError> {
        Ok(proofmill_plonk::VerifyingKey::try_from(&AnyPlonkVerificationKey::of_text(text)?)?)
    }

    fn verifying_key_text(key: &Self::VerifyingKey) -> String {
        key.text()
    }

    fn insecurity(key: &Self::VerifyingKey) -> Option<&'static str> {
        key.insecurity()
    }

    fn public_signals(key: &Self::VerifyingKey) -> usize {
        key.public as usize
    }

    fn protocol(key: &Self::VerifyingKey) -> &'static str {
        if key.system.is_standard() { STANDARD } else { WIDE }
    }

    fn protocol_of_proof(proof: &AnyPlonkProof) -> &'static str {
        match proof {
            AnyPlonkProof::Snarkjs(_) => STANDARD,
            AnyPlonkProof::Circuit(_) => WIDE,
        }
    }

    fn prove(
        run: Run<'_>,
        key: &Self::Key,
        witness: &[Fr],
        check: bool,
    ) -> Result<ProofWithSignals<Self>, PlonkError> {
        let options = ProveOptions { check_witness: check };
        proofmill_plonk::prove(run, key, witness, options).map(|proven| in_format(key, proven))
    }

    fn domain(_key: &Description, verifying_key: &Self::VerifyingKey) -> u64 {
        1 << verifying_key.log_n
    }

    fn memory_bound(key: &Description, verifying_key: &Self::VerifyingKey) -> MemoryBound {
        let domain = Self::domain(key, verifying_key);
        if !verifying_key.system.is_standard() {
            return memory_bound_of_wide(domain, count(key, "variables"), &verifying_key.system);
        }
        // Coefficients of the witness's columns, four parts of the quotient, and the powers of tau. Of the key nothing is kept.
        memory_bound_of_gates(
            key,
            verifying_key.public,
            times(domain, 1_000),
            sum([MemoryBound::THREAD, times(domain, 64)]),
        )
    }

    fn proof_of_text(text: &Text) -> Result<Self::Proof, CircomError> {
        AnyPlonkProof::of_text(text)
    }

    fn proof_text(proof: &Self::Proof) -> String {
        match proof {
            AnyPlonkProof::Snarkjs(proof) => proof.text(),
            AnyPlonkProof::Circuit(proof) => proof.text(),
        }
    }

    fn verify(
        level: Level,
        key: &Self::VerifyingKey,
        public: &[Fr],
        proof: &Self::Proof,
        names: &Names<'_>,
    ) -> Result<()> {
        let verdict = proofmill_plonk::verify(level, key, public, &proof.clone().into());
        verdict.map_err(|error| names.of(error))
    }
}

impl SolidityVerifier for Plonk {
    const GAS: [u64; 2] = [246_400, 400];

    fn contract(key: &Self::VerifyingKey, _insecurity: Option<&'static str>) -> Result<String, PlonkError> {
        Ok(solidity::verifier(key)?)
    }

    fn calldata(proof: &Self::Proof, public: &[Fr]) -> String {
        solidity::calldata(&proof.clone().into(), public)
    }
}

impl PolynomialCommitments for Plonk {
    fn powers(key: &Self::Key) -> Range<usize> {
        // Always present: see `bytes`.
        key.powers().unwrap_or_default()
    }

    fn prove_with_commitments(
        run: Run<'_>,
        key: &Self::Key,
        witness: &[Fr],
        commit: Commit<'_>,
    ) -> Result<ProofWithSignals<Self>, PlonkError> {
        let options = ProveOptions::default();
        let proven = proofmill_plonk::prove_with_commitments(run, key, witness, options, commit)?;
        Ok(in_format(key, proven))
    }
}

/// Bytes of an addition of PLONK and fflonk in the files of snarkjs.
const ADDITION: u64 = 72;

/// The memory for a key of PLONK or fflonk in snarkjs's format, whose polynomials and sums take this much. The values of the witness, and
/// those that additions derive from them, are kept, too.
pub(super) fn memory_bound_of_gates(
    key: &Description,
    public: u32,
    polynomials: u64,
    per_thread: u64,
) -> MemoryBound {
    let additions = key.sections.iter().filter(|section| section.id == 3).map(|section| section.bytes);
    let values = count(key, "wires").saturating_add(additions.map(|bytes| bytes / ADDITION).sum());
    MemoryBound {
        memory: sum([MemoryBound::IDLE, polynomials, times(values, 34), times(public.into(), 200)]),
        per_thread,
        per_input_byte: 2,
        kept: 1 << 16,
    }
}

/// The memory for a key in one of Proofmill's own arithmetisations. Coefficients and values of all fixed columns stay in memory.
/// While the quotient is computed, their values on a coset, and those of the witness columns, come in addition.
fn memory_bound_of_wide(domain: u64, variables: u64, system: &proofmill_plonk::System) -> MemoryBound {
    let fixed = system.fixed().len() as u64;
    let lookups = if system.lookup().is_some() { 5 } else { 0 };
    let witness = u64::from(system.wires()) + 1 + lookups;
    let parts = system.parts() as u64;
    let kept = sum([times(domain, 64 * fixed + 64), times(variables, 8)]);
    let columns = times(domain, 32 * (fixed + 2 * witness + parts) + 128);
    MemoryBound {
        memory: sum([MemoryBound::IDLE, kept, columns, times(variables, 48)]),
        per_thread: sum([MemoryBound::THREAD, times(domain, 64)]),
        per_input_byte: 2,
        kept: sum([1 << 16, kept]),
    }
}

/// A proof in the format of the key's arithmetisation.
fn in_format(
    key: &proofmill_plonk::ProvingKey,
    (proof, public): (proofmill_plonk::Proof, Vec<Fr>),
) -> ProofWithSignals<Plonk> {
    let is_standard = key.verifying_key().system.is_standard();
    let proof = match proof.snarkjs().filter(|_| is_standard) {
        Some(proof) => AnyPlonkProof::Snarkjs(proof),
        None => AnyPlonkProof::Circuit(CircuitProof::from(&proof)),
    };
    (proof, public)
}

impl ProvingKey {
    /// [`setup`](Self::setup) in an arithmetisation: for [`Arithmetisation::Standard`] a key of snarkjs, which needs a `.ptau` prepared for
    /// phase 2; for the wider ones a key of Proofmill's own, which takes any reference string.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a reference string that is too short or of the wrong kind, [`Error::Malformed`] for a circuit
    /// that cannot have such a key.
    pub fn setup_in(circuit: &R1cs, srs: &Srs, arithmetisation: Arithmetisation) -> Result<Self> {
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
}

/// [`ProvingKey::setup_in`] that writes the key to a file, completely or not at all, for keys larger than memory.
///
/// # Errors
/// As [`ProvingKey::setup_in`], and [`Error::Io`].
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
        let layout = r1cs::layout(circuit.get(), arithmetisation).map_err(|error| names.of(error))?;
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
    Names { circuit, powers: Some(srs.get().name()), ..Names::default() }.of(error)
}

/// The values of a circuit's variables.
impl From<Circuit> for Witness {
    fn from(circuit: Circuit) -> Self {
        Self::from_values(circuit.values().to_vec())
    }
}
