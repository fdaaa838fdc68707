//! `proofmill-server`: what `proofmill serve`, `worker`, `jobs`, `keys` and `token` execute.
#![forbid(unsafe_code)]

mod commands;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run(commands::ServerArguments::parse())
}
