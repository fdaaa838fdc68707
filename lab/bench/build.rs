//! Passes the compiler's version to the program, which records it with every run.

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    let version = version.trim();
    println!("cargo::rustc-env=PROOFMILL_COMPILER={}", if version.is_empty() { "unknown" } else { version });
}
