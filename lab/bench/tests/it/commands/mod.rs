//! Tests of the binary's commands.

mod arguments;
mod bench;
mod bls_vectors;
mod cpu;
mod pipeline;
mod plonk_workload;
mod provers;

use proofmill_testing::Folder;

/// An empty folder in which commands run.
fn folder() -> Folder {
    Folder::empty(env!("CARGO_BIN_EXE_proofmill-bench"))
}

/// The output of a successful command that prints one line.
fn line(folder: &Folder, arguments: &str) -> String {
    folder.run(arguments).succeeded().stdout.trim().to_owned()
}
