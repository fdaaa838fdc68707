//! `bls-vectors`: test cases in folders.

use crate::commands::{folder, line};
use std::fs;

#[test]
fn all_vectors_pass_at_every_level() {
    let folder = folder();
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/bls/tests/vectors");
    for level in proofmill_field::prime_field_levels() {
        let text = line(&folder, &format!("bls-vectors {vectors} --level {level}"));
        assert_eq!(text, "104 passed, 0 failed");
    }
}

#[test]
fn yaml_is_read_and_failures_are_counted() {
    let folder = folder();
    let case = |name: &str, text: &str| {
        let path = folder.path("cases").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let infinity = format!("'0xc0{}'", "0".repeat(190));
    case("aggregate/small/none/data.yaml", "input: []\noutput: null\n");
    case("deserialization_G2/good.yaml", &format!("{{input: {{signature: {infinity}}}, output: true}}\n"));
    case(
        "eth_fast_aggregate_verify/a.yml",
        &format!("input:\n  pubkeys: []\n  message: '0x00'\n  signature: {infinity}\noutput: true\n"),
    );
    case("readme.txt", "no case");
    assert_eq!(line(&folder, "bls-vectors cases"), "3 passed, 0 failed");
    case("aggregate/wrong.yaml", "input: []\noutput: '0x00'\n");
    case("aggregate/alias.yaml", "input: &a [*a]\noutput: null\n");
    case("aggregate/deep.yaml", &format!("input: {}\noutput: null\n", "[".repeat(100_000)));
    case("aggregate/broken.json", "{");
    case("stray.json", "{}");
    let run = folder.run("bls-vectors cases");
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.ends_with("3 passed, 5 failed\n"), "{run:?}");
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("FAILED ")).count(), 5, "{run:?}");
    assert_eq!(run.stderr, "error: 5 of 8 cases failed\n");
    fs::create_dir(folder.path("nothing")).unwrap();
    let error = folder.run("bls-vectors nothing").failed(2);
    assert!(error.contains("found none"), "{error}");
}
