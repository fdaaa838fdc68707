//! Development tasks: `cargo xtask TASK`.

#![forbid(unsafe_code)]

mod arm_count;
mod ci;
mod units;

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci", ref selected @ ..] => ci::run(selected),
        ["record", ref selected @ ..] => ci::record(selected),
        ["records"] => ci::records(),
        ["generate"] => generate(&[]),
        ["generate", "--check"] => generate(&["--check"]),
        ["crates", ref options @ ..] => script("crates.py", options),
        ["figures", ref options @ ..] => package("figures", options),
        ["header", ref options @ ..] => script("header.sh", options),
        ["gallery", ref options @ ..] => script("gallery.py", options),
        ["release", ref options @ ..] => script("release.sh", options),
        ["wheels", ref options @ ..] => script("wheels.sh", options),
        ["docs"] => execute(root().join(".ci/book.py"), &[]),
        ["arm-count"] => arm_count::run(&root()),
        ["units"] => units::run(None),
        ["units", report] => units::run(Some(report)),
        _ => {
            eprint!("{}", usage());
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    format!(
        "usage: cargo xtask TASK

ci [LANE or CHECK...]: what must pass before a change lands, or some of it
record [LANE or CHECK...]: executes checks and records that they passed on these sources, so that ci need not; without names, those that lack a record
records: which checks have a record of these sources
generate [--check]: writes constants, protocols' code and the C header from their definitions, or compares them
crates [--check]: writes the list of crates in ARCHITECTURE.md and their READMEs, or compares them
figures [--check]: writes the figures of README.md and docs/ from lab/records, or compares them
gallery [--check]: draws docs/figures from lab/records
header [--check] BUILD: writes the C header only
release [--dry-run] [TARGET...]: archives of the programs, into target/archives
wheels [--free-threaded] [TARGET...]: Python's packages, into target/wheels
docs: builds the book and checks all links
arm-count: instructions that an Arm CPU executes for each kernel, counted by QEMU, into {}
units [REPORT]: a table of what took longest to compile, from the report of `cargo build --timings` or another

lanes and their checks:
{}",
        arm_count::RECORDS,
        ci::list()
    )
}

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes or checks everything that is generated and committed.
fn generate(options: &[&str]) -> Result<(), String> {
    package("constgen", options)?;
    package("protogen", options)?;
    cargo(&root(), &["build", "--quiet", "--locked", "--package", "proofmill"])?;
    let build =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("debug");
    let build = build.to_str().ok_or("the build's folder has no name in UTF-8")?;
    script("header.sh", &[options, &[build]].concat())
}

/// Executes a program of the workspace.
fn package(name: &str, options: &[&str]) -> Result<(), String> {
    cargo(&root(), &[&["run", "--quiet", "--locked", "--package", name, "--"], options].concat())
}

/// Executes a script of this package.
fn script(name: &str, options: &[&str]) -> Result<(), String> {
    execute(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name), options)
}

pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    finish(Command::new(cargo).args(arguments).current_dir(root), &format!("cargo {}", arguments.join(" ")))
}

fn execute(program: impl AsRef<OsStr>, options: &[&str]) -> Result<(), String> {
    let name = program.as_ref().to_string_lossy().into_owned();
    finish(Command::new(program).args(options), &name)
}

fn finish(command: &mut Command, name: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name}: {status}")),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
