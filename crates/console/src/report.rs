//! What a command prints when it ends.

use crate::{Failure, Machine, Options, Phase};
use proofmill_memory::process_memory;
use serde_json::{Map, Value, json};
use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
    process::ExitCode,
};

/// What a command found out.
#[derive(Debug)]
pub struct Outcome {
    /// For `--json`.
    pub result: Value,
    /// What the user asked to read; printed wherever standard output goes.
    pub text: String,
    /// A line for who watches; printed on a terminal only.
    pub note: &'static str,
    /// Why the command fails although there is something to print.
    pub failure: Option<Failure>,
}

impl Outcome {
    /// Work whose result is a file.
    pub fn done(result: Value) -> Self {
        Self { result, text: String::new(), note: "", failure: None }
    }
}

/// Everything around the outcome.
pub struct Report {
    command: &'static str,
    machine: Option<Machine>,
    json: bool,
    quiet: bool,
}

impl Report {
    /// Of a command that computed with a machine.
    pub fn new(command: &'static str, options: &Options, machine: Machine) -> Self {
        Self { command, machine: Some(machine), json: options.print_json(), quiet: options.quiet }
    }

    /// Of a command that could not begin, or computes with several levels and numbers of threads.
    pub fn without_machine(command: &'static str, options: &Options) -> Self {
        Self { command, machine: None, json: options.print_json(), quiet: options.quiet }
    }

    /// Prints the result or the error, and gives the process's exit status.
    pub fn end(self, result: Result<Outcome, Failure>) -> ExitCode {
        let printed = self.print(&result);
        let result = result.and_then(|outcome| outcome.failure.map_or(Ok(()), Err));
        match result.and(printed) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("error: {failure}");
                failure.exit_code()
            }
        }
    }

    /// Prints the result, or with `--json` the error; and on a terminal how long the phases took.
    fn print(&self, result: &Result<Outcome, Failure>) -> Result<(), Failure> {
        if self.json {
            return print_out(&format!("{}\n", self.object(result)));
        }
        if let Ok(outcome) = result {
            print_out(&outcome.text)?;
            if !self.quiet && !outcome.note.is_empty() && io::stdout().is_terminal() {
                print_out(&format!("{}\n", outcome.note))?;
            }
        }
        if let Some(machine) = &self.machine
            && machine.clock().terminal()
            && result.is_ok()
        {
            // Standard error is all there is to complain on.
            drop(io::stderr().write_all(self.table(machine).as_bytes()));
        }
        Ok(())
    }

    fn object(&self, result: &Result<Outcome, Failure>) -> Value {
        let mut object = Map::new();
        object.insert("command".into(), self.command.into());
        if let Some(machine) = &self.machine {
            let clock = machine.clock();
            let phase = |phase: &Phase| {
                json!({
                    "name": phase.name,
                    "seconds": phase.seconds,
                    "peak_memory_bytes": phase.peak_memory,
                })
            };
            object.insert("level".into(), machine.level().name().into());
            object.insert("threads".into(), machine.threads().into());
            object.insert("phases".into(), clock.phases().iter().map(phase).collect());
            object.insert("seconds".into(), clock.seconds().into());
        }
        object.insert("peak_memory_bytes".into(), process_memory::peak().into());
        match result {
            Ok(outcome) => {
                object.insert("result".into(), outcome.result.clone());
                if let Some(failure) = &outcome.failure {
                    object.insert("error".into(), failure.to_string().into());
                }
            }
            Err(failure) => _ = object.insert("error".into(), failure.to_string().into()),
        }
        Value::Object(object)
    }

    /// Phases, their times and the total; nothing for a command without phases.
    fn table(&self, machine: &Machine) -> String {
        let clock = machine.clock();
        let phases = clock.phases();
        if phases.is_empty() {
            return String::new();
        }
        let total = clock.seconds();
        let mut table = String::new();
        let width = phases.iter().map(|phase| phase.name.len()).max().unwrap_or_default().max("total".len());
        for Phase { name, seconds, .. } in phases {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{name:width$}  {seconds:8.3} s {:4.0} %", 100.0 * seconds / total);
        }
        let (level, threads) = (machine.level(), machine.threads());
        let megabytes =
            process_memory::peak().map(|bytes| format!(", {} MB", bytes / 1_000_000)).unwrap_or_default();
        let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        let _ = writeln!(table, "{:width$}  {total:8.3} s   {level}, {threads}{megabytes}", "total");
        table
    }
}

/// Prints to standard output. A reader that has gone away is no error.
fn print_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("standard output".as_ref(), error))
        }
        _ => Ok(()),
    }
}
