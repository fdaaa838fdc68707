//! Circuits compiled from their WASM to a [`Graph`], by executing the WASM once on inputs that are not known.

mod assembler;
mod code;
mod field;
mod file;
mod interface;
mod machine;
mod memory;
mod module;
mod nodes;
mod value;

pub use file::embedded_wasm;

use crate::{
    error::WitnessError,
    graph::{Graph, Part, Source, Stop, Values},
    input::Inputs,
    wasm::{Event, Limits, Program, Settings, native, prelude},
};
use machine::Machine;
use module::Module;
use proofmill_circom::{ScalarPrime, Symbols};
use proofmill_field::{Field, Fp, bn254::FrParams};
use std::{fmt, sync::Arc, thread};
use zeroize::Zeroizing;

/// Why a way through a circuit is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It ends in an error of the circuit's.
    Fails,
    /// All steps are taken.
    Steps,
    /// It takes too many steps that the sample does not take.
    Long,
    /// There are too many calls or branches within each other.
    Deep,
    /// It needs more memory than it may have.
    Memory,
    /// It uses memory that it does not have.
    Outside,
    /// It reads what differs between branches before.
    Mixed,
    /// It reads or writes bytes of an element that depends on inputs.
    Bytes,
    /// It has bytes that are no field element.
    NoElement,
    /// It prints where a condition depends on inputs.
    Prints,
    /// The sample's inputs are not the circuit's.
    Inputs,
    /// It does what circom's WASM does not.
    Unknown,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fails => "an assertion fails for these inputs",
            Self::Steps => "it takes more steps than it may",
            Self::Long => "a branch takes too many steps",
            Self::Deep => "it calls or branches too deeply",
            Self::Memory => "it needs more memory than it may have",
            Self::Outside => "it uses memory that it does not have",
            Self::Mixed => "it reads what differs between the branches before",
            Self::Bytes => "it uses single bytes of an element that depends on inputs",
            Self::NoElement => "it has bytes that are no field element",
            Self::Prints => "it prints where a condition depends on inputs",
            Self::Inputs => "the inputs are not the circuit's",
            Self::Unknown => "it does what circom's WASM does not",
        })
    }
}

/// A part of what a circuit prints.
#[derive(Clone, Debug)]
enum Print<V> {
    Word(String),
    Value(V),
    EndOfLine,
}

/// A circuit that was compiled from its WASM: a graph for inputs like those of a sample, and the WASM for all others.
///
/// The graph has what the circuit does where conditions depend on inputs, and guards for what it does not have: a loop as often, an
/// index as for the sample, assertions. Where a guard fails, the WASM is run.
pub struct Compiled<P: ScalarPrime = FrParams> {
    graph: Graph<P>,
    prints: Vec<Print<Source>>,
    wasm: Part,
    settings: Settings<P>,
}

impl<P: ScalarPrime> fmt::Debug for Compiled<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("steps", &self.graph.tape.steps)
            .field("places", &self.graph.tape.places)
            .field("wires", &self.graph.wires.len())
            .finish_non_exhaustive()
    }
}

/// The stack of the thread that executes the circuit, for its calls within calls.
const STACK: usize = 1 << 28;

impl<P: ScalarPrime> Compiled<P> {
    /// Compiles a WASM, for inputs like these.
    ///
    /// # Errors
    /// [`WitnessError::Program`] if it cannot be compiled, if an assertion fails for these inputs, or if they are not the circuit's;
    /// [`WitnessError::Limit`].
    pub fn new(wasm: &[u8], inputs: &Inputs<P>, limits: Limits) -> Result<Self, WitnessError> {
        let problem =
            |problem: &str| WitnessError::Program(format!("the circuit cannot be compiled: {problem}"));
        if !prelude::is_known(wasm) {
            return Err(problem("its functions for field elements are not known"));
        }
        let module = Module::decode(wasm, native::at).map_err(|reason| problem(&reason))?;
        let run = || Self::execute(&module, wasm, inputs, limits);
        let compiled = thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
            thread.map(|thread| thread.join())
        });
        match compiled {
            Ok(Ok(Ok(compiled))) => Ok(compiled),
            Ok(Ok(Err(Way::Steps))) => Err(WitnessError::too_many_steps()),
            Ok(Ok(Err(way))) => Err(problem(&way.to_string())),
            Ok(Err(_)) => Err(problem("its thread ended")),
            Err(error) => Err(problem(&format!("no thread: {error}"))),
        }
    }

    fn execute(module: &Module, wasm: &[u8], inputs: &Inputs<P>, limits: Limits) -> Result<Self, Way> {
        let mut machine = Machine::new(module, limits)?;
        let (places, wires) = interface::run(&mut machine, inputs)?;
        let Machine { nodes, guards, prints, .. } = machine;
        let printed = prints.iter().filter_map(|print| match print {
            Print::Value(node) => Some(*node),
            Print::Word(_) | Print::EndOfLine => None,
        });
        let outputs: Vec<u32> = wires.iter().copied().chain(printed).collect();
        let (tape, constants, mut sources) = nodes.finish(&outputs, &guards);
        let mut printed = sources.split_off(wires.len()).into_iter();
        let prints = prints.into_iter().filter_map(|print| {
            Some(match print {
                Print::Word(word) => Print::Word(word),
                Print::EndOfLine => Print::EndOfLine,
                Print::Value(_) => Print::Value(printed.next()?),
            })
        });
        let prints = prints.collect();
        let graph = Graph::new(tape, constants, sources, places).map_err(|_| Way::Unknown)?;
        Ok(Self { graph, prints, wasm: wasm.to_vec().into(), settings: Settings::new(limits) })
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

    /// The circuit in the interpreter.
    ///
    /// # Errors
    /// [`WitnessError::Program`] if its WASM is malformed.
    pub fn program(&self) -> Result<Program<P>, WitnessError> {
        Program::with_settings(&self.wasm, self.settings.clone())
    }

    /// The value of every wire, the first of which is 1, as [`Program::calculate`] gives it.
    ///
    /// # Errors
    /// Those of [`Program::calculate`].
    pub fn calculate(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        match self.evaluate(inputs)? {
            Some(witness) => Ok(witness),
            None => self.program()?.calculate(inputs),
        }
    }

    /// What the graph gives; `None` if it is not for these inputs.
    ///
    /// # Errors
    /// [`WitnessError::Program`] if it is malformed.
    pub fn evaluate(&self, inputs: &Inputs<P>) -> Result<Option<Zeroizing<Vec<Fp<P>>>>, WitnessError> {
        let given = match self.graph.given(inputs) {
            // The circuit itself knows best what is wrong with them.
            Err(WitnessError::Signals(_)) => return Ok(None),
            given => given?,
        };
        let values = match Values::of(&self.graph.tape, &self.graph.constants, &given) {
            Ok(values) => values,
            Err(Stop::Guard) => return Ok(None),
            Err(Stop::Malformed) => {
                return Err(WitnessError::Program(
                    "the compiled circuit's operations are malformed".to_owned(),
                ));
            }
        };
        if let Some(observer) = &self.settings.observer {
            self.report(&**observer, &values);
        }
        self.graph.witness(&values).map(Some)
    }

    /// Reports the lines that the circuit prints.
    fn report(&self, observer: &dyn Fn(Event<'_, P>), values: &Values<'_, P>) {
        let mut words = Vec::new();
        for print in &self.prints {
            match print {
                Print::Word(word) => words.push(word.clone()),
                Print::Value(source) => {
                    words.push(values.get(*source).unwrap_or(Fp::ZERO).to_string());
                }
                Print::EndOfLine => {
                    observer(Event::Log(&words.join(" ")));
                    words.clear();
                }
            }
        }
    }
}
