//! `wtns`: witnesses.

use crate::files::Input;
use clap::{Args, Subcommand};
use proofmill::circom::{R1cs, Witness};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum WtnsCommand {
    /// Check that a witness satisfies every constraint of a circuit
    Check(Check),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill wtns check circuit.r1cs witness.wtns
  proofmill wtns check circuit.r1cs witness.wtns && echo satisfied")]
pub(crate) struct Check {
    /// The circuit
    #[arg(value_name = "R1CS")]
    r1cs: Input,
    /// The value of every wire
    #[arg(value_name = "WTNS")]
    witness: Input,
}

impl WtnsCommand {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Check(_) => "wtns check",
        }
    }
}

pub(crate) fn run(command: WtnsCommand, machine: &mut Machine) -> Result<Outcome, Failure> {
    match command {
        WtnsCommand::Check(files) => check(&files, machine),
    }
}

fn check(files: &Check, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock().expect(3);
    machine.run(|_, progress| {
        progress.begin("read r1cs");
        let circuit = R1cs::open(&files.r1cs)?;
        progress.begin("read witness");
        let witness = Witness::open(&files.witness)?;
        progress.begin("check witness");
        circuit.check(&witness)?;
        let result = json!({ "satisfied": true, "constraints": circuit.constraints() });
        Ok(Outcome { note: "satisfied", ..Outcome::done(result) })
    })
}
