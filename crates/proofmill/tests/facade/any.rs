//! Keys and proofs of any proof system.

use crate::{example, machines, refused, text};
use proofmill::{
    AnyProof, AnyProvingKey, AnyVerifyingKey,
    circom::{PublicSignals, Witness},
};

const SYSTEMS: [&str; 3] = ["groth16", "plonk", "fflonk"];

#[test]
fn a_key_proves_in_its_own_system() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    machines().pop().unwrap().run(|| {
        for system in SYSTEMS {
            let key = AnyProvingKey::open(example(&format!("{system}.zkey"))).unwrap();
            let proof = key.prove(&witness).unwrap();
            assert_eq!((proof.protocol(), proof.public().to_json()), (system, text("public.json")));
            let file = folder.path().join("proof.json");
            std::fs::write(&file, proof.to_json()).unwrap();
            let read = AnyProof::open(&file, PublicSignals::open(example("public.json")).unwrap()).unwrap();
            let of_file = AnyVerifyingKey::open(example(&format!("{system}.vk.json"))).unwrap();
            for verifying in [key.verifying_key(), of_file] {
                assert_eq!((verifying.protocol(), verifying.public_signals()), (system, 3));
                read.verify(&verifying).unwrap();
            }
            for other in SYSTEMS.into_iter().filter(|other| *other != system) {
                let verifying = AnyVerifyingKey::open(example(&format!("{other}.zkey"))).unwrap();
                refused(read.verify(&verifying), "mismatch", &format!("expected a proof of {other}"));
            }
        }
    });
}

#[test]
fn what_is_no_proving_key_is_refused() {
    for file in ["witness.wtns", "circuit.r1cs", "groth16.vk.json", "circuit.wasm"] {
        refused(AnyProvingKey::open(example(file)), "malformed", file);
    }
    refused(AnyProvingKey::open(example("absent.zkey")), "io", "absent.zkey");
}
