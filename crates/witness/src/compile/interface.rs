//! What a circuit's host does, with inputs that are nodes: as `wasm/circom1.rs` and `wasm/circom2.rs` do it with values.

use super::{Way, machine::Machine, memory::Operand, value::Value};
use crate::{
    graph::Place,
    input::Inputs,
    wasm::{circom1, circom2, element::BYTES},
};
use proofmill_circom::ScalarPrime;
use std::collections::BTreeMap;

/// Passes the inputs, of which the last starts the calculation: their positions by name, and the node of each wire.
pub(super) fn run<P: ScalarPrime>(
    machine: &mut Machine<'_, P>,
    inputs: &Inputs<P>,
) -> Result<(BTreeMap<String, Place>, Vec<u32>), Way> {
    if machine.exports("getPRawPrime") { run_circom1(machine, inputs) } else { run_circom2(machine, inputs) }
}

/// The positions of inputs by name; position 0 has the constant 1. `set` receives each value's node, with its signal and index.
fn each_input<'a, P: ScalarPrime>(
    machine: &mut Machine<'_, P>,
    inputs: &'a Inputs<P>,
    mut set: impl FnMut(&mut Machine<'_, P>, u32, &'a str, u32) -> Result<(), Way>,
) -> Result<BTreeMap<String, Place>, Way> {
    let (mut places, mut position) = (BTreeMap::new(), 1);
    for signal in inputs.signals() {
        places.insert(signal.name.clone(), Place { offset: position, length: signal.values.len() as u32 });
        for (index, value) in (0..).zip(signal.values.iter()) {
            let node = machine.nodes.input(position, *value);
            set(machine, node, &signal.name, index)?;
            position += 1;
        }
    }
    Ok(places)
}

/// Refuses fewer values than the circuit has inputs, with which it does not run.
fn expect_all(places: &BTreeMap<String, Place>, expected: u32) -> Result<(), Way> {
    let set: u64 = places.values().map(|place| u64::from(place.length)).sum();
    if set == u64::from(expected) { Ok(()) } else { Err(Way::Inputs) }
}

fn run_circom2<P: ScalarPrime>(
    machine: &mut Machine<'_, P>,
    inputs: &Inputs<P>,
) -> Result<(BTreeMap<String, Place>, Vec<u32>), Way> {
    // The buffer is the second part of an element.
    let element = machine.word_named("getSharedRWMemoryStart", &[])?.wrapping_sub(8);
    machine.stack_top = Some(0);
    machine.call_named("init", &[0])?;
    let places = each_input(machine, inputs, |machine, node, name, index| {
        let (high, low) = circom2::hash(name);
        machine.input = Some(node);
        machine.memory.set(element, Operand::<P>::Node(node))?;
        machine.call_named("setInputSignal", &[high as u32, low as u32, index]).map(drop)
    })?;
    expect_all(&places, machine.word_named("getInputSize", &[])?)?;
    let mut wires = Vec::new();
    for wire in 0..machine.word_named("getWitnessSize", &[])? {
        wires.push(machine.wire(wire)?);
    }
    Ok((places, wires))
}

fn run_circom1<P: ScalarPrime>(
    machine: &mut Machine<'_, P>,
    inputs: &Inputs<P>,
) -> Result<(BTreeMap<String, Place>, Vec<u32>), Way> {
    // 1: with assertions.
    machine.call_named("init", &[1])?;
    let element = machine.memory.word(circom1::ALLOCATED)?;
    let end = u64::from(element) + BYTES as u64;
    machine.memory.store(circom1::ALLOCATED.into(), 4, Value::integer(end))?;
    let counts_public = machine.exports("getNPublic");
    let places = each_input(machine, inputs, |machine, node, name, index| {
        let (label, size) = circom1::find_input(|at| machine.memory.word(at), counts_public, name)?;
        if index as usize >= size {
            return Err(Way::Inputs);
        }
        machine.memory.set(element, Operand::<P>::Node(node))?;
        machine.call_named("setSignal", &[0, 0, label.wrapping_add(index), element]).map(drop)
    })?;
    expect_all(&places, machine.memory.word(circom1::COUNT_OF_INPUTS)?)?;
    let mut wires = Vec::new();
    for wire in 0..machine.word_named("getNVars", &[])? {
        let at = machine.word_named("getPWitness", &[wire])?;
        wires.push(machine.node_at(at)?);
    }
    Ok((places, wires))
}
