//! Proofs of our engine for AIRs of Plonky3: the same bytes as Plonky3's own.

use crate::airs::{Example, Fibonacci, Powers, Preprocessed, Products, RoundConstants};
use crate::batches::Batch;
use crate::configurations::{Challenge, PARAMETERS, Parameters, defaults, elements, hiding, stock_keccak};
use p3_batch_stark::{ProverData, StarkInstance, verify_batch};
use p3_field::PrimeCharacteristicRing;
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{StarkGenericConfig, setup_preprocessed, verify_with_preprocessed};
use proofmill_cpu::Level;
use proofmill_hash::{Keccak, Poseidon2, Sponge};
use proofmill_p3::{batch_from_plonky3, from_plonky3};
use proofmill_stark::{
    Constraints, PreprocessedKey, Proof, StarkError, TablesKey, TablesProof, verify, verify_tables,
};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};

const THREADS: [usize; 3] = [1, 2, 5];

/// Compares both proofs as Plonky3 writes them, on several threads at every level; Plonky3 verifies ours, and we verify Plonky3's.
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
            let public_values = elements(public);
            for_each_pool(&THREADS, |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let key = proofmill_p3::preprocessed_key(level, $hash, &parameters, &air).expect("a key");
                    let place = format!("{threads} threads, {level}, {log_rows}");
                    let proof: p3_uni_stark::Proof<stock::Config> = proofmill_p3::prove::<_, _, $degree>(
                        level.into(),
                        $hash,
                        &parameters,
                        &air,
                        key.as_ref(),
                        trace.clone(),
                        public,
                    )
                    .expect(&place);
                    assert!(serde_json::to_string(&proof).expect("JSON") == json, "{place}");
                    let ours: Proof<$degree> = from_plonky3(&expected).expect(&place);
                    let commitment = key.as_ref().map(PreprocessedKey::commitment);
                    verify(level, $hash, &parameters, &constraints, commitment, &public_values, &ours)
                        .expect(&place);
                    if threads == THREADS[0] {
                        verify_with_preprocessed(&config, &air, &proof, public, verifier.as_ref())
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
            type Extension = <stock::Config as StarkGenericConfig>::Challenge;
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
                proofmill_p3::tables::<Extension, _>(&batch.airs, &data.common.lookups).expect("tables");
            let public_values: Vec<_> = batch.public_values.iter().map(|values| elements(values)).collect();
            let public_values: Vec<&[_]> = public_values.iter().map(Vec::as_slice).collect();
            for_each_pool(&THREADS, |threads| {
                for_each_goldilocks_level(|level: Level| {
                    let place = format!("{threads} threads, {level}");
                    let key = proofmill_p3::tables_key(level, $hash, &parameters, &batch.airs, &tables);
                    let key = key.expect("a key");
                    let proof: p3_batch_stark::BatchProof<stock::Config> =
                        proofmill_p3::prove_batch::<_, _, $degree>(
                            level.into(),
                            $hash,
                            &parameters,
                            &instances(),
                            &data.common,
                            key.as_ref(),
                        )
                        .expect(&place);
                    assert!(serde_json::to_string(&proof).expect("JSON") == json, "{place}");
                    let ours: TablesProof<$degree> = batch_from_plonky3(&expected).expect(&place);
                    let key = key.as_ref().map(TablesKey::verifying_key);
                    assert!(proofmill_p3::batch_key(&tables, &data.common).expect("a key") == key, "{place}");
                    verify_tables(level, $hash, &parameters, &tables, key.as_ref(), &public_values, &ours)
                        .expect(&place);
                    if threads == THREADS[0] {
                        verify_batch(&config, &batch.airs, &proof, &batch.public_values, &data.common)
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

/// Plonky3's prover gives proofs of such traces that no verifier accepts, or panics if it is built for debugging.
#[test]
fn false_traces_are_refused() {
    let (config, parameters) = (defaults::quadratic_8::config(PARAMETERS[0]), PARAMETERS[0].of_engine(2));
    let (level, hash) = (Level::best(), &Sponge(Poseidon2::<8>));
    let prove = |batch: &Batch| {
        let traces: Vec<_> = batch.traces.iter().collect();
        let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
        let data = ProverData::from_instances(&config, &instances).expect("data");
        let tables = proofmill_p3::tables::<Challenge, _>(&batch.airs, &data.common.lookups);
        let key = proofmill_p3::tables_key(level, hash, &parameters, &batch.airs, &tables.expect("tables"));
        let (common, key) = (&data.common, key.expect("a key"));
        proofmill_p3::prove_batch::<_, _, 2>(
            level.into(),
            hash,
            &parameters,
            &instances,
            common,
            key.as_ref(),
        )
        .map(drop)
    };
    let batch = || Batch::with_lookups([4, 5]);
    prove(&batch()).expect("a proof");
    // In order: a pair whose low integer is another one, the first of Fibonacci's sequence, a count, an integer, and one that is not looked up.
    for (table, place, valid) in [(0, 2, false), (1, 0, false), (2, 3, false), (3, 2, false), (3, 8, true)] {
        let mut batch = batch();
        batch.traces[table].values[place] += Goldilocks::ONE;
        let verdict = prove(&batch);
        assert_eq!(verdict.is_ok(), valid, "table {table}, value {place}: {verdict:?}");
        let is_named = match verdict {
            Ok(()) | Err(StarkError::Unbalanced { .. }) => true,
            Err(StarkError::Table { table: found, source }) => {
                found == table && matches!(*source, StarkError::Unsatisfied { .. })
            }
            Err(_) => false,
        };
        assert!(is_named, "table {table}, value {place}");
    }
    let (mut trace, public) = Fibonacci::trace(5);
    trace.values[7] += Goldilocks::ONE;
    let verdict = proofmill_p3::prove::<defaults::quadratic_8::Config, _, 2>(
        level.into(),
        hash,
        &parameters,
        &Fibonacci,
        None,
        trace,
        &public,
    );
    assert!(matches!(verdict, Err(StarkError::Unsatisfied { row: 2, .. })), "{:?}", verdict.err());
}

/// A configuration that blinds needs parameters that do, and the other way round; a key must be the verifier's.
#[test]
fn other_configurations_and_keys_are_refused() {
    let case = PARAMETERS[0];
    let (trace, public) = Fibonacci::trace(5);
    let (plain, blinded) = (case.of_engine(2), Parameters { random_columns: 4, ..case }.of_engine(2));
    macro_rules! message {
        ($config:ty, $parameters:expr) => {{
            let (run, hash) = (Level::best().into(), &Keccak);
            let trace = trace.clone();
            proofmill_p3::prove::<$config, _, 2>(run, hash, &$parameters, &Fibonacci, None, trace, &public)
                .map(drop)
                .map_err(|error| error.to_string())
        }};
    }
    assert_eq!(message!(stock_keccak::Config, plain), Ok(()));
    assert_eq!(message!(hiding::quadratic::Config, blinded), Ok(()));
    let refused = |expected: &str| Err(format!("parameters: random_columns: expected {expected}"));
    assert_eq!(
        message!(stock_keccak::Config, blinded),
        refused("0, as the configuration is not blinded, found 4")
    );
    assert_eq!(
        message!(hiding::quadratic::Config, plain),
        refused("at least 1, as the configuration is blinded, found 0")
    );

    let (batch, config) = (Batch::with_lookups([4, 5]), stock_keccak::config(case));
    let traces: Vec<_> = batch.traces.iter().collect();
    let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
    let common = ProverData::from_instances(&config, &instances).expect("data").common;
    let tables = proofmill_p3::tables::<Challenge, _>(&batch.airs, &common.lookups).expect("tables");
    // With a cap of two digests.
    let other = proofmill_stark::Parameters { cap_height: 1, ..plain };
    let key = proofmill_p3::tables_key(Level::best(), &Keccak, &other, &batch.airs, &tables).expect("a key");
    for key in [None, key.as_ref()] {
        let run = Level::best().into();
        let verdict =
            proofmill_p3::prove_batch::<_, _, 2>(run, &Keccak, &plain, &instances, &common, key).map(drop);
        assert!(matches!(verdict, Err(StarkError::Preprocessed { .. })), "{verdict:?}");
    }
}
