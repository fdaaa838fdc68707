//! Witnesses from inputs, proofs from inputs, and names of signals, with the circuits of crates/witness/tests/data.

use crate::process::{Folder, refused};
use std::{fs, path::Path, process::Stdio, thread, time::Duration};

/// A value that no message may contain.
const SECRET: &str = "918273645546372819";
const MINIMAL: &str = include_str!("../../../witness/tests/data/minimal.wat");

/// A folder with the small example, the circuits, and inputs of them.
fn folder() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../witness/tests/data");
    for file in fs::read_dir(data).unwrap() {
        let file = file.unwrap();
        if file.path().is_file() {
            fs::copy(file.path(), folder.path(file.file_name().to_str().unwrap())).unwrap();
        }
    }
    folder.write("minimal.wasm", wat::parse_str(MINIMAL).unwrap());
    folder.write("x.json", format!(r#"{{"x": "{SECRET}"}}"#));
    folder
}

/// Writes the minimal circuit with a part of its text replaced.
fn write_changed(folder: &Folder, name: &str, from: &str, to: &str) {
    assert!(MINIMAL.contains(from));
    folder.write(name, wat::parse_str(MINIMAL.replace(from, to)).unwrap());
}

#[test]
fn witnesses_are_those_of_circoms_javascript() {
    let folder = folder();
    for inputs in ["small", "edges", "huge", "unquoted"] {
        folder.run(&format!("wtns calculate inputs.wasm {inputs}.json made.wtns --quiet")).succeeded();
        assert_eq!(folder.read("made.wtns"), folder.read(&format!("{inputs}.wtns")));
    }
    // By snarkjs's short name, with the default name of the witness.
    folder.run("wc inputs.wasm edges.json --quiet").succeeded();
    assert_eq!(folder.read("witness.wtns"), folder.read("edges.wtns"));
    let run = folder.run("wtns calculate inputs.wasm small.json made.wtns --json --quiet").succeeded();
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["result"], serde_json::json!({ "witness": "made.wtns", "wires": 11 }));
    assert!(!run.stdout.contains("x is"));
}

#[test]
fn graphs_are_circuits_too() {
    let folder = folder();
    folder.write("in.json", r#"{"a": 7, "b": [9, "0x0b"]}"#);
    folder.run("wtns calculate product.wcd in.json made.wtns").succeeded();
    folder.run("wtns export json made.wtns made.json").succeeded();
    assert_eq!(json(&folder, "made.json"), serde_json::json!(["1", "377"]));
    folder.write("in.json", format!(r#"{{"a": {SECRET}, "b": [9]}}"#));
    let error = folder.run("wtns calculate product.wcd in.json made.wtns").failed(2);
    assert!(error.contains("in.json: signal b: expected 2 values, found 1") && !error.contains(SECRET));
}

#[test]
fn compiled_circuits_are_circuits_too() {
    let folder = folder();
    folder.run("wtns compile inputs.wasm small.json made.wcd --r1cs inputs.r1cs").succeeded();
    for inputs in ["small", "edges", "huge", "unquoted"] {
        folder.run(&format!("wtns calculate made.wcd {inputs}.json made.wtns --quiet")).succeeded();
        assert_eq!(folder.read("made.wtns"), folder.read(&format!("{inputs}.wtns")));
    }
    assert_eq!(folder.run("wtns calculate made.wcd small.json made.wtns").stderr, "log: x is 3\n");
    // The WASM is in it, which tells what fails.
    folder.write("seven.json", format!(r#"{{"a": 7, "b": [{SECRET}, 2, 3, 4, 5, 6]}}"#));
    let error = folder.run("wtns calculate made.wcd seven.json made.wtns").failed(1);
    assert!(error.contains("template Square_0 line: 7") && !error.contains(SECRET), "{error}");
    assert_eq!(folder.run("wtns debug made.wcd small.json made.wtns inputs.sym").status, Some(0));
    let bytes = folder.read("made.wcd");
    folder.write("short.wcd", &bytes[..bytes.len() - 1]);
    refused(&folder, "wtns calculate short.wcd small.json new.wtns", &["short.wcd: ", "it ends in its WASM"]);
    let error = folder.run("wtns compile inputs.wasm seven.json new.wcd").failed(1);
    assert!(error.contains("template Square_0 line: 7") && !folder.path("new.wcd").exists(), "{error}");
    for (circuit, problem) in
        [("minimal.wasm", "it has global variables"), ("made.wcd", "made.wcd: not a valid WASM")]
    {
        refused(&folder, &format!("wtns compile {circuit} x.json new.wcd"), &[problem]);
    }
}

#[test]
fn slow_functions_are_told() {
    let folder = folder();
    let told = |words: &str| {
        let run = folder.run(words);
        assert_eq!(run.status, Some(0), "{run:?}");
        run.stderr
    };
    let verbose = told("wtns calculate inputs.wasm small.json made.wtns -v");
    assert!(verbose.contains("inputs.wasm: all functions for field elements are native\n"), "{verbose}");
    folder.write("x.json", r#"{"x": 1}"#);
    let warning = "warning: minimal.wasm: no function for field elements is one of circom's that are known: it takes many times longer\n";
    assert_eq!(told("wtns calculate minimal.wasm x.json made.wtns"), warning);
    assert_eq!(told("wtns calculate minimal.wasm x.json made.wtns -q"), "");
}

#[test]
fn circuits_are_compiled_for_later() {
    let folder = folder();
    folder.run("groth16 setup inputs.r1cs pot8.ptau key -q");
    let prove = || {
        let words =
            "groth16 fullprove small.json inputs.wasm key proof.json public.json --allow-insecure-setup -q";
        let mut command = folder.command(words);
        command.env("PROOFMILL_CIRCUIT_CACHE", folder.path("cache")).output().unwrap()
    };
    let kept = || -> Vec<_> {
        fs::read_dir(folder.path("cache")).unwrap().map(|file| file.unwrap().path()).collect()
    };
    assert!(prove().status.success());
    let [circuit] = &kept()[..] else { panic!("{:?}", kept()) };
    folder.run("wtns compile inputs.wasm small.json made.wcd").succeeded();
    assert_eq!(fs::read(circuit).unwrap(), folder.read("made.wcd"));
    assert!(prove().status.success());
    // What is damaged is replaced, and what is there is used.
    fs::write(circuit, "pmwg").unwrap();
    assert!(prove().status.success());
    assert_eq!(fs::read(circuit).unwrap(), folder.read("made.wcd"));
    folder.write("c.json", r#"{"a": 1, "c": [2, 3]}"#);
    folder.run("wtns compile components.wasm c.json made.wcd").succeeded();
    fs::copy(folder.path("made.wcd"), circuit).unwrap();
    let output = prove();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("signal b is not an input of the circuit"),
        "{output:?}"
    );
}

fn json(folder: &Folder, name: &str) -> serde_json::Value {
    serde_json::from_str(&folder.text(name)).unwrap()
}

#[test]
#[cfg(unix)]
fn files_can_be_pipes() {
    use crate::pipes::{done, given};
    let folder = folder();
    for (command, input) in [
        ("wtns calculate - small.json - --quiet", "inputs.wasm"),
        ("wtns calculate inputs.wasm - - --quiet", "small.json"),
        ("wtns calculate /dev/stdin small.json /dev/stdout --quiet", "inputs.wasm"),
    ] {
        assert_eq!(
            done(given(&folder, command, &folder.read(input))),
            folder.read("small.wtns"),
            "{command}"
        );
    }
    done(given(&folder, "wtns check - small.wtns --sym inputs.sym", &folder.read("inputs.r1cs")));
    done(given(&folder, "wtns check inputs.r1cs small.wtns --sym -", &folder.read("inputs.sym")));
    let exported = done(given(&folder, "wtns export json - -", &folder.read("small.wtns")));
    folder.run("wtns export json small.wtns small.json").succeeded();
    assert_eq!(exported, folder.read("small.json"));
    for command in
        ["wtns calculate /dev/zero x.json made.wtns", "wtns calculate minimal.wasm /dev/zero made.wtns"]
    {
        refused(&folder, command, &["/dev/zero", "at most"]);
    }
}

#[test]
fn proofs_from_inputs_are_accepted() {
    const ALLOW: &str = "--allow-insecure-setup --quiet";
    let folder = folder();
    let before = folder.names();
    for system in ["groth16", "plonk", "fflonk"] {
        // Each setup, and the use of a key without contributions, warns.
        folder.run(&format!("{system} setup inputs.r1cs pot8.ptau key {ALLOW}"));
        folder.run(&format!("zkey export verificationkey key vk.json {ALLOW}"));
        let prove =
            format!("{system} fullprove small.json inputs.wasm key new.proof.json new.public.json {ALLOW}");
        let run = folder.run(&prove);
        assert_eq!((run.status, &*run.stdout), (Some(0), ""), "{run:?}");
        let verify = format!("{system} verify vk.json new.public.json new.proof.json {ALLOW}");
        assert_eq!(folder.run(&verify).status, Some(0));
        folder.write("public.json", "[\"1\", \"2\", \"3\"]");
        assert_eq!(folder.run(&verify.replace("new.public", "public")).status, Some(1));
        // The witness is not written.
        for name in ["key", "vk.json", "new.proof.json", "new.public.json"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
        assert_eq!(folder.names(), before);
    }
}

#[test]
fn proofs_from_wrong_inputs() {
    let folder = folder();
    folder.write("seven.json", format!(r#"{{"a": 7, "b": [{SECRET}, 2, 3, 4, 5, 6]}}"#));
    folder.write("few.json", format!(r#"{{"a": {SECRET}}}"#));
    let before = folder.names();
    for system in ["groth16", "plonk", "fflonk"] {
        let prove = |inputs: &str, circuit: &str| {
            folder
                .run(&format!("{system} fullprove {inputs} {circuit} {system}.zkey new.json signals.json -q"))
        };
        let error = prove("seven.json", "inputs.wasm").failed(1);
        assert!(error.contains("template Square_0 line: 7") && !error.contains(SECRET), "{error}");
        let error = prove("few.json", "inputs.wasm").failed(2);
        assert!(error.contains("few.json: only 1 of ") && !error.contains(SECRET), "{error}");
        // The witness of another circuit.
        let error = prove("small.json", "inputs.wasm").failed(2);
        assert!(error.contains("11"), "{error}");
        let error = prove("small.json", &format!("{system}.zkey")).failed(2);
        assert!(error.contains(&format!("{system}.zkey: ")), "{error}");
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn failing_assertions_are_status_1() {
    let folder = folder();
    let before = folder.names();
    for (a, line) in [("7", "Square_0 line: 7"), ("0", "Inputs_1 line: 26")] {
        folder.write("x.json", format!(r#"{{"a": {a}, "b": ["{SECRET}", 2, 3, 4, 5, 6]}}"#));
        let error = folder.run("wtns calculate inputs.wasm x.json made.wtns --quiet").failed(1);
        assert!(error.contains("x.json: an assertion or constraint of the circuit fails"), "{error}");
        assert!(error.contains(line) && !error.contains(SECRET), "{error}");
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn wrong_inputs_are_status_2_and_their_values_are_not_shown() {
    let folder = folder();
    folder.write("kept.wtns", "kept");
    for (inputs, problem) in [
        (format!(r#"{{"a": {SECRET}}}"#), "only 1 of the circuit's 7 input values"),
        (format!(r#"{{"a": {SECRET}, "b": [1, 2]}}"#), "signal b: expected 6 values, found 2"),
        (format!(r#"{{"a": {SECRET}, "a": {SECRET}}}"#), "signal a is given twice"),
        (format!(r#"{{"a": {SECRET}, "c": {SECRET}}}"#), "signal c is not an input"),
        (format!(r#"{{"a": "{SECRET}?", "b": []}}"#), "signal a: expected a whole number"),
        (format!(r#"{{"a": {SECRET}.5}}"#), "signal a: expected a whole number"),
        (format!(r#"{{"a": {SECRET}"#), "line 1 column"),
        (format!(r#"{{"a": {SECRET}x}}"#), "line 1 column"),
        (format!(r#"{{"a": 0{SECRET}}}"#), "line 1 column"),
        (format!(r#"{{"a": {SECRET}{SECRET}e9999}}"#), "line 1 column"),
        (format!(r#"{{{SECRET}: 1}}"#), "line 1 column"),
        (format!(r#""{SECRET}""#), "expected an object"),
        (SECRET.to_owned(), "expected an object"),
        (String::new(), "line 1 column"),
    ] {
        folder.write("x.json", &inputs);
        let command = "wtns calculate inputs.wasm x.json kept.wtns";
        refused(&folder, command, &["x.json: ", problem]);
        assert!(!folder.run(command).stderr.contains(SECRET), "{inputs}");
        assert_eq!(folder.text("kept.wtns"), "kept");
    }
    for (name, content) in [("empty", &b""[..]), ("short", b"\0asm"), ("graph", b"wtns.graph.001")] {
        folder.write(name, content);
        refused(&folder, &format!("wtns calculate {name} x.json kept.wtns"), &[&format!("{name}: not a")]);
    }
    refused(&folder, "wtns calculate absent x.json kept.wtns", &["absent: "]);
    refused(&folder, "wtns calculate inputs.wasm absent kept.wtns", &["absent: "]);
    assert_eq!(folder.text("kept.wtns"), "kept");
}

/// What the circuit prints by `log()` goes to standard error, but not with `--quiet`, and is in no report.
#[test]
fn what_a_circuit_prints_can_be_silenced() {
    let folder = folder();
    folder.write("x.json", format!(r#"{{"a": "{SECRET}", "b": [1, 2, 3, 4, 5, 6]}}"#));
    let calculate = "wtns calculate inputs.wasm x.json made.wtns";
    let run = folder.run(calculate);
    assert_eq!((run.status, run.stderr), (Some(0), format!("log: x is {SECRET}\n")));
    for options in ["--quiet", "--quiet --json"] {
        let run = folder.run(&format!("{calculate} {options}")).succeeded();
        assert!(!run.stdout.contains(SECRET), "{run:?}");
    }
    assert!(folder.run("wtns export json made.wtns -").succeeded().stdout.contains(SECRET));
}

/// A log that cannot be written is no error.
#[test]
#[cfg(target_os = "linux")]
fn a_log_without_a_reader() {
    let folder = folder();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output =
        folder.command("wtns calculate inputs.wasm small.json made.wtns").stderr(full).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(folder.read("made.wtns"), folder.read("small.wtns"));
}

#[test]
fn an_output_never_replaces_an_input() {
    let folder = folder();
    for command in [
        "wtns calculate inputs.wasm small.json inputs.wasm",
        "wtns calculate inputs.wasm small.json ./small.json",
        "wtns export json small.wtns small.wtns",
        "groth16 fullprove small.json inputs.wasm groth16.zkey small.json signals.json",
        "plonk fullprove small.json inputs.wasm plonk.zkey new.json inputs.wasm",
        "fflonk fullprove small.json inputs.wasm fflonk.zkey fflonk.zkey signals.json",
        "groth16 prove groth16.zkey witness.wtns inputs.sym signals.json --r1cs circuit.r1cs --sym inputs.sym",
    ] {
        refused(&folder, command, &["would replace the input", "choose another file"]);
    }
}

#[test]
fn witnesses_as_json() {
    let folder = folder();
    folder.run("wtns export json small.wtns made.json").succeeded();
    let values = json(&folder, "made.json");
    assert_eq!(values.as_array().unwrap().len(), 11);
    assert_eq!((&values[0], &values[3], &values[9]), (&"1".into(), &"3".into(), &"6".into()));
    // The default names are those of snarkjs.
    folder.run("wej").succeeded();
    assert_eq!(json(&folder, "witness.json")[0], "1");
    refused(&folder, "wtns export json circuit.r1cs made.json", &["circuit.r1cs: "]);
}

#[test]
fn names_of_signals() {
    let folder = folder();
    let mut witness = folder.read("small.wtns");
    let last = witness.len() - 32;
    witness[last] ^= 1;
    folder.write("wrong.wtns", witness);
    let check = "wtns check inputs.r1cs wrong.wtns";
    let error = folder.run(check).failed(1);
    assert!(!error.contains("main."), "{error}");
    let error = folder.run(&format!("{check} --sym inputs.sym")).failed(1);
    assert!(error.contains("main.a") && error.contains("main.square.y"), "{error}");
    folder.run("plonk setup inputs.r1cs pot8.ptau key").succeeded();
    let prove = "plonk prove key wrong.wtns new.json signals.json --r1cs inputs.r1cs";
    let error = folder.run(&format!("{prove} --sym inputs.sym")).failed(1);
    assert!(error.contains("main.square.y"), "{error}");
    assert!(!folder.run(prove).failed(1).contains("main."));
    folder
        .run("plonk prove key small.wtns new.json signals.json --r1cs inputs.r1cs --sym inputs.sym")
        .succeeded();
    // Names without a circuit.
    assert_eq!(
        folder.run("plonk prove key small.wtns new.json signals.json --sym inputs.sym").status,
        Some(2)
    );
    let numbers = folder.run("r1cs print inputs.r1cs").succeeded().stdout;
    let names = folder.run("r1cs print inputs.r1cs inputs.sym").succeeded().stdout;
    assert!(numbers.contains("w10") && !numbers.contains("main."), "{numbers}");
    assert!(names.contains("main.square.y") && !names.contains("w10"), "{names}");
    assert_eq!(names.lines().count(), numbers.lines().count());
    for (text, problem) in
        [("1,2,3\n", "line 1: "), ("1,1,1,main.a\n\n", "line 2: "), ("1,1,1,main.\x1b[0m\n", "line 1: ")]
    {
        folder.write("wrong.sym", text);
        refused(&folder, &format!("{check} --sym wrong.sym"), &["wrong.sym", problem]);
        refused(&folder, "r1cs print inputs.r1cs wrong.sym", &["wrong.sym", problem]);
    }
}

/// A circuit that never ends, started or not by its inputs, is ended by Ctrl-C.
#[test]
#[cfg(unix)]
fn an_interrupt_ends_an_endless_circuit() {
    let folder = folder();
    write_changed(&folder, "start.wasm", "  (global", "  (func $start (loop (br 0))) (start $start) (global");
    let init = r#"(func $init (export "init") (param i32))"#;
    write_changed(&folder, "init.wasm", init, r#"(func $init (export "init") (param i32) (loop (br 0)))"#);
    folder.write("kept.wtns", "kept");
    let before = folder.names();
    for command in [
        "wtns calculate start.wasm x.json kept.wtns",
        "wtns calculate init.wasm x.json made.wtns --threads 1",
        "groth16 fullprove x.json init.wasm groth16.zkey new.json signals.json",
    ] {
        let mut child = folder.command(command).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(500));
        assert_eq!(child.try_wait().unwrap(), None, "{command}: it ended by itself");
        let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{command}");
        assert_eq!(folder.names(), before);
        assert_eq!(folder.text("kept.wtns"), "kept");
    }
}

/// Under a limit of address space the system refuses the memory, which is reported.
#[test]
#[cfg(target_os = "linux")]
fn memory_that_the_system_refuses() {
    let folder = folder();
    let memory = r#"(memory (export "memory") 1)"#;
    write_changed(&folder, "declared.wasm", memory, r#"(memory (export "memory") 65536)"#);
    let init = r#"(func $init (export "init") (param i32))"#;
    let grow = r#"(func $init (export "init") (param i32)
        (if (i32.eq (memory.grow (i32.const 65535)) (i32.const -1)) (then (call $raise (i32.const 5)))))"#;
    write_changed(&folder, "grown.wasm", init, grow);
    let before = folder.names();
    for (circuit, problem) in
        [("declared", "more memory than it may have"), ("grown", "the circuit has not enough memory")]
    {
        let program = env!("CARGO_BIN_EXE_proofmill");
        let shell = format!(
            "ulimit -v 3000000; exec {program} wtns calculate {circuit}.wasm x.json made.wtns --threads 1"
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &shell])
            .current_dir(folder.path("."))
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.lines().count() == 1 && error.contains(&format!("{circuit}.wasm: ")), "{error}");
        assert!(error.contains(problem) && !error.contains(SECRET), "{error}");
        assert_eq!(folder.names(), before);
    }
}
