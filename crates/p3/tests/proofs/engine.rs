//! Proofs of our engine, which knows nothing of Plonky3: as proofs of Plonky3, the same bytes as its own.

use crate::airs::{Example, Fibonacci, Powers, Preprocessed, Products, RoundConstants};
use crate::batches::{Batch, OfEngine};
use crate::configurations::{PARAMETERS, defaults, elements, stock_keccak};
use p3_batch_stark::{ProverData, StarkInstance, verify_batch};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{StarkGenericConfig, setup_preprocessed, verify_with_preprocessed};
use proofmill_cpu::Level;
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::{batch_from_plonky3, batch_to_plonky3, from_plonky3, to_plonky3};
use proofmill_stark::{
    Constraints, PreprocessedKey, Proof, TablesKey, TablesProof, Trace, prove, prove_tables, verify,
    verify_tables,
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};

const THREADS: [usize; 3] = [1, 2, 5];

/// Compares both proofs as Plonky3 writes them, and as ours; Plonky3 verifies ours, and we verify it on several threads at every level.
macro_rules! same_proofs {
    ($stock:path, $hash:expr, $degree:literal, $air:expr, $trace:expr, $public:expr) => {
        for case in PARAMETERS {
            use $stock as stock;
            let (air, trace, public): (Example, &RowMajorMatrix<Goldilocks>, &[Goldilocks]) =
                ($air, $trace, $public);
            let log_rows = trace.height().ilog2() as usize;
            if case.log_final_poly_len >= log_rows {
                continue;
            }
            let config = stock::config(case);
            let (key, verifier) = setup_preprocessed(&config, &air, log_rows).expect("a set-up").unzip();
            let expected =
                rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool").install(|| {
                    p3_uni_stark::prove_with_preprocessed(&config, &air, trace.clone(), public, key.as_ref())
                });
            let expected: p3_uni_stark::Proof<stock::Config> = expected.expect("a proof");
            let json = serde_json::to_string(&expected).expect("JSON");
            let parameters = case.of_engine($degree);
            let constraints: Constraints = proofmill_p3::constraints(&air).expect("constraints");
            let (values, public_values) = (elements(&trace.values), elements(public));
            for_each_pool(&THREADS, |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let key = proofmill_p3::preprocessed_key(level, $hash, &parameters, &air).expect("a key");
                    let proof: Proof<$degree> = prove(
                        level.into(),
                        $hash,
                        &parameters,
                        &constraints,
                        key.as_ref(),
                        &values,
                        &public_values,
                    )
                    .expect("a proof");
                    let place = format!("{threads} threads, {level}, {log_rows}");
                    let converted: p3_uni_stark::Proof<stock::Config> = to_plonky3(&proof).expect(&place);
                    assert!(serde_json::to_string(&converted).expect("JSON") == json, "{place}");
                    assert!(from_plonky3(&expected).as_ref() == Ok(&proof), "{place}");
                    let commitment = key.as_ref().map(PreprocessedKey::commitment);
                    verify(level, $hash, &parameters, &constraints, commitment, &public_values, &proof)
                        .expect("valid");
                    if threads == THREADS[0] {
                        verify_with_preprocessed(&config, &air, &converted, public, verifier.as_ref())
                            .expect("Plonky3 verifies");
                    }
                });
            });
        }
    };
}

fn same_proofs_with_all_hashes(air: Example, trace: &RowMajorMatrix<Goldilocks>, public: &[Goldilocks]) {
    same_proofs!(defaults::quadratic_8, &Sponge(Poseidon2::<8>), 2, air, trace, public);
    same_proofs!(defaults::cubic_8, &Sponge(Poseidon2::<8>), 3, air, trace, public);
    same_proofs!(defaults::quadratic_12, &Sponge(Poseidon2::<12>), 2, air, trace, public);
    same_proofs!(stock_keccak, &Keccak, 2, air, trace, public);
}

#[test]
fn a_fibonacci_sequence() {
    for log_rows in [3, 6] {
        let (trace, public) = Fibonacci::trace(log_rows);
        same_proofs_with_all_hashes(Example::Fibonacci(Fibonacci), &trace, &public);
    }
}

#[test]
fn a_wide_trace_of_high_degree() {
    let air = Powers { columns: 37, degree: 3 };
    same_proofs_with_all_hashes(Example::Powers(air), &air.trace(5), &[]);
    // A quotient of more polynomials than the extension is times as long as the trace.
    let air = Powers { columns: 3, degree: 7 };
    same_proofs_with_all_hashes(Example::Powers(air), &air.trace(5), &[]);
}

#[test]
fn a_single_row() {
    let air = Powers { columns: 3, degree: 2 };
    same_proofs_with_all_hashes(Example::Powers(air), &air.trace(0), &[]);
}

#[test]
fn periodic_columns() {
    same_proofs_with_all_hashes(Example::RoundConstants(RoundConstants), &RoundConstants.trace(5), &[]);
}

#[test]
fn preprocessed_columns() {
    same_proofs_with_all_hashes(
        Example::Preprocessed(Preprocessed { log_rows: 5 }),
        &Preprocessed::trace(5),
        &[],
    );
}

#[test]
fn constraints_that_do_not_read_the_next_row() {
    same_proofs_with_all_hashes(Example::Products(Products { log_rows: 5 }), &Products::trace(5), &[]);
}

/// The same for several tables.
macro_rules! same_batches {
    ($stock:path, $hash:expr, $degree:literal, $batch:expr) => {
        for case in PARAMETERS {
            use $stock as stock;
            type Challenge = <stock::Config as StarkGenericConfig>::Challenge;
            let batch: Batch = $batch;
            let config = stock::config(case);
            let traces: Vec<_> = batch.traces.iter().collect();
            let instances = || StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
            let data = ProverData::from_instances(&config, &instances()).expect("data");
            let expected = rayon::ThreadPoolBuilder::new()
                .num_threads(1)
                .build()
                .expect("a pool")
                .install(|| p3_batch_stark::prove_batch(&config, &instances(), &data));
            let expected: p3_batch_stark::BatchProof<stock::Config> = expected.expect("a proof");
            let json = serde_json::to_string(&expected).expect("JSON");
            let parameters = case.of_engine($degree);
            let tables =
                proofmill_p3::tables::<Challenge, _>(&batch.airs, &data.common.lookups).expect("tables");
            let OfEngine { traces, public_values, preprocessed } = batch.of_engine();
            let values: Vec<_> = traces.iter().map(Trace::from).collect();
            let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
            for_each_pool(&THREADS, |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let key = TablesKey::new(level, $hash, &parameters, &tables, preprocessed.clone());
                    let key = key.expect("a key");
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
                    let place = format!("{threads} threads, {level}");
                    let converted: p3_batch_stark::BatchProof<stock::Config> =
                        batch_to_plonky3(&proof).expect(&place);
                    assert!(serde_json::to_string(&converted).expect("JSON") == json, "{place}");
                    assert!(batch_from_plonky3(&expected).as_ref() == Ok(&proof), "{place}");
                    let key = key.as_ref().map(TablesKey::verifying_key);
                    assert!(proofmill_p3::batch_key(&tables, &data.common).expect("a key") == key, "{place}");
                    verify_tables(level, $hash, &parameters, &tables, key.as_ref(), &public_values, &proof)
                        .expect("valid");
                    if threads == THREADS[0] {
                        verify_batch(&config, &batch.airs, &converted, &batch.public_values, &data.common)
                            .expect("Plonky3 verifies");
                        proofmill_p3::verify_batch::<_, _, $degree>(
                            $hash,
                            &parameters,
                            &batch.airs,
                            &expected,
                            &batch.public_values,
                            &data.common,
                        )
                        .expect("valid");
                    }
                });
            });
        }
    };
}

#[test]
fn tables_with_lookups() {
    for log_rows in [[3, 3], [7, 4], [4, 6]] {
        same_batches!(defaults::quadratic_8, &Sponge(Poseidon2::<8>), 2, Batch::with_lookups(log_rows));
        same_batches!(defaults::cubic_8, &Sponge(Poseidon2::<8>), 3, Batch::with_lookups(log_rows));
        same_batches!(stock_keccak, &Keccak, 2, Batch::with_lookups(log_rows));
    }
    same_batches!(defaults::quadratic_12, &Sponge(Poseidon2::<12>), 2, Batch::with_lookups([4, 5]));
}

#[test]
fn tables_without_lookups() {
    same_batches!(defaults::quadratic_8, &Sponge(Poseidon2::<8>), 2, Batch::without_lookups());
    same_batches!(stock_keccak, &Keccak, 2, Batch::without_lookups());
}
