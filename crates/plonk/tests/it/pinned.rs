//! Files written by earlier versions are still read and still verify.
//!
//! `turbo`, `logup` and `plookup` are the circuit of [`fixtures::proven`] in those systems: verification key
//! and proof, and for `turbo` and `logup` also the proving key. A change that breaks these files changes the
//! protocol or a format.

use crate::fixtures::{path, text};
use proofmill_circom::{AnyPlonkVerificationKey, CircuitProof, read_public};
use proofmill_cpu::Level;
use proofmill_field::bn254::Fr;
use proofmill_plonk::{CircuitKey, Memory, Proof, ProvingKey, VerifyingKey, verify};
use proofmill_run::Run;

const NAMES: [&str; 3] = ["turbo", "logup", "plookup"];

fn public() -> Vec<Fr> {
    read_public(&path("words.public.json")).expect("public inputs")
}

fn verifying_key(name: &str) -> VerifyingKey {
    let file = AnyPlonkVerificationKey::open(&path(&format!("{name}.vk.json"))).expect("a file");
    VerifyingKey::try_from(&file).expect("a key")
}

#[test]
fn earlier_proofs_verify() {
    assert_eq!(public(), [Fr::from(0xa5), Fr::from(0xa5 ^ 0x3c)]);
    for name in NAMES {
        let key = verifying_key(name);
        assert_eq!(key.text(), text(&format!("{name}.vk.json")), "{name}");
        let proof = CircuitProof::open(&path(&format!("{name}.proof.json"))).expect("a proof");
        let proof = Proof::from(proof);
        assert_eq!(proof.text(&key), text(&format!("{name}.proof.json")), "{name}");
        assert_eq!(verify(Level::best(), &key, &public(), &proof), Ok(()), "{name}");
    }
}

#[test]
fn earlier_keys_are_read() {
    for name in ["turbo", "logup"] {
        let file = CircuitKey::open(&path(&format!("{name}.key"))).expect("a file");
        assert_eq!(VerifyingKey::of_circuit(Level::best(), &file).expect("a key"), verifying_key(name));
        let key = ProvingKey::of_circuit(Run { memory: Some(Memory::Low), ..Level::best().into() }, &file)
            .expect("a key");
        assert_eq!(*key.verifying_key(), verifying_key(name));
    }
}
