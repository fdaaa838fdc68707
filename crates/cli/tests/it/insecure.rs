//! Keys for which anyone can forge proofs are refused, and used only with a warning.

use crate::process::{Folder, refused, section_of};

const ALLOW: &str = "--allow-insecure-setup";

/// A folder with a Groth16 key without contributions, powers of tau without contributions, and PLONK keys from them.
fn folder() -> Folder {
    let folder = Folder::new();
    let warning = folder.run("groth16 setup circuit.r1cs pot8.ptau new.zkey").warned();
    assert!(warning.contains("until somebody contributes") && warning.lines().count() == 1, "{warning}");
    folder.run("srs new --size 2^10 new.ptau --quiet").succeeded();
    folder
}

#[test]
fn groth16_keys_without_contributions() {
    let folder = folder();
    let prove = "groth16 prove new.zkey witness.wtns new.proof.json new.public.json";
    let export = "zkey export verificationkey new.zkey new.vk.json";
    let words = ["new.zkey: anyone can forge proofs", "nobody contributed", ALLOW];
    refused(&folder, prove, &words);
    refused(&folder, export, &words);
    for command in [prove, export] {
        let warning = folder.run(&format!("{command} {ALLOW} --quiet")).warned();
        assert!(warning.contains("new.zkey: anyone can forge proofs") && warning.lines().count() == 1);
    }
    let verify = "groth16 verify new.vk.json new.public.json new.proof.json";
    refused(&folder, verify, &["new.vk.json: anyone can forge proofs"]);
    folder.run(&format!("{verify} {ALLOW}")).warned();
    // Also a key file in place of the verification key.
    refused(&folder, &verify.replace("new.vk.json", "new.zkey"), &["new.zkey: anyone can forge proofs"]);
}

#[test]
fn the_environment_permits_them_too() {
    let folder = folder();
    let prove = "groth16 prove new.zkey witness.wtns new.proof.json new.public.json";
    for (value, status) in [("1", 0), ("true", 0), ("0", 2), ("", 2), ("false", 2)] {
        let run = folder.command(prove).env("PROOFMILL_ALLOW_INSECURE_SETUP", value).output().unwrap();
        assert_eq!(run.status.code(), Some(status), "{value}: {run:?}");
    }
}

#[test]
fn plonk_keys_from_powers_without_contributions() {
    let folder = folder();
    for arithmetisation in ["turbo", "ultra"] {
        let setup = format!("plonk setup circuit.r1cs new.ptau {arithmetisation}.key --arithmetisation");
        let warning = folder.run(&format!("{setup} {arithmetisation}")).warned();
        assert!(warning.contains("new.ptau: nobody contributed"), "{warning}");
        let prove = format!("plonk prove {arithmetisation}.key witness.wtns new.proof.json new.public.json");
        let export = format!("zkey export verificationkey {arithmetisation}.key {arithmetisation}.vk.json");
        let contract = format!("zkey export solidityverifier {arithmetisation}.key {arithmetisation}.sol");
        for command in [&prove, &export, &contract] {
            let words = [&*format!("{arithmetisation}.key: anyone can forge proofs"), "powers of tau", ALLOW];
            refused(&folder, command, &words);
            folder.run(&format!("{command} {ALLOW} -q")).warned();
        }
        let verify = format!("plonk verify {arithmetisation}.vk.json new.public.json new.proof.json");
        refused(&folder, &verify, &["vk.json: anyone can forge proofs"]);
        folder.run(&format!("{verify} {ALLOW}")).warned();
        assert!(folder.text(&format!("{arithmetisation}.vk.json")).contains("\"insecureSetup\": true"));
        assert!(folder.text(&format!("{arithmetisation}.sol")).contains("INSECURE"));
    }
}

#[test]
fn snarkjs_keys_are_marked_too() {
    let folder = folder();
    // The same powers as if nobody had contributed: the count of section 7 is zero.
    let mut powers = folder.read("pot8.ptau");
    let at = section_of(&powers, 7);
    powers[at..at + 4].fill(0);
    folder.write("nobody.ptau", &powers);
    folder.run("plonk setup circuit.r1cs nobody.ptau nobody.zkey").warned();
    refused(
        &folder,
        "plonk prove nobody.zkey witness.wtns p.json s.json",
        &["nobody.zkey: anyone can forge"],
    );
    folder.run(&format!("zkey export verificationkey nobody.zkey nobody.json {ALLOW}")).warned();
    refused(&folder, "plonk verify nobody.json public.json plonk.proof.json", &["anyone can forge"]);
    let info = folder.run("info nobody.zkey").succeeded().stdout;
    assert!(info.contains("insecure setup"), "{info}");
    // Besides the mark, it is the key of the powers with a contribution.
    folder.run("plonk setup circuit.r1cs pot8.ptau made.zkey").succeeded();
    assert_eq!(folder.read("nobody.zkey").len(), folder.read("made.zkey").len() + 12);
    let without = |name: &str| folder.text(name).replace(",\n \"insecureSetup\": true", "");
    folder.run("zkey export verificationkey plonk.zkey made.json").succeeded();
    assert_eq!(without("nobody.json"), folder.text("made.json"));
}

#[test]
fn known_points_are_found_without_a_mark() {
    let folder = Folder::new();
    let key = folder.text("groth16.vk.json");
    let mut value: serde_json::Value = serde_json::from_str(&key).unwrap();
    value["vk_delta_2"] = value["vk_gamma_2"].clone();
    folder.write("forgeable.json", value.to_string());
    refused(&folder, "groth16 verify forgeable.json public.json groth16.proof.json", &["delta equals gamma"]);
    let generator = value["vk_gamma_2"].clone();
    value = serde_json::from_str(&key).unwrap();
    // The generator.
    value["vk_alpha_1"] = serde_json::json!(["1", "2", "1"]);
    folder.write("forgeable.json", value.to_string());
    refused(&folder, "groth16 verify forgeable.json public.json groth16.proof.json", &["powers of tau"]);
    value = serde_json::from_str(&folder.text("plonk.vk.json")).unwrap();
    value["X_2"] = generator;
    folder.write("forgeable.json", value.to_string());
    refused(&folder, "plonk verify forgeable.json public.json plonk.proof.json", &["tau is known"]);
}
