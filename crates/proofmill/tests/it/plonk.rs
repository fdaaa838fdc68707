//! PLONK's keys and proofs, of every arithmetisation.

use crate::{bytes, example, machines, refused, text};
use proofmill::{
    Machine, Memory,
    circom::{PublicSignals, R1cs, Witness},
    field::Fr,
    plonk::{Arithmetisation, Circuit, Proof, ProvingKey, VerifyingKey, write_key},
    srs::Srs,
};
use std::sync::{Arc, Mutex};

fn new_key(arithmetisation: Arithmetisation) -> ProvingKey {
    let (circuit, srs) =
        (R1cs::open(example("circuit.r1cs")).unwrap(), Srs::open(example("pot8.ptau")).unwrap());
    ProvingKey::setup_in(&circuit, &srs, arithmetisation).unwrap()
}

#[test]
fn keys_of_every_arithmetisation_prove_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let (circuit, srs) =
        (R1cs::open(example("circuit.r1cs")).unwrap(), Srs::open(example("pot8.ptau")).unwrap());
    assert_eq!(new_key(Arithmetisation::Standard).as_bytes(), bytes("plonk.zkey"), "snarkjs's bytes");
    for arithmetisation in Arithmetisation::ALL {
        let path = folder.path().join(format!("{arithmetisation}.key"));
        let made = new_key(arithmetisation);
        write_key(&path, &circuit, &srs, arithmetisation).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), made.as_bytes());
        made.save(&path).unwrap();
        for machine in machines() {
            machine.run(|| {
                let key = ProvingKey::open(&path).unwrap();
                assert_eq!(key.as_bytes(), made.as_bytes());
                let verifying_key = key.verifying_key();
                for other in [
                    VerifyingKey::open(&path).unwrap(),
                    VerifyingKey::from_bytes(made.as_bytes().to_vec()).unwrap(),
                    VerifyingKey::from_json(verifying_key.to_json()).unwrap(),
                ] {
                    assert_eq!(other, verifying_key);
                }
                let proof = key.prove(&witness).unwrap();
                assert_eq!(proof.public().to_json(), text("public.json"));
                let read = Proof::from_json(proof.to_json(), proof.public().clone()).unwrap();
                read.verify(&verifying_key).unwrap();
                assert_eq!(read.to_json(), proof.to_json());
            });
        }
    }
}

#[test]
fn memory_modes_and_scratch_folders_prove() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let key = new_key(Arithmetisation::Ultra);
    for memory in Memory::ALL {
        let machine = Machine::builder().memory(memory).scratch(folder.path()).build().unwrap();
        machine.run(|| {
            let key = ProvingKey::from_bytes(key.as_bytes().to_vec()).unwrap();
            key.prove_unchecked(&witness).unwrap().verify(&key.verifying_key()).unwrap();
        });
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing stays behind");
    let machine = Machine::builder().scratch(folder.path().join("absent")).build().unwrap();
    refused(machine.run(|| ProvingKey::from_bytes(key.as_bytes().to_vec())), "io", "absent");
}

#[test]
fn errors_have_their_kind_and_name_the_file() {
    let key = ProvingKey::open(example("plonk.zkey")).unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let mut wrong = witness.values().to_vec();
    wrong[7] += Fr::from(1);
    let wrong = Witness::from_values(wrong);
    refused(key.prove(&wrong), "unsatisfied", "gate");
    refused(key.prove_unchecked(&wrong), "unsatisfied", "");
    refused(key.prove(&Witness::from_values(vec![Fr::from(1)])), "mismatch", "found 1");

    let public = PublicSignals::open(example("public.json")).unwrap();
    let proof = Proof::open(example("plonk.proof.json"), public.clone()).unwrap();
    let verifying_key = VerifyingKey::open(example("plonk.vk.json")).unwrap();
    proof.verify(&verifying_key).unwrap();
    let mut other = public.to_vec();
    other[0] += Fr::from(1);
    refused(verifying_key.verify(&other.into(), &proof), "rejected", "plonk.proof.json: the proof is not");
    refused(verifying_key.verify(&PublicSignals::from(Vec::new()), &proof), "mismatch", "found 0");
    let turbo = new_key(Arithmetisation::Turbo).verifying_key();
    refused(proof.verify(&turbo), "mismatch", "expected protocol proofmill-plonk");

    refused(ProvingKey::open(example("groth16.zkey")), "malformed", "expected protocol plonk, found groth16");
    refused(
        VerifyingKey::open(example("groth16.zkey")),
        "malformed",
        "expected protocol plonk, found groth16",
    );
    refused(VerifyingKey::open(example("public.json")), "malformed", "public.json");
    refused(ProvingKey::open(example("absent.zkey")), "io", "absent.zkey");
    let circuit = R1cs::open(example("circuit.r1cs")).unwrap();
    let short = Srs::insecure(16).unwrap();
    for arithmetisation in Arithmetisation::ALL {
        refused(ProvingKey::setup_in(&circuit, &short, arithmetisation), "mismatch", "powers of tau");
    }
}

#[test]
fn a_circuit_of_rust_proves_other_witnesses_too() {
    let product = |arithmetisation, p, q| {
        let mut circuit = Circuit::new(arithmetisation);
        let (p, q) = (circuit.witness(Fr::from(p)), circuit.witness(Fr::from(q)));
        circuit.range(p, 8);
        let product = circuit.mul(p, q);
        circuit.publish(product);
        circuit
    };
    let srs = Srs::insecure(1 << 14).unwrap();
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let told = warnings.clone();
    let machine = Machine::builder()
        .allow_insecure_setup(move |warning| told.lock().unwrap().push(warning.to_owned()))
        .build()
        .unwrap();
    for arithmetisation in Arithmetisation::ALL {
        let key = ProvingKey::of_circuit(&product(arithmetisation, 3, 5), &srs).unwrap();
        let witness: Witness = product(arithmetisation, 37, 41).into();
        refused(key.prove(&witness), "insecure setup", "nobody contributed");
        let verifying_key = key.verifying_key();
        assert!(verifying_key.insecurity().is_some());
        let proof = machine.run(|| {
            let proof = key.prove(&witness).unwrap();
            proof.verify(&verifying_key).unwrap();
            verifying_key.solidity_verifier().unwrap();
            refused(key.prove(&product(arithmetisation, 256, 1).into()), "unsatisfied", "witness");
            proof
        });
        assert_eq!(proof.public()[..], [Fr::from(1517)]);
        assert_eq!(warnings.lock().unwrap().drain(..).count(), 4, "one for each use");
        refused(proof.verify(&verifying_key), "insecure setup", "nobody contributed");
        refused(verifying_key.solidity_verifier(), "insecure setup", "nobody contributed");
        // The mark stays with the key.
        for read in [
            VerifyingKey::from_json(verifying_key.to_json()).unwrap(),
            VerifyingKey::from_bytes(key.as_bytes().to_vec()).unwrap(),
        ] {
            refused(proof.verify(&read), "insecure setup", "nobody contributed");
        }
    }
}

#[test]
fn contracts_and_their_arguments_are_written() {
    let key = VerifyingKey::open(example("plonk.zkey")).unwrap();
    assert!(key.solidity_verifier().unwrap().contains("function verifyProof("));
    let public = PublicSignals::open(example("public.json")).unwrap();
    let calldata = Proof::open(example("plonk.proof.json"), public).unwrap().solidity_calldata();
    assert!(calldata.starts_with("[\"0x"), "{calldata}");
}
