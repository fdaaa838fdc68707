//! A circuit's WASM. The machine executes it; the interpreter does if its functions are unknown.

use crate::{
    curves,
    error::WitnessError,
    input::Inputs,
    machine::{Module, Way},
    wasm::{Debugged, Event, Interpreter, Limits, RunSettings, circom1, expect_one},
};
use proofmill_circom::{ScalarPrime, Symbols};
use proofmill_field::{Fp, bn254::FrParams};
use std::{fmt, sync::Arc};
use zeroize::Zeroizing;

/// A circuit that circom compiled to WASM.
pub struct Program<P: ScalarPrime = FrParams> {
    form: Form,
    settings: RunSettings<P>,
}

enum Form {
    /// A module for the machine, with the bytes for the interpreter.
    Machine(Box<Module>, Vec<u8>),
    /// The functions for field elements are not those that circom writes.
    Interpreter(Interpreter),
}

impl<P: ScalarPrime> fmt::Debug for Program<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("limits", &self.settings.limits).finish_non_exhaustive()
    }
}

impl<P: ScalarPrime> Program<P> {
    /// The first bytes of a WASM.
    pub const MAGIC: [u8; 4] = *b"\0asm";

    /// Decodes a WASM.
    ///
    /// # Errors
    /// [`WitnessError::Program`] if it is malformed or imports anything but circom's functions.
    pub fn from_bytes(bytes: &[u8], limits: Limits) -> Result<Self, WitnessError> {
        Self::with_settings(bytes, RunSettings::new(limits))
    }

    pub(crate) fn with_settings(bytes: &[u8], settings: RunSettings<P>) -> Result<Self, WitnessError> {
        let form = match curves::decode::<P>(bytes, settings.limits) {
            Ok(module) => Form::Machine(module.into(), bytes.to_vec()),
            Err(_) => Form::Interpreter(Interpreter::new(bytes, settings.limits)?),
        };
        Ok(Self { form, settings })
    }

    /// Whether it reports more events than lines of `log()`, as circom 1's programs do.
    pub fn reports_signals(&self) -> bool {
        match &self.form {
            Form::Machine(module, _) => module.exports(circom1::PRIME),
            Form::Interpreter(interpreter) => interpreter.is_circom1(),
        }
    }

    /// The names of circom's functions for field elements that are not executed natively, and so take many times longer. The list is empty for
    /// known versions, and for others whose functions have the same results.
    pub fn interpreted_functions(&self) -> Vec<&'static str> {
        match &self.form {
            Form::Machine(module, _) => module.interpreted().collect(),
            Form::Interpreter(interpreter) => interpreter.interpreted().collect(),
        }
    }

    /// A function that receives what the circuit reports.
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(Event<'_, P>) + Send + Sync + 'static) -> Self {
        self.settings.observer = Some(Arc::new(observer));
        self
    }

    /// The names of signals, for errors.
    #[must_use]
    pub fn with_symbols(mut self, symbols: impl Into<Arc<Symbols>>) -> Self {
        self.settings.symbols = Some(symbols.into());
        self
    }

    /// Runs the circuit on these inputs, and returns the value of every wire; the first is 1.
    ///
    /// # Errors
    /// [`WitnessError`] for inputs that are missing, unknown or of another size, assertions that fail, another
    /// field, and limits.
    pub fn calculate(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let RunSettings { limits, observer, .. } = &self.settings;
        if let Form::Machine(module, _) = &self.form {
            match curves::calculate(module, inputs, *limits, observer) {
                Ok(values) => return expect_one(&values).map(|()| values),
                Err(Way::Steps) => return Err(WitnessError::too_many_steps()),
                // The interpreter tells what is wrong, if something is.
                Err(_) => {}
            }
        }
        self.interpret(|interpreter| interpreter.calculate(&self.settings, inputs))?
    }

    /// [`Self::calculate`] with all of circom's checks and all events, which also gives the values at an early end.
    pub fn debug(&self, inputs: &Inputs<P>) -> Debugged<P> {
        self.interpret(|interpreter| interpreter.debug(&self.settings, inputs))
            .unwrap_or_else(|error| Debugged { error: Some(error), values: Zeroizing::default() })
    }

    fn interpret<T>(&self, run: impl FnOnce(&Interpreter) -> T) -> Result<T, WitnessError> {
        Ok(match &self.form {
            Form::Machine(_, wasm) => run(&Interpreter::new(wasm, self.settings.limits)?),
            Form::Interpreter(interpreter) => run(interpreter),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Without this test, a program that the machine cannot run would only be slow.
    #[test]
    fn the_machine_executes_every_version() {
        const BRANCHES: &str = r#"{"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}"#;
        const COMPONENTS: &str = r#"{"a": 20, "c": [5, -6]}"#;
        const SMALL: &str = include_str!("../tests/data/small.json");
        let circuits: [(&[u8], &str); 8] = [
            (include_bytes!("../tests/data/inputs.wasm"), SMALL),
            (include_bytes!("../tests/data/circom1/inputs.wasm"), SMALL),
            (include_bytes!("../tests/data/circom1/old.wasm"), SMALL),
            (include_bytes!("../tests/data/components.wasm"), COMPONENTS),
            (include_bytes!("../tests/data/components-2.0.3.wasm"), COMPONENTS),
            (include_bytes!("../tests/data/branches.wasm"), BRANCHES),
            (include_bytes!("../tests/data/choices.wasm"), BRANCHES),
            (
                include_bytes!("../tests/data/operators.wasm"),
                include_str!("../tests/data/operators-small.json"),
            ),
        ];
        for (wasm, inputs) in circuits {
            let inputs = <Inputs>::from_json(inputs.as_bytes()).unwrap();
            let limits = Limits::default();
            let module = curves::decode::<FrParams>(wasm, limits).unwrap();
            let values = curves::calculate(&module, &inputs, limits, &None).unwrap();
            let interpreter = Interpreter::new(wasm, limits).unwrap();
            assert_eq!(values, interpreter.calculate(&RunSettings::new(limits), &inputs).unwrap());
        }
    }
}
