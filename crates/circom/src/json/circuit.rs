//! Proofs and verification keys of circuits in Proofmill's own arithmetisations, in a format like snarkjs's.

use super::{
    CURVE, PlonkProof, PlonkVerificationKey, Point, Scalar, point,
    reader::{Document, JsonNode},
    text_of,
};
use crate::error::CircomError;
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fr;
use serde::Serialize;
use std::ops::Not;

const PROTOCOL: &str = "proofmill-plonk";

/// A proof as read from its file: points are on their curve; their numbers are not checked against a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitProof {
    /// Commitments to the columns of the witness, by round.
    pub commitments: [Vec<Affine<G1>>; 3],
    /// Commitments to the parts of the quotient.
    pub quotient: Vec<Affine<G1>>,
    /// Values of the opened cells.
    pub evaluations: Vec<Fr>,
    /// The proofs of the openings at xi and at xi omega.
    pub openings: [Affine<G1>; 2],
}

/// A verification key as read from its file: points are on their curves; names are not interpreted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitVerificationKey {
    /// Wires of a row.
    pub wires: u32,
    /// The names of the gates.
    pub gates: Vec<String>,
    /// The name of the lookup argument; empty without lookups.
    pub lookup: String,
    /// The names of the fixed columns.
    pub columns: Vec<String>,
    /// Public inputs.
    pub public: u32,
    /// The domain has size `2^power`.
    pub power: u32,
    /// Commitments to the fixed columns, then to the permutation's column of each wire.
    pub commitments: Vec<Affine<G1>>,
    /// tau in G2; not checked to be in the subgroup.
    pub x_2: Affine<G2>,
    /// `insecureSetup`: nobody contributed to the powers of tau, or only beacons did; in the file only if true.
    pub insecure_setup: bool,
}

/// A proof of PLONK in any arithmetisation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum AnyPlonkProof {
    /// In snarkjs's arithmetisation.
    Snarkjs(PlonkProof),
    /// In one of Proofmill's own.
    Circuit(CircuitProof),
}

/// A verification key of PLONK in any arithmetisation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a program reads one")]
pub enum AnyPlonkVerificationKey {
    /// In snarkjs's arithmetisation.
    Snarkjs(PlonkVerificationKey),
    /// In one of Proofmill's own.
    Circuit(CircuitVerificationKey),
}

#[derive(Serialize)]
struct ProofText {
    protocol: &'static str,
    curve: &'static str,
    commitments: [Vec<Point>; 3],
    quotient: Vec<Point>,
    evaluations: Vec<Scalar>,
    openings: [Point; 2],
}

#[derive(Serialize)]
struct KeyText<'a> {
    protocol: &'static str,
    curve: &'static str,
    #[serde(rename = "nPublic")]
    public: u32,
    power: u32,
    wires: u32,
    gates: &'a [String],
    lookup: &'a str,
    columns: &'a [String],
    commitments: Vec<Point>,
    #[serde(rename = "X_2")]
    x_2: Point,
    #[serde(rename = "insecureSetup", skip_serializing_if = "Not::not")]
    insecure_setup: bool,
}

/// The root of a document of Proofmill's own, which must name its curve.
fn root(document: &Document) -> Result<JsonNode<'_>, CircomError> {
    let root = document.of_protocol::<G1>(PROTOCOL)?;
    root.key("curve")?;
    Ok(root)
}

fn points(node: &JsonNode<'_>) -> Result<Vec<Affine<G1>>, CircomError> {
    node.items()?.iter().map(JsonNode::point).collect()
}

fn names(node: &JsonNode<'_>) -> Result<Vec<String>, CircomError> {
    node.items()?.iter().map(|name| name.text().map(str::to_owned)).collect()
}

document!(CircuitProof);

impl CircuitProof {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = root(document)?;
        let [first, second, third] = root.key("commitments")?.tuple()?;
        let [at_xi, at_next] = root.key("openings")?.tuple()?;
        Ok(Self {
            commitments: [points(&first)?, points(&second)?, points(&third)?],
            quotient: points(&root.key("quotient")?)?,
            evaluations: root
                .key("evaluations")?
                .items()?
                .iter()
                .map(JsonNode::scalar)
                .collect::<Result<_, _>>()?,
            openings: [at_xi.point()?, at_next.point()?],
        })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let texts = |points: &Vec<Affine<G1>>| points.iter().copied().map(point).collect::<Vec<_>>();
        text_of(&ProofText {
            protocol: PROTOCOL,
            curve: CURVE,
            commitments: self.commitments.each_ref().map(texts),
            quotient: texts(&self.quotient),
            evaluations: self.evaluations.iter().map(Fr::to_string).collect(),
            openings: self.openings.map(point),
        })
    }
}

document!(CircuitVerificationKey);

impl CircuitVerificationKey {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = root(document)?;
        Ok(Self {
            wires: root.key("wires")?.count()?,
            gates: names(&root.key("gates")?)?,
            lookup: root.key("lookup")?.text()?.to_owned(),
            columns: names(&root.key("columns")?)?,
            public: root.key("nPublic")?.count()?,
            power: root.key("power")?.count()?,
            commitments: points(&root.key("commitments")?)?,
            x_2: root.key("X_2")?.point()?,
            insecure_setup: root.insecure_setup()?,
        })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        text_of(&KeyText {
            protocol: PROTOCOL,
            curve: CURVE,
            public: self.public,
            power: self.power,
            wires: self.wires,
            gates: &self.gates,
            lookup: &self.lookup,
            columns: &self.columns,
            commitments: self.commitments.iter().copied().map(point).collect(),
            x_2: point(self.x_2),
            insecure_setup: self.insecure_setup,
        })
    }
}

document!(AnyPlonkVerificationKey);

impl AnyPlonkVerificationKey {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        if document.protocol() == Some(PROTOCOL) {
            return CircuitVerificationKey::read(document).map(Self::Circuit);
        }
        PlonkVerificationKey::read(document).map(Self::Snarkjs)
    }
}

document!(AnyPlonkProof);

impl AnyPlonkProof {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        if document.protocol() == Some(PROTOCOL) {
            return CircuitProof::read(document).map(Self::Circuit);
        }
        PlonkProof::read(document).map(Self::Snarkjs)
    }
}
