//! Benchmark circuits: the programs of "Benchmarking the Plonk, TurboPlonk, and UltraPlonk Proving Systems".

use crate::{Circuit, Variable};
use proofmill_field::bn254::Fr;

/// Bits of a scalar.
const SCALAR_BITS: u32 = 254;

/// Adds exactly `gates` rows of the arithmetic gate as a chain: three products, then a sum, and so on.
pub fn arithmetic(circuit: &mut Circuit, gates: u64) {
    let (mut last, mut before) = (circuit.witness(Fr::from(3)), circuit.witness(Fr::from(5)));
    for gate in 0..gates {
        let next = if gate % 4 == 3 { circuit.add(last, before) } else { circuit.mul(last, before) };
        (before, last) = (last, next);
    }
}

/// Adds a chain of Pedersen hashes, `h_{i+1} = H(h_i, h_i)` from `h_0 = 1`; the last one is a public input.
pub fn pedersen(circuit: &mut Circuit, hashes: u64) -> Variable {
    let first = circuit.one();
    let last = (0..hashes).fold(first, |hash, _| circuit.pedersen(hash, hash));
    circuit.publish(last)
}

/// The number of bits per window with which a chain of `hashes` Pedersen hashes in ultra has the smallest
/// domain, and among those the fewest rows. Tables cost nothing if they fit into the domain of the rows.
pub fn window_bits(hashes: u64) -> u32 {
    let cost = |bits: &u32| {
        let rows = hashes.saturating_mul(rows(*bits));
        (rows.max(table_rows(*bits)).checked_next_power_of_two().unwrap_or(u64::MAX), rows)
    };
    (10..=16).min_by_key(cost).unwrap_or(10)
}

/// Rows of a hash in ultra: one per window of its two inputs, and one at the end.
fn rows(window_bits: u32) -> u64 {
    2 * u64::from(SCALAR_BITS.div_ceil(window_bits)) + 1
}

/// Rows of the tables for the windows of two generators.
fn table_rows(window_bits: u32) -> u64 {
    let lower = (SCALAR_BITS - 1) / window_bits;
    2 * ((u64::from(lower) << window_bits) + (1 << (SCALAR_BITS - lower * window_bits)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetisation;

    #[test]
    fn the_chosen_tables_fit_the_domain_of_the_rows() {
        for (hashes, log_domain) in [(1, 16), (100, 16), (2540, 18), (26_000, 20)] {
            let bits = window_bits(hashes);
            assert!((hashes * rows(bits)).max(table_rows(bits)) <= 1 << log_domain, "{hashes}: {bits}");
        }
        for bits in [window_bits(1), 11] {
            let mut circuit = Circuit::new(Arithmetisation::Ultra);
            circuit.set_window_bits(bits);
            pedersen(&mut circuit, 3);
            let layout = circuit.layout();
            assert!(layout.rows() as u64 <= 3 * rows(bits) + 8, "{bits}: {}", layout.rows());
            assert_eq!(1 << layout.log_n(), table_rows(bits).next_power_of_two());
        }
    }
}
