//! Proofs that are not valid do not satisfy the circuit.

use super::*;
use proofmill_field::goldilocks::MODULUS;
use proofmill_plonk::{LayoutChecker, Unsatisfied, check_layout};
use proofmill_stark::{OpenedValues, air::Expression};
use proofmill_testing::rng;

/// All words of a proof.
fn words(proof: &mut InnerProof) -> Vec<&mut Goldilocks> {
    let InnerProof { log_rows: _, trace: _, quotient: _, random: _, out_of_domain_work, opened, opening } =
        proof;
    // The other values are for blinding, which this proof does not have.
    let OpenedValues { trace, next, preprocessed, next_preprocessed, quotient, .. } = opened;
    let OpeningProof { batching_work, rounds, final_polynomial, query_work, rows } = opening;
    let mut words = vec![out_of_domain_work, batching_work, query_work];
    for elements in
        [trace, next, preprocessed, next_preprocessed, quotient.as_flattened_mut(), final_polynomial]
    {
        words.extend(elements.iter_mut().flat_map(|element| &mut element.0));
    }
    for round in rounds {
        words.push(&mut round.work);
        words.extend(round.others.iter_mut().flat_map(|element| &mut element.0));
    }
    words.extend(rows.iter_mut().flat_map(|rows| &mut rows.values));
    words
}

/// All digests of a proof: those of commitments, and those of paths.
fn digests(proof: &mut InnerProof) -> [Vec<&mut Digest>; 2] {
    let InnerProof { log_rows: _, trace, quotient, random: _, out_of_domain_work: _, opened: _, opening } =
        proof;
    let (mut caps, mut siblings) = (Vec::new(), Vec::new());
    caps.extend(trace.iter_mut().chain(quotient));
    for round in &mut opening.rounds {
        caps.extend(&mut round.commitment);
        siblings.extend(&mut round.siblings);
    }
    siblings.extend(opening.rows.iter_mut().flat_map(|rows| &mut rows.siblings));
    [caps, siblings]
}

/// The first violation, if any.
fn violation(case: &Case, proof: &InnerProof) -> Option<Unsatisfied> {
    let inner = [Inner { public_values: &case.public_values[0], proof }];
    case.statement.build(Level::best(), &inner).check().err()
}

#[test]
fn every_word_of_a_proof_counts() {
    for case in [Case::fibonacci(&SMALL, 3, 1), sequence(&SMALL, 8)] {
        let count = words(&mut case.proofs[0].clone()).len();
        for at in 0..count {
            let mut proof = case.proofs[0].clone();
            *words(&mut proof)[at] += Goldilocks::ONE;
            assert!(violation(&case, &proof).is_some(), "word {at}");
        }
    }
}

#[test]
fn every_digest_of_a_proof_counts() {
    let case = Case::fibonacci(&SMALL, 4, 1);
    let counts = digests(&mut case.proofs[0].clone()).map(|digests| digests.len());
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    for (kind, count) in counts.into_iter().enumerate() {
        for at in 0..count {
            let mut proof = case.proofs[0].clone();
            digests(&mut proof)[kind][at].0[0] ^= 1;
            let violation = violation(&case, &proof).expect("a violation");
            // Nothing else depends on siblings.
            let of_path = matches!(&violation, Unsatisfied::Equality { gadget: Some(gadget), .. } if gadget.contains("row of a tree"));
            assert!(of_path || kind == 0, "sibling {at}: {violation}");
        }
    }
}

#[test]
fn public_values_count() {
    let case = Case::fibonacci(&SMALL, 4, 2);
    for proof in 0..2 {
        for at in 0..3 {
            let mut public_values = case.public_values.clone();
            public_values[proof][at] += Goldilocks::ONE;
            let inner: Vec<_> = public_values
                .iter()
                .zip(&case.proofs)
                .map(|(public_values, proof)| Inner { public_values, proof })
                .collect();
            assert!(!case.accepts(&inner), "value {at} of proof {proof}");
        }
    }
    let [first, second] = case.inner()[..] else { unreachable!("two proofs") };
    assert!(case.accepts(&[first, second]));
    assert!(case.accepts(&[second, first]));
    let swapped = [first, second].map(|inner| inner.public_values);
    let crossed = [(swapped[1], first.proof), (swapped[0], second.proof)];
    assert!(!case.accepts(&crossed.map(|(public_values, proof)| Inner { public_values, proof })));
}

/// Fibonacci with one more in each step, or the last public value off by one.
struct Other {
    step: u64,
    last: u64,
}

impl Air for Other {
    fn columns(&self) -> usize {
        2
    }

    fn public_values(&self) -> usize {
        3
    }

    fn constrain(&self, row: Row) {
        let (a, b) = (row.column(0), row.column(1));
        for column in 0..2 {
            (row.is_first() * (row.column(column) - row.public_value(column))).must_vanish();
        }
        (row.is_transition() * (row.next(0) - b)).must_vanish();
        (row.is_transition() * (row.next(1) - (a + b + Expression::from(Goldilocks::new(self.step)))))
            .must_vanish();
        (row.is_last() * (b - (row.public_value(2) + Expression::from(Goldilocks::new(self.last)))))
            .must_vanish();
    }
}

/// Where the transcript does not depend on what the constraints are, all else holds.
#[test]
fn proofs_of_other_constraints_are_refused() {
    let execution = Fibonacci.trace(4, [1, 2].map(Goldilocks::new));
    let executions = [(execution.trace, execution.public_values)];
    let constraints = Constraints::new(&Fibonacci).expect("constraints").as_in_plonky3();
    let case = Case::of(&Fibonacci, &constraints, &SMALL, &executions);
    for (air, valid) in [
        (Other { step: 0, last: 0 }, true),
        (Other { step: 1, last: 0 }, false),
        (Other { step: 0, last: 1 }, false),
    ] {
        let constraints = Constraints::new(&air).expect("constraints").as_in_plonky3();
        let statement = Statement { constraints, ..case.statement.clone() };
        match statement.build(Level::best(), &case.inner()).check() {
            Ok(()) => assert!(valid),
            Err(Unsatisfied::Gate { gadget: Some(gadget), .. }) => {
                assert!(!valid && gadget.starts_with("constraints"), "{gadget}");
            }
            Err(violation) => panic!("{violation}"),
        }
    }
}

/// The commitment to preprocessed columns is the key's.
#[test]
fn proofs_with_other_preprocessed_columns_are_refused() {
    let case = sequence(&SMALL, 8);
    let mut statement = case.statement.clone();
    if let Some(cap) = &mut statement.preprocessed {
        cap[0].0[0] ^= 1;
    }
    assert!(statement.build(Level::best(), &case.inner()).check().is_err());
}

/// All variables, three changes of each: no row holds where the first one does not.
#[test]
fn every_variable_is_constrained() {
    let case = Case::fibonacci(&Parameters { queries: 1, ..SMALL }, 3, 1);
    let circuit = case.statement.build(Level::best(), &case.inner());
    let (layout, mut values) = circuit.into_layout();
    assert!(check_layout(&layout, &values).is_ok());
    // A gate reads its row and the next one.
    let mut rows_of = vec![Vec::new(); values.len()];
    for wire in &layout.variables_of {
        for (row, variable) in wire.iter().enumerate() {
            rows_of[*variable as usize].extend([row.saturating_sub(1), row]);
        }
    }
    let (checker, mut rng, mut changes) = (LayoutChecker::new(&layout), rng(2), 0);
    // The first variable marks unused cells.
    for (variable, rows) in rows_of.iter().enumerate().skip(1).filter(|(_, rows)| !rows.is_empty()) {
        let honest = values[variable];
        for change in [Fr::ONE, Fr::from(MODULUS), Fr::random(&mut rng)] {
            values[variable] = honest + change;
            assert!(rows.iter().any(|row| checker.row(&values, *row).is_err()), "variable {variable}");
            changes += 1;
        }
        values[variable] = honest;
    }
    assert!(changes > 3 * layout.rows(), "{changes} changes, {} rows", layout.rows());
}

#[test]
fn what_is_wrong_is_said() {
    let level = Level::best();
    let case = Case::fibonacci(&SMALL, 3, 2);
    let message = |inner: &[Inner<'_>]| match case.statement.wrap(level, inner) {
        Ok(_) => panic!("expected an error"),
        Err(error) => error.to_string(),
    };
    let inner = case.inner();
    assert_eq!(message(&inner[..1]), "expected 2 inner proofs, found 1");
    let mut proof = case.proofs[1].clone();
    proof.opened.trace[0].0[0] += Goldilocks::ONE;
    let forged = Inner { public_values: inner[1].public_values, proof: &proof };
    assert!(message(&[inner[0], forged]).starts_with("inner proof 1: "));
    let longer = Case::fibonacci(&SMALL, 4, 1);
    let found = message(&[inner[0], longer.inner()[0]]);
    assert!(found.contains("logarithm of the number of rows"), "{found}");

    let constraints = Constraints::new(&Fibonacci).expect("constraints");
    let refused = |parameters: &Parameters, preprocessed: Option<&Preprocessed>, log_rows, proofs| {
        Statement::new(level, &constraints, parameters, preprocessed, log_rows, proofs)
            .expect_err("a refusal")
            .to_string()
    };
    assert_eq!(refused(&Parameters { extension: 2, ..SMALL }, None, 3, 1), "extension: expected 3, found 2");
    assert_eq!(refused(&SMALL, None, 3, 0), "expected 1 inner proofs, found 0");
    assert!(refused(&SMALL, None, 40, 1).starts_with("log_rows: expected at most 31"));
    assert!(refused(&SMALL, None, 1, 1).starts_with("log_rows: expected at least 2"));
    let wide = Parameters { log_arity: 7, ..SMALL };
    assert_eq!(refused(&wide, None, 3, 1), "log_arity: expected at most 6 for a wrap, found 7");
    assert!(refused(&SMALL, None, 3, usize::MAX).starts_with("proofs: expected at most "));
    let columns = Preprocessed { columns: 1, values: vec![Goldilocks::ONE; 8] };
    assert!(refused(&SMALL, Some(&columns), 3, 1).contains("0 columns of 2^3 rows"));
}
