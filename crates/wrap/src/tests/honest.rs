//! Honest proofs satisfy the circuit, whose shape does not depend on them.

use super::*;
use proofmill_stark::airs::{Example, Workload};

fn wraps(case: &Case, what: &str) {
    let level = Level::best();
    let wrapped = case.statement.wrap(level, &case.inner()).expect("valid proofs");
    if let Err(unsatisfied) = wrapped.check() {
        panic!("{what}: {unsatisfied}");
    }
    let public_values = case.public_values.iter().flatten().map(|value| Fr::from(value.to_canonical()));
    assert_eq!(wrapped.public_values(), public_values.collect::<Vec<_>>(), "{what}");
    assert!(case.statement.circuit(level).layout() == wrapped.layout(), "{what}");
}

#[test]
fn parameters_of_every_kind_are_wrapped() {
    let no_work = Grinding::default();
    for parameters in [
        SMALL,
        Parameters { log_arity: 1, log_final_length: 0, ..SMALL },
        Parameters { log_arity: 3, cap_height: 0, grinding: no_work, ..SMALL },
        Parameters { log_arity: 4, log_blowup: 3, cap_height: 3, ..SMALL },
        Parameters { log_final_length: 3, log_blowup: 2, grinding: no_work, ..SMALL },
    ] {
        wraps(&Case::fibonacci(&parameters, 6, 1), &format!("{parameters:?}"));
    }
}

#[test]
fn traces_of_every_length_are_wrapped() {
    // One round of FRI, and some.
    let parameters = Parameters { log_final_length: 0, cap_height: 4, ..SMALL };
    for log_rows in [1, 2, 3, 9] {
        wraps(&Case::fibonacci(&parameters, log_rows, 1), &format!("2^{log_rows} rows"));
    }
}

#[test]
fn traces_of_one_row_are_refused() {
    let parameters = Parameters { log_final_length: 0, ..SMALL };
    let constraints = Constraints::new(&Fibonacci).expect("constraints");
    let error = Statement::new(Level::best(), &constraints, &parameters, None, 0, 1).expect_err("a refusal");
    let expected = "log_rows: expected at least 1 for these constraints and this final polynomial, found 0";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn several_proofs_are_wrapped_at_once() {
    wraps(&Case::fibonacci(&SMALL, 4, 3), "three proofs");
}

#[test]
fn preprocessed_and_periodic_columns_are_wrapped() {
    for rows in [4, 8, 64] {
        wraps(&sequence(&SMALL, rows), &format!("{rows} rows"));
    }
}

#[test]
fn many_columns_and_high_degrees_are_wrapped() {
    let parameters = Parameters { log_blowup: 3, queries: 1, ..SMALL };
    for workload in [Workload::Poseidon2, Workload::MerkleTree, Workload::KeccakF] {
        let Example { air, execution, .. } = workload.example(Level::best(), 5).expect("an example");
        let execution = (execution.trace, execution.public_values);
        wraps(&Case::new(air.as_ref(), &parameters, &[execution]), workload.name());
    }
}
