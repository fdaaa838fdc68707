//! `provers`: programs run as whole processes, and only those with the right answer are timed.

use crate::commands::folder;
use proofmill_testing::Folder;
use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt as _};

/// Writes a program of this name.
fn program(folder: &Folder, name: &str, script: &str) {
    folder.write(name, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder with a key, a witness, and a program that replaces proofmill. Its sixth argument is the file of
/// the public signals, as for `proofmill groth16 prove`.
fn ready() -> Folder {
    let folder = folder();
    folder.write("c.zkey", "key");
    folder.write("c.wtns", "witness");
    program(
        &folder,
        "proofmill",
        r#"[ "$1 $2" = "plonk prove" ] && cat "$3" "$4" > "$5" && echo '["1"]' > "$6""#,
    );
    folder
}

/// Runs `provers` with a peer: status, standard output and standard error.
fn run(folder: &Folder, options: &str, peer: &str) -> (Option<i32>, String, String) {
    let output = folder.command(&format!("{RUN} {options}")).args(["--peer", peer]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const RUN: &str = "provers plonk c.zkey c.wtns --proofmill ./proofmill --time 1ms --db bench.db --power none";

#[test]
fn provers_are_sampled_in_alternation() {
    let folder = ready();
    program(
        &folder,
        "other",
        r#"echo "$1 $2" >> calls; cat "$1" > "$2"; sleep 0.02; printf '[\n"1"\n]' > "$3""#,
    );
    let options = "--level portable --threads 1 --json run.json";
    let (status, out, error) = run(&folder, options, "other=./other {zkey} {proof} '{public}'");
    assert_eq!((status, error.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("plonk/c.zkey, 1 thread, wall time of whole processes"), "{out}");
    let file: Value = serde_json::from_str(&folder.text("run.json")).unwrap();
    let rows = file["runs"][0]["measurements"].as_array().unwrap();
    let row = |i: usize| (&rows[i]["row"], &rows[i]["outcome"]);
    assert_eq!(rows.len(), 2);
    for (i, name) in ["portable", "other"].into_iter().enumerate() {
        let (row, outcome) = row(i);
        assert_eq!((&row["implementation"], &row["suite"]), (&name.into(), &"prover".into()));
        assert_eq!((&row["benchmark"], &row["threads"]), (&"c.zkey".into(), &1.into()));
        assert_eq!((&outcome["clock"], &outcome["unit"]), (&"wall".into(), &"proofs".into()));
        assert!(outcome["seconds"].as_array().unwrap().len() >= 6, "{outcome}");
    }
    let slow = row(1).1["seconds"].as_array().unwrap();
    assert!(slow.iter().all(|seconds| seconds.as_f64().unwrap() >= 0.02), "{slow:?}");
    // Answers are compared without white space.
    assert_eq!(row(0).1["answer"], row(1).1["answer"]);
    let calls = folder.text("calls");
    assert!(calls.lines().count() > 6 && calls.lines().all(|call| call.starts_with("c.zkey ")), "{calls}");
}

#[test]
fn calculators_of_witnesses_are_sampled() {
    let folder = ready();
    let proofmill = r#"[ "$1 $2" = "wtns calculate" ] && cat "$3" "$4" > "$5""#;
    program(&folder, "proofmill", proofmill);
    program(&folder, "other", r#"cat "$1" "$2" > "$3""#);
    program(&folder, "wrong", r#"cat "$1" > "$3""#);
    for (peer, status) in [("./other", 0), ("./wrong", 1)] {
        let command = RUN.replace("plonk", "wtns") + " --json run.json --peer";
        let peer = format!("peer={peer} {{wasm}} {{input}} {{wtns}}");
        let output = folder.command(&command).arg(peer).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let file: Value = serde_json::from_str(&folder.text("run.json")).unwrap();
        let rows = file["runs"][0]["measurements"].as_array().unwrap();
        assert_eq!((rows.len(), &rows[0]["row"]["family"]), (2, &"wtns".into()));
        assert_eq!(rows[0]["outcome"]["unit"], "witnesses");
        assert_eq!(rows[1]["outcome"]["status"], if status == 0 { "measured" } else { "failed" });
    }
}

#[test]
fn provers_that_fail_or_are_wrong_are_not_timed() {
    let folder = ready();
    program(&folder, "wrong", r#"echo '["2"]' > "$1""#);
    program(&folder, "broken", "echo 'error: no memory' >&2; exit 3");
    for (command, expected) in [
        ("./wrong {public}", "expected the answer"),
        ("./broken", "ended with exit status: 3: error: no memory"),
        ("true", "its result: No such file"),
        ("./nowhere", "cannot be started"),
    ] {
        let (status, out, error) = run(&folder, "", &format!("peer={command}"));
        assert_eq!(status, Some(1), "{out}{error}");
        assert!(out.contains("FAILED") && error.contains(expected), "{command}: {out}{error}");
    }
}

#[test]
fn bad_options_and_peers_are_refused() {
    let folder = ready();
    for (more, expected) in [("--level sve9", "sve9"), ("--threads 1000", "expected at most")] {
        let error = folder.run(&format!("{RUN} {more}")).failed(2);
        assert!(error.contains(expected), "{more}: {error}");
    }
    for peer in ["name", "name=", "=command", "name='command"] {
        let (status, _, error) = run(&folder, "", peer);
        assert!(status == Some(2) && error.contains("expected NAME=COMMAND"), "{error}");
    }
    let error = folder.run("provers groth16 none.zkey c.wtns --db bench.db").failed(2);
    assert!(error.contains("none.zkey"), "{error}");
}
