//! Arbitrary bytes as circom's WASM, as compiled circuits and as graphs, which run within limits; as inputs of both, which are the same after writing and
//! reading them again; and as names of signals. Native arithmetic is compared with circom's own in tests: interpreters are slow here.
#![no_main]

mod programs;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use proofmill_circom::Symbols;
use proofmill_field::{Field, bn254::Fr};
use proofmill_witness::{Compiled, Event, Graph, Inputs, Limits, Program, WitnessError};
use std::sync::LazyLock;

/// A tenth of a second here.
const LIMITS: Limits = Limits { memory: 1 << 22, steps: Some(50_000) };

const SYMBOLS: &[u8] = include_bytes!("../../crates/witness/tests/data/inputs.sym");

/// Circuits of circom 2 and 1.
static PROGRAMS: LazyLock<[Program; 2]> = LazyLock::new(|| {
    [
        &include_bytes!("../../crates/witness/tests/data/minimal.wasm")[..],
        include_bytes!("../../crates/witness/tests/data/circom1/minimal.wasm"),
    ]
    .map(|wasm| observed(<Program>::from_bytes(wasm, LIMITS).expect("a circuit")))
});
static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    <Graph>::from_bytes(include_bytes!("../../crates/witness/tests/data/product.wcd")).expect("a graph")
});
/// Inputs of the seeds' circuits.
static INPUTS: LazyLock<[Inputs; 3]> = LazyLock::new(|| {
    [r#"{"a": 3, "b": [1, 2, 3, 4, 5, 6]}"#, r#"{"x": 3}"#, r#"{"a": 7, "b": [9, 11]}"#]
        .map(|text| <Inputs>::from_json(text.as_bytes()).expect("inputs"))
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    programs::mutate(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(&<Program>::MAGIC) {
        let Some(program) = checked(<Program>::from_bytes(bytes, LIMITS)) else { return };
        let program = observed(program);
        INPUTS.iter().for_each(|inputs| {
            run(&program, inputs);
            compile(bytes, inputs);
        });
    } else if bytes.starts_with(&<Compiled>::MAGIC) {
        let Some(compiled) = checked(<Compiled>::from_bytes(bytes, LIMITS)) else { return };
        INPUTS.iter().for_each(|inputs| drop(checked(compiled.calculate(inputs))));
    } else if bytes.starts_with(<Graph>::MAGIC) {
        let Some(graph) = checked(<Graph>::from_bytes(bytes)) else { return };
        INPUTS.iter().for_each(|inputs| evaluate(&graph, inputs));
    } else {
        symbols(bytes);
        let Some(inputs) = checked(<Inputs>::from_json(bytes)) else { return };
        assert_eq!(
            listed(&inputs),
            listed(&<Inputs>::from_json(written(&inputs).as_bytes()).expect("inputs"))
        );
        PROGRAMS.iter().for_each(|program| run(program, &inputs));
        evaluate(&GRAPH, &inputs);
    }
});

/// The program, with names of signals, whose lines of `log()` are checked.
fn observed(program: Program) -> Program {
    let symbols = Symbols::parse("names", SYMBOLS.to_vec()).expect("names");
    program.with_symbols(symbols).on_event(|event| {
        if let Event::Log(line) = event {
            check(line);
        }
    })
}

fn run(program: &Program, inputs: &Inputs) {
    if let Some(values) = checked(program.calculate(inputs)) {
        assert_eq!(values.first(), Some(&Fr::ONE));
    }
    let debugged = program.debug(inputs);
    match debugged.error {
        Some(error) => check(&format!("{error:#}")),
        None => assert_eq!(debugged.values.first(), Some(&Fr::ONE)),
    }
}

/// What is compiled for inputs gives their witness, and after writing and reading it the same for others.
fn compile(wasm: &[u8], sample: &Inputs) {
    let Some(compiled) = checked(<Compiled>::new(wasm, sample, LIMITS)) else { return };
    let again = <Compiled>::from_bytes(compiled.to_bytes(), LIMITS).expect("a compiled circuit");
    for inputs in INPUTS.iter() {
        let evaluated = checked(compiled.evaluate(inputs)).flatten();
        assert_eq!(evaluated, checked(again.evaluate(inputs)).flatten());
    }
}

fn evaluate(graph: &Graph, inputs: &Inputs) {
    if let Some(values) = checked(graph.calculate(inputs)) {
        assert_eq!(values.first(), Some(&Fr::ONE));
    }
}

/// The result, if its error is fit for a terminal.
fn checked<T>(result: Result<T, WitnessError>) -> Option<T> {
    result.inspect_err(|error| check(&error.to_string())).ok()
}

fn check(text: &str) {
    assert!(text.len() < 1 << 20 && !text.contains(char::is_control), "{text:?}");
}

/// The names and values of the signals, by name.
fn listed(inputs: &Inputs) -> Vec<(&str, &[Fr])> {
    let mut signals: Vec<_> =
        inputs.signals().iter().map(|signal| (signal.name.as_str(), signal.values.as_slice())).collect();
    signals.sort_by_key(|(name, _)| *name);
    signals
}

/// The inputs as a text in which each signal is a list.
fn written(inputs: &Inputs) -> String {
    let member = |(name, values): (&str, &[Fr])| {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        (name.to_owned(), values.into())
    };
    serde_json::Value::Object(listed(inputs).into_iter().map(member).collect()).to_string()
}

fn symbols(bytes: &[u8]) {
    match Symbols::parse("input", bytes.to_vec()) {
        Ok(symbols) => {
            assert!(symbols.wires() as u64 <= symbols.signals());
            let names: Vec<&str> = (0..=bytes.len() as u32).filter_map(|wire| symbols.name(wire)).collect();
            assert!(names.len() <= symbols.wires());
            assert!(
                names.iter().all(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()))
            );
        }
        Err(error) => check(&error.to_string()),
    }
}
