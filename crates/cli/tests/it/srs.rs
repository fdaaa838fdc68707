//! `srs`: strings are made, described and checked; rejected input.

use crate::process::Folder;
use serde_json::Value;
use std::fs;

#[test]
fn a_string_is_made_described_and_checked() {
    let folder = Folder::new();
    for (size, powers) in [("2^10", 1024 + 64), ("1", 65), ("1000", 1064)] {
        let run = folder.run(&format!("srs new --size {size} --threads 2 t.ptau"));
        assert_eq!((run.status, run.stdout.as_str()), (Some(0), ""), "{run:?}");
        assert!(run.stderr.starts_with("warning: ") && run.stderr.contains("unsafe for production"));
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        let info = folder.run("srs info t.ptau").succeeded().stdout;
        assert!(info.contains(&format!("powers           {powers}\n")), "{info}");
        assert!(info.contains("contributions    0: the author of the file may know tau\n"), "{info}");
        for options in ["", "--threads 1", "--level portable"] {
            let check = folder.run(&format!("srs check t.ptau {options}")).succeeded().stdout;
            assert_eq!(check, format!("valid: {powers} powers of one tau\n"));
        }
    }
    let before = folder.read("t.ptau");
    let report = folder.run("srs new --size 2^5 t.ptau --quiet --json").succeeded().stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["result"]["powers"], 96);
    assert_ne!(folder.read("t.ptau"), before);
    let info = folder.run("srs info t.ptau --json").succeeded().stdout;
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["result"]["identity"], report["result"]["identity"]);
    assert_eq!((&info["result"]["kind"], &info["result"]["contributions"]), (&"ptau".into(), &0.into()));
}

#[test]
fn ignitions_transcripts_are_described_and_checked() {
    let folder = Folder::new();
    folder.write("transcript00.dat", include_bytes!("../../../srs/tests/data/transcript00.dat"));
    for files in [".", "transcript00.dat"] {
        let info = folder.run(&format!("srs info {files} --json")).succeeded().stdout;
        let info: Value = serde_json::from_str(&info).unwrap();
        assert_eq!((&info["result"]["kind"], &info["result"]["powers"]), (&"ignition".into(), &7.into()));
        let check = folder.run(&format!("srs check {files}")).succeeded().stdout;
        assert_eq!(check, "valid: 7 powers of one tau\n");
    }
    let twice = folder.run("srs check transcript00.dat transcript00.dat").failed(2);
    assert!(twice.contains("expected transcript number 1, found 0"), "{twice}");
}

#[test]
fn what_is_no_string_is_refused() {
    let folder = Folder::new();
    let refused = folder.run("srs info circuit.r1cs").failed(2);
    assert!(refused.contains("expected a ptau file or an Ignition transcript, found"), "{refused}");
    assert!(folder.run("srs check missing.ptau").failed(2).contains("missing.ptau: No such file"));
    let mut bytes = include_bytes!("../../../srs/tests/data/transcript00.dat").to_vec();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    folder.write("transcript00.dat", &bytes);
    folder.run("srs info transcript00.dat").succeeded();
    let rejected = folder.run("srs check transcript00.dat").failed(1);
    assert!(rejected.contains("the checksum is not that of the file's content"), "{rejected}");
    for size in ["0", "2^29", "3^2", "2^", "many", "-1", "2^64"] {
        assert_eq!(folder.run(&format!("srs new --size={size} t.ptau")).status, Some(2), "{size}");
    }
    let nowhere = folder.run("srs new --size 5 --quiet no/such/folder/t.ptau").failed(2);
    assert!(nowhere.contains("no/such/folder/t.ptau: "), "{nowhere}");
    assert!(fs::metadata(folder.path("t.ptau")).is_err());
}
