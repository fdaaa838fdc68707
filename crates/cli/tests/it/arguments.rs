//! The command line itself.

use crate::process::Folder;
use serde_json::Value;

const COMMANDS: [&str; 59] = [
    "",
    "groth16",
    "groth16 prove",
    "groth16 fullprove",
    "groth16 verify",
    "groth16 setup",
    "plonk",
    "plonk prove",
    "plonk fullprove",
    "plonk verify",
    "plonk setup",
    "fflonk",
    "fflonk prove",
    "fflonk fullprove",
    "fflonk verify",
    "fflonk setup",
    "zkey",
    "zkey export",
    "zkey export verificationkey",
    "zkey export solidityverifier",
    "zkey export soliditycalldata",
    "zkey export json",
    "zkey verify",
    "zkey verify r1cs",
    "zkey verify init",
    "r1cs",
    "r1cs info",
    "r1cs print",
    "r1cs export",
    "r1cs export json",
    "wtns",
    "wtns calculate",
    "wtns check",
    "wtns debug",
    "wtns export",
    "wtns export json",
    "merkle",
    "merkle root",
    "merkle build",
    "merkle open",
    "merkle check",
    "srs",
    "srs new",
    "srs info",
    "srs check",
    "bls",
    "bls keygen",
    "bls sign",
    "bls verify",
    "bls aggregate",
    "stark",
    "stark security",
    "dev",
    "ntt",
    "info",
    "cpu",
    "prover",
    "completions",
    "man",
];

#[test]
fn help_of_every_command_has_examples() {
    let folder = Folder::new();
    for command in COMMANDS {
        let help = folder.run(&format!("{command} --help")).succeeded().stdout;
        assert!(help.contains("Examples:\n  proofmill "), "{command}: {help}");
        // snarkjs's users write it anywhere.
        let verbose = folder.run(&format!("{command} -v --help")).succeeded().stdout;
        assert!(verbose == help && help.contains("-v, --verbose"), "{command}: {help}");
    }
}

#[test]
fn unknown_level_lists_those_available() {
    let folder = Folder::new();
    let error = folder.run("--level mmx cpu").failed(2);
    assert!(error.contains("`mmx`") && error.contains("portable"), "{error}");
    let output = folder.command("cpu").env("PROOFMILL_LEVEL", "mmx").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output =
        folder.command("cpu --json --level portable").env("PROOFMILL_LEVEL", "mmx").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["level"], "portable", "the option goes before the variable");
}

#[test]
fn usage_errors_are_status_2() {
    let folder = Folder::new();
    for arguments in ["", "prove", "groth16", "groth16 prove", "cpu --threads 0", "cpu extra", "info"] {
        let run = folder.run(arguments);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{run:?}");
    }
}

#[test]
fn cpu_lists_levels_and_kernels() {
    let folder = Folder::new();
    let text = folder.run("cpu").succeeded().stdout;
    let report: Value = serde_json::from_str(&folder.run("cpu --json").succeeded().stdout).unwrap();
    let levels = report["result"]["levels"].as_array().unwrap();
    assert_eq!(levels[0], "portable");
    for kernel in report["result"]["kernels"].as_array().unwrap() {
        assert!(levels.contains(&kernel["level"]), "{kernel}");
        assert!(text.contains(kernel["kernel"].as_str().unwrap()), "{text}");
    }
}

#[test]
fn only_bench_takes_several_numbers_of_threads() {
    let folder = Folder::new();
    let error = folder.run("cpu --threads 1,2").failed(2);
    assert!(error.contains("only `bench`"), "{error}");
    folder.run("cpu --threads all").succeeded();
}

#[test]
fn completions_and_man_pages_name_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&format!("completions {shell}")).succeeded().stdout;
        assert!(script.contains("verificationkey"), "{shell}");
    }
    for command in ["serve", "worker", "jobs", "token", "keys"] {
        assert!(folder.run("completions bash").succeeded().stdout.contains(command), "{command}");
    }
    assert!(folder.run("man").succeeded().stdout.contains("groth16"));
    std::fs::create_dir(folder.path("man1")).unwrap();
    folder.run("man man1").succeeded();
    assert!(folder.text("man1/proofmill-groth16-prove.1").contains("ZKEY"));
    assert!(folder.text("man1/proofmill-serve.1").contains("service"));
    folder.run("man no/such/folder").failed(2);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let shell =
        format!("{} completions bash | true; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_proofmill"));
    let output = std::process::Command::new("bash").args(["-c", &shell]).output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    drop(folder);
}
