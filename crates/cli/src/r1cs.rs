//! `r1cs`: circuits.

use crate::{
    contribution::Listing,
    curve,
    files::{CommandFiles, InputFile, OutputFile},
    info,
    proving::symbols,
    task::MachineWork,
};
use clap::{Args, Subcommand};
use proofmill::{
    circom::{
        CircomCurve, FileKind, ScalarPrime, SetupSize, SetupSizes, Symbols, describe, each_constraint,
        over_curve, write_r1cs_json,
    },
    field::Fp,
};
use proofmill_console::{Failure, Machine, Outcome};
use proofmill_run::Run;
use serde_json::json;
use std::{
    fmt,
    io::{self, BufWriter, Write},
    path::Path,
};

#[derive(Debug, Subcommand)]
pub(crate) enum R1csCommand {
    /// Describe a circuit: its curve, constraints, wires, inputs, outputs and labels, and what the key of each proof system needs
    Info(Circuit),
    /// Print the constraints, one a line, with wires by number (w0 is the constant 1, then come outputs and inputs) or name
    Print(Print),
    /// Export a circuit
    #[command(subcommand, after_help = "Examples:\n  proofmill r1cs export json circuit.r1cs circuit.json")]
    Export(R1csExport),
}

#[derive(Debug, Subcommand)]
pub(crate) enum R1csExport {
    /// Write a circuit as JSON: the same bytes as `snarkjs r1cs export json`, in bounded memory
    #[command(after_help = "Examples:\n  proofmill r1cs export json circuit.r1cs circuit.json")]
    Json(ExportJson),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill r1cs info circuit.r1cs
  proofmill r1cs info circuit.r1cs --json")]
pub(crate) struct Circuit {
    /// The circuit
    #[arg(value_name = "R1CS")]
    r1cs: InputFile,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill r1cs print circuit.r1cs
  proofmill r1cs print circuit.r1cs | grep -w w17 | head")]
pub(crate) struct Print {
    /// The circuit
    #[arg(value_name = "R1CS", conflicts_with = "json")]
    r1cs: InputFile,
    /// Circom's names, in place of numbers
    #[arg(value_name = "SYM")]
    sym: Option<InputFile>,
}

#[derive(Args, Debug)]
pub(crate) struct ExportJson {
    /// The circuit
    #[arg(value_name = "R1CS")]
    r1cs: InputFile,
    /// The file to write [default: the circuit's name with .json]
    #[arg(value_name = "JSON")]
    output: Option<OutputFile>,
}

impl MachineWork for R1csCommand {
    fn name(&self) -> &'static str {
        match self {
            Self::Info(_) => "r1cs info",
            Self::Print(_) => "r1cs print",
            Self::Export(R1csExport::Json(_)) => "r1cs export json",
        }
    }

    fn files(&self) -> CommandFiles<'_> {
        CommandFiles::default()
    }

    fn run(self: Box<Self>, machine: &mut Machine) -> Result<Outcome, Failure> {
        match *self {
            R1csCommand::Info(circuit) => describe_circuit(&circuit.r1cs, machine),
            R1csCommand::Print(circuit) => {
                let symbols = symbols(circuit.sym.as_ref())?;
                let quiet = machine.quiet();
                over_curve!(curve::of(&circuit.r1cs)?, C => {
                    print::<<C as CircomCurve>::ScalarPrime>(&circuit.r1cs, symbols.as_ref(), quiet)
                })
            }
            R1csCommand::Export(R1csExport::Json(files)) => {
                let target =
                    files.output.unwrap_or_else(|| files.r1cs.with_extension("json").into_os_string().into());
                CommandFiles { inputs: vec![&files.r1cs], outputs: vec![&target] }.check()?;
                machine.run(|_| write_r1cs_json(&files.r1cs, &target))?;
                Ok(Outcome::done(json!({ "json": &*target })))
            }
        }
    }
}

fn describe_circuit(r1cs: &Path, machine: &mut Machine) -> Result<Outcome, Failure> {
    let description = describe(r1cs)?;
    if description.kind != FileKind::R1cs {
        let problem = format!("expected r1cs, found {}", description.kind);
        return Err(Failure::about(r1cs, problem));
    }
    let sizes = machine.run(|Run { progress, .. }| {
        progress.begin("count gates");
        SetupSizes::of(r1cs)
    })?;
    let mut outcome = info::outcome(&description, Listing::FOLDED);
    outcome.text.push('\n');
    let systems = [
        ("groth16", "rows", Some(sizes.groth16)),
        ("plonk", "gates", sizes.plonk),
        ("fflonk", "gates", sizes.fflonk),
    ];
    for (system, unit, size) in systems {
        let Some(SetupSize { rows, power }) = size else { continue };
        let needs = power
            .map_or("no key is possible".to_owned(), |power| format!("powers of tau of 2^{power} or more"));
        outcome.text += &format!("{system:16} {rows} {unit}, {needs}\n");
        outcome.result[system] = json!({ (unit): rows, "power": power });
    }
    Ok(outcome)
}

/// Why printing ended early.
enum Stop {
    Failed(Failure),
    /// The reader of a pipe has gone, which is no error.
    Closed,
}

impl From<proofmill::Error> for Stop {
    fn from(error: proofmill::Error) -> Self {
        Self::Failed(error.into())
    }
}

fn print<P: ScalarPrime>(r1cs: &Path, symbols: Option<&Symbols>, quiet: bool) -> Result<Outcome, Failure> {
    let out: Box<dyn Write> = if quiet { Box::new(io::sink()) } else { Box::new(io::stdout().lock()) };
    let mut out = BufWriter::new(out);
    let stop = |error: io::Error| match error.kind() {
        io::ErrorKind::BrokenPipe => Stop::Closed,
        _ => Stop::Failed(Failure::io("standard output".as_ref(), error)),
    };
    let mut count = 0u64;
    let printed = each_constraint::<P, _>(r1cs, |[a, b, c]| {
        count += 1;
        let [a, b, c] = [a, b, c].map(|terms| Sum { terms, symbols });
        writeln!(out, "({a}) * ({b}) = {c}").map_err(stop)
    });
    match printed.and_then(|()| out.flush().map_err(stop)) {
        Ok(()) | Err(Stop::Closed) => Ok(Outcome::done(json!({ "constraints": count }))),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// A linear combination for people: coefficients above r / 2 as negative ones.
struct Sum<'a, P: ScalarPrime> {
    terms: &'a [(u32, Fp<P>)],
    symbols: Option<&'a Symbols>,
}

impl<P: ScalarPrime> fmt::Display for Sum<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wire_name = |wire: u32| match self.symbols.and_then(|symbols| symbols.name(wire)) {
            Some(name) => name.to_owned(),
            None => format!("w{wire}"),
        };
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (index, (wire, value)) in self.terms.iter().enumerate() {
            let is_negative = (-*value).to_bytes_be() < value.to_bytes_be();
            let size = if is_negative { -*value } else { *value };
            f.write_str(match (index, is_negative) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            })?;
            match (*wire, size == Fp::from(1)) {
                (0, _) => write!(f, "{size}")?,
                (_, true) => f.write_str(&wire_name(*wire))?,
                (_, false) => write!(f, "{size} {}", wire_name(*wire))?,
            }
        }
        Ok(())
    }
}
