//! Groth16's proof and verification key.

use super::{Coefficients, Point, coordinate, point, reader::Document, text_of};
use crate::{curve::CircomCurve, error::CircomError};
use proofmill_curve::{Affine, Curve, bn254::G1};
use serde::Serialize;

const PROTOCOL: &str = "groth16";

/// A proof as read from its file: points are on their curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groth16Proof<C: CircomCurve = G1> {
    /// `pi_a`.
    pub a: Affine<C>,
    /// `pi_b`; not checked to be in the subgroup.
    pub b: Affine<C::G2>,
    /// `pi_c`.
    pub c: Affine<C>,
}

/// A verification key as read from its file: points are on their curves; those of G2 are not checked to be in the subgroup. The
/// file's product of pairings (`vk_alphabeta_12`) is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groth16VerificationKey<C: CircomCurve = G1> {
    /// alpha in G1.
    pub alpha_1: Affine<C>,
    /// beta in G2.
    pub beta_2: Affine<C::G2>,
    /// gamma in G2.
    pub gamma_2: Affine<C::G2>,
    /// delta in G2.
    pub delta_2: Affine<C::G2>,
    /// One point for the constant, then one for each public signal.
    pub ic: Vec<Affine<C>>,
}

#[derive(Serialize)]
struct ProofText {
    pi_a: Point,
    pi_b: Point,
    pi_c: Point,
    protocol: &'static str,
    curve: &'static str,
}

#[derive(Serialize)]
struct KeyText {
    protocol: &'static str,
    curve: &'static str,
    #[serde(rename = "nPublic")]
    public: usize,
    vk_alpha_1: Point,
    vk_beta_2: Point,
    vk_gamma_2: Point,
    vk_delta_2: Point,
    vk_alphabeta_12: [[Coefficients; 3]; 2],
    #[serde(rename = "IC")]
    ic: Vec<Point>,
}

document!(Groth16Proof<C>, C);

impl<C: CircomCurve> Groth16Proof<C> {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol::<C>(PROTOCOL)?;
        Ok(Self {
            a: root.key("pi_a")?.point()?,
            b: root.key("pi_b")?.point()?,
            c: root.key("pi_c")?.point()?,
        })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let (pi_a, pi_b, pi_c) = (point(self.a), point(self.b), point(self.c));
        text_of(&ProofText { pi_a, pi_b, pi_c, protocol: PROTOCOL, curve: C::SNARKJS })
    }
}

document!(Groth16VerificationKey<C>, C);

impl<C: CircomCurve> Groth16VerificationKey<C> {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol::<C>(PROTOCOL)?;
        let public = root.key("nPublic")?.count()?;
        let ic = root.key("IC")?;
        let ic_points = ic.items()?;
        if ic_points.len() as u64 != u64::from(public) + 1 {
            let (expected, found) = (u64::from(public) + 1, ic_points.len());
            return Err(ic.problem(format!("expected {expected} points, found {found}")));
        }
        Ok(Self {
            alpha_1: root.key("vk_alpha_1")?.point()?,
            beta_2: root.key("vk_beta_2")?.point()?,
            gamma_2: root.key("vk_gamma_2")?.point()?,
            delta_2: root.key("vk_delta_2")?.point()?,
            ic: ic_points.iter().map(super::reader::JsonNode::point).collect::<Result<_, _>>()?,
        })
    }

    /// The text of the file. `alpha_beta` is e(alpha, beta) over w and then v: coefficient j of v in coefficient i of w is
    /// `alpha_beta[i][j]`.
    pub fn text(&self, alpha_beta: [[<C::G2 as Curve>::Base; 3]; 2]) -> String {
        text_of(&KeyText {
            protocol: PROTOCOL,
            curve: C::SNARKJS,
            public: self.ic.len().saturating_sub(1),
            vk_alpha_1: point(self.alpha_1),
            vk_beta_2: point(self.beta_2),
            vk_gamma_2: point(self.gamma_2),
            vk_delta_2: point(self.delta_2),
            vk_alphabeta_12: alpha_beta.map(|coefficients| coefficients.map(coordinate)),
            ic: self.ic.iter().copied().map(point).collect(),
        })
    }
}
