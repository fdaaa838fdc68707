//! fflonk's proof and verification key.
#![allow(non_snake_case, reason = "the files' own names")]

use super::{CURVE, Point, Scalar, point, reader::Document, text_of};
use crate::{
    error::CircomError,
    zkey::{FFLONK_ROOTS, FflonkHeader, fflonk_roots},
};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{Field, bn254::Fr};
use serde::Serialize;
use std::ops::Not;

const PROTOCOL: &str = "fflonk";
/// Two-adicity of the scalar field.
const LARGEST_POWER: u32 = 28;

/// A proof as read from its file: points are on their curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FflonkProof {
    /// `C1`, `C2`, `W1`, `W2`.
    pub points: [Affine<G1>; 4],
    /// `ql`, `qr`, `qm`, `qo`, `qc`, `s1`, `s2`, `s3`, `a`, `b`, `c`, `z` at xi; `zw`, `t1w`, `t2w` at xi omega.
    pub evaluations: [Fr; 15],
    /// `inv`: the inverse of the product of everything that a verifier divides by.
    pub inverse: Fr,
}

/// A verification key as read from its file: points are on their curves, and the roots of unity are snarkjs's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FflonkVerificationKey {
    /// Public signals.
    pub public: u32,
    /// The domain has size `2^power`; at most 28.
    pub power: u32,
    /// Coset of the second column.
    pub k1: Fr,
    /// Coset of the third column.
    pub k2: Fr,
    /// `X_2`, tau in G2; not checked to be in the subgroup.
    pub x_2: Affine<G2>,
    /// `C0`, the commitment to the selectors and the permutation.
    pub c0: Affine<G1>,
    /// `insecureSetup`: nobody contributed to the powers of tau, or only beacons did; in the file only if true.
    pub insecure_setup: bool,
}

const POINTS: [&str; 4] = ["C1", "C2", "W1", "W2"];
const EVALUATIONS: [&str; 15] =
    ["ql", "qr", "qm", "qo", "qc", "s1", "s2", "s3", "a", "b", "c", "z", "zw", "t1w", "t2w"];

#[derive(Serialize)]
struct ProofText {
    polynomials: PointsText,
    evaluations: EvaluationsText,
    protocol: &'static str,
    curve: &'static str,
}

#[derive(Serialize)]
struct PointsText {
    C1: Point,
    C2: Point,
    W1: Point,
    W2: Point,
}

#[derive(Serialize)]
struct EvaluationsText {
    ql: Scalar,
    qr: Scalar,
    qm: Scalar,
    qo: Scalar,
    qc: Scalar,
    s1: Scalar,
    s2: Scalar,
    s3: Scalar,
    a: Scalar,
    b: Scalar,
    c: Scalar,
    z: Scalar,
    zw: Scalar,
    t1w: Scalar,
    t2w: Scalar,
    inv: Scalar,
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
    w: Scalar,
    w3: Scalar,
    w4: Scalar,
    w8: Scalar,
    wr: Scalar,
    X_2: Point,
    C0: Point,
    #[serde(rename = "insecureSetup", skip_serializing_if = "Not::not")]
    insecure_setup: bool,
}

document!(FflonkProof);

impl FflonkProof {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol::<G1>(PROTOCOL)?;
        let (points, evaluations) = (root.key("polynomials")?, root.key("evaluations")?);
        let inverse = evaluations.key("inv")?.scalar()?;
        let mut proof = Self { points: [Affine::INFINITY; 4], evaluations: [Fr::ZERO; 15], inverse };
        for (point, name) in proof.points.iter_mut().zip(POINTS) {
            *point = points.key(name)?.point()?;
        }
        for (evaluation, name) in proof.evaluations.iter_mut().zip(EVALUATIONS) {
            *evaluation = evaluations.key(name)?.scalar()?;
        }
        Ok(proof)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let [C1, C2, W1, W2] = self.points.map(point);
        let [ql, qr, qm, qo, qc, s1, s2, s3, a, b, c, z, zw, t1w, t2w] =
            self.evaluations.map(|value| value.to_string());
        let inv = self.inverse.to_string();
        text_of(&ProofText {
            polynomials: PointsText { C1, C2, W1, W2 },
            evaluations: EvaluationsText { ql, qr, qm, qo, qc, s1, s2, s3, a, b, c, z, zw, t1w, t2w, inv },
            protocol: PROTOCOL,
            curve: CURVE,
        })
    }
}

document!(FflonkVerificationKey);

impl FflonkVerificationKey {
    pub(super) fn read(document: &Document) -> Result<Self, CircomError> {
        let root = document.of_protocol::<G1>(PROTOCOL)?;
        let power = root.key("power")?;
        let key = Self {
            public: root.key("nPublic")?.count()?,
            power: power.count()?,
            k1: root.key("k1")?.scalar()?,
            k2: root.key("k2")?.scalar()?,
            x_2: root.key("X_2")?.point()?,
            c0: root.key("C0")?.point()?,
            insecure_setup: root.insecure_setup()?,
        };
        let Some(generator) = Fr::root_of_unity(key.power) else {
            return Err(power.problem(format!("expected at most {LARGEST_POWER}, found {}", key.power)));
        };
        let named = FFLONK_ROOTS.into_iter().zip(fflonk_roots(key.power));
        for (name, expected) in [("w", generator)].into_iter().chain(named) {
            let found = root.key(name)?;
            if found.scalar()? != expected {
                return Err(found.problem("expected snarkjs's root of unity".to_owned()));
            }
        }
        Ok(key)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let w: Fr = Fr::root_of_unity(self.power).unwrap_or_default();
        let [w3, w4, w8, wr] = fflonk_roots(self.power).map(|root| root.to_string());
        text_of(&KeyText {
            protocol: PROTOCOL,
            curve: CURVE,
            public: self.public,
            power: self.power,
            k1: self.k1.to_string(),
            k2: self.k2.to_string(),
            w: w.to_string(),
            w3,
            w4,
            w8,
            wr,
            X_2: point(self.x_2),
            C0: point(self.c0),
            insecure_setup: self.insecure_setup,
        })
    }
}

impl From<&FflonkHeader> for FflonkVerificationKey {
    fn from(header: &FflonkHeader) -> Self {
        let FflonkHeader { counts, k1, k2, x_2, c0 } = *header;
        let insecure_setup = counts.insecure_setup;
        Self { public: counts.public, power: counts.power(), k1, k2, x_2, c0, insecure_setup }
    }
}
