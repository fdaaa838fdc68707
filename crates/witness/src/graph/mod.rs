//! A circuit as one list of operations, evaluated in order without branches: compiled from its WASM ([`crate::compile`]), or a graph of
//! iden3's circom-witnesscalc ([`witnesscalc`]).

pub(crate) mod evaluate;
pub(crate) mod message;
mod number;
mod operation;
pub(crate) mod tape;
mod witnesscalc;

use crate::{
    curves,
    error::WitnessError,
    input::{Inputs, shown},
    names,
    wasm::expect_one,
};
pub(crate) use message::push_leb128;
pub use operation::{Binary, Unary};
use proofmill_circom::ScalarPrime;
use proofmill_field::{Field, Fp, bn254::FrParams};
use std::collections::BTreeMap;
pub(crate) use tape::{FilePart, GraphNode, Guard, InputRange, Tape, ValueSource};
use zeroize::Zeroizing;

/// A circuit as a graph of operations.
#[derive(Debug)]
pub struct Graph<P: ScalarPrime = FrParams> {
    pub(crate) tape: Tape,
    pub(crate) constants: Vec<Fp<P>>,
    /// The place of each wire's value.
    pub(crate) wires: Vec<ValueSource>,
    pub(crate) inputs: BTreeMap<String, InputRange>,
    /// The number of input values, with the constant 1.
    size: usize,
}

impl<P: ScalarPrime> Graph<P> {
    /// The first bytes of a graph.
    pub const MAGIC: &[u8] = witnesscalc::MAGIC;

    /// Decodes a graph of circom-witnesscalc.
    ///
    /// # Errors
    /// [`WitnessError::Program`] with the position of the malformed bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WitnessError> {
        witnesscalc::decode(bytes)
    }

    /// A graph, or the fault in it. A malformed tape is found when it is evaluated.
    pub(crate) fn new(
        tape: Tape,
        constants: Vec<Fp<P>>,
        wires: Vec<ValueSource>,
        inputs: BTreeMap<String, InputRange>,
    ) -> Result<Self, String> {
        // Inputs of the main component are wires, as are its outputs, which may come before them. The bound keeps a few bytes from
        // taking much memory.
        let end = |place: &InputRange| u64::from(place.offset) + u64::from(place.length);
        let size = inputs.values().map(end).max().unwrap_or(0).max(1);
        let (steps, wired) = (tape.steps, wires.len());
        if size > (1 << 16) + u64::from(steps) + wired as u64 {
            return Err(format!("{size} input values for {steps} operations and {wired} wires"));
        }
        Ok(Self { tape, constants, wires, inputs, size: size as usize })
    }

    /// Evaluates the graph on these inputs.
    ///
    /// A graph has no assertions: check its witness against the circuit's constraints.
    ///
    /// # Errors
    /// [`WitnessError::Signals`] for inputs that are missing, unknown or of another size, [`WitnessError::Program`] for a malformed graph.
    pub fn calculate(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let given = self.given(inputs)?;
        let problem = |_| WitnessError::Program("the graph's operations are malformed".to_owned());
        let witness =
            curves::evaluated(&self.tape, &self.constants, &given, &[&self.wires]).map_err(problem)?;
        expect_one(&witness)?;
        Ok(witness)
    }

    /// The input values by position; the first is 1.
    pub(crate) fn given(&self, inputs: &Inputs<P>) -> Result<Zeroizing<Vec<Fp<P>>>, WitnessError> {
        let mut values = Zeroizing::new(vec![Fp::ZERO; self.size]);
        for signal in inputs.signals() {
            let name = shown(&signal.name);
            let place = self.inputs.get(&signal.name).ok_or_else(|| {
                WitnessError::Signals(format!("signal {name} is not an input of the circuit"))
            })?;
            let (expected, found) = (place.length as usize, signal.values.len());
            let range = place.offset as usize..place.offset as usize + expected;
            match values.get_mut(range) {
                Some(values) if expected == found => values.copy_from_slice(&signal.values),
                _ => {
                    let problem = format!("signal {name}: expected {expected} values, found {found}");
                    return Err(WitnessError::Signals(problem));
                }
            }
        }
        let given: std::collections::HashSet<&str> =
            inputs.signals().iter().map(|signal| signal.name.as_str()).collect();
        let missing = self.inputs.iter().filter(|(name, _)| !given.contains(name.as_str()));
        let missing: Vec<_> = missing.map(|(name, place)| (name.clone(), place.length as usize)).collect();
        if !missing.is_empty() {
            return Err(WitnessError::Signals(names::missing(&missing)));
        }
        if let Some(one) = values.first_mut() {
            *one = Fp::ONE;
        }
        Ok(values)
    }
}
