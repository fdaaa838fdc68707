//! The command `proofmill-bench`, also run as `proofmill bench`: takes, stores, compares and shows
//! measurements of this machine.
#![deny(unsafe_code)]

mod arguments;
mod commands;
mod workloads;

use arguments::{AnyCommand, BenchArguments};
use clap::{CommandFactory, Parser};
use proofmill_console::{Machine, Report};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: proofmill_memory::LargeBlocks = proofmill_memory::LargeBlocks;

fn main() -> ExitCode {
    proofmill_memory::return_freed_memory();
    let BenchArguments { command, options } = BenchArguments::parse();
    let name = command.name();
    let without_machine = Report::without_machine(name, &options);
    match command {
        AnyCommand::Bench(command) => without_machine.end(commands::run(*command, &options)),
        AnyCommand::Machine(command) => match Machine::new(&options, None) {
            Ok(mut machine) => {
                let result = commands::run_on(&command, &mut machine);
                Report::new(name, &options, machine).end(result)
            }
            Err(failure) => without_machine.end(Err(failure)),
        },
        AnyCommand::Completions(completions) => {
            without_machine.end(Ok(completions.run(BenchArguments::command())))
        }
        AnyCommand::Man(man) => without_machine.end(man.run(BenchArguments::command())),
    }
}
