//! Development tasks: `cargo xtask TASK`.

#![forbid(unsafe_code)]

mod arm_count;
mod units;

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["arm-count"] => arm_count::run(),
        ["units"] => units::run(None),
        ["units", report] => units::run(Some(report)),
        _ => {
            eprintln!(
                "usage: cargo xtask TASK\n\n\
                 arm-count: instructions that an Arm CPU executes for each kernel, counted by QEMU, into {}\n\
                 units [REPORT]: a table of what took longest to compile, from the report of `cargo build --timings` or another",
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
