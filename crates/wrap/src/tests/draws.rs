//! Every message changes all later draws of the transcript in the circuit, and no earlier one.

use super::{
    chain::{CHAINS, Chain},
    *,
};
use crate::element::Cubic;
use proofmill_field::goldilocks::MODULUS;
use proofmill_stark::OpenedValues;
use std::cell::RefCell;

thread_local! {
    static DRAWS: RefCell<Vec<Fr>> = const { RefCell::new(Vec::new()) };
}

/// Writes down a draw of this thread's circuits.
pub(crate) fn record(draw: Fr) {
    DRAWS.with_borrow_mut(|draws| draws.push(draw));
}

/// The draws of the circuit for a proof, and whether it is satisfied.
fn draws(statement: &Statement, public_values: &[Goldilocks], proof: &InnerProof) -> (Vec<Fr>, bool) {
    DRAWS.take();
    let circuit = statement.build(Level::best(), &[Inner { public_values, proof }]);
    (DRAWS.take(), circuit.check().is_ok())
}

/// Asserts that draws differ from the one on that has so many before it, and no earlier one.
#[track_caller]
fn assert_from(before: usize, honest: &[Fr], changed: &[Fr], what: &str) {
    assert_eq!(honest.len(), changed.len(), "{what}");
    for (index, (honest, changed)) in honest.iter().zip(changed).enumerate() {
        assert_eq!(honest != changed, index >= before, "{what}: draw {index}, expected from {before} on");
    }
}

/// Draws before the point out of the domain is drawn, with the proof of work in front of it; before openings are combined; before the
/// first fold.
const ZETA: usize = DEGREE;
const BATCHING: usize = ZETA + 1 + DEGREE;
const FOLDS: usize = BATCHING + 1 + DEGREE;

/// The draws before fold `index`, or before the queries after the last.
fn before_fold(index: usize) -> usize {
    FOLDS + (1 + DEGREE) * index
}

fn coordinates(elements: &mut [Cubic]) -> Vec<&mut Goldilocks> {
    elements.iter_mut().flat_map(|element| &mut element.0).collect()
}

/// All words of a proof, with the number of draws before them. `all` is the number of all draws.
fn words(proof: &mut InnerProof, all: usize) -> Vec<(usize, Vec<&mut Goldilocks>)> {
    // By all names, so that none is forgotten.
    let InnerProof { log_rows: _, trace: _, quotient: _, random: _, out_of_domain_work, opened, opening } =
        proof;
    let OpenedValues { trace, next, preprocessed, next_preprocessed, quotient, beside_quotient, random } =
        opened;
    let OpeningProof { batching_work, rounds, final_polynomial, query_work, rows } = opening;
    let queries = before_fold(rounds.len());
    let mut words = vec![(ZETA, vec![out_of_domain_work]), (BATCHING, vec![batching_work])];
    let quotient = quotient.as_flattened_mut();
    for values in [trace, next, preprocessed, next_preprocessed, quotient, beside_quotient, random] {
        words.push((BATCHING, coordinates(values)));
    }
    for (index, Round { commitment: _, work, others, salts, siblings: _ }) in rounds.iter_mut().enumerate() {
        words.push((before_fold(index), vec![work]));
        words.push((all, coordinates(others)));
        words.push((all, salts.iter_mut().collect()));
    }
    words.push((queries, coordinates(final_polynomial)));
    words.push((queries, vec![query_work]));
    for OpenedRows { values, siblings: _ } in rows {
        words.push((all, values.iter_mut().collect()));
    }
    words
}

/// All digests of a proof, with the number of draws before them.
fn digests(proof: &mut InnerProof, all: usize) -> Vec<(usize, Vec<&mut Digest>)> {
    let mut digests =
        vec![(0, proof.trace.iter_mut().collect()), (ZETA, proof.quotient.iter_mut().collect())];
    for (index, round) in proof.opening.rounds.iter_mut().enumerate() {
        digests.push((before_fold(index), round.commitment.iter_mut().collect()));
        digests.push((all, round.siblings.iter_mut().collect()));
    }
    for rows in &mut proof.opening.rows {
        digests.push((all, rows.siblings.iter_mut().collect()));
    }
    digests
}

/// Changes some parts of a proof, one at a time.
fn every_part_counts<T>(
    case: &Case,
    honest: &[Fr],
    parts: impl Fn(&mut InnerProof, usize) -> Vec<(usize, Vec<&mut T>)>,
    change: impl Fn(&mut T),
) {
    let (proof, public_values) = (&case.proofs[0], &case.public_values[0]);
    let sizes: Vec<usize> =
        parts(&mut proof.clone(), honest.len()).iter().map(|(_, parts)| parts.len()).collect();
    for (kind, size) in sizes.into_iter().enumerate() {
        for index in 0..size {
            let mut proof = proof.clone();
            let (before, mut parts) = parts(&mut proof, honest.len()).swap_remove(kind);
            change(parts[index]);
            let (changed, _) = draws(&case.statement, public_values, &proof);
            assert_from(before, honest, &changed, &format!("kind {kind}, {index}"));
        }
    }
}

#[test]
fn every_message_changes_all_later_draws_and_no_earlier_one() {
    let mut case = sequence(&Parameters { queries: 1, ..SMALL }, 8);
    let (honest, valid) = draws(&case.statement, &case.public_values[0], &case.proofs[0]);
    assert!(valid);
    assert_eq!(honest.len(), before_fold(case.proofs[0].opening.rounds.len()) + 2);
    every_part_counts(&case, &honest, words, |word| *word += Goldilocks::ONE);
    every_part_counts(&case, &honest, digests, |digest| digest.0[0] ^= 1);

    let mut public_values = case.public_values[0].clone();
    for index in 0..public_values.len() {
        public_values[index] += Goldilocks::ONE;
        let (changed, _) = draws(&case.statement, &public_values, &case.proofs[0]);
        assert_from(0, &honest, &changed, "a public value");
        public_values[index] -= Goldilocks::ONE;
    }
    for index in 0..case.statement.preprocessed.as_ref().map_or(0, Vec::len) {
        let mut statement = case.statement.clone();
        statement.preprocessed.as_mut().expect("columns")[index].0[0] ^= 1;
        let (changed, _) = draws(&statement, &public_values, &case.proofs[0]);
        assert_from(0, &honest, &changed, "the commitment to preprocessed columns");
    }
    let constraints = case.statement.constraints;
    let mut periodic = constraints.periodic().to_vec();
    periodic[0][1] += Goldilocks::ONE;
    let graph = constraints.graph().clone();
    case.statement.constraints =
        Constraints::from_graph(graph, 2, 1, 3, periodic, [true, false]).expect("constraints");
    let (changed, _) = draws(&case.statement, &public_values, &case.proofs[0]);
    assert_from(0, &honest, &changed, "a constant of the AIR");
}

/// Whether the circuit for other constants, chosen after a proof so that its public values are wrong, takes the proof.
fn takes_constants_chosen_after(chain: Chain, of_chain: impl Fn(Chain) -> Constraints) -> bool {
    let execution = (chain.trace(), chain.ends().to_vec());
    let case = Case::of(&chain, &of_chain(chain), &SMALL, &[execution]);
    let proof = &case.proofs[0];
    let (drawn, valid) = draws(&case.statement, &chain.ends(), proof);
    assert!(valid);
    let word = |draw: Fr| {
        let [low, high, ..] = draw.to_canonical().map(u128::from);
        Goldilocks::new(((high << 64 | low) % u128::from(MODULUS)) as u64)
    };
    let zeta = Extension(std::array::from_fn(|i| word(drawn[ZETA + 1 + i])));
    let other = chain.with(chain.chosen_after(zeta, proof.opened.trace[0]));
    assert_ne!(other.ends(), chain.ends(), "a false statement");
    let statement = Statement { constraints: of_chain(other), ..case.statement.clone() };
    draws(&statement, &chain.ends(), proof).1
}

#[test]
fn constants_cannot_be_chosen_after_a_proof() {
    for chain in CHAINS {
        assert!(!takes_constants_chosen_after(chain, Chain::constraints));
        // Why the transcript has them.
        assert!(takes_constants_chosen_after(chain, |chain| chain.constraints().as_in_plonky3()));
    }
}
