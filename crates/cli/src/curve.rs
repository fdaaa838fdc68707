//! The curve that a command works over: the one of its first file, or of snarkjs's argument.

use proofmill::circom::{PairingCurve, curve_of};
use std::path::Path;

/// The curve of a file; BN254 if it names none, because opening the file gives the error.
pub(crate) fn of(path: &Path) -> proofmill::Result<PairingCurve> {
    Ok(curve_of(path)?.unwrap_or(PairingCurve::Bn254))
}

/// The curve that snarkjs's argument names.
pub(crate) fn parse(text: &str) -> Result<PairingCurve, String> {
    let name: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    match name.to_ascii_lowercase().as_str() {
        "bn128" | "bn254" | "altbn128" => Ok(PairingCurve::Bn254),
        "bls12381" => Ok(PairingCurve::Bls12_381),
        _ => Err("expected bn128 or bls12381".to_owned()),
    }
}
