//! What the tests of all gadgets share.

mod words;

use super::*;

/// Builds a program for each arithmetisation: it must be satisfied, its public inputs must agree and come out as
/// `expected`. Gives the rows for each.
pub(crate) fn for_each_arithmetisation(expected: &[Fr], program: impl Fn(&mut Circuit)) -> [usize; 3] {
    Arithmetisation::ALL.map(|arithmetisation| {
        let mut circuit = Circuit::new(arithmetisation);
        program(&mut circuit);
        if let Err(unsatisfied) = circuit.check() {
            panic!("{arithmetisation}: {unsatisfied}");
        }
        assert_eq!(circuit.public_values(), expected, "{arithmetisation}");
        circuit.rows()
    })
}

/// Builds a program for each arithmetisation, whose values must not satisfy it.
pub(crate) fn refused_by_each_arithmetisation(program: impl Fn(&mut Circuit)) {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        program(&mut circuit);
        assert!(circuit.check().is_err(), "{arithmetisation}");
    }
}
