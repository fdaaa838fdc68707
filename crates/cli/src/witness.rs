//! `wtns`: witnesses.

use crate::{
    calculator, curve,
    debug::{self, Debug},
    files::{CommandFiles, InputFile, OutputFile},
    proving::symbols,
    task::MachineWork,
};
use clap::{Args, Subcommand};
use proofmill::circom::{
    CircomCurve, R1cs, ScalarPrime, Witness, WitnessCalculator, curve_of_program, over_curve,
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum WtnsCommand {
    /// Calculate a witness from a circuit's inputs
    Calculate(Calculate),
    /// Compile a circuit's WASM, so that its witnesses take less time
    Compile(Compile),
    /// Calculate a witness and print the circuit's signals by name, with their secret values
    Debug(Debug),
    /// Check that a witness satisfies every constraint of a circuit
    Check(Check),
    /// Export a witness
    #[command(subcommand, after_help = "Examples:\n  proofmill wtns export json witness.wtns witness.json")]
    Export(WtnsExport),
}

#[derive(Debug, Subcommand)]
pub(crate) enum WtnsExport {
    /// Write the value of every wire as JSON: the same bytes as `snarkjs wtns export json`
    #[command(after_help = "Examples:\n  proofmill wtns export json witness.wtns witness.json")]
    Json(ExportJson),
}

#[derive(Args, Debug)]
pub(crate) struct ExportJson {
    /// The value of every wire
    #[arg(value_name = "WTNS", default_value = "witness.wtns")]
    witness: InputFile,
    /// The file to write
    #[arg(value_name = "JSON", default_value = "witness.json")]
    output: OutputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill wtns calculate circuit.wasm input.json witness.wtns
  proofmill wtns calculate circuit.wasm input.json --sym circuit.sym

The inputs are an object with a number or (nested) arrays of numbers for each input signal: decimal, hexadecimal after 0x, or
negative, in quotes if large. The WASM runs in an interpreter, with at most 4 GiB of memory. What it prints by log() goes to
standard error.")]
pub(crate) struct Calculate {
    /// The circuit, as compiled by `circom --wasm` or `wtns compile`, or a graph of circom-witnesscalc
    #[arg(value_name = "WASM")]
    circuit: InputFile,
    /// The values of its input signals
    #[arg(value_name = "INPUT")]
    inputs: InputFile,
    /// The witness to write
    #[arg(value_name = "WTNS", default_value = "witness.wtns")]
    witness: OutputFile,
    /// Name signals in errors, by circom's names
    #[arg(long, value_name = "SYM")]
    sym: Option<InputFile>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill wtns compile circuit.wasm input.json circuit.wcd
  proofmill wtns calculate circuit.wcd other_input.json witness.wtns

The compiled circuit is taken wherever a WASM is, and gives the same witnesses and errors for any inputs. It is fast for those
that go through its loops and arrays as the sample does, which for most circuits are all, and runs the WASM for others.")]
pub(crate) struct Compile {
    /// The circuit, as compiled by `circom --wasm`
    #[arg(value_name = "WASM")]
    circuit: InputFile,
    /// Values of its input signals that satisfy it
    #[arg(value_name = "INPUT")]
    inputs: InputFile,
    /// The compiled circuit to write
    #[arg(value_name = "WCD", default_value = "circuit.wcd")]
    output: OutputFile,
    /// Check every constraint of the circuit on the sample's witness
    #[arg(long, value_name = "R1CS")]
    r1cs: Option<InputFile>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill wtns check circuit.r1cs witness.wtns
  proofmill wtns check circuit.r1cs witness.wtns && echo satisfied")]
pub(crate) struct Check {
    /// The circuit
    #[arg(value_name = "R1CS")]
    r1cs: InputFile,
    /// The value of every wire
    #[arg(value_name = "WTNS")]
    witness: InputFile,
    /// Name the signals of the constraint that fails, by circom's names
    #[arg(long, value_name = "SYM")]
    sym: Option<InputFile>,
}

impl MachineWork for WtnsCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Calculate(_) => "wtns calculate",
            Self::Compile(_) => "wtns compile",
            Self::Debug(_) => "wtns debug",
            Self::Check(_) => "wtns check",
            Self::Export(WtnsExport::Json(_)) => "wtns export json",
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        match self {
            Self::Calculate(files) => {
                let inputs = [Some(&*files.circuit), Some(&*files.inputs), files.sym.as_deref()];
                CommandFiles { inputs: inputs.into_iter().flatten().collect(), outputs: vec![&files.witness] }
            }
            Self::Compile(files) => {
                let inputs = [Some(&*files.circuit), Some(&*files.inputs), files.r1cs.as_deref()];
                CommandFiles { inputs: inputs.into_iter().flatten().collect(), outputs: vec![&files.output] }
            }
            Self::Debug(debug) => debug.files(),
            Self::Check(_) => CommandFiles::default(),
            Self::Export(WtnsExport::Json(files)) => {
                CommandFiles { inputs: vec![&files.witness], outputs: vec![&files.output] }
            }
        }
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            WtnsCommand::Calculate(files) => over_curve!(curve_of_program(&files.circuit)?, C => {
                calculate::<<C as CircomCurve>::ScalarPrime>(&files, machine)
            }),
            WtnsCommand::Compile(files) => over_curve!(curve_of_program(&files.circuit)?, C => {
                compile::<<C as CircomCurve>::ScalarPrime>(&files, machine)
            }),
            WtnsCommand::Debug(debug) => debug::run(debug, machine),
            WtnsCommand::Check(files) => over_curve!(curve::of(&files.r1cs)?, C => {
                check::<<C as CircomCurve>::ScalarPrime>(&files, machine)
            }),
            WtnsCommand::Export(WtnsExport::Json(files)) => {
                machine.run(|_| {
                    over_curve!(curve::of(&files.witness)?, C => {
                        Witness::<<C as CircomCurve>::ScalarPrime>::open_over(&files.witness)?
                            .write_json(&files.output)
                    })
                })?;
                Ok(Outcome::done(json!({ "json": &*files.output })))
            }
        }
    }
}

fn calculate<P: ScalarPrime>(files: &Calculate, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock().expect(2);
    let display = machine.display();
    machine.run(|Run { progress, .. }| {
        progress.begin("calculate witness");
        let symbols = symbols(files.sym.as_ref())?;
        let witness = calculator::calculate::<P>(&files.circuit, &files.inputs, symbols, display)?;
        progress.begin("write witness");
        witness.save(&files.witness)?;
        Ok(Outcome::done(json!({ "witness": &*files.witness, "wires": witness.values().len() })))
    })
}

fn compile<P: ScalarPrime>(files: &Compile, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock().expect(2 + usize::from(files.r1cs.is_some()));
    machine.run(|Run { progress, .. }| {
        progress.begin("compile circuit");
        let circuit = WitnessCalculator::<P>::compile(&files.circuit, &files.inputs)?;
        if let Some(r1cs) = &files.r1cs {
            progress.begin("check witness");
            R1cs::<P>::open_over(r1cs)?.check_named(&circuit.calculate_file(&files.inputs)?, None)?;
        }
        progress.begin("write circuit");
        circuit.save(&files.output)?;
        Ok(Outcome::done(json!({ "circuit": &*files.output })))
    })
}

fn check<P: ScalarPrime>(files: &Check, machine: &mut Machine) -> Result<Outcome, Failure> {
    machine.clock().expect(3);
    machine.run(|Run { progress, .. }| {
        progress.begin("read r1cs");
        let circuit = R1cs::<P>::open_over(&files.r1cs)?;
        progress.begin("read witness");
        let witness = Witness::open_over(&files.witness)?;
        progress.begin("check witness");
        circuit.check_named(&witness, symbols(files.sym.as_ref())?.as_ref())?;
        let result = json!({ "satisfied": true, "constraints": circuit.constraints() });
        Ok(Outcome { text: "satisfied\n".to_owned(), ..Outcome::done(result) })
    })
}
