//! `ntt`: known answers, inverse transforms, and rejected input.

use crate::process::{Folder, MODULUS, refused, write_words};
use serde_json::Value;

/// The words of a file.
fn words(folder: &Folder, name: &str) -> Vec<u64> {
    let bytes = folder.read(name);
    assert!(bytes.as_chunks::<8>().1.is_empty());
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// The hash of a file as one row: the root of a tree with one leaf.
fn linear_hash(folder: &Folder, name: &str) -> String {
    let columns = words(folder, name).len();
    let root = folder.run(&format!("merkle root {name} --columns {columns}")).succeeded().stdout;
    root.trim().to_owned()
}

#[test]
fn values_are_those_of_polygons_library() {
    let folder = Folder::new();
    let answers: Value =
        serde_json::from_str(include_str!("../../../hash/tests/data/hermez-kat.json")).unwrap();
    for case in answers["ntt"].as_array().unwrap() {
        let number = |key: &str| u64::from_str_radix(case[key].as_str().unwrap(), 16).unwrap();
        let rows = 1 << case["log_n"].as_u64().unwrap();
        write_words(&folder, "input", rows, number("xorshift_seed"));
        for options in ["", "--level portable --threads 1"] {
            if case.get("operation").is_some() {
                folder.run(&format!("ntt input --inverse --out wide {options}")).succeeded();
                let zeros = vec![0; 8 * rows as usize];
                folder.write("wide", [folder.read("wide"), zeros].concat());
                folder.run(&format!("ntt wide --coset --out values {options}")).succeeded();
            } else {
                folder.run(&format!("ntt input --out values {options}")).succeeded();
                assert_eq!(words(&folder, "values").last(), Some(&number("last")));
            }
            assert_eq!(words(&folder, "values")[0], number("first"));
            let digest = case["linear_hash_of_output"].as_array().unwrap();
            let digest: String = digest.iter().map(|word| word.as_str().unwrap()).collect();
            assert_eq!(linear_hash(&folder, "values"), digest, "{case}");
        }
    }
}

#[test]
fn the_inverse_gives_back_what_was_transformed() {
    let folder = Folder::new();
    for (rows, columns) in [(1, 1), (1, 3), (2, 1), (64, 1), (64, 8), (256, 5), (1 << 15, 9)] {
        write_words(&folder, "input", rows * columns, rows + columns);
        for coset in ["", "--coset", "--coset=12345"] {
            let shape = format!("--columns {columns} {coset}");
            folder.run(&format!("ntt input --out values {shape}")).succeeded();
            let changed = rows > 1;
            assert_eq!(folder.read("values") != folder.read("input"), changed, "{rows} rows, {shape}");
            folder.run(&format!("ntt values --out back {shape} --inverse --order natural")).succeeded();
            assert!(folder.read("back") == folder.read("input"), "{rows} rows, {shape}");
            // In place.
            folder.run(&format!("ntt values --out values {shape} --inverse --threads 1")).succeeded();
            assert!(folder.read("values") == folder.read("input"), "{rows} rows, {shape}");
        }
    }
}

#[test]
fn bit_reversed_order_is_natural_order_with_rows_moved() {
    let folder = Folder::new();
    for (log_rows, columns) in [(0, 2), (1, 3), (6, 1), (6, 8), (10, 5)] {
        let rows = 1 << log_rows;
        write_words(&folder, "input", (rows * columns) as u64, 7);
        for coset in ["", "--coset"] {
            let on = |out: &str, order: &str| {
                format!("ntt input --columns {columns} {coset} --out {out} --order {order}")
            };
            folder.run(&on("natural", "natural")).succeeded();
            folder.run(&on("reversed", "bit-reversed")).succeeded();
            let (natural, reversed) = (words(&folder, "natural"), words(&folder, "reversed"));
            for row in 0..rows {
                let place = (0..log_rows).fold(0, |place, bit| 2 * place + (row >> bit & 1));
                let values = &natural[columns * row..][..columns];
                assert_eq!(&reversed[columns * place..][..columns], values, "row {row} of {rows}");
            }
        }
    }
}

/// Four coefficients 1, 2, 3, 4; the root of order 4 is 2^48.
#[test]
fn values_are_sums_over_powers_of_the_documented_root() {
    let folder = Folder::new();
    let modulus = u128::from(MODULUS);
    let text = folder.run("ntt --help").succeeded().stdout;
    let root = (0..30).fold(7_277_203_076_849_721_926_u128, |root, _| root * root % modulus);
    assert!(text.contains("7277203076849721926") && root == 1 << 48, "{root}");
    folder.write("input", [1_u64, 2, 3, 4].map(u64::to_le_bytes).concat());
    for (coset, shift) in [("", 1), ("--coset", 7), ("--coset=3", 3)] {
        folder.run(&format!("ntt input {coset} --out values")).succeeded();
        let mut point = shift;
        for value in words(&folder, "values") {
            let sum = [4, 3, 2, 1].into_iter().fold(0, |sum, c| (sum * point + c) % modulus);
            assert_eq!(u128::from(value), sum, "{coset} at {point}");
            point = point * root % modulus;
        }
    }
}

#[test]
fn json_says_what_was_done() {
    let folder = Folder::new();
    write_words(&folder, "input", 24, 1);
    let report =
        |command: &str| -> Value { serde_json::from_str(&folder.run(command).succeeded().stdout).unwrap() };
    let plain = report("ntt input --columns 3 --out values --json");
    let phases: Vec<_> = plain["phases"].as_array().unwrap().iter().map(|phase| &phase["name"]).collect();
    assert_eq!(phases, ["read", "transform", "write"]);
    assert_eq!(plain["command"], "ntt");
    assert_eq!(
        plain["result"],
        serde_json::json!({
            "output": "values", "rows": 8, "columns": 3, "inverse": false, "coset": null, "order": "natural"
        })
    );
    let coset = report("ntt input --columns 3 --out values --coset --order bit-reversed --json");
    assert_eq!((&coset["result"]["coset"], &coset["result"]["order"]), (&7.into(), &"bit-reversed".into()));
    let inverse = report("ntt input --columns 3 --out values --inverse --json");
    assert_eq!(inverse["result"]["inverse"], true);
}

#[test]
fn rows_that_are_none_are_refused() {
    let folder = Folder::new();
    write_words(&folder, "rows", 24, 1);
    let mut rows = folder.read("rows");
    folder.write("torn", &rows[..190]);
    folder.write("empty", "");
    rows[8 * 13..8 * 14].copy_from_slice(&MODULUS.to_le_bytes());
    folder.write("large", rows);
    for options in ["", "--inverse", "--coset --order bit-reversed"] {
        let on = |file: &str, columns: u64| format!("ntt {file} --columns {columns} --out made {options}");
        refused(&folder, &on("rows", 2), &["rows: expected a power of two of rows, found 12"]);
        refused(&folder, &on("empty", 3), &["empty: expected a power of two of rows, found 0"]);
        refused(&folder, &on("torn", 3), &["torn: expected whole rows of 24 bytes, found 190", "22 over"]);
        refused(
            &folder,
            &on("large", 3),
            &["large: row 4, column 1", "below 18446744069414584321, found 18446744069414584321"],
        );
        refused(&folder, &on("missing", 3), &["missing: No such file"]);
        refused(&folder, &on(".", 3), &["not a regular file"]);
        refused(&folder, &on("rows", u64::MAX), &["rows: expected whole rows"]);
    }
    refused(&folder, "ntt rows --columns 3 --out no/made", &["no/made"]);
    refused(&folder, "ntt rows --columns 3 --out /dev/null", &["/dev/null: not a regular file"]);
    let backwards = "ntt rows --columns 3 --out made --inverse --order bit-reversed";
    refused(&folder, backwards, &["--inverse takes values in natural order"]);
}

/// A word beyond the first piece that is read.
#[test]
fn a_word_far_into_a_file_is_named() {
    let folder = Folder::new();
    write_words(&folder, "rows", 1 << 20, 1);
    let mut rows = folder.read("rows");
    let at = 4 * 200_000 + 3;
    rows[8 * at..][..8].fill(0xff);
    folder.write("rows", rows);
    let command = "ntt rows --columns 4 --out made";
    refused(&folder, command, &["rows: row 200000, column 3", "found 18446744073709551615"]);
}

/// The file takes no space: it is sparse.
#[test]
#[cfg(target_os = "linux")]
fn more_rows_than_the_field_has_roots_of_unity_are_refused() {
    let folder = Folder::new();
    let file = std::fs::File::create(folder.path("rows")).unwrap();
    file.set_len(8 << 33).unwrap();
    let command = "ntt rows --out made";
    refused(&folder, command, &["rows: expected at most 4294967296 rows, found 8589934592"]);
}

#[test]
fn usage_errors_write_nothing() {
    let folder = Folder::new();
    write_words(&folder, "rows", 8, 1);
    let before = folder.names();
    for usage in [
        "rows",
        "--out made",
        "rows --out made --columns 0",
        "rows --out made --coset=0",
        "rows --out made --coset=18446744069414584321",
        "rows --out made --coset 7",
        "rows --out made --order sideways",
    ] {
        assert_eq!(folder.run(&format!("ntt {usage}")).status, Some(2), "{usage}");
    }
    assert_eq!(folder.names(), before);
}

#[test]
fn a_failure_leaves_an_existing_output_alone() {
    let folder = Folder::new();
    write_words(&folder, "rows", 8, 1);
    let mut rows = folder.read("rows");
    rows[56..].fill(0xff);
    folder.write("bad", rows);
    folder.write("values", "kept");
    refused(&folder, "ntt bad --out values", &["bad: row 7, column 0"]);
    assert_eq!(folder.text("values"), "kept");
}

/// One copy of the values, in addition to the process's own memory.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_that_of_the_values() {
    let folder = Folder::new();
    write_words(&folder, "rows", 1 << 23, 1);
    let command = "ntt rows --columns 8 --out values --threads 2 --json";
    let report: Value = serde_json::from_str(&folder.run(command).succeeded().stdout).unwrap();
    let peak = report["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < (64 + 32) << 20, "{peak}");
}
