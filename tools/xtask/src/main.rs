//! Development tasks: `cargo xtask arm-count`.

#![forbid(unsafe_code)]

mod arm_count;

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["arm-count"] => arm_count::run(),
        _ => {
            eprintln!(
                "usage: cargo xtask arm-count\n\n\
                 arm-count: instructions that an Arm CPU executes for each kernel, counted by QEMU, into {}",
                arm_count::RECORDS
            );
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
