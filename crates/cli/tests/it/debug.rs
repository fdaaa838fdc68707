//! `wtns debug`; names of signals in errors, and lines of `log()`.

use crate::process::Folder;
use std::{fs, path::Path};

/// A folder with the circuits of the tests of proofmill-witness: `circom1.wasm` and `circom2.wasm` with their `.sym`.
fn folder() -> Folder {
    let folder = Folder::new();
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../witness/tests/data"));
    for (from, to) in [
        ("inputs.wasm", "circom2.wasm"),
        ("inputs.sym", "circom2.sym"),
        ("circom1/inputs.wasm", "circom1.wasm"),
        ("circom1/inputs.sym", "circom1.sym"),
    ] {
        fs::copy(data.join(from), folder.path(to)).unwrap();
    }
    for (name, a) in [("good", 4), ("seven", 7), ("zero", 0)] {
        folder.write(&format!("{name}.json"), format!(r#"{{"a": {a}, "b": [1, 2, 3, 4, 5, 6]}}"#));
    }
    folder.write("missing.json", r#"{"a": 1}"#);
    folder
}

const HINT: &str = "; `proofmill wtns debug` prints its signals\n";

#[test]
fn events_are_those_of_snarkjs() {
    let folder = folder();
    // Its file is described in the tests of proofmill-witness. snarkjs does not mark a line of log().
    let expected =
        include_str!("../../../witness/tests/data/circom1/debug.txt").replace("\n4\n", "\nLOG 4\n");
    let debug = "wtns debug circom1.wasm good.json debugged.wtns circom1.sym";
    for options in ["--get --set --trigger", "-g -s -t", "-gst"] {
        assert_eq!(folder.run(&format!("{debug} {options}")).succeeded().stdout, expected);
    }
    let sets: Vec<&str> =
        expected.lines().filter(|line| !line.starts_with("GET ") && !line.contains(": ")).collect();
    let found = folder.run("wd circom1.wasm good.json debugged.wtns -s").succeeded().stdout;
    assert_eq!(found.lines().collect::<Vec<_>>(), sets);
    assert!(folder.run("wtns calculate circom1.wasm good.json witness.wtns").stderr.contains("log: 4\n"));
    assert_eq!(folder.read("debugged.wtns"), folder.read("witness.wtns"));
}

#[test]
fn signals_are_printed_at_the_end() {
    let folder = folder();
    let inverse = "16416182153879456416684804308942956316411273300312025757773653139931856371713";
    let inputs = "main.a = 4\nmain.b[0][0] = 1\nmain.b[0][1] = 2\nmain.b[0][2] = 3\nmain.b[1][0] = 4\nmain.b[1][1] = 5\nmain.b[1][2] = 6\n";
    let outputs = format!("main.sum = 1020847100762815390427017310442723737559\nmain.inverse = {inverse}\n");
    let found = folder.run("wtns debug circom2.wasm good.json").succeeded().stdout;
    assert_eq!(found, format!("LOG x is 4\n{outputs}{inputs}main.square.y = 16\n"));
    assert_eq!(folder.text("circom2.sym").lines().count(), found.lines().count(), "one is removed, and LOG");
    // For circom 1 inputs come first, and `square.y` is removed.
    let found = folder.run("wtns debug circom1.wasm good.json").succeeded().stdout;
    assert_eq!(found, format!("LOG 4\n{inputs}{outputs}main.square.x = 4\n"));
    let run = folder.run("wtns debug circom2.wasm good.json w.wtns --set");
    assert!(run.stdout.contains("\nmain.square.y = 16\n"));
    assert!(run.warned().contains("only circuits of circom 1 report"));
}

#[test]
fn the_state_at_a_failing_assertion_is_printed() {
    let folder = folder();
    let before = folder.names();
    let run = folder.run("wtns debug circom2.wasm seven.json new.wtns");
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.contains("main.a = 7\n") && run.stdout.contains("main.square.y = 0\n"), "{run:?}");
    assert!(
        run.stderr.starts_with("error: seven.json: ") && run.stderr.ends_with("; in main.square\n"),
        "{run:?}"
    );
    let run = folder.run("wtns debug circom1.wasm zero.json new.wtns --set --show-values");
    assert_eq!(run.status, Some(1));
    assert!(run.stdout.ends_with("SET main.inverse <-- 0\n"), "{run:?}");
    assert!(run.stderr.ends_with("; in main: 0 is not 1\n"), "{run:?}");
    let missing = folder.run("wtns debug circom2.wasm missing.json new.wtns").failed(2);
    assert_eq!(missing, "error: missing.json: signal b is missing: expected 6 values\n");
    let other = folder.run("wtns debug circom2.wasm good.json new.wtns circuit.json").failed(2);
    assert!(other.contains("circuit.json"), "{other}");
    assert_eq!(folder.names(), before);
    // The names by default are an input, too.
    let error = folder.run("wtns debug circom2.wasm good.json circom2.sym").failed(2);
    assert!(error.contains("would replace the input circom2.sym"), "{error}");
}

#[test]
fn without_names_wires_are_printed_by_number() {
    let folder = folder();
    for circuit in ["circom1", "circom2"] {
        fs::remove_file(folder.path(&format!("{circuit}.sym"))).unwrap();
        let run = folder.run(&format!("wtns debug {circuit}.wasm good.json"));
        let values = folder.run("wtns export json witness.wtns").succeeded();
        assert_eq!(values.stdout, "");
        let values: Vec<String> = serde_json::from_str(&folder.text("witness.json")).unwrap();
        let expected: String =
            values.iter().enumerate().map(|(wire, value)| format!("w{wire} = {value}\n")).collect();
        assert!(run.stdout.starts_with("LOG ") && run.stdout.ends_with(&format!("4\n{expected}")), "{run:?}");
        let warning = run.warned();
        assert!(
            warning.contains(&format!("{circuit}.sym: not found")) && warning.contains("optional"),
            "{warning}"
        );
    }
    let run = folder.run("wtns debug circom1.wasm good.json --set");
    assert!(run.stdout.contains("\nSET signal ") && run.warned().lines().count() == 1);
    // One that is named must be there.
    let missing = folder.run("wtns debug circom1.wasm good.json new.wtns circom1.sym").failed(2);
    assert!(missing.starts_with("error: circom1.sym: "), "{missing}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    let shell = format!(
        "{} wtns debug circom1.wasm good.json -gst | true; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_proofmill")
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &shell])
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn errors_of_calculations_name_signals_and_give_advice() {
    let folder = folder();
    for circuit in ["circom1", "circom2"] {
        let error = folder.run(&format!("wtns calculate {circuit}.wasm missing.json")).failed(2);
        let unnamed = "error: missing.json: only 1 of the circuit's 7 input values are given; --sym circuit.sym names those that are missing\n";
        assert_eq!(error, unnamed);
        let named = "error: missing.json: signal b is missing: expected 6 values\n";
        let sym = format!("--sym {circuit}.sym");
        assert_eq!(folder.run(&format!("wtns calculate {circuit}.wasm missing.json {sym}")).failed(2), named);
        for system in ["groth16", "plonk", "fflonk"] {
            let prove = format!("{system} fullprove missing.json {circuit}.wasm {system}.zkey {sym}");
            assert_eq!(folder.run(&prove).failed(2), named);
        }
        let failing = format!("wtns calculate {circuit}.wasm seven.json");
        assert!(folder.run(&failing).failed(1).ends_with(HINT));
        let named = folder.run(&format!("{failing} {sym}")).failed(1);
        assert!(named.ends_with(&format!("; in main.square{HINT}")), "{named}");
    }
    // The values of a constraint are secret.
    let failing = "wtns calculate circom1.wasm zero.json -q --sym circom1.sym";
    let error = folder.run(failing).failed(1);
    assert!(error.contains("; in main; --show-values prints the values"), "{error}");
    assert!(folder.run(&format!("{failing} --show-values")).failed(1).contains("; in main: 0 is not 1; "));
}

#[test]
fn lines_of_log_go_to_standard_error() {
    let folder = folder();
    let calculate = "wtns calculate circom2.wasm good.json new.wtns";
    let run = folder.run(calculate);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", "log: x is 4\n"));
    folder.run(&format!("{calculate} --quiet")).succeeded();
    let run = folder.run("wtns calculate circom2.wasm zero.json new.wtns");
    assert!(run.stderr.starts_with("log: x is 0\nerror: "), "{run:?}");
}
