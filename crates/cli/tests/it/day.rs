//! A typical session: every command on valid files.

use crate::process::{Folder, SYSTEMS, examples};
use serde_json::Value;

fn report(stdout: &str) -> Value {
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    serde_json::from_str(stdout).unwrap()
}

#[test]
fn prove_and_verify_at_every_level() {
    let folder = Folder::new();
    let cpu = report(&folder.run("cpu --json").stdout);
    for level in cpu["result"]["levels"].as_array().unwrap() {
        let level = level.as_str().unwrap();
        for system in SYSTEMS {
            for threads in [1, 2, 5] {
                let options = format!("--level {level} --threads {threads}");
                let prove =
                    format!("{system} prove {system}.zkey witness.wtns proof.json signals.json {options}");
                assert_eq!(folder.run(&prove).succeeded().stdout, "");
                assert_eq!(folder.text("signals.json"), folder.text("public.json"));
                let verify = format!("{system} verify {system}.vk.json signals.json proof.json {options}");
                assert_eq!(folder.run(&verify).succeeded().stdout, "valid\n");
                assert_eq!(folder.run(&format!("{verify} --quiet")).succeeded().stdout, "");
            }
        }
    }
}

#[test]
fn the_large_example_proves() {
    let folder = Folder::new();
    let example = examples().join("membership");
    let file = |name: &str| example.join(name).canonicalize().unwrap().display().to_string();
    let (zkey, witness, key) = (file("circuit.zkey"), file("witness.wtns"), file("verification_key.json"));
    folder.run(&format!("groth16 prove {zkey} {witness} --r1cs {}", file("circuit.r1cs"))).succeeded();
    folder.run(&format!("groth16 verify {key} public.json proof.json")).succeeded();
}

#[test]
fn proofs_of_snarkjs_verify() {
    let folder = Folder::new();
    for system in SYSTEMS {
        folder.run(&format!("{system} verify {system}.vk.json public.json {system}.proof.json")).succeeded();
    }
}

#[test]
fn plonk_setup_is_that_of_snarkjs() {
    let folder = Folder::new();
    folder.run("plonk setup circuit.r1cs pot8.ptau made.zkey").succeeded();
    assert!(folder.read("made.zkey") == folder.read("plonk.zkey"), "made.zkey is not snarkjs's");
}

#[test]
fn keys_of_every_arithmetisation_prove() {
    let folder = Folder::new();
    for arithmetisation in ["standard", "turbo", "ultra"] {
        let setup =
            format!("plonk setup --arithmetisation {arithmetisation} circuit.r1cs pot8.ptau made.key");
        folder.run(&setup).succeeded();
        folder.run("zkey export verificationkey made.key made.vk.json").succeeded();
        folder
            .run("plonk prove made.key witness.wtns proof.json signals.json --r1cs circuit.r1cs")
            .succeeded();
        assert_eq!(folder.text("signals.json"), folder.text("public.json"));
        folder.run("plonk verify made.vk.json signals.json proof.json").succeeded();
        for memory in ["--memory fast", "--memory low --scratch ."] {
            folder
                .run(&format!("plonk prove made.key witness.wtns proof.json signals.json {memory}"))
                .succeeded();
            folder.run("plonk verify made.vk.json signals.json proof.json").succeeded();
        }
        let missing = folder.run("plonk prove made.key witness.wtns --scratch nowhere").failed(2);
        assert!(missing.contains("nowhere: cannot keep vectors"), "{missing}");
        let mut wrong: Vec<String> = serde_json::from_str(&folder.text("public.json")).expect("signals");
        wrong[0] = "1".into();
        folder.write("wrong.json", serde_json::to_string(&wrong).expect("text"));
        folder.run("plonk verify made.vk.json wrong.json proof.json").failed(1);
        if arithmetisation != "standard" {
            let info = report(&folder.run("info made.key --json").stdout);
            assert_eq!(info["result"]["kind"], "pmpk");
            assert_eq!(info["result"]["counts"]["public_inputs"], 3);
            let error = folder.run("plonk verify plonk.vk.json signals.json proof.json").failed(2);
            assert!(error.contains("expected protocol plonk, found proofmill-plonk"), "{error}");
        }
    }
    let unknown = folder.run("plonk setup --arithmetisation wide circuit.r1cs pot8.ptau made.key");
    assert!(unknown.status == Some(2) && unknown.stderr.contains("standard, turbo or ultra"), "{unknown:?}");
}

#[test]
fn groth16_setup_gives_a_working_key() {
    let (folder, allow) = (Folder::new(), "--allow-insecure-setup");
    folder.run("groth16 setup circuit.r1cs pot8.ptau made.zkey --quiet").succeeded();
    let snarkjs = examples().join("../crates/groth16/tests/data/membership-small.zkey");
    assert!(folder.read("made.zkey") == std::fs::read(snarkjs).unwrap(), "made.zkey is not snarkjs's");
    folder.run(&format!("zkey export verificationkey made.zkey made.vk.json {allow}")).warned();
    folder.run(&format!("groth16 prove made.zkey witness.wtns proof.json public.json {allow}")).warned();
    folder.run(&format!("groth16 verify made.vk.json public.json proof.json {allow}")).warned();
}

#[test]
fn fflonk_setup_gives_a_working_key_or_says_how_many_powers_it_needs() {
    let folder = Folder::new();
    let toy = examples().join("../crates/plonk/tests/data/toy").display().to_string();
    folder.run(&format!("fflonk setup {toy}.circuit.r1cs pot8.ptau toy.zkey")).succeeded();
    folder.run("zkey export verificationkey toy.zkey toy.vk.json").succeeded();
    folder.run(&format!("fflonk prove toy.zkey {toy}.witness.wtns proof.json signals.json")).succeeded();
    folder.run("fflonk verify toy.vk.json signals.json proof.json").succeeded();
    let error = folder.run("fflonk setup circuit.r1cs pot8.ptau made.zkey").failed(2);
    assert!(
        error.contains(
            "pot8.ptau: the circuit needs 2322 powers of tau, found 511: a file of power 11 has enough"
        ),
        "{error}"
    );
}

#[test]
fn contracts_are_written_for_keys_and_verification_keys() {
    let folder = Folder::new();
    for system in ["groth16", "plonk", "fflonk"] {
        for key in [format!("{system}.zkey"), format!("{system}.vk.json")] {
            folder.run(&format!("zkey export solidityverifier {key} {key}.sol")).succeeded();
        }
        let contract = folder.text(&format!("{system}.zkey.sol"));
        assert_eq!(contract, folder.text(&format!("{system}.vk.json.sol")));
        assert!(contract.contains("function verifyProof("), "{contract}");
        let calldata = format!("zkey export soliditycalldata public.json {system}.proof.json");
        assert!(folder.run(&calldata).succeeded().stdout.contains("0x"));
    }
    folder.run("zkey export verificationkey witness.wtns made.json").failed(2);
}

#[test]
fn exported_verification_keys_are_those_of_snarkjs() {
    let folder = Folder::new();
    for system in SYSTEMS {
        folder.run(&format!("zkey export verificationkey {system}.zkey made.json")).succeeded();
        assert_eq!(folder.text("made.json"), folder.text(&format!("{system}.vk.json")));
    }
}

#[test]
fn the_witness_check_finds_the_first_failing_constraint() {
    let folder = Folder::new();
    folder.run("wtns check circuit.r1cs witness.wtns").succeeded();
    let mut witness = folder.read("witness.wtns");
    let last = witness.len() - 32;
    witness[last] ^= 1;
    folder.write("bad.wtns", witness);
    let error = folder.run("wtns check circuit.r1cs bad.wtns").failed(1);
    assert!(error.contains("bad.wtns") && error.contains("constraint "), "{error}");
}

#[test]
fn values_of_a_witness_are_printed_only_when_asked_for() {
    let folder = Folder::new();
    let mut witness = folder.read("witness.wtns");
    // A value that occurs in no other place.
    let at = witness.len() - 32;
    witness[at..].copy_from_slice(&[&[0xb1, 0x68, 0xde, 0x3a][..], &[0; 28]].concat());
    folder.write("bad.wtns", witness);
    folder.run("plonk setup circuit.r1cs pot8.ptau turbo.key --arithmetisation turbo").succeeded();
    for key in ["plonk.zkey", "turbo.key"] {
        let prove = format!("plonk prove {key} bad.wtns p.json s.json");
        let error = folder.run(&prove).failed(1);
        assert!(!error.contains("987654321") && error.contains("--show-values"), "{error}");
        let error = folder.run(&format!("{prove} --show-values")).failed(1);
        assert!(error.contains(" = 987654321"), "{error}");
    }
}

#[test]
fn info_says_what_files_are() {
    let folder = Folder::new();
    for (file, words) in [
        ("circuit.r1cs", ["r1cs", "bn254", "144"]),
        ("witness.wtns", ["wtns", "bn254", "149"]),
        ("groth16.zkey", ["zkey", "bn254", "groth16"]),
        ("plonk.zkey", ["zkey", "bn254", "plonk"]),
        ("fflonk.zkey", ["zkey", "bn254", "fflonk"]),
        ("pot8.ptau", ["ptau", "bn254", "8"]),
    ] {
        let text = folder.run(&format!("info {file}")).succeeded().stdout;
        let json = report(&folder.run(&format!("info {file} --json")).succeeded().stdout);
        for word in words {
            assert!(text.contains(word), "{file}: {word}: {text}");
            assert!(json["result"].to_string().contains(word), "{file}: {word}: {json}");
        }
    }
}

#[test]
fn json_reports_phases_seconds_and_memory() {
    let folder = Folder::new();
    for system in SYSTEMS {
        let prove =
            format!("{system} prove {system}.zkey witness.wtns proof.json signals.json --json --threads 2");
        let report = report(&folder.run(&prove).succeeded().stdout);
        assert_eq!(report["command"], format!("{system} prove"));
        assert_eq!(report["threads"], 2);
        let seconds = report["seconds"].as_f64().unwrap();
        let phases = report["phases"].as_array().unwrap();
        let sum: f64 = phases.iter().map(|phase| phase["seconds"].as_f64().unwrap()).sum();
        assert!(phases.len() > 3 && sum > 0.0 && sum <= seconds, "{report}");
        assert!(report["result"].is_object(), "{report}");
        assert!(
            !cfg!(target_os = "linux") || report["peak_memory_bytes"].as_u64().unwrap() > 1 << 20,
            "{report}"
        );
    }
    let run = folder.run("info no-such-file --json");
    assert_eq!(run.status, Some(2));
    assert!(report(&run.stdout)["error"].as_str().unwrap().contains("no-such-file"), "{run:?}");
}
