//! The proof systems of circom's circuits. Their common parts are written once, for any [`ProofSystem`].

mod any;
pub mod fflonk;
pub mod groth16;
mod key;
pub mod plonk;
mod proof;

pub(crate) use any::protocol_of;
pub use any::{AnyProof, AnyProvingKey, AnyVerifyingKey, System};
pub use key::{ProvingKey, VerifyingKey};
pub use proof::Proof;

use crate::{
    Result,
    circom::{CircomCurve, Description, MemoryBound, Ptau, R1cs, SetupSize, SetupSizes, count},
    error::Names,
    srs::Srs,
};
use proofmill_circom::{BinFile, CircomError, Text};
use proofmill_cpu::Level;
use proofmill_files::Target;
use proofmill_plonk::Commit;
use proofmill_run::{Classified, Run};
use std::{fmt::Debug, ops::Range, path::Path};

/// A proof system of circom's circuits: [`Groth16`](groth16::Groth16), [`Plonk`](plonk::Plonk) or [`Fflonk`](fflonk::Fflonk).
///
/// The hidden items are those that a system implements. [`ProvingKey`], [`VerifyingKey`] and [`Proof`] are what its users
/// call.
pub trait ProofSystem: Copy + Debug + Send + Sync + 'static {
    /// The curve, named by its first source group.
    type Curve: CircomCurve;
    /// The powers of tau of a setup.
    type Powers: SetupPowers;

    /// The name in the system's files.
    const NAME: &'static str;
    /// All names in its files: the wider arithmetisations of PLONK have another one.
    const PROTOCOLS: &'static [&'static str] = &[Self::NAME];
    /// The number of phases of a proof, approximately.
    const PROVE_PHASES: usize;
    /// The most bytes of a proof's text without white space, with a zero byte at its end.
    const LONGEST_PROOF: usize;

    #[doc(hidden)]
    type Key: Debug + Send + Sync;
    #[doc(hidden)]
    type VerifyingKey: Clone + Debug + PartialEq + Send + Sync;
    #[doc(hidden)]
    type Proof: Clone + Debug + Send + Sync;
    #[doc(hidden)]
    type Error: Classified;

    /// Writes the proving key of a circuit, as snarkjs does.
    #[doc(hidden)]
    fn setup(
        run: Run<'_>,
        circuit: &R1cs<SystemPrime<Self>>,
        powers: &Self::Powers,
        target: Target<'_>,
    ) -> Result<()>;

    /// The sizes that the setup of a circuit needs; `None` if the circuit is too large.
    #[doc(hidden)]
    fn setup_size(sizes: &SetupSizes) -> Option<SetupSize>;

    #[doc(hidden)]
    fn read(run: Run<'_>, file: BinFile) -> Result<Self::Key, Self::Error>;

    /// The bytes of the key's file.
    #[doc(hidden)]
    fn bytes(key: &Self::Key) -> &[u8];

    #[doc(hidden)]
    fn verifying_key(run: Run<'_>, key: &Self::Key) -> Result<Self::VerifyingKey, Self::Error>;

    /// The verifying key of a proving key's file, and why it is insecure.
    #[doc(hidden)]
    fn read_verifying_key(
        run: Run<'_>,
        file: BinFile,
    ) -> Result<(Self::VerifyingKey, Option<&'static str>), Self::Error> {
        let proving_key = Self::read(run, file)?;
        let key = Self::verifying_key(run, &proving_key)?;
        let insecurity = Self::insecurity(&key).or_else(|| Self::insecurity_of_contributions(&proving_key));
        Ok((key, insecurity))
    }

    #[doc(hidden)]
    fn verifying_key_of_text(text: &Text) -> Result<Self::VerifyingKey, Self::Error>;

    #[doc(hidden)]
    fn verifying_key_text(key: &Self::VerifyingKey) -> String;

    /// Why anyone can forge proofs, as far as a verifying key shows it.
    #[doc(hidden)]
    fn insecurity(key: &Self::VerifyingKey) -> Option<&'static str>;

    /// Why anyone can forge proofs, as far as the contributions in a proving key show it.
    #[doc(hidden)]
    fn insecurity_of_contributions(_key: &Self::Key) -> Option<&'static str> {
        None
    }

    #[doc(hidden)]
    fn public_signals(key: &Self::VerifyingKey) -> usize;

    /// The name in the files of this key and of its proofs.
    #[doc(hidden)]
    fn protocol(_key: &Self::VerifyingKey) -> &'static str {
        Self::NAME
    }

    /// The name in this proof's file.
    #[doc(hidden)]
    fn protocol_of_proof(_proof: &Self::Proof) -> &'static str {
        Self::NAME
    }

    /// A proof and its public signals. `check` says whether the witness is first checked row by row, if the system does that.
    #[doc(hidden)]
    fn prove(
        run: Run<'_>,
        key: &Self::Key,
        witness: &[SystemScalar<Self>],
        check: bool,
    ) -> Result<ProofWithSignals<Self>, Self::Error>;

    /// The number of points of the domain of the key with this description.
    #[doc(hidden)]
    fn domain(key: &Description, _verifying_key: &Self::VerifyingKey) -> u64 {
        count(key, "domain size")
    }

    /// A bound on the memory of a proof with the key of this description.
    #[doc(hidden)]
    fn memory_bound(key: &Description, verifying_key: &Self::VerifyingKey) -> MemoryBound;

    #[doc(hidden)]
    fn proof_of_text(text: &Text) -> Result<Self::Proof, CircomError>;

    #[doc(hidden)]
    fn proof_text(proof: &Self::Proof) -> String;

    #[doc(hidden)]
    fn verify(
        level: Level,
        key: &Self::VerifyingKey,
        public: &[SystemScalar<Self>],
        proof: &Self::Proof,
        names: &Names<'_>,
    ) -> Result<()>;

    /// The proofs that are not valid, by ascending index.
    #[doc(hidden)]
    fn find_invalid(
        level: Level,
        key: &VerifyingKey<Self>,
        proofs: &[&Proof<Self>],
    ) -> Result<Vec<(usize, crate::Error)>> {
        let verdict = |(index, proof): (usize, &&Proof<Self>)| {
            let verdict =
                key.in_batch(index, proof, |names| key.verdict(level, proof.public(), proof, names));
            verdict.err().map(|error| (index, error))
        };
        Ok(proofs.iter().enumerate().filter_map(verdict).collect())
    }
}

/// The prime of the field of a system's witnesses and public signals.
pub type SystemPrime<S> = <<S as ProofSystem>::Curve as CircomCurve>::ScalarPrime;

/// A value of a system's witnesses and public signals.
pub(crate) type SystemScalar<S> = proofmill_field::Fp<SystemPrime<S>>;

/// A proof as its system has it, and its public signals.
pub(crate) type ProofWithSignals<S> = (<S as ProofSystem>::Proof, Vec<SystemScalar<S>>);

/// A proof system with Solidity contracts that verify its proofs.
pub trait SolidityVerifier: ProofSystem {
    /// The gas for the execution of a contract, by the prices of EIP-1108: a constant part, and one for each public signal.
    const GAS: [u64; 2];

    #[doc(hidden)]
    fn contract(key: &Self::VerifyingKey, insecurity: Option<&'static str>) -> Result<String, Self::Error>;

    #[doc(hidden)]
    fn calldata(proof: &Self::Proof, public: &[SystemScalar<Self>]) -> String;
}

/// A proof system whose prover commits to polynomials with powers of tau (KZG).
pub trait PolynomialCommitments: ProofSystem {
    /// The place of the powers of tau in the key's bytes.
    #[doc(hidden)]
    fn powers(key: &Self::Key) -> Range<usize>;

    #[doc(hidden)]
    fn prove_with_commitments(
        run: Run<'_>,
        key: &Self::Key,
        witness: &[SystemScalar<Self>],
        commit: Commit<'_>,
    ) -> Result<ProofWithSignals<Self>, Self::Error>;
}

/// Powers of tau of a setup.
pub trait SetupPowers: Sized {
    /// Opens a file of powers.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) and [`Error::Malformed`](crate::Error::Malformed).
    fn open(path: &Path) -> Result<Self>;

    /// The powers in the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed).
    fn from_bytes(bytes: Vec<u8>) -> Result<Self>;

    /// Why someone may know tau, as far as the file shows it.
    fn insecurity(&self) -> Option<&'static str>;
}

impl<C: CircomCurve> SetupPowers for Ptau<C> {
    fn open(path: &Path) -> Result<Self> {
        Self::open_over(path)
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_bytes_over(bytes)
    }

    fn insecurity(&self) -> Option<&'static str> {
        self.insecurity()
    }
}

impl SetupPowers for Srs {
    fn open(path: &Path) -> Result<Self> {
        Self::open(path)
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_bytes(bytes)
    }

    fn insecurity(&self) -> Option<&'static str> {
        self.insecurity()
    }
}
