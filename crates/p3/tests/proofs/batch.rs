//! Proofs of several tables with lookups: the same bytes as Plonky3's, accepted by its verifier.

use crate::batches::Batch;
use crate::configurations::{
    PARAMETERS, Parameters, defaults::cubic_8, hiding::quadratic as hiding, keccak, keccak_kernels,
    poseidon2, poseidon2_kernels, stock_keccak, stock_poseidon2,
};
use p3_batch_stark::{ProverData, StarkInstance, verify_batch};
use p3_field::PrimeCharacteristicRing;
use p3_goldilocks::Goldilocks;
use p3_uni_stark::StarkGenericConfig;
use proofmill_testing::for_each_pool;

/// Proves with Plonky3 and with ours, compares the proofs' JSON, and verifies ours with Plonky3. Several threads may find different
/// witnesses of work, and Plonky3's draw randomness in any order.
macro_rules! same_proofs {
    ($stock:ident, $ours:ident, $batch:expr) => {
        for parameters in PARAMETERS {
            let parameters = Parameters { num_queries: 5, random_columns: 4, ..parameters };
            let batch = $batch;
            for_each_pool(&[1, 2, 5], |threads| {
                let (stock, ours) = ($stock::config(parameters), $ours::config(parameters));
                let traces: Vec<_> = batch.traces.iter().collect();
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&ours, &instances).expect("data");
                let proof = proofmill_p3::prove_batch(&ours, &instances, &data).expect("a proof");
                let json = serde_json::to_string(&proof).expect("JSON");
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&stock, &instances).expect("data");
                if threads == 1 || parameters.grinding == 0 && stock.is_zk() == 0 {
                    let expected = p3_batch_stark::prove_batch(&stock, &instances, &data).expect("a proof");
                    assert!(serde_json::to_string(&expected).expect("JSON") == json, "{threads} threads");
                }
                let proof = serde_json::from_str(&json).expect("a proof");
                verify_batch(&stock, &batch.airs, &proof, &batch.public_values, &data.common)
                    .expect("Plonky3 verifies");
            });
        }
    };
}

#[test]
fn tables_with_lookups() {
    for log_rows in [[3, 3], [6, 4], [4, 7]] {
        same_proofs!(stock_poseidon2, poseidon2, Batch::with_lookups(log_rows));
        same_proofs!(stock_poseidon2, poseidon2_kernels, Batch::with_lookups(log_rows));
        same_proofs!(stock_keccak, keccak, Batch::with_lookups(log_rows));
    }
}

#[test]
fn tables_without_lookups() {
    same_proofs!(stock_poseidon2, poseidon2, Batch::without_lookups());
    same_proofs!(stock_keccak, keccak_kernels, Batch::without_lookups());
}

/// Challenges from the cubic extension.
#[test]
fn tables_with_challenges_of_three_coordinates() {
    same_proofs!(cubic_8, cubic_8, Batch::with_lookups([4, 5]));
}

/// With the same randomness.
#[test]
fn zero_knowledge_proofs() {
    same_proofs!(hiding, hiding, Batch::with_lookups([5, 6]));
}

/// Plonky3's prover panics at such tables if it is built for debugging.
#[test]
fn false_lookups_are_refused() {
    let config = poseidon2::config(PARAMETERS[0]);
    let verdict = |batch: &Batch| {
        let traces: Vec<_> = batch.traces.iter().collect();
        let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
        let data = ProverData::from_instances(&config, &instances).expect("data");
        let proof = proofmill_p3::prove_batch(&config, &instances, &data).expect("a proof");
        verify_batch(&config, &batch.airs, &proof, &batch.public_values, &data.common)
    };
    let batch = || Batch::with_lookups([4, 5]);
    assert!(verdict(&batch()).is_ok());
    // In order: a pair whose low integer is another one, the first of Fibonacci's sequence, a count, an integer, and one that is not looked up.
    for (table, place, valid) in [(0, 2, false), (1, 0, false), (2, 3, false), (3, 2, false), (3, 8, true)] {
        let mut batch = batch();
        batch.traces[table].values[place] += Goldilocks::ONE;
        assert_eq!(verdict(&batch).is_ok(), valid, "table {table}, value {place}");
    }
}
