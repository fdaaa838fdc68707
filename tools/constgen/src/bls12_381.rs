//! BLS12-381: Barreto, Lynn, Scott, "Constructing elliptic curves with prescribed embedding degrees", 2002; the
//! parameter is Bowe's of 2017, as in RFC 9380 and the IETF draft on pairing-friendly curves.

use crate::{Generated, prime_field::PrimeField, prime_fields};
use num_bigint::BigInt;

pub(crate) fn fields() -> Generated {
    let x = -BigInt::from(0xd201000000010000u64);
    let r: BigInt = x.pow(4) - x.pow(2) + 1;
    let x_less_one: BigInt = &x - 1;
    let p = x_less_one.pow(2) * &r / 3 + &x;
    let fq = PrimeField {
        name: "BLS12-381 Fq",
        type_name: "FqParams",
        comment: "The base field of BLS12-381's G1: p = (x - 1)^2 (x^4 - x^2 + 1)/3 + x at x = -0xd201000000010000."
            .to_owned(),
        modulus: p,
        generator: 2,
    };
    let fr = PrimeField {
        name: "BLS12-381 Fr",
        type_name: "FrParams",
        comment: "The scalar field of BLS12-381: r = x^4 - x^2 + 1 at x = -0xd201000000010000.".to_owned(),
        modulus: r,
        generator: 7,
    };
    prime_fields("crates/field/src/bls12_381_constants.rs", "BLS12-381", &[fq, fr])
}
