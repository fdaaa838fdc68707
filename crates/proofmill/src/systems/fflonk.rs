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

use super::{
    PolynomialCommitments, ProofSystem, ProofWithSignals, SolidityVerifier, SystemPrime,
    plonk::memory_bound_of_gates,
};
use crate::{
    Result,
    circom::{Description, MemoryBound, Ptau, R1cs, SetupSize, SetupSizes, sum, times},
    curve::bn254,
    error::Names,
    field::Fr,
};
use proofmill_circom::{BinFile, CircomError, Text};
use proofmill_cpu::Level;
use proofmill_files::Target;
pub use proofmill_plonk::Commit;
use proofmill_plonk::{PlonkError, ProveOptions, fflonk};
use proofmill_run::Run;
use std::{ops::Range, path::Path};

/// The proof system.
#[derive(Clone, Copy, Debug)]
pub struct Fflonk;

/// A proving key: snarkjs's `.zkey` of fflonk, mapped.
pub type ProvingKey = super::ProvingKey<Fflonk>;

/// A verifying key: snarkjs's `verification_key.json`, or the verifying key in a proving key.
pub type VerifyingKey = super::VerifyingKey<Fflonk>;

/// A proof and its public signals.
pub type Proof = super::Proof<Fflonk>;

impl ProofSystem for Fflonk {
    type Curve = bn254::G1;
    type Powers = Ptau;
    const NAME: &'static str = "fflonk";
    const PROVE_PHASES: usize = 15;
    const LONGEST_PROOF: usize = 4096;
    type Key = fflonk::ProvingKey;
    type VerifyingKey = fflonk::VerifyingKey;
    type Proof = fflonk::Proof;
    type Error = PlonkError;

    fn setup(
        run: Run<'_>,
        circuit: &R1cs<SystemPrime<Self>>,
        powers: &Ptau,
        target: Target<'_>,
    ) -> Result<()> {
        let made = fflonk::setup(run, circuit.get(), powers.get(), target);
        let (circuit, powers) = (circuit.name(), Some(powers.get().file().name()));
        made.map_err(|error| Names { circuit, powers, ..Names::default() }.of(error))
    }

    fn setup_size(sizes: &SetupSizes) -> Option<SetupSize> {
        sizes.fflonk
    }

    fn read(run: Run<'_>, file: BinFile) -> Result<Self::Key, PlonkError> {
        Ok(fflonk::ProvingKey::read(file)?.with_scratch(run.scratch.map(Path::to_owned)))
    }

    fn bytes(key: &Self::Key) -> &[u8] {
        // Always present: keys of this crate are read from a file or its bytes.
        key.file().map(BinFile::bytes).unwrap_or_default()
    }

    fn verifying_key(_run: Run<'_>, key: &Self::Key) -> Result<Self::VerifyingKey, PlonkError> {
        Ok(key.verifying_key().clone())
    }

    fn verifying_key_of_text(text: &Text) -> Result<Self::VerifyingKey, PlonkError> {
        Ok(fflonk::VerifyingKey::of_text(text)?)
    }

    fn verifying_key_text(key: &Self::VerifyingKey) -> String {
        key.text()
    }

    fn insecurity(key: &Self::VerifyingKey) -> Option<&'static str> {
        fflonk::insecurity(key)
    }

    fn public_signals(key: &Self::VerifyingKey) -> usize {
        key.public as usize
    }

    fn prove(
        run: Run<'_>,
        key: &Self::Key,
        witness: &[Fr],
        check: bool,
    ) -> Result<ProofWithSignals<Self>, PlonkError> {
        fflonk::prove(run, key, witness, ProveOptions { check_witness: check })
    }

    /// Polynomials are up to nine times as long as the domain, and so are the sums. A further thread was measured to take up to 3.2 MiB at
    /// 2^12 points.
    fn memory_bound(key: &Description, verifying_key: &Self::VerifyingKey) -> MemoryBound {
        let domain = Self::domain(key, verifying_key);
        let per_thread = sum([2 * MemoryBound::THREAD, times(domain, 208)]);
        memory_bound_of_gates(key, verifying_key.public, times(domain, 3_250), per_thread)
    }

    fn proof_of_text(text: &Text) -> Result<Self::Proof, CircomError> {
        fflonk::Proof::of_text(text)
    }

    fn proof_text(proof: &Self::Proof) -> String {
        proof.text()
    }

    fn verify(
        level: Level,
        key: &Self::VerifyingKey,
        public: &[Fr],
        proof: &Self::Proof,
        names: &Names<'_>,
    ) -> Result<()> {
        fflonk::verify(level, key, public, proof).map_err(|error| names.of(error))
    }
}

impl SolidityVerifier for Fflonk {
    const GAS: [u64; 2] = [152_050, 400];

    fn contract(key: &Self::VerifyingKey, _insecurity: Option<&'static str>) -> Result<String, PlonkError> {
        Ok(fflonk::solidity::verifier(key)?)
    }

    fn calldata(proof: &Self::Proof, public: &[Fr]) -> String {
        fflonk::solidity::calldata(proof, public)
    }
}

impl PolynomialCommitments for Fflonk {
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
        fflonk::prove_with_commitments(run, key, witness, ProveOptions::default(), commit)
    }
}
