//! Circuits to measure by: the programs of "Benchmarking the Plonk, TurboPlonk, and UltraPlonk Proving Systems".

use crate::{Circuit, Variable};
use proofmill_field::bn254::Fr;
use std::cmp::Reverse;

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

/// Bits of the range tables beside windows of so many bits.
fn range_bits(width: u32) -> u32 {
    width.max(13)
}

/// Chooses the tables for Pedersen hashes by windows of so many bits in ultra.
///
/// # Panics
/// As [`Circuit::set_window_bits`].
pub fn set_table_bits(circuit: &mut Circuit, width: u32) {
    circuit.set_window_bits(width);
    circuit.set_range_table_bits(range_bits(width));
}

/// The bits of the windows that make the least domain of a chain of Pedersen hashes in ultra: the widest whose tables fit into
/// the domain that the rows need.
pub fn pedersen_window_bits(hashes: u64) -> u32 {
    const BITS: u32 = 254;
    let domain = |width: u32| {
        // An input has a row a window, two to compare it with the modulus and a range of about 70 bits.
        let rows = 2 * (BITS.div_ceil(width) + 2 + 70u32.div_ceil(range_bits(width)));
        // Tables of the windows of two generators, and of ranges.
        let tables =
            (2 * u64::from(BITS / width) << width) + (2 << (BITS % width)) + (2 << range_bits(width));
        hashes.saturating_mul(rows.into()).max(tables).checked_next_power_of_two()
    };
    (10..=16).min_by_key(|width| (domain(*width).unwrap_or(u64::MAX), Reverse(*width))).unwrap_or(10)
}
