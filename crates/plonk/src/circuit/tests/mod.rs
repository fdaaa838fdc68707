//! Functions shared by the tests of gadgets.

mod arithmetic;
mod curve;
mod gates;
mod lookups;
mod merkle;
mod poseidon;
mod structure;
mod words;

use super::check::all_unsatisfied;
use super::*;
use crate::{Unsatisfied, check_layout};

/// Builds a program for each arithmetisation, checks that it is satisfied and has the `expected` public
/// inputs, and returns the number of rows in each.
pub(crate) fn for_each_arithmetisation(expected: &[Fr], program: impl Fn(&mut Circuit)) -> [usize; 3] {
    Arithmetisation::ALL.map(|arithmetisation| {
        let circuit = satisfied(arithmetisation, &program);
        assert_eq!(circuit.public_values(), expected, "{arithmetisation}");
        circuit.rows()
    })
}

/// Builds a program, and panics if its values do not satisfy it.
pub(crate) fn satisfied(arithmetisation: Arithmetisation, program: impl Fn(&mut Circuit)) -> Circuit {
    let mut circuit = Circuit::new(arithmetisation);
    program(&mut circuit);
    if let Err(unsatisfied) = circuit.check() {
        panic!("{arithmetisation}: {unsatisfied}");
    }
    circuit
}

/// Builds a program for each arithmetisation, and checks that its values do not satisfy it.
pub(crate) fn refused_by_each_arithmetisation(program: impl Fn(&mut Circuit)) {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        program(&mut circuit);
        assert!(circuit.check().is_err(), "{arithmetisation}");
    }
}

/// Changes the variables of a satisfied program one at a time, and expects each change to be refused.
pub(crate) fn every_variable_is_constrained(program: impl Fn(&mut Circuit)) {
    for arithmetisation in Arithmetisation::ALL {
        let circuit = satisfied(arithmetisation, &program);
        let layout = circuit.layout();
        let mut values = circuit.values().to_vec();
        let used: std::collections::BTreeSet<u32> = layout.variables_of.iter().flatten().copied().collect();
        for variable in used.into_iter().filter(|variable| *variable != 0) {
            let honest = values[variable as usize];
            for change in [Fr::ONE, -Fr::ONE, Fr::from(12345)] {
                values[variable as usize] = honest + change;
                assert!(check_layout(&layout, &values).is_err(), "{arithmetisation}: variable {variable}");
            }
            values[variable as usize] = honest;
        }
    }
}

/// The only constraint that does not hold: its row, gate and index.
///
/// # Panics
/// If none or more than one does not hold.
pub(crate) fn the_broken_constraint(circuit: &Circuit) -> (usize, Gate, usize) {
    match all_unsatisfied(&circuit.layout(), circuit.values())[..] {
        [Unsatisfied::Gate { row, gate, constraint, .. }] => (row, gate, constraint),
        ref all => panic!("expected one broken constraint, found {all:?}"),
    }
}
