//! Circom 1's interface: elements and tables in the circuit's memory, which its host provides.
//!
//! The memory begins with two words: the end of the allocated bytes, and the top of the stack, which begins at the memory's end. A
//! header of words follows. Each component has a table of its signals and components by the hash of their names. Source: the WASM
//! that circom 0.5 writes, its ports/wasm/builder.js, and iden3's circom_runtime.

use super::{
    element::{self, WasmElement},
    expect_size,
    host::{ErrorPlace, Exception, Host, unsatisfied},
    instance::{CircuitInstance, explain},
    missing, one_line,
};
use crate::{
    error::WitnessError,
    input::Inputs,
    wasm::{Event, circom2::hash},
};
use proofmill_circom::{ScalarPrime, Symbols};
use proofmill_field::Fp;
use wasmi::{Caller, Error, ExternType, Linker, Memory, MemoryType, Module, Store, TrapCode};
use zeroize::Zeroizing;

/// The function that gives the modulus' address.
pub(crate) const PRIME: &str = "getPRawPrime";

/// Addresses of words.
pub(crate) const ALLOCATED: u32 = 0;
pub(crate) const COUNT_OF_INPUTS: u32 = 16;
/// The tables of components and of bits that mark inputs; 4 less before 0.5.34, which does not count public signals.
const COMPONENTS: u32 = 36;
const MAP_OF_INPUTS: u32 = 40;

/// Bytes for the stack.
pub(crate) const STACK: u64 = 1 << 26;
pub(crate) const PAGE: u64 = 1 << 16;

/// Entries of a component's hash table, and bytes of each: the hash, and the index of the signal or component.
const SLOTS: u32 = 256;
const BYTES_OF_A_SLOT: u32 = 12;
/// Bytes of a signal's description: its label, the address of its sizes, and its kind.
const BYTES_OF_A_SIGNAL: u32 = 12;
const KIND_SIGNAL: u32 = 1;

/// Instantiates the module with the memory that it imports.
pub(super) fn instantiate<P: ScalarPrime>(
    linker: &mut Linker<Host<P>>,
    store: &mut Store<Host<P>>,
    module: &Module,
) -> Result<(wasmi::Instance, Option<Memory>), Error> {
    let imported = module.imports().find_map(|import| match import.ty() {
        ExternType::Memory(memory) => Some(*memory),
        _ => None,
    });
    let Some(imported) = imported else {
        return Ok((linker.instantiate_and_start(&mut *store, module)?, None));
    };
    let pages = u32::try_from(imported.minimum()).unwrap_or(u32::MAX);
    let memory = Memory::new(&mut *store, MemoryType::new(pages, None))?;
    linker.define("env", "memory", memory)?;
    let instance = linker.instantiate_and_start(&mut *store, module);
    // The module asks for the same in any case. Circuits of a million signals need more, and data behind these has no place then; the
    // first data tell how much.
    let mut allocated = [0; 4];
    memory.read(&*store, ALLOCATED as usize, &mut allocated).map_err(|_| TrapCode::MemoryOutOfBounds)?;
    let pages = (u64::from(u32::from_le_bytes(allocated)) + STACK).div_ceil(PAGE);
    let more = pages.saturating_sub(memory.size(&*store));
    if more == 0 {
        return Ok((instance?, Some(memory)));
    }
    memory.grow(&mut *store, more)?;
    let instance = instance.or_else(|_| linker.instantiate_and_start(&mut *store, module))?;
    Ok((instance, Some(memory)))
}

/// Passes the inputs. The last one starts the calculation.
pub(super) fn run<P: ScalarPrime>(
    circuit: &mut CircuitInstance<P>,
    inputs: &Inputs<P>,
    symbols: Option<&Symbols>,
) -> Result<(), WitnessError> {
    let bytes = circuit.call_named::<_, i32>("getFrLen", ())? as u32;
    let modulus = circuit.call_named::<_, i32>(PRIME, ())? as u32;
    circuit.expect_prime(modulus, (bytes / 4).saturating_sub(2))?;
    // 1: with assertions, which would be ignored otherwise.
    circuit.call_named::<i32, ()>("init", 1)?;
    let element = circuit.word(ALLOCATED)?;
    circuit.write(ALLOCATED, &element.wrapping_add(element::BYTES as u32).to_le_bytes())?;
    let set_signal = circuit.function::<(i32, i32, i32, i32), ()>("setSignal")?;
    let mut set = 0;
    for signal in inputs.signals() {
        let (label, size) = input(circuit, &signal.name)?;
        expect_size(signal, size)?;
        for (value, offset) in signal.values.iter().zip(0..) {
            WasmElement::from(*value)
                .write(circuit.bytes(), element as i32)
                .map_err(|error| explain(&error.into()))?;
            circuit.call(&set_signal, (0, 0, label.wrapping_add(offset) as i32, element as i32))?;
        }
        set += signal.values.len();
    }
    let expected = circuit.word(COUNT_OF_INPUTS)?;
    if set < expected as usize {
        return Err(missing(set, expected, symbols, inputs, |name| Ok(input(circuit, name)?.1)));
    }
    Ok(())
}

/// The label of an input's first value, and the number of its values: 0 if there is no such input.
fn input<P: ScalarPrime>(circuit: &CircuitInstance<P>, name: &str) -> Result<(u32, usize), WitnessError> {
    find_input(|at| circuit.word(at), circuit.has_function("getNPublic"), name)
}

/// [`input`] for a circuit whose memory has these words, with or without a count of public signals.
pub(crate) fn find_input<E>(
    word: impl Fn(u32) -> Result<u32, E>,
    counts_public: bool,
    name: &str,
) -> Result<(u32, usize), E> {
    const NONE: (u32, usize) = (0, 0);
    let (high, low) = hash(name);
    // The main component is the first.
    let shift = if counts_public { 0 } else { 4 };
    let main = word(COMPONENTS - shift)?;
    let (table, signals) = (word(main)?, word(main.wrapping_add(4))?);
    for probe in 0..SLOTS {
        let slot = (low as u32).wrapping_add(probe) % SLOTS;
        let slot = table.wrapping_add(slot * BYTES_OF_A_SLOT);
        let found = [word(slot)?, word(slot.wrapping_add(4))?];
        if found == [0, 0] {
            break;
        }
        if found != [low as u32, high as u32] {
            continue;
        }
        let index = word(slot.wrapping_add(8))?;
        let signal = signals.wrapping_add(index.wrapping_mul(BYTES_OF_A_SIGNAL));
        let [label, sizes, kind] =
            [signal, signal.wrapping_add(4), signal.wrapping_add(8)].map(|at| word(at));
        let (label, kind) = (label?, kind?);
        let inputs = word(word(MAP_OF_INPUTS - shift)?.wrapping_add(label / 32 * 4))?;
        let is_input = kind == KIND_SIGNAL && inputs >> (label % 32) & 1 == 1;
        // The first size is the number of values.
        return if is_input { Ok((label, word(sizes?)? as usize)) } else { Ok(NONE) };
    }
    Ok(NONE)
}

/// The value of every wire.
pub(super) fn witness<P: ScalarPrime>(
    circuit: &mut CircuitInstance<P>,
) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
    let wires = circuit.call_named::<_, i32>("getNVars", ())? as u32;
    let get = circuit.function::<i32, i32>("getPWitness")?;
    let mut values = circuit.room(wires)?;
    for wire in 0..wires {
        let at = circuit.call(&get, wire as i32)?;
        let element = WasmElement::read(circuit.bytes(), at).map_err(|error| explain(&error.into()))?;
        values.push(element.value());
    }
    Ok(values)
}

/// Defines the functions that only circom 1's modules import.
pub(super) fn define<P: ScalarPrime>(linker: &mut Linker<Host<P>>) -> Result<(), Error> {
    linker.func_wrap("runtime", "error", error::<P>)?;
    linker.func_wrap("runtime", "log", |mut caller: Caller<'_, Host<P>>, value: i32| {
        let value = number(&caller, value)?;
        caller.data_mut().log_number(value);
        Ok::<(), Error>(())
    })?;
    linker.func_wrap("runtime", "logGetSignal", |caller: Caller<'_, Host<P>>, label: i32, value: i32| {
        if caller.data().debug {
            caller.data().report(Event::Get(label as u32, number(&caller, value)?));
        }
        Ok::<(), Error>(())
    })?;
    linker.func_wrap(
        "runtime",
        "logSetSignal",
        |mut caller: Caller<'_, Host<P>>, label: i32, value: i32| {
            caller.data_mut().place.signal = Some(label as u32);
            if caller.data().debug {
                caller.data().report(Event::Set(label as u32, number(&caller, value)?));
            }
            Ok::<(), Error>(())
        },
    )?;
    linker.func_wrap("runtime", "logStartComponent", |caller: Caller<'_, Host<P>>, component: i32| {
        if caller.data().debug {
            caller.data().report(Event::Start(component as u32));
        }
    })?;
    linker.func_wrap("runtime", "logFinishComponent", |caller: Caller<'_, Host<P>>, component: i32| {
        if caller.data().debug {
            caller.data().report(Event::Finish(component as u32));
        }
    })?;
    Ok(())
}

/// Raises the error of a code, or ignores it.
fn error<P: ScalarPrime>(
    mut caller: Caller<'_, Host<P>>,
    code: i32,
    message: i32,
    component: i32,
    a: i32,
    b: i32,
    c: i32,
) -> Result<(), Error> {
    let place = |signal| ErrorPlace { component: Some(component as u32), signal };
    let (error, place) = match code {
        1 | 2 => {
            (WitnessError::Limit("the circuit has not enough memory for its stack".to_owned()), place(None))
        }
        // The circuit goes on, as it does without checks: only in debugging are they errors.
        5 | 6 if !caller.data().debug => return Ok(()),
        5 => (
            unsatisfied("the circuit reads a signal that has no value yet".to_owned()),
            place(Some(b as u32)),
        ),
        6 => (unsatisfied("the circuit sets a signal twice".to_owned()), caller.data().place),
        7 => {
            let problem = format!("a constraint of the circuit fails: {}", text(&caller, c)?);
            let values = Some(format!("{} is not {}", number(&caller, a)?, number(&caller, b)?));
            (WitnessError::Unsatisfied { problem, values }, place(None))
        }
        9 => (unsatisfied(format!("an assertion of the circuit fails: {}", text(&caller, b)?)), place(None)),
        _ => {
            let problem = format!("the circuit's WASM raises the error {code}: {}", text(&caller, message)?);
            (WitnessError::Program(problem), place(None))
        }
    };
    caller.data_mut().place = place;
    Err(Error::host(Exception(error)))
}

/// The circuit's memory.
fn bytes<'a, P: ScalarPrime>(caller: &'a Caller<'_, Host<P>>) -> Result<&'a [u8], Error> {
    let memory = caller.data().memory.ok_or_else(|| Error::new("it reports before it has a memory"))?;
    Ok(memory.data(caller))
}

fn number<P: ScalarPrime>(caller: &Caller<'_, Host<P>>, at: i32) -> Result<Fp<P>, Error> {
    Ok(WasmElement::read(bytes(caller)?, at)?.value())
}

/// The text that ends with a zero byte.
fn text<P: ScalarPrime>(caller: &Caller<'_, Host<P>>, at: i32) -> Result<String, Error> {
    const LONGEST: usize = 1 << 10;
    let text = bytes(caller)?.get(at as u32 as usize..).ok_or(TrapCode::MemoryOutOfBounds)?;
    let text = text.iter().take(LONGEST).take_while(|byte| **byte != 0);
    Ok(one_line(&text.map(|byte| char::from(*byte)).collect::<String>()))
}
