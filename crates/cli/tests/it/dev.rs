//! `dev`, with a program in place of circom that copies the files of a compiled circuit. `.ci/circom.sh` runs it with circom.
#![cfg(unix)]

use crate::process::Folder;
use serde_json::Value;
use std::{
    env, fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

/// A folder with a circuit and the program `circom CIRCUIT --r1cs --wasm --sym -o FOLDER`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("compiled.r1cs", include_bytes!("../../../witness/tests/data/inputs.r1cs"));
    folder.write("compiled.wasm", include_bytes!("../../../witness/tests/data/inputs.wasm"));
    folder.write("input.json", include_bytes!("../../../witness/tests/data/small.json"));
    folder.write(
        "circom",
        "#!/bin/sh
         [ -e broken ] && { echo 'error[P1000]' >&2; exit 1; }
         mkdir -p \"$6/main_js\" && cp compiled.r1cs \"$6/main.r1cs\" && cp compiled.wasm \"$6/main_js/main.wasm\"\n",
    );
    fs::set_permissions(folder.path("circom"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("main.circom", "include \"part.circom\";\n");
    folder.write("part.circom", "\n");
    folder
}

fn command(folder: &Folder, arguments: &str) -> Command {
    let mut command = folder.command(&format!("dev main.circom input.json {arguments}"));
    let path = format!("{}:{}", folder.path(".").display(), env::var("PATH").unwrap());
    command.env("PATH", path);
    command
}

#[test]
fn a_circuit_is_proven_with_insecure_keys() {
    let folder = folder();
    for system in ["groth16", "plonk", "fflonk"] {
        let output = command(&folder, &format!("--system {system} --keep made --json")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let warnings = String::from_utf8(output.stderr).unwrap();
        assert!(
            warnings.starts_with("warning: INSECURE: ") && warnings.matches("warning").count() == 1,
            "{warnings}"
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let result = &report["result"];
        assert_eq!(
            (&result["insecure"], &result["system"], &result["constraints"]),
            (&true.into(), &system.into(), &3.into())
        );
        let steps: Vec<&String> = result["seconds"].as_object().unwrap().keys().collect();
        assert_eq!(steps, ["compile", "prove", "set_up", "verify", "witness"]);
        assert!(
            result["gas"]["transaction"].as_u64().unwrap()
                > result["gas"]["execution"].as_u64().unwrap() + 21_000
        );
        // The files are those of the other commands, which refuse the Groth16 key and warn of PLONK's.
        folder.run("r1cs info made/main.r1cs").succeeded();
        let verify = format!(
            "{system} verify made/insecure.verification_key.json made/public.json made/insecure.proof.json --allow-insecure-setup"
        );
        assert_eq!(folder.run(&verify).stdout, "valid\n");
        let verify = verify.replace(" --allow-insecure-setup", "");
        assert!(folder.run(&verify).failed(2).contains("anyone can forge proofs for this key"));
    }
}

#[test]
fn the_compiler_may_have_arguments_and_a_name_with_spaces() {
    let folder = folder();
    fs::copy(folder.path("circom"), folder.path("my circom")).unwrap();
    for compiler in ["sh circom", "sh -e circom", "./my circom"] {
        let output = command(&folder, "--quiet").args(["--circom", compiler]).output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{compiler}: {output:?}");
    }
    let output = command(&folder, "").args(["--circom", "nowhere at all"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("\nerror: nowhere: not found: install circom"), "{told}");
}

#[test]
fn failures_of_a_step_are_told() {
    let folder = folder();
    folder.write("broken", "");
    let output = command(&folder, "").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("\nerror[P1000]\nerror: circom: exit status: 1\n"), "{told}");
    let output = command(&folder, "--circom nowhere").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && told.contains("\nerror: nowhere: not found: install circom"),
        "{told}"
    );
    fs::remove_file(folder.path("broken")).unwrap();
    // Zero has no inverse.
    folder.write("input.json", folder.text("input.json").replace("\"a\":\"3\"", "\"a\":\"0\""));
    let output = command(&folder, "").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && told.contains("input.json: an assertion or constraint"),
        "{told}"
    );
    // The witness of another circuit.
    fs::copy(folder.path("circuit.r1cs"), folder.path("compiled.r1cs")).unwrap();
    assert_eq!(command(&folder, "").output().unwrap().status.code(), Some(1));
}

#[test]
fn a_changed_include_is_watched_for() {
    let folder = folder();
    let mut child = command(&folder, "--watch").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let steps = |lines: &mut dyn Iterator<Item = String>| -> Vec<String> {
        let run = lines.skip_while(String::is_empty).take_while(|line| !line.is_empty());
        run.map(|line| line[..10].trim().to_owned()).collect()
    };
    let first = ["groth16", "compile", "set up", "witness", "prove", "verify", "on chain", "valid: the"];
    assert_eq!(steps(&mut lines), first);
    folder.write("part.circom", "// changed\n");
    // The constraints are the same, and so is the key.
    let second = ["groth16", "compile", "witness", "prove", "verify", "on chain", "valid: the"];
    assert_eq!(steps(&mut lines), second);
    child.kill().unwrap();
    child.wait().unwrap();
}
