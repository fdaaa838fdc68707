//! Keys in bellman's format of the second phase (kobigurk's phase2-bn254), for participants who use that program.

use super::{CeremonyCurve, Randomness, about, of_key, scratch};
use crate::{ProvingKey, Result, groth16::Groth16, machine::current};
use proofmill_ceremony::bellman;
use proofmill_files::FileName;
use std::path::Path;

/// Writes a key in bellman's format to a file, completely or not at all. Points H of a domain of more than 2^21 points are in a temporary
/// file in the machine's scratch folder, otherwise in that of `path`; memory is bounded.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Malformed`](crate::Error::Malformed) for a damaged key or one that was imported from JSON.
pub fn export<C: CeremonyCurve>(key: &ProvingKey<Groth16<C>>, path: impl AsRef<Path>) -> Result<()> {
    let (machine, path) = (current(), path.as_ref());
    let made = bellman::export(machine.run(), key.get(), path, &scratch(&machine, path));
    made.map_err(|error| of_key(key, error))
}

/// Writes bellman's parameters with one more contribution to a file, completely or not at all, and returns the contribution's hash, with
/// which its author finds it. Memory is bounded.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Malformed`](crate::Error::Malformed) for a file that has another format;
/// [`Error::System`](crate::Error::System) without randomness.
pub fn contribute<C: CeremonyCurve>(
    parameters: impl AsRef<Path>,
    path: impl AsRef<Path>,
    randomness: Randomness<'_>,
) -> Result<[u8; 64]> {
    let (machine, parameters) = (current(), parameters.as_ref());
    let made = bellman::contribute::<C>(machine.run(), parameters, path.as_ref(), randomness);
    made.map_err(|error| about(Some(&FileName::new(parameters)), error))
}

/// Writes a key with the contributions in bellman's parameters that were exported from it, completely or not at all, and returns the hashes of
/// all. `name` is that of the new ones. All contributions are verified, but not that the points H and L are the circuit's: use
/// [`verify`](super::verify). Otherwise as [`export`].
///
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Malformed`](crate::Error::Malformed) for a damaged key or parameters;
/// [`Error::Mismatch`](crate::Error::Mismatch) for parameters of another key or without a new contribution;
/// [`Error::Rejected`](crate::Error::Rejected) for a wrong contribution.
pub fn import<C: CeremonyCurve>(
    key: &ProvingKey<Groth16<C>>,
    parameters: impl AsRef<Path>,
    path: impl AsRef<Path>,
    name: Option<&str>,
) -> Result<Vec<[u8; 64]>> {
    let (machine, parameters, path) = (current(), parameters.as_ref(), path.as_ref());
    let folder = scratch(&machine, path);
    let made = bellman::import(machine.run(), key.get(), parameters, path, name, &folder);
    made.map_err(|error| about(Some(&FileName::new(parameters)), error))
}
