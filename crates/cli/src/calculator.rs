//! Witnesses from inputs, for `wtns calculate`, `fullprove` and `dev`.

use proofmill::{
    Error,
    circom::{
        CircomCurve, CircuitCache, Event, ScalarPrime, Symbols, Witness, WitnessCalculator, WitnessError,
        curve_of_program, over_curve,
    },
};
use proofmill_console::Failure;
use proofmill_progress::Progress;
use std::{
    io::{self, Write},
    path::Path,
};

const NAME_SIGNALS: &str = "--sym circuit.sym names those that are missing";
const DEBUG: &str = "`proofmill wtns debug` prints its signals";

/// Calculates a witness, by a compiled circuit if the user's cache has one. What the circuit prints goes to standard error, unless `quiet`.
pub(crate) fn calculate<P: ScalarPrime>(
    circuit: &Path,
    inputs: &Path,
    symbols: Option<Symbols>,
    quiet: bool,
) -> Result<Witness<P>, Failure> {
    let has_names = symbols.is_some();
    let mut calculator: WitnessCalculator<P> = match CircuitCache::of_user() {
        Some(cache) => cache.open(circuit)?,
        None => WitnessCalculator::open_over(circuit)?,
    };
    if let Some(symbols) = symbols {
        calculator = calculator.with_symbols(symbols);
    }
    if !quiet {
        calculator = calculator.on_event(|event| {
            if let Event::Log(line) = event {
                // A reader that goes away is no error.
                drop(writeln!(io::stderr(), "log: {line}"));
            }
        });
    }
    calculator.calculate_file(inputs).map_err(|error| {
        let advice = match &error {
            Error::Unsatisfied(_) => Some(DEBUG),
            Error::Mismatch(cause) => match cause.get().downcast_ref() {
                Some(WitnessError::Missing(_)) if !has_names => Some(NAME_SIGNALS),
                _ => None,
            },
            _ => None,
        };
        let failure = Failure::from(error);
        match advice {
            Some(advice) => failure.with_advice(advice),
            None => failure,
        }
    })
}

/// Compiles a circuit whose witness these inputs gave, into the user's cache. Whether it can be does not matter to the command.
pub(crate) fn compile_for_later(circuit: &Path, inputs: &Path, progress: Progress<'_>) {
    // What is no file was read already.
    if circuit.is_file()
        && inputs.is_file()
        && let Some(cache) = CircuitCache::of_user()
        && cache.lacks(circuit).is_ok_and(|lacks| lacks)
        && let Ok(curve) = curve_of_program(circuit)
    {
        progress.begin("compile circuit for later");
        over_curve!(curve, C => drop(cache.compile::<<C as CircomCurve>::ScalarPrime>(circuit, inputs)));
    }
}
