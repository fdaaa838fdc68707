//! BN254: Barreto, Naehrig, "Pairing-friendly elliptic curves of prime order", 2005; the parameter is EIP-196's.

use crate::{Generated, prime_field::PrimeField, prime_fields};
use num_bigint::BigInt;

pub(crate) fn file() -> Generated {
    let x = 4965661367192848881u64;
    let power = |n: u32| BigInt::from(x).pow(n);
    let common = 36 * power(4) + 36 * power(3) + 6 * power(1) + 1;
    let fq = PrimeField {
        name: "BN254 Fq",
        type_name: "FqParams",
        comment: format!("The base field of BN254's G1: p = 36x^4 + 36x^3 + 24x^2 + 6x + 1 at x = {x}."),
        modulus: &common + 24 * power(2),
        generator: 3,
    };
    let fr = PrimeField {
        name: "BN254 Fr",
        type_name: "FrParams",
        comment: format!("The scalar field of BN254: r = 36x^4 + 36x^3 + 18x^2 + 6x + 1 at x = {x}."),
        modulus: &common + 18 * power(2),
        generator: 5,
    };
    prime_fields("crates/field/src/bn254_constants.rs", "BN254", &[fq, fr])
}
