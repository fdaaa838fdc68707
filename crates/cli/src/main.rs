//! The `proofmill` command: a command line for the library `proofmill`.
#![deny(unsafe_code)]

mod alias;
mod arguments;
mod artefact;
mod audit;
mod bellman;
mod bls;
mod calculator;
mod ceremony;
mod contribution;
mod curve;
mod debug;
mod dev;
mod fflonk;
mod files;
mod groth16;
mod info;
mod kinds;
mod merkle;
mod ntt;
mod plonk;
mod powersoftau;
mod programs;
mod proving;
mod r1cs;
mod rows;
mod sha256;
mod solidity;
mod srs;
mod stark;
mod task;
mod witness;
mod zkey;

use arguments::{Arguments, Command};
use clap::{CommandFactory, FromArgMatches};
use proofmill_console::{Failure, Machine, Outcome, Report, interrupt};
use std::process::ExitCode;
use task::{CommandTask, MachineWork};

#[global_allocator]
static ALLOCATOR: proofmill_memory::LargeBlocks = proofmill_memory::LargeBlocks;

fn main() -> ExitCode {
    proofmill_memory::return_freed_memory();
    let mut definition = Arguments::command();
    let matches = definition.try_get_matches_from_mut(alias::expand(std::env::args_os()));
    let matches = matches.unwrap_or_else(|error| error.exit());
    let Arguments { command, mut options } = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.format(&mut definition).exit(),
    };
    // Its keys are insecure by design, of which it warns once.
    let is_dev = matches!(command, Command::Dev(_));
    options.allow_insecure_setup |= is_dev;
    options.has_warned_of_insecure_setup = is_dev;
    let task = command.task();
    let name = match &task {
        CommandTask::Here(work) => work.name(),
        CommandTask::Unaided(name, _) => name,
    };
    if let Err(failure) = kinds::check(&definition, &matches) {
        return Report::without_machine(name, &options).end(Err(failure));
    }
    let work = match task {
        CommandTask::Here(work) => work,
        CommandTask::Unaided(_, work) => return Report::without_machine(name, &options).end(work(&options)),
    };
    match Machine::new(&options, work.storage().as_ref()) {
        Ok(mut machine) => {
            let result = run(work, &mut machine);
            Report::new(name, &options, machine).end(result)
        }
        Err(failure) => Report::without_machine(name, &options).end(Err(failure)),
    }
}

fn run(work: Box<dyn MachineWork>, machine: &mut Machine) -> Result<Outcome, Failure> {
    let files = work.files();
    files.check()?;
    interrupt::clean_up_at_a_signal(files.outputs, dev::remove_temporary)?;
    work.run(machine)
}
