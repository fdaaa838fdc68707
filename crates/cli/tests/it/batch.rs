//! Many proofs with one key, by `prove` and `fullprove`, and many verified at once.

use crate::process::{Folder, SYSTEMS, refused};
use proofmill::{
    circom::PublicSignals,
    curve::{Affine, Curve, Jacobian, bn254::G1},
    field::Fr,
    groth16::Proof,
};
use serde_json::{Value, json};
use std::fs;

const COUNT: usize = 4;

/// A folder with the witnesses `0.wtns` to `3.wtns` of different inputs `0.json` to `3.json`.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut inputs: Value = serde_json::from_str(&folder.text("input.json")).unwrap();
    for i in 0..COUNT {
        inputs["scope"] = json!(2026 + i);
        folder.write(&format!("{i}.json"), inputs.to_string());
        folder.run(&format!("wtns calculate circuit.wasm {i}.json {i}.wtns")).succeeded();
    }
    folder
}

/// `0.wtns p0 s0 1.wtns p1 s1` and so on, for these files.
fn jobs(extension: &str) -> String {
    (0..COUNT).map(|i| format!("{i}.{extension} p{i} s{i}")).collect::<Vec<_>>().join(" ")
}

/// The statements `s0 p0 s1 p1` and so on.
fn statements() -> String {
    (0..COUNT).map(|i| format!("s{i} p{i}")).collect::<Vec<_>>().join(" ")
}

fn prove_all(folder: &Folder, system: &str) {
    folder.run(&format!("{system} prove {system}.zkey {}", jobs("wtns"))).succeeded();
}

/// The lines that begin with `error: `, after checks for this exit status, nothing on standard output, and a summary at the end.
#[track_caller]
fn errors(folder: &Folder, command: &str, status: i32, summary: &str) -> Vec<String> {
    let run = folder.run(command);
    assert_eq!((run.status, run.stdout.as_str()), (Some(status), ""), "{run:?}");
    let lines = run.stderr.lines().map(|line| line.strip_prefix("error: ").expect("an error").to_owned());
    let mut lines: Vec<_> = lines.collect();
    assert_eq!(lines.pop().as_deref(), Some(summary), "{run:?}");
    lines
}

#[test]
fn many_proofs_are_made_with_one_key() {
    let folder = folder();
    for system in SYSTEMS {
        let command = format!("{system} prove {system}.zkey {} --r1cs circuit.r1cs --json", jobs("wtns"));
        let run = folder.run(&command).succeeded();
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        let proofs = report["result"]["proofs"].as_array().unwrap();
        assert_eq!(proofs.len(), COUNT);
        for (i, proof) in proofs.iter().enumerate() {
            assert_eq!(proof["proof"], json!(format!("p{i}")));
            assert_eq!(proof["signals"][2], json!((2026 + i).to_string()));
            assert_eq!(folder.text(&format!("s{i}")), format!("{:#}", proof["signals"]).replace("  ", " "));
            folder.run(&format!("{system} verify {system}.vk.json s{i} p{i}")).succeeded();
        }
        let verify = format!("{system} verify {system}.vk.json {}", statements());
        assert_eq!(folder.run(&verify).succeeded().stdout, "valid\n");
        assert_eq!(folder.run(&format!("{verify} -q")).succeeded().stdout, "");
        let report: Value =
            serde_json::from_str(&folder.run(&format!("{verify} --json")).succeeded().stdout).unwrap();
        assert_eq!(
            (&report["result"]["valid"], &report["result"]["proofs"][3]["proof"]),
            (&json!(true), &json!("p3"))
        );
    }
}

#[test]
fn many_inputs_are_proven_with_one_key() {
    let folder = folder();
    for system in SYSTEMS {
        let rest = jobs("json");
        let (first, rest) = rest.split_once(' ').unwrap();
        folder.run(&format!("{system} fullprove {first} circuit.wasm {system}.zkey {rest}")).succeeded();
        folder.run(&format!("{system} verify {system}.vk.json {}", statements())).succeeded();
        assert!(folder.text("s3").contains("\"2029\""));
    }
    folder.write("2.json", "{}");
    folder.run("groth16 fullprove 0.json circuit.wasm groth16.zkey p0 s0 3.json p3 s3").succeeded();
    let command = "groth16 fullprove 0.json circuit.wasm groth16.zkey p0 s0 2.json p2 s2";
    let lines = errors(&folder, command, 2, "1 of 2 proofs were not made");
    assert!(lines.len() == 1 && lines[0].starts_with("2.json: "), "{lines:?}");
}

#[test]
fn witnesses_that_fail_are_named_and_the_others_proven() {
    let folder = folder();
    let whole = folder.read("1.wtns");
    let wrong = |i: usize| {
        let mut bytes = folder.read(&format!("{i}.wtns"));
        *bytes.iter_mut().rev().nth(31).unwrap() ^= 1;
        folder.write(&format!("{i}.wtns"), bytes);
    };
    wrong(2);
    for system in SYSTEMS {
        folder.write("p1", "kept");
        folder.write("p2", "kept");
        let command = format!("{system} prove {system}.zkey {}", jobs("wtns"));
        folder.write("1.wtns", &whole);
        let lines = errors(&folder, &command, 1, "1 of 4 proofs were not made");
        assert!(lines.len() == 1 && lines[0].starts_with("2.wtns: "), "{lines:?}");
        assert_eq!(folder.text("p2"), "kept");
        for i in [0, 1, 3] {
            folder.run(&format!("{system} verify {system}.vk.json s{i} p{i}")).succeeded();
            fs::remove_file(folder.path(&format!("s{i}"))).unwrap();
        }
        assert!(!folder.path("s2").exists());
        // What cannot be read is bad input, whatever else happens.
        folder.write("p1", "kept");
        folder.write("1.wtns", &whole[..1000]);
        let lines = errors(&folder, &command, 2, "2 of 4 proofs were not made");
        assert!(lines[0].starts_with("1.wtns: ") && lines[1].starts_with("2.wtns: "), "{lines:?}");
        assert_eq!((folder.text("p1"), folder.text("p2")), ("kept".to_owned(), "kept".to_owned()));
        for i in [0, 3] {
            folder.run(&format!("{system} verify {system}.vk.json s{i} p{i}")).succeeded();
        }
        let run = folder.run(&format!("{command} --json"));
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["error"], json!("2 of 4 proofs were not made"));
        let proofs = &report["result"]["proofs"];
        assert_eq!((&proofs[1]["error"], &proofs[3]["proof"]), (&json!(lines[0]), &json!("p3")));
        // An output that cannot be written.
        let command = format!("{system} prove {system}.zkey 0.wtns no/p s 3.wtns p3 s3");
        let lines = errors(&folder, &command, 2, "1 of 2 proofs were not made");
        assert!(lines[0].starts_with("no/p: "), "{lines:?}");
        folder.run(&format!("{system} verify {system}.vk.json s3 p3")).succeeded();
    }
}

#[test]
fn what_is_wrong_for_all_proofs_is_said_once() {
    let folder = folder();
    let jobs = jobs("wtns");
    folder.run("groth16 setup circuit.r1cs pot8.ptau new.zkey").warned();
    refused(&folder, &format!("groth16 prove new.zkey {jobs}"), &["new.zkey: anyone can forge proofs"]);
    refused(&folder, &format!("groth16 prove absent.zkey {jobs}"), &["absent.zkey"]);
    for system in SYSTEMS {
        prove_all(&folder, system);
        let (jobs, verify) = (jobs.clone(), format!("{system} verify {system}.vk.json {}", statements()));
        let three = ["extra: expected three names for each further proof"];
        refused(&folder, &format!("{system} prove {system}.zkey {jobs} extra"), &three);
        refused(&folder, &format!("{system} prove {system}.zkey {jobs} extra p4"), &three);
        refused(&folder, &format!("{verify} extra"), &["extra: expected two names for each further proof"]);
        for clash in ["4.wtns p0 s4", "4.wtns p4 s2", "4.wtns p4 ./3.wtns", "4.wtns p4 ./p4"] {
            let command = format!("{system} prove {system}.zkey {jobs} {clash}");
            refused(&folder, &command, &["would replace the "]);
        }
        refused(&folder, &verify.replace(".vk.json", ".absent.json"), &["absent.json"]);
    }
    folder.run("zkey export verificationkey new.zkey new.vk.json --allow-insecure-setup").warned();
    let verify = |system: &str| format!("{system} verify new.vk.json {}", statements());
    refused(&folder, &verify("groth16"), &["new.vk.json: anyone can forge proofs"]);
}

/// The public signals and proofs of a folder's statements, as JSON.
fn read(folder: &Folder) -> Vec<[Value; 2]> {
    let value = |name: String| serde_json::from_str(&folder.text(&name)).unwrap();
    (0..COUNT).map(|i| [value(format!("s{i}")), value(format!("p{i}"))]).collect()
}

/// Point A or C of a proof of Groth16.
fn point_of(proof: &Value, name: &str) -> Affine<G1> {
    let proof = Proof::from_json(proof.to_string(), PublicSignals::from(Vec::new())).unwrap();
    if name == "pi_a" { proof.a() } else { proof.c() }
}

fn json_of(point: Affine<G1>) -> Value {
    json!([point.x.to_string(), point.y.to_string(), "1"])
}

/// A change of the statements, those that are not valid after it, and the exit status.
type Change<'a> = (&'a str, &'a dyn Fn(&mut [[Value; 2]]), &'a [usize], i32);

#[test]
fn wrong_proofs_among_many_are_named() {
    let folder = folder();
    prove_all(&folder, "groth16");
    let honest = read(&folder);
    let step = G1::GENERATOR.mul_vartime(&Fr::from(1_000_003)).to_affine();
    let moved = |proof: &mut Value, step: Affine<G1>| {
        let point = Jacobian::from(point_of(proof, "pi_c")).add_affine(&step).to_affine();
        proof["pi_c"] = json_of(point);
    };
    let negated = |proof: &mut Value| proof["pi_a"] = json_of(-point_of(proof, "pi_a"));
    let exchanged = |statements: &mut [[Value; 2]], part: usize, name: &str| {
        let kept = statements[0][part][name].clone();
        statements[0][part][name] = statements[2][part][name].clone();
        statements[2][part][name] = kept;
    };
    let modulus = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
    let changes: [Change<'_>; 14] = [
        ("none", &|_| {}, &[], 0),
        ("one signal", &|all| all[3][0][0] = json!("7"), &[3], 1),
        (
            "all signals",
            &|all| all.iter_mut().for_each(|[public, _]| public[1] = json!("7")),
            &[0, 1, 2, 3],
            1,
        ),
        (
            "signals of two exchanged",
            &|all| {
                let kept = all[0][0].clone();
                all[0][0] = all[2][0].clone();
                all[2][0] = kept;
            },
            &[0, 2],
            1,
        ),
        ("A of two exchanged", &|all| exchanged(all, 1, "pi_a"), &[0, 2], 1),
        ("B of two exchanged", &|all| exchanged(all, 1, "pi_b"), &[0, 2], 1),
        ("C of two exchanged", &|all| exchanged(all, 1, "pi_c"), &[0, 2], 1),
        (
            "C moved in opposite directions",
            &|all| {
                moved(&mut all[1][1], step);
                moved(&mut all[2][1], -step);
            },
            &[1, 2],
            1,
        ),
        (
            "C moved in the same direction",
            &|all| {
                moved(&mut all[1][1], step);
                moved(&mut all[2][1], step);
            },
            &[1, 2],
            1,
        ),
        (
            "C moved by multiples whose sum is zero",
            &|all| {
                let twice = Jacobian::from(step).double().to_affine();
                moved(&mut all[0][1], step);
                moved(&mut all[1][1], -twice);
                moved(&mut all[3][1], step);
            },
            &[0, 1, 3],
            1,
        ),
        ("A negated", &|all| negated(&mut all[1][1]), &[1], 1),
        ("a signal not below the modulus", &|all| all[1][0][2] = json!(modulus), &[1], 2),
        (
            "a point off the curve, and a signal",
            &|all| {
                all[0][1]["pi_a"][0] = json!("3");
                all[2][0][0] = json!("7");
            },
            &[0, 2],
            2,
        ),
        ("fewer signals", &|all| drop(all[2][0].as_array_mut().unwrap().pop()), &[2], 2),
    ];
    let verify = format!("groth16 verify groth16.vk.json {}", statements());
    for (name, change, invalid, status) in changes {
        let mut all = honest.clone();
        change(&mut all);
        for (i, [public, proof]) in all.iter().enumerate() {
            folder.write(&format!("s{i}"), public.to_string());
            folder.write(&format!("p{i}"), proof.to_string());
        }
        if invalid.is_empty() {
            assert_eq!(folder.run(&verify).succeeded().stdout, "valid\n", "{name}");
            continue;
        }
        let summary = format!("{} of 4 proofs are not valid", invalid.len());
        let lines = errors(&folder, &verify, status, &summary);
        let one_by_one: Vec<_> = (0..COUNT)
            .map(|i| folder.run(&format!("groth16 verify groth16.vk.json s{i} p{i}")))
            .filter(|run| run.status != Some(0))
            .map(|run| run.stderr.trim_start_matches("error: ").trim_end().to_owned())
            .collect();
        assert_eq!(lines, one_by_one, "{name}");
        let report: Value = serde_json::from_str(&folder.run(&format!("{verify} --json")).stdout).unwrap();
        let proofs = report["result"]["proofs"].as_array().unwrap();
        let named: Vec<_> = (0..COUNT).filter(|i| proofs[*i]["valid"] == json!(false)).collect();
        assert_eq!((named.as_slice(), &report["result"]["valid"]), (invalid, &json!(false)), "{name}");
    }
}

/// The proof with A and B negated is valid, too: Groth16's proofs are malleable.
#[test]
fn a_batch_takes_what_the_verifier_of_one_takes() {
    let folder = folder();
    prove_all(&folder, "groth16");
    let [_, mut proof] = read(&folder)[1].clone();
    proof["pi_a"] = json_of(-point_of(&proof, "pi_a"));
    let b = Proof::from_json(proof.to_string(), PublicSignals::from(Vec::new())).unwrap().b();
    let y = (-b).y;
    proof["pi_b"][1] = json!([y.c0.to_string(), y.c1.to_string()]);
    folder.write("p1", proof.to_string());
    folder.run("groth16 verify groth16.vk.json s1 p1").succeeded();
    folder.run(&format!("groth16 verify groth16.vk.json {}", statements())).succeeded();
}

#[test]
fn wrong_proofs_of_plonk_and_fflonk_are_named_too() {
    let folder = folder();
    for system in ["plonk", "fflonk"] {
        prove_all(&folder, system);
        fs::copy(folder.path("s0"), folder.path("s1")).unwrap();
        folder.write("p3", &folder.read("p3")[..500]);
        let verify = format!("{system} verify {system}.vk.json {}", statements());
        let lines = errors(&folder, &verify, 2, "2 of 4 proofs are not valid");
        assert!(lines[0].starts_with("p1: ") && lines[1].starts_with("p3: "), "{lines:?}");
    }
}

#[test]
fn many_proofs_over_bls12_381() {
    let folder = Folder::new();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../circom/tests/data/bls12-381");
    for name in ["circuit.wasm", "groth16.zkey", "groth16.vk.json"] {
        fs::copy(data.join(name), folder.path(name)).unwrap();
    }
    for i in 0..COUNT {
        folder.write(&format!("{i}.json"), json!({ "x": i }).to_string());
    }
    let rest = jobs("json");
    let (first, rest) = rest.split_once(' ').unwrap();
    folder.run(&format!("groth16 fullprove {first} circuit.wasm groth16.zkey {rest}")).succeeded();
    let verify = format!("groth16 verify groth16.vk.json {}", statements());
    assert_eq!(folder.run(&verify).succeeded().stdout, "valid\n");
    fs::copy(folder.path("p0"), folder.path("p2")).unwrap();
    let lines = errors(&folder, &verify, 1, "1 of 4 proofs are not valid");
    assert!(lines[0].starts_with("p2: "), "{lines:?}");
}
