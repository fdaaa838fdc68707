//! What the tests of all gadgets share.

mod arithmetic;
mod curve;
mod gates;
mod lookups;
mod merkle;
mod poseidon;
mod structure;
mod words;

use super::*;
use crate::{Unsatisfied, check::all_unsatisfied, check_layout};

/// Builds a program for each arithmetisation: it must be satisfied, and its public inputs be as `expected`. Gives the
/// rows for each.
pub(crate) fn for_each_arithmetisation(expected: &[Fr], program: impl Fn(&mut Circuit)) -> [usize; 3] {
    Arithmetisation::ALL.map(|arithmetisation| {
        let circuit = satisfied(arithmetisation, &program);
        assert_eq!(circuit.public_values(), expected, "{arithmetisation}");
        circuit.rows()
    })
}

/// Builds a program whose values must satisfy it.
pub(crate) fn satisfied(arithmetisation: Arithmetisation, program: impl Fn(&mut Circuit)) -> Circuit {
    let mut circuit = Circuit::new(arithmetisation);
    program(&mut circuit);
    if let Err(unsatisfied) = circuit.check() {
        panic!("{arithmetisation}: {unsatisfied}");
    }
    circuit
}

/// Builds a program for each arithmetisation, whose values must not satisfy it.
pub(crate) fn refused_by_each_arithmetisation(program: impl Fn(&mut Circuit)) {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        program(&mut circuit);
        assert!(circuit.check().is_err(), "{arithmetisation}");
    }
}

/// Changes the variables of a satisfied program, one at a time: each change must be refused with all others as they are.
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

/// The one constraint that does not hold: its row, gate and number.
///
/// # Panics
/// If all hold, or more than one does not.
pub(crate) fn the_broken_constraint(circuit: &Circuit) -> (usize, Gate, usize) {
    match all_unsatisfied(&circuit.layout(), circuit.values())[..] {
        [Unsatisfied::Gate { row, gate, constraint, .. }] => (row, gate, constraint),
        ref all => panic!("expected one broken constraint, found {all:?}"),
    }
}
