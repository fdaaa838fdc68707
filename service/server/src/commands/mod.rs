//! The commands `serve`, `worker`, `jobs`, `keys` and `token`.

mod connection;
mod data;
mod failure;
mod jobs;
mod keys;
mod machine;
mod open;
mod serve;
mod signals;
mod token;
mod worker;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A service for zero-knowledge proofs: a durable queue of jobs, keys that stay warm, workers on one machine or many.
#[derive(Parser)]
#[command(name = "proofmill", bin_name = "proofmill", version, max_term_width = 110)]
pub(crate) struct ServerArguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve jobs through HTTP, and work on them
    Serve(Box<serve::Serve>),
    /// Work on the jobs of a service on another machine
    Worker(Box<worker::WorkerArguments>),
    /// Submit jobs and take their results
    #[command(subcommand)]
    Jobs(jobs::JobsCommand),
    /// Add, list and remove keys
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Make, list and revoke tokens, as an administrator
    #[command(subcommand)]
    Token(token::TokenCommand),
}

/// Runs the command.
pub(crate) fn run(ServerArguments { command }: ServerArguments) -> ExitCode {
    let result = match command {
        Command::Serve(serve) => serve.run(),
        Command::Worker(worker) => worker.run(),
        Command::Jobs(jobs) => connection::run(jobs.run()),
        Command::Keys(keys) => connection::run(keys.run()),
        Command::Token(tokens) => connection::run(tokens.run()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}
