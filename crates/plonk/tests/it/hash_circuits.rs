//! Proofs of circuits with hashes: Poseidon's gates, evaluated in lanes and at a point, and SHA-256's
//! lookups.

use proofmill_cpu::Level;
use proofmill_field::{Field, bn254::Fr};
use proofmill_hash::poseidon_bn254::poseidon;
use proofmill_plonk::{
    Arithmetisation, Circuit, FixedColumns, Gate, Memory, PlonkError, ProveOptions, ProvingKey, VerifyError,
    prove, verify,
};
use proofmill_run::Run;
use proofmill_srs::Srs;
use proofmill_testing::for_each_level;
use sha2::{Digest, Sha256};
use std::sync::Arc;

fn key(circuit: &Circuit, log_size: u32) -> ProvingKey {
    let srs = Srs::insecure_from_known_tau(Level::best(), Fr::from(0x1234_5678_9abc), 1 << log_size);
    let columns =
        FixedColumns::new(Run { memory: Some(Memory::Fast), ..Level::best().into() }, circuit.layout())
            .expect("columns");
    columns.commit(Level::best().into(), Arc::new(srs)).expect("a key")
}

#[test]
fn a_poseidon_tree_is_proven_at_every_level() {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let [leaf, sibling, uncle] = [3, 4, 5].map(|value| circuit.witness(Fr::from(value)));
    let path = [(sibling, circuit.boolean(true)), (uncle, circuit.boolean(false))];
    let root = circuit.merkle_root(leaf, &path, |circuit, pair| circuit.poseidon(&pair));
    circuit.publish(root);
    let expected = poseidon(&[poseidon(&[Fr::from(4), Fr::from(3)]), Fr::from(5)]);
    let layout = circuit.layout();
    for gate in [Gate::PoseidonFull, Gate::PoseidonEnter, Gate::PoseidonPartial, Gate::PoseidonLeave] {
        assert!(layout.gates.contains(&gate));
    }
    let key = key(&circuit, 8);
    for_each_level(|level| {
        let (proof, public) =
            prove(level.into(), &key, circuit.values(), ProveOptions::default()).expect("a proof");
        assert_eq!(public, [expected]);
        assert_eq!(verify(level, key.verifying_key(), &public, &proof), Ok(()));
        assert_eq!(
            verify(level, key.verifying_key(), &[expected + Fr::ONE], &proof),
            Err(VerifyError::Rejected)
        );
        let mut values = circuit.values().to_vec();
        values[leaf.index()] += Fr::ONE;
        let refused = prove(level.into(), &key, &values, ProveOptions::default());
        assert!(matches!(refused, Err(PlonkError::Unsatisfied(_))));
    });
}

#[test]
fn a_sha256_digest_is_proven_by_lookups() {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let message = b"abc".map(|byte| circuit.witness(Fr::from(u64::from(byte))));
    for byte in circuit.sha256(&message) {
        circuit.publish(byte);
    }
    let expected: Vec<Fr> = Sha256::digest(b"abc").iter().map(|byte| Fr::from(u64::from(*byte))).collect();
    let key = key(&circuit, 15);
    let (proof, public) =
        prove(Level::best().into(), &key, circuit.values(), ProveOptions::default()).expect("a proof");
    assert_eq!(public, expected);
    assert_eq!(verify(Level::best(), key.verifying_key(), &public, &proof), Ok(()));
}
