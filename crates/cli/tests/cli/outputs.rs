//! Output files are written completely or not at all.

use crate::process::{Folder, SYSTEMS};
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
