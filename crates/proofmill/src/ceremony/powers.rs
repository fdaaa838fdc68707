//! The first phase: powers of tau, from their beginning to their verification. They serve any circuit up to their size, once they are
//! prepared for phase 2.
//!
//! ```
//! use proofmill::{ceremony::{Randomness, powers}, circom::Ptau, curve::bn254::G1};
//!
//! # fn main() -> proofmill::Result<()> {
//! # let folder = std::env::temp_dir().join(format!("proofmill-powers-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).expect("a folder");
//! # std::env::set_current_dir(&folder).expect("the folder");
//! powers::new::<G1>("0000.ptau", 3)?;
//! powers::contribute(&Ptau::open("0000.ptau")?, "0001.ptau", Some("Alice"), Randomness::System(b"typed at random"))?;
//! let contributions = powers::verify(&Ptau::open("0001.ptau")?)?;
//! assert_eq!(contributions[0].name.as_deref(), Some("Alice"));
//! # std::env::set_current_dir("/").expect("a folder");
//! # std::fs::remove_dir_all(&folder).expect("it is there");
//! # Ok(())
//! # }
//! ```

use super::{CeremonyCurve, Randomness, about, scratch};
use crate::{
    Error, Result,
    circom::{Contribution, Ptau},
    machine::current,
};
use proofmill_ceremony::{CeremonyError, powers};
use proofmill_files::FileName;
use std::{ops::Range, path::Path};

/// Writes powers of tau = 1, to which nobody contributed, to a file, completely or not at all: for circuits of up to `2^power` rows. Returns
/// the hash of the challenge to the first contributor.
///
/// # Errors
/// [`Error::Io`].
///
/// # Panics
/// If `power` is 0 or above 28.
pub fn new<C: CeremonyCurve>(path: impl AsRef<Path>, power: u32) -> Result<[u8; 64]> {
    let made = powers::new::<C>(path.as_ref(), power, current().progress());
    made.map_err(|error| about(None, error))
}

/// Writes the powers with one more contribution to a file, completely or not at all, and returns the hash of its response. `name` has at
/// most 255 bytes and is public. Lagrange polynomials are left out. Memory is bounded.
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for damaged powers, a name or a beacon that cannot be used; [`Error::Mismatch`] for a part of a
/// ceremony's powers; [`Error::System`] without randomness.
pub fn contribute<C: CeremonyCurve>(
    powers: &Ptau<C>,
    path: impl AsRef<Path>,
    name: Option<&str>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64]> {
    let (machine, path) = (current(), path.as_ref());
    let made = powers::contribute(machine.run(), powers.get(), path, name, randomness);
    made.map_err(|error| of(powers, error))
}

/// Verifies all contributions and all powers, and the Lagrange polynomials if there are any. Returns the contributions, with the hashes of their responses. The Lagrange
/// polynomials of 2^29 points, which only files of power 28 have, are not verified.
///
/// # Errors
/// [`Error::Rejected`] for wrong powers, and for ones to which nobody contributed, or only beacons; [`Error::Malformed`]; [`Error::System`] without
/// randomness.
pub fn verify<C: CeremonyCurve>(powers: &Ptau<C>) -> Result<Vec<Contribution>> {
    let machine = current();
    let hashes = powers::verify(machine.run(), powers.get());
    let hashes = hashes.map_err(|error| of(powers, error))?;
    let list = powers.get().decoded_contributions()?.into_iter().zip(hashes);
    let contribution = |(contribution, hash): (proofmill_circom::PtauContribution<C>, _)| {
        let proofmill_circom::PtauContribution { name, beacon, .. } = contribution;
        Contribution { name, beacon, hash }
    };
    Ok(list.map(contribution).collect())
}

/// Writes the challenge to the next contributor to a file, completely or not at all, and returns its hash.
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for damaged powers; [`Error::Mismatch`] for a part of a ceremony's powers; [`Error::Rejected`] if the
/// hash is not the one in the file.
pub fn export_challenge<C: CeremonyCurve>(powers: &Ptau<C>, path: impl AsRef<Path>) -> Result<[u8; 64]> {
    let (machine, path) = (current(), path.as_ref());
    let made = powers::export_challenge(machine.run(), powers.get(), path);
    made.map_err(|error| of(powers, error))
}

/// Writes a response to a challenge to a file, completely or not at all, and returns its hash.
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for a file that is no challenge; [`Error::System`] without randomness.
pub fn contribute_to_challenge<C: CeremonyCurve>(
    challenge: impl AsRef<Path>,
    path: impl AsRef<Path>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64]> {
    let (machine, challenge, path) = (current(), challenge.as_ref(), path.as_ref());
    let made = powers::contribute_to_challenge::<C>(machine.run(), challenge, path, randomness);
    made.map_err(|error| about(Some(&FileName::new(challenge)), error))
}

/// Writes the powers of a response to the challenge of `powers` to a file, completely or not at all, and returns the response's hash. The proofs
/// of knowledge are verified, the powers are not: use [`verify`].
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for damaged files; [`Error::Mismatch`] for a response to another challenge or a part of a ceremony's
/// powers; [`Error::Rejected`] for wrong proofs.
pub fn import_response<C: CeremonyCurve>(
    powers: &Ptau<C>,
    response: impl AsRef<Path>,
    path: impl AsRef<Path>,
    name: Option<&str>,
) -> Result<[u8; 64]> {
    let (machine, response, path) = (current(), response.as_ref(), path.as_ref());
    let made = powers::import_response(machine.run(), powers.get(), response, path, name);
    made.map_err(|error| about(Some(&FileName::new(response)), error))
}

/// Writes the powers, and the Lagrange polynomials of all domains that setup needs, to a file, completely or not at all. Domains of more than
/// 2^21 points are in temporary files in the machine's scratch folder, otherwise in that of `path`; memory is bounded.
///
/// The powers are not verified: use [`verify`].
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for damaged powers.
pub fn prepare<C: CeremonyCurve>(powers: &Ptau<C>, path: impl AsRef<Path>) -> Result<()> {
    let (machine, path) = (current(), path.as_ref());
    let made = powers::prepare(machine.run(), powers.get(), path, &scratch(&machine, path));
    made.map_err(|error| of(powers, error))
}

/// Writes powers that snarkjs prepared before version 0.3 to a new file, with the Lagrange polynomials that PLONK's setup needs. Otherwise as
/// [`prepare`].
///
/// # Errors
/// As [`prepare`], and [`Error::Mismatch`] for powers that are not prepared.
pub fn convert<C: CeremonyCurve>(powers: &Ptau<C>, path: impl AsRef<Path>) -> Result<()> {
    let (machine, path) = (current(), path.as_ref());
    let made = powers::convert(machine.run(), powers.get(), path, &scratch(&machine, path));
    made.map_err(|error| of(powers, error))
}

/// The powers that [`truncate`] accepts: 1 to one less than the file's.
pub fn truncated_powers<C: CeremonyCurve>(powers: &Ptau<C>) -> Range<u32> {
    powers::truncated_powers(powers.get())
}

/// Writes the part of prepared powers for circuits of up to `2^power` rows to a file, completely or not at all.
///
/// # Errors
/// [`Error::Io`]; [`Error::Malformed`] for damaged powers; [`Error::Mismatch`] for powers that are not prepared.
///
/// # Panics
/// If `power` is not one of [`truncated_powers`].
pub fn truncate<C: CeremonyCurve>(powers: &Ptau<C>, power: u32, path: impl AsRef<Path>) -> Result<()> {
    powers::truncate(powers.get(), power, path.as_ref()).map_err(|error| of(powers, error))
}

fn of<C: CeremonyCurve>(powers: &Ptau<C>, error: CeremonyError) -> Error {
    about(Some(powers.get().file().name()), error)
}
