//! Witnesses from inputs, for `wtns calculate`, `fullprove` and `dev`.

use proofmill::{
    Error,
    circom::{
        CircuitCache, Event, NATIVE_FUNCTIONS, ScalarPrime, Symbols, Witness, WitnessCalculator, WitnessError,
    },
};
use proofmill_console::{Display, Failure};
use proofmill_run::Progress;
use std::{
    fs,
    io::{self, Write},
    path::Path,
};
use zeroize::Zeroizing;

const NAME_SIGNALS: &str = "--sym circuit.sym names those that are missing";
const DEBUG: &str = "`proofmill wtns debug` prints its signals";

/// Calculates a witness, by a compiled circuit if the user's cache has one. What the circuit prints goes to standard error, unless nothing is displayed.
pub(crate) fn calculate<P: ScalarPrime>(
    circuit: &Path,
    inputs: &Path,
    symbols: Option<Symbols>,
    display: Display,
) -> Result<Witness<P>, Failure> {
    let has_names = symbols.is_some();
    let mut calculator: WitnessCalculator<P> = CircuitCache::of_user().open(circuit)?;
    if let Some(symbols) = symbols {
        calculator = calculator.with_symbols(symbols);
    }
    if display != Display::Nothing {
        calculator = calculator.on_event(|event| {
            if let Event::Log(line) = event {
                // A reader that goes away is no error.
                drop(writeln!(io::stderr(), "log: {line}"));
            }
        });
    }
    let (interpreted, name) = (calculator.interpreted_functions(), circuit.display());
    if display == Display::Phases {
        eprintln!("{name}: {}", about_functions(&interpreted));
    }
    let witness = calculator.calculate_file(inputs).map_err(|error| {
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
    })?;
    // Behind it, because an error is one line.
    if !interpreted.is_empty() && !matches!(display, Display::Nothing | Display::Phases) {
        eprintln!("warning: {name}: {}", about_functions(&interpreted));
    }
    Ok(witness)
}

/// Names circom's functions for field elements that are slow.
fn about_functions(interpreted: &[&str]) -> String {
    match interpreted.len() {
        0 => "all functions for field elements are native".to_owned(),
        NATIVE_FUNCTIONS.. => {
            "no function for field elements is one of circom's that are known: it takes many times longer"
                .to_owned()
        }
        _ => format!(
            "functions for field elements that are not circom's that are known, and take many times longer: {}",
            interpreted.join(", ")
        ),
    }
}

/// Compiles a circuit whose witness these inputs gave, into the user's cache. A circuit that cannot be compiled does not fail the command.
/// A note tells of one that takes too long to be compiled unasked.
pub(crate) fn compile_for_later(circuit: &Path, inputs: &Path, display: Display, progress: Progress<'_>) {
    let cache = CircuitCache::of_user();
    // What is no file was read already.
    if circuit.is_file()
        && inputs.is_file()
        && let Ok(wasm) = fs::read(circuit)
        && cache.lacks(&wasm)
        && let Ok(inputs) = fs::read(inputs).map(Zeroizing::new)
    {
        progress.begin("compile circuit for later");
        let compiled = cache.compile(&wasm, &inputs);
        if let Err(Error::Malformed(cause)) = compiled
            && let Some(WitnessError::Limit(limit)) = cause.get().downcast_ref()
            && display != Display::Nothing
        {
            let name = circuit.display();
            eprintln!("note: {name}: {limit}: `proofmill wtns compile` makes later proofs faster");
        }
    }
}
