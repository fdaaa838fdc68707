//! The functions that circom's WASM imports.

use super::{Event, EventObserver, Limits, one_line};
use crate::{error::WitnessError, input::shown, number::element};
use proofmill_circom::{ScalarPrime, Symbols};
use proofmill_field::Fp;
use std::fmt;
use wasmi::{
    AsContextMut, Caller, Error, Extern, ExternType, ImportType, Linker, Memory, Module, Store, StoreLimits,
    StoreLimitsBuilder, TrapCode, TypedFunc, errors::HostError,
};

/// The most characters of a message, and bytes of all log lines.
pub(crate) const LONGEST_MESSAGE: usize = 1 << 10;
pub(crate) const LONGEST_LOG: usize = 1 << 20;
/// The most messages of an error: one for each component that contains the next.
const MOST_MESSAGES: usize = 100;

/// The host functions' state of a running circuit.
pub(super) struct Host<P: ScalarPrime> {
    pub(super) limits: StoreLimits,
    /// Whether steps are limited.
    pub(super) counts_steps: bool,
    /// The circuit's memory, once it has one.
    pub(super) memory: Option<Memory>,
    /// The messages of the assertion that fails.
    pub(super) trace: Vec<String>,
    /// Circom 1's component and signal of the error.
    pub(super) place: ErrorPlace,
    pub(super) observer: Option<EventObserver<P>>,
    /// Whether to report more than `log()`, and check more than assertions and constraints.
    pub(super) debug: bool,
    /// The words of the current line of `log()`.
    words: Vec<String>,
    log_bytes: usize,
    /// Whether a string can be logged, since circom 2.0.7: then each line ends by a message of its own.
    logs_strings: bool,
    /// Whether a host function calls the circuit. The circuit must not call the host there, which could nest without end.
    calls_circuit: bool,
}

/// The component and the signal of circom 1's error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ErrorPlace {
    pub(super) component: Option<u32>,
    pub(super) signal: Option<u32>,
}

impl ErrorPlace {
    /// Their names, as words of a message.
    pub(super) fn named(self, symbols: &Symbols) -> Option<String> {
        let is = |number: Option<u32>, found: u64| number.is_some_and(|number| u64::from(number) == found);
        let signal = symbols.each().find(|symbol| is(self.signal, symbol.label));
        let component = symbols.each().find(|symbol| is(self.component, symbol.component));
        match (signal, component) {
            (Some(signal), _) => Some(format!("signal {}", shown(signal.name))),
            (None, Some(component)) => Some(format!("in {}", shown(component.component_name()))),
            (None, None) => None,
        }
    }
}

impl<P: ScalarPrime> Host<P> {
    pub(super) fn new(limits: Limits, observer: Option<EventObserver<P>>, debug: bool) -> Self {
        let memory = usize::try_from(limits.memory).unwrap_or(usize::MAX);
        let counts_steps = limits.steps.is_some();
        let limits =
            StoreLimitsBuilder::new().memory_size(memory).memories(2).tables(4).table_elements(1 << 20);
        Self {
            limits: limits.build(),
            counts_steps,
            memory: None,
            trace: Vec::new(),
            place: ErrorPlace::default(),
            observer,
            debug,
            words: Vec::new(),
            log_bytes: 0,
            logs_strings: false,
            calls_circuit: false,
        }
    }

    pub(super) fn report(&self, event: Event<'_, P>) {
        if let Some(observer) = &self.observer {
            observer(event);
        }
    }

    fn word(&mut self, word: String) {
        self.log_bytes += word.len() + 1;
        if self.log_bytes <= LONGEST_LOG {
            self.words.push(word);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.words).join(" ");
        self.log_bytes += 1;
        if self.log_bytes <= LONGEST_LOG {
            self.report(Event::Log(&line));
        }
    }

    /// A line of `log()` that is a number.
    pub(super) fn log_number(&mut self, value: Fp<P>) {
        self.word(value.to_string());
        self.end_line();
    }
}

/// An exception that a circuit raises.
#[derive(Clone, Debug)]
pub(super) struct Exception(pub(super) WitnessError);

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl HostError for Exception {}

/// The error of an exception's code.
fn exception(code: i32, problem: &str) -> WitnessError {
    let at = |text: &str| if problem.is_empty() { text.to_owned() } else { format!("{text}: {problem}") };
    match code {
        1 => WitnessError::Signals(at("the circuit has no such input")),
        2 => WitnessError::Signals(at("more inputs than the circuit has")),
        3 => WitnessError::Signals(at("an input is set twice")),
        4 => unsatisfied(at("an assertion or constraint of the circuit fails")),
        5 => WitnessError::Limit(at("the circuit has not enough memory")),
        6 => WitnessError::Signals(at("more values than an input has")),
        7 => unsatisfied(at("the circuit reads an array out of its bounds")),
        _ => unsatisfied(at(&format!("the circuit raises the unknown exception {code}"))),
    }
}

/// The error of inputs that violate the circuit.
pub(super) fn unsatisfied(problem: String) -> WitnessError {
    WitnessError::Unsatisfied { problem, values: None }
}

/// Refuses an import that is not circom's.
pub(super) fn expect_known(import: &ImportType<'_>) -> Result<(), WitnessError> {
    const FUNCTIONS: [&str; 11] = [
        "exceptionHandler",
        "printErrorMessage",
        "writeBufferMessage",
        "showSharedRWMemory",
        "printDebug",
        "error",
        "log",
        "logGetSignal",
        "logSetSignal",
        "logStartComponent",
        "logFinishComponent",
    ];
    let known = match import.ty() {
        ExternType::Func(_) => import.module() == "runtime" && FUNCTIONS.contains(&import.name()),
        ExternType::Memory(_) => import.module() == "env" && import.name() == "memory",
        _ => false,
    };
    if known {
        return Ok(());
    }
    let (module, name) = (one_line(import.module()), one_line(import.name()));
    Err(WitnessError::Program(format!("not a circuit of circom's: it imports {module}.{name}")))
}

/// Defines the functions that circom's modules import.
pub(super) fn define<P: ScalarPrime>(
    linker: &mut Linker<Host<P>>,
    store: &mut Store<Host<P>>,
    module: &Module,
) -> Result<(), Error> {
    store.data_mut().logs_strings = module.imports().any(|import| import.name() == "writeBufferMessage");
    linker.func_wrap("runtime", "exceptionHandler", |caller: Caller<'_, Host<P>>, code: i32| {
        Err::<(), _>(Error::host(Exception(exception(code, &caller.data().trace.join("; ")))))
    })?;
    linker.func_wrap("runtime", "printErrorMessage", |mut caller: Caller<'_, Host<P>>| {
        let message = message(&mut caller)?;
        let trace = &mut caller.data_mut().trace;
        if trace.len() < MOST_MESSAGES {
            trace.push(one_line(message.trim()));
        }
        Ok::<(), Error>(())
    })?;
    linker.func_wrap("runtime", "writeBufferMessage", |mut caller: Caller<'_, Host<P>>| {
        let message = message(&mut caller)?;
        let host = caller.data_mut();
        if message == "\n" {
            host.end_line()
        } else {
            host.word(one_line(&message))
        }
        Ok::<(), Error>(())
    })?;
    linker.func_wrap("runtime", "showSharedRWMemory", |mut caller: Caller<'_, Host<P>>| {
        let value = shared_value(&mut caller)?;
        let host = caller.data_mut();
        host.word(value);
        if !host.logs_strings {
            host.end_line();
        }
        Ok::<(), Error>(())
    })?;
    linker.func_wrap("runtime", "printDebug", |_: i32| ())?;
    Ok(())
}

/// Reads the message that the circuit has for its host.
fn message<P: ScalarPrime>(caller: &mut Caller<'_, Host<P>>) -> Result<String, Error> {
    let next = caller.get_export("getMessageChar").and_then(Extern::into_func);
    let next = next.ok_or_else(|| Error::new("it does not export getMessageChar"))?;
    let next = next.typed::<(), i32>(&*caller)?;
    let mut message = String::new();
    while message.len() < LONGEST_MESSAGE {
        match call(caller, &next)? {
            0 => break,
            byte => message.push(char::from(byte as u8)),
        }
    }
    Ok(message)
}

/// Calls the circuit, but not while another host function does.
fn call<P: ScalarPrime>(
    caller: &mut Caller<'_, Host<P>>,
    function: &TypedFunc<(), i32>,
) -> Result<i32, Error> {
    if std::mem::replace(&mut caller.data_mut().calls_circuit, true) {
        return Err(Error::new("its functions for messages call the host"));
    }
    let result = function.call(caller.as_context_mut(), ());
    caller.data_mut().calls_circuit = false;
    result
}

/// The number in the buffer that the circuit shares with its host.
fn shared_value<P: ScalarPrime>(caller: &mut Caller<'_, Host<P>>) -> Result<String, Error> {
    let start = caller.get_export("getSharedRWMemoryStart").and_then(Extern::into_func);
    let start = start.ok_or_else(|| Error::new("it does not export getSharedRWMemoryStart"))?;
    let start = start.typed::<(), i32>(&*caller)?;
    let start = call(caller, &start)?;
    let memory = caller.get_export("memory").and_then(Extern::into_memory);
    let memory = memory.ok_or_else(|| Error::new("it does not export its memory"))?;
    let mut bytes = [0; 32];
    memory.read(&*caller, start as u32 as usize, &mut bytes).map_err(|_| TrapCode::MemoryOutOfBounds)?;
    Ok(element::<P>(&bytes)
        .map_or_else(|| "a number that is not below the modulus".to_owned(), |value| value.to_string()))
}
