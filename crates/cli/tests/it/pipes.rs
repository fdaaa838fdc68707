//! Standard input and output, pipes and devices in place of files; inputs without an end.
#![cfg(unix)]

use crate::process::{Folder, SYSTEMS};
use std::{
    fs::File,
    io::Write,
    process::{Child, Output, Stdio},
    thread,
};

pub(crate) fn given(folder: &Folder, command: &str, input: &[u8]) -> Output {
    let mut child: Child = folder
        .command(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut pipe, input) = (child.stdin.take().unwrap(), input.to_vec());
    // The program may end before it has read everything.
    let writer = thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[track_caller]
pub(crate) fn done(output: Output) -> Vec<u8> {
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    output.stdout
}

#[test]
fn every_input_can_be_a_pipe() {
    let folder = Folder::new();
    for system in SYSTEMS {
        let files = [&*format!("{system}.zkey"), "witness.wtns"];
        for (index, file) in files.iter().enumerate() {
            let mut names = files;
            names[index] = "-";
            let command = format!("{system} prove {} proof.json signals.json", names.join(" "));
            done(given(&folder, &command, &folder.read(file)));
            assert_eq!(folder.text("signals.json"), folder.text("public.json"));
        }
        let files = [&*format!("{system}.vk.json"), "public.json", "proof.json"];
        for (index, file) in files.iter().enumerate() {
            for pipe in ["-", "/dev/stdin", "/proc/self/fd/0"] {
                let mut names = files;
                names[index] = pipe;
                let command = format!("{system} verify {}", names.join(" "));
                assert_eq!(done(given(&folder, &command, &folder.read(file))), b"valid\n");
            }
        }
        // A proving key in place of the verification key.
        let command = format!("{system} verify - public.json proof.json");
        assert_eq!(done(given(&folder, &command, &folder.read(&format!("{system}.zkey")))), b"valid\n");
    }
    for system in ["groth16", "plonk", "fflonk"] {
        let export = |kind: &str, to: &str| format!("zkey export {kind} - {to}");
        for file in ["zkey", "vk.json"] {
            let key = folder.read(&format!("{system}.{file}"));
            done(given(&folder, &export("verificationkey", "piped.json"), &key));
            assert_eq!(folder.text("piped.json"), folder.text(&format!("{system}.vk.json")));
            assert!(done(given(&folder, &export("solidityverifier", "-"), &key)).starts_with(b"// SPDX"));
            done(given(&folder, "zkey audit -", &key));
        }
        let proof = folder.read(&format!("{system}.proof.json"));
        let call = format!("zkey export soliditycalldata public.json - --key {system}.vk.json");
        assert!(!done(given(&folder, &call, &proof)).is_empty());
    }
    done(given(&folder, "wtns check circuit.r1cs -", &folder.read("witness.wtns")));
    done(given(&folder, "wtns check - witness.wtns", &folder.read("circuit.r1cs")));
    done(given(&folder, "info -", &folder.read("circuit.r1cs")));
    done(given(&folder, "plonk setup - pot8.ptau made.zkey", &folder.read("circuit.r1cs")));
    done(given(&folder, "plonk setup circuit.r1cs - piped.zkey", &folder.read("pot8.ptau")));
    assert!(folder.read("made.zkey") == folder.read("plonk.zkey"));
    assert!(folder.read("piped.zkey") == folder.read("plonk.zkey"));
}

#[test]
fn every_output_can_be_a_pipe() {
    let folder = Folder::new();
    let key = done(folder.command("plonk setup circuit.r1cs pot8.ptau -").output().unwrap());
    assert!(key == folder.read("plonk.zkey"));
    let key = done(folder.command("zkey export verificationkey groth16.zkey -").output().unwrap());
    assert_eq!(key, folder.read("groth16.vk.json"));
    let contract = done(folder.command("zkey export solidityverifier plonk.zkey -").output().unwrap());
    assert!(contract.starts_with(b"// SPDX"));
    let proof = done(folder.command("groth16 prove groth16.zkey witness.wtns - s.json").output().unwrap());
    done(given(&folder, "groth16 verify groth16.vk.json s.json -", &proof));
}

#[test]
fn inputs_without_an_end_are_refused() {
    let folder = Folder::new();
    for command in [
        "groth16 verify /dev/zero public.json groth16.proof.json",
        "groth16 verify groth16.vk.json /dev/zero groth16.proof.json",
        "groth16 verify groth16.vk.json public.json /dev/zero",
        "plonk verify /dev/zero public.json plonk.proof.json",
        "plonk verify plonk.vk.json public.json /dev/zero",
        "groth16 prove /dev/zero witness.wtns p.json s.json",
        "groth16 prove groth16.zkey /dev/zero p.json s.json",
        "plonk prove /dev/zero witness.wtns p.json s.json",
        "info /dev/zero",
        "merkle check /dev/zero --trust-opening --root 00",
    ] {
        let error = folder.run(command).failed(2);
        assert!(error.contains("/dev/zero"), "{error}");
    }
}

#[test]
fn long_documents_are_refused_before_they_are_read() {
    let folder = Folder::new();
    // Sparse: no disk is used.
    File::create(folder.path("long.json")).unwrap().set_len(64 << 20).unwrap();
    for command in [
        "groth16 verify long.json public.json groth16.proof.json",
        "groth16 verify groth16.vk.json long.json groth16.proof.json",
        "groth16 verify groth16.vk.json public.json long.json",
        "plonk verify long.json public.json plonk.proof.json",
        "plonk verify plonk.vk.json public.json long.json",
    ] {
        let error = folder.run(command).failed(2);
        assert!(error.contains("long.json") && error.contains("at most 16777216 bytes"), "{error}");
    }
}
