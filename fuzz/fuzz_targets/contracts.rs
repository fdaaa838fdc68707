//! Arbitrary text as the Solidity source of an audit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_solidity::Contract;

fuzz_target!(|bytes: &[u8]| {
    let source = String::from_utf8_lossy(bytes);
    let contracts = Contract::all(&source);
    // Each has a name of its own in the source but the first, which is what is outside of them.
    assert!(contracts.len() <= source.len() + 1);
    for contract in &contracts {
        assert!(contract.names.iter().all(|position| *position < contracts.len()));
        for place in &contract.places {
            assert!(place.g1.iter().all(|point| point.is_on_curve()));
            assert!(place.g2.iter().all(|point| point.is_on_curve() && point.is_in_subgroup()));
        }
    }
});
