//! Known answers of the EVM's precompiled contract, at every level.

use proofmill_curve::{
    Curve,
    bn254::{G1Affine, G2, G2Affine},
};
use proofmill_pairing::pairing_product_is_one;
use proofmill_testing::for_each_level;

fn bytes<const N: usize>(text: &str) -> [u8; N] {
    hex::decode(text).unwrap().try_into().unwrap()
}

/// Pairs of points and whether the product of their pairings is 1: `jeff1` and `jeff6` of go-ethereum's
/// core/vm/testdata/precompiles/bn256Pairing.json. G2's second point in both is EIP-197's generator.
const PAIRINGS: [(&str, bool); 2] = [
    (
        "1c76476f4def4bb94541d57ebba1193381ffa7aa76ada664dd31c16024c43f593034dd2920f673e204fee2811c678745fc819b55d3e9d294e45c9b03a76aef41\
         209dd15ebff5d46c4bd888e51a93cf99a7329636c63514396b4a452003a35bf704bf11ca01483bfa8b34b43561848d28905960114c8ac04049af4b6315a41678\
         2bb8324af6cfc93537a2ad1a445cfd0ca2a71acd7ac41fadbf933c2a51be344d120a2a4cf30c1bf9845f20c6fe39e07ea2cce61f0c9bb048165fe5e4de877550\
         111e129f1cf1097710d41c4ac70fcdfa5ba2023c6ff1cbeac322de49d1b6df7c2032c61a830e3c17286de9462bf242fca2883585b93870a73853face6a6bf411\
         198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c21800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed\
         090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
        true,
    ),
    (
        "1c76476f4def4bb94541d57ebba1193381ffa7aa76ada664dd31c16024c43f593034dd2920f673e204fee2811c678745fc819b55d3e9d294e45c9b03a76aef41\
         209dd15ebff5d46c4bd888e51a93cf99a7329636c63514396b4a452003a35bf704bf11ca01483bfa8b34b43561848d28905960114c8ac04049af4b6315a41678\
         2bb8324af6cfc93537a2ad1a445cfd0ca2a71acd7ac41fadbf933c2a51be344d120a2a4cf30c1bf9845f20c6fe39e07ea2cce61f0c9bb048165fe5e4de877550\
         111e129f1cf1097710d41c4ac70fcdfa5ba2023c6ff1cbeac322de49d1b6df7c103188585e2364128fe25c70558f1560f4f9350baf3959e603cc91486e110936\
         198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c21800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed\
         090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
        false,
    ),
];

#[test]
fn pairings() {
    for (input, expected) in PAIRINGS {
        let (g1_len, pair_len) = (128, 384);
        let pairs: Vec<_> = (0..input.len())
            .step_by(pair_len)
            .map(|at| {
                let (p, q) = input[at..at + pair_len].split_at(g1_len);
                (G1Affine::from_evm(&bytes(p)).unwrap(), G2Affine::from_evm(&bytes(q)).unwrap())
            })
            .collect();
        assert_eq!(pairs[1].1, G2::GENERATOR);
        for_each_level(|level| assert_eq!(pairing_product_is_one(level, &pairs), expected, "{level}"));
    }
}
