//! Malformed binary files: exit status 2, one line, no output; never a panic.

use crate::process::{Folder, SYSTEMS, examples};
use std::{fs::File, process::Stdio, thread, time::Duration};

/// The commands that read a file, with `@` for the file; output goes to `made`.
const READERS: [(&str, &[&str]); 5] = [
    (
        "circuit.r1cs",
        &["wtns check @ witness.wtns", "plonk setup @ pot8.ptau made", "groth16 setup @ pot8.ptau made"],
    ),
    (
        "witness.wtns",
        &["groth16 prove groth16.zkey @ made made.public", "plonk prove plonk.zkey @ made made.public"],
    ),
    (
        "groth16.zkey",
        &["groth16 prove @ witness.wtns made made.public", "zkey export verificationkey @ made"],
    ),
    ("plonk.zkey", &["plonk prove @ witness.wtns made made.public", "zkey export verificationkey @ made"]),
    ("pot8.ptau", &["groth16 setup circuit.r1cs @ made", "plonk setup circuit.r1cs @ made"]),
];

/// Runs every reader of `name` on `content`, which must be rejected.
#[track_caller]
fn refused(folder: &Folder, name: &str, content: &[u8]) -> Vec<String> {
    folder.write("bad", content);
    let before = folder.names();
    let commands = READERS.iter().find(|(file, _)| *file == name).unwrap().1;
    let errors = commands.iter().map(|command| {
        let error = folder.run(&command.replace('@', "bad")).failed(2);
        assert_eq!(folder.names(), before, "{command}");
        error
    });
    errors.collect()
}

/// What downloads end in, and arguments that were exchanged.
#[test]
fn other_files_are_named() {
    let folder = Folder::new();
    for (content, words) in [
        (&b"<!DOCTYPE html>\n<html>"[..], "HTML or XML"),
        (b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code>", "HTML or XML"),
        (b"\x1f\x8b\x08\0", "gzip: unpack it with gunzip"),
        (b"PK\x03\x04", "ZIP: unpack it with unzip"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a pointer of Git LFS"),
    ] {
        folder.write("bad", content);
        for (command, kind) in [
            ("groth16 prove bad witness.wtns made made.public", "zkey"),
            ("groth16 prove groth16.zkey bad made made.public", "wtns"),
            ("groth16 setup bad pot8.ptau made", "r1cs"),
            ("groth16 setup circuit.r1cs bad made", "ptau"),
            ("wtns calculate bad input.json made", "WASM"),
            ("wtns calculate circuit.wasm bad made", "JSON"),
            ("groth16 verify bad public.json groth16.proof.json", "a verification key"),
            ("groth16 verify groth16.vk.json bad groth16.proof.json", "JSON"),
            ("plonk verify plonk.vk.json public.json bad", "a proof"),
        ] {
            let error = folder.run(command).failed(2);
            assert!(error.contains(&format!("bad: expected {kind}, found {words}")), "{command}: {error}");
            assert!(!error.contains("the order"), "{error}");
        }
        let error = folder.run("info bad").failed(2);
        assert!(error.contains(&format!("found {words}")), "{error}");
    }
    for (command, error) in [
        (
            "groth16 fullprove circuit.wasm input.json groth16.zkey made made.public",
            "circuit.wasm: expected JSON, found WASM: the order is INPUT WASM ZKEY PROOF PUBLIC",
        ),
        (
            "wtns calculate input.json circuit.wasm made",
            "input.json: expected WASM, found JSON: the order is WASM INPUT WTNS",
        ),
        (
            "groth16 setup pot8.ptau circuit.r1cs made",
            "pot8.ptau: expected r1cs, found ptau: the order is R1CS PTAU ZKEY",
        ),
        ("plonk setup circuit.r1cs plonk.zkey made", "plonk.zkey: expected ptau, found zkey"),
        ("wtns check circuit.r1cs groth16.zkey", "groth16.zkey: expected wtns, found zkey"),
    ] {
        assert!(folder.run(command).failed(2).contains(error), "{command}");
    }
    let run = folder.run("groth16 prove circuit.r1cs witness.wtns --json");
    assert!(run.status == Some(2) && run.stdout.contains("expected zkey, found r1cs"), "{run:?}");
    assert!(!folder.names().iter().any(|name| name.starts_with("made")));
}

/// The offset of each section's number in a container.
fn sections(bytes: &[u8]) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut offset = 12;
    while offset < bytes.len() {
        offsets.push(offset);
        let length = u64::from_le_bytes(bytes[offset + 4..offset + 12].try_into().unwrap());
        offset += 12 + length as usize;
    }
    offsets
}

#[test]
fn truncated_at_any_byte() {
    let folder = Folder::new();
    for (name, _) in READERS {
        let whole = folder.read(name);
        let borders = sections(&whole).into_iter().flat_map(|offset| [offset, offset + 4, offset + 12]);
        let spread = (0..whole.len()).step_by(whole.len() / 16);
        for length in borders.chain(spread).chain([1, 5, whole.len() - 1]) {
            for error in refused(&folder, name, &whole[..length]) {
                assert!(error.contains("bad: "), "{error}");
            }
        }
    }
}

#[test]
fn sections_that_claim_too_much() {
    let folder = Folder::new();
    for (name, _) in READERS {
        let whole = folder.read(name);
        for section in sections(&whole) {
            for claim in [1 << 60, u64::MAX, whole.len() as u64] {
                let mut bytes = whole.clone();
                bytes[section + 4..section + 12].copy_from_slice(&claim.to_le_bytes());
                refused(&folder, name, &bytes);
            }
        }
        let mut bytes = whole.clone();
        bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        refused(&folder, name, &bytes);
    }
}

/// A changed byte is rejected, unless no result depends on it.
#[test]
fn changed_at_many_offsets() {
    let folder = Folder::new();
    for (name, commands) in READERS {
        let whole = folder.read(name);
        let headers =
            sections(&whole).into_iter().flat_map(|section| section..(section + 60).min(whole.len()));
        let spread = (0..whole.len()).step_by(whole.len() / 64 + 1);
        for offset in (0..12).chain(headers.step_by(7)).chain(spread) {
            let mut bytes = whole.clone();
            bytes[offset] ^= 0x5a;
            folder.write("bad", &bytes);
            let before = folder.names();
            for command in commands {
                let run = folder.run(&command.replace('@', "bad"));
                if run.status == Some(0) {
                    accepted(&folder, command);
                } else {
                    // A change of the circuit or of the witness can make the witness wrong.
                    let checks = command.starts_with("wtns check") || command.contains(" prove ");
                    let status = if checks && run.status == Some(1) { 1 } else { 2 };
                    run.failed(status);
                }
                assert_eq!(folder.names(), before, "{command}, byte {offset}");
            }
        }
    }
}

/// The output for a changed file must be as good as that for the original.
fn accepted(folder: &Folder, command: &str) {
    let system = command.split(' ').next().unwrap();
    if command.contains(" prove ") {
        folder.run(&format!("{system} verify {system}.vk.json made.public made")).succeeded();
        std::fs::remove_file(folder.path("made.public")).unwrap();
    }
    if !command.starts_with("wtns check") {
        std::fs::remove_file(folder.path("made")).unwrap();
    }
}

#[test]
fn other_curves_and_kinds() {
    let folder = Folder::new();
    for (name, _) in READERS {
        for (other, _) in READERS {
            let of_a_kind = other == name || (other.ends_with("zkey") && name.ends_with("zkey"));
            if !of_a_kind {
                refused(&folder, name, &folder.read(other));
            }
        }
        refused(&folder, name, b"");
        refused(&folder, name, b"{}\n");
        let mut bytes = folder.read(name);
        let header = if name.ends_with("zkey") { 2 } else { 1 };
        let header = sections(&bytes).into_iter().find(|&section| bytes[section] == header).unwrap();
        // The first byte of the modulus, after the section's number and length and the modulus's length.
        bytes[header + 16] ^= 2;
        for error in refused(&folder, name, &bytes) {
            assert!(error.contains("bn254"), "{error}");
        }
    }
}

#[test]
fn the_other_proof_system() {
    let folder = Folder::new();
    for (system, other) in
        [("groth16", "plonk"), ("plonk", "groth16"), ("fflonk", "plonk"), ("plonk", "fflonk")]
    {
        let error = folder.run(&format!("{system} prove {other}.zkey witness.wtns")).failed(2);
        assert!(error.contains(system) && error.contains(other), "{error}");
    }
}

#[test]
fn a_witness_of_another_circuit() {
    let folder = Folder::new();
    let other = examples().join("membership/witness.wtns").canonicalize().unwrap();
    let other = other.to_str().unwrap();
    for system in SYSTEMS {
        folder.run(&format!("{system} prove {system}.zkey {other} made made.public")).failed(2);
    }
    folder.run(&format!("wtns check circuit.r1cs {other}")).failed(2);
}

#[test]
fn an_unsatisfied_witness_is_refused_with_and_without_checks() {
    let folder = Folder::new();
    let whole = folder.read("witness.wtns");
    let first = sections(&whole)[1] + 12;
    let values = (whole.len() - first) / 32;
    for value in [1, 4, values / 2, values - 1] {
        let mut witness = whole.clone();
        witness[first + 32 * value] ^= 1;
        folder.write("bad", witness);
        let before = folder.names();
        for system in SYSTEMS {
            for options in ["", "--no-check", "--r1cs circuit.r1cs"] {
                let prove = format!("{system} prove {system}.zkey bad made made.public {options}");
                let error = folder.run(&prove).failed(1);
                assert!(!options.starts_with("--r1cs") || error.contains("constraint "), "{error}");
                if system != "groth16" && options.is_empty() {
                    let words = ["bad: ", " row ", " gate arithmetic ", " w1, w2, w3"];
                    assert!(words.iter().all(|word| error.contains(word)), "{error}");
                }
                assert_eq!(folder.names(), before);
            }
        }
    }
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::new();
    for (_, commands) in READERS {
        for command in commands {
            let error = folder.run(&command.replace('@', "no-such-file")).failed(2);
            assert!(error.contains("no-such-file"), "{error}");
            folder.run(&command.replace('@', ".")).failed(2);
        }
    }
    folder.run("info no-such-file").failed(2);
    for missing in ["none public.json groth16.proof.json", "groth16.vk.json none groth16.proof.json"] {
        let error = folder.run(&format!("groth16 verify {missing}")).failed(2);
        assert!(error.contains("none"), "{error}");
    }
}

#[test]
fn info_never_fails_otherwise() {
    let folder = Folder::new();
    for (name, _) in READERS {
        let whole = folder.read(name);
        for offset in (0..whole.len().min(400)).chain((400..whole.len()).step_by(whole.len() / 16)) {
            let mut bytes = whole.clone();
            bytes[offset] ^= 0xff;
            folder.write("bad", bytes);
            let run = folder.run("info bad");
            if run.status != Some(0) {
                run.failed(2);
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_input_truncated_while_it_is_read_is_status_2() {
    let folder = Folder::new();
    let path = folder.path("rows");
    for milliseconds in [50, 100, 200, 400, 800] {
        let file = File::create(&path).unwrap();
        file.set_len(256 << 20).unwrap();
        let mut command = folder.command(
            "merkle build rows --columns 1024 --hash sha256 --level portable --threads 2 --out tree",
        );
        let child = command.stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(milliseconds));
        file.set_len(0).unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "after {milliseconds} ms: {error}");
        assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
        let names = folder.names();
        assert!(!names.iter().any(|name| name == "tree" || name.contains("partial")), "{names:?}");
        if error.contains("truncated") {
            return;
        }
        // The file was empty before it was opened: wait longer.
    }
    panic!("the file was never truncated while it was read");
}
