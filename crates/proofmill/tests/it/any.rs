//! Keys and proofs of any proof system.

use crate::{example, machines, refused, text};
use proofmill::{
    AnyProof, AnyProvingKey, AnyVerifyingKey,
    ceremony::{self, Randomness},
    circom::{Ptau, PublicSignals, R1cs, Witness, describe_bytes},
    groth16,
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
fn verifying_keys_of_bytes_are_exported() {
    for system in SYSTEMS {
        let text = text(&format!("{system}.vk.json"));
        for bytes in [text.clone().into_bytes(), crate::bytes(&format!("{system}.zkey"))] {
            let key = AnyVerifyingKey::from_bytes(bytes).unwrap();
            assert_eq!((key.protocol(), key.export_json().unwrap()), (system, text.clone()));
        }
    }
    let (circuit, powers) =
        (R1cs::open(example("circuit.r1cs")).unwrap(), Ptau::open(example("pot8.ptau")).unwrap());
    let initial = groth16::ProvingKey::setup(&circuit, &powers).unwrap();
    let fresh = AnyVerifyingKey::from_bytes(initial.as_bytes().to_vec()).unwrap();
    refused(fresh.export_json(), "insecure setup", "anyone can forge proofs");
    refused(AnyVerifyingKey::from_bytes(b"PKzkey".to_vec()), "malformed", "key");

    let (contributed, hash) =
        ceremony::contribute_in_memory(&initial, None, Randomness::System(b"")).unwrap();
    let list = describe_bytes(contributed.clone()).unwrap().contributions.unwrap().list;
    assert_eq!((list.len(), list[0].hash), (1, hash));
    AnyVerifyingKey::from_bytes(contributed).unwrap().export_json().unwrap();
}

#[test]
fn what_is_no_proving_key_is_refused() {
    for file in ["witness.wtns", "circuit.r1cs", "groth16.vk.json", "circuit.wasm"] {
        refused(AnyProvingKey::open(example(file)), "malformed", file);
    }
    refused(AnyProvingKey::open(example("absent.zkey")), "io", "absent.zkey");
}
