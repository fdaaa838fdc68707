//! `sha256`: sha256sum's output, rejections by `--check`, roots of trees.

use crate::process::{Folder, refused};
use serde_json::Value;
use std::{io::Write as _, process::Stdio};

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// The kernels of this CPU, by name.
fn kernels(folder: &Folder) -> Vec<String> {
    let cpu: Value = serde_json::from_str(&folder.run("cpu --json").succeeded().stdout).unwrap();
    let names = cpu["result"]["sha256"]["kernels"].as_array().unwrap();
    names.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// A folder with `abc` and `empty`, and their list in `sums`.
fn listed() -> Folder {
    let folder = Folder::new();
    folder.write("abc", "abc");
    folder.write("empty", "");
    let list = folder.run("sha256 abc empty").succeeded().stdout;
    assert_eq!(list, format!("{ABC}  abc\n{EMPTY}  empty\n"));
    folder.write("sums", list);
    folder
}

#[test]
fn digests_are_printed_as_sha256sum_prints_them() {
    let folder = listed();
    folder.write("large", vec![b'a'; 1_000_000]);
    for kernel in kernels(&folder) {
        let line = folder.run(&format!("sha256 large --kernel {kernel} --threads 1")).succeeded().stdout;
        assert_eq!(line, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0  large\n");
    }
    folder.write("a\\b", "abc");
    folder.write("line\nbreak", "abc");
    let mut command = folder.command("sha256");
    let output = command.args(["a\\b", "line\nbreak"]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    assert_eq!(list, format!("\\{ABC}  a\\\\b\n\\{ABC}  line\\nbreak\n"));
    folder.write("escaped", list);
    assert_eq!(folder.run("sha256 --check escaped").succeeded().stdout, "\\a\\\\b: OK\n\\line\\nbreak: OK\n");
}

#[test]
fn standard_input_is_hashed() {
    let folder = Folder::new();
    for arguments in ["sha256", "sha256 -"] {
        let mut command = folder.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"abc").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{ABC}  -\n"));
    }
}

#[test]
fn lists_are_checked() {
    let folder = listed();
    assert_eq!(folder.run("sha256 --check sums").succeeded().stdout, "abc: OK\nempty: OK\n");
    // The BSDs' format, upper case, and sha256sum's mark of binary files.
    folder.write("others", format!("SHA256 (abc) = {}\n\n{EMPTY} *empty\n", ABC.to_uppercase()));
    assert_eq!(folder.run("sha256 -c sums others").succeeded().stdout.lines().count(), 4);

    folder.write("abc", "abd");
    let run = folder.run("sha256 --check sums");
    assert_eq!((run.status, run.stdout.as_str()), (Some(1), "abc: FAILED\nempty: OK\n"));
    assert_eq!(run.stderr, "error: 1 of 2 digests are not those of the files\n");
    let run = folder.run("sha256 --check sums --json");
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, &report["result"]["files"][0]["verdict"]), (Some(1), &"FAILED".into()));
    assert_eq!(report["error"], "1 of 2 digests are not those of the files");

    std::fs::remove_file(folder.path("empty")).unwrap();
    let run = folder.run("sha256 --check sums");
    assert_eq!((run.status, run.stdout.as_str()), (Some(2), "abc: FAILED\nempty: FAILED open or read\n"));
    assert!(run.stderr.starts_with("error: empty: "), "{}", run.stderr);
}

#[test]
fn bad_input_is_refused() {
    let folder = listed();
    for line in
        ["abc", &ABC[1..], &format!("{ABC} abc"), &format!("{}g  abc", &ABC[1..]), &format!("{ABC}  ")]
    {
        folder.write("bad", format!("{ABC}  abc\n{line}\n"));
        refused(&folder, "sha256 --check bad", &["bad: line 2", "expected 64 hexadecimal digits"]);
    }
    refused(&folder, "sha256 --check empty", &["empty", "found none"]);
    refused(&folder, "sha256 abc --kernel md5", &["unknown SHA-256 kernel `md5`", "portable"]);
    let run = folder.run("sha256 missing abc");
    assert_eq!((run.status, run.stdout), (Some(2), format!("{ABC}  abc\n")));
    assert!(run.stderr.starts_with("error: missing: "), "{}", run.stderr);
    refused(&folder, "sha256 --tree abc", &["abc", "chunks of 32 bytes, found 3 bytes"]);
    folder.write("chunks", [7; 96]);
    for limit in ["2^64", "-1", "many"] {
        let run = folder.run(&format!("sha256 --tree chunks --limit={limit}"));
        assert_eq!(run.status, Some(2), "{limit}");
    }
    refused(&folder, "sha256 --tree chunks --limit 2", &["chunks: expected at most 2 chunks", "found 3"]);
}

#[test]
fn roots_of_trees_are_printed() {
    let folder = Folder::new();
    folder.write("none", "");
    let zero = "00".repeat(32);
    assert_eq!(folder.run("sha256 --tree none").succeeded().stdout, format!("{zero}  none\n"));
    // The root of two zero chunks.
    let two = "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b";
    assert_eq!(folder.run("sha256 --tree none --limit 2").succeeded().stdout, format!("{two}  none\n"));
    folder.write("chunks", vec![0; 32 * 4096]);
    let expected = folder.run("sha256 --tree none --limit 2^40").succeeded().stdout;
    for kernel in kernels(&folder) {
        let command = format!("sha256 --tree chunks --limit 1099511627776 --kernel {kernel}");
        let root = folder.run(&command).succeeded().stdout;
        assert_eq!(root.replace("chunks", "none"), expected);
    }
}
