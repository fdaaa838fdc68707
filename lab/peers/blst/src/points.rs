//! The encoding of elements and points in inputs and outputs: little-endian integers, constant coefficient
//! first, x before y, zeros for infinity (as in blst's own affine points).

use blst::{blst_fp, blst_fp_from_lendian, blst_fp2, blst_lendian_from_fp, blst_p1_affine, blst_p2_affine};

/// Length of an element of the base field in bytes.
const FP_LEN: usize = 48;

/// Length of a point of G1 in bytes.
pub(crate) const G1_LEN: usize = 2 * FP_LEN;

/// Length of a point of G2 in bytes.
pub(crate) const G2_LEN: usize = 4 * FP_LEN;

/// Length of a scalar in bytes.
pub(crate) const SCALAR_LEN: usize = 32;

/// Decodes [`G1_LEN`] bytes.
pub(crate) fn g1(bytes: &[u8]) -> blst_p1_affine {
    let (x, y) = bytes.split_at(FP_LEN);
    blst_p1_affine { x: fp(x), y: fp(y) }
}

/// Decodes [`G2_LEN`] bytes.
pub(crate) fn g2(bytes: &[u8]) -> blst_p2_affine {
    let (x, y) = bytes.split_at(2 * FP_LEN);
    blst_p2_affine { x: fp2(x), y: fp2(y) }
}

/// The encoding that [`g1`] reads.
pub(crate) fn g1_bytes(point: &blst_p1_affine) -> Vec<u8> {
    [point.x, point.y].iter().flat_map(fp_bytes).collect()
}

/// The encoding that [`g2`] reads.
pub(crate) fn g2_bytes(point: &blst_p2_affine) -> Vec<u8> {
    [point.x, point.y].iter().flat_map(fp2_bytes).collect()
}

/// The encoding of the two coefficients.
pub(crate) fn fp2_bytes(element: &blst_fp2) -> Vec<u8> {
    element.fp.iter().flat_map(fp_bytes).collect()
}

fn fp2(bytes: &[u8]) -> blst_fp2 {
    let (c0, c1) = bytes.split_at(FP_LEN);
    blst_fp2 { fp: [fp(c0), fp(c1)] }
}

fn fp(bytes: &[u8]) -> blst_fp {
    assert_eq!(bytes.len(), FP_LEN);
    let mut element = blst_fp::default();
    // SAFETY: it reads 48 bytes, and there are as many.
    unsafe { blst_fp_from_lendian(&raw mut element, bytes.as_ptr()) };
    element
}

fn fp_bytes(element: &blst_fp) -> [u8; FP_LEN] {
    let mut bytes = [0; FP_LEN];
    // SAFETY: it writes 48 bytes, and there are as many.
    unsafe { blst_lendian_from_fp(bytes.as_mut_ptr(), element) };
    bytes
}
