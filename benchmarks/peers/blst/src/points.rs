//! Elements and points as the bytes of inputs and outputs: little-endian integers, the constant coefficient first, x
//! before y, zeros for infinity, as blst's own affine points have it.

use blst::{blst_fp, blst_fp_from_lendian, blst_fp2, blst_lendian_from_fp, blst_p1_affine, blst_p2_affine};

/// Bytes of an element of the base field.
const FP_LEN: usize = 48;

/// Bytes of a point of G1.
pub(crate) const G1_LEN: usize = 2 * FP_LEN;

/// Bytes of a point of G2.
pub(crate) const G2_LEN: usize = 4 * FP_LEN;

/// Bytes of a scalar.
pub(crate) const SCALAR_LEN: usize = 32;

/// From [`G1_LEN`] bytes.
pub(crate) fn g1(bytes: &[u8]) -> blst_p1_affine {
    let (x, y) = bytes.split_at(FP_LEN);
    blst_p1_affine { x: fp(x), y: fp(y) }
}

/// From [`G2_LEN`] bytes.
pub(crate) fn g2(bytes: &[u8]) -> blst_p2_affine {
    let (x, y) = bytes.split_at(2 * FP_LEN);
    blst_p2_affine { x: fp2(x), y: fp2(y) }
}

/// As [`g1`] reads them.
pub(crate) fn g1_bytes(point: &blst_p1_affine) -> Vec<u8> {
    [point.x, point.y].iter().flat_map(fp_bytes).collect()
}

/// As [`g2`] reads them.
pub(crate) fn g2_bytes(point: &blst_p2_affine) -> Vec<u8> {
    [point.x, point.y].iter().flat_map(fp2_bytes).collect()
}

/// As of two elements of the base field.
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
