//! The WASM that circom writes: an interpreter runs it within limits, with no host functions but circom's.
//!
//! Circom 2 exchanges field elements by a buffer in its memory, eight words each; circom 1 by pointers to tagged elements.
//! Source: the `witness_calculator.js` that circom writes next to the WASM, and iden3's circom_runtime.

pub(crate) mod circom1;
pub(crate) mod circom2;
pub(crate) mod element;
pub(crate) mod host;
mod instance;
pub(crate) mod native;
pub(crate) mod prelude;

use crate::{
    error::WitnessError,
    input::{Inputs, Signal, shown},
    names,
};
use host::Host;
use instance::{CircuitInstance, explain};
use proofmill_circom::{CircomCurve, PairingCurve, ScalarPrime, Symbols, over_curve};
use proofmill_field::{Field, Fp, Prime, bn254::FrParams};
use std::sync::Arc;
use wasmi::{Config, Engine, Linker, Module, Store};
use zeroize::Zeroizing;

/// The most calls within calls, and bytes of their values.
const DEEPEST_CALLS: usize = 10_000;
const LARGEST_STACK: usize = 1 << 24;

/// The limits of a circuit's WASM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of its memory, at most 4 GiB. The witness takes up to eight times as much in addition.
    pub memory: u64,
    /// Steps of the interpreter, about a nanosecond each; any number if `None`. Counting them takes time.
    pub steps: Option<u64>,
}

impl Default for Limits {
    /// All the memory that a WASM can address, any number of steps.
    fn default() -> Self {
        Self { memory: 1 << 32, steps: None }
    }
}

/// An event that a circuit reports while it runs. Values are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a, P: ScalarPrime = FrParams> {
    /// A line that the circuit prints by `log()`, without its end. There are at most 1 MiB of them.
    Log(&'a str),
    /// The signal with this label is set. This event and the following ones are reported only by circom 1's circuits, in
    /// [`Program::debug`](crate::Program::debug).
    Set(u32, Fp<P>),
    /// The signal with this label is read.
    Get(u32, Fp<P>),
    /// The component with this number has all its inputs.
    Start(u32),
    /// The component with this number ends.
    Finish(u32),
}

/// Receives events.
pub(crate) type EventObserver<P> = Arc<dyn Fn(Event<'_, P>) + Send + Sync>;

/// A circuit in the interpreter.
#[derive(Debug)]
pub(crate) struct Interpreter {
    module: Module,
    interface: Interface,
    /// Whether it calls native arithmetic.
    native: bool,
}

/// The settings for a run of a circuit, compiled or not.
pub(crate) struct RunSettings<P: ScalarPrime> {
    pub(crate) limits: Limits,
    pub(crate) observer: Option<EventObserver<P>>,
    pub(crate) symbols: Option<Arc<Symbols>>,
}

impl<P: ScalarPrime> RunSettings<P> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, observer: None, symbols: None }
    }
}

impl<P: ScalarPrime> Clone for RunSettings<P> {
    fn clone(&self) -> Self {
        Self { limits: self.limits, observer: self.observer.clone(), symbols: self.symbols.clone() }
    }
}

#[derive(Clone, Copy, Debug)]
enum Interface {
    Circom1,
    Circom2,
}

/// The curve whose scalar field a circuit's WASM is likely to be over: it has the prime among its data. [`Program::calculate`](crate::Program::calculate) makes sure.
pub fn likely_curve(bytes: &[u8]) -> Option<PairingCurve> {
    [PairingCurve::Bn254, PairingCurve::Bls12_381].into_iter().find(|curve| {
        let modulus = over_curve!(*curve, C => <<C as CircomCurve>::ScalarPrime as Prime>::MODULUS);
        let modulus = modulus.map(u64::to_le_bytes);
        bytes.windows(modulus.as_flattened().len()).any(|window| window == modulus.as_flattened())
    })
}

/// The end of a run that is debugged.
#[derive(Debug)]
pub struct Debugged<P: ScalarPrime = FrParams> {
    /// Why there is no witness.
    pub error: Option<WitnessError>,
    /// The value of every wire. If an assertion fails, wires without a value are 0. Empty after other errors.
    pub values: Zeroizing<Vec<Fp<P>>>,
}

impl Interpreter {
    /// Compiles the bytes of a WASM.
    pub(crate) fn new(bytes: &[u8], limits: Limits) -> Result<Self, WitnessError> {
        match prelude::redirect(bytes) {
            Some(redirected) => Self::compile(&redirected, limits, true),
            None => Self::compile(bytes, limits, false),
        }
    }

    fn compile(bytes: &[u8], limits: Limits, native: bool) -> Result<Self, WitnessError> {
        let mut config = Config::default();
        config.consume_fuel(limits.steps.is_some());
        // About those of JavaScript engines. The stack is on the heap and grows with the calls.
        config.set_max_recursion_depth(DEEPEST_CALLS);
        config.set_max_stack_height(LARGEST_STACK);
        // Extensions that circom does not use.
        config.wasm_multi_value(false).wasm_multi_memory(false).wasm_memory64(false).wasm_tail_call(false);
        let module = Module::new(&Engine::new(&config), bytes).map_err(|error| {
            WitnessError::Program(format!("not a valid WASM: {}", one_line(&error.to_string())))
        })?;
        for import in module.imports() {
            host::expect_known(&import)?;
        }
        let interface = match module.get_export(circom1::PRIME) {
            Some(_) => Interface::Circom1,
            None => Interface::Circom2,
        };
        Ok(Self { module, interface, native })
    }

    /// The names of circom's functions for field elements that are not executed natively.
    pub(crate) fn interpreted(&self) -> impl Iterator<Item = &'static str> {
        let native = self.native;
        native::all().map(|(_, name, _)| name).filter(move |_| !native)
    }

    /// Whether it is circom 1's.
    pub(crate) fn is_circom1(&self) -> bool {
        matches!(self.interface, Interface::Circom1)
    }

    /// The value of every wire.
    pub(crate) fn calculate<P: ScalarPrime>(
        &self,
        settings: &RunSettings<P>,
        inputs: &Inputs<P>,
    ) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let mut circuit = self.instantiate(settings, false)?;
        self.run(&mut circuit, settings, inputs)?;
        self.witness(&mut circuit)
    }

    /// [`Self::calculate`] with all of circom's checks and all events, which also gives the values at an early end.
    pub(crate) fn debug<P: ScalarPrime>(&self, settings: &RunSettings<P>, inputs: &Inputs<P>) -> Debugged<P> {
        let failed = |error| Debugged { error: Some(error), values: Zeroizing::default() };
        let mut circuit = match self.instantiate(settings, true) {
            Ok(circuit) => circuit,
            Err(error) => return failed(error),
        };
        let error = self.run(&mut circuit, settings, inputs).err();
        match error {
            None => {}
            Some(WitnessError::Unsatisfied { .. }) => {}
            Some(error) => return failed(error),
        }
        match self.witness(&mut circuit) {
            Ok(values) => Debugged { error, values },
            Err(other) => failed(error.unwrap_or(other)),
        }
    }

    fn run<P: ScalarPrime>(
        &self,
        circuit: &mut CircuitInstance<P>,
        settings: &RunSettings<P>,
        inputs: &Inputs<P>,
    ) -> Result<(), WitnessError> {
        let symbols = settings.symbols.as_deref();
        let result = match self.interface {
            Interface::Circom1 => circom1::run(circuit, inputs, symbols),
            Interface::Circom2 => circom2::run(circuit, inputs, symbols),
        };
        result.map_err(|error| match (error, symbols) {
            (WitnessError::Unsatisfied { problem, values }, Some(symbols)) => {
                let place = match self.interface {
                    Interface::Circom1 => circuit.host().place.named(symbols),
                    Interface::Circom2 => names::components(symbols, &circuit.host().trace),
                };
                let problem = [Some(problem), place].into_iter().flatten().collect::<Vec<_>>().join("; ");
                WitnessError::Unsatisfied { problem, values }
            }
            (error, _) => error,
        })
    }

    fn witness<P: ScalarPrime>(
        &self,
        circuit: &mut CircuitInstance<P>,
    ) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let values = match self.interface {
            Interface::Circom1 => circom1::witness(circuit),
            Interface::Circom2 => circom2::witness(circuit),
        }?;
        expect_one(&values)?;
        Ok(values)
    }

    fn instantiate<P: ScalarPrime>(
        &self,
        settings: &RunSettings<P>,
        debug: bool,
    ) -> Result<CircuitInstance<P>, WitnessError> {
        let mut store =
            Store::new(self.module.engine(), Host::new(settings.limits, settings.observer.clone(), debug));
        store.limiter(|host| &mut host.limits);
        if let Some(steps) = settings.limits.steps {
            store.set_fuel(steps).map_err(|error| WitnessError::Limit(error.to_string()))?;
        }
        let mut linker = Linker::new(self.module.engine());
        host::define(&mut linker, &mut store, &self.module)
            .and_then(|()| circom1::define(&mut linker))
            .map_err(|error| explain(&error))?;
        let instance = match self.interface {
            Interface::Circom1 => circom1::instantiate(&mut linker, &mut store, &self.module),
            Interface::Circom2 => {
                linker.instantiate_and_start(&mut store, &self.module).map(|instance| (instance, None))
            }
        };
        let (instance, memory) = instance.map_err(|error| explain(&error))?;
        if self.native {
            let table = instance.get_table(&store, prelude::TABLE);
            let table = table.ok_or_else(|| {
                WitnessError::Program("its table of native functions is missing".to_owned())
            })?;
            native::fill(&mut store, &table).map_err(|error| explain(&error))?;
        }
        CircuitInstance::new(store, instance, memory)
    }
}

/// An error's text for messages.
fn one_line(text: &str) -> String {
    shown(text)
}

/// Refuses a witness whose first wire is not the constant 1.
pub(crate) fn expect_one<P: ScalarPrime>(values: &[Fp<P>]) -> Result<(), WitnessError> {
    match values.first() {
        Some(one) if *one == Fp::ONE => Ok(()),
        _ => Err(WitnessError::Program("the circuit does not give its wire 0 the value 1".to_owned())),
    }
}

/// Refuses a signal unless it is an input of so many values, 0 for one that is no input.
fn expect_size<P: ScalarPrime>(signal: &Signal<P>, expected: usize) -> Result<(), WitnessError> {
    let (name, found) = (shown(&signal.name), signal.values.len());
    match (expected, found) {
        (0, 1..) => Err(WitnessError::Signals(format!("signal {name} is not an input of the circuit"))),
        _ if expected == found => Ok(()),
        _ => Err(WitnessError::Signals(format!("signal {name}: expected {expected} values, found {found}"))),
    }
}

/// The error of too few values, with the names of missing inputs as far as known. `size` gives the number of an input's values by its name, or 0.
fn missing<P: ScalarPrime>(
    found: usize,
    expected: u32,
    symbols: Option<&Symbols>,
    inputs: &Inputs<P>,
    size: impl FnMut(&str) -> Result<usize, WitnessError>,
) -> WitnessError {
    match symbols.map(|symbols| names::not_given(symbols, inputs, size)) {
        Some(Err(error)) => error,
        Some(Ok(signals)) if !signals.is_empty() => WitnessError::Signals(names::missing(&signals)),
        _ => {
            WitnessError::Missing(format!("only {found} of the circuit's {expected} input values are given"))
        }
    }
}
