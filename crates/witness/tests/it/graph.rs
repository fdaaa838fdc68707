//! Graphs against num-bigint, and malformed ones.

use num_bigint::BigInt;
use proofmill_field::bn254::Fr;
use proofmill_witness::{Binary, Graph, Inputs, WitnessError};

fn modulus() -> BigInt {
    (Fr::from(0) - Fr::from(1)).to_string().parse::<BigInt>().unwrap() + 1
}

/// Edges of operands: around 0, p/2, p, powers of two.
fn edges() -> Vec<BigInt> {
    let p = modulus();
    let mut edges: Vec<BigInt> = Vec::new();
    for offset in -2_i32..=2 {
        edges.extend([BigInt::from(0) + offset, &p / 2 + offset]);
        edges.extend(
            [1_u32, 7, 31, 32, 63, 64, 65, 127, 128, 192, 250, 252, 253]
                .map(|bits| (BigInt::from(1) << bits) + offset),
        );
    }
    edges.extend([BigInt::from(253), BigInt::from(254), BigInt::from(255), &p - 253, &p - 254]);
    edges.into_iter().map(|value| ((value % &p) + &p) % &p).collect()
}

/// The definition of an operation in circom's documentation.
fn expected(operation: Binary, a: &BigInt, b: &BigInt) -> BigInt {
    let (p, zero) = (modulus(), BigInt::from(0));
    let signed = |value: &BigInt| if value > &(&p / 2) { value - &p } else { value.clone() };
    let mask: BigInt = (BigInt::from(1) << 254) - 1;
    let shift = |by: BigInt| {
        if by.magnitude() >= BigInt::from(254).magnitude() {
            return zero.clone();
        }
        let count: u32 = by.magnitude().to_string().parse().unwrap();
        if by < zero { a >> count } else { (a << count) & &mask }
    };
    let truth = |holds: bool| BigInt::from(u8::from(holds));
    let (signed_a, signed_b) = (signed(a), signed(b));
    let result: BigInt = match operation {
        Binary::Multiply => a * b,
        Binary::Divide => a * b.modpow(&(&p - 2), &p),
        Binary::Add => a + b,
        Binary::Subtract => a - b + &p,
        Binary::Power => a.modpow(b, &p),
        Binary::IntegerDivide if b == &zero => zero.clone(),
        Binary::IntegerDivide => a / b,
        Binary::Remainder if b == &zero => zero.clone(),
        Binary::Remainder => a % b,
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::Less => truth(signed_a < signed_b),
        Binary::Greater => truth(signed_a > signed_b),
        Binary::LessOrEqual => truth(signed_a <= signed_b),
        Binary::GreaterOrEqual => truth(signed_a >= signed_b),
        Binary::And => truth(a != &zero && b != &zero),
        Binary::Or => truth(a != &zero || b != &zero),
        Binary::ShiftLeft => shift(signed_b),
        Binary::ShiftRight => shift(-signed_b),
        Binary::BitOr => a | b,
        Binary::BitAnd => a & b,
        Binary::BitXor => a ^ b,
    };
    result % p
}

#[test]
fn operations_at_edges() {
    let edges = edges();
    let elements: Vec<Fr> = edges.iter().map(|value| value.to_string().parse().unwrap()).collect();
    for operation in Binary::ALL {
        for (a, x) in edges.iter().zip(&elements) {
            for (b, y) in edges.iter().zip(&elements) {
                let found = operation.evaluate(*x, *y).to_string();
                assert_eq!(found, expected(operation, a, b).to_string(), "{operation:?} {a} {b}");
            }
        }
    }
}

/// Limbs that make the estimates of a quotient's limbs too large, or need all of its carries.
#[test]
fn integers_of_special_limbs_are_divided() {
    let p = modulus();
    let limbs = [0, 1, 1 << 63, u64::MAX];
    let mut numbers = vec![BigInt::from(0)];
    for _ in 0..4 {
        let longer = |number: &BigInt| limbs.map(|limb| (number << 64) + limb);
        numbers = numbers.iter().flat_map(longer).collect();
    }
    let numbers: Vec<BigInt> = numbers.into_iter().map(|number| number % &p).collect();
    let elements: Vec<Fr> = numbers.iter().map(|number| number.to_string().parse().unwrap()).collect();
    for (a, x) in numbers.iter().zip(&elements) {
        for (b, y) in numbers.iter().zip(&elements) {
            for operation in [Binary::IntegerDivide, Binary::Remainder] {
                let found = operation.evaluate(*x, *y).to_string();
                assert_eq!(found, expected(operation, a, b).to_string(), "{operation:?} {a} {b}");
            }
        }
    }
}

/// `1, product = a * b[1] + 300` as circom-witnesscalc encodes it.
fn graph() -> Vec<u8> {
    let delimited = |content: &[u8]| [&[content.len() as u8], content].concat();
    let field = |number: u8, content: &[u8]| [&[number << 3 | 2], &delimited(content)[..]].concat();
    let mut bytes = b"wtns.graph.001".to_vec();
    bytes.extend(6_u64.to_le_bytes());
    for node in [
        field(1, &[]),
        field(1, &[8, 1]),
        field(1, &[8, 3]),
        field(2, &field(1, &field(1, &[44, 1]))),
        field(4, &[16, 1, 24, 2]),
        field(4, &[8, 2, 16, 4, 24, 3]),
    ] {
        bytes.extend(delimited(&node));
    }
    let offset = bytes.len() as u64;
    let input = |name: &str, offset: u8, length: u8| {
        field(2, &[field(1, name.as_bytes()), field(2, &[8, offset, 16, length])].concat())
    };
    bytes.extend(delimited(&[field(1, &[0, 5]), input("a", 1, 1), input("b", 2, 2)].concat()));
    bytes.extend(offset.to_le_bytes());
    bytes
}

fn calculate(bytes: &[u8], inputs: &str) -> Result<Vec<String>, WitnessError> {
    let values = <Graph>::from_bytes(bytes)?.calculate(&Inputs::from_json(inputs.as_bytes())?)?;
    Ok(values.iter().map(ToString::to_string).collect())
}

#[test]
fn a_graph_is_evaluated() {
    // The file is for tests of the command and the fuzzer.
    assert_eq!(graph(), include_bytes!("../data/product.wcd"));
    assert_eq!(calculate(&graph(), r#"{"a": 7, "b": [9, "0x0b"]}"#).unwrap(), ["1", "377"]);
    for (inputs, problem) in [
        (r#"{"a": 7}"#, "signal b is missing: expected 2 values"),
        (r#"{"a": 7, "b": 1}"#, "signal b: expected 2 values, found 1"),
        (r#"{"a": 7, "c": 1}"#, "signal c is not an input of the circuit"),
    ] {
        assert_eq!(calculate(&graph(), inputs).unwrap_err().to_string(), problem);
    }
}

#[test]
fn malformed_graphs_are_refused() {
    let good = graph();
    for length in 0..good.len() {
        assert!(<Graph>::from_bytes(&good[..length]).is_err(), "{length}");
    }
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            let _ = calculate(&bytes, r#"{"a": 7, "b": [9, 11]}"#);
        }
    }
    let mut counted = good;
    counted[14..22].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(<Graph>::from_bytes(&counted).is_err());
}
