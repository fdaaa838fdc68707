//! Compiled circuits, and WASMs in the machine, against the interpreter.
//!
//! `circom2 branches.circom --O0 --wasm` (npm circom2 0.2.23, circom 2.2.3) made `branches.wasm`, and with `Choices(4)` as the main
//! component `choices.wasm`.

use proofmill_circom::{CircomCurve, PairingCurve, ScalarPrime, over_curve};
use proofmill_field::{Fp, bn254::FrParams};
use proofmill_witness::{Compiled, Event, Inputs, Limits, Program, WitnessError};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use zeroize::Zeroizing;

const CHOICES: &[u8] = include_bytes!("../data/choices.wasm");
const BRANCHES: &[u8] = include_bytes!("../data/branches.wasm");
const KEPT: &[u8] = include_bytes!("../data/inputs.wcd");
const COMPONENTS: &[u8] = include_bytes!("../data/components.wasm");
const INPUTS: &[u8] = include_bytes!("../data/inputs.wasm");
const CIRCOM1: &[u8] = include_bytes!("../data/circom1/inputs.wasm");
const OLD_CIRCOM1: &[u8] = include_bytes!("../data/circom1/old.wasm");
/// `circom2 components.circom --wasm` of npm circom2 0.2.0, circom 2.0.3, made it.
const OLD_COMPONENTS: &[u8] = include_bytes!("../data/components-2.0.3.wasm");
const OPERATORS: &[u8] = include_bytes!("../data/operators.wasm");
const OPERATORS_BLS12_381: &[u8] = include_bytes!("../data/operators-bls12-381.wasm");

fn inputs<P: ScalarPrime>(json: &str) -> Inputs<P> {
    Inputs::from_json(json.as_bytes()).unwrap()
}

/// Compiled for a sample, written and read.
fn compile<P: ScalarPrime>(wasm: &[u8], sample: &str) -> Compiled<P> {
    let compiled = Compiled::<P>::new(wasm, &inputs(sample), Limits::default()).unwrap();
    Compiled::from_bytes(compiled.to_bytes(), Limits::default()).unwrap()
}

/// The interpreter's witness, which the machine's is, too.
fn interpreted<P: ScalarPrime>(
    wasm: &[u8],
    inputs: &Inputs<P>,
) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
    let program = Program::from_bytes(wasm, Limits::default()).unwrap();
    // Debugging is not for the machine.
    let debugged = program.debug(inputs);
    let expected = match debugged.error {
        Some(error) => Err(error),
        None => Ok(debugged.values),
    };
    assert_eq!(program.calculate(inputs), expected);
    expected
}

/// Whether the graph is for these inputs; then its witness is the interpreter's, and in any case the compiled circuit's is.
fn is_for<P: ScalarPrime>(compiled: &Compiled<P>, wasm: &[u8], json: &str) -> bool {
    let inputs = inputs(json);
    let expected = interpreted(wasm, &inputs);
    assert_eq!(compiled.calculate(&inputs), expected, "{json}");
    match compiled.evaluate(&inputs).unwrap() {
        Some(witness) => {
            assert_eq!(witness, expected.unwrap(), "{json}");
            true
        }
        None => false,
    }
}

fn pair(a: &[u64], b: &[u64]) -> String {
    serde_json::json!({ "a": a, "b": b }).to_string()
}

fn numbers() -> impl Strategy<Value = [Vec<u64>; 2]> {
    let number = || prop_oneof![0..8_u64, 0..40_u64, any::<u64>()];
    let numbers = move || prop::collection::vec(number(), 4);
    // Equal numbers reach what random ones do not.
    (numbers(), numbers(), 0..5_usize).prop_map(|(a, mut b, equal)| {
        b.iter_mut().zip(&a).take(equal).for_each(|(b, a)| *b = *a);
        [a, b]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whichever way the sample goes, both ways of each branch are in the graph.
    #[test]
    fn choices_are_for_all_inputs([a, b] in numbers(), others in prop::collection::vec(numbers(), 6)) {
        prop_assume!(b[0] == 0 || a[0] != 13);
        let compiled: Compiled = compile(CHOICES, &pair(&a, &b));
        for [a, b] in others {
            // An assertion fails then.
            let fails = b[0] != 0 && a[0] == 13;
            prop_assert_eq!(is_for(&compiled, CHOICES, &pair(&a, &b)), !fails, "{:?} {:?}", a, b);
        }
    }

    /// Where a loop or an index depends on inputs, another sample's graph gives the witness or none.
    #[test]
    fn guesses_are_guarded([a, b] in numbers(), others in prop::collection::vec(numbers(), 6)) {
        prop_assume!(b[0] == 0 || a[0] != 13);
        let compiled: Compiled = compile(BRANCHES, &pair(&a, &b));
        prop_assert!(is_for(&compiled, BRANCHES, &pair(&a, &b)));
        for [mut other, b] in others {
            is_for(&compiled, BRANCHES, &pair(&other, &b));
            // What the guesses are of is the same.
            other[0..3].copy_from_slice(&a[0..3]);
            prop_assert_eq!(is_for(&compiled, BRANCHES, &pair(&other, &b)), b[0] == 0 || a[0] != 13);
        }
    }
}

#[test]
fn guesses_are_wrong_for_other_inputs() {
    let compiled: Compiled = compile(BRANCHES, &pair(&[5, 2, 7, 1], &[1, 2, 3, 4]));
    assert!(is_for(&compiled, BRANCHES, &pair(&[4, 6, 7, 9], &[4, 3, 2, 1])));
    // The loop's length, the index, and the loop in the branch, with what it prints.
    for a in [[9, 2, 7, 1], [5, 3, 7, 1], [5, 2, 8, 1], [5, 2, 3, 1]] {
        assert!(!is_for(&compiled, BRANCHES, &pair(&a, &[1, 2, 3, 4])), "{a:?}");
    }
}

#[test]
fn every_operator() {
    for (wasm, curve) in [(OPERATORS, PairingCurve::Bn254), (OPERATORS_BLS12_381, PairingCurve::Bls12_381)] {
        let samples = [
            include_str!("../data/operators-small.json"),
            include_str!("../data/operators-large.json"),
            include_str!("../data/operators-edges.json"),
        ];
        for sample in samples {
            over_curve!(curve, C => {
                let compiled = compile::<<C as CircomCurve>::ScalarPrime>(wasm, sample);
                for other in samples {
                    assert!(is_for(&compiled, wasm, other));
                }
            });
        }
    }
}

#[test]
fn circuits_of_older_versions() {
    let compiled: Compiled = compile(OLD_COMPONENTS, r#"{"a": 1, "c": [2, 3]}"#);
    assert!(is_for(&compiled, OLD_COMPONENTS, r#"{"a": 20, "c": [5, -6]}"#));
    // An assertion fails.
    assert!(!is_for(&compiled, OLD_COMPONENTS, r#"{"a": 7, "c": [0, 6]}"#));
}

#[test]
fn circuits_of_circom_1() {
    for wasm in [CIRCOM1, OLD_CIRCOM1] {
        let samples = [include_str!("../data/small.json"), include_str!("../data/huge.json")];
        for sample in samples {
            let compiled: Compiled = compile(wasm, sample);
            for other in samples {
                assert!(is_for(&compiled, wasm, other));
            }
            for a in [-1, 7, 5, 12] {
                is_for(&compiled, wasm, &format!(r#"{{"a": {a}, "b": [1, 2, 3, 4, 5, 6]}}"#));
            }
            assert!(!is_for(&compiled, wasm, r#"{"a": 0, "b": [1, 2, 3, 4, 5, 6]}"#));
        }
    }
}

#[test]
fn assertions_are_told_by_the_interpreter() {
    let compiled: Compiled = compile(INPUTS, include_str!("../data/small.json"));
    for a in [0, 7] {
        let inputs = inputs(&format!(r#"{{"a": {a}, "b": [1, 2, 3, 4, 5, 6]}}"#));
        assert!(compiled.evaluate(&inputs).unwrap().is_none());
        let error = compiled.calculate(&inputs).unwrap_err();
        assert!(matches!(&error, WitnessError::Unsatisfied { .. }));
        assert!(error.to_string().contains("Error in template Inputs_1 line: "), "{error}");
    }
    let sample = r#"{"a": 7, "b": [1, 2, 3, 4, 5, 6]}"#;
    let error = <Compiled>::new(INPUTS, &inputs(sample), Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the circuit cannot be compiled: an assertion fails for these inputs");
    // Nested components, some of which fail.
    let compiled: Compiled = compile(COMPONENTS, r#"{"a": 1, "c": [2, 3]}"#);
    for a in 0..20 {
        is_for(&compiled, COMPONENTS, &format!(r#"{{"a": {a}, "c": [5, 6]}}"#));
    }
}

#[test]
fn inputs_that_are_not_the_circuits() {
    let compiled: Compiled = compile(INPUTS, include_str!("../data/small.json"));
    for inputs in [r#"{"a": 1}"#, r#"{"a": 1, "b": [1, 2]}"#, r#"{"a": 1, "b": [1, 2, 3, 4, 5, 6], "c": 1}"#]
    {
        assert!(!is_for(&compiled, INPUTS, inputs));
        for wasm in [INPUTS, CIRCOM1] {
            let inputs = Inputs::from_json(inputs.as_bytes()).unwrap();
            let error = <Compiled>::new(wasm, &inputs, Limits::default()).unwrap_err().to_string();
            assert!(error.starts_with("the circuit cannot be compiled: "), "{error}");
        }
    }
}

#[test]
fn lines_of_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let received = lines.clone();
    let observe = move |event: Event<'_>| match event {
        Event::Log(line) => received.lock().unwrap().push(line.to_owned()),
        event => panic!("{event:?}"),
    };
    let compiled =
        compile::<FrParams>(CHOICES, &pair(&[1, 2, 3, 4], &[5, 6, 7, 8])).on_event(observe.clone());
    let program = <Program>::from_bytes(CHOICES, Limits::default()).unwrap().on_event(observe);
    let inputs = inputs(&pair(&[20, 2, 3, 4], &[3, 6, 7, 8]));
    program.calculate(&inputs).unwrap();
    compiled.evaluate(&inputs).unwrap().unwrap();
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("compared "), "{lines:?}");
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn limits() {
    let sample = pair(&[1, 2, 3, 4], &[5, 6, 7, 8]);
    let steps = Limits { steps: Some(1000), ..Limits::default() };
    let error = <Compiled>::new(CHOICES, &inputs(&sample), steps).unwrap_err();
    assert_eq!(error.to_string(), "the circuit's WASM takes more steps than it may");
    let memory = Limits { memory: 1 << 16, ..Limits::default() };
    let error = <Compiled>::new(CHOICES, &inputs(&sample), memory).unwrap_err();
    assert_eq!(error.to_string(), "the circuit cannot be compiled: it needs more memory than it may have");
    // The bound is met by the circuit on every way, so that one that is given up does not hide it.
    let compile =
        |operations| <Compiled>::of_at_most(operations, CHOICES, &inputs(&sample), Limits::default());
    let least = (1..20_000).rev().step_by(50).take_while(|operations| compile(*operations).is_ok()).last();
    let least = least.unwrap();
    assert!(least > 100, "{least}");
    for operations in [1, least / 2, least - 50] {
        let error = compile(operations).unwrap_err();
        assert_eq!(
            error,
            WitnessError::Limit(format!("the compiled circuit has more than {operations} operations"))
        );
    }
}

#[test]
fn malformed_files_are_refused() {
    let good =
        <Compiled>::new(INPUTS, &inputs(include_str!("../data/small.json")), Limits::default()).unwrap();
    let good = good.to_bytes();
    let refused = |bytes: &[u8]| <Compiled>::from_bytes(bytes, Limits::default()).unwrap_err().to_string();
    for length in 0..good.len() {
        refused(&good[..length]);
    }
    assert_eq!(
        refused(&[&good[..], &[0]].concat()),
        "not a compiled circuit: there are bytes behind its end"
    );
    let mut other = good.clone();
    other[4] = 0;
    let problem = "not a compiled circuit: expected the version 2, found 0: compile it again";
    assert_eq!(refused(&other), problem);
    over_curve!(PairingCurve::Bls12_381, C => {
        let error = Compiled::<<C as CircomCurve>::ScalarPrime>::from_bytes(good.clone(), Limits::default()).unwrap_err();
        assert!(matches!(error, WitnessError::Prime { .. }));
    });
    // Whatever byte is changed, there is an error or a value.
    let inputs = inputs::<FrParams>(include_str!("../data/small.json"));
    let graph = good.len() - INPUTS.len();
    for at in 0..graph {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = good.clone();
            changed[at] = value;
            if let Ok(compiled) = <Compiled>::from_bytes(changed, Limits::default()) {
                drop(compiled.evaluate(&inputs));
            }
        }
    }
}

/// `proofmill wtns compile inputs.wasm small.json inputs.wcd`, by the first revision with version 2 of the format. A file that is kept is read or refused by its version, not
/// misunderstood.
#[test]
fn files_of_before() {
    let compiled = <Compiled>::from_bytes(KEPT, Limits::default()).unwrap();
    for json in [include_str!("../data/small.json"), include_str!("../data/edges.json")] {
        assert!(is_for(&compiled, INPUTS, json));
    }
}
