//! The machine that executes a circuit's WASM on inputs that are known, for a witness, or that are nodes of a graph, to compile it.

mod assembler;
mod code;
mod execution;
mod field;
mod interface;
mod memory;
mod module;
mod nodes;
mod recognition;
mod value;

use crate::{
    graph::{InputRange, Tape, ValueSource},
    input::Inputs,
    wasm::{Event, EventObserver, Limits, element::Invalid},
};
use execution::WasmMachine;
use memory::ElementOperand;
pub(crate) use module::{Module, Reason};
use proofmill_circom::ScalarPrime;
use proofmill_field::Fp;
pub(crate) use recognition::decode;
use std::{collections::BTreeMap, fmt, thread};
use zeroize::Zeroizing;

/// Why a way through a circuit is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The way ends in an error of the circuit.
    Fails,
    /// The limit of steps is reached.
    Steps,
    /// The way takes too many steps that the sample does not take.
    Long,
    /// There are too many calls or branches within each other.
    Deep,
    /// The circuit needs more memory than the limit.
    Memory,
    /// The graph has more nodes than the limit.
    Large,
    /// The circuit uses memory that it does not have.
    Outside,
    /// The way reads a value that differs between earlier branches.
    Mixed,
    /// The way reads or writes bytes of an element that depends on inputs.
    Bytes,
    /// Bytes in memory are no field element.
    NoElement,
    /// The circuit prints where a condition depends on inputs.
    Prints,
    /// The inputs are not the circuit's.
    Inputs,
    /// The circuit is over another field.
    Field,
    /// There is no thread for it.
    Thread,
    /// The WASM does something that circom's never does.
    Unknown,
}

impl From<Invalid> for Way {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Outside => Self::Outside,
            Invalid::TooLarge => Self::NoElement,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fails => "an assertion fails for these inputs",
            Self::Steps => "it takes more steps than it may",
            Self::Long => "a branch takes too many steps",
            Self::Deep => "it calls or branches too deeply",
            Self::Memory => "it needs more memory than it may have",
            Self::Large => "it is larger than it may be",
            Self::Outside => "it uses memory that it does not have",
            Self::Mixed => "it reads what differs between the branches before",
            Self::Bytes => "it uses single bytes of an element that depends on inputs",
            Self::NoElement => "it has bytes that are no field element",
            Self::Prints => "it prints where a condition depends on inputs",
            Self::Inputs => "the inputs are not the circuit's",
            Self::Field => "it is over another field",
            Self::Thread => "there is no thread for it",
            Self::Unknown => "it does what circom's WASM does not",
        })
    }
}

/// A part of a line that a circuit prints.
#[derive(Clone, Debug)]
pub(crate) enum Print<V> {
    Word(String),
    Value(V),
    EndOfLine,
}

impl<V> Print<V> {
    pub(crate) fn value(&self) -> Option<&V> {
        match self {
            Self::Value(value) => Some(value),
            Self::Word(_) | Self::EndOfLine => None,
        }
    }

    /// Reports the lines that a circuit prints, with these values.
    pub(crate) fn report<'a, P: ScalarPrime>(
        prints: &[Self],
        mut values: impl Iterator<Item = &'a Fp<P>>,
        observer: &dyn Fn(Event<'_, P>),
    ) {
        let mut words = Vec::new();
        for print in prints {
            match print {
                Self::Word(word) => words.push(word.clone()),
                Self::Value(_) => words.extend(values.next().map(Fp::to_string)),
                Self::EndOfLine => {
                    observer(Event::Log(&words.join(" ")));
                    words.clear();
                }
            }
        }
    }
}

/// A circuit's operations on inputs like a sample's.
pub(crate) struct CircuitTrace<P: ScalarPrime> {
    pub(crate) tape: Tape,
    pub(crate) constants: Vec<Fp<P>>,
    /// The place of each wire's value.
    pub(crate) wires: Vec<ValueSource>,
    pub(crate) prints: Vec<Print<ValueSource>>,
    /// The positions of inputs by name.
    pub(crate) inputs: BTreeMap<String, InputRange>,
}

impl<P: ScalarPrime> CircuitTrace<P> {
    /// Executes a circuit with inputs that are nodes, and makes at most `most_nodes` nodes.
    pub(crate) fn new(
        module: &Module,
        sample: &Inputs<P>,
        limits: Limits,
        most_nodes: usize,
    ) -> Result<Self, Way> {
        on_large_stack(|| {
            let mut machine = WasmMachine::<P, true>::new(module, limits)?;
            machine.most_nodes = most_nodes;
            let inputs = interface::run(&mut machine, sample)?;
            let count = interface::count_of_wires(&mut machine)?;
            let mut wires = Vec::with_capacity(count as usize);
            for index in 0..count {
                let value = interface::wire(&mut machine, index)?;
                wires.push(machine.nodes.node(value));
            }
            let WasmMachine { nodes, guards, prints, .. } = machine;
            let printed = prints.iter().filter_map(Print::value);
            let outputs: Vec<u32> = wires.iter().chain(printed).copied().collect();
            let (tape, constants, mut sources) = nodes.finish(&outputs, &guards);
            let mut printed = sources.split_off(wires.len()).into_iter();
            let prints = prints.into_iter().filter_map(|print| {
                Some(match print {
                    Print::Word(word) => Print::Word(word),
                    Print::EndOfLine => Print::EndOfLine,
                    Print::Value(_) => Print::Value(printed.next()?),
                })
            });
            Ok(Self { tape, constants, wires: sources, prints: prints.collect(), inputs })
        })
    }
}

/// Executes a circuit with these inputs, and returns the value of every wire.
///
/// Errors do not say what is wrong with the inputs; those of [`crate::wasm::Interpreter`] do.
pub(crate) fn calculate<P: ScalarPrime>(
    module: &Module,
    inputs: &Inputs<P>,
    limits: Limits,
    observer: Option<&EventObserver<P>>,
) -> Result<Zeroizing<Vec<Fp<P>>>, Way> {
    on_large_stack(|| {
        let mut machine = WasmMachine::<P, false>::new(module, limits)?;
        interface::run(&mut machine, inputs)?;
        let count = interface::count_of_wires(&mut machine)?;
        let mut wires = Zeroizing::new(Vec::with_capacity(count as usize));
        for index in 0..count {
            wires.push(match interface::wire(&mut machine, index)? {
                ElementOperand::Known(element) => element.value(),
                ElementOperand::Node(node) => machine.nodes.value(node),
            });
        }
        if let Some(observer) = observer {
            let values =
                machine.prints.iter().filter_map(Print::value).map(|node| machine.nodes.value(*node));
            let values: Zeroizing<Vec<_>> = Zeroizing::new(values.collect());
            Print::report(&machine.prints, values.iter(), &**observer);
        }
        Ok(wires)
    })
}

/// The stack of the thread that executes the circuit, for its calls within calls.
const STACK: usize = 1 << 28;

fn on_large_stack<T: Send>(execute: impl FnOnce() -> Result<T, Way> + Send) -> Result<T, Way> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, execute);
        thread.map_err(|_| Way::Thread)?.join().map_err(|_| Way::Thread)?
    })
}
