//! The points of public ceremonies.

use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::bn254::{Fq, Fq2};
use proofmill_srs::{ceremony_of_alpha, ceremony_of_tau};

/// The values of a verifier on Ethereum that was made by snarkjs, and of one that was made by Aztec, in the words of the contracts.
#[test]
fn ceremonies_are_recognised_in_the_words_of_contracts() {
    let number = |text: &str| text.parse::<Fq>().unwrap();
    let alpha = Affine::<G1> {
        x: number("20491192805390485299153009773594534940189261866228447918068658471970481763042"),
        y: number("9383485363053290200918347156157836566562967994039712273449902621266178545958"),
    };
    assert!(alpha.is_on_curve());
    assert_eq!(ceremony_of_alpha(&alpha), Some("powersOfTau28_hez_final"));
    assert_eq!(ceremony_of_alpha(&G1::GENERATOR), None);
    let hexadecimal = |text: &str| Fq::from_bytes_be(&hex::decode(text).unwrap()).unwrap();
    // vk.g2_x of Aztec's verifiers: the coefficient of u first.
    let ignition = Affine::<G2> {
        x: Fq2 {
            c1: hexadecimal("260e01b251f6f1c7e7ff4e580791dee8ea51d87a358e038b4efe30fac09383c1"),
            c0: hexadecimal("0118c4d5b837bcc2bc89b5b398b5974e9f5944073b32078b7e231fec938883b0"),
        },
        y: Fq2 {
            c1: hexadecimal("04fc6369f7110fe3d25156c1bb9a72859cf2a04641f99ba4ee413c80da6a5fe4"),
            c0: hexadecimal("22febda3c0c0632a56475b4214e5615e11e6dd3f96e6cea2854a87d4dacc5e55"),
        },
    };
    assert!(ignition.is_on_curve() && ignition.is_in_subgroup());
    assert_eq!(ceremony_of_tau(&ignition), Some("Ignition"));
    // X_2 of snarkjs's keys.
    let hermez = Affine::<G2> {
        x: Fq2 {
            c0: number("21831381940315734285607113342023901060522397560371972897001948545212302161822"),
            c1: number("17231025384763736816414546592865244497437017442647097510447326538965263639101"),
        },
        y: Fq2 {
            c0: number("2388026358213174446665280700919698872609886601280537296205114254867301080648"),
            c1: number("11507326595632554467052522095592665270651932854513688777769618397986436103170"),
        },
    };
    assert!(hermez.is_on_curve() && hermez.is_in_subgroup());
    assert_eq!(ceremony_of_tau(&hermez), Some("powersOfTau28_hez_final"));
    assert_eq!(ceremony_of_tau(&G2::GENERATOR), None);
}
