//! Commands over circom's second curve, BLS12-381, on files of snarkjs.

use crate::process::Folder;
use std::{fs, path::Path};

fn folder() -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../circom/tests/data");
    for name in
        ["circuit.r1cs", "circuit.wasm", "witness.wtns", "groth16.zkey", "initial.zkey", "powers.ptau"]
    {
        fs::copy(data.join("bls12-381").join(name), folder.path(name)).unwrap();
    }
    for name in ["groth16.vk.json", "groth16.proof.json", "public.json"] {
        fs::copy(data.join("bls12-381").join(name), folder.path(name)).unwrap();
    }
    fs::copy(data.join("witness.wtns"), folder.path("other.wtns")).unwrap();
    fs::copy(data.join("groth16.proof.json"), folder.path("other.json")).unwrap();
    folder.write("input.json", r#"{"x": "3"}"#);
    folder
}

#[test]
fn every_step_takes_the_curve_of_its_files() {
    let folder = folder();
    for file in ["circuit.r1cs", "witness.wtns", "groth16.zkey", "powers.ptau", "groth16.vk.json"] {
        let run = folder.run(&format!("info {file} --json")).succeeded();
        assert!(run.stdout.contains(r#""curve":"bls12-381""#), "{run:?}");
    }
    folder.run("groth16 setup circuit.r1cs powers.ptau made.zkey").warned();
    assert!(folder.read("made.zkey") == folder.read("initial.zkey"));
    folder.run("zkey contribute groth16.zkey more.zkey --name last --entropy typed").succeeded();
    let run = folder.run("zkey verify r1cs circuit.r1cs powers.ptau more.zkey").succeeded();
    assert!(run.stdout.contains("contribution 3: last, "), "{run:?}");
    folder.run("zkey export verificationkey groth16.zkey vk.json").succeeded();
    assert!(folder.read("vk.json") == folder.read("groth16.vk.json"));
    folder.run("wtns calculate circuit.wasm input.json made.wtns").succeeded();
    assert!(folder.read("made.wtns") == folder.read("witness.wtns"));
    folder.run("wtns check circuit.r1cs witness.wtns").succeeded();
    folder.run("groth16 verify groth16.vk.json public.json groth16.proof.json").succeeded();
    folder.run("groth16 fullprove input.json circuit.wasm groth16.zkey proof.json signals.json").succeeded();
    folder.run("groth16 verify vk.json signals.json proof.json").succeeded();
    folder.write("wrong.json", "[1, 3]");
    folder.run("groth16 verify vk.json wrong.json proof.json").failed(1);
}

#[test]
fn files_of_two_curves_do_not_go_together() {
    let folder = folder();
    let error = folder.run("groth16 prove groth16.zkey other.wtns").failed(2);
    assert!(
        error.contains("other.wtns: ") && error.contains("expected curve bls12-381, found bn254"),
        "{error}"
    );
    let error = folder.run("groth16 setup circuit.r1cs pot8.ptau made.zkey").failed(2);
    assert!(
        error.contains("pot8.ptau: ") && error.contains("expected curve bls12-381, found bn254"),
        "{error}"
    );
    let error = folder.run("groth16 verify groth16.vk.json public.json other.json").failed(2);
    assert!(error.contains(r#"other.json: curve: expected "bls12381", found "bn128""#), "{error}");
    for command in [
        "zkey audit groth16.zkey",
        "zkey export solidityverifier groth16.zkey verifier.sol",
        "plonk setup circuit.r1cs powers.ptau plonk.zkey",
    ] {
        let error = folder.run(command).failed(2);
        assert!(error.contains("expected curve bn254, found bls12-381"), "{error}");
    }
}
