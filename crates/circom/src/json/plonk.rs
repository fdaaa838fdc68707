//! PLONK's proof and verification key.
#![allow(non_snake_case, reason = "the files' own names")]

use super::{CURVE, Point, Scalar, point, reader::Document, text_of};
use crate::error::CircomError;
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field,
    bn254::{Fr, FrParams},
};
use serde::Serialize;
use std::ops::Not;

const PROTOCOL: &str = "plonk";
/// Two-adicity of the scalar field.
const LARGEST_POWER: u32 = 28;

/// A proof as read from its file: points are on their curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlonkProof {
    /// `A`, `B`, `C`, `Z`, `T1`, `T2`, `T3`, `Wxi`, `Wxiw`.
    pub points: [Affine<G1>; 9],
    /// `eval_a`, `eval_b`, `eval_c`, `eval_s1`, `eval_s2`, `eval_zw`.
    pub evaluations: [Fr; 6],
}

/// A verification key as read from its file: points are on their curves, and `w` is the domain's root of unity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlonkVerificationKey {
    /// Public signals.
    pub public: u32,
    /// The domain has size `2^power`; at most 28.
    pub power: u32,
    /// Coset of the second column.
    pub k1: Fr,
    /// Coset of the third column.
    pub k2: Fr,
    /// `Qm`, `Ql`, `Qr`, `Qo`, `Qc`.
    pub selectors: [Affine<G1>; 5],
    /// `S1`, `S2`, `S3`.
    pub sigma: [Affine<G1>; 3],
    /// `X_2`, tau in G2; not checked to be in the subgroup.
    pub x_2: Affine<G2>,
    /// `insecureSetup`: nobody contributed to the powers of tau, or only beacons did; in the file only if true.
    pub insecure_setup: bool,
}

const POINTS: [&str; 9] = ["A", "B", "C", "Z", "T1", "T2", "T3", "Wxi", "Wxiw"];
const EVALUATIONS: [&str; 6] = ["eval_a", "eval_b", "eval_c", "eval_s1", "eval_s2", "eval_zw"];
const SELECTORS: [&str; 5] = ["Qm", "Ql", "Qr", "Qo", "Qc"];
const SIGMA: [&str; 3] = ["S1", "S2", "S3"];

#[derive(Serialize)]
struct ProofText {
    A: Point,
    B: Point,
    C: Point,
    Z: Point,
    T1: Point,
    T2: Point,
    T3: Point,
    Wxi: Point,
    Wxiw: Point,
    eval_a: Scalar,
    eval_b: Scalar,
    eval_c: Scalar,
    eval_s1: Scalar,
    eval_s2: Scalar,
    eval_zw: Scalar,
    protocol: &'static str,
    curve: &'static str,
}

#[derive(Serialize)]
struct KeyText {
    protocol: &'static str,
    curve: &'static str,
    #[serde(rename = "nPublic")]
    public: u32,
    power: u32,
    k1: Scalar,
    k2: Scalar,
    Qm: Point,
    Ql: Point,
    Qr: Point,
    Qo: Point,
    Qc: Point,
    S1: Point,
    S2: Point,
    S3: Point,
    X_2: Point,
    w: Scalar,
    #[serde(rename = "insecureSetup", skip_serializing_if = "Not::not")]
    insecure_setup: bool,
}

document!(PlonkProof);

impl PlonkProof {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol::<G1>(PROTOCOL)?;
        let mut proof = Self { points: [Affine::INFINITY; 9], evaluations: [Fr::ZERO; 6] };
        for (point, name) in proof.points.iter_mut().zip(POINTS) {
            *point = root.key(name)?.point()?;
        }
        for (evaluation, name) in proof.evaluations.iter_mut().zip(EVALUATIONS) {
            *evaluation = root.key(name)?.scalar()?;
        }
        Ok(proof)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let [A, B, C, Z, T1, T2, T3, Wxi, Wxiw] = self.points.map(point);
        let [eval_a, eval_b, eval_c, eval_s1, eval_s2, eval_zw] =
            self.evaluations.map(|value| value.to_string());
        text_of(&ProofText {
            A,
            B,
            C,
            Z,
            T1,
            T2,
            T3,
            Wxi,
            Wxiw,
            eval_a,
            eval_b,
            eval_c,
            eval_s1,
            eval_s2,
            eval_zw,
            protocol: PROTOCOL,
            curve: CURVE,
        })
    }
}

document!(PlonkVerificationKey);

impl PlonkVerificationKey {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol::<G1>(PROTOCOL)?;
        let power = root.key("power")?;
        let mut key = Self {
            public: root.key("nPublic")?.count()?,
            power: power.count()?,
            k1: root.key("k1")?.scalar()?,
            k2: root.key("k2")?.scalar()?,
            selectors: [Affine::INFINITY; 5],
            sigma: [Affine::INFINITY; 3],
            x_2: root.key("X_2")?.point()?,
            insecure_setup: root.insecure_setup()?,
        };
        let Some(root_of_unity) = Fr::root_of_unity(key.power) else {
            return Err(power.problem(format!("expected at most {LARGEST_POWER}, found {}", key.power)));
        };
        let w = root.key("w")?;
        if w.scalar::<FrParams>()? != root_of_unity {
            return Err(w.problem(format!("expected the root of unity of order 2^{}", key.power)));
        }
        for (point, name) in key.selectors.iter_mut().zip(SELECTORS).chain(key.sigma.iter_mut().zip(SIGMA)) {
            *point = root.key(name)?.point()?;
        }
        Ok(key)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let [Qm, Ql, Qr, Qo, Qc] = self.selectors.map(point);
        let [S1, S2, S3] = self.sigma.map(point);
        let w: Fr = Fr::root_of_unity(self.power).unwrap_or_default();
        text_of(&KeyText {
            protocol: PROTOCOL,
            curve: CURVE,
            public: self.public,
            power: self.power,
            k1: self.k1.to_string(),
            k2: self.k2.to_string(),
            Qm,
            Ql,
            Qr,
            Qo,
            Qc,
            S1,
            S2,
            S3,
            X_2: point(self.x_2),
            w: w.to_string(),
            insecure_setup: self.insecure_setup,
        })
    }
}
