//! Circuits to measure by: the programs of "Benchmarking the Plonk, TurboPlonk, and UltraPlonk Proving Systems".

use crate::{Circuit, Variable};
use proofmill_field::bn254::Fr;

/// Bits of a scalar.
const SCALAR_BITS: u32 = 254;

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

/// Bits of the lookup tables of Pedersen hashes in ultra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableBits {
    /// Of a window.
    pub window: u32,
    /// Of the largest range table.
    pub range: u32,
}

impl TableBits {
    /// Range tables of as many bits, at least 13, beside windows of so many.
    pub fn with_window(window: u32) -> Self {
        Self { window, range: window.max(13) }
    }

    /// Those with which a chain of so many hashes takes the smallest domain, and of these the ones with the fewest rows: tables
    /// cost nothing that fit into the domain that the rows need.
    pub fn for_hashes(hashes: u64) -> Self {
        let choices = (10..=16).flat_map(|window| (13..=18).map(move |range| Self { window, range }));
        let cost = |bits: &Self| {
            let rows = hashes.saturating_mul(bits.rows());
            (rows.max(bits.table_rows()).checked_next_power_of_two().unwrap_or(u64::MAX), rows)
        };
        choices.min_by_key(cost).unwrap_or(Self::with_window(10))
    }

    /// Rows of a hash: for each input one a window, two that compare it with the modulus, and a range of 70 bits at most.
    fn rows(self) -> u64 {
        2 * u64::from(SCALAR_BITS.div_ceil(self.window) + 2 + 70u32.div_ceil(self.range))
    }

    /// Rows of the tables at most: of the windows of two generators, of the range, and of what is left of 70 bits.
    fn table_rows(self) -> u64 {
        let whole = u64::from(SCALAR_BITS / self.window) << self.window;
        2 * (whole + (1 << (SCALAR_BITS % self.window))) + (3 << (self.range - 1))
    }

    /// Makes a circuit use them.
    ///
    /// # Panics
    /// As [`Circuit::set_window_bits`] and [`Circuit::set_range_table_bits`].
    pub fn set(self, circuit: &mut Circuit) {
        circuit.set_window_bits(self.window);
        circuit.set_range_table_bits(self.range);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arithmetisation;

    #[test]
    fn tables_are_chosen_that_fit_the_domain_of_the_rows() {
        for (hashes, log_domain) in [(1, 16), (100, 16), (2540, 18), (20_970, 20)] {
            let bits = TableBits::for_hashes(hashes);
            assert!((hashes * bits.rows()).max(bits.table_rows()) <= 1 << log_domain, "{hashes}: {bits:?}");
        }
        for bits in [TableBits::for_hashes(1), TableBits { window: 11, range: 14 }] {
            let mut circuit = Circuit::new(Arithmetisation::Ultra);
            bits.set(&mut circuit);
            pedersen(&mut circuit, 3);
            let layout = circuit.layout();
            assert!(layout.rows() as u64 <= 3 * bits.rows() + 8, "{bits:?}: {}", layout.rows());
            assert!(1 << layout.log_n() <= bits.table_rows().next_power_of_two());
        }
    }
}
