//! The host's side of a circuit whose inputs may be nodes; `wasm/circom1.rs` and `wasm/circom2.rs` have it for values.

use super::{Way, execution::WasmMachine, memory::ElementOperand, value::SymbolicValue};
use crate::{
    graph::InputRange,
    input::Inputs,
    wasm::{circom1, circom2, element::BYTES},
};
use proofmill_circom::ScalarPrime;
use std::collections::BTreeMap;

/// Passes the inputs, and returns their positions by name. The last input starts the calculation.
pub(super) fn run<P: ScalarPrime, const SYMBOLIC: bool>(
    machine: &mut WasmMachine<'_, P, SYMBOLIC>,
    inputs: &Inputs<P>,
) -> Result<BTreeMap<String, InputRange>, Way> {
    if is_circom1(machine) { run_circom1(machine, inputs) } else { run_circom2(machine, inputs) }
}

fn is_circom1<P: ScalarPrime, const SYMBOLIC: bool>(machine: &WasmMachine<'_, P, SYMBOLIC>) -> bool {
    machine.module.exports(circom1::PRIME)
}

/// The number of wires, after the run.
pub(super) fn count_of_wires<P: ScalarPrime, const SYMBOLIC: bool>(
    machine: &mut WasmMachine<'_, P, SYMBOLIC>,
) -> Result<u32, Way> {
    let count = if is_circom1(machine) { "getNVars" } else { "getWitnessSize" };
    let count = machine.word_named(count, &[])?;
    machine.memory.expect_room(count)?;
    Ok(count)
}

/// The value of a wire.
pub(super) fn wire<P: ScalarPrime, const SYMBOLIC: bool>(
    machine: &mut WasmMachine<'_, P, SYMBOLIC>,
    wire: u32,
) -> Result<ElementOperand<P>, Way> {
    if !is_circom1(machine) {
        return machine.wire(wire);
    }
    let at = machine.word_named("getPWitness", &[wire])?;
    machine.memory.element(at)
}

/// The positions of inputs by name; position 0 has the constant 1. `set` receives each value, with its signal and index.
fn each_input<'a, P: ScalarPrime, const SYMBOLIC: bool>(
    machine: &mut WasmMachine<'_, P, SYMBOLIC>,
    inputs: &'a Inputs<P>,
    mut set: impl FnMut(&mut WasmMachine<'_, P, SYMBOLIC>, ElementOperand<P>, &'a str, u32) -> Result<(), Way>,
) -> Result<BTreeMap<String, InputRange>, Way> {
    let (mut places, mut position) = (BTreeMap::new(), 1);
    for signal in inputs.signals() {
        places
            .insert(signal.name.clone(), InputRange { offset: position, length: signal.values.len() as u32 });
        for (index, value) in (0..).zip(signal.values.iter()) {
            let value = machine.next_input(position, *value);
            set(machine, value, &signal.name, index)?;
            position += 1;
        }
    }
    Ok(places)
}

/// Refuses fewer values than the circuit has inputs: it would not run.
fn expect_all(places: &BTreeMap<String, InputRange>, expected: u32) -> Result<(), Way> {
    let set: u64 = places.values().map(|place| u64::from(place.length)).sum();
    if set == u64::from(expected) { Ok(()) } else { Err(Way::Inputs) }
}

fn run_circom2<P: ScalarPrime, const SYMBOLIC: bool>(
    machine: &mut WasmMachine<'_, P, SYMBOLIC>,
    inputs: &Inputs<P>,
) -> Result<BTreeMap<String, InputRange>, Way> {
    machine.call_named("getRawPrime", &[])?;
    let buffer = machine.word_named("getSharedRWMemoryStart", &[])?;
    machine.memory.expect_prime::<P>(buffer)?;
    // The buffer is the second part of an element.
    let element = buffer.wrapping_sub(8);
    machine.shared = element;
    // Circom 2 keeps the top of its stack at address 0.
    machine.stack_top = Some(0);
    machine.call_named("init", &[0])?;
    let places = each_input(machine, inputs, |machine, value, name, index| {
        let (high, low) = circom2::hash(name);
        machine.memory.set(element, value)?;
        machine.call_named("setInputSignal", &[high as u32, low as u32, index]).map(drop)
    })?;
    expect_all(&places, machine.word_named("getInputSize", &[])?)?;
    Ok(places)
}

fn run_circom1<P: ScalarPrime, const SYMBOLIC: bool>(
    machine: &mut WasmMachine<'_, P, SYMBOLIC>,
    inputs: &Inputs<P>,
) -> Result<BTreeMap<String, InputRange>, Way> {
    let prime = machine.word_named(circom1::PRIME, &[])?;
    machine.memory.expect_prime::<P>(prime)?;
    // 1: with assertions.
    machine.call_named("init", &[1])?;
    // Reserves room for one element, through which all inputs pass.
    let element = machine.memory.word(circom1::ALLOCATED)?;
    let end = u64::from(element) + BYTES as u64;
    machine.memory.store(circom1::ALLOCATED.into(), 4, SymbolicValue::integer(end))?;
    let counts_public = machine.module.exports("getNPublic");
    let places = each_input(machine, inputs, |machine, value, name, index| {
        let (label, size) = circom1::find_input(|at| machine.memory.word(at), counts_public, name)?;
        if index as usize >= size {
            return Err(Way::Inputs);
        }
        machine.memory.set(element, value)?;
        machine.call_named("setSignal", &[0, 0, label.wrapping_add(index), element]).map(drop)
    })?;
    expect_all(&places, machine.memory.word(circom1::COUNT_OF_INPUTS)?)?;
    Ok(places)
}
