//! `wtns`: witnesses.

use crate::{failure::Failure, machine::Machine, report::Outcome};
use clap::{Args, Subcommand};
use proofmill_circom::{R1cs, read_witness};
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
        WtnsCommand::Check(arguments) => check(&arguments, machine),
    }
}

fn check(arguments: &Check, machine: &mut Machine) -> Result<Outcome, Failure> {
    let Check { r1cs: r1cs_path, witness: witness_path } = arguments;
    machine.clock.expect(3);
    let (r1cs, unsatisfied) = machine.run(|level, observer| {
        observer("read r1cs");
        let r1cs = R1cs::open(r1cs_path)?;
        observer("read witness");
        let witness = read_witness(witness_path, level)?;
        if witness.len() != r1cs.header.wires as usize {
            return Err(Failure::Input(format!(
                "{}: {} values, but {} has {} wires",
                witness_path.display(),
                witness.len(),
                r1cs_path.display(),
                r1cs.header.wires
            )));
        }
        observer("check witness");
        let unsatisfied = r1cs.first_unsatisfied(&witness);
        Ok((r1cs, unsatisfied))
    })?;
    let constraints = r1cs.header.constraints;
    match unsatisfied {
        None => Ok(Outcome { note: "satisfied", ..Outcome::done(json!({ "constraints": constraints })) }),
        Some(index) => Err(Failure::Rejected(format!(
            "{}: constraint {index} of {constraints} (counted from 0) is not satisfied",
            witness_path.display()
        ))),
    }
}
