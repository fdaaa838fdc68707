//! The ceremonies of Groth16, with snarkjs's files: [`powers`] of tau, then the second phase, which is a key's: contributions, beacons and
//! their verification.
//!
//! ```
//! use proofmill::{ceremony::{self, Randomness}, circom::{Ptau, R1cs}, groth16::ProvingKey};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/membership-small");
//! # let folder = std::env::temp_dir().join(format!("proofmill-ceremony-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).expect("a folder");
//! # std::env::set_current_dir(&folder).expect("the folder");
//! # for name in ["circuit.r1cs", "pot8.ptau"] {
//! #     std::fs::copy(std::path::Path::new(example).join(name), name).expect("a file");
//! # }
//! let (circuit, powers) = (R1cs::open("circuit.r1cs")?, Ptau::open("pot8.ptau")?);
//! let initial = ProvingKey::setup(&circuit, &powers)?;
//! ceremony::contribute(&initial, "circuit.zkey", Some("Alice"), Randomness::System(b"typed at random"))?;
//! let key = ProvingKey::open("circuit.zkey")?;
//! assert_eq!(ceremony::verify(&key, &initial)?.len(), 1);
//! # std::env::set_current_dir("/").expect("a folder");
//! # std::fs::remove_dir_all(&folder).expect("it is there");
//! # Ok(())
//! # }
//! ```

pub mod bellman;
pub mod powers;

use crate::{
    Error, ProvingKey, Result,
    circom::{Contribution, Ptau, R1cs},
    error::Names,
    groth16::Groth16,
    machine::{MachineSettings, current},
};
use proofmill_ceremony::CeremonyError;
pub use proofmill_ceremony::{CeremonyCurve, Randomness};
use proofmill_files::{FileName, Target, folder_of};
use std::path::{Path, PathBuf};

/// Writes the key with one more contribution to a file, completely or not at all. Returns the contribution's hash, by which its author finds
/// it in the last key. `name` has at most 255 bytes and is public; nothing binds it. Memory is bounded.
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for a damaged key, one that was imported from JSON, a name or a beacon that cannot be used;
/// [`Error::System`] without randomness.
pub fn contribute<C: CeremonyCurve>(
    key: &ProvingKey<Groth16<C>>,
    path: impl AsRef<Path>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64]> {
    contribute_to(key, path.as_ref().into(), name, randomness)
}

/// [`contribute`] that returns the bytes of the new key, and the contribution's hash.
///
/// # Errors
/// As [`contribute`].
pub fn contribute_in_memory<C: CeremonyCurve>(
    key: &ProvingKey<Groth16<C>>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<(Vec<u8>, [u8; 64])> {
    let mut bytes = Vec::new();
    let hash = contribute_to(key, Target::Memory(&mut bytes), name, randomness)?;
    Ok((bytes, hash))
}

fn contribute_to<C: CeremonyCurve>(
    key: &ProvingKey<Groth16<C>>,
    target: Target<'_>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64]> {
    let machine = current();
    let made = proofmill_ceremony::contribute(machine.run(), key.get(), target, name, randomness);
    made.map_err(|error| of_key(key, error))
}

/// Verifies a key against the one that setup has made of its circuit: all contributions, and all that they must have left as it was. The list
/// of contributions is returned.
///
/// # Errors
/// [`Error::Rejected`] for a wrong contribution or a key that is not this one's; [`Error::InsecureSetup`] for a right one to which nobody
/// contributed, or only beacons; [`Error::Mismatch`] if the initial key is not one that setup has just made; [`Error::Malformed`].
pub fn verify<C: CeremonyCurve>(
    key: &ProvingKey<Groth16<C>>,
    initial: &ProvingKey<Groth16<C>>,
) -> Result<Vec<Contribution>> {
    let verified = proofmill_ceremony::verify::key(current().level, key.get(), initial.get());
    verified.map_err(|error| of_key(key, error))?;
    key.check_setup()?;
    let all = key.get().decoded_contributions()?;
    Ok(all.into_iter().flat_map(|all| all.list).map(Contribution::from).collect())
}

/// [`verify`] for a circuit and powers of tau: setup makes the initial key in memory. The powers are taken as they are
/// ([`powers::verify`]).
///
/// # Errors
/// As [`verify`] and [`ProvingKey::setup`]; [`Error::InsecureSetup`] also for powers to which nobody contributed, or only beacons.
pub fn verify_for_circuit<C: CeremonyCurve>(
    key: &ProvingKey<Groth16<C>>,
    circuit: &R1cs<C::ScalarPrime>,
    powers: &Ptau<C>,
) -> Result<Vec<Contribution>> {
    let verified = verify(key, &ProvingKey::setup(circuit, powers)?)?;
    current().check_setup(key.name(), powers.insecurity())?;
    Ok(verified)
}

/// Makes sure that an initial key has these powers of tau, which must be prepared for phase 2. Points that depend on the circuit are not
/// checked.
///
/// # Errors
/// [`Error::Rejected`] for other powers; [`Error::InsecureSetup`] for the right ones to which nobody contributed, or only beacons;
/// [`Error::Malformed`].
pub fn verify_powers<C: CeremonyCurve>(initial: &ProvingKey<Groth16<C>>, powers: &Ptau<C>) -> Result<()> {
    let verified = proofmill_ceremony::verify::powers(current().level, initial.get(), powers.get());
    verified.map_err(|error| of_key(initial, error))?;
    current().check_setup(initial.name(), powers.insecurity())
}

/// The folder of large transforms whose result goes to `path`.
fn scratch(machine: &MachineSettings, path: &Path) -> PathBuf {
    machine.scratch.clone().unwrap_or_else(|| folder_of(path).to_owned())
}

fn of_key<C: CeremonyCurve>(key: &ProvingKey<Groth16<C>>, error: CeremonyError) -> Error {
    about(key.name(), error)
}

fn about(name: Option<&FileName>, error: CeremonyError) -> Error {
    Names { key: name, ..Names::default() }.of(error)
}
