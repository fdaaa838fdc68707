//! `powersoftau`.

use crate::process::{Folder, section_of};
use serde_json::Value;

const BEACON: &str = "0102030405060708090a0b0c0d0e0f10";

#[test]
fn a_ceremony_is_verified() {
    let folder = Folder::new();
    let first = folder.run("powersoftau new bn128 2 0.ptau").succeeded();
    assert!(first.stdout.starts_with("challenge hash cbe18de1dbb2c768cc2516accddf9c75"), "{first:?}");
    folder.run("powersoftau contribute 0.ptau 1.ptau --name Alice --entropy typed").succeeded();
    // As snarkjs's users write it.
    folder.run("ptc 1.ptau 2.ptau -n=Bob -e=typed").succeeded();
    folder.run("ptec 2.ptau").succeeded();
    folder.run("ptcc bn128 challenge -e=typed").succeeded();
    folder.run("ptir 2.ptau challenge.response 3.ptau -n=Carol").succeeded();
    let last = folder.run(&format!("ptb 3.ptau 4.ptau 0x{BEACON} 10 -n=last --json")).succeeded();
    let last: Value = serde_json::from_str(&last.stdout).unwrap();
    let run = folder.run("powersoftau verify 4.ptau --json").succeeded();
    let run: Value = serde_json::from_str(&run.stdout).unwrap();
    let list = run["result"]["contributions"].as_array().unwrap();
    let names: Vec<_> = list.iter().map(|each| each["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Alice", "Bob", "Carol", "last"]);
    assert_eq!(list[3]["hash"], last["result"]["contribution_hash"]);
    assert_eq!(list[3]["beacon"]["seed"], BEACON);
    let run = folder.run("ptv 4.ptau --contributions").succeeded();
    let hash = list[1]["hash"].as_str().unwrap();
    assert!(run.stdout.contains(&format!("contribution 2: Bob, {hash}\n")), "{run:?}");
    folder.run("ptej 4.ptau 4.json").succeeded();
    let json: Value = serde_json::from_slice(&folder.read("4.json")).unwrap();
    assert_eq!((json["tauG1"].as_array().unwrap().len(), &json["power"]), (7, &2.into()));
    assert_eq!(json["contributions"][0]["name"], "Alice");
    folder.run("pt2 4.ptau prepared.ptau").succeeded();
    let prepared = folder.read("prepared.ptau");
    folder.run("ptv prepared.ptau").succeeded();
    // As before snarkjs 0.3: without the largest domain, of 2^3 points.
    let lagrange = section_of(&prepared, 12);
    let length = u64::from_le_bytes(prepared[lagrange - 8..lagrange].try_into().unwrap());
    let mut old = prepared.clone();
    old[lagrange - 8..lagrange].copy_from_slice(&(length - 8 * 64).to_le_bytes());
    let end = lagrange + length as usize;
    old.drain(end - 8 * 64..end);
    folder.write("old.ptau", old);
    folder.run("ptcv old.ptau converted.ptau").succeeded();
    assert!(folder.read("converted.ptau") == prepared);
    // snarkjs's file, with its contributions.
    folder.run("ptv pot8.ptau").succeeded();
    folder.run("ptt pot8.ptau").succeeded();
    folder.run("ptv pot8_07.ptau").succeeded();
    assert!(folder.path("pot8_01.ptau").exists() && !folder.path("pot8_08.ptau").exists());
    folder.run("powersoftau new bn128 1").succeeded();
    assert!(folder.path("powersOfTau1_0000.ptau").exists());
}

#[test]
fn wrong_powers_and_arguments_are_refused() {
    let folder = Folder::new();
    folder.run("powersoftau new bn254 2 0.ptau").succeeded();
    folder.run("powersoftau contribute 0.ptau 1.ptau").succeeded();
    folder.run("powersoftau export challenge 0.ptau challenge").succeeded();
    folder.run("powersoftau challenge contribute bn128 challenge response").succeeded();
    let mut changed = folder.read("1.ptau");
    let tau = section_of(&changed, 2);
    changed.copy_within(tau + 4 * 64..tau + 5 * 64, tau + 5 * 64);
    folder.write("changed.ptau", changed);
    for (command, status, words) in [
        ("powersoftau verify 0.ptau", 1, "nobody contributed"),
        ("powersoftau verify changed.ptau", 1, "point 5 is not tau times point 4"),
        ("powersoftau verify circuit.r1cs", 2, "circuit.r1cs"),
        ("powersoftau new secp256k1 2 2.ptau", 2, "bn128 or bls12381"),
        ("powersoftau new bn128 0 2.ptau", 2, "0"),
        ("powersoftau new bn128 29 2.ptau", 2, "29"),
        ("powersoftau contribute 0.ptau 0.ptau", 2, "0.ptau"),
        ("powersoftau contribute missing.ptau 2.ptau", 2, "missing.ptau"),
        ("powersoftau beacon 1.ptau 2.ptau 01x 10", 2, "01x"),
        ("powersoftau import response 1.ptau response 2.ptau", 2, "not to the challenge"),
        ("powersoftau import response 0.ptau challenge 2.ptau", 2, "expected a response"),
        ("powersoftau challenge contribute bn128 response 2.ptau", 2, "expected a challenge"),
        ("powersoftau truncate 1.ptau", 2, "not prepared"),
        ("powersoftau convert 1.ptau 2.ptau", 2, "not prepared"),
        ("powersoftau prepare phase2 missing.ptau 2.ptau", 2, "missing.ptau"),
    ] {
        let run = folder.run(command);
        assert_eq!(run.status, Some(status), "{command}: {run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(words), "{command}: {run:?}");
    }
    assert!(!folder.path("2.ptau").exists(), "nothing is left");
}

/// A contribution that is killed at any moment leaves the new file, whole, or nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_contribution_leaves_the_new_file_or_nothing() {
    let folder = Folder::new();
    folder.run("powersoftau new bn128 8 0.ptau").succeeded();
    let command = format!("powersoftau beacon 0.ptau 1.ptau {BEACON} 10 --threads 1");
    let begun = std::time::Instant::now();
    folder.run(&command).succeeded();
    let whole = begun.elapsed();
    let expected = folder.read("1.ptau");
    let with = folder.names();
    std::fs::remove_file(folder.path("1.ptau")).unwrap();
    let without = folder.names();
    let mut nothing = 0;
    for i in 0..100 {
        let mut child = folder.command(&command).spawn().unwrap();
        std::thread::sleep(whole * i / 90);
        child.kill().unwrap();
        child.wait().unwrap();
        if folder.names() == without {
            nothing += 1;
        } else {
            assert_eq!(folder.names(), with, "after {i} ninetieths");
            assert!(folder.read("1.ptau") == expected);
            std::fs::remove_file(folder.path("1.ptau")).unwrap();
        }
    }
    assert!(nothing > 10, "{nothing} of 100 left nothing");
}
