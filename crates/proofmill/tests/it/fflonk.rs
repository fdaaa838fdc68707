//! fflonk's keys and proofs.

use crate::{bytes, example, machines, refused, text};
use proofmill::{
    AnyProof, AnyVerifyingKey, Machine,
    circom::{Ptau, PublicSignals, R1cs, Witness},
    fflonk::{Proof, ProvingKey, VerifyingKey},
    field::Fr,
};

#[test]
fn keys_and_proofs_survive_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    for machine in machines() {
        machine.run(|| {
            let key = ProvingKey::open(example("fflonk.zkey")).unwrap();
            assert_eq!((key.as_bytes(), key.public_signals()), (&*bytes("fflonk.zkey"), 3));
            let verifying_key = key.verifying_key();
            assert_eq!(verifying_key.to_json(), text("fflonk.vk.json"));
            for other in [
                VerifyingKey::open(example("fflonk.zkey")).unwrap(),
                VerifyingKey::open(example("fflonk.vk.json")).unwrap(),
                VerifyingKey::from_bytes(bytes("fflonk.zkey")).unwrap(),
                VerifyingKey::from_json(verifying_key.to_json()).unwrap(),
            ] {
                assert_eq!(other, verifying_key);
            }
            let proof = key.prove(&witness).unwrap();
            assert_eq!(proof.public().to_json(), text("public.json"));
            let (file, public) = (folder.path().join("proof.json"), folder.path().join("public.json"));
            proof.save(&file, &public).unwrap();
            let read = Proof::open(&file, PublicSignals::open(&public).unwrap()).unwrap();
            read.verify(&verifying_key).unwrap();
            assert_eq!(read.to_json(), proof.to_json());
        });
    }
}

#[test]
fn vectors_in_a_scratch_folder_prove() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let machine = Machine::builder().scratch(folder.path()).build().unwrap();
    machine.run(|| {
        let key = ProvingKey::open(example("fflonk.zkey")).unwrap();
        key.prove_unchecked(&witness).unwrap().verify(&key.verifying_key()).unwrap();
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing stays behind");
    let machine = Machine::builder().scratch(folder.path().join("absent")).build().unwrap();
    let proof = machine.run(|| ProvingKey::open(example("fflonk.zkey")).unwrap().prove(&witness));
    refused(proof, "io", "absent");
}

#[test]
fn errors_have_their_kind_and_name_the_file() {
    let key = ProvingKey::open(example("fflonk.zkey")).unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let mut wrong = witness.values().to_vec();
    wrong[7] += Fr::from(1);
    let wrong = Witness::from_values(wrong);
    refused(key.prove(&wrong), "unsatisfied", "gate");
    refused(key.prove_unchecked(&wrong), "unsatisfied", "");
    refused(key.prove(&Witness::from_values(vec![Fr::from(1)])), "mismatch", "found 1");

    let public = PublicSignals::open(example("public.json")).unwrap();
    let proof = Proof::open(example("fflonk.proof.json"), public.clone()).unwrap();
    let verifying_key = VerifyingKey::open(example("fflonk.vk.json")).unwrap();
    proof.verify(&verifying_key).unwrap();
    let mut other = public.to_vec();
    other[0] += Fr::from(1);
    refused(verifying_key.verify(&other.into(), &proof), "rejected", "fflonk.proof.json: the proof is not");
    refused(verifying_key.verify(&PublicSignals::from(Vec::new()), &proof), "mismatch", "found 0");

    refused(ProvingKey::open(example("plonk.zkey")), "malformed", "expected protocol fflonk, found plonk");
    refused(
        VerifyingKey::open(example("plonk.vk.json")),
        "malformed",
        "expected protocol fflonk, found plonk",
    );
    refused(
        Proof::open(example("plonk.proof.json"), public),
        "malformed",
        "expected protocol fflonk, found plonk",
    );
    refused(ProvingKey::open(example("absent.zkey")), "io", "absent.zkey");
    let circuit = R1cs::open(example("circuit.r1cs")).unwrap();
    let powers = Ptau::open(example("pot8.ptau")).unwrap();
    refused(
        ProvingKey::setup(&circuit, &powers),
        "mismatch",
        "pot8.ptau: the circuit needs 2322 powers of tau",
    );
    let folder = tempfile::tempdir().unwrap();
    refused(ProvingKey::write(folder.path().join("key"), &circuit, &powers), "mismatch", "found 511");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing stays behind");
}

#[test]
fn files_name_their_protocol() {
    for system in ["groth16", "plonk", "fflonk"] {
        let public = PublicSignals::open(example("public.json")).unwrap();
        let proof = AnyProof::open(example(&format!("{system}.proof.json")), public).unwrap();
        assert_eq!(proof.protocol(), system);
        for file in ["zkey", "vk.json"] {
            let key = AnyVerifyingKey::open(example(&format!("{system}.{file}"))).unwrap();
            assert_eq!(key.protocol(), system);
            proof.verify(&key).unwrap();
        }
        let other = if system == "plonk" { "fflonk.vk.json" } else { "plonk.vk.json" };
        let other = AnyVerifyingKey::open(example(other)).unwrap();
        refused(proof.verify(&other), "mismatch", &format!("found one of {system}"));
    }
    refused(AnyVerifyingKey::open(example("witness.wtns")), "malformed", "expected zkey");
    refused(AnyVerifyingKey::open(example("public.json")), "malformed", "public.json");
    refused(AnyVerifyingKey::open(example("absent.zkey")), "io", "absent.zkey");
}

#[test]
fn contracts_and_their_arguments_are_written() {
    let key = VerifyingKey::open(example("fflonk.zkey")).unwrap();
    assert!(key.solidity_verifier().unwrap().contains("function verifyProof("));
    let public = PublicSignals::open(example("public.json")).unwrap();
    let calldata = Proof::open(example("fflonk.proof.json"), public).unwrap().solidity_calldata();
    assert!(calldata.starts_with("[0x") && calldata.matches("0x").count() == 24 + 3, "{calldata}");
}
