//! The `proofmill` command: arguments, progress and printing around the libraries that compute.
#![deny(unsafe_code)]

mod arguments;
mod bench;
mod bls;
mod bls_vectors;
mod cpu;
mod failure;
mod features;
mod groth16;
mod info;
mod interrupt;
mod machine;
mod measure;
mod merkle;
mod ntt;
mod phases;
mod plonk;
mod proving;
mod report;
mod rows;
mod sha256;
mod shell;
mod solidity;
mod srs;
mod storage;
mod witness;
mod workload;
mod zkey;

use arguments::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use machine::Machine;
use report::{Outcome, Report};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: proofmill_simd::LargeBlocks = proofmill_simd::LargeBlocks;

fn main() -> ExitCode {
    proofmill_simd::return_freed_memory();
    let arguments = Arguments::parse();
    let (name, options) = (arguments.command.name(), arguments.options.clone());
    let without_machine = || Report::without_machine(name, &options);
    let (report, result) = match (arguments.command, Machine::new(&options)) {
        (Command::Bench(command), _) => (without_machine(), bench::run(command, &options)),
        (command, Ok(mut machine)) => {
            let result = run(command, &mut machine);
            (Report::new(name, &options, machine), result)
        }
        (_, Err(failure)) => (without_machine(), Err(failure)),
    };
    let printed = report.print(&result);
    let result = result.and_then(|outcome| outcome.failure.map_or(Ok(()), Err));
    match result.and(printed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}

fn run(command: Command, machine: &mut Machine) -> Result<Outcome, Failure> {
    interrupt::remove_unfinished_at_a_signal(command.outputs())?;
    match command {
        Command::Groth16(command) => groth16::run(command, machine),
        Command::Plonk(command) => plonk::run(command, machine),
        Command::Zkey(command) => zkey::run(command, machine),
        Command::Info(info) => info::run(&info),
        Command::Wtns(command) => witness::run(command, machine),
        Command::Merkle(command) => merkle::run(command, machine),
        Command::Srs(command) => srs::run(command, machine),
        Command::Sha256(command) => sha256::run(&command, machine),
        Command::Bls(command) => bls::run(command, machine),
        Command::Ntt(files) => ntt::run(&files, machine),
        Command::Cpu { measure } => cpu::run(machine, measure),
        Command::Bench(_) => unreachable!("it computes without a machine's level and threads"),
        Command::Completions(completions) => shell::completions(&completions),
        Command::Man(man) => shell::man(&man),
    }
}
