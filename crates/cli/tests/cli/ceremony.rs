//! `zkey contribute`, `beacon` and `verify`.

use crate::process::Folder;
use serde_json::Value;

const BEACON: &str = "0102030405060708090a0b0c0d0e0f10";

#[test]
fn a_ceremony_is_verified() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau 0.zkey -q").succeeded();
    let run = folder.run("zkey verify r1cs circuit.r1cs pot8.ptau 0.zkey").warned();
    assert!(run.contains("nobody contributed"), "{run}");
    let first = folder.run("zkey contribute 0.zkey 1.zkey --name Alice --entropy typed").succeeded();
    // As snarkjs's users write it.
    let second = folder.run("zkc 1.zkey 2.zkey -n=Bob -e=typed").succeeded();
    let last = folder.run(&format!("zkey beacon 2.zkey 3.zkey 0x{BEACON} 10 -n=last --json")).succeeded();
    let hash = |text: &str| text.trim().trim_start_matches("contribution hash ").to_owned();
    let last: Value = serde_json::from_str(&last.stdout).unwrap();
    let hashes = [
        hash(&first.stdout),
        hash(&second.stdout),
        last["result"]["contribution_hash"].as_str().unwrap().to_owned(),
    ];
    for command in
        ["zkey verify r1cs circuit.r1cs pot8.ptau 3.zkey", "zkey verify init 0.zkey pot8.ptau 3.zkey"]
    {
        let run = folder.run(&format!("{command} --json")).succeeded();
        let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
        let list = result["contributions"].as_array().unwrap();
        let found: Vec<_> = list.iter().map(|each| each["hash"].as_str().unwrap()).collect();
        assert_eq!(found, hashes);
        assert_eq!((&list[0]["name"], &list[2]["beacon"]["seed"]), (&"Alice".into(), &BEACON.into()));
        let run = folder.run(command).succeeded();
        assert!(run.stdout.contains("contribution 2: Bob, ") && run.stdout.lines().count() == 3, "{run:?}");
    }
    folder.run("groth16 prove 3.zkey witness.wtns proof.json public.json").succeeded();
    folder.run("zkey export verificationkey 3.zkey vk.json").succeeded();
    folder.run("groth16 verify vk.json public.json proof.json").succeeded();
}

#[test]
fn wrong_keys_and_arguments_are_refused() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau 0.zkey -q").succeeded();
    folder.run("zkey contribute 0.zkey 1.zkey").succeeded();
    // The same circuit and powers, but a contribution of another ceremony.
    let mut changed = folder.read("1.zkey");
    let last = changed.len() - 1;
    changed[last - 20] ^= 1;
    folder.write("changed.zkey", changed);
    for (command, status, words) in [
        ("zkey verify r1cs circuit.r1cs pot8.ptau changed.zkey", 1, "contribution 1: its transcript"),
        ("zkey verify init 1.zkey pot8.ptau 1.zkey", 2, "the initial key has 1 contributions"),
        ("zkey verify init 0.zkey pot8.ptau plonk.zkey", 2, "plonk.zkey"),
        ("zkey contribute 0.zkey 0.zkey", 2, "0.zkey"),
        ("zkey contribute missing.zkey 2.zkey", 2, "missing.zkey"),
        ("zkey contribute plonk.zkey 2.zkey", 2, "plonk.zkey"),
        ("zkey beacon 1.zkey 2.zkey 01x 10", 2, "01x"),
        ("zkey beacon 1.zkey 2.zkey 01 9", 2, "9"),
        ("zkey beacon 1.zkey 2.zkey 01 64", 2, "64"),
    ] {
        let run = folder.run(command);
        assert_eq!(run.status, Some(status), "{command}: {run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(words), "{command}: {run:?}");
    }
    let name = "n".repeat(256);
    let run = folder.run(&format!("zkey contribute 0.zkey 2.zkey --name {name}"));
    assert!(run.status == Some(2) && run.stderr.contains("255 bytes"), "{run:?}");
    assert!(!folder.path("2.zkey").exists(), "nothing is left");
}
