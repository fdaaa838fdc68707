//! Circuits of circom 1 against what snarkjs calculates with them; and what is refused.
//!
//! `circom inputs.circom -w -s` of npm circom 0.5.46 made the circuit's files, that of 0.5.30 `old.wasm`, from the circuit without
//! `assert` and `log`, which it lacks. `snarkjs wtns calculate inputs.wasm ../small.json small.wtns` (0.7.6) made the witnesses.

use proofmill_circom::{Symbols, read_witness, write_witness};
use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_witness::{Event, Inputs, Limits, Program, WitnessError};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};
use zeroize::Zeroizing;

const WASM: &[u8] = include_bytes!("../data/circom1/inputs.wasm");
/// Before 0.5.34 tables have other addresses.
const OLD_WASM: &[u8] = include_bytes!("../data/circom1/old.wasm");
const ONE_TO_SIX: &str = "[1, 2, 3, 4, 5, 6]";

fn data(name: &str) -> std::path::PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(name)
}

fn symbols() -> Symbols {
    Symbols::open(&data("circom1/inputs.sym")).unwrap()
}

fn calculate(wasm: &[u8], inputs: &str) -> Result<Zeroizing<Vec<Fr>>, WitnessError> {
    <Program>::from_bytes(wasm, Limits::default())?.calculate(&Inputs::from_json(inputs.as_bytes())?)
}

fn problem(inputs: &str) -> String {
    calculate(WASM, inputs).expect_err(inputs).to_string()
}

/// [`problem`] with names, and with values.
fn named_problem(inputs: &str) -> String {
    let program = <Program>::from_bytes(WASM, Limits::default()).unwrap().with_symbols(symbols());
    let error = program.calculate(&<Inputs>::from_json(inputs.as_bytes()).unwrap()).expect_err(inputs);
    format!("{error:#}")
}

#[test]
fn the_bytes_of_snarkjs() {
    for (inputs, expected) in [
        (include_str!("../data/small.json"), &include_bytes!("../data/circom1/small.wtns")[..]),
        (include_str!("../data/huge.json"), include_bytes!("../data/circom1/huge.wtns")),
    ] {
        for wasm in [WASM, OLD_WASM] {
            let mut bytes = Vec::new();
            write_witness(&mut bytes, &calculate(wasm, inputs).unwrap()).unwrap();
            assert_eq!(bytes, expected, "{inputs}");
        }
    }
}

/// Negative inputs too, on which snarkjs fails, against the signals that circom 2's JavaScript gave for the same circuit.
#[test]
fn the_signals_of_circom_2() {
    let names = |symbols: &Symbols, values: &[Fr]| -> BTreeMap<String, Fr> {
        let symbols = symbols.each().filter(|symbol| symbol.name.matches('.').count() == 1);
        symbols.map(|symbol| (symbol.name.to_owned(), values[symbol.wire.unwrap() as usize])).collect()
    };
    for name in ["small", "edges", "huge", "unquoted"] {
        let inputs = std::fs::read_to_string(data(&format!("{name}.json"))).unwrap();
        let expected = read_witness(&data(&format!("{name}.wtns")), Level::best()).unwrap();
        let expected = names(&Symbols::open(&data("inputs.sym")).unwrap(), &expected);
        assert_eq!(expected.len(), 9);
        for wasm in [WASM, OLD_WASM] {
            assert_eq!(names(&symbols(), &calculate(wasm, &inputs).unwrap()), expected, "{name}");
        }
    }
}

#[test]
fn other_inputs_are_named() {
    let problems = [
        (r#"{"a": 1}"#, "only 1 of the circuit's 7 input values are given"),
        (r#"{"a": 1, "b": [1, 2, 3, 4, 5]}"#, "signal b: expected 6 values, found 5"),
        (r#"{"a": 1, "b": [1, 2, 3, 4, 5, 6, 7]}"#, "signal b: expected 6 values, found 7"),
        (r#"{"a": 1, "c": 1}"#, "signal c is not an input of the circuit"),
        (r#"{"a": 1, "sum": 1}"#, "signal sum is not an input of the circuit"),
        (r#"{"a": 1, "square": 1}"#, "signal square is not an input of the circuit"),
    ];
    for (inputs, expected) in problems {
        assert_eq!(problem(inputs), expected, "{inputs}");
        let error = calculate(OLD_WASM, inputs).unwrap_err();
        assert_eq!(error.to_string(), expected, "{inputs}");
        assert_eq!(matches!(error, WitnessError::Missing(_)), expected.starts_with("only"));
    }
    assert_eq!(named_problem(r#"{"a": 1}"#), "signal b is missing: expected 6 values");
    assert_eq!(
        named_problem("{}"),
        "signal a is missing: expected 1 value; signal b is missing: expected 6 values"
    );
}

#[test]
fn failing_assertions_and_constraints_are_located() {
    let inputs = format!(r#"{{"a": 7, "b": {ONE_TO_SIX}}}"#);
    let expected = "an assertion of the circuit fails: /circuits/inputs.circom:5:4";
    assert_eq!(problem(&inputs), expected);
    assert_eq!(named_problem(&inputs), format!("{expected}; in main.square"));
    let inputs = format!(r#"{{"a": 0, "b": {ONE_TO_SIX}}}"#);
    let expected = "a constraint of the circuit fails: /circuits/inputs.circom:24:4";
    assert_eq!(problem(&inputs), expected);
    assert_eq!(named_problem(&inputs), format!("{expected}; in main: 0 is not 1"));
}

/// `snarkjs wtns debug inputs.wasm input.json w.wtns inputs.sym -g -s -t` printed data/circom1/debug.txt.
#[test]
fn the_events_of_snarkjs() {
    let names: BTreeMap<u64, String> =
        symbols().each().map(|symbol| (symbol.label, symbol.name.to_owned())).collect();
    let (lines, signal) =
        (Arc::new(Mutex::new(String::new())), move |label: u32| names[&u64::from(label)].clone());
    let received = lines.clone();
    let component = |number| ["main", "main.square"][number as usize];
    let program = <Program>::from_bytes(WASM, Limits::default()).unwrap().on_event(move |event| {
        received.lock().unwrap().push_str(&match event {
            Event::Log(line) => format!("{line}\n"),
            Event::Set(label, value) => format!("SET {} <-- {value}\n", signal(label)),
            Event::Get(label, value) => format!("GET {} --> {value}\n", signal(label)),
            Event::Start(number) => format!("START: {}\n", component(number)),
            Event::Finish(number) => format!("FINISH: {}\n", component(number)),
            event => panic!("{event:?}"),
        });
    });
    let inputs = <Inputs>::from_json(format!(r#"{{"a": 4, "b": {ONE_TO_SIX}}}"#).as_bytes()).unwrap();
    // Only log() without debugging.
    let values = program.calculate(&inputs).unwrap();
    assert_eq!(std::mem::take(&mut *lines.lock().unwrap()), "4\n");
    let debugged = program.debug(&inputs);
    assert_eq!((debugged.error, debugged.values), (None, values));
    assert_eq!(*lines.lock().unwrap(), include_str!("../data/circom1/debug.txt"));
}

#[test]
fn values_at_a_failing_assertion() {
    let inputs = <Inputs>::from_json(format!(r#"{{"a": 7, "b": {ONE_TO_SIX}}}"#).as_bytes()).unwrap();
    let debugged = <Program>::from_bytes(WASM, Limits::default()).unwrap().debug(&inputs);
    assert!(matches!(debugged.error, Some(WitnessError::Unsatisfied { .. })));
    let expected = [1, 0, 0, 7, 1, 2, 3, 4, 5, 6].map(Fr::from);
    assert_eq!(*debugged.values, expected);
    assert_eq!(debugged.values[1], Fr::ZERO, "sum");
}

#[test]
fn limits_hold() {
    let inputs = <Inputs>::from_json(include_bytes!("../data/small.json")).unwrap();
    for limits in [
        Limits { steps: Some(1000), ..Limits::default() },
        // The module asks for 125 MiB.
        Limits { memory: 1 << 26, steps: None },
    ] {
        let error = <Program>::from_bytes(WASM, limits).unwrap().calculate(&inputs).unwrap_err();
        assert!(matches!(error, WitnessError::Limit(_)), "{error}");
    }
    let enough = Limits { memory: 1 << 28, steps: Some(10_000_000) };
    <Program>::from_bytes(WASM, enough).unwrap().calculate(&inputs).unwrap();
}

/// No change of a byte of the program makes the interpreter panic or run without end.
#[test]
fn hostile_programs() {
    let inputs = <Inputs>::from_json(include_bytes!("../data/small.json")).unwrap();
    let limits = Limits { memory: 1 << 28, steps: Some(1_000_000) };
    // Behind the functions for field elements are those of the circuit and its tables.
    let tables = WASM.len() - 6000;
    for at in (0..tables).step_by(2999).chain((tables..WASM.len()).step_by(97)) {
        let mut wasm = WASM.to_vec();
        wasm[at] ^= 0x15;
        if let Ok(program) = <Program>::from_bytes(&wasm, limits) {
            let _ = program.with_symbols(symbols()).debug(&inputs);
        }
    }
}
