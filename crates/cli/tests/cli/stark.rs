//! `stark security`: tables, searches, and rejected input. Its figures are tested where they are computed.

use crate::process::{Folder, refused};
use serde_json::Value;

fn report(folder: &Folder, options: &str) -> Value {
    let text = folder.run(&format!("stark security --json {options}")).succeeded().stdout;
    serde_json::from_str::<Value>(&text).unwrap()["result"].take()
}

#[test]
fn defaults_prove_100_bits_and_128_with_one_option() {
    let folder = Folder::new();
    let text = folder.run("stark security").succeeded().stdout;
    for line in [
        "trace        2^20 rows, 100 columns, 100 constraints of degree 3, 206 openings\n",
        "FRI          blowup 2^3, folds 8 8 8 8 8 8 4, 57 queries\n",
        "queries                   63.3     101.4\n",
        "hash                     128.0     128.0\n",
        "total                     63.3     101.4\n",
        "101.4 bits are proven by the Johnson bound (m = 1000).\n",
        "The binding term is `queries`; more queries, ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let text = folder.run("stark security --security 128").succeeded().stdout;
    assert!(text.contains("128.0 bits are proven") && text.contains(", 75 queries\n"), "{text}");
    assert_eq!(folder.run("stark security --quiet").succeeded().stderr, "");
}

#[test]
fn json_has_every_term() {
    let folder = Folder::new();
    let found = report(&folder, "--log-rows 10 --log-final-length 6 --grinding 20 --grinding-query 18");
    assert_eq!(found["parameters"]["queries"], 55);
    let grinding = serde_json::json!({ "out_of_domain": 20, "batching": 20, "commit": 20, "query": 18 });
    assert_eq!(found["parameters"]["grinding"], grinding);
    assert_eq!((&found["shape"]["log_rows"], &found["shape"]["openings"]), (&10.into(), &206.into()));
    let johnson = &found["johnson"];
    let terms = johnson["terms"].as_array().unwrap();
    let rounds: Vec<_> = terms.iter().map(|term| term["round"].as_str().unwrap()).collect();
    assert_eq!(rounds, ["constraints", "out of domain", "batching", "fold 1", "fold 2", "queries", "hash"]);
    let least = terms.iter().map(|term| term["bits"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(johnson["bits"], least);
    assert_eq!((&found["bits"], &found["binding"]), (&johnson["bits"], &"queries".into()));
    assert!(johnson["m"].as_u64().unwrap() >= 3 && found["unique_decoding"]["m"].is_null());

    // Queries that are given are taken.
    let given = report(&folder, "--queries 10 --extension 2 --log-blowup 1 --digest-bits 96");
    assert_eq!(given["parameters"]["queries"], 10);
    assert!(given["bits"].as_f64().unwrap() < 30.0);

    let nothing = report(&folder, "--log-rows 1 --log-blowup 1 --columns 1 --queries 5");
    assert_eq!((&nothing["bits"], &nothing["johnson"]), (&0.0.into(), &Value::Null));
    let text = folder.run("stark security --log-rows 1 --log-blowup 1 --queries 5").succeeded().stdout;
    assert!(text.ends_with("Nothing is proven: the trace has too few rows.\n"), "{text}");
}

#[test]
fn what_cannot_be_proven_is_explained() {
    let folder = Folder::new();
    let on = |options: &str, words: &[&str]| refused(&folder, &format!("stark security {options}"), words);
    let quadratic = "128 bits cannot be proven with any number of queries: fold 1 has at most 105.1 bits; use a larger extension, more grinding in front of folds, or fewer rows";
    on("--security 128 --extension 2", &[quadratic]);
    on("--security 129", &["hash has at most 128.0 bits; use a longer digest"]);
    on("--security 4294967295", &["4294967295 bits cannot be proven"]);
    on("--log-rows 0 --log-blowup 1", &["too few rows"]);
}

#[test]
fn values_out_of_range_are_refused() {
    let folder = Folder::new();
    for (options, message) in [
        ("--log-rows 30", "--log-rows: expected at most 29 for --log-blowup 3, found 30"),
        ("--log-rows 4294967295", "--log-rows: expected at most 29 for --log-blowup 3, found 4294967295"),
        ("--log-blowup 0", "--log-blowup: expected 1 to 32, found 0"),
        ("--extension 4", "--extension: expected 2 to 3, found 4"),
        ("--degree 10", "--degree: expected at most 9 for --log-blowup 3, found 10"),
        ("--columns 0", "--columns: expected 1 to 1073741824, found 0"),
        ("--constraints 4294967295", "--constraints: expected 1 to 1073741824, found 4294967295"),
        ("--queries 0", "--queries: expected 1 to 65536, found 0"),
        ("--grinding-batching 99", "--grinding-batching: expected 0 to 60, found 99"),
        ("--grinding 61", "--grinding-out-of-domain: expected 0 to 60, found 61"),
        ("--log-arity 0", "--log-arity: expected 1 to 32, found 0"),
        ("--log-final-length 33", "--log-final-length: expected 0 to 32, found 33"),
        ("--digest-bits 0", "--digest-bits: expected 1 to 1024, found 0"),
    ] {
        refused(&folder, &format!("stark security {options}"), &[message]);
    }
    for usage in
        ["--log-rows 99999999999999999999", "--columns=-1", "--degree x", "--queries 5 --security 100"]
    {
        assert_eq!(folder.run(&format!("stark security {usage}")).status, Some(2), "{usage}");
    }
}
