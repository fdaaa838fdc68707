//! Blinded proofs: Plonky3 accepts ours, we accept Plonky3's, and both verifiers have the same verdicts on changed ones.

use crate::airs::{Example, Fibonacci, Powers, Preprocessed, Products, RoundConstants};
use crate::batches::{Batch, OfEngine};
use crate::configurations::{
    PARAMETERS, Parameters, elements,
    hiding::{cubic, quadratic},
};
use crate::mutations::{ACCEPTED, SAMPLES, Tally, Verdicts, caught, opened_rows};
use p3_batch_stark::{ProverData, StarkInstance};
use p3_field::PrimeCharacteristicRing;
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{StarkGenericConfig, setup_preprocessed, verify_with_preprocessed};
use proofmill_cpu::Level;
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::{batch_from_plonky3, batch_key, batch_to_plonky3, from_plonky3, to_plonky3};
use proofmill_stark::{Memory, Proof, Run, Tables, TablesKey, TablesProof, Trace, prove, prove_tables};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};

fn cases() -> impl Iterator<Item = Parameters> {
    let blinded =
        |case: Parameters| Parameters { num_queries: case.num_queries.min(5), random_columns: 4, ..case };
    PARAMETERS.into_iter().map(blinded)
}

macro_rules! both_ways {
    ($config:ident, $hash:expr, $degree:literal, $air:expr, $trace:expr, $public:expr) => {
        for case in cases() {
            let (air, trace, public): (Example, &RowMajorMatrix<Goldilocks>, &[Goldilocks]) =
                ($air, $trace, $public);
            let log_rows = trace.height().ilog2() as usize;
            let config = $config::config(case);
            let parameters = case.of_engine($degree);
            let constraints = proofmill_p3::constraints(&air).expect("constraints");
            let (values, public_values) = (elements(&trace.values), elements(public));

            let (theirs, verifier) = setup_preprocessed(&config, &air, log_rows).expect("a set-up").unzip();
            let proof =
                p3_uni_stark::prove_with_preprocessed(&config, &air, trace.clone(), public, theirs.as_ref());
            let proof: p3_uni_stark::Proof<$config::Config> = proof.expect("a proof");
            let verdict = proofmill_p3::verify_with_preprocessed::<_, _, $degree>(
                $hash,
                &parameters,
                &air,
                &proof,
                public,
                verifier.as_ref(),
            );
            assert_eq!(verdict, Ok(()), "Plonky3's proof");
            let ours: Proof<$degree> = from_plonky3(&proof).expect("a proof");
            let again: p3_uni_stark::Proof<$config::Config> = to_plonky3(&ours).expect("a proof");
            let json = |proof| serde_json::to_string(&proof).expect("JSON");
            assert!(json(again) == json(proof), "another proof");

            for_each_pool(&[1, 2, 5], |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let key = proofmill_p3::preprocessed_key(level, $hash, &parameters, &air).expect("a key");
                    for memory in Memory::ALL {
                        let run = Run { memory: Some(memory), ..level.into() };
                        let proof: Proof<$degree> = prove(
                            run,
                            $hash,
                            &parameters,
                            &constraints,
                            key.as_ref(),
                            &values,
                            &public_values,
                        )
                        .expect("a proof");
                        // Plonky3's key has random salts; ours has zeros.
                        let verifier = verifier.clone().zip(key.as_ref()).map(|(mut verifier, key)| {
                            verifier.commitment = $config::cap(key.commitment().0);
                            verifier
                        });
                        let converted: p3_uni_stark::Proof<$config::Config> =
                            to_plonky3(&proof).expect("a proof");
                        let verdict =
                            verify_with_preprocessed(&config, &air, &converted, public, verifier.as_ref());
                        verdict.unwrap_or_else(|error| {
                            panic!("{threads} threads, {level}, {memory:?}: {error:?}")
                        });
                    }
                });
            });
        }
    };
}

fn both_ways(air: Example, trace: &RowMajorMatrix<Goldilocks>, public: &[Goldilocks]) {
    both_ways!(quadratic, &Keccak, 2, air, trace, public);
    both_ways!(cubic, &Sponge(Poseidon2::<8>), 3, air, trace, public);
}

#[test]
fn a_fibonacci_sequence() {
    for log_rows in [5, 7] {
        let (trace, public) = Fibonacci::trace(log_rows);
        both_ways(Example::Fibonacci(Fibonacci), &trace, &public);
    }
}

#[test]
fn a_wide_trace_of_high_degree() {
    let air = Powers { columns: 37, degree: 3 };
    both_ways!(quadratic, &Keccak, 2, Example::Powers(air), &air.trace(6), &[]);
}

#[test]
fn periodic_columns() {
    both_ways(Example::RoundConstants(RoundConstants), &RoundConstants.trace(5), &[]);
}

#[test]
fn preprocessed_columns() {
    both_ways(Example::Preprocessed(Preprocessed { log_rows: 6 }), &Preprocessed::trace(6), &[]);
}

#[test]
fn constraints_that_do_not_read_the_next_row() {
    both_ways(Example::Products(Products { log_rows: 5 }), &Products::trace(5), &[]);
}

macro_rules! batches_both_ways {
    ($config:ident, $hash:expr, $degree:literal, $batch:expr) => {
        for case in cases() {
            type Challenge = <$config::Config as StarkGenericConfig>::Challenge;
            let batch: Batch = $batch;
            let (config, parameters) = ($config::config(case), case.of_engine($degree));
            let traces: Vec<_> = batch.traces.iter().collect();
            let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
            let data = ProverData::from_instances(&config, &instances).expect("data");
            let proof = p3_batch_stark::prove_batch(&config, &instances, &data).expect("a proof");
            let verdict = proofmill_p3::verify_batch::<_, _, $degree>(
                $hash,
                &parameters,
                &batch.airs,
                &proof,
                &batch.public_values,
                &data.common,
            );
            assert_eq!(verdict, Ok(()), "Plonky3's proof");
            let ours: TablesProof<$degree> = batch_from_plonky3(&proof).expect("a proof");
            let again: p3_batch_stark::BatchProof<$config::Config> =
                batch_to_plonky3(&ours).expect("a proof");
            let json = |proof| serde_json::to_string(&proof).expect("JSON");
            assert!(json(again) == json(proof), "another proof");

            let tables: Tables =
                proofmill_p3::tables::<Challenge, _>(&batch.airs, &data.common.lookups).expect("tables");
            let OfEngine { traces, public_values, preprocessed } = batch.of_engine();
            let values: Vec<_> = traces.iter().map(Trace::from).collect();
            let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
            let key = |level| {
                TablesKey::new(level, $hash, &parameters, &tables, preprocessed.clone()).expect("a key")
            };
            // Plonky3's key has random salts; ours has zeros.
            let mut common = data.common;
            if let Some((theirs, key)) = common.preprocessed.as_mut().zip(key(Level::best())) {
                theirs.commitment = $config::cap(&key.verifying_key().cap);
            }
            let of_common = batch_key::<$config::Config, $degree>(&tables, &common).expect("a key");
            assert_eq!(of_common, key(Level::best()).as_ref().map(TablesKey::verifying_key));
            for_each_pool(&[1, 2, 5], |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let key = key(level);
                    let proof: TablesProof<$degree> = prove_tables(
                        level.into(),
                        $hash,
                        &parameters,
                        &tables,
                        key.as_ref(),
                        &values,
                        &public_values,
                    )
                    .expect("a proof");
                    let converted = batch_to_plonky3(&proof).expect("a proof");
                    let verdict = p3_batch_stark::verify_batch(
                        &config,
                        &batch.airs,
                        &converted,
                        &batch.public_values,
                        &common,
                    );
                    verdict.unwrap_or_else(|error| panic!("{threads} threads, {level}: {error:?}"));
                });
            });
        }
    };
}

#[test]
fn several_tables() {
    batches_both_ways!(quadratic, &Keccak, 2, Batch::with_lookups([5, 6]));
    batches_both_ways!(cubic, &Sponge(Poseidon2::<8>), 3, Batch::with_lookups([6, 5]));
}

/// Changed proofs and other parameters.
fn compare(tally: &mut Tally, case: Parameters, seed: u64) {
    let air = Example::Fibonacci(Fibonacci);
    let (trace, public) = Fibonacci::trace(5);
    let config = quadratic::config(case);
    let verdicts = |case: Parameters, proof: &p3_uni_stark::Proof<quadratic::Config>| -> Verdicts {
        let theirs = caught(|| p3_uni_stark::verify(&quadratic::config(case), &air, proof, &public).is_ok());
        let parameters = case.of_engine(2);
        let ours =
            caught(|| proofmill_p3::verify::<_, _, 2>(&Keccak, &parameters, &air, proof, &public).is_ok());
        [theirs, ours]
    };
    let proof = p3_uni_stark::prove(&config, &air, trace.clone(), &public).expect("a proof");
    assert_eq!(verdicts(case, &proof), ACCEPTED);
    for other in crate::mutations::other_parameters(case) {
        tally.count("other parameters", verdicts(other, &proof));
    }
    let mut unsatisfied = trace;
    unsatisfied.values[0] += Goldilocks::ONE;
    let invalid = p3_uni_stark::prove(&config, &air, unsatisfied, &public).expect("a proof");
    tally.refused("constraints that do not hold", verdicts(case, &invalid));
    let json = serde_json::to_value(&proof).expect("JSON");
    let lists = [vec!["/opened_values/quotient_chunks".to_owned()], opened_rows(&json, 2, None)];
    tally.sample(&json, &lists, seed, |changed| {
        let proof = serde_json::from_value(changed.clone()).ok()?;
        Some(verdicts(case, &proof))
    });
}

#[test]
fn verdicts_on_changed_proofs_are_the_same() {
    for_each_pool(&[1], |_| {
        let mut all = Tally::default();
        for (case, seed) in cases().zip(0..) {
            compare(&mut all, case, seed);
        }
        println!("{all:?}");
        assert!(all.tried >= 500 * SAMPLES, "{all:?}");
    });
}
