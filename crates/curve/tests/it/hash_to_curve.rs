//! Hash-to-curve agrees with the known answers of RFC 9380 and of gnark-crypto, and the map with the RFC's definition.

use num_bigint::{BigInt, BigUint};
use proofmill_curve::{
    Affine, Curve,
    bn254::G1,
    grumpkin::Grumpkin,
    hash_to_curve::{Svdw, expand_message_xmd, hash_to_field},
};
use proofmill_field::{
    Field, Fp, Prime, SquareRoot,
    bn254::{Fq, FqParams},
};
use proofmill_testing::{IntegerCurve, rng};
use serde_json::Value;

/// RFC 9380, appendices K.1 and K.2: tags of 38 and of 256 bytes.
#[test]
fn bytes_are_the_rfcs() {
    let suites: Value = serde_json::from_str(include_str!("../data/expand_message_xmd.json")).expect("JSON");
    for suite in suites.as_array().expect("suites") {
        let cases = suite["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 10);
        for case in cases {
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            let length = case["len"].as_u64().expect("a length") as usize;
            let bytes =
                expand_message_xmd(text(&case["msg"]).as_bytes(), text(&suite["dst"]).as_bytes(), length);
            assert_eq!(
                BigUint::from_bytes_be(&bytes).to_str_radix(16),
                text(&case["out"]).trim_start_matches('0')
            );
            assert_eq!(bytes.len(), length);
        }
    }
}

#[test]
#[should_panic(expected = "at most 255 blocks")]
fn too_many_bytes() {
    expand_message_xmd(b"", b"tag", 255 * 32 + 1);
}

fn elements<P: Prime>(list: &Value) -> Vec<Fp<P>> {
    let element = |value: &Value| value.as_str()?.parse().ok();
    list.as_array().expect("a list").iter().map(|value| element(value).expect("an element")).collect()
}

/// gnark-crypto 0.19, `ecc/bn254/hash_vectors_test.go`: one map, and the sum of two.
#[test]
fn gnark_agrees_on_g1() {
    let suites: Value = serde_json::from_str(include_str!("../data/bn254_g1_svdw.json")).expect("JSON");
    let point =
        |list: &Value| <[_; 2]>::try_from(elements(list)).map(|[x, y]| Affine::<G1> { x, y }).expect("x, y");
    let map = Svdw::<G1>::new();
    for (suite, maps) in suites.as_array().expect("suites").iter().zip([1, 2]) {
        let dst = suite["dst"].as_str().expect("a tag").as_bytes();
        let cases = suite["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 5);
        for case in cases {
            let message = case["msg"].as_str().expect("a message").as_bytes();
            let inputs = hash_to_field::<<G1 as Curve>::Base>(message, dst, maps);
            assert_eq!(inputs, elements(&case["u"]));
            for (u, mapped) in inputs.iter().zip(case["q"].as_array().expect("points")) {
                assert_eq!(map.map(*u), point(mapped));
            }
            let hash =
                if maps == 1 { map.encode_to_curve(message, dst) } else { map.hash_to_curve(message, dst) };
            assert_eq!(hash, point(&case["p"]));
        }
    }
}

fn integer<P: Prime>(x: Fp<P>) -> BigInt {
    x.to_string().parse().expect("decimal digits")
}

/// Against the definition in plain integers.
fn check<P: Prime, C: Curve<Base = Fp<P>>>() {
    let curve = IntegerCurve { p: integer(-Fp::<P>::ONE) + 1, b: integer(C::B) };
    let map = Svdw::<C>::new();
    let mut rng = rng(1);
    let mut inputs: Vec<Fp<P>> = [0u64, 1, 2, 3].map(Fp::from).to_vec();
    inputs.extend(inputs.clone().into_iter().map(|u| -u));
    inputs.extend((0..100).map(|_| Fp::random(&mut rng)));
    // Elements at which a denominator is zero: u^2 g(Z) is 1 or -1.
    let quotient: Fp<P> = curve.inverse(&curve.g(&curve.svdw_z())).to_string().parse().expect("an element");
    let exceptions: Vec<_> = [quotient, -quotient].iter().filter_map(SquareRoot::sqrt_vartime).collect();
    assert!(!exceptions.is_empty(), "an exceptional case");
    inputs.extend(exceptions);
    for u in inputs {
        let Affine { x, y } = map.map(u);
        assert_eq!(curve.svdw(&integer(u)), Some([x, y].map(integer)));
    }
}

/// The definition itself agrees with gnark-crypto's points, and so does its group law.
#[test]
fn the_definition_agrees_on_g1() {
    let suites: Value = serde_json::from_str(include_str!("../data/bn254_g1_svdw.json")).expect("JSON");
    let curve = IntegerCurve { p: integer(-Fq::ONE) + 1, b: integer(G1::B) };
    let suite = &suites[1];
    for case in suite["cases"].as_array().expect("cases") {
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let hash = curve.hash_to_curve(text(&case["msg"]).as_bytes(), text(&suite["dst"]).as_bytes());
        assert_eq!(hash, <[_; 2]>::try_from(elements(&case["p"])).ok().map(|p| p.map(integer::<FqParams>)));
    }
}

#[test]
fn the_map_to_g1_is_the_rfcs() {
    check::<_, G1>();
}

#[test]
fn the_map_to_grumpkin_is_the_rfcs() {
    check::<_, Grumpkin>();
    let curve = IntegerCurve::grumpkin();
    assert_eq!(curve.p, integer(-<Grumpkin as Curve>::Base::ONE) + 1);
    assert_eq!(curve.modulo(curve.b.clone()), integer(Grumpkin::B));
}
