//! Descriptions of JSON files, recognised by their protocol and keys, and checked as their readers do.

use super::{
    CircuitProof, CircuitVerificationKey, FflonkProof, FflonkVerificationKey, Groth16Proof,
    Groth16VerificationKey, PlonkProof, PlonkVerificationKey, public_of, reader::Document,
};
use crate::{
    curve::{CircomCurve, PairingCurve},
    error::CircomError,
    over_curve,
};
use proofmill_curve::{bls12_381, bn254};
use serde::Serialize;
use std::path::Path;

/// The content of a JSON file of snarkjs's or of Proofmill's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonDescription {
    /// `proof`, `verification key` or `public signals`.
    pub kind: &'static str,
    /// The proof system; `None` for public signals.
    pub protocol: Option<String>,
    /// The curve's name.
    pub curve: &'static str,
    /// Names and values of counts.
    pub counts: Vec<(&'static str, u64)>,
}

/// Describes a proof, a verification key or public signals. Their points are checked to be on their curve, and numbers to be below
/// their modulus; a proof is not verified.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::JsonSyntax`], [`CircomError::JsonValue`], [`CircomError::Protocol`].
pub fn describe_json(path: &Path) -> Result<JsonDescription, CircomError> {
    let document = Document::open(path)?;
    let root = document.root();
    if let Ok(signals) = root.items() {
        let counts = vec![("public signals", signals.len() as u64)];
        // Signals name no curve. Those of larger numbers are none of BN254's.
        let curve = match public_of::<<bn254::G1 as CircomCurve>::ScalarPrime>(&document) {
            Ok(_) => bn254::G1::NAME,
            Err(error) => public_of::<<bls12_381::G1 as CircomCurve>::ScalarPrime>(&document)
                .map(|_| bls12_381::G1::NAME)
                .map_err(|_| error)?,
        };
        return Ok(JsonDescription { kind: "public signals", protocol: None, curve, counts });
    }
    let curve = document.curve().unwrap_or(PairingCurve::Bn254);
    let is_proof = ["pi_a", "eval_a", "evaluations"].iter().any(|key| root.key(key).is_ok());
    let counts = match (document.protocol(), is_proof) {
        (Some("groth16"), true) => {
            over_curve!(curve, C => Groth16Proof::<C>::read(&document).map(|_| Vec::new()))?
        }
        (Some("groth16"), false) => {
            let points = over_curve!(curve, C => Groth16VerificationKey::<C>::read(&document)?.ic.len());
            vec![("public signals", points.saturating_sub(1) as u64)]
        }
        (Some("plonk"), true) => PlonkProof::read(&document).map(|_| Vec::new())?,
        (Some("plonk"), false) => {
            let key = PlonkVerificationKey::read(&document)?;
            vec![("public signals", u64::from(key.public)), ("domain size", domain(key.power))]
        }
        (Some("proofmill-plonk"), true) => CircuitProof::read(&document).map(|_| Vec::new())?,
        (Some("proofmill-plonk"), false) => {
            let key = CircuitVerificationKey::read(&document)?;
            vec![("public signals", u64::from(key.public)), ("domain size", domain(key.power))]
        }
        (Some("fflonk"), true) => FflonkProof::read(&document).map(|_| Vec::new())?,
        (Some("fflonk"), false) => {
            let key = FflonkVerificationKey::read(&document)?;
            vec![("public signals", u64::from(key.public)), ("domain size", domain(key.power))]
        }
        _ => {
            let expected = "the protocol groth16, plonk, fflonk or proofmill-plonk";
            let found = document.protocol().map_or("none".to_owned(), |name| name.escape_debug().to_string());
            return Err(root.problem(format!("expected {expected}, found {found}")));
        }
    };
    Ok(JsonDescription {
        kind: if is_proof { "proof" } else { "verification key" },
        protocol: document.protocol().map(str::to_owned),
        curve: over_curve!(curve, C => C::NAME),
        counts,
    })
}

/// `2^power`, which wide keys do not bound.
fn domain(power: u32) -> u64 {
    1u64.checked_shl(power).unwrap_or(u64::MAX)
}
