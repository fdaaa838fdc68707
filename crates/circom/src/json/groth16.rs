//! Groth16's proof and verification key.

use super::{CURVE, Pair, Point1, Point2, pair, point1, point2, reader::Document, text_of};
use crate::error::CircomError;
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::bn254::Fq2;
use serde::Serialize;

const PROTOCOL: &str = "groth16";

/// A proof as read from its file: points are on their curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groth16Proof {
    /// `pi_a`.
    pub a: Affine<G1>,
    /// `pi_b`; not checked to be in the subgroup.
    pub b: Affine<G2>,
    /// `pi_c`.
    pub c: Affine<G1>,
}

/// A verification key as read from its file: points are on their curves; those of G2 are not checked to be in the subgroup. The
/// file's product of pairings (`vk_alphabeta_12`) is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groth16VerificationKey {
    /// alpha in G1.
    pub alpha_1: Affine<G1>,
    /// beta in G2.
    pub beta_2: Affine<G2>,
    /// gamma in G2.
    pub gamma_2: Affine<G2>,
    /// delta in G2.
    pub delta_2: Affine<G2>,
    /// One point for the constant, then one for each public signal.
    pub ic: Vec<Affine<G1>>,
}

#[derive(Serialize)]
struct ProofText {
    pi_a: Point1,
    pi_b: Point2,
    pi_c: Point1,
    protocol: &'static str,
    curve: &'static str,
}

#[derive(Serialize)]
struct KeyText {
    protocol: &'static str,
    curve: &'static str,
    #[serde(rename = "nPublic")]
    public: usize,
    vk_alpha_1: Point1,
    vk_beta_2: Point2,
    vk_gamma_2: Point2,
    vk_delta_2: Point2,
    vk_alphabeta_12: [[Pair; 3]; 2],
    #[serde(rename = "IC")]
    ic: Vec<Point1>,
}

document!(Groth16Proof);

impl Groth16Proof {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol(PROTOCOL)?;
        Ok(Self { a: root.key("pi_a")?.g1()?, b: root.key("pi_b")?.g2()?, c: root.key("pi_c")?.g1()? })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let (pi_a, pi_b, pi_c) = (point1(self.a), point2(self.b), point1(self.c));
        text_of(&ProofText { pi_a, pi_b, pi_c, protocol: PROTOCOL, curve: CURVE })
    }
}

document!(Groth16VerificationKey);

impl Groth16VerificationKey {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol(PROTOCOL)?;
        let public = root.key("nPublic")?.count()?;
        let ic = root.key("IC")?;
        let ic_points = ic.items()?;
        if ic_points.len() as u64 != u64::from(public) + 1 {
            let (expected, found) = (u64::from(public) + 1, ic_points.len());
            return Err(ic.problem(format!("expected {expected} points, found {found}")));
        }
        Ok(Self {
            alpha_1: root.key("vk_alpha_1")?.g1()?,
            beta_2: root.key("vk_beta_2")?.g2()?,
            gamma_2: root.key("vk_gamma_2")?.g2()?,
            delta_2: root.key("vk_delta_2")?.g2()?,
            ic: ic_points.iter().map(super::reader::Node::g1).collect::<Result<_, _>>()?,
        })
    }

    /// The text of the file. `alpha_beta` is e(alpha, beta) over w and then v: coefficient j of v in coefficient i of w is
    /// `alpha_beta[i][j]`.
    pub fn text(&self, alpha_beta: [[Fq2; 3]; 2]) -> String {
        text_of(&KeyText {
            protocol: PROTOCOL,
            curve: CURVE,
            public: self.ic.len().saturating_sub(1),
            vk_alpha_1: point1(self.alpha_1),
            vk_beta_2: point2(self.beta_2),
            vk_gamma_2: point2(self.gamma_2),
            vk_delta_2: point2(self.delta_2),
            vk_alphabeta_12: alpha_beta.map(|coefficients| coefficients.map(pair)),
            ic: self.ic.iter().copied().map(point1).collect(),
        })
    }
}
