//! The permutation argument for copy constraints.
//!
//! Position `p = wire * n + row` has the label `k_wire * omega^row` with `k = (1, 2, 3, 5)`, so the labels of
//! different wires are in disjoint cosets of the domain. The positions of a variable form a cycle of the
//! permutation sigma, and `S_wire` interpolates the labels of `sigma(p)` over the rows.

use super::summand::{FormulaParameters, Growing, PERMUTATION_POWERS, Summand, SummandSink};
use crate::{Cells, Column, polynomial::CHUNK};
use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_run::parallel;

/// The multipliers of the wires' cosets: 1, and the smallest numbers whose cosets are disjoint from the
/// earlier ones for every domain. (snarkjs searches for them and always finds 2 and 3.)
pub(crate) const COSET_MULTIPLIERS: [u64; 4] = [1, 2, 3, 5];

/// [`COSET_MULTIPLIERS`] as elements.
pub(crate) fn multipliers() -> [Fr; 4] {
    COSET_MULTIPLIERS.map(Fr::from)
}

/// The permutation argument over `wires` wires.
#[derive(Clone, Copy)]
pub(crate) struct PermutationArgument {
    pub(crate) wires: u8,
}

/// `z' = z f / g`, and z = 1 on the first row. f is the product of the wires folded with their own labels. g
/// is the product of the wires folded with the labels in the columns sigma.
impl Summand for PermutationArgument {
    #[inline(always)]
    fn terms<A: Algebra>(
        self,
        cells: &impl Cells<A>,
        parameters: &FormulaParameters<A>,
        sink: &mut impl SummandSink<A>,
    ) {
        let alpha = &parameters.alpha;
        let [power, power_of_start] = [alpha[PERMUTATION_POWERS[0]], alpha[PERMUTATION_POWERS[1]]];
        // `L_1 (z - 1)`: without it, z = 0 on all rows would satisfy the other constraint.
        let start = power_of_start * cells.here(Column::FirstLagrange);
        sink.linear(Column::GrandProduct, power * identity(self.wires, cells, parameters) + start);
        // The denominator is linear in the last label, so the last sigma needs no opened value.
        let last = self.wires - 1;
        let mut shifted = power * cells.after(Column::GrandProduct);
        for wire in 0..last {
            shifted = shifted * folded(wire, cells, parameters);
        }
        sink.linear(Column::Sigma(last), -(shifted * parameters.beta));
        sink.constant(-(shifted * cells.wire(last).add_lazy(parameters.gamma)) - start);
    }
}

impl Growing for PermutationArgument {
    #[inline(always)]
    fn growth<A: Algebra>(self, cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> [A; 2] {
        let mut denominator = folded(0, cells, parameters);
        for wire in 1..self.wires {
            denominator = denominator * folded(wire, cells, parameters);
        }
        [identity(self.wires, cells, parameters), denominator]
    }
}

/// The product of the wires, each folded with its own label.
#[inline(always)]
fn identity<A: Algebra>(wires: u8, cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> A {
    let x = cells.here(Column::Point);
    let mut product = cells.wire(0).add_lazy(parameters.beta_multipliers[0] * x).add_lazy(parameters.gamma);
    for wire in 1..wires {
        let label = parameters.beta_multipliers[wire as usize] * x;
        product = product * cells.wire(wire).add_lazy(label).add_lazy(parameters.gamma);
    }
    product
}

/// A wire folded with its label in the column sigma.
#[inline(always)]
fn folded<A: Algebra>(wire: u8, cells: &impl Cells<A>, parameters: &FormulaParameters<A>) -> A {
    let label = parameters.beta * cells.here(Column::Sigma(wire));
    cells.wire(wire).add_lazy(label).add_lazy(parameters.gamma)
}

/// The permutation on positions: `sigma[p]` is the previous position of the variable at `p`, and for the
/// variable's first position its last. Positions are ordered by row, then by wire. Rows beyond the circuit's
/// hold variable 0 on every wire, except for the last `free` rows, whose positions are fixed points. `n` is the
/// size of the domain.
///
/// # Panics
/// If a variable is not below `variables`, or if there are 2^32 - 1 positions or more.
pub(crate) fn sigma(variables_of: &[Vec<u32>], variables: u32, n: usize, free: usize) -> Vec<u32> {
    const NOWHERE: u32 = u32::MAX;
    let size = u32::try_from(variables_of.len() * n).expect("positions fit 32 bits");
    assert!(size < NOWHERE);
    let mut sigma: Vec<u32> = (0..size).collect();
    let (mut first, mut last) = (vec![NOWHERE; variables as usize], vec![NOWHERE; variables as usize]);
    for row in 0..n - free {
        for (wire, variables) in variables_of.iter().enumerate() {
            let variable = variables.get(row).copied().unwrap_or_default() as usize;
            let position = wire * n + row;
            if last[variable] == NOWHERE {
                first[variable] = position as u32;
            } else {
                // Either direction of the cycle would do; snarkjs takes this one.
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
pub(crate) fn labels(positions: &[u32], roots: &[Fr]) -> Vec<Fr> {
    let (n, multipliers) = (roots.len(), multipliers());
    let mut labels = vec![Fr::ZERO; positions.len()];
    parallel::for_each(labels.chunks_mut(CHUNK).zip(positions.chunks(CHUNK)), |(labels, positions)| {
        for (label, position) in labels.iter_mut().zip(positions) {
            *label = multipliers[*position as usize / n] * roots[*position as usize % n];
        }
    });
    labels
}

/// The first n powers of `root`.
pub(crate) fn powers(root: Fr, n: usize) -> Vec<Fr> {
    std::iter::successors(Some(Fr::ONE), |power| Some(*power * root)).take(n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmill_field::Invert;

    #[test]
    fn sigma_maps_a_position_to_the_previous_one_of_its_variable() {
        let n = 4;
        // Variable 1 is at (row 0, a), (row 0, c), (row 1, b): positions 0, 8, 5.
        let sigma = sigma(&[vec![1, 3], vec![2, 1], vec![1, 0]], 4, n, 0);
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
    fn positions_of_free_rows_are_fixed_points() {
        let sigma = sigma(&[vec![1, 2], vec![2, 1]], 3, 4, 1);
        assert_eq!(sigma, [5, 4, 6, 3, 1, 0, 2, 7]);
    }

    #[test]
    fn cosets_are_disjoint_for_every_domain() {
        let order = [1u64 << 28];
        for (i, left) in multipliers().into_iter().enumerate() {
            for right in &multipliers()[..i] {
                let ratio = left * right.invert_vartime().expect("not zero");
                assert_ne!(ratio.pow_vartime(&order), Fr::ONE);
            }
        }
    }
}
