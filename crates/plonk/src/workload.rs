//! Circuits to measure by: the programs of "Benchmarking the Plonk, TurboPlonk, and UltraPlonk Proving Systems".

use crate::{Circuit, Variable};
use proofmill_field::bn254::Fr;

/// Adds exactly `gates` rows of the arithmetic gate, in a chain: three products, then a sum, and so on.
pub fn arithmetic(circuit: &mut Circuit, gates: u64) {
    let (mut last, mut before) = (circuit.witness(Fr::from(3)), circuit.witness(Fr::from(5)));
    for gate in 0..gates {
        let next = if gate % 4 == 3 { circuit.add(last, before) } else { circuit.mul(last, before) };
        (before, last) = (last, next);
    }
}

/// Adds a chain of Pedersen hashes, `h_{i+1} = H(h_i, h_i)` from `h_0 = 1`; the last is a public input.
pub fn pedersen(circuit: &mut Circuit, hashes: u64) -> Variable {
    let first = circuit.one();
    let last = (0..hashes).fold(first, |hash, _| circuit.pedersen(hash, hash));
    circuit.publish(last)
}
