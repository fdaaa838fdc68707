//! A circuit in the interpreter: its functions and its memory.

use super::{
    host::{Exception, Host, unsatisfied},
    one_line,
};
use crate::error::WitnessError;
use proofmill_circom::ScalarPrime;
use proofmill_field::Fp;
use wasmi::{
    Error, Extern, Memory, Store, TrapCode, TypedFunc, WasmParams, WasmResults,
    errors::{ErrorKind, FuelError, InstantiationError, MemoryError},
};
use zeroize::Zeroizing;

/// A running circuit.
pub(super) struct CircuitInstance<P: ScalarPrime> {
    store: Store<Host<P>>,
    instance: wasmi::Instance,
    memory: Memory,
}

impl<P: ScalarPrime> CircuitInstance<P> {
    pub(super) fn new(
        mut store: Store<Host<P>>,
        instance: wasmi::Instance,
        imported: Option<Memory>,
    ) -> Result<Self, WitnessError> {
        let memory = imported.or_else(|| instance.get_export(&store, "memory").and_then(Extern::into_memory));
        match memory {
            Some(memory) => {
                store.data_mut().memory = Some(memory);
                Ok(Self { store, instance, memory })
            }
            None => Err(WitnessError::Program("not a circuit of circom's: it exports no memory".to_owned())),
        }
    }

    /// An exported function.
    pub(super) fn function<A: WasmParams, R: WasmResults>(
        &self,
        name: &str,
    ) -> Result<TypedFunc<A, R>, WitnessError> {
        self.instance.get_typed_func(&self.store, name).map_err(|_| {
            WitnessError::Program(format!(
                "not a circuit of circom's: it exports no function {name} of the expected type"
            ))
        })
    }

    pub(super) fn has_function(&self, name: &str) -> bool {
        self.instance.get_func(&self.store, name).is_some()
    }

    pub(super) fn call<A: WasmParams, R: WasmResults>(
        &mut self,
        function: &TypedFunc<A, R>,
        arguments: A,
    ) -> Result<R, WitnessError> {
        function.call(&mut self.store, arguments).map_err(|error| explain(&error))
    }

    /// Calls a function by name.
    pub(super) fn call_named<A: WasmParams, R: WasmResults>(
        &mut self,
        name: &str,
        arguments: A,
    ) -> Result<R, WitnessError> {
        let function = self.function(name)?;
        self.call(&function, arguments)
    }

    pub(super) fn read<const N: usize>(&self, at: u32) -> Result<[u8; N], WitnessError> {
        let mut bytes = [0; N];
        self.memory.read(&self.store, at as usize, &mut bytes).map_err(|_| outside(at))?;
        Ok(bytes)
    }

    pub(super) fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), WitnessError> {
        self.memory.write(&mut self.store, at as usize, bytes).map_err(|_| outside(at))
    }

    /// Room for the values of so many wires, unless its own memory has none for them.
    pub(super) fn room(&self, wires: u32) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        /// At least each wire's position in the list of the witness.
        const BYTES_OF_A_WIRE: usize = 4;
        let most = self.memory.data_size(&self.store) / BYTES_OF_A_WIRE;
        if wires as usize > most {
            let problem =
                format!("the circuit's WASM claims {wires} wires, but its memory has room for {most}");
            return Err(WitnessError::Program(problem));
        }
        let mut values: Zeroizing<Vec<Fp<P>>> = Zeroizing::default();
        values.try_reserve_exact(wires as usize).map_err(|_| {
            WitnessError::Limit(format!("there is not enough memory for the circuit's {wires} wires"))
        })?;
        Ok(values)
    }

    /// Its memory.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        self.memory.data_mut(&mut self.store)
    }

    /// The little-endian u32 at this address.
    pub(super) fn word(&self, at: u32) -> Result<u32, WitnessError> {
        Ok(u32::from_le_bytes(self.read(at)?))
    }

    pub(super) fn host(&self) -> &Host<P> {
        self.store.data()
    }

    /// Refuses the modulus at this position unless it is the field's, of `words` of four bytes.
    pub(super) fn expect_prime(&self, at: u32, words: u32) -> Result<(), WitnessError> {
        const MOST_WORDS: u32 = 24;
        if words == 0 || words > MOST_WORDS {
            return Err(WitnessError::Program(format!(
                "expected a modulus of 1 to {MOST_WORDS} words, found {words}"
            )));
        }
        let bytes: Vec<[u8; 4]> =
            (0..words).map(|word| self.read(at.wrapping_add(4 * word))).collect::<Result<_, _>>()?;
        let modulus = bytes.as_flattened();
        if modulus.iter().copied().eq(P::MODULUS.iter().flat_map(|limb| limb.to_le_bytes())) {
            return Ok(());
        }
        let digits: String = modulus.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        Err(WitnessError::Prime { expected: P::NAME, found: digits.trim_start_matches('0').to_owned() })
    }
}

fn outside(at: u32) -> WitnessError {
    WitnessError::Program(format!("the circuit's WASM gives the address {at}, outside its memory"))
}

/// The error of the interpreter as one of ours.
pub(super) fn explain(error: &Error) -> WitnessError {
    if let Some(Exception(error)) = error.downcast_ref() {
        return error.clone();
    }
    let too_much_memory = || {
        let problem = "the circuit's WASM needs more memory than it may have, at most 4 GiB: compile the circuit for circom-witnesscalc";
        WitnessError::Limit(problem.to_owned())
    };
    let trap = match error.kind() {
        ErrorKind::TrapCode(trap) => *trap,
        ErrorKind::Memory(
            MemoryError::OutOfSystemMemory
            | MemoryError::ResourceLimiterDeniedAllocation
            | MemoryError::MinimumSizeOverflow
            | MemoryError::OutOfBoundsGrowth,
        )
        | ErrorKind::Instantiation(InstantiationError::FailedToInstantiateMemory(_)) => {
            return too_much_memory();
        }
        ErrorKind::Fuel(FuelError::OutOfFuel { .. }) => return WitnessError::too_many_steps(),
        _ => {
            return WitnessError::Program(format!(
                "the circuit's WASM cannot run: {}",
                one_line(&error.to_string())
            ));
        }
    };
    match trap {
        TrapCode::OutOfFuel => WitnessError::too_many_steps(),
        TrapCode::GrowthOperationLimited => too_much_memory(),
        TrapCode::StackOverflow => WitnessError::Limit("the circuit's WASM calls too deeply".to_owned()),
        TrapCode::IntegerDivisionByZero => unsatisfied("the circuit divides by zero with \\ or %".to_owned()),
        trap => WitnessError::Program(format!("the circuit's WASM trapped: {}", trap.trap_message())),
    }
}
