//! `info`, `r1cs`, exports and calls of contracts.

use crate::process::{Folder, refused};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

fn info(folder: &Folder, file: &str) -> Value {
    let report = folder.run(&format!("info {file} --json")).succeeded().stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let text = folder.run(&format!("info {file}")).succeeded().stdout;
    assert!(text.starts_with("kind             "), "{text}");
    report["result"].clone()
}

#[test]
fn info_knows_every_file() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau new.zkey --quiet").succeeded();
    folder.run("plonk setup --arithmetization turbo circuit.r1cs pot8.ptau turbo.key").succeeded();
    folder.run("plonk prove turbo.key witness.wtns turbo.json turbo.public").succeeded();
    folder.run("zkey export verificationkey turbo.key turbo.vk").succeeded();
    folder.write("rows", [7; 64]);
    folder.run("merkle build rows --columns 1 --out tree").succeeded();
    folder.run("merkle open tree 1 --out opening").succeeded();
    folder.write("transcript00.dat", include_bytes!("../../../srs/tests/data/transcript00.dat"));
    folder.write("a.sym", "1,1,0,main.a\n2,-1,0,main.b,c\n");
    folder.write("a.wasm", b"\0asm\x01\0\0\0");
    folder.write("product.wcd", include_bytes!("../../../witness/tests/data/product.wcd"));
    folder.run("wtns compile circuit.wasm input.json a.wcd").succeeded();
    folder.run("stark workload fibonacci --log-rows 6 --out stark --quiet").succeeded();
    for (file, kind) in [
        ("circuit.r1cs", "r1cs"),
        ("witness.wtns", "wtns"),
        ("plonk.zkey", "zkey"),
        ("pot8.ptau", "ptau"),
        ("turbo.key", "pmpk"),
        ("groth16.proof.json", "proof"),
        ("plonk.proof.json", "proof"),
        ("fflonk.proof.json", "proof"),
        ("turbo.json", "proof"),
        ("groth16.vk.json", "verification key"),
        ("plonk.vk.json", "verification key"),
        ("fflonk.vk.json", "verification key"),
        ("turbo.vk", "verification key"),
        ("public.json", "public signals"),
        ("tree", "merkle tree"),
        ("opening", "merkle opening"),
        ("stark/air.json", "air, the constraints of a stark"),
        ("stark/proof.bin", "stark proof"),
        ("transcript00.dat", "ignition"),
        (".", "ignition"),
        ("a.sym", "sym, names of a circuit's signals"),
        ("a.wasm", "wasm, but not of circom"),
        ("circuit.wasm", "wasm of circom, a witness generator"),
        ("a.wcd", "compiled circuit, a witness generator"),
        ("product.wcd", "graph of circom-witnesscalc, a witness generator"),
    ] {
        assert_eq!(info(&folder, file)["kind"], kind, "{file}");
    }
    assert_eq!(info(&folder, "groth16.vk.json")["public_signals"], 3);
    assert_eq!(info(&folder, "a.sym")["named_wires"], 1);
    assert_eq!(info(&folder, "stark/air.json")["degree"], 2);
    assert_eq!(
        (&info(&folder, "stark/proof.bin")["hash"], &info(&folder, "stark/proof.bin")["rows"]),
        (&json!("keccak"), &json!(64))
    );
    folder.write("bad.sym", "1,1,0,main.a\n2,x,0,main.b\n");
    refused(&folder, "info bad.sym", &["bad.sym: line 2: expected label,wire,component,name"]);
    refused(&folder, "info input.json", &["input.json: ", "expected the protocol"]);
    folder.write("text", "hello");
    refused(&folder, "info text", &["text: expected r1cs, wtns, zkey, ptau or pmpk, found"]);
}

#[test]
fn info_shows_contributions() {
    let folder = Folder::new();
    folder.run("groth16 setup circuit.r1cs pot8.ptau new.zkey --quiet").succeeded();
    assert_eq!(info(&folder, "new.zkey")["contributions"]["contributions"], json!([]));
    let text = folder.run("info new.zkey").succeeded().stdout;
    assert!(text.contains("\ncontributions    none: anyone can forge proofs for this key\n"), "{text}");
    let contributions = &info(&folder, "groth16.zkey")["contributions"]["contributions"];
    assert_eq!(contributions.as_array().unwrap().len(), 1);
    assert_eq!(contributions[0]["beacon"], Value::Null);
    let hash = contributions[0]["hash"].as_str().unwrap();
    let text = folder.run("info groth16.zkey").succeeded().stdout;
    assert!(hash.len() == 128 && text.contains(&format!("\ncontribution 1: example, {hash}\n")), "{text}");
}

#[test]
fn a_circuit_is_described_and_printed() {
    let folder = Folder::new();
    let text = |command: &str| folder.run(command).succeeded().stdout;
    assert!(text("r1cs info circuit.r1cs").starts_with(&text("info circuit.r1cs")));
    refused(&folder, "r1cs info plonk.zkey", &["plonk.zkey: expected r1cs, found zkey"]);
    let text = folder.run("r1cs print circuit.r1cs").succeeded().stdout;
    assert_eq!(text.lines().count(), 144);
    let expected = include_str!("../../../circom/tests/data/circuit.r1cs.txt");
    folder.write("small.r1cs", include_bytes!("../../../circom/tests/data/circuit.r1cs"));
    assert_eq!(folder.run("r1cs print small.r1cs").succeeded().stdout, expected);
    let run = folder.run("r1cs print small.r1cs --json");
    assert!(run.status == Some(2) && run.stderr.contains("cannot be used with"), "{run:?}");
    refused(&folder, "r1cs print plonk.zkey", &["plonk.zkey: expected r1cs, found zkey"]);
}

#[test]
fn a_reader_may_go_before_all_constraints_are_printed() {
    let folder = Folder::new();
    let mut child = folder.command("r1cs print circuit.r1cs").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn exports_are_named_after_their_source_and_never_replace_it() {
    let folder = Folder::new();
    folder.run("r1cs export json circuit.r1cs").succeeded();
    assert!(folder.text("circuit.json").starts_with("{\n \"n8\": 32,\n"));
    folder.run("zkey export json groth16.zkey key.json").succeeded();
    assert!(folder.text("key.json").starts_with("{\n \"protocol\": \"groth16\",\n"));
    for command in
        ["r1cs export json circuit.r1cs circuit.r1cs", "zkey export json groth16.zkey groth16.zkey"]
    {
        refused(&folder, command, &["would replace the input"]);
    }
    refused(&folder, "zkey export json plonk.zkey p.json", &["expected protocol groth16, found plonk"]);
}

#[test]
fn calls_are_printed_for_valid_proofs() {
    let folder = Folder::new();
    for system in ["groth16", "plonk"] {
        let command = format!("zkey export soliditycalldata public.json {system}.proof.json");
        let call = folder.run(&command).succeeded().stdout;
        for key in ["vk.json", "zkey"] {
            let with_key = folder.run(&format!("{command} --key {system}.{key}")).succeeded().stdout;
            assert_eq!(with_key, call);
        }
        folder.write("signals.json", r#"["1","2","3"]"#);
        let wrong =
            format!("zkey export soliditycalldata signals.json {system}.proof.json --key {system}.vk.json");
        assert!(folder.run(&wrong).failed(1).contains("the proof is not valid"));
        folder.write("signals.json", r#"["1"]"#);
        refused(&folder, &wrong, &["signals.json: expected 3 public", "found 1"]);
        let r = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
        folder.write("signals.json", format!("[\"{r}\"]"));
        refused(&folder, &wrong, &["signals.json: [0]: "]);
    }
    refused(
        &folder,
        "zkey export soliditycalldata public.json groth16.proof.json --key plonk.vk.json",
        &["groth16.proof.json: expected a proof of plonk, found one of groth16"],
    );
}

#[test]
fn contracts_are_written_for_either_kind_of_key() {
    let folder = Folder::new();
    for (system, name) in [("groth16", "Groth16Verifier"), ("plonk", "PlonkVerifier")] {
        folder.run(&format!("zkey export solidityverifier {system}.zkey a.sol")).succeeded();
        folder.run(&format!("zkey export solidityverifier {system}.vk.json b.sol")).succeeded();
        assert_eq!(folder.text("a.sol"), folder.text("b.sol"));
        assert!(folder.text("a.sol").contains(&format!("contract {name} {{")));
    }
    refused(&folder, "zkey export solidityverifier public.json c.sol", &["public.json: "]);
}

#[test]
fn an_alias_is_its_command() {
    let folder = Folder::new();
    let run = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofmill"));
        let output = command.args(words.split(' ')).current_dir(folder.path(".")).output().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    };
    for (alias, words) in crate::alias::ALIASES {
        assert_eq!(run(&format!("{alias} --help")), run(&format!("{words} --help")), "{alias}");
        assert_eq!(
            run(&format!("--threads 1 -q {alias}")),
            run(&format!("--threads 1 -q {words}")),
            "{alias}"
        );
        // It hides no command.
        assert!(
            crate::alias::ALIASES
                .iter()
                .all(|(_, words)| *words != alias && !words.starts_with(&format!("{alias} ")))
        );
    }
    folder.run("g16p groth16.zkey witness.wtns g16p p.json").succeeded();
    folder.run("g16v groth16.vk.json p.json g16p").succeeded();
    let missing = folder.run("g16");
    assert!(
        missing.status == Some(2) && missing.stderr.contains("unrecognized subcommand 'g16'"),
        "{missing:?}"
    );
    let similar = folder.run("groth17");
    assert!(similar.stderr.contains("a similar subcommand exists: 'groth16'"), "{similar:?}");
}
