//! `wtns`: witnesses.

use crate::proving::unsatisfied_constraint;
use clap::{Args, Subcommand};
use proofmill_circom::{R1cs, read_witness};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;
use std::path::PathBuf;

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
    r1cs: PathBuf,
    /// The value of every wire
    #[arg(value_name = "WTNS")]
    witness: PathBuf,
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
    machine.clock.expect(3);
    machine.run(|level, observer| {
        observer("read r1cs");
        let r1cs = R1cs::open(&files.r1cs)?;
        observer("read witness");
        let witness = read_witness(&files.witness, level)?;
        observer("check witness");
        match unsatisfied_constraint(&r1cs, &files.r1cs, &witness, &files.witness)? {
            Some(sentence) => Err(Failure::Rejected(sentence)),
            None => {
                let result = json!({ "satisfied": true, "constraints": r1cs.header.constraints });
                Ok(Outcome { note: "satisfied", ..Outcome::done(result) })
            }
        }
    })
}
