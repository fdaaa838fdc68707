//! `wtns debug`: the signals of a circuit by name, as it calculates them.

use crate::{
    files::{CommandFiles, InputFile, OutputFile},
    proving::symbols,
};
use clap::Args;
use proofmill::{
    circom::{CircomCurve, Event, ScalarPrime, Symbols, WitnessCalculator, curve_of_program, over_curve},
    field::Fp,
};
use proofmill_console::{Failure, Machine, Outcome};
use serde_json::json;
use std::{
    collections::HashMap,
    fmt,
    io::{self, BufWriter, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

#[derive(Args, Debug)]
#[command(after_help = "Examples:
  proofmill wtns debug circuit.wasm input.json witness.wtns circuit.sym
  proofmill wtns debug circuit.wasm input.json | grep main.hash
  proofmill wtns debug circuit.wasm input.json --set --trigger

It prints secret values. An assertion that fails ends the calculation: signals that have no value yet are printed as 0 then. Signals that
the compiler has removed are not printed: compile the circuit with --O0 to keep all.")]
pub(crate) struct Debug {
    /// The circuit, as compiled by `circom --wasm` or `wtns compile`, or a graph of circom-witnesscalc
    #[arg(value_name = "WASM", conflicts_with = "json")]
    circuit: InputFile,
    /// The values of its input signals
    #[arg(value_name = "INPUT")]
    inputs: InputFile,
    /// The witness to write
    #[arg(value_name = "WTNS", default_value = "witness.wtns")]
    witness: OutputFile,
    /// The names of its signals, if any [default: the circuit's name with .sym, if there is such a file]
    #[arg(value_name = "SYM")]
    sym: Option<InputFile>,
    /// Print each signal that is read, in place of all signals at the end; circom 1 only
    #[arg(long, short)]
    get: bool,
    /// Print each signal that is set; circom 1 only
    #[arg(long, short)]
    set: bool,
    /// Print the components that begin and end; circom 1 only
    #[arg(long, short)]
    trigger: bool,
}

impl Debug {
    pub(crate) fn files(&self) -> CommandFiles<'_> {
        let inputs = [Some(&*self.circuit), Some(&*self.inputs), self.sym.as_deref()];
        CommandFiles { inputs: inputs.into_iter().flatten().collect(), outputs: vec![&self.witness] }
    }

    /// The file of names, if there is one: none is needed.
    fn names(&self, quiet: bool) -> Option<InputFile> {
        if self.sym.is_some() {
            return self.sym.clone();
        }
        let sym = self.circuit.with_extension("sym");
        if sym.exists() {
            return Some(sym.into_os_string().into());
        }
        if !quiet {
            eprintln!(
                "warning: {}: not found: signals are printed by number; the file, which `circom --sym` writes, is optional and gives their names",
                sym.display()
            );
        }
        None
    }

    /// Whether an event is to be printed.
    fn wants<P: ScalarPrime>(&self, event: &Event<'_, P>) -> bool {
        match event {
            Event::Get(..) => self.get,
            Event::Set(..) => self.set,
            Event::Start(_) | Event::Finish(_) => self.trigger,
            _ => true,
        }
    }
}

pub(crate) fn run(debug: Debug, machine: &mut Machine) -> Result<Outcome, Failure> {
    over_curve!(curve_of_program(&debug.circuit)?, C => {
        run_over::<<C as CircomCurve>::ScalarPrime>(debug, machine)
    })
}

fn run_over<P: ScalarPrime>(debug: Debug, machine: &mut Machine) -> Result<Outcome, Failure> {
    let quiet = machine.quiet();
    let sym = debug.names(quiet);
    CommandFiles { inputs: sym.iter().map(|sym| &**sym).collect(), outputs: vec![&debug.witness] }.check()?;
    let mut circuit = WitnessCalculator::<P>::open_over(&debug.circuit)?;
    let symbols = symbols(sym.as_ref())?;
    if let Some(sym) = &sym {
        circuit = circuit.with_symbols(Symbols::open(sym)?);
    }
    let mut wants_signals = !(debug.get || debug.set || debug.trigger);
    if !wants_signals && !circuit.reports_signals() {
        wants_signals = true;
        if !quiet {
            eprintln!(
                "warning: only circuits of circom 1 report when they read and set signals: their values at the end are printed"
            );
        }
    }
    let (witness, inputs) = (debug.witness.clone(), debug.inputs.clone());
    let names = symbols.as_ref().filter(|_| !wants_signals).map(Names::of).unwrap_or_default();
    let lines = Arc::new(Lines::new(quiet));
    let events = lines.clone();
    let circuit = circuit.on_event(move |event| {
        if debug.wants(&event) {
            names.print(event, &events);
        }
    });
    let debugged = machine.run(|_| circuit.debug_file(&inputs))?;
    let values = debugged.witness.values();
    if wants_signals {
        match sym.as_deref().zip(symbols.as_ref()) {
            Some((sym, symbols)) => print_signals(&lines, values, sym, symbols, circuit.reports_signals())?,
            None => values
                .iter()
                .enumerate()
                .for_each(|(wire, value)| lines.print(format_args!("w{wire} = {value}"))),
        }
    }
    lines.end()?;
    match debugged.error {
        Some(error) => Err(error.into()),
        None => {
            debugged.witness.save(&witness)?;
            Ok(Outcome::done(json!({ "witness": &*witness, "wires": values.len() })))
        }
    }
}

/// Prints the values by the names in the file `sym`; none if the calculation has none.
fn print_signals<P: ScalarPrime>(
    lines: &Lines,
    values: &[Fp<P>],
    sym: &Path,
    symbols: &Symbols,
    is_circom_1: bool,
) -> Result<(), Failure> {
    for symbol in symbols.each().filter(|_| !values.is_empty()) {
        let Some(wire) = symbol.wire else { continue };
        match values.get(wire as usize) {
            Some(value) => lines.print(format_args!("{} = {value}", symbol.name)),
            // Circom 1 gives these numbers to signals that it has removed.
            None if is_circom_1 => {}
            None => {
                let problem = format!("{} is wire {wire}, but the circuit has {}", symbol.name, values.len());
                return Err(Failure::about(sym, problem));
            }
        }
    }
    Ok(())
}

/// The names of signals by label, and of components by number.
#[derive(Default)]
struct Names {
    signals: HashMap<u64, String>,
    components: HashMap<u64, String>,
}

impl Names {
    fn of(symbols: &Symbols) -> Self {
        let mut names = Self::default();
        for symbol in symbols.each() {
            names.signals.insert(symbol.label, symbol.name.to_owned());
            names.components.entry(symbol.component).or_insert_with(|| symbol.component_name().to_owned());
        }
        names
    }

    fn print<P: ScalarPrime>(&self, event: Event<'_, P>, lines: &Lines) {
        let signal = |label| Name(self.signals.get(&u64::from(label)), "signal", label);
        let component = |number| Name(self.components.get(&u64::from(number)), "component", number);
        match event {
            Event::Log(line) => lines.print(format_args!("LOG {line}")),
            Event::Set(label, value) => lines.print(format_args!("SET {} <-- {value}", signal(label))),
            Event::Get(label, value) => lines.print(format_args!("GET {} --> {value}", signal(label))),
            Event::Start(number) => lines.print(format_args!("START: {}", component(number))),
            Event::Finish(number) => lines.print(format_args!("FINISH: {}", component(number))),
            _ => {}
        }
    }
}

/// A name; without one, the kind and the number of the object.
struct Name<'a>(Option<&'a String>, &'static str, u32);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(Some(name), ..) => f.write_str(name),
            Self(None, kind, number) => write!(f, "{kind} {number}"),
        }
    }
}

/// Lines of standard output. After a line that cannot be written there are no more.
struct Lines(Mutex<io::Result<BufWriter<Box<dyn Write + Send>>>>);

impl Lines {
    /// Whether to write nothing.
    fn new(quiet: bool) -> Self {
        let out: Box<dyn Write + Send> = if quiet { Box::new(io::sink()) } else { Box::new(io::stdout()) };
        Self(Mutex::new(Ok(BufWriter::new(out))))
    }

    fn print(&self, line: fmt::Arguments<'_>) {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(open) = &mut *out
            && let Err(error) = writeln!(open, "{line}")
        {
            *out = Err(error);
        }
    }

    /// Writes the remaining lines. A closed pipe is not an error.
    fn end(&self) -> Result<(), Failure> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match &mut *out {
            Ok(open) => open.flush(),
            Err(error) => Err(std::mem::replace(error, io::ErrorKind::BrokenPipe.into())),
        };
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::io("standard output".as_ref(), error))
            }
            _ => Ok(()),
        }
    }
}
