//! `merkle`: typical use, and rejected input.

use crate::process::{Folder, MODULUS, refused, write_words};
use serde_json::Value;

const HASHES: [&str; 7] =
    ["poseidon", "poseidon2", "poseidon2-8", "poseidon2-12-8", "keccak", "sha256", "poseidon-bn254"];

/// A folder with 64 rows of 3 columns in `rows`, their tree in `tree`, an opening of two rows; and the root.
fn opened(hash: &str) -> (Folder, String) {
    let folder = Folder::new();
    write_words(&folder, "rows", 3 * 64, 1);
    let build = format!("merkle build rows --columns 3 --hash {hash} --out tree");
    let root = folder.run(&build).succeeded().stdout.trim().to_owned();
    folder.run("merkle open tree 60 7 7 --out opening.json").succeeded();
    (folder, root)
}

#[test]
fn roots_are_those_of_polygons_library() {
    let folder = Folder::new();
    let answers: Value =
        serde_json::from_str(include_str!("../../../hash/tests/data/hermez-kat.json")).unwrap();
    for case in answers["merkle"].as_array().unwrap().iter().step_by(5) {
        let [rows, columns] = ["rows", "columns"].map(|key| case[key].as_u64().unwrap());
        let seed = u64::from_str_radix(case["xorshift_seed"].as_str().unwrap(), 16).unwrap();
        write_words(&folder, "rows", rows * columns, seed);
        let root: String =
            case["root"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        for threads in [1, 2] {
            let command = format!("merkle root rows --columns {columns} --threads {threads}");
            assert_eq!(folder.run(&command).succeeded().stdout, format!("{root}\n"), "{command}");
        }
    }
}

#[test]
fn a_tree_is_built_opened_and_checked() {
    for hash in HASHES {
        let (folder, root) = opened(hash);
        let again = folder.run(&format!("merkle root rows --columns 3 --hash {hash}")).succeeded().stdout;
        assert_eq!(again.trim(), root);
        let all = format!("--hash {hash} --rows 64 --columns 3");
        for known in [
            "--trust-opening",
            "--trust-opening --rows 64",
            &all,
            &format!("{all} --threads 1 --level portable"),
        ] {
            let check = format!("merkle check opening.json --root {root} {known}");
            let text = folder.run(&check).succeeded().stdout;
            assert_eq!(text, "valid: 2 rows of a tree of 64 rows with 3 columns\n");
        }
        let upper = root.to_uppercase();
        folder.run(&format!("merkle check opening.json --trust-opening --root 0x{upper}")).succeeded();
        let opening: Value = serde_json::from_str(&folder.text("opening.json")).unwrap();
        let rows = folder.read("rows");
        for (opened, index) in opening["openings"].as_array().unwrap().iter().zip([7, 60]) {
            assert_eq!(opened["index"], index);
            let word = |column: usize| rows[8 * (3 * index + column)..][..8].try_into().unwrap();
            for (column, text) in opened["row"].as_array().unwrap().iter().enumerate() {
                assert_eq!(text.as_str().unwrap(), u64::from_le_bytes(word(column)).to_string());
            }
        }
    }
}

#[test]
fn json_says_what_was_found() {
    let (folder, root) = opened("poseidon");
    let result = |command: &str| {
        let report: Value = serde_json::from_str(&folder.run(command).succeeded().stdout).unwrap();
        report["result"].clone()
    };
    let built = result("merkle build rows --columns 3 --out tree --json");
    assert_eq!((built["root"].as_str(), built["rows"].as_u64()), (Some(root.as_str()), Some(64)));
    assert_eq!(result("merkle root rows --columns 3 --json")["root"], root.as_str());
    let opened = result("merkle open tree 5 --out opening.json --json");
    assert_eq!((opened["root"].as_str(), opened["siblings"].as_u64()), (Some(root.as_str()), Some(6)));
    assert_eq!(
        result(&format!("merkle check opening.json --trust-opening --root {root} --json"))["valid"],
        true
    );
}

#[test]
fn another_root_or_row_is_status_1() {
    for hash in HASHES {
        let (folder, root) = opened(hash);
        let other = format!("{}{}", if root.starts_with('1') { '2' } else { '1' }, &root[1..]);
        let error =
            folder.run(&format!("merkle check opening.json --trust-opening --root {other}")).failed(1);
        assert!(error.contains("opening.json: the opened rows are not in the tree"), "{error}");
        folder.write("other.json", folder.text("opening.json").replace("\"index\": 60", "\"index\": 61"));
        folder.run(&format!("merkle check other.json --trust-opening --root {root}")).failed(1);
    }
}

/// A tree of one row of four words: its root is their SHA-256 digest, and also their bytes taken for a row by Polygon's hash.
#[test]
fn the_hash_is_not_taken_from_the_opening() {
    let folder = Folder::new();
    write_words(&folder, "rows", 4, 1);
    let root = folder.run("merkle build rows --columns 4 --hash sha256 --out tree").succeeded().stdout;
    folder.run("merkle open tree 0 --out opening.json").succeeded();
    let root = root.trim();
    // The root's four words, as the row whose digest under Polygon's hash they are.
    let row: Vec<String> = (0..4)
        .map(|word| format!("\"{}\"", u64::from_str_radix(&root[16 * word..][..16], 16).unwrap()))
        .collect();
    let mut opening: Value = serde_json::from_str(&folder.text("opening.json")).unwrap();
    opening["hash"] = "poseidon".into();
    opening["openings"][0]["row"] = serde_json::from_str(&format!("[{}]", row.join(","))).unwrap();
    folder.write("forged.json", opening.to_string());
    let shape = format!("--root {root} --rows 1 --columns 4");
    for opening in ["opening.json", "forged.json"] {
        // Without the hash nothing is checked.
        assert_eq!(folder.run(&format!("merkle check {opening} {shape}")).status, Some(2));
    }
    folder.run(&format!("merkle check opening.json --hash sha256 {shape}")).succeeded();
    folder.run(&format!("merkle check forged.json --trust-opening {shape}")).succeeded();
    refused(
        &folder,
        &format!("merkle check forged.json --hash sha256 {shape}"),
        &["forged.json: ", "sha256", "poseidon"],
    );
    for missing in ["--hash sha256 --rows 1", "--hash sha256 --columns 4", "--rows 1 --columns 4"] {
        assert_eq!(folder.run(&format!("merkle check opening.json --root {root} {missing}")).status, Some(2));
    }
}

#[test]
fn no_changed_byte_of_an_opening_is_valid() {
    let (folder, root) = opened("poseidon");
    let opening = folder.read("opening.json");
    for at in (0..opening.len()).step_by(5) {
        let mut wrong = opening.clone();
        wrong[at] ^= 1;
        folder.write("wrong.json", wrong);
        let run = folder.run(&format!("merkle check wrong.json --trust-opening --root {root}"));
        let status = if run.status == Some(1) { 1 } else { 2 };
        run.failed(status);
    }
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
    for command in ["merkle root @ --columns 3", "merkle build @ --columns 3 --out made"] {
        let on = |file: &str| command.replace('@', file);
        let twelve = on("rows").replace("--columns 3", "--columns 2");
        refused(&folder, &twelve, &["rows: expected a power of two of rows, found 12", "add rows"]);
        refused(&folder, &on("empty"), &["empty: expected a power of two of rows, found 0"]);
        refused(&folder, &on("torn"), &["torn: expected whole rows of 24 bytes, found 190", "22 over"]);
        refused(
            &folder,
            &on("large"),
            &["large: row 4, column 1", "below 18446744069414584321, found 18446"],
        );
        refused(&folder, &on("missing"), &["missing: No such file"]);
        refused(&folder, &on("."), &["not a regular file"]);
        let many = on("rows").replace("--columns 3", "--columns 18446744073709551615");
        refused(&folder, &many, &["rows: expected whole rows"]);
        folder.run(&on("large").replace("--columns 3", "--columns 3 --hash sha256")).succeeded();
        std::fs::remove_file(folder.path("made")).ok();
    }
    refused(&folder, "merkle build rows --columns 3 --out no/made", &["no/made"]);
    refused(&folder, "merkle build rows --columns 3 --out /dev/null", &["/dev/null: not a regular file"]);
    for usage in
        ["root rows", "root rows --columns 0", "root rows --columns 3 --hash md5", "open tree --out o"]
    {
        assert_eq!(folder.run(&format!("merkle {usage}")).status, Some(2));
    }
}

#[test]
fn damaged_trees_are_refused() {
    let (folder, _) = opened("poseidon");
    let tree = folder.read("tree");
    let open = "merkle open bad 5 --out made";
    for length in [0, 7, 8, 63, 64, 100, 1000, tree.len() - 1] {
        folder.write("bad", &tree[..length]);
        refused(&folder, open, &["bad: "]);
    }
    folder.write("bad", [&tree[..], &[0]].concat());
    refused(&folder, open, &["bad: expected 5664 bytes", "found 5665", "build it again"]);
    for (at, words) in [
        (0, "not a tree"),
        (8, "offset 8: expected version 1"),
        (20, "unknown hash"),
        (32, "offset 32: expected a power of two of rows, found 65"),
        (40, "expected 5152 bytes for 64 rows of 2 columns"),
        (64 + 24 * 5, "do not hash to the file's root"),
        (tree.len() - 1, "do not hash to the file's root"),
    ] {
        let mut bad = tree.clone();
        bad[at] ^= 1;
        folder.write("bad", bad);
        refused(&folder, open, &["bad: ", words]);
    }
    refused(&folder, "merkle open rows 5 --out made", &["rows: not a tree", "merkle build"]);
    refused(&folder, "merkle open tree 64 --out made", &["index 64 is out of range", "rows 0 to 63"]);
}

#[test]
fn openings_that_are_none_are_refused() {
    let (folder, root) = opened("poseidon");
    let text = folder.text("opening.json");
    let check = format!("merkle check bad.json --trust-opening --root {root}");
    for length in (0..text.len() - 2).step_by(97) {
        folder.write("bad.json", &text[..length]);
        refused(&folder, &check, &["bad.json: "]);
    }
    for (from, to, words) in [
        ("\"hash\": \"poseidon\"", "\"hash\": \"md5\"", "unknown hash `md5`"),
        ("\"rows\": 64", "\"rows\": 63", "expected a power of two of rows, found 63"),
        ("\"rows\": 64", "\"rows\": 128", "siblings on the way to the root"),
        ("\"columns\": 3", "\"columns\": 4", "openings[0].row: expected 4 values, found 3"),
        ("\"index\": 60", "\"index\": 64", "index 64 is out of range"),
        ("\"index\": 60", "\"index\": 7", "index 7 occurs twice"),
        ("\"index\": 60", "\"index\": 6", "index 6 comes after 7"),
    ] {
        folder.write("bad.json", text.replace(from, to));
        refused(&folder, &check, &["bad.json: ", words]);
    }
    let check = |rest: &str| format!("merkle check opening.json --trust-opening {rest}");
    refused(&folder, &check("--root 12"), &["--root: expected 64 hexadecimal digits"]);
    refused(
        &folder,
        &check(&format!("--root {}", "f".repeat(64))),
        &["--root: expected 4 elements of 16 digits below"],
    );
    refused(
        &folder,
        &check(&format!("--root {root} --rows 32")),
        &["expected an opening of 32 rows, found one of 64"],
    );
    refused(&folder, &check(&format!("--root {root} --columns 8")), &["expected an opening of 8 columns"]);
}

#[test]
fn a_failure_leaves_an_existing_tree_alone() {
    let (folder, _) = opened("poseidon");
    let tree = folder.read("tree");
    let mut rows = folder.read("rows");
    rows[8 * 150..8 * 151].fill(0xff);
    folder.write("bad", rows);
    refused(&folder, "merkle build bad --columns 3 --out tree", &["bad: row 50, column 0"]);
    assert!(folder.read("tree") == tree);
}

/// The rows take four times the memory that the command may use: it releases pages after reading them.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_rows() {
    let folder = Folder::new();
    folder.write("rows", vec![1; 128 << 20]);
    for command in ["root rows", "build rows --out tree"] {
        let command = format!("merkle {command} --columns 16384 --hash sha256 --threads 2 --json");
        let report: Value = serde_json::from_str(&folder.run(&command).succeeded().stdout).unwrap();
        let peak = report["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak < 32 << 20, "{command}: {peak}");
    }
}
