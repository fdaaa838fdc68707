//! Each decoder of BLS12-381's points accepts, rejects and decodes the same as blst, at every level.
#![no_main]

#[path = "../../crates/curve/tests/it/blst/mod.rs"]
mod blst;

use blst::Blst;
use libfuzzer_sys::fuzz_target;
use proofmill_curve::{
    Affine, EncodingError,
    bls12_381::{G1, G2, Subgroup, decode_compressed, decode_uncompressed},
};

fuzz_target!(|bytes: &[u8]| {
    check::<G1>(bytes);
    check::<G2>(bytes);
});

fn check<C: Blst>(bytes: &[u8]) {
    let mut compressed = C::COMPRESSED_ZERO;
    fill(compressed.as_mut(), bytes);
    let mut uncompressed = C::UNCOMPRESSED_ZERO;
    fill(uncompressed.as_mut(), bytes);
    // Bytes that differ slightly from a point's.
    let rest = bytes.get(compressed.as_ref().len()..).unwrap_or_default();
    let mut near = uncompressed;
    if let Some(point) = C::decode(compressed.as_ref(), true) {
        near.as_mut().copy_from_slice(&point.uncompressed);
        near.as_mut().iter_mut().zip(rest).for_each(|(byte, change)| *byte ^= change);
    }
    for level in proofmill_field::prime_field_levels() {
        for subgroup in [Subgroup::Checked, Subgroup::Unchecked] {
            let theirs = C::decode(compressed.as_ref(), true);
            compare::<C>(&theirs, &decode_compressed::<C>(level, &[compressed], subgroup)[0], subgroup);
            compare::<C>(&theirs, &Affine::<C>::from_compressed(level, &compressed, subgroup), subgroup);
            for long in [uncompressed, near] {
                // blst reads half the bytes if the first bit says compressed.
                let theirs =
                    if long.as_ref()[0] & 0x80 == 0 { C::decode(long.as_ref(), false) } else { None };
                compare::<C>(&theirs, &decode_uncompressed::<C>(level, &[long], subgroup)[0], subgroup);
                compare::<C>(&theirs, &Affine::<C>::from_uncompressed(level, &long, subgroup), subgroup);
            }
        }
    }
}

fn fill(into: &mut [u8], bytes: &[u8]) {
    into.iter_mut().zip(bytes).for_each(|(into, byte)| *into = *byte);
}

fn compare<C: Blst>(
    theirs: &Option<blst::Encodings>,
    ours: &Result<Affine<C>, EncodingError>,
    subgroup: Subgroup,
) {
    match (theirs, ours) {
        (Some(theirs), Ok(ours)) => {
            assert_eq!(theirs.uncompressed, ours.to_uncompressed().as_ref());
            assert_eq!(theirs.compressed, ours.to_compressed().as_ref());
            assert!(theirs.in_subgroup || subgroup == Subgroup::Unchecked);
        }
        (Some(theirs), Err(EncodingError::NotInSubgroup(_))) => {
            assert!(!theirs.in_subgroup && subgroup == Subgroup::Checked);
        }
        (None, Err(error)) => assert!(!matches!(error, EncodingError::NotInSubgroup(_))),
        (theirs, ours) => panic!("blst says {theirs:?}, ours {ours:?}"),
    }
}
