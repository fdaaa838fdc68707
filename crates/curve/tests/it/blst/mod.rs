//! blst's results for messages and encodings, as uncompressed encodings.
#![allow(dead_code, reason = "every test uses some of it")]

use blst::{
    BLST_ERROR, blst_encode_to_g1, blst_encode_to_g2, blst_hash_to_g1, blst_hash_to_g2, blst_p1,
    blst_p1_affine, blst_p1_affine_compress, blst_p1_affine_in_g1, blst_p1_affine_serialize,
    blst_p1_deserialize, blst_p1_to_affine, blst_p1_uncompress, blst_p2, blst_p2_affine,
    blst_p2_affine_compress, blst_p2_affine_in_g2, blst_p2_affine_serialize, blst_p2_deserialize,
    blst_p2_to_affine, blst_p2_uncompress,
};
use proofmill_curve::bls12_381::{Encoded, G1, G2};

/// A point's encodings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Encodings {
    pub(crate) compressed: Vec<u8>,
    pub(crate) uncompressed: Vec<u8>,
    pub(crate) in_subgroup: bool,
}

/// A group in blst.
pub(crate) trait Blst: Encoded {
    fn hash(message: &[u8], dst: &[u8]) -> Encodings;
    fn encode(message: &[u8], dst: &[u8]) -> Encodings;
    /// The point on the curve, if the bytes encode one.
    fn decode(bytes: &[u8], compressed: bool) -> Option<Encodings>;
}

macro_rules! impl_blst {
    (
        $group:ty, $bytes:literal, $point:ident, $affine:ident, $to_affine:ident, $hash:ident, $encode:ident, $uncompress:ident,
        $deserialize:ident, $compress:ident, $serialize:ident, $in_subgroup:ident
    ) => {
        impl Blst for $group {
            fn hash(message: &[u8], dst: &[u8]) -> Encodings {
                encodings(&affine(message, dst, $hash))
            }

            fn encode(message: &[u8], dst: &[u8]) -> Encodings {
                encodings(&affine(message, dst, $encode))
            }

            fn decode(bytes: &[u8], compressed: bool) -> Option<Encodings> {
                assert_eq!(bytes.len(), if compressed { $bytes } else { 2 * $bytes });
                let mut point = $affine::default();
                // SAFETY: the length was checked.
                let error = unsafe {
                    if compressed {
                        $uncompress(&mut point, bytes.as_ptr())
                    } else {
                        $deserialize(&mut point, bytes.as_ptr())
                    }
                };
                // blst returns this for (0, 2) and also the point, which is on the curve.
                let on_curve =
                    [BLST_ERROR::BLST_SUCCESS, BLST_ERROR::BLST_POINT_NOT_IN_GROUP].contains(&error);
                on_curve.then(|| encodings(&point))
            }
        }

        const _: () = {
            type Function =
                unsafe extern "C" fn(*mut $point, *const u8, usize, *const u8, usize, *const u8, usize);

            impl Run for $point {
                type Affine = $affine;

                fn affine(message: &[u8], dst: &[u8], function: Function) -> $affine {
                    let (mut point, mut affine) = ($point::default(), $affine::default());
                    // SAFETY: the pointers are passed with their lengths, and the results have space.
                    unsafe {
                        function(
                            &mut point,
                            message.as_ptr(),
                            message.len(),
                            dst.as_ptr(),
                            dst.len(),
                            std::ptr::null(),
                            0,
                        );
                        $to_affine(&mut affine, &point);
                    }
                    affine
                }
            }

            impl Encode for $affine {
                fn encodings(&self) -> Encodings {
                    let (mut compressed, mut uncompressed) = (vec![0; $bytes], vec![0; 2 * $bytes]);
                    // SAFETY: the buffers have the encodings' lengths.
                    let in_subgroup = unsafe {
                        $compress(compressed.as_mut_ptr(), self);
                        $serialize(uncompressed.as_mut_ptr(), self);
                        $in_subgroup(self)
                    };
                    Encodings { compressed, uncompressed, in_subgroup }
                }
            }
        };
    };
}

type HashFunction<P> = unsafe extern "C" fn(*mut P, *const u8, usize, *const u8, usize, *const u8, usize);

trait Run: Sized {
    type Affine: Encode;
    fn affine(message: &[u8], dst: &[u8], function: HashFunction<Self>) -> Self::Affine;
}

trait Encode {
    fn encodings(&self) -> Encodings;
}

fn affine<P: Run>(message: &[u8], dst: &[u8], function: HashFunction<P>) -> P::Affine {
    P::affine(message, dst, function)
}

fn encodings(point: &impl Encode) -> Encodings {
    point.encodings()
}

impl_blst!(
    G1,
    48,
    blst_p1,
    blst_p1_affine,
    blst_p1_to_affine,
    blst_hash_to_g1,
    blst_encode_to_g1,
    blst_p1_uncompress,
    blst_p1_deserialize,
    blst_p1_affine_compress,
    blst_p1_affine_serialize,
    blst_p1_affine_in_g1
);
impl_blst!(
    G2,
    96,
    blst_p2,
    blst_p2_affine,
    blst_p2_to_affine,
    blst_hash_to_g2,
    blst_encode_to_g2,
    blst_p2_uncompress,
    blst_p2_deserialize,
    blst_p2_affine_compress,
    blst_p2_affine_serialize,
    blst_p2_affine_in_g2
);
