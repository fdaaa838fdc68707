//! `plonk-workload`, in every arithmetisation and memory mode.

use std::process::Command;

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_proofmill-bench"))
        .args(arguments)
        .output()
        .expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_phase_is_a_row() {
    for arithmetisation in ["standard", "turbo", "ultra"] {
        for memory in ["fast", "balanced", "low"] {
            let (code, out, err) = run(&[
                "plonk-workload",
                "arithmetic",
                "--gates",
                "2^6",
                "--arithmetisation",
                arithmetisation,
                "--memory",
                memory,
            ]);
            assert_eq!(code, Some(0), "{err}");
            assert!(
                out.starts_with(&format!("arithmetic circuit, {arithmetisation} arithmetisation: 64 rows")),
                "{out}"
            );
            let phases =
                ["construct circuit", "witness", "proving key", "verification key", "prove", "verify"];
            let rows: Vec<&str> = out.lines().skip(2).collect();
            assert_eq!(rows.len(), phases.len(), "{out}");
            assert!(rows.iter().zip(phases).all(|(row, phase)| row.starts_with(phase)), "{out}");
        }
    }
}

#[test]
fn hashes_are_counted() {
    let (code, out, err) =
        run(&["plonk-workload", "pedersen", "--hashes", "3", "--arithmetisation", "turbo", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let report: serde_json::Value = serde_json::from_str(&out).expect("one object");
    let result = &report["result"];
    assert_eq!(result["hashes"], 3);
    assert_eq!(result["phases"].as_array().map(Vec::len), Some(6));
    assert!(result["rows_per_hash"].as_f64().is_some_and(|rows| rows < 345.0), "{result}");
}

#[test]
fn bad_options_are_refused_in_one_line() {
    for (arguments, expected) in [
        (["--gates", "0"], "expected a number from 1 to 2^26"),
        (["--gates", "2^64"], "expected a number from 1 to 2^26"),
        (["--arithmetisation", "giga"], "standard, turbo or ultra"),
        (["--memory", "none"], "fast, balanced or low"),
        (["--scratch", "nowhere"], "nowhere: No such file"),
        (["--lookup", "caulk"], "logup or plookup"),
        (["--srs", "nowhere.ptau"], "nowhere.ptau"),
    ] {
        let (code, _, err) = run(&[&["plonk-workload", "arithmetic"], arguments.as_slice()].concat());
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(expected), "{err}");
    }
}

#[test]
fn scratch_files_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let scratch = folder.path().to_str().expect("text");
    // More rows than one chunk.
    for (memory, gates) in [("fast", "2^8"), ("low", "300000")] {
        let arguments = [
            "plonk-workload",
            "arithmetic",
            "--arithmetisation",
            "standard",
            "--gates",
            gates,
            "--memory",
            memory,
            "--scratch",
            scratch,
        ];
        let (code, _, err) = run(&arguments);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(std::fs::read_dir(scratch).expect("the folder").count(), 0);
    }
}
