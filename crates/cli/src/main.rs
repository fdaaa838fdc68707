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
mod witness;
mod zkey;

use arguments::{Arguments, Command};
use bls::BlsCommand;
use clap::{CommandFactory, FromArgMatches};
use plonk::PlonkCommand;
use programs::{Passed, Program};
use proofmill_console::{Failure, Machine, Options, Outcome, Report, cpu, interrupt};
use std::process::ExitCode;

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
    let name = command.name();
    if let Err(failure) = kinds::check(&definition, &matches) {
        return Report::without_machine(name, &options).end(Err(failure));
    }
    if let Some(result) = run_without_machine(&command, &options) {
        return Report::without_machine(name, &options).end(result);
    }
    match Machine::new(&options, command.storage().as_ref()) {
        Ok(mut machine) => {
            let result = run(command, &mut machine);
            Report::new(name, &options, machine).end(result)
        }
        Err(failure) => Report::without_machine(name, &options).end(Err(failure)),
    }
}

/// Runs the commands of other programs, and the one that has a machine for each task; `None` for all others.
fn run_without_machine(command: &Command, options: &Options) -> Option<Result<Outcome, Failure>> {
    let none = &Passed::none();
    let (program, word, arguments) = match command {
        Command::Prover(prover) => return Some(prover.run(options)),
        Command::Bench(arguments) => (Program::Bench, None, arguments),
        Command::Ray(arguments) => (Program::Ray, None, arguments),
        Command::Pipeline(arguments) => (Program::Bench, Some("pipeline"), arguments),
        Command::Plonk(PlonkCommand::Workload(arguments)) => {
            (Program::Bench, Some("plonk-workload"), arguments)
        }
        Command::Bls(BlsCommand::Vectors(arguments)) => (Program::Bench, Some("bls-vectors"), arguments),
        Command::Cpu { measure: true } => (Program::Bench, Some("cpu"), none),
        Command::Serve(arguments)
        | Command::Worker(arguments)
        | Command::Jobs(arguments)
        | Command::Token(arguments)
        | Command::Keys(arguments) => (Program::Server, Some(command.name()), arguments),
        _ => return None,
    };
    Some(arguments.run(program, word, options))
}

fn run(command: Command, machine: &mut Machine) -> Result<Outcome, Failure> {
    let files = command.files();
    files.check()?;
    interrupt::clean_up_at_a_signal(files.outputs, dev::remove_temporary)?;
    match command {
        Command::Groth16(command) => groth16::run(command, machine),
        Command::Plonk(command) => plonk::run(command, machine),
        Command::Fflonk(command) => fflonk::run(command, machine),
        Command::Powersoftau(command) => powersoftau::run(command, machine),
        Command::Zkey(command) => zkey::run(command, machine),
        Command::R1cs(command) => r1cs::run(command, machine),
        Command::Dev(dev) => dev::run(&dev, machine),
        Command::Info(info) => info::run(&info),
        Command::Wtns(command) => witness::run(command, machine),
        Command::Merkle(command) => merkle::run(command, machine),
        Command::Srs(command) => srs::run(command, machine),
        Command::Stark(command) => stark::run(command, machine),
        Command::Sha256(command) => sha256::run(&command, machine),
        Command::Bls(command) => bls::run(command, machine),
        Command::Ntt(files) => ntt::run(&files, machine),
        Command::Cpu { .. } => Ok(cpu::list(machine)),
        Command::Bench(_)
        | Command::Pipeline(_)
        | Command::Ray(_)
        | Command::Serve(_)
        | Command::Worker(_)
        | Command::Jobs(_)
        | Command::Token(_)
        | Command::Keys(_)
        | Command::Prover(_) => unreachable!("they run without a machine"),
        Command::Completions(completions) => Ok(completions.run(Arguments::command())),
        Command::Man(man) => man.run(Arguments::command()),
    }
}
