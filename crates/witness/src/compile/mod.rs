//! Compiles circuits from their WASM to a [`Graph`], by executing the WASM once on unknown inputs.

mod file;

pub use file::embedded_wasm;

use crate::{
    curves,
    error::WitnessError,
    graph::{FilePart, Graph, ValueSource, evaluate::Stop},
    input::Inputs,
    machine::{CircuitTrace, Print, Way},
    program::Program,
    wasm::{Event, Limits, RunSettings, expect_one},
};
use proofmill_circom::{ScalarPrime, Symbols};
use proofmill_field::{Fp, bn254::FrParams};
use std::{fmt, sync::Arc};
use zeroize::Zeroizing;

/// A circuit that was compiled from its WASM: a graph for inputs like those of a sample, and the WASM for all others.
///
/// The graph has both ways of a branch that depends on inputs. Guards check what it fixes as for the sample: the number of a loop's
/// passes, an index, assertions. If a guard fails, the WASM is run.
pub struct Compiled<P: ScalarPrime = FrParams> {
    graph: Graph<P>,
    prints: Vec<Print<ValueSource>>,
    wasm: FilePart,
    settings: RunSettings<P>,
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

impl<P: ScalarPrime> Compiled<P> {
    /// Compiles a WASM, for inputs like these.
    ///
    /// # Errors
    /// [`WitnessError::Program`] if it cannot be compiled, if an assertion fails for these inputs, or if they are not the circuit's;
    /// [`WitnessError::Limit`].
    pub fn new(wasm: &[u8], inputs: &Inputs<P>, limits: Limits) -> Result<Self, WitnessError> {
        Self::of_at_most(usize::MAX, wasm, inputs, limits)
    }

    /// [`Self::new`] with a limit of operations, unneeded ones included. Each takes about a microsecond and 100 bytes of memory.
    ///
    /// # Errors
    /// As [`Self::new`], and [`WitnessError::Limit`] for more.
    pub fn of_at_most(
        operations: usize,
        wasm: &[u8],
        inputs: &Inputs<P>,
        limits: Limits,
    ) -> Result<Self, WitnessError> {
        let problem =
            |problem: &str| WitnessError::Program(format!("the circuit cannot be compiled: {problem}"));
        let module = curves::decode::<P>(wasm, limits).map_err(|reason| problem(&reason))?;
        let trace = curves::trace(&module, inputs, limits, operations).map_err(|way| match way {
            Way::Steps => WitnessError::too_many_steps(),
            Way::Large => {
                WitnessError::Limit(format!("the compiled circuit has more than {operations} operations"))
            }
            way => problem(&way.to_string()),
        })?;
        let CircuitTrace { tape, constants, wires, prints, inputs } = trace;
        let graph = Graph::new(tape, constants, wires, inputs).map_err(|text| problem(&text))?;
        Ok(Self { graph, prints, wasm: wasm.to_vec().into(), settings: RunSettings::new(limits) })
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

    /// The values of all wires, as [`Program::calculate`] returns them; the first is 1.
    ///
    /// # Errors
    /// The errors of [`Program::calculate`].
    pub fn calculate(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        match self.evaluate(inputs)? {
            Some(witness) => Ok(witness),
            None => self.program()?.calculate(inputs),
        }
    }

    /// The wires' values from the graph; `None` if a guard fails on these inputs.
    ///
    /// # Errors
    /// [`WitnessError::Program`] if it is malformed.
    pub fn evaluate(&self, inputs: &Inputs<P>) -> Result<Option<Zeroizing<Vec<Fp<P>>>>, WitnessError> {
        let given = match self.graph.given(inputs) {
            // The circuit itself knows best what is wrong with them.
            Err(WitnessError::Signals(_)) => return Ok(None),
            given => given?,
        };
        // Those that are printed come behind the wires.
        let printed: Vec<ValueSource> = match &self.settings.observer {
            Some(_) => self.prints.iter().filter_map(Print::value).copied().collect(),
            None => Vec::new(),
        };
        let Graph { tape, constants, wires, .. } = &self.graph;
        let mut values = match curves::evaluated(tape, constants, &given, &[wires, &printed]) {
            Ok(values) => values,
            // These inputs take another way than the sample: the WASM itself has to be run.
            Err(Stop::Guard) => return Ok(None),
            Err(Stop::Malformed) => {
                return Err(WitnessError::Program(
                    "the compiled circuit's operations are malformed".to_owned(),
                ));
            }
        };
        if let Some(observer) = &self.settings.observer {
            let printed = Zeroizing::new(values.split_off(wires.len()));
            Print::report(&self.prints, printed.iter(), &**observer);
        }
        expect_one(&values)?;
        Ok(Some(values))
    }
}
