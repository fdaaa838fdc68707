//! Witnesses of `inputs.wasm` against the bytes of the `witness_calculator.js` that circom wrote next to it; and what is refused.
//!
//! `circom2 inputs.circom --wasm --r1cs --sym` (npm circom2 0.2.23, circom 2.2.3) made the circuit's files.

use proofmill_circom::write_witness;
use proofmill_field::bn254::Fr;
use proofmill_witness::{Event, Inputs, Limits, Program, WitnessError};
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

const WASM: &[u8] = include_bytes!("../data/inputs.wasm");

fn calculate_within(wasm: &[u8], inputs: &str, limits: Limits) -> Result<Zeroizing<Vec<Fr>>, WitnessError> {
    <Program>::from_bytes(wasm, limits)?.calculate(&Inputs::from_json(inputs.as_bytes())?)
}

fn calculate(inputs: &str) -> Result<Zeroizing<Vec<Fr>>, WitnessError> {
    calculate_within(WASM, inputs, Limits::default())
}

fn problem(inputs: &str) -> String {
    calculate(inputs).expect_err(inputs).to_string()
}

#[test]
fn the_bytes_of_circoms_javascript() {
    for (inputs, expected) in [
        (include_str!("../data/small.json"), &include_bytes!("../data/small.wtns")[..]),
        (include_str!("../data/edges.json"), include_bytes!("../data/edges.wtns")),
        (include_str!("../data/huge.json"), include_bytes!("../data/huge.wtns")),
        (include_str!("../data/unquoted.json"), include_bytes!("../data/unquoted.wtns")),
    ] {
        let mut bytes = Vec::new();
        write_witness(&mut bytes, &calculate(inputs).unwrap()).unwrap();
        assert_eq!(bytes, expected, "{inputs}");
    }
}

#[test]
fn lines_of_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let received = lines.clone();
    let program =
        <Program>::from_bytes(WASM, Limits::default()).unwrap().on_event(move |event| match event {
            Event::Log(line) => received.lock().unwrap().push(line.to_owned()),
            event => panic!("{event:?}"),
        });
    program.calculate(&<Inputs>::from_json(include_bytes!("../data/small.json")).unwrap()).unwrap();
    // Also of a calculation that fails later.
    program.calculate(&<Inputs>::from_json(br#"{"a": 0, "b": [1, 2, 3, 4, 5, 6]}"#).unwrap()).unwrap_err();
    assert_eq!(*lines.lock().unwrap(), ["x is 3", "x is 0"]);
}

#[test]
fn failing_assertions_and_constraints_are_located() {
    let error = calculate(r#"{"a": 7, "b": [1, 2, 3, 4, 5, 6]}"#).unwrap_err();
    assert!(matches!(error, WitnessError::Unsatisfied { .. }));
    assert_eq!(
        error.to_string(),
        "an assertion or constraint of the circuit fails: Error in template Square_0 line: 7; Error in template Inputs_1 line: 18"
    );
    assert!(problem(r#"{"a": 0, "b": [1, 2, 3, 4, 5, 6]}"#).ends_with("Error in template Inputs_1 line: 26"));
}

#[test]
fn other_inputs_are_named() {
    let problems = [
        (r#"{"a": 1}"#, "only 1 of the circuit's 7 input values are given"),
        (r#"{}"#, "only 0 of the circuit's 7 input values are given"),
        (r#"{"a": 1, "b": [1, 2, 3, 4, 5]}"#, "signal b: expected 6 values, found 5"),
        (r#"{"a": 1, "b": [1, 2, 3, 4, 5, 6, 7]}"#, "signal b: expected 6 values, found 7"),
        (r#"{"a": 1, "c": 1}"#, "signal c is not an input of the circuit"),
        (r#"{"a": 1, "b": [{"x": 1}]}"#, "signal b[0].x is not an input of the circuit"),
        (r#"{"a": {"b": 1}}"#, "signal a.b is not an input of the circuit"),
        (r#"{"a": 1, "a": 2}"#, "signal a is given twice"),
        (r#"[1]"#, "expected an object of signals by name"),
    ];
    for (inputs, expected) in problems {
        assert_eq!(problem(inputs), expected, "{inputs}");
    }
}

#[test]
fn what_is_no_number_is_refused_without_showing_it() {
    for value in [
        "null",
        "1.5",
        "1e30",
        r#""""#,
        r#""12a""#,
        r#""0x""#,
        r#""--1""#,
        r#""0xg""#,
        "123456789012345678901234567890",
    ] {
        let problem = problem(&format!(r#"{{"a": 1, "b": [[1, 2], {value}, 4, 5, 6]}}"#));
        let expected = "signal b, value 2 of 6: expected a whole number, in quotes if it is above 2^64: decimal, or hexadecimal, octal or binary after 0x, 0o or 0b";
        assert_eq!(problem, expected, "{value}");
    }
    assert!(problem("{").contains("line 1 column 1"));
    assert!(problem(&"[".repeat(1_000_000)).contains("recursion limit"));
    let long = "k".repeat(10_000);
    assert!(problem(&format!(r#"{{"{long}": 1}}"#)).len() < 200);
}

/// Every short number and many edges, in every base, against num-bigint.
#[test]
fn numbers_are_reduced() {
    use num_bigint::BigInt;
    let modulus: BigInt = (Fr::from(0) - Fr::from(1)).to_string().parse::<BigInt>().unwrap() + 1;
    for shift in [0_u32, 1, 31, 32, 63, 64, 127, 253, 254, 255, 256, 511, 2000] {
        for offset in -2_i32..=2 {
            for value in
                [(BigInt::from(1) << shift) + offset, &modulus * (offset + 3) + offset] as [BigInt; 2]
            {
                let reduced = ((&value % &modulus) + &modulus) % &modulus;
                let sign = if value.sign() == num_bigint::Sign::Minus { "-" } else { "" };
                let magnitude = value.magnitude();
                for text in [
                    format!("{value}"),
                    format!("{sign}0x{magnitude:x}"),
                    format!("{sign}0X{magnitude:X}"),
                    format!("{sign}0o{magnitude:o}"),
                    format!(" {sign}0b{magnitude:b}\n"),
                ] {
                    let inputs = serde_json::json!({ "a": 1, "b": [text, 0, 0, 0, 0, 0] }).to_string();
                    let inputs = <Inputs>::from_json(inputs.as_bytes()).unwrap();
                    assert_eq!(inputs.signals()[1].values[0].to_string(), reduced.to_string(), "{text}");
                }
            }
        }
    }
}

#[test]
fn limits_hold() {
    let inputs = include_str!("../data/small.json");
    let few_steps = Limits { steps: Some(1000), ..Limits::default() };
    let error = calculate_within(WASM, inputs, few_steps).unwrap_err();
    assert!(matches!(error, WitnessError::Limit(_)), "{error}");
    let enough = Limits { steps: Some(100_000_000), ..Limits::default() };
    calculate_within(WASM, inputs, enough).unwrap();
    let error = calculate_within(WASM, inputs, Limits { memory: 1 << 16, steps: None }).unwrap_err();
    assert!(matches!(error, WitnessError::Limit(_)), "{error}");
}

#[test]
fn other_programs_are_refused() {
    for bytes in [&b""[..], b"\0asm", b"\0asm\x01\0\0\0", b"wtns", &WASM[..WASM.len() - 1]] {
        let error = calculate_within(bytes, "{}", Limits::default()).unwrap_err();
        assert!(matches!(error, WitnessError::Program(_)), "{error}");
    }
    // Another import: `runtime` becomes `runtimf`.
    let mut wasm = WASM.to_vec();
    let at = wasm.windows(7).position(|bytes| bytes == b"runtime").unwrap();
    wasm[at + 6] = b'f';
    let error = calculate_within(&wasm, "{}", Limits::default()).unwrap_err().to_string();
    assert!(error.starts_with("not a circuit of circom's: it imports runtimf."), "{error}");
    // Another prime: the low byte of the modulus in the data section.
    let mut wasm = WASM.to_vec();
    let modulus = [0x93, 0xf5, 0xe1, 0x43];
    let places: Vec<usize> =
        wasm.windows(4).enumerate().filter(|(_, bytes)| *bytes == modulus).map(|(at, _)| at).collect();
    places.into_iter().for_each(|at| wasm[at] = 0x92);
    let error = calculate_within(&wasm, "{}", Limits::default()).unwrap_err();
    assert!(matches!(error, WitnessError::Prime { .. }), "{error}");
}

/// No change of a byte of the program makes the interpreter panic or run without end.
#[test]
fn hostile_programs() {
    let inputs = include_str!("../data/small.json");
    let limits = Limits { memory: 1 << 26, steps: Some(2_000_000) };
    for at in (0..WASM.len()).step_by(97) {
        let mut wasm = WASM.to_vec();
        wasm[at] ^= 0x15;
        let _ = calculate_within(&wasm, inputs, limits);
    }
}

/// Every operator on pairs of edge values, against digests of what circom's JavaScript writes. `circom2 operators.circom --wasm` made the
/// WASM, `new (builder)(wasm).calculateWTNSBin(inputs, 0)` of its witness_calculator.js the digested bytes.
#[test]
fn operators_of_circoms_javascript() {
    let wasm = include_bytes!("../data/operators.wasm");
    for (inputs, expected) in [
        (
            include_str!("../data/operators-small.json"),
            "d0f524245aeea6385c77723fb176f439106180dc450d1c867d7c9e282a64aaa9",
        ),
        (
            include_str!("../data/operators-edges.json"),
            "1811fe6400b86c3570f3455b5ff3f2396bb529446b750cb3a98f3659eff11181",
        ),
        (
            include_str!("../data/operators-large.json"),
            "04e0ca3790f9ffe7a90c86bffb085677124b7267cc7fffc598bb3a7cace581af",
        ),
    ] {
        let mut bytes = Vec::new();
        let calculation = calculate_within(wasm, inputs, Limits::default()).unwrap();
        write_witness(&mut bytes, &calculation).unwrap();
        let digest: String =
            proofmill_sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, expected, "{inputs}");
    }
}
