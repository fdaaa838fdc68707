//! Compiled circuits that are kept for later.

use proofmill::circom::{CircuitCache, WitnessCalculator};
use std::{fs, path::Path};

fn circuit(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../witness/tests/data").join(name)).unwrap()
}

#[test]
fn what_cannot_be_compiled_is_tried_once() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CircuitCache::new(folder.path(), 1 << 20);
    // Its functions for field elements are not circom's.
    let other = circuit("minimal.wasm");
    assert!(cache.lacks(&other));
    cache.keep(&other, br#"{"x": 1}"#);
    assert!(!cache.lacks(&other));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(matches!(&names[..], [mark] if mark.extension().unwrap() == "refused"), "{names:?}");
    let calculator: WitnessCalculator = cache.decode(other).unwrap();
    calculator.calculate(br#"{"x": 1}"#).unwrap();
    // Inputs of which there is no witness tell nothing about the circuit.
    let inputs = circuit("inputs.wasm");
    cache.keep(&inputs, br#"{"a": 1}"#);
    assert!(cache.lacks(&inputs));
    cache.keep(&inputs, &circuit("small.json"));
    assert!(!cache.lacks(&inputs));
}

#[test]
fn those_used_last_stay() {
    let [a, b] = ["inputs.wasm", "components.wasm"].map(circuit);
    let fill = |most_bytes| {
        let folder = tempfile::tempdir().unwrap();
        let cache = CircuitCache::new(folder.path(), most_bytes);
        cache.keep(&a, &circuit("small.json"));
        cache.keep(&b, br#"{"a": 1, "c": [2, 3]}"#);
        let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
        (cache.lacks(&a), cache.lacks(&b), files.sum::<u64>())
    };
    let (_, _, bytes) = fill(1 << 20);
    assert_eq!(fill(bytes), (false, false, bytes));
    let (lacks_a, lacks_b, _) = fill(bytes - 1);
    assert!(lacks_a && !lacks_b);
}
