//! Our verifier against Plonky3's on changed proofs: the same verdicts, and no panic. Plonky3's may panic, which is a refusal.

use crate::airs::{Example, Fibonacci, Powers, Preprocessed, Products, RoundConstants};
use crate::configurations::{
    PARAMETERS, Parameters,
    defaults::{cubic_8, quadratic_8, quadratic_12},
    stock_keccak,
};
use crate::mutations::{
    ACCEPTED, SAMPLES, Tally, above, caught, changes_in_memory, opened_rows, other_parameters,
};
use p3_air::Air;
use p3_challenger::GrindingChallenger;
use p3_commit::PolynomialSpace;
use p3_field::PrimeCharacteristicRing;
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{
    Domain, Proof, QuotientAir, StarkGenericConfig, VerifierConstraintFolder, prove_with_preprocessed,
    setup_preprocessed, verify_with_preprocessed,
};
use proofmill_field::goldilocks::{Extension, ExtensionField, Goldilocks as Element};
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::Configuration;
use proofmill_stark::StarkHash;
use proofmill_testing::for_each_pool;
use serde_json::Value;

/// Compares verdicts on a valid proof, an invalid one, and changed ones.
fn compare<SC, const D: usize>(
    tally: &mut Tally,
    hash: &dyn StarkHash,
    config: impl Fn(Parameters) -> SC,
    case: Parameters,
    air: &Example,
    trace: &RowMajorMatrix<Goldilocks>,
    public: &[Goldilocks],
) where
    SC: Configuration<D> + StarkGenericConfig<Challenger: GrindingChallenger<Witness = Goldilocks>>,
    Domain<SC>: PolynomialSpace<Val = Goldilocks>,
    Example: QuotientAir<SC> + for<'a> Air<VerifierConstraintFolder<'a, SC>>,
    Extension<Element, D>: ExtensionField<D>,
{
    let of_case = config(case);
    let log_rows = trace.height().ilog2() as usize;
    let (key, verifier) = setup_preprocessed(&of_case, air, log_rows).expect("a set-up").unzip();
    let prove = |trace: &RowMajorMatrix<Goldilocks>| {
        let proof = prove_with_preprocessed(&of_case, air, trace.clone(), public, key.as_ref());
        serde_json::to_value(proof.expect("a proof")).expect("JSON")
    };
    let decode = |json: &Value| serde_json::from_value::<Proof<SC>>(json.clone());
    let verdicts = |config: &SC, case: Parameters, proof: &Proof<SC>, public: &[Goldilocks]| {
        let verifier = verifier.as_ref();
        let theirs = caught(|| verify_with_preprocessed(config, air, proof, public, verifier).is_ok());
        let parameters = case.of_engine(D as u32);
        let ours = caught(|| {
            proofmill_p3::verify_with_preprocessed::<_, _, D>(hash, &parameters, air, proof, public, verifier)
                .is_ok()
        });
        [theirs, ours]
    };
    let json = prove(trace);
    let proof = decode(&json).expect("a proof");
    assert_eq!(verdicts(&of_case, case, &proof, public), ACCEPTED);

    // Words of elements in memory may be above p.
    let mut words_above = decode(&json).expect("a proof");
    words_above.ood_pow_witness = above(proof.ood_pow_witness);
    let public_above: Vec<_> = public.iter().map(|value| above(*value)).collect();
    assert_eq!(verdicts(&of_case, case, &words_above, &public_above), ACCEPTED);

    let mut unsatisfied = trace.clone();
    unsatisfied.values[0] += Goldilocks::ONE;
    let invalid = decode(&prove(&unsatisfied)).expect("a proof");
    tally.refused("constraints that do not hold", verdicts(&of_case, case, &invalid, public));
    for index in 0..public.len() {
        let mut changed = public.to_vec();
        changed[index] += Goldilocks::ONE;
        tally.refused("another public value", verdicts(&of_case, case, &proof, &changed));
        let fewer = [&public[..index], &public[index + 1..]].concat();
        tally.refused("fewer public values", verdicts(&of_case, case, &proof, &fewer));
    }
    let more = [public, &[Goldilocks::ZERO]].concat();
    tally.refused("more public values", verdicts(&of_case, case, &proof, &more));
    for other in other_parameters(case) {
        // Some have the same meaning for as few rows.
        tally.count("other parameters", verdicts(&config(other), other, &proof, public));
    }
    for (kind, change) in changes_in_memory() {
        let mut changed = decode(&json).expect("a proof");
        change(&mut changed.opened_values);
        tally.count(kind, verdicts(&of_case, case, &changed, public));
    }
    let mut chunks = vec!["/opened_values/quotient_chunks".to_owned()];
    chunks.extend(opened_rows(&json, 1, None));
    let mut columns = vec!["/opened_values/trace_local".to_owned(), "/opened_values/trace_next".to_owned()];
    columns.extend(opened_rows(&json, 0, Some(0)));
    tally.sample(&json, &[chunks, columns], case.num_queries as u64, |changed| {
        decode(changed).ok().map(|proof| verdicts(&of_case, case, &proof, public))
    });
}

/// Compares verdicts with all hashes and extensions, each with other parameters.
fn same_verdicts(air: Example, trace: &RowMajorMatrix<Goldilocks>, public: &[Goldilocks]) {
    let [a, b, c, d] = PARAMETERS.map(|case| Parameters { num_queries: case.num_queries.min(5), ..case });
    // One thread always finds the same proofs of work.
    for_each_pool(&[1], |_| {
        let mut all = Tally::default();
        let [width_8, width_12] = [&Sponge(Poseidon2::<8>) as &dyn StarkHash, &Sponge(Poseidon2::<12>)];
        compare::<_, 2>(&mut all, width_8, quadratic_8::config, a, &air, trace, public);
        compare::<_, 3>(&mut all, width_8, cubic_8::config, b, &air, trace, public);
        compare::<_, 2>(&mut all, width_12, quadratic_12::config, c, &air, trace, public);
        compare::<_, 2>(&mut all, &Keccak, stock_keccak::config, d, &air, trace, public);
        println!("{all:?}");
        assert!(all.tried >= 500 * SAMPLES, "{all:?}");
    });
}

#[test]
fn a_fibonacci_sequence() {
    let (trace, public) = Fibonacci::trace(4);
    same_verdicts(Example::Fibonacci(Fibonacci), &trace, &public);
}

#[test]
fn a_trace_of_high_degree() {
    let air = Powers { columns: 3, degree: 7 };
    same_verdicts(Example::Powers(air), &air.trace(3), &[]);
}

#[test]
fn periodic_columns() {
    same_verdicts(Example::RoundConstants(RoundConstants), &RoundConstants.trace(3), &[]);
}

#[test]
fn preprocessed_columns() {
    same_verdicts(Example::Preprocessed(Preprocessed { log_rows: 4 }), &Preprocessed::trace(4), &[]);
}

#[test]
fn constraints_that_do_not_read_the_next_row() {
    same_verdicts(Example::Products(Products { log_rows: 3 }), &Products::trace(3), &[]);
}
