//! Names of a `.sym` in errors of circom 2's circuits, and the values where an assertion fails.
//!
//! `circom2 components.circom --wasm --sym` (npm circom2 0.2.23, circom 2.2.3) made the circuit's files.

use proofmill_circom::Symbols;
use proofmill_field::bn254::Fr;
use proofmill_witness::{Debugged, Inputs, Limits, Program, WitnessError};

fn program() -> Program {
    let symbols =
        Symbols::parse("components.sym", include_bytes!("../data/components.sym").to_vec()).unwrap();
    let wasm = include_bytes!("../data/components.wasm");
    <Program>::from_bytes(wasm, Limits::default()).unwrap().with_symbols(symbols)
}

fn debug(inputs: &str) -> Debugged {
    program().debug(&<Inputs>::from_json(inputs.as_bytes()).unwrap())
}

#[test]
fn missing_inputs_are_named() {
    for (inputs, expected) in [
        (r#"{"a": 1}"#, "signal c is missing: expected 2 values"),
        (r#"{"c": [1, 2]}"#, "signal a is missing: expected 1 value"),
        ("{}", "signal a is missing: expected 1 value; signal c is missing: expected 2 values"),
    ] {
        let error = program().calculate(&<Inputs>::from_json(inputs.as_bytes()).unwrap()).unwrap_err();
        assert_eq!((error.to_string().as_str(), matches!(error, WitnessError::Signals(_))), (expected, true));
        let debugged = debug(inputs);
        assert_eq!((debugged.error, debugged.values.len()), (Some(error), 0));
    }
}

#[test]
fn components_of_failing_assertions_are_named() {
    for (inputs, expected) in [
        (r#"{"a": 7, "c": [0, 0]}"#, "; in main.branches[0].leaves[0] or main.branches[1].leaves[0]"),
        (r#"{"a": 3, "c": [0, 0]}"#, "; in main.branches[0].leaves[2] or main.branches[1].leaves[2]"),
        // In a function.
        (r#"{"a": 13, "c": [0, 0]}"#, "; in main.branches[0].leaves[0] or main.branches[1].leaves[0]"),
    ] {
        let error = debug(inputs).error.unwrap().to_string();
        assert!(error.starts_with("an assertion or constraint of the circuit fails: Error in "), "{error}");
        assert!(error.ends_with(expected), "{error}");
    }
}

/// A `.sym` of another circuit names nothing.
#[test]
fn other_names_are_not_used() {
    let symbols = Symbols::parse("inputs.sym", include_bytes!("../data/inputs.sym").to_vec()).unwrap();
    let program = program().with_symbols(symbols);
    let failing = <Inputs>::from_json(br#"{"a": 7, "c": [0, 0]}"#).unwrap();
    let error = program.calculate(&failing).unwrap_err().to_string();
    assert!(error.ends_with("Error in template Components_4 line: 37"), "{error}");
    let missing = <Inputs>::from_json(br#"{"a": 7}"#).unwrap();
    assert!(matches!(program.calculate(&missing), Err(WitnessError::Missing(_))));
}

/// What `getWitness` of circom's witness_calculator.js gave after the exception, or at the end.
#[test]
fn the_values_of_circoms_javascript() {
    let cases: [(&str, [u64; 21]); 4] = [
        (r#"{"a": 7, "c": [0, 0]}"#, [1, 0, 7, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (r#"{"a": 3, "c": [0, 0]}"#, [1, 0, 3, 0, 0, 0, 3, 0, 0, 21, 4, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0]),
        (r#"{"a": 13, "c": [0, 0]}"#, [1, 0, 13, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (
            r#"{"a": 2, "c": [0, 0]}"#,
            [1, 15129, 2, 0, 0, 123, 2, 21, 4, 13, 3, 50, 6, 123, 2, 21, 4, 13, 3, 50, 6],
        ),
    ];
    for (inputs, expected) in cases {
        assert_eq!(*debug(inputs).values, expected.map(Fr::from), "{inputs}");
    }
}
