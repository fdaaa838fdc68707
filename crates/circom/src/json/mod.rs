//! snarkjs's JSON files: proofs, public signals, verification keys.
//!
//! Numbers are strings of decimal digits, below their modulus. A point of G1 is `[x, y, z]`, one of G2 `[[x0, x1], [y0, y1],
//! [z0, z1]]`, with z = 1; infinity is (0, 1, 0). Points are checked to be on their curve; the verifier checks whether those of
//! G2 are in the subgroup. Lines are indented by one space, as `JSON.stringify(value, null, 1)` does, so that files are byte
//! for byte snarkjs's.

/// Defines `open` and `parse` for a type with `read`.
macro_rules! document {
    ($type:ty $(, $curve:ident)?) => {
        impl$(<$curve: $crate::CircomCurve>)? $type {
            /// Reads a file.
            ///
            /// # Errors
            /// [`CircomError::Io`], [`CircomError::JsonSyntax`], [`CircomError::JsonValue`],
            /// [`CircomError::Protocol`].
            pub fn open(path: &std::path::Path) -> Result<Self, CircomError> {
                Self::read(&Document::open(path)?)
            }

            /// [`Self::open`] of a text in memory; `name` stands for it in messages.
            ///
            /// # Errors
            /// As [`Self::open`], without [`CircomError::Io`].
            pub fn parse(name: &str, text: &[u8]) -> Result<Self, CircomError> {
                Self::read(&Document::parse(name, text)?)
            }

            /// [`Self::open`] of a text that [`BinFile::open_or_text`] read.
            ///
            /// # Errors
            /// As [`Self::open`], without [`CircomError::Io`].
            ///
            /// [`BinFile::open_or_text`]: crate::BinFile::open_or_text
            pub fn of_text(text: &crate::Text) -> Result<Self, CircomError> {
                Self::read(&Document::from_text(text.name.clone(), &text.bytes)?)
            }
        }
    };
}

mod circuit;
mod describe;
mod export;
mod fflonk;
mod groth16;
mod plonk;
mod reader;
mod stream;

pub use circuit::{AnyPlonkProof, AnyPlonkVerificationKey, CircuitProof, CircuitVerificationKey};
pub use describe::{JsonDescription, describe_json};
pub use export::{write_groth16_json, write_ptau_json, write_r1cs_json, write_witness_json};
pub use fflonk::{FflonkProof, FflonkVerificationKey};
pub use groth16::{Groth16Proof, Groth16VerificationKey};
pub use plonk::{PlonkProof, PlonkVerificationKey};

use crate::decode::{Coordinate, ScalarPrime};
use crate::{binfile::Text, curve::PairingCurve, error::CircomError};
use proofmill_curve::{Affine, Curve};
use proofmill_field::{Field, Fp};
use reader::Document;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::path::Path;

/// snarkjs's name for BN254.
const CURVE: &str = <proofmill_curve::bn254::G1 as crate::CircomCurve>::SNARKJS;

type Scalar = String;
type Point = [Coefficients; 3];

/// A coordinate: a number, or a list with a number for each coefficient of the field.
#[derive(Serialize)]
#[serde(untagged)]
enum Coefficients {
    One(String),
    Several(Vec<String>),
}

/// Reads a list of public signals, each below the modulus.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::JsonSyntax`], [`CircomError::JsonValue`].
pub fn read_public<P: ScalarPrime>(path: &Path) -> Result<Vec<Fp<P>>, CircomError> {
    public_of(&Document::open(path)?)
}

/// [`read_public`] of a text in memory; `name` stands for it in messages.
///
/// # Errors
/// As [`read_public`], without [`CircomError::Io`].
pub fn parse_public<P: ScalarPrime>(name: &str, text: &[u8]) -> Result<Vec<Fp<P>>, CircomError> {
    public_of(&Document::parse(name, text)?)
}

fn public_of<P: ScalarPrime>(document: &Document) -> Result<Vec<Fp<P>>, CircomError> {
    document.root().items()?.iter().map(reader::JsonNode::scalar).collect()
}

impl Text {
    /// The protocol that a proof or verification key in JSON names; `None` for other JSON. Nothing else is checked.
    ///
    /// # Errors
    /// [`CircomError::JsonSyntax`], [`CircomError::JsonValue`] for a text that is too long.
    pub fn protocol(&self) -> Result<Option<String>, CircomError> {
        let document = Document::from_text(self.name.clone(), &self.bytes)?;
        Ok(document.protocol().map(str::to_owned))
    }

    /// The curve that a proof or verification key in JSON names; `None` without one. Nothing else is checked.
    ///
    /// # Errors
    /// [`CircomError::JsonSyntax`], [`CircomError::JsonValue`] for a text that is too long.
    pub fn curve(&self) -> Result<Option<PairingCurve>, CircomError> {
        let document = Document::from_text(self.name.clone(), &self.bytes)?;
        Ok(document.curve())
    }
}

/// The text of a `public.json`, as snarkjs writes it.
pub fn public_text<P: ScalarPrime>(signals: &[Fp<P>]) -> String {
    text_of(&signals.iter().map(Fp::to_string).collect::<Vec<_>>())
}

fn text_of(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b" "));
    // Serialising strings to memory does not fail.
    let written = value.serialize(&mut serializer);
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&text).into_owned()
}

fn coordinate<F: Coordinate>(value: F) -> Coefficients {
    let mut coefficients = value.to_decimal();
    match (coefficients.pop(), coefficients.is_empty()) {
        (Some(only), true) => Coefficients::One(only),
        (last, _) => {
            coefficients.extend(last);
            Coefficients::Several(coefficients)
        }
    }
}

fn point<C: Curve<Base: Coordinate>>(point: Affine<C>) -> Point {
    let (zero, one) = (C::Base::ZERO, C::Base::ONE);
    let coordinates = if point.is_infinity() { [zero, one, zero] } else { [point.x, point.y, one] };
    coordinates.map(coordinate)
}
