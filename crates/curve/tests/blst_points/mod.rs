//! Our points of BLS12-381 as blst's. Both hold the same Montgomery form.
#![allow(dead_code, reason = "every test uses some of it")]

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};
use proofmill_curve::bls12_381::{G1Affine, G2Affine};
use proofmill_field::bls12_381::{Fq, Fq2};

fn fp(x: Fq) -> blst_fp {
    blst_fp { l: x.to_montgomery() }
}

fn fp2(x: Fq2) -> blst_fp2 {
    blst_fp2 { fp: [fp(x.c0), fp(x.c1)] }
}

pub(crate) fn g1(point: &G1Affine) -> blst_p1_affine {
    blst_p1_affine { x: fp(point.x), y: fp(point.y) }
}

pub(crate) fn g2(point: &G2Affine) -> blst_p2_affine {
    blst_p2_affine { x: fp2(point.x), y: fp2(point.y) }
}
