//! The output at the end of a command.

use crate::{Failure, Machine, Options, Phase};
use proofmill_memory::process_memory;
use serde_json::{Map, Value, json};
use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
};

/// The result of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The result for `--json`.
    pub result: Value,
    /// The text for standard output, unless the command is quiet.
    pub text: String,
    /// A failure that is reported in addition to the output.
    pub failure: Option<Failure>,
}

impl Outcome {
    /// The outcome of a command whose result is a file.
    pub fn done(result: Value) -> Self {
        Self { result, text: String::new(), failure: None }
    }
}

/// Prints an outcome with the phases and options of its command.
pub struct Report {
    command: &'static str,
    machine: Option<Machine>,
    json: bool,
    quiet: bool,
    show_values: bool,
}

impl Report {
    /// The report of a command that used a machine.
    pub fn new(command: &'static str, options: &Options, machine: Machine) -> Self {
        Self { machine: Some(machine), ..Self::without_machine(command, options) }
    }

    /// The report of a command that could not begin, or that uses several levels and numbers of threads.
    pub fn without_machine(command: &'static str, options: &Options) -> Self {
        let &Options { quiet, show_values, .. } = options;
        Self { command, machine: None, json: options.print_json(), quiet, show_values }
    }

    /// Prints the result or the error, and returns the process's exit status.
    pub fn end(self, result: Result<Outcome, Failure>) -> ExitCode {
        let printed = self.print(&result);
        let result = result.and_then(|outcome| outcome.failure.map_or(Ok(()), Err));
        match result.and(printed) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                for failure in failure.parts().iter().chain([&failure]) {
                    eprintln!("error: {}", self.message(failure));
                }
                failure.exit_code()
            }
        }
    }

    fn message(&self, failure: &Failure) -> String {
        if self.show_values { format!("{failure:#}") } else { failure.to_string() }
    }

    /// Prints the result, or with `--json` also an error; on a terminal also the times of the phases.
    fn print(&self, result: &Result<Outcome, Failure>) -> Result<(), Failure> {
        if self.json {
            return print_out(&format!("{}\n", self.object(result)));
        }
        if let Ok(outcome) = result
            && !self.quiet
        {
            print_out(&outcome.text)?;
        }
        if let Some(machine) = &self.machine
            && machine.clock().shows_times()
            && result.is_ok()
        {
            // A failure to write to standard error cannot be reported.
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
                    object.insert("error".into(), self.message(failure).into());
                }
            }
            Err(failure) => _ = object.insert("error".into(), self.message(failure).into()),
        }
        Value::Object(object)
    }

    /// A table of the phases with their times and the total; empty for a command without phases.
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

/// Prints to standard output. A closed pipe is not an error.
fn print_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("standard output".as_ref(), error))
        }
        _ => Ok(()),
    }
}
