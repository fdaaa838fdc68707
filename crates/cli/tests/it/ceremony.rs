//! `zkey contribute`, `beacon` and `verify`.

use crate::process::{Folder, refused, section_of};
use proofmill::curve::{Curve, bn254::G1};
use proofmill_circom::{BinFile, Groth16Zkey, PointCheck};
use proofmill_cpu::Level;
use proofmill_field::bn254::Fr;
use serde_json::Value;

const ALLOW: &str = "--allow-insecure-setup";

const BEACON: &str = "0102030405060708090a0b0c0d0e0f10";

#[test]
fn a_ceremony_is_verified() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau 0.zkey -q").succeeded();
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

/// Both commands refuse a right key for these reasons, however they are told to print, and accept it with a warning where that is permitted.
#[track_caller]
fn insecure(folder: &Folder, ptau: &str, [initial, key]: [&str; 2], words: &str) {
    for command in [format!("r1cs circuit.r1cs {ptau} {key}"), format!("init {initial} {ptau} {key}")] {
        let command = format!("zkey verify {command}");
        for options in ["", "--quiet"] {
            let run = folder.run(&format!("{command} {options}"));
            assert!(run.status == Some(1) && run.stderr.lines().count() == 1, "{run:?}");
            assert!(run.stderr.contains(words) && run.stderr.contains(ALLOW), "{words}: {run:?}");
        }
        let run = folder.run(&format!("{command} --json"));
        let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
        assert_eq!(
            (run.status, &result["insecure"], &result["valid"]),
            (Some(1), &true.into(), &false.into())
        );
        assert!(result["insecurity"].as_str().unwrap().starts_with(words), "{run:?}");
        let warning = folder.run(&format!("{command} {ALLOW} --quiet")).warned();
        assert!(warning.contains(words), "{warning}");
        let run = folder.run(&format!("{command} {ALLOW} --json"));
        let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
        assert_eq!(
            (run.status, &result["insecure"], &result["valid"]),
            (Some(0), &true.into(), &true.into())
        );
        assert!(result["insecurity"].as_str().unwrap().starts_with(words), "{run:?}");
    }
}

#[test]
fn keys_without_a_participant_are_rejected() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau 0.zkey -q").succeeded();
    insecure(&folder, "pot8.ptau", ["0.zkey", "0.zkey"], "delta equals gamma: nobody contributed");
    folder.run(&format!("zkey beacon 0.zkey 1.zkey {BEACON} 10")).succeeded();
    folder.run(&format!("zkey beacon 1.zkey 2.zkey {BEACON} 10")).succeeded();
    for key in ["1.zkey", "2.zkey"] {
        insecure(&folder, "pot8.ptau", ["0.zkey", key], "only beacons contributed to the key");
        for command in [
            format!("groth16 prove {key} witness.wtns p.json s.json"),
            format!("zkey export verificationkey {key} vk.json"),
            format!("zkey export solidityverifier {key} v.sol"),
        ] {
            refused(&folder, &command, &["only beacons contributed to the key", ALLOW]);
            folder.run(&format!("{command} {ALLOW}")).warned();
        }
        assert!(
            folder.text("v.sol").contains("INSECURE, for tests only: anyone can forge proofs: only beacons")
        );
        let info = folder.run(&format!("info {key}")).succeeded().stdout;
        assert!(info.contains("only beacons: anyone can forge proofs"), "{info}");
        let run = folder.run(&format!("zkey audit {key}"));
        assert!(
            run.status == Some(1) && run.stdout.contains("INSECURE: only beacons contributed"),
            "{run:?}"
        );
    }
    folder.run("zkey contribute 2.zkey 3.zkey").succeeded();
    let run = folder.run("zkey verify r1cs circuit.r1cs pot8.ptau 3.zkey --json").succeeded();
    let result = &serde_json::from_str::<Value>(&run.stdout).unwrap()["result"];
    assert_eq!((&result["insecure"], &result["insecurity"]), (&false.into(), &Value::Null));
}

#[test]
fn powers_without_a_participant_are_rejected() {
    let folder = Folder::new();
    folder.run("powersoftau new bn128 8 0.ptau").succeeded();
    folder.run(&format!("powersoftau beacon 0.ptau 1.ptau {BEACON} 10")).succeeded();
    folder.run("powersoftau prepare phase2 1.ptau beacon.ptau").succeeded();
    for ptau in ["1.ptau", "beacon.ptau"] {
        let run = folder.run(&format!("powersoftau verify {ptau}"));
        assert!(run.status == Some(1) && run.stderr.contains("only beacons contributed"), "{run:?}");
    }
    let info = folder.run("srs info beacon.ptau").succeeded().stdout;
    assert!(info.contains("1: only beacons contributed"), "{info}");
    let warning = folder.run("groth16 setup circuit.r1cs beacon.ptau 0.zkey").warned();
    assert!(warning.contains("beacon.ptau: only beacons contributed"), "{warning}");
    folder.run("zkey contribute 0.zkey 1.zkey").succeeded();
    insecure(&folder, "beacon.ptau", ["0.zkey", "1.zkey"], "only beacons contributed to these powers of tau");
    for key in ["1.zkey", "1.json", "1.sol"] {
        if key == "1.json" {
            folder.run("zkey export verificationkey 1.zkey 1.json").succeeded();
            folder.run("zkey export solidityverifier 1.json 1.sol").succeeded();
        }
        let run = folder.run(&format!("zkey audit {key} --r1cs circuit.r1cs --ptau beacon.ptau"));
        assert!(
            run.status == Some(1) && run.stdout.contains("INSECURE: only beacons contributed"),
            "{run:?}"
        );
    }
    folder.run("plonk setup circuit.r1cs beacon.ptau beacon.zkey").warned();
    let prove = "plonk prove beacon.zkey witness.wtns p.json s.json";
    refused(&folder, prove, &["beacon.zkey: anyone can forge proofs", "only beacons"]);
}

/// A key whose maker moved all points H in the one direction that proofs do not see, with honest contributions to it.
#[test]
fn moved_points_are_rejected_by_every_command() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau 0.zkey -q").succeeded();
    let mut bytes = folder.read("0.zkey");
    let key: Groth16Zkey = Groth16Zkey::read(BinFile::from_bytes("key", bytes.clone()).unwrap()).unwrap();
    let points = key.h().decode(Level::best(), PointCheck::OnCurve).unwrap();
    let shift = Fr::root_of_unity(points.len().ilog2() + 1).unwrap();
    let coset = std::iter::successors(Some(shift), |x| Some(*x * shift * shift));
    let step = G1::GENERATOR.mul_vartime(&Fr::from(1_000_003)).to_affine();
    let moved = points.iter().zip(coset).flat_map(|(point, x)| {
        let moved = step.mul_vartime(&x).add_affine(point).to_affine();
        [moved.x, moved.y].map(|coordinate| coordinate.to_montgomery_le()).concat()
    });
    let moved: Vec<u8> = moved.collect();
    let at = section_of(&bytes, 9);
    bytes[at..at + moved.len()].copy_from_slice(&moved);
    folder.write("moved.zkey", bytes);
    folder.run("zkey contribute moved.zkey 1.zkey").succeeded();
    folder.run(&format!("zkey beacon 1.zkey 2.zkey {BEACON} 10")).succeeded();
    // It proves as before.
    folder.run("groth16 prove 2.zkey witness.wtns proof.json public.json").succeeded();
    for command in [
        "zkey verify r1cs circuit.r1cs pot8.ptau 2.zkey",
        "zkey verify init 0.zkey pot8.ptau 2.zkey",
        "zkey verify init moved.zkey pot8.ptau 2.zkey",
        "zkey audit 2.zkey --r1cs circuit.r1cs --ptau pot8.ptau",
    ] {
        let run = folder.run(command);
        assert!(run.status == Some(1) && run.stderr.contains("the points H"), "{command}: {run:?}");
    }
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
