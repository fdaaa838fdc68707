//! Commands of the bench and of the service run other programs, here scripts that print their arguments.
#![cfg(unix)]

use crate::process::Folder;
use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

/// Writes a script in place of `proofmill-bench` that prints its name and arguments, then runs the commands in `end`.
fn script(folder: &Path, name: &str, end: &str) {
    program(folder, "proofmill-bench", name, end);
}

/// [`script`] in place of any program.
fn program(folder: &Path, program: &str, name: &str, end: &str) {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(program);
    fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\"\n{end}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A folder with only the binary under test. It is copied: a link would lead to the neighbours of the original.
fn lonely() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_proofmill"), folder.path().join("proofmill")).unwrap();
    folder
}

/// Exit status, standard output and standard error of a command of the lonely binary.
fn run(folder: &Path, path: &Path, arguments: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(folder.join("proofmill"));
    command.args(arguments.split_whitespace()).env("PATH", path).env_remove("PROOFMILL_LEVEL");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn arguments_and_exit_status_pass_through() {
    let folder = lonely();
    script(folder.path(), "bench", "exit 7");
    for (arguments, passed) in [
        ("bench", ""),
        ("bench list msm", " list msm"),
        ("bench --help", " --help"),
        ("bench run --threads 1,all --json run.json", " run --threads 1,all --json run.json"),
        ("--level portable --threads 1,2 bench run", " --level portable --threads 1,2 run"),
        ("bench --json -q runs", " --quiet --json runs"),
        ("cpu --measure --json", " --json cpu"),
        ("plonk workload arithmetic --gates 2^6", " plonk-workload arithmetic --gates 2^6"),
        ("pipeline run --random 2^10 --json", " pipeline run --random 2^10 --json"),
        ("bls --threads 1 vectors cases", " --threads 1 bls-vectors cases"),
        ("bls vectors cases --json", " bls-vectors cases --json"),
    ] {
        let (status, stdout, stderr) = run(folder.path(), "/nonexistent".as_ref(), arguments);
        assert_eq!((status, stderr), (Some(7), String::new()), "{arguments}");
        assert_eq!(stdout, format!("bench{passed}\n"), "{arguments}");
    }
}

#[test]
fn commands_of_the_service_pass_through() {
    let folder = lonely();
    program(folder.path(), "proofmill-server", "server", "exit 5");
    for (arguments, passed) in [
        ("serve", "serve"),
        ("serve --help", "serve --help"),
        (
            "serve --store postgres://localhost/jobs --listen 0.0.0.0:8443",
            "serve --store postgres://localhost/jobs --listen 0.0.0.0:8443",
        ),
        (
            "--level portable --threads 2 worker --server https://a",
            "worker --server https://a --threads 2 --program-argument=--level=portable",
        ),
        ("jobs submit --json --key a", "jobs submit --json --key a"),
        ("--json --level portable jobs list", "jobs list --json"),
        ("serve --threads 2", "serve --threads 2"),
        ("--allow-insecure-setup -q serve", "serve --program-argument=--allow-insecure-setup"),
        ("token new --scope submit", "token new --scope submit"),
        ("keys add circuit.zkey", "keys add circuit.zkey"),
    ] {
        let (status, stdout, stderr) = run(folder.path(), "/nonexistent".as_ref(), arguments);
        assert_eq!((status, stderr), (Some(5), String::new()), "{arguments}");
        assert_eq!(stdout, format!("server {passed}\n"), "{arguments}");
    }
    // The other program is not there.
    assert_eq!(run(folder.path(), "/nonexistent".as_ref(), "bench").0, Some(2));
}

#[test]
fn commands_of_ray_pass_through() {
    let folder = lonely();
    program(folder.path(), "proofmill-ray", "ray", "exit 1");
    for (arguments, passed) in [
        ("ray --help", "--help"),
        ("ray plan --size 2^24 --nodes 8 --json", "plan --size 2^24 --nodes 8 --json"),
        ("--json ray plan --size 2^24", "plan --size 2^24 --json"),
        ("--allow-insecure-setup ray prove a b c d", "prove a b c d --allow-insecure-setup"),
    ] {
        let (status, stdout, stderr) = run(folder.path(), "/nonexistent".as_ref(), arguments);
        assert_eq!((status, stderr), (Some(1), String::new()), "{arguments}");
        assert_eq!(stdout, format!("ray {passed}\n"), "{arguments}");
    }
}

#[test]
fn signals_pass_through() {
    let folder = lonely();
    script(folder.path(), "bench", "kill -TERM $$");
    let (status, stdout, _) = run(folder.path(), "/bin:/usr/bin".as_ref(), "bench runs");
    assert_eq!((status, stdout.as_str()), (None, "bench runs\n"));
}

#[test]
fn the_neighbour_is_preferred_to_the_path() {
    let folder = lonely();
    let path = folder.path().join("path");
    script(&path, "path", "");
    assert_eq!(run(folder.path(), &path, "bench runs").1, "path runs\n");
    script(folder.path(), "neighbour", "");
    assert_eq!(run(folder.path(), &path, "bench runs").1, "neighbour runs\n");
}

#[test]
fn without_the_program_a_line_says_how_to_install_it() {
    let folder = lonely();
    for arguments in [
        "bench",
        "bench --help",
        "cpu --measure",
        "plonk workload pedersen",
        "bls vectors cases",
        "pipeline run",
    ] {
        let (status, stdout, stderr) = run(folder.path(), "/nonexistent".as_ref(), arguments);
        assert_eq!((status, stdout), (Some(2), String::new()), "{arguments}");
        assert!(stderr.contains("cargo install --path lab/bench") && stderr.lines().count() == 1, "{stderr}");
    }
    for arguments in ["serve", "serve --help", "worker", "jobs list", "token new", "keys list"] {
        let (status, stdout, stderr) = run(folder.path(), "/nonexistent".as_ref(), arguments);
        assert_eq!((status, stdout), (Some(2), String::new()), "{arguments}");
        let install = "cargo install --path service/server";
        assert!(stderr.contains(install) && stderr.lines().count() == 1, "{stderr}");
    }
    let (status, _, stderr) = run(folder.path(), "/nonexistent".as_ref(), "ray plan");
    assert_eq!(status, Some(2));
    assert!(stderr.contains("pip install './crates/python[ray]'") && stderr.lines().count() == 1, "{stderr}");
    // Other commands work without them.
    assert_eq!(run(folder.path(), "/nonexistent".as_ref(), "cpu").0, Some(0));
}

#[test]
fn help_names_the_bench() {
    let folder = Folder::new();
    let help = folder.run("--help").succeeded().stdout;
    assert!(help.contains("\n  bench ") && help.contains("\n  serve ") && !help.contains("\n  prover "));
    let help = folder.run("help bench").succeeded().stdout;
    assert!(help.contains("proofmill bench run") && help.contains("cargo install"), "{help}");
}
