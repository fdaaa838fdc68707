//! The exit status of `verify`: 0 for a valid proof, 1 for a wrong one, 2 for a malformed one.

use crate::process::{Folder, SYSTEMS};
use serde_json::{Value, json};

/// The modulus of the scalar field.
const ORDER: &str = "21888242871839275222246405745257275088548364400416034343698204186575808495617";

/// Makes a valid document invalid.
type Edit<'a> = &'a dyn Fn(&mut Value);

fn verify(folder: &Folder, system: &str, public: &str, proof: &str) -> proofmill_testing::Run {
    folder.run(&format!("{system} verify {system}.vk.json {public} {proof}"))
}

fn edited(folder: &Folder, name: &str, edit: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::from_str(&folder.text(name)).unwrap();
    edit(&mut value);
    value.to_string()
}

#[test]
fn a_wrong_proof_is_status_1() {
    let folder = Folder::new();
    for (system, point, other) in [("groth16", "pi_a", "pi_c"), ("plonk", "A", "B")] {
        let proof = format!("{system}.proof.json");
        folder.write("wrong.json", edited(&folder, &proof, |proof| proof[point] = proof[other].clone()));
        verify(&folder, system, "public.json", "wrong.json").failed(1);
        folder.write("signals.json", edited(&folder, "public.json", |signals| signals[0] = json!("1")));
        verify(&folder, system, "signals.json", &proof).failed(1);
    }
}

#[test]
fn malformed_signals_are_status_2() {
    let folder = Folder::new();
    for system in SYSTEMS {
        let proof = format!("{system}.proof.json");
        for (name, signals) in [
            ("not below the modulus", json!(["1", ORDER, "2026"])),
            ("too few", json!(["1", "2026"])),
            ("too many", json!(["1", "2", "2026", "4"])),
            ("negative", json!(["-1", "2", "2026"])),
            ("not numbers", json!(["x", "2", "2026"])),
            ("nested", json!([["1"], "2", "2026"])),
            ("no list", json!({ "0": "1" })),
        ] {
            folder.write("signals.json", signals.to_string());
            let error = verify(&folder, system, "signals.json", &proof).failed(2);
            assert!(error.contains("signals.json"), "{name}: {error}");
        }
    }
}

#[test]
fn malformed_proofs_are_status_2() {
    let folder = Folder::new();
    for (system, point) in [("groth16", "pi_a"), ("plonk", "T2")] {
        let name = format!("{system}.proof.json");
        let edits: [(&str, Edit<'_>); 6] = [
            ("off the curve", &|proof| proof[point][0] = json!("1")),
            ("not canonical", &|proof| proof[point][0] = json!(format!("{ORDER}0"))),
            ("no point", &|proof| proof[point] = json!("1")),
            ("missing", &|proof| drop(proof.as_object_mut().unwrap().remove(point))),
            ("another protocol", &|proof| proof["protocol"] = json!("fflonk")),
            ("another curve", &|proof| proof["curve"] = json!("bls12381")),
        ];
        for (case, edit) in edits {
            folder.write("bad.json", edited(&folder, &name, edit));
            let error = verify(&folder, system, "public.json", "bad.json").failed(2);
            assert!(error.contains("bad.json"), "{case}: {error}");
        }
    }
    verify(&folder, "groth16", "public.json", "plonk.proof.json").failed(2);
    verify(&folder, "plonk", "public.json", "groth16.proof.json").failed(2);
    folder.run("groth16 verify plonk.vk.json public.json groth16.proof.json").failed(2);
}

#[test]
fn no_changed_byte_of_a_proof_is_valid() {
    let folder = Folder::new();
    for (system, step) in [("groth16", 3), ("plonk", 9)] {
        let proof = folder.read(&format!("{system}.proof.json"));
        // Without this key a proof is taken for that of an early tool, which names no curve.
        let key = b"\"curve\"";
        let curve = proof.windows(key.len()).position(|window| window == key).unwrap();
        for offset in (0..proof.len()).step_by(step) {
            if (curve + 1..curve + key.len() - 1).contains(&offset) {
                continue;
            }
            let mut changed = proof.clone();
            changed[offset] ^= 1;
            folder.write("changed.json", &changed);
            let run = verify(&folder, system, "public.json", "changed.json");
            let status = if run.status == Some(1) { 1 } else { 2 };
            run.failed(status);
        }
    }
}

#[test]
fn truncated_json_is_status_2() {
    let folder = Folder::new();
    for system in SYSTEMS {
        for name in [format!("{system}.proof.json"), format!("{system}.vk.json"), "public.json".to_owned()] {
            let whole = folder.read(&name);
            for length in (0..whole.len() - 2).step_by(whole.len() / 7) {
                folder.write(&name, &whole[..length]);
                verify(&folder, system, "public.json", &format!("{system}.proof.json")).failed(2);
            }
            folder.write(&name, whole);
        }
    }
}
