//! Witnesses from a circuit's inputs.

use super::{PairingCurve, ScalarPrime, Symbols, Witness, is_file};
use crate::{Error, Result, error::Names};
use proofmill_field::bn254::FrParams;
use proofmill_files::{FileBytes, FileName, read_file_at_most, write_bytes};
use proofmill_witness::{Compiled, Graph, Inputs, LARGEST_INPUT, Program};
pub use proofmill_witness::{Event, Limits, NATIVE_FUNCTIONS, WitnessError, embedded_wasm};
use std::{fs::File, io::Read, path::Path};
use zeroize::Zeroizing;

/// The most bytes of a circuit.
const LARGEST_CIRCUIT: u64 = 1 << 30;
/// The limit of operations for circuits that are compiled unasked: a number for each wire, and the least limit of all. Most circuits have 3 to 10
/// for each wire.
const OPERATIONS_FOR_A_WIRE: usize = 32;
const LEAST_BOUND: usize = 1 << 20;

/// A circuit that calculates witnesses from its inputs. It is the WASM that `circom --wasm` writes, of circom 1 (0.5) or
/// 2, the result of [`compile`](Self::compile), which is many times faster, or a graph of circom-witnesscalc, which checks
/// no assertions. The first bytes and the exports decide.
///
/// The WASM runs in an interpreter with no functions of the host but those that circom's circuits report by. It may be hostile: it is
/// confined to its [`Limits`]. Without a limit of its steps it may run for ever.
///
/// ```
/// use proofmill::circom::WitnessCalculator;
///
/// # fn main() -> proofmill::Result<()> {
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../witness/tests/data");
/// # std::env::set_current_dir(folder).expect("the example");
/// let circuit = WitnessCalculator::open("inputs.wasm")?;
/// let witness = circuit.calculate(br#"{"a": "0x2", "b": [[1, 2, 3], ["-4", 5, 6]]}"#)?;
/// println!("{} wires", witness.values().len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WitnessCalculator<P: ScalarPrime = FrParams> {
    circuit: Circuit<P>,
    name: Option<FileName>,
}

#[derive(Debug)]
enum Circuit<P: ScalarPrime> {
    Wasm(Program<P>),
    Graph(Graph<P>),
    Compiled(Compiled<P>),
}

/// The end of a run that is debugged.
#[derive(Debug)]
pub struct Debugged<P: ScalarPrime = FrParams> {
    /// Why there is no witness.
    pub error: Option<Error>,
    /// The value of every wire. If an assertion fails, wires without a value are 0. Empty after other errors.
    pub witness: Witness<P>,
}

impl WitnessCalculator {
    /// Reads a compiled circuit over BN254's scalar field.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but a circuit of circom's.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_over(path)
    }

    /// [`Self::open`] with limits of memory and steps.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with_limits(path: impl AsRef<Path>, limits: Limits) -> Result<Self> {
        Self::read(path.as_ref(), limits)
    }

    /// Decodes the bytes of a compiled circuit.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::with_limits(bytes, Limits::default())
    }

    /// [`Self::from_bytes`] with limits of memory and steps.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn with_limits(bytes: &[u8], limits: Limits) -> Result<Self> {
        Self::decode(FileBytes::Owned(bytes.to_vec()), limits, None)
    }
}

impl<P: ScalarPrime> WitnessCalculator<P> {
    /// Reads a compiled circuit over any curve's scalar field.
    ///
    /// # Errors
    /// As [`WitnessCalculator::open`].
    pub fn open_over(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(path.as_ref(), Limits::default())
    }

    /// Compiles a circuit's WASM to one list of operations, which calculates the same witnesses many times faster. It has both ways of branches that
    /// depend on inputs. If a loop's length or an index depends on them, it is for inputs with the same lengths and indices; for others it runs the
    /// WASM, which it contains.
    ///
    /// # Errors
    /// Those of [`Self::calculate_file`], and [`Error::Malformed`] if the WASM cannot be compiled: if its
    /// functions for field elements are not those that circom writes, for one.
    pub fn compile(wasm: impl AsRef<Path>, inputs: impl AsRef<Path>) -> Result<Self> {
        let (wasm, inputs) = (wasm.as_ref(), inputs.as_ref());
        let names = [wasm, inputs].map(FileName::new);
        Self::compile_named(&read_circuit(wasm)?, &read_inputs(inputs)?, names.each_ref().map(Some), None)
    }

    /// [`Self::compile`] of bytes.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compile_bytes(wasm: &[u8], inputs_json: &[u8]) -> Result<Self> {
        Self::compile_named(wasm, inputs_json, [None; 2], None)
    }

    /// [`Self::compile_bytes`] of circuits that compile in not much more time than a few witnesses take.
    pub(super) fn compile_small(wasm: &[u8], inputs_json: &[u8]) -> Result<Self> {
        Self::compile_named(wasm, inputs_json, [None; 2], Some(OPERATIONS_FOR_A_WIRE))
    }

    /// [`Self::compile_bytes`] with a limit of operations for each wire.
    fn compile_named(
        bytes: &[u8],
        inputs: &[u8],
        [name, of_inputs]: [Option<&FileName>; 2],
        for_a_wire: Option<usize>,
    ) -> Result<Self> {
        let failed = |error| Names { circuit: name, witness: of_inputs, ..Names::default() }.of(error);
        let values = Inputs::from_json(inputs).map_err(failed)?;
        // Its errors are more precise, and its witness is what the other's must be.
        let expected =
            Program::from_bytes(bytes, Limits::default()).and_then(|program| program.calculate(&values));
        let expected = expected.map_err(failed)?;
        let most = for_a_wire.map_or(usize::MAX, |count| LEAST_BOUND.max(expected.len() * count));
        let compiled = Compiled::of_at_most(most, bytes, &values, Limits::default()).map_err(failed)?;
        if compiled.evaluate(&values).map_err(failed)?.as_deref() != Some(&*expected) {
            let problem = "the compiled circuit's witness is not the circuit's; please report this";
            return Err(failed(WitnessError::Program(problem.to_owned())));
        }
        Ok(Self { circuit: Circuit::Compiled(compiled), name: name.cloned() })
    }

    /// Writes a compiled circuit, completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Mismatch`] if it is not compiled.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        match &self.circuit {
            Circuit::Compiled(compiled) => Ok(write_bytes(path.as_ref(), &compiled.to_bytes())?),
            _ => Err(Names::mismatch(None, "only a compiled circuit can be saved")),
        }
    }

    fn read(path: &Path, limits: Limits) -> Result<Self> {
        Self::decode(open_circuit(path)?, limits, Some(FileName::new(path)))
    }

    /// Decodes the bytes of a file.
    pub(super) fn decode_file(bytes: FileBytes, path: &Path) -> Result<Self> {
        Self::decode(bytes, Limits::default(), Some(FileName::new(path)))
    }

    /// Decodes bytes.
    pub(super) fn decode_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::decode(FileBytes::Owned(bytes), Limits::default(), None)
    }

    fn decode(bytes: FileBytes, limits: Limits, name: Option<FileName>) -> Result<Self> {
        let circuit = if bytes.starts_with(Graph::<P>::MAGIC) {
            Graph::from_bytes(&bytes).map(Circuit::Graph)
        } else if bytes.starts_with(&Compiled::<P>::MAGIC) {
            Compiled::from_file(bytes, limits).map(Circuit::Compiled)
        } else {
            Program::from_bytes(&bytes, limits).map(Circuit::Wasm)
        };
        match circuit {
            Ok(circuit) => Ok(Self { circuit, name }),
            Err(error) => Err(Names { circuit: name.as_ref(), ..Names::default() }.of(error)),
        }
    }

    /// The names of circom's functions for field elements that are interpreted, because the WASM's own functions are not those of
    /// known versions. With them a witness takes many times longer.
    pub fn interpreted_functions(&self) -> Vec<&'static str> {
        match &self.circuit {
            Circuit::Wasm(program) => program.interpreted_functions(),
            Circuit::Graph(_) | Circuit::Compiled(_) => Vec::new(),
        }
    }

    /// Whether it reports when it reads and sets signals, as circom 1's programs do.
    pub fn reports_signals(&self) -> bool {
        matches!(&self.circuit, Circuit::Wasm(program) if program.reports_signals())
    }

    /// A function that receives what the WASM reports: the lines that it prints by `log()`, which may
    /// be secret, and in [`Self::debug_file`] all events.
    #[must_use]
    pub fn on_event(mut self, observer: impl Fn(Event<'_, P>) + Send + Sync + 'static) -> Self {
        self.circuit = match self.circuit {
            Circuit::Wasm(program) => Circuit::Wasm(program.on_event(observer)),
            Circuit::Compiled(compiled) => Circuit::Compiled(compiled.on_event(observer)),
            graph => graph,
        };
        self
    }

    /// The names of the circuit's signals, from which errors name missing inputs and the component whose assertion fails.
    #[must_use]
    pub fn with_symbols(mut self, symbols: Symbols) -> Self {
        self.circuit = match self.circuit {
            Circuit::Wasm(program) => Circuit::Wasm(program.with_symbols(symbols.symbols)),
            Circuit::Compiled(compiled) => Circuit::Compiled(compiled.with_symbols(symbols.symbols)),
            graph => graph,
        };
        self
    }

    /// Calculates the witness of these inputs, the text of an `input.json`: an object with a number or nested arrays of numbers for
    /// each signal. Numbers are decimal, or hexadecimal, octal or binary after `0x`, `0o` or `0b`; negative and large ones are reduced
    /// modulo the field's prime. Those above 2^64 are in quotes.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a text of another form and for a program that does not work, [`Error::Mismatch`] for inputs that are
    /// not the circuit's (its cause is [`WitnessError::Missing`] if some are missing that
    /// [`Self::with_symbols`] could name), [`Error::Unsatisfied`] for an assertion
    /// that fails, with the template and line that the circuit reports.
    pub fn calculate(&self, inputs_json: &[u8]) -> Result<Witness<P>> {
        self.run(inputs_json, None)
    }

    /// [`Self::calculate`] with the inputs in a file.
    ///
    /// # Errors
    /// As [`Self::calculate`], and [`Error::Io`].
    pub fn calculate_file(&self, path: impl AsRef<Path>) -> Result<Witness<P>> {
        let path = path.as_ref();
        self.run(&read_inputs(path)?, Some(&FileName::new(path)))
    }

    /// [`Self::calculate_file`] with all checks that circom's WASM has, such as that no signal is set twice, all events, and the values
    /// where it ends.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Malformed`] for anything but JSON of inputs.
    pub fn debug_file(&self, path: impl AsRef<Path>) -> Result<Debugged<P>> {
        let path = path.as_ref();
        let (text, name) = (read_inputs(path)?, FileName::new(path));
        let names = Names { circuit: self.name.as_ref(), witness: Some(&name), ..Names::default() };
        let failed = |error| names.of(error);
        let inputs = Inputs::from_json(&text).map_err(failed)?;
        let debug = |program: &Program<P>| {
            let debugged = program.debug(&inputs);
            (debugged.error, debugged.values)
        };
        let (error, values) = match &self.circuit {
            Circuit::Wasm(program) => debug(program),
            Circuit::Compiled(compiled) => debug(&compiled.program().map_err(failed)?),
            Circuit::Graph(graph) => match graph.calculate(&inputs) {
                Ok(values) => (None, values),
                Err(error) => (Some(error), Zeroizing::default()),
            },
        };
        Ok(Debugged { error: error.map(failed), witness: Witness { values, name: None } })
    }

    fn run(&self, inputs_json: &[u8], name: Option<&FileName>) -> Result<Witness<P>> {
        let values = Inputs::from_json(inputs_json).and_then(|inputs| match &self.circuit {
            Circuit::Wasm(program) => program.calculate(&inputs),
            Circuit::Graph(graph) => graph.calculate(&inputs),
            Circuit::Compiled(compiled) => compiled.calculate(&inputs),
        });
        let values = values.map_err(|error| {
            Names { circuit: self.name.as_ref(), witness: name, ..Names::default() }.of(error)
        })?;
        Ok(Witness { values, name: None })
    }
}

/// The curve of a compiled circuit, by the prime in its bytes. It is BN254 if they have neither prime, and for a pipe, which can be read
/// only once. Calculating makes sure.
///
/// # Errors
/// [`Error::Io`].
pub fn curve_of_program(path: impl AsRef<Path>) -> Result<PairingCurve> {
    let path = path.as_ref();
    let likely = if is_file(path) { likely_curve(path)? } else { None };
    Ok(likely.unwrap_or(PairingCurve::Bn254))
}

/// The curve whose prime a file has: a compiled circuit in its header, any other anywhere. `None` if it has neither prime.
///
/// # Errors
/// [`Error::Io`].
pub fn likely_curve(path: impl AsRef<Path>) -> Result<Option<PairingCurve>> {
    let path = path.as_ref();
    let io = |error| Error::io(path, error);
    let mut header = Vec::new();
    File::open(path).map_err(io)?.take(<Compiled>::HEADER as u64).read_to_end(&mut header).map_err(io)?;
    let is_compiled = header.starts_with(&<Compiled>::MAGIC);
    Ok(proofmill_witness::likely_curve(&if is_compiled { header } else { read_circuit(path)? }))
}

/// The bytes of a circuit, mapped if it is a compiled one.
pub(super) fn open_circuit(path: &Path) -> Result<FileBytes> {
    if is_file(path)
        && let Ok(file) = FileBytes::open(path)
        && file.starts_with(&<Compiled>::MAGIC)
    {
        return Ok(file);
    }
    read_circuit(path).map(FileBytes::Owned)
}

fn read_circuit(path: &Path) -> Result<Vec<u8>> {
    read_file_at_most(path, LARGEST_CIRCUIT).map_err(|error| Error::io(path, error))
}

fn read_inputs(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let text = read_file_at_most(path, LARGEST_INPUT).map_err(|error| Error::io(path, error))?;
    Ok(Zeroizing::new(text))
}
