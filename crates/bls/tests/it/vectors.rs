//! Every case of ethereum/bls12-381-tests, at every level.

use proofmill_bls::vectors::{KINDS, VectorError, run};
use proofmill_cpu::Level;
use proofmill_testing::{for_each_level, for_each_pool};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Kinds, names and cases.
fn cases() -> Vec<(&'static str, String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut cases = Vec::new();
    for kind in KINDS {
        for entry in fs::read_dir(folder.join(kind)).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            cases.push((kind, name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap()));
        }
    }
    assert_eq!(cases.len(), 104);
    cases
}

#[test]
fn all_cases_pass_at_every_level_on_1_2_and_5_threads() {
    let cases = cases();
    for_each_level(|level| {
        for_each_pool(&[1, 2, 5], |threads| {
            for (kind, name, case) in &cases {
                let verdict = run(level, kind, case);
                assert!(verdict.is_ok(), "{level}, {threads} threads, {kind}/{name}: {verdict:?}");
            }
        });
    });
}

#[test]
fn wrong_outputs_and_shapes_are_told() {
    let level = Level::best();
    for (kind, name, case) in cases() {
        let wrong = json!({ "input": case["input"], "output": "other" });
        assert!(matches!(run(level, kind, &wrong), Err(VectorError::Mismatch { .. })), "{kind}/{name}");
        for broken in [json!({}), json!({ "input": 5, "output": true }), json!([])] {
            assert!(matches!(run(level, kind, &broken), Err(VectorError::Malformed(_))), "{kind}/{name}");
        }
        assert!(matches!(run(level, "verification", &case), Err(VectorError::Kind(_))));
    }
}
