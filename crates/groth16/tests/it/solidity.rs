//! Contracts and calls as text; `.ci/solidity.sh` deploys and calls them.
#![allow(clippy::unwrap_used)]

use proofmill_groth16::{Proof, VerifyingKey, solidity};
use std::{fs, path::Path};

fn example(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/membership-small");
    fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_call_is_as_snarkjs_prints_it() {
    let proof = Proof::parse("proof", &example("groth16.proof.json")).unwrap();
    let public = proofmill_circom::parse_public("public", &example("public.json")).unwrap();
    assert_eq!(
        format!("{}\n", solidity::calldata(&proof, &public)),
        include_str!("../data/membership-small.calldata")
    );
}

#[test]
fn a_contract_has_an_argument_for_public_signals_if_there_are_any() {
    let mut key = VerifyingKey::parse("key", &example("groth16.vk.json")).unwrap();
    let source = solidity::verifier(&key, None);
    assert!(source.contains("uint256[2] calldata, uint256[3] calldata) external view"), "{source}");
    assert_eq!(source.matches("addMultiple(").count(), 1 + 3);
    key.ic.truncate(1);
    let source = solidity::verifier(&key, None);
    assert!(source.contains("uint256[2][2] calldata, uint256[2] calldata) external view"), "{source}");
    assert_eq!(source.matches("addMultiple(").count(), 0);
}
