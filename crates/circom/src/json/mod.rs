//! snarkjs's JSON files: proofs, public signals, verification keys.
//!
//! Numbers are strings of decimal digits, below their modulus. A point of G1 is `[x, y, z]`, one of G2 `[[x0, x1], [y0, y1],
//! [z0, z1]]`, with z = 1; infinity is (0, 1, 0). Points are checked to be on their curve; the verifier checks whether those of
//! G2 are in the subgroup. Lines are indented by one space, as `JSON.stringify(value, null, 1)` does, so that files are byte
//! for byte snarkjs's.

/// Defines `open` and `parse` for a type with `read`.
macro_rules! document {
    ($type:ty) => {
        impl $type {
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

use crate::{binfile::Text, error::CircomError};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field,
    bn254::{Fq2, Fr},
};
use reader::Document;
pub(crate) use reader::LARGEST as LARGEST_JSON;
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::path::Path;

/// snarkjs's name for BN254.
const CURVE: &str = "bn128";

type Scalar = String;
type Point1 = [String; 3];
type Pair = [String; 2];
type Point2 = [Pair; 3];

/// Reads a list of public signals, each below the modulus.
///
/// # Errors
/// [`CircomError::Io`], [`CircomError::JsonSyntax`], [`CircomError::JsonValue`].
pub fn read_public(path: &Path) -> Result<Vec<Fr>, CircomError> {
    public_of(&Document::open(path)?)
}

/// [`read_public`] of a text in memory; `name` stands for it in messages.
///
/// # Errors
/// As [`read_public`], without [`CircomError::Io`].
pub fn parse_public(name: &str, text: &[u8]) -> Result<Vec<Fr>, CircomError> {
    public_of(&Document::parse(name, text)?)
}

fn public_of(document: &Document) -> Result<Vec<Fr>, CircomError> {
    document.root().items()?.iter().map(reader::Node::scalar).collect()
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
}

/// The text of a `public.json`, as snarkjs writes it.
pub fn public_text(signals: &[Fr]) -> String {
    text_of(&signals.iter().map(Fr::to_string).collect::<Vec<_>>())
}

fn text_of(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(b" "));
    // Serialising strings to memory does not fail.
    let written = value.serialize(&mut serializer);
    debug_assert!(written.is_ok());
    String::from_utf8_lossy(&text).into_owned()
}

fn pair(value: Fq2) -> Pair {
    [value.c0.to_string(), value.c1.to_string()]
}

fn point1(point: Affine<G1>) -> Point1 {
    if point.is_infinity() {
        return ["0", "1", "0"].map(str::to_owned);
    }
    [point.x.to_string(), point.y.to_string(), "1".to_owned()]
}

fn point2(point: Affine<G2>) -> Point2 {
    let zero = || pair(Fq2::ZERO);
    let one = || pair(Fq2::ONE);
    if point.is_infinity() {
        return [zero(), one(), zero()];
    }
    [pair(point.x), pair(point.y), one()]
}
