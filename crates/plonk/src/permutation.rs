//! Which positions of the wires must hold the same value.
//!
//! Position `p = wire * n + row` has the label `k_wire * omega^row` with `k = (1, k1, k2)`, which puts the three
//! wires on disjoint cosets of the domain. A variable's positions form a cycle of the permutation sigma, and
//! `S_wire` interpolates, over the rows, the label of `sigma(p)`.

use crate::WIRES;
use proofmill_field::{Field, bn254::Fr};
use rayon::prelude::*;

/// Multipliers of the cosets of wires b and c: the smallest that lie in no coset of a power-of-two subgroup
/// before them, for every domain (snarkjs searches and always finds these two).
pub(crate) const COSET_MULTIPLIERS: [u64; 2] = [2, 3];

/// The permutation as positions: `sigma[p]` is where the variable at `p` appeared before, and for a
/// variable's first position where it appears last. Positions are visited row by row, in a row wire by wire;
/// rows beyond the circuit's hold variable 0 on every wire.
///
/// # Panics
/// If a variable is not below `variables`, or 3n is not below 2^32 - 1.
pub(crate) fn sigma(rows: &[[u32; WIRES]], variables: u32, n: usize) -> Vec<u32> {
    const NOWHERE: u32 = u32::MAX;
    let size = u32::try_from(WIRES * n).expect("positions fit 32 bits");
    assert!(size < NOWHERE);
    let mut sigma = vec![0; WIRES * n];
    let (mut first, mut last) = (vec![NOWHERE; variables as usize], vec![NOWHERE; variables as usize]);
    for row in 0..n {
        let wires = rows.get(row).copied().unwrap_or_default();
        for (wire, variable) in wires.into_iter().enumerate() {
            let (position, variable) = (wire * n + row, variable as usize);
            if last[variable] == NOWHERE {
                first[variable] = position as u32;
            } else {
                sigma[position] = last[variable];
            }
            last[variable] = position as u32;
        }
    }
    for (first, last) in first.into_iter().zip(last).filter(|(first, _)| *first != NOWHERE) {
        sigma[first as usize] = last;
    }
    sigma
}

/// The labels of positions: `multipliers[p / n] * roots[p % n]`, where `roots` are the n powers of omega.
pub(crate) fn labels(positions: &[u32], multipliers: [Fr; WIRES], roots: &[Fr]) -> Vec<Fr> {
    let n = roots.len();
    positions
        .par_iter()
        .map(|&position| multipliers[position as usize / n] * roots[position as usize % n])
        .collect()
}

/// The first n powers of `root`.
pub(crate) fn powers(root: Fr, n: usize) -> Vec<Fr> {
    std::iter::successors(Some(Fr::ONE), |power| Some(*power * root)).take(n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_run_backwards_through_the_rows() {
        let n = 4;
        // Variable 1 is at (row 0, a), (row 0, c), (row 1, b): positions 0, 8, 5.
        let sigma = sigma(&[[1, 2, 1], [3, 1, 0]], 4, n);
        assert_eq!([sigma[0], sigma[8], sigma[5]], [5, 0, 8]);
        assert_eq!([sigma[4], sigma[1]], [4, 1], "a variable that appears once is a fixed point");
        // Variable 0: (1, c), then every wire of rows 2 and 3.
        assert_eq!(sigma[9], 11);
        assert_eq!([sigma[2], sigma[6], sigma[10], sigma[3]], [9, 2, 6, 10]);
        let mut sorted = sigma.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..12).collect::<Vec<_>>(), "a permutation");
    }

    #[test]
    fn cosets_are_disjoint_for_every_domain() {
        let order = [1u64 << 28];
        let [k1, k2] = COSET_MULTIPLIERS.map(<Fr>::from);
        let ratio = k2 * k1.invert().expect("not zero");
        for multiplier in [k1, k2, ratio] {
            assert_ne!(multiplier.pow_vartime(&order), Fr::ONE);
        }
    }
}
