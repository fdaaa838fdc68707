//! Hostile programs: what they want is refused with its reason, and nothing panics or takes more than the limits.

use proofmill_field::bn254::Fr;
use proofmill_witness::{Inputs, Limits, Program, WitnessError};

const MINIMAL: &str = include_str!("../data/minimal.wat");
const CIRCOM1: &str = include_str!("../data/circom1/minimal.wat");
const INPUTS: &[u8] = br#"{"x": 918273645}"#;
/// Enough for each circuit here that ends.
const STEPS: u64 = 10_000_000;

/// The minimal circuit with parts of its text replaced.
fn changed(changes: &[(&str, &str)]) -> Vec<u8> {
    with_changes(MINIMAL, changes)
}

fn with_changes(text: &str, changes: &[(&str, &str)]) -> Vec<u8> {
    let mut text = text.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    wat::parse_str(&text).unwrap()
}

fn calculate(wasm: &[u8], limits: Limits) -> Result<Vec<Fr>, WitnessError> {
    let inputs = <Inputs>::from_json(INPUTS).unwrap();
    Ok(<Program>::from_bytes(wasm, limits)?.calculate(&inputs)?.to_vec())
}

/// The error of the changed circuit, with limits of 64 MiB and of steps.
#[track_caller]
fn problem(changes: &[(&str, &str)]) -> WitnessError {
    let limits = Limits { memory: 1 << 26, steps: Some(STEPS) };
    let error = calculate(&changed(changes), limits).unwrap_err();
    let text = error.to_string();
    assert!(text.len() < 1000 && !text.contains(char::is_control) && !text.contains("918273645"), "{text}");
    error
}

/// [`problem`] of circom 1's minimal circuit.
#[track_caller]
fn problem_of_circom1(changes: &[(&str, &str)]) -> WitnessError {
    let limits = Limits { memory: 1 << 26, steps: Some(STEPS) };
    let error = calculate(&with_changes(CIRCOM1, changes), limits).unwrap_err();
    let text = error.to_string();
    assert!(text.len() < 1000 && !text.contains(char::is_control) && !text.contains("918273645"), "{text}");
    error
}

/// The body of `init`.
fn init(body: &str) -> [(&'static str, String); 1] {
    [(
        r#"(func $init (export "init") (param i32))"#,
        format!(r#"(func $init (export "init") (param i32) {body})"#),
    )]
}

#[track_caller]
fn problem_of_init(body: &str) -> WitnessError {
    let changes = init(body);
    problem(&changes.each_ref().map(|(from, to)| (*from, to.as_str())))
}

/// Additional definitions.
fn with(definitions: &str) -> String {
    format!("{definitions}\n  (global $buffer")
}

#[track_caller]
fn assert_limit(error: &WitnessError, words: &str) {
    assert!(matches!(error, WitnessError::Limit(problem) if problem.contains(words)), "{error:?}");
}

#[track_caller]
fn assert_program(error: &WitnessError, words: &str) {
    assert!(matches!(error, WitnessError::Program(problem) if problem.contains(words)), "{error:?}");
}

#[test]
fn the_minimal_circuits_work() {
    let expected = [Fr::from(1), Fr::from(918_273_645)];
    for steps in [None, Some(STEPS)] {
        // The files are for the fuzzer.
        for (text, wasm) in [
            (MINIMAL, &include_bytes!("../data/minimal.wasm")[..]),
            (CIRCOM1, include_bytes!("../data/circom1/minimal.wasm")),
        ] {
            for wasm in [&with_changes(text, &[])[..], wasm] {
                assert_eq!(calculate(wasm, Limits { memory: 1 << 16, steps }).unwrap(), expected);
            }
        }
    }
}

#[test]
fn loops_without_end() {
    assert_limit(&problem_of_init("(loop $again (br $again))"), "more steps");
    let start = with("(func $start (loop $again (br $again))) (start $start)");
    assert_limit(&problem(&[("(global $buffer", &start)]), "more steps");
    let message =
        "(func $message (export \"getMessageChar\") (result i32) (loop $again (br $again)) unreachable)";
    let none = "(func $message (export \"getMessageChar\") (result i32) (i32.const 0))";
    let [(from, to)] = init("(call $print)");
    assert_limit(&problem(&[(none, message), (from, &to)]), "more steps");
    // Filling memory is paid by its size.
    assert_limit(
        &problem_of_init(
            "(loop $again (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)) (br $again))",
        ),
        "more steps",
    );
}

#[test]
fn deep_recursion() {
    assert_limit(&problem_of_init("(call $init (i32.const 0))"), "calls too deeply");
    // Large frames.
    let locals = "(local i64) ".repeat(5000);
    assert_limit(&problem_of_init(&format!("{locals} (call $init (i32.const 0))")), "calls too deeply");
}

#[test]
fn messages_that_call_the_host() {
    let none = "(func $message (export \"getMessageChar\") (result i32) (i32.const 0))";
    let [(from, to)] = init("(call $print)");
    let recursive = "(func $message (export \"getMessageChar\") (result i32) (call $print) (i32.const 0))";
    assert_program(&problem(&[(none, recursive), (from, &to)]), "functions for messages call the host");
    // One that never ends, and is full of escape sequences for terminals.
    let endless = "(func $message (export \"getMessageChar\") (result i32) (i32.const 27))";
    let [(from, to)] = init("(call $print) (call $raise (i32.const 4))");
    let error = problem(&[(none, endless), (from, &to)]);
    assert!(
        matches!(&error, WitnessError::Unsatisfied { problem, .. } if problem.contains("\\u{1b}\\u{1b}")),
        "{error}"
    );
    // Many of them.
    let [(from, to)] = init("(loop $again (call $print) (br $again))");
    assert_limit(&problem(&[(none, endless), (from, &to)]), "more steps");
    let [(from, to)] = init(
        "(local i32) (loop $again (call $print) (br_if $again (i32.lt_u (local.tee 1 (i32.add (local.get 1) (i32.const 1))) (i32.const 100)))) (call $raise (i32.const 4))",
    );
    let limits = Limits { memory: 1 << 26, steps: Some(STEPS) };
    let error = calculate(&changed(&[(none, endless), (from, &to)]), limits).unwrap_err().to_string();
    assert!(error.len() < 100_000 && !error.contains(char::is_control), "{}", error.len());
}

#[test]
fn unknown_exceptions() {
    for code in [0, 8, -1, i32::MIN] {
        let error = problem_of_init(&format!("(call $raise (i32.const {code}))"));
        assert!(
            matches!(&error, WitnessError::Unsatisfied { problem, .. } if problem.ends_with(&code.to_string()))
        );
    }
}

#[test]
fn memory_beyond_the_limit() {
    let declared =
        |pages: &str| [("(memory (export \"memory\") 1)", format!("(memory (export \"memory\") {pages})"))];
    for pages in ["1025", "65536", "i64 65537", "i64 281474976710656"] {
        let [(from, to)] = declared(pages);
        // 64-bit addresses need other instructions: the error is that of the declaration or of the instructions.
        let text = MINIMAL.replacen(from, &to, 1);
        let wasm = wat::parse_str(&text).unwrap();
        let error = calculate(&wasm, Limits { memory: 1 << 26, steps: None }).unwrap_err();
        if pages.starts_with("i64") {
            assert_program(&error, "not a valid WASM");
        } else {
            assert_limit(&error, "more memory than it may have");
        }
    }
    // Growth fails, and the circuit goes on as it likes.
    let grow =
        "(if (i32.eq (memory.grow (i32.const 65535)) (i32.const -1)) (then (call $raise (i32.const 5))))";
    assert_limit(&problem_of_init(grow), "not enough memory");
}

#[test]
fn extensions_of_wasm() {
    let many = with("(func (result i32 i32) (i32.const 1) (i32.const 2))");
    let memories = with("(memory $second 1)");
    let tail = with("(func $tail (return_call $tail))");
    for definitions in [many, memories, tail] {
        assert_program(&problem(&[("(global $buffer", &definitions)]), "not a valid WASM");
    }
}

#[test]
fn tables_and_segments() {
    let tables = with("(table 2000000 funcref)");
    assert_program(&problem(&[("(global $buffer", &tables)]), "");
    let tables = with(&"(table 1 funcref)".repeat(10));
    assert_program(&problem(&[("(global $buffer", &tables)]), "");
    let outside = with("(data (i32.const 65530) \"12345678\")");
    assert_program(&problem(&[("(global $buffer", &outside)]), "");
}

#[test]
fn positions_outside_memory() {
    let buffer = |at: i32| format!("(global $buffer i32 (i32.const {at}))");
    for at in [65_530, i32::MAX, -1, -32] {
        assert_program(&problem(&[("(global $buffer i32 (i32.const 1024))", &buffer(at))]), "");
    }
}

#[test]
fn numbers_of_wires() {
    let size = "(func (export \"getWitnessSize\") (result i32) (i32.const 2))";
    for wires in ["-1", "1073741824", "16385"] {
        let more = size.replace("const 2", &format!("const {wires}"));
        assert_program(&problem(&[(size, &more)]), "claims");
    }
    assert_program(&problem(&[(size, &size.replace("const 2", "const 0"))]), "wire 0");
    let words = "(func (export \"getFieldNumLen32\") (result i32) (i32.const 8))";
    for count in ["0", "-1", "25"] {
        let other = words.replace("const 8", &format!("const {count}"));
        assert_program(&problem(&[(words, &other)]), "1 to 24 words");
    }
}

#[test]
fn tables_of_circom1() {
    // Labels up to the largest; the table of bits is placed so that its end is in the memory.
    let label = ("128) \"\\01\\00\\00\\00", "128) \"\\ff\\ff\\ff\\ff");
    let bits = ("\\00\\03\\00\\00\")", "\\04\\03\\00\\e0\")");
    let marked = ("(i32.const 768) \"\\02\\00\\00\\00", "(i32.const 768) \"\\00\\00\\00\\80");
    let expected = [Fr::from(1), Fr::from(918_273_645)];
    let high = with_changes(CIRCOM1, &[label, bits, marked]);
    assert_eq!(calculate(&high, Limits { memory: 1 << 16, steps: None }).unwrap(), expected);
    // Everything outside the memory.
    for (from, to) in [
        label,
        bits,
        ("\"\\40\\00", "\"\\fe\\ff"),
        ("\"\\00\\10\\00\\00", "\"\\ff\\ff\\00\\00"),
        ("\\80\\00\\00\\00\")", "\\fc\\ff\\ff\\ff\")"),
        ("\\c0\\00\\00\\00", "\\fe\\ff\\ff\\ff"),
        ("\"\\00\\20\\00\\00", "\"\\ff\\ff\\ff\\ff"),
        ("(result i32) (i32.const 512)", "(result i32) (i32.const -4)"),
        ("(select (i32.const 1024)", "(select (i32.const 65500)"),
    ] {
        assert_program(&problem_of_circom1(&[(from, to)]), "");
    }
    for wires in ["-1", "16385"] {
        let changes = [(
            "\"getNVars\") (result i32) (i32.const 2)",
            format!("\"getNVars\") (result i32) (i32.const {wires})"),
        )];
        assert_program(
            &problem_of_circom1(&changes.each_ref().map(|(from, to)| (*from, to.as_str()))),
            "claims",
        );
    }
    // More values than there are.
    let error = problem_of_circom1(&[("192) \"\\01", "192) \"\\02")]);
    assert!(
        matches!(&error, WitnessError::Signals(problem) if problem.contains("expected 2 values")),
        "{error}"
    );
}

#[test]
fn errors_of_circom1() {
    let init = |body: &str| {
        let to = format!(r#"(func $init (export "init") (param i32) {body})"#);
        problem_of_circom1(&[(r#"(func $init (export "init") (param i32))"#, &to)])
    };
    // Messages and elements outside the memory.
    for code in [7, 9, 8, -1] {
        let raise = "(i32.const -1) (i32.const -1) (i32.const -1) (i32.const -1) (i32.const -1)";
        assert_program(&init(&format!("(call $error (i32.const {code}) {raise})")), "");
    }
    assert_program(&init("(call $log (i32.const 65500))"), "");
    // Escape sequences for terminals.
    let store = "(memory.fill (i32.const 2048) (i32.const 27) (i32.const 4096))";
    let raise = "(i32.const 0) (i32.const 0) (i32.const 256) (i32.const 256) (i32.const 2048)";
    let error = init(&format!("{store} (call $error (i32.const 7) {raise})"));
    assert!(
        matches!(&error, WitnessError::Unsatisfied { problem, .. } if problem.contains("\\u{1b}")),
        "{error}"
    );
    assert_limit(
        &init(
            "(call $error (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))",
        ),
        "stack",
    );
    assert_limit(&init("(loop $again (call $log (i32.const 256)) (br $again))"), "more steps");
}

/// The memory that circom 1's modules import is limited too.
#[test]
fn memory_that_circom1_imports() {
    let own = "(memory (export \"memory\") 1)";
    let first = "(import \"runtime\" \"error\"";
    for pages in [1, 65536] {
        let import = format!("(import \"env\" \"memory\" (memory {pages})) {first}");
        // With its stack it takes more than the limit.
        assert_limit(&problem_of_circom1(&[(own, ""), (first, &import)]), "more memory than it may have");
        let allocated = ("\"\\00\\20\\00\\00", "\"\\ff\\ff\\ff\\ff");
        assert_limit(
            &problem_of_circom1(&[(own, ""), (first, &import), allocated]),
            "more memory than it may have",
        );
    }
}

/// Addresses above 2^31 are not negative. Takes a little more than 2 GiB.
#[test]
fn memory_above_2_gib() {
    const PAGES: usize = (1 << 15) + 512;
    let declared = format!("(memory (export \"memory\") {PAGES})");
    let buffer = "(global $buffer i32 (i32.const -2147483648))";
    let minimal = changed(&[
        ("(memory (export \"memory\") 1)", &declared),
        ("(global $buffer i32 (i32.const 1024))", buffer),
    ]);
    let expected = [Fr::from(1), Fr::from(918_273_645)];
    assert_eq!(calculate(&minimal, Limits::default()).unwrap(), expected);
    let error = calculate(&minimal, Limits { memory: 1 << 31, steps: None }).unwrap_err();
    assert_limit(&error, "more memory than it may have");

    // Circom's circuit with its components above 2 GiB, on which native functions work.
    let wasm = include_bytes!("../data/inputs.wasm");
    let (section, rest) = (find(wasm, &[5, 3, 1, 0, 0x0b]), 5);
    let pages = [PAGES as u8 & 0x7f | 0x80, (PAGES >> 7) as u8 & 0x7f | 0x80, (PAGES >> 14) as u8];
    let mut high = [&wasm[..section], &[5, 5, 1, 0], &pages, &wasm[section + rest..]].concat();
    // The data at address 0: where free memory begins.
    let data = find(&high, &[0x41, 0, 0x0b, 4]) + 4;
    let free = u32::from_le_bytes(high[data..data + 4].try_into().unwrap());
    assert!(free < 1 << 25);
    high[data..data + 4].copy_from_slice(&(free | 1 << 31).to_le_bytes());
    let inputs = <Inputs>::from_json(include_bytes!("../data/edges.json")).unwrap();
    let [high, low] = [&high[..], wasm]
        .map(|wasm| <Program>::from_bytes(wasm, Limits::default()).unwrap().calculate(&inputs).unwrap());
    assert!(high == low);
}

/// Where the only bytes like these begin.
fn find(bytes: &[u8], like: &[u8]) -> usize {
    let mut places = bytes.windows(like.len()).enumerate().filter(|(_, window)| *window == like);
    let (place, _) = places.next().unwrap();
    assert!(places.next().is_none());
    place
}
