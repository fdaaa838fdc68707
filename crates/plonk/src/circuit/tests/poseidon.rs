//! Poseidon against circomlib's test vectors and the native hash; its gates, one constraint at a time.

use super::*;
use crate::{Cells, arithmetisation::gates::Formula, check_layout};
use proofmill_hash::poseidon_bn254;
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

fn inputs(count: usize) -> Vec<Fr> {
    let mut rng = ChaCha20Rng::seed_from_u64(count as u64);
    (0..count).map(|_| Fr::random(&mut rng)).collect()
}

fn hashed(circuit: &mut Circuit, inputs: &[Fr]) {
    let inputs: Vec<Variable> = inputs.iter().map(|value| circuit.witness(*value)).collect();
    let hash = circuit.poseidon(&inputs);
    circuit.publish(hash);
}

#[test]
fn circomlib_agrees() {
    let answers = [
        (vec![1, 2], "7853200120776062878684798364095072458815029376092732009249414926327459813530"),
        (vec![1, 2, 3, 4], "18821383157269793795438455681495246036402687001665670618754263018637548127333"),
    ];
    for (inputs, answer) in answers {
        let inputs: Vec<Fr> = inputs.into_iter().map(Fr::from).collect();
        for_each_arithmetisation(&[answer.parse().unwrap()], |circuit| hashed(circuit, &inputs));
    }
}

/// Rows for one to three inputs, without the constant zero in the gates' first row.
#[test]
fn rows_are_as_documented() {
    let rows = [1, 2, 3].map(|count| {
        let inputs = inputs(count);
        let hash = poseidon_bn254::poseidon(&inputs);
        let [standard, turbo, ultra] = for_each_arithmetisation(&[hash], |circuit| hashed(circuit, &inputs));
        let zero = usize::from(count == 2);
        [standard, turbo - zero, ultra - zero]
    });
    assert_eq!(rows, [[340, 284, 284], [510, 23, 23], [683, 422, 422]]);
}

#[test]
fn every_width_agrees_with_the_native_hash() {
    for count in 1..=16 {
        let inputs = inputs(count);
        let hash = poseidon_bn254::poseidon(&inputs);
        for_each_arithmetisation(&[hash], |circuit| hashed(circuit, &inputs));
    }
}

#[test]
fn every_value_that_a_gate_reads_is_bound() {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let [left, right] = [3, 4].map(|value| circuit.witness(Fr::from(value)));
    circuit.poseidon(&[left, right]);
    let (layout, values) = circuit.into_layout();
    check_layout(&layout, &values).unwrap();
    for variable in 1..values.len() {
        let mut values = values.clone();
        values[variable] += Fr::ONE;
        let unsatisfied = check_layout(&layout, &values);
        assert!(unsatisfied.is_err(), "variable {variable}");
    }
}

/// A row and the next with random cells, except for one that makes a constraint hold.
struct TwoRows {
    /// The wires of this row, the wires of the next, and the data.
    cells: [[Fr; 4]; 3],
}

impl Cells<Fr> for TwoRows {
    fn here(&self, column: Column) -> Fr {
        match column {
            Column::Wire(wire) => self.cells[0][wire as usize],
            Column::Data(index) => self.cells[2][index as usize],
            other => panic!("{other}"),
        }
    }

    fn after(&self, column: Column) -> Fr {
        match column {
            Column::Wire(wire) => self.cells[1][wire as usize],
            other => panic!("{other}"),
        }
    }
}

impl TwoRows {
    fn circuit(&self, gate: Gate) -> Circuit {
        let mut circuit = Circuit::new(Arithmetisation::Turbo);
        let [here, next] = [0, 1].map(|row| self.cells[row].map(|value| circuit.witness(value)));
        let mut fixed: Vec<_> = (0..).map(Column::Data).zip(self.cells[2]).collect();
        fixed.push((Column::Selector(Selector::Gate(gate)), Fr::ONE));
        circuit.row(here, &fixed);
        circuit.row(next, &[]);
        circuit
    }
}

fn sums<G: Formula>(rows: &TwoRows) -> Vec<Fr> {
    let mut sums = vec![Fr::ZERO; G::CONSTRAINTS];
    G::terms(rows, &G::constants(), &mut |constraint, _, term: Fr| sums[constraint] += term);
    sums
}

/// Makes every constraint hold on random rows, in order, with the cell that it determines. Then violates each
/// separately with that cell, and restores later constraints that read the cell with their own cells.
fn each_constraint_alone<G: Formula>(gate: Gate, defined: &[(usize, usize)]) {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut cells = [[Fr::ZERO; 4]; 3];
    cells.as_flattened_mut().iter_mut().for_each(|cell| *cell = Fr::random(&mut rng));
    assert_eq!(defined.len(), G::CONSTRAINTS);
    for broken in 0..=G::CONSTRAINTS {
        let mut rows = TwoRows { cells };
        for (constraint, (row, wire)) in defined.iter().enumerate() {
            // The cell has the factor -1 in its constraint.
            let off = sums::<G>(&rows)[constraint];
            rows.cells[*row][*wire] += off;
            if constraint == broken {
                rows.cells[*row][*wire] += Fr::ONE;
            }
        }
        let circuit = rows.circuit(gate);
        if broken < G::CONSTRAINTS {
            assert_eq!(the_broken_constraint(&circuit), (0, gate, broken));
        } else {
            circuit.check().unwrap();
        }
    }
}

#[test]
fn constraints_fail_alone() {
    use crate::arithmetisation::gates::{PoseidonEnter, PoseidonFull, PoseidonLeave, PoseidonPartial};
    each_constraint_alone::<PoseidonFull>(Gate::PoseidonFull, &[(1, 0), (1, 1), (1, 2)]);
    each_constraint_alone::<PoseidonEnter>(Gate::PoseidonEnter, &[(0, 3), (1, 0), (1, 1), (1, 2)]);
    each_constraint_alone::<PoseidonPartial>(Gate::PoseidonPartial, &[(0, 3), (1, 0), (1, 1), (1, 2)]);
    each_constraint_alone::<PoseidonLeave>(Gate::PoseidonLeave, &[(0, 3), (1, 0), (1, 1), (1, 2)]);
}
