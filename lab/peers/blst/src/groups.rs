//! Sums, pairings, hashing and decoding.

use crate::{
    points::{self, G1_LEN, G2_LEN, SCALAR_LEN},
    signatures::{MESSAGE_LEN, TAG},
};
use blst::{
    BLST_ERROR, MultiPoint, blst_fp12, blst_hash_to_g1, blst_hash_to_g2, blst_p1, blst_p1_affine,
    blst_p1_affine_in_g1, blst_p1_to_affine, blst_p1_uncompress, blst_p2, blst_p2_affine,
    blst_p2_affine_in_g2, blst_p2_to_affine, blst_p2_uncompress,
};
use peer_protocol::{Bytes, Task, Work, work};
use std::ptr;

/// Bits of a scalar.
const BITS: usize = 255;

/// The sum of scalars times points.
pub(crate) fn g1_sum(task: &Task) -> Result<Box<dyn Work>, String> {
    let mut input = Bytes::new(&task.input);
    let points = input.take(task.size, G1_LEN, points::g1)?;
    let scalars = input.take(task.size * SCALAR_LEN, 1, |byte| byte[0])?;
    input.end()?;
    Ok(work(move || affine_g1(&points.mult(&scalars, BITS)), points::g1_bytes))
}

/// The sum of scalars times points.
pub(crate) fn g2_sum(task: &Task) -> Result<Box<dyn Work>, String> {
    let mut input = Bytes::new(&task.input);
    let points = input.take(task.size, G2_LEN, points::g2)?;
    let scalars = input.take(task.size * SCALAR_LEN, 1, |byte| byte[0])?;
    input.end()?;
    Ok(work(move || affine_g2(&points.mult(&scalars, BITS)), points::g2_bytes))
}

/// The product of the pairings of points of G1 with points of G2.
pub(crate) fn pairing(task: &Task) -> Result<Box<dyn Work>, String> {
    let mut input = Bytes::new(&task.input);
    let of_g1 = input.take(task.size, G1_LEN, points::g1)?;
    let of_g2 = input.take(task.size, G2_LEN, points::g2)?;
    input.end()?;
    let product = move || blst_fp12::miller_loop_n(&of_g2, &of_g1).final_exp();
    Ok(work(product, |product| {
        product.fp6.iter().flat_map(|six| &six.fp2).flat_map(points::fp2_bytes).collect()
    }))
}

/// Hashes messages to points.
pub(crate) fn hash_to_g1(task: &Task) -> Result<Box<dyn Work>, String> {
    let messages = things(task, MESSAGE_LEN)?;
    let hash = |message: &Vec<u8>| {
        let mut point = blst_p1::default();
        let (bytes, len) = (message.as_ptr(), message.len());
        // SAFETY: pointers with their lengths, and a valid place for the result.
        unsafe { blst_hash_to_g1(&raw mut point, bytes, len, TAG.as_ptr(), TAG.len(), ptr::null(), 0) };
        affine_g1(&point)
    };
    Ok(many(messages, hash, points::g1_bytes))
}

/// Hashes messages to points.
pub(crate) fn hash_to_g2(task: &Task) -> Result<Box<dyn Work>, String> {
    let messages = things(task, MESSAGE_LEN)?;
    let hash = |message: &Vec<u8>| {
        let mut point = blst_p2::default();
        let (bytes, len) = (message.as_ptr(), message.len());
        // SAFETY: pointers with their lengths, and a valid place for the result.
        unsafe { blst_hash_to_g2(&raw mut point, bytes, len, TAG.as_ptr(), TAG.len(), ptr::null(), 0) };
        affine_g2(&point)
    };
    Ok(many(messages, hash, points::g2_bytes))
}

/// Decodes compressed points; checks that they are on the curve and, if `subgroup`, in the subgroup.
pub(crate) fn decode_g1(task: &Task, subgroup: bool) -> Result<Box<dyn Work>, String> {
    let encodings = things(task, G1_LEN / 2)?;
    let decode = move |encoding: &Vec<u8>| {
        let mut point = blst_p1_affine::default();
        // SAFETY: the encoding has the length that is read, and there is a valid place for the result.
        let valid = unsafe {
            blst_p1_uncompress(&raw mut point, encoding.as_ptr()) == BLST_ERROR::BLST_SUCCESS
                && (!subgroup || blst_p1_affine_in_g1(&raw const point))
        };
        assert!(valid, "expected a point of G1");
        point
    };
    Ok(many(encodings, decode, points::g1_bytes))
}

/// Decodes compressed points; checks that they are on the curve and, if `subgroup`, in the subgroup.
pub(crate) fn decode_g2(task: &Task, subgroup: bool) -> Result<Box<dyn Work>, String> {
    let encodings = things(task, G2_LEN / 2)?;
    let decode = move |encoding: &Vec<u8>| {
        let mut point = blst_p2_affine::default();
        // SAFETY: the encoding has the length that is read, and there is a valid place for the result.
        let valid = unsafe {
            blst_p2_uncompress(&raw mut point, encoding.as_ptr()) == BLST_ERROR::BLST_SUCCESS
                && (!subgroup || blst_p2_affine_in_g2(&raw const point))
        };
        assert!(valid, "expected a point of G2");
        point
    };
    Ok(many(encodings, decode, points::g2_bytes))
}

/// An input that consists of items of `len` bytes.
fn things(task: &Task, len: usize) -> Result<Vec<Vec<u8>>, String> {
    let mut input = Bytes::new(&task.input);
    let things = input.take(task.size, len, <[u8]>::to_vec)?;
    input.end()?;
    Ok(things)
}

/// Work that computes the results one at a time.
fn many<T: 'static>(
    things: Vec<Vec<u8>>,
    compute: impl Fn(&Vec<u8>) -> T + 'static,
    encode: impl Fn(&T) -> Vec<u8> + 'static,
) -> Box<dyn Work> {
    work(
        move || things.iter().map(&compute).collect::<Vec<T>>(),
        move |results| results.iter().flat_map(&encode).collect(),
    )
}

fn affine_g1(point: &blst_p1) -> blst_p1_affine {
    let mut affine = blst_p1_affine::default();
    // SAFETY: a point, and a valid place for the result.
    unsafe { blst_p1_to_affine(&raw mut affine, point) };
    affine
}

fn affine_g2(point: &blst_p2) -> blst_p2_affine {
    let mut affine = blst_p2_affine::default();
    // SAFETY: a point, and a valid place for the result.
    unsafe { blst_p2_to_affine(&raw mut affine, point) };
    affine
}
