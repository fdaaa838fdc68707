//! Output files are written completely or not at all.

use crate::process::{Folder, SYSTEMS, refused};
use std::{fs, process::Stdio, thread, time::Duration};

#[test]
fn a_failure_leaves_existing_output_alone() {
    let folder = Folder::new();
    folder.write("short.wtns", &folder.read("witness.wtns")[..1000]);
    folder.write("proof.json", "kept");
    let before = folder.names();
    for system in SYSTEMS {
        folder.run(&format!("{system} prove {system}.zkey short.wtns proof.json signals.json")).failed(2);
        folder.run(&format!("{system} setup witness.wtns pot8.ptau made.zkey")).failed(2);
        assert_eq!(folder.text("proof.json"), "kept");
        assert_eq!(folder.names(), before);
    }
}

#[test]
fn a_proof_without_its_signals_is_not_written() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).unwrap();
    let before = folder.names();
    for system in SYSTEMS {
        for (proof, public) in [
            ("proof.json", "no/such/folder.json"),
            ("no/such/folder.json", "signals.json"),
            ("proof.json", "folder"),
            ("folder", "signals.json"),
        ] {
            folder.run(&format!("{system} prove {system}.zkey witness.wtns {proof} {public}")).failed(2);
            assert_eq!(folder.names(), before);
        }
    }
    assert_eq!(fs::read_dir(folder.path("folder")).unwrap().count(), 0);
}

#[test]
fn a_proof_can_go_to_standard_output() {
    let folder = Folder::new();
    let run = folder.run("groth16 prove groth16.zkey witness.wtns /dev/stdout /dev/null").succeeded();
    folder.write("proof.json", run.stdout);
    folder.run("groth16 verify groth16.vk.json public.json proof.json").succeeded();
}

#[test]
fn an_interrupt_leaves_nothing_half_written() {
    let folder = Folder::new();
    let before = folder.names();
    for milliseconds in [0, 2, 5, 10, 20, 40] {
        let mut command = folder.command("plonk setup circuit.r1cs pot8.ptau made.zkey --level portable");
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(milliseconds));
        let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.unwrap().success());
        child.wait().unwrap();
        if folder.path("made.zkey").exists() {
            assert!(folder.read("made.zkey") == folder.read("plonk.zkey"), "half a key");
            fs::remove_file(folder.path("made.zkey")).unwrap();
        }
        assert_eq!(folder.names(), before);
    }
}

#[test]
#[cfg(unix)]
fn an_output_never_replaces_an_input_or_another_output() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("groth16.zkey", folder.path("link")).unwrap();
    fs::hard_link(folder.path("groth16.zkey"), folder.path("hard")).unwrap();
    folder.write("rows", [0; 64]);
    folder.run("merkle build rows --columns 1 --out tree").succeeded();
    let inputs = ["groth16.zkey", "plonk.zkey", "witness.wtns", "circuit.r1cs", "pot8.ptau", "rows", "tree"];
    let before = inputs.map(|name| folder.read(name));
    for command in [
        "groth16 prove groth16.zkey witness.wtns groth16.zkey signals.json",
        "groth16 prove groth16.zkey witness.wtns proof.json ./groth16.zkey",
        "groth16 prove groth16.zkey witness.wtns link signals.json",
        "groth16 prove link witness.wtns groth16.zkey signals.json",
        "groth16 prove groth16.zkey witness.wtns hard signals.json",
        "plonk prove plonk.zkey witness.wtns proof.json witness.wtns",
        "plonk prove plonk.zkey witness.wtns proof.json circuit.r1cs --r1cs circuit.r1cs",
        "plonk prove plonk.zkey witness.wtns new.json ./new.json",
        "groth16 prove groth16.zkey witness.wtns public.json public.json",
        "groth16 setup circuit.r1cs pot8.ptau circuit.r1cs",
        "plonk setup circuit.r1cs pot8.ptau pot8.ptau",
        "zkey export verificationkey groth16.zkey groth16.zkey",
        "zkey export solidityverifier plonk.zkey plonk.zkey",
        "merkle build rows --columns 1 --out rows",
        "merkle open tree 1 --out tree",
    ] {
        refused(&folder, command, &["would replace the ", "choose another file"]);
        assert!(inputs.map(|name| folder.read(name)) == before, "{command}");
    }
    // Devices may occur several times, and transforms may replace their input.
    folder.run("groth16 prove groth16.zkey witness.wtns /dev/null /dev/null").succeeded();
    folder.run("ntt rows --out rows").succeeded();
}

#[test]
fn a_read_only_output_is_refused() {
    let folder = Folder::new();
    folder.write("kept", "kept");
    let mut permissions = fs::metadata(folder.path("kept")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path("kept"), permissions).unwrap();
    for command in [
        "groth16 prove groth16.zkey witness.wtns kept signals.json",
        "plonk prove plonk.zkey witness.wtns proof.json kept",
        "plonk setup circuit.r1cs pot8.ptau kept",
        "zkey export verificationkey groth16.zkey kept",
    ] {
        refused(&folder, command, &["kept: the file is read-only: remove it or choose another name"]);
        assert_eq!(folder.text("kept"), "kept", "{command}");
    }
}
