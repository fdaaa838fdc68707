//! Circom 2's interface: elements go through a buffer in the circuit's memory, eight little-endian words each.

use super::{expect_size, instance::CircuitInstance, missing};
use crate::{
    error::WitnessError,
    input::{Inputs, Signal, shown},
    number::element,
};
use proofmill_circom::{ScalarPrime, Symbols};
use proofmill_field::Fp;
use zeroize::Zeroizing;

/// Passes the inputs. The last one starts the calculation.
pub(super) fn run<P: ScalarPrime>(
    circuit: &mut CircuitInstance<P>,
    inputs: &Inputs<P>,
    symbols: Option<&Symbols>,
) -> Result<(), WitnessError> {
    let buffer = buffer(circuit)?;
    let words = circuit.call_named::<_, i32>("getFieldNumLen32", ())? as u32;
    circuit.call_named::<_, ()>("getRawPrime", ())?;
    circuit.expect_prime(buffer, words)?;
    // Assertions are checked in any case.
    let sanity_check = circuit.host().debug.into();
    circuit.call_named::<i32, ()>("init", sanity_check)?;
    let mut set = 0;
    for signal in inputs.signals() {
        set_signal(circuit, buffer, signal)?;
        set += signal.values.len();
    }
    let expected = circuit.call_named::<_, i32>("getInputSize", ())? as u32;
    if set < expected as usize {
        return Err(missing(set, expected, symbols, inputs, |name| Ok(size(circuit, name)?.unwrap_or(0))));
    }
    Ok(())
}

/// The address of the buffer for elements.
fn buffer<P: ScalarPrime>(circuit: &mut CircuitInstance<P>) -> Result<u32, WitnessError> {
    Ok(circuit.call_named::<_, i32>("getSharedRWMemoryStart", ())? as u32)
}

/// The number of an input's values, 0 if there is no such input; `None` for versions before 2.0.4, which do not tell it.
fn size<P: ScalarPrime>(circuit: &mut CircuitInstance<P>, name: &str) -> Result<Option<usize>, WitnessError> {
    if !circuit.has_function("getInputSignalSize") {
        return Ok(None);
    }
    let size: i32 = circuit.call_named("getInputSignalSize", hash(name))?;
    Ok(Some(usize::try_from(size).unwrap_or(0)))
}

fn set_signal<P: ScalarPrime>(
    circuit: &mut CircuitInstance<P>,
    buffer: u32,
    signal: &Signal<P>,
) -> Result<(), WitnessError> {
    let (high, low) = hash(&signal.name);
    if let Some(expected) = size(circuit, &signal.name)? {
        expect_size(signal, expected)?;
    }
    let set = circuit.function::<_, ()>("setInputSignal")?;
    for (index, value) in signal.values.iter().enumerate() {
        let mut bytes = Zeroizing::new([0; 32]);
        for (bytes, limb) in bytes.as_chunks_mut().0.iter_mut().zip(value.to_canonical()) {
            *bytes = limb.to_le_bytes();
        }
        circuit.write(buffer, &*bytes)?;
        let index = i32::try_from(index).map_err(|_| {
            WitnessError::Signals(format!("signal {} has too many values", shown(&signal.name)))
        })?;
        circuit.call(&set, (high, low, index)).map_err(|error| match error {
            WitnessError::Signals(problem) => {
                WitnessError::Signals(format!("signal {}: {problem}", shown(&signal.name)))
            }
            error => error,
        })?;
    }
    Ok(())
}

/// The value of every wire.
pub(super) fn witness<P: ScalarPrime>(
    circuit: &mut CircuitInstance<P>,
) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
    let buffer = buffer(circuit)?;
    let wires = circuit.call_named::<_, i32>("getWitnessSize", ())? as u32;
    let get = circuit.function::<i32, ()>("getWitness")?;
    let mut values = circuit.room(wires)?;
    for wire in 0..wires {
        circuit.call(&get, wire as i32)?;
        let value = element(&circuit.read(buffer)?).ok_or_else(|| {
            WitnessError::Program(format!(
                "the circuit's WASM gives wire {wire} a value that is not below the modulus"
            ))
        })?;
        values.push(value);
    }
    Ok(values)
}

/// The 64-bit FNV-1a hash of a signal's name, by which circom's WASM knows it: its high and its low half. Characters are UTF-16 units
/// in the generated JavaScript, and names are ASCII.
pub(crate) fn hash(name: &str) -> (i32, i32) {
    let hash = name.encode_utf16().fold(0xcbf2_9ce4_8422_2325_u64, |hash, unit| {
        (hash ^ u64::from(unit)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash >> 32) as i32, hash as i32)
}
