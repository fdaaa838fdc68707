//! Groth16's keys and proofs.

use crate::{bytes, example, machines, refused, text};
use proofmill::{
    circom::{Ptau, PublicSignals, R1cs, Witness},
    field::Fr,
    groth16::{Groth16, Proof, ProvingKey, Sums, VerifyingKey},
};

#[test]
fn proofs_go_from_file_to_file_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let [proof_file, public_file] = ["proof.json", "public.json"].map(|name| folder.path().join(name));
    for machine in machines() {
        machine.run(|| {
            let key = ProvingKey::open(example("groth16.zkey")).unwrap();
            let proof = key.prove(&Witness::open(example("witness.wtns")).unwrap()).unwrap();
            assert_eq!(proof.public().to_json(), text("public.json"));
            assert_eq!(proof.public().len(), key.public_signals());
            proof.verify(&key.verifying_key()).unwrap();
            proof.save(&proof_file, &public_file).unwrap();
            let read = Proof::open(&proof_file, PublicSignals::open(&public_file).unwrap()).unwrap();
            read.verify(&VerifyingKey::open(example("groth16.vk.json")).unwrap()).unwrap();
            assert_eq!((read.a(), read.b(), read.c()), (proof.a(), proof.b(), proof.c()));
        });
    }
}

#[test]
fn keys_are_the_same_from_files_and_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let key = ProvingKey::from_bytes(bytes("groth16.zkey")).unwrap();
    assert_eq!(key.as_bytes(), bytes("groth16.zkey"));
    let path = folder.path().join("copy.zkey");
    key.save(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes("groth16.zkey"));

    let verifying_key = key.verifying_key();
    assert_eq!(verifying_key.to_json(), text("groth16.vk.json"));
    for other in [
        VerifyingKey::open(&path),
        VerifyingKey::open(example("groth16.vk.json")),
        VerifyingKey::from_bytes(bytes("groth16.zkey")),
        VerifyingKey::from_bytes(bytes("groth16.vk.json")),
        VerifyingKey::from_json(text("groth16.vk.json")),
    ] {
        assert_eq!(other.unwrap(), verifying_key);
    }
    let witness = Witness::open(example("witness.wtns")).unwrap();
    assert_eq!(witness.to_bytes(), bytes("witness.wtns"));
    assert_eq!(Witness::from_bytes(witness.to_bytes()).unwrap().values(), witness.values());
    let circuit = R1cs::open(example("circuit.r1cs")).unwrap();
    let again = R1cs::from_bytes(circuit.to_bytes()).unwrap();
    assert_eq!((again.constraints(), again.wires()), (circuit.constraints(), circuit.wires()));
    again.check(&witness).unwrap();
}

#[test]
fn keys_are_over_the_curve_that_is_asked_for() {
    use proofmill::{
        circom::{PairingCurve, curve_of},
        curve::bls12_381::G1,
    };
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../circom/tests/data/bls12-381");
    let file = data.join("groth16.zkey");
    assert_eq!(curve_of(&file).unwrap(), Some(PairingCurve::Bls12_381));
    refused(ProvingKey::open(&file), "malformed", "expected curve bn254, found bls12-381");
    for machine in machines() {
        machine.run(|| {
            let key = proofmill::ProvingKey::<Groth16<G1>>::open(&file).unwrap();
            let witness = Witness::open_over(data.join("witness.wtns")).unwrap();
            let proof = key.prove(&witness).unwrap();
            proof.verify(&key.verifying_key()).unwrap();
            let key = proofmill::VerifyingKey::<Groth16<G1>>::open(data.join("groth16.vk.json")).unwrap();
            let public = PublicSignals::open_over(data.join("public.json")).unwrap();
            assert_eq!(proof.public(), &public);
            proofmill::Proof::<Groth16<G1>>::open(data.join("groth16.proof.json"), public)
                .unwrap()
                .verify(&key)
                .unwrap();
        });
    }
}

#[test]
fn a_new_key_is_that_of_snarkjs() {
    let folder = tempfile::tempdir().unwrap();
    let (circuit, powers) =
        (R1cs::open(example("circuit.r1cs")).unwrap(), Ptau::open(example("pot8.ptau")).unwrap());
    let expected = std::fs::read(example("../../crates/groth16/tests/data/membership-small.zkey")).unwrap();
    assert_eq!(ProvingKey::setup(&circuit, &powers).unwrap().as_bytes(), expected);
    let path = folder.path().join("new.zkey");
    ProvingKey::write(&path, &circuit, &powers).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    let (key, witness) = (ProvingKey::open(&path).unwrap(), Witness::open(example("witness.wtns")).unwrap());
    refused(key.prove(&witness), "insecure setup", "new.zkey: anyone can forge proofs");
    refused(key.verifying_key().save(folder.path().join("vk.json")), "insecure setup", "nobody contributed");
}

#[test]
fn proofs_are_made_of_parts() {
    let key = ProvingKey::open(example("groth16.zkey")).unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let quotient = key.quotient(&witness).unwrap();
    assert_eq!((witness.values().len(), quotient.len()), (key.wires() as usize, key.domain_size() as usize));
    let sums = key.sum_wires(0, witness.values()).unwrap() + key.sum_quotient(0, &quotient).unwrap();
    let sums = Sums::from_bytes(&sums.to_bytes()).unwrap();
    key.assemble(&witness, &sums).unwrap().verify(&key.verifying_key()).unwrap();

    refused(key.assemble(&witness, &Sums::ZERO), "unsatisfied", "witness.wtns: the witness does not satisfy");
    refused(key.sum_wires(1, witness.values()), "mismatch", "values 1 to");
    refused(key.sum_quotient(1, &quotient), "mismatch", "values 1 to");
    let short = Witness::from_values(witness.values()[1..].to_vec());
    refused(key.quotient(&short), "mismatch", "the circuit of the proving key has");
    let copied: usize = key.slice(0..10, 0..10).iter().map(|range| range.len()).sum();
    assert!(copied > 10 * (5 * 64 + 64) && copied < key.as_bytes().len());
}

#[test]
fn errors_have_their_kind_and_name_the_file() {
    let key = ProvingKey::open(example("groth16.zkey")).unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let verifying_key = key.verifying_key();

    let mut wrong = witness.values().to_vec();
    wrong[7] += Fr::from(1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.wtns");
    Witness::from_values(wrong).save(&path).unwrap();
    let wrong = Witness::open(&path).unwrap();
    refused(key.prove(&wrong), "unsatisfied", "wrong.wtns: the witness does not satisfy");
    let circuit = R1cs::open(example("circuit.r1cs")).unwrap();
    refused(circuit.check(&wrong), "unsatisfied", "wrong.wtns: does not satisfy constraint");
    let short = Witness::from_values(witness.values()[..9].to_vec());
    refused(key.prove(&short), "mismatch", "the witness has 9 values");
    refused(circuit.check(&short), "mismatch", "circuit.r1cs has");

    let public = PublicSignals::open(example("public.json")).unwrap();
    let proof = Proof::open(example("groth16.proof.json"), public.clone()).unwrap();
    proof.verify(&verifying_key).unwrap();
    let mut other = public.to_vec();
    other[0] += Fr::from(1);
    refused(
        verifying_key.verify(&other.clone().into(), &proof),
        "rejected",
        "groth16.proof.json: the proof is not",
    );
    refused(
        Proof::from_json(proof.to_json(), other).unwrap().verify(&verifying_key),
        "rejected",
        "the proof",
    );
    let none = PublicSignals::from(Vec::new());
    refused(verifying_key.verify(&none, &proof), "mismatch", "found 0");

    refused(ProvingKey::open(example("absent.zkey")), "io", "absent.zkey");
    refused(ProvingKey::open(example("plonk.zkey")), "malformed", "expected protocol groth16, found plonk");
    refused(ProvingKey::from_bytes(bytes("witness.wtns")), "malformed", "expected zkey, found wtns");
    refused(VerifyingKey::open(example("public.json")), "malformed", "public.json");
    refused(VerifyingKey::open(example("plonk.vk.json")), "malformed", "groth16");
    refused(Proof::open(example("plonk.proof.json"), none), "malformed", "groth16");
    refused(PublicSignals::from_json("[1"), "malformed", "public signals");
    refused(Witness::open(example("circuit.r1cs")), "malformed", "expected wtns, found r1cs");
    let unwritable = folder.path().join("absent/proof.json");
    refused(proof.save(&unwritable, folder.path().join("public.json")), "io", "absent/proof.json");
    assert!(!folder.path().join("public.json").exists(), "both or neither");
}

#[test]
fn many_proofs_are_verified_at_once() {
    let key = ProvingKey::open(example("groth16.zkey")).unwrap();
    let witness = Witness::open(example("witness.wtns")).unwrap();
    let public = PublicSignals::open(example("public.json")).unwrap();
    let mut proofs = vec![Proof::open(example("groth16.proof.json"), public.clone()).unwrap()];
    proofs.extend((0..5).map(|_| key.prove(&witness).unwrap()));
    let verifying_key = key.verifying_key();
    for machine in machines() {
        machine.run(|| {
            verifying_key.verify_batch(&proofs).unwrap();
            assert!(verifying_key.find_invalid(&proofs).unwrap().is_empty());
        });
    }
    refused(verifying_key.verify_batch(&[]), "malformed", "expected at least one proof in a batch");
    assert!(verifying_key.find_invalid(&[]).unwrap().is_empty());

    let mut signals = public.to_vec();
    signals[1] += Fr::from(1);
    let with = |proof: &Proof, signals: &[Fr]| Proof::from_json(proof.to_json(), signals).unwrap();
    proofs[0] = Proof::open(example("groth16.proof.json"), signals.clone()).unwrap();
    proofs[2] = with(&proofs[2], &signals);
    proofs[4] = with(&proofs[4], &signals[1..]);
    refused(verifying_key.verify_batch(&proofs), "rejected", "groth16.proof.json: the proof is not valid");
    refused(verifying_key.verify_batch(&proofs[1..]), "rejected", "proof 1: the proof is not valid");
    refused(
        verifying_key.verify_batch(&proofs[3..]),
        "mismatch",
        "proof 1: expected 3 public signals, found 2",
    );
    let invalid = verifying_key.find_invalid(proofs.iter().rev()).unwrap();
    let indices: Vec<_> = invalid.into_iter().map(|(index, _)| index).collect();
    assert_eq!(indices, [1, 3, 5]);

    let circuit = R1cs::open(example("circuit.r1cs")).unwrap();
    let insecure = ProvingKey::setup(&circuit, &Ptau::open(example("pot8.ptau")).unwrap()).unwrap();
    let verdict = insecure.verifying_key().verify_batch(&proofs[5..]);
    refused(verdict, "insecure setup", "anyone can forge proofs");
}
