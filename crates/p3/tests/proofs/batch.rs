//! Proofs of several tables with lookups with Proofmill's kernels: the same bytes as with Plonky3's, accepted by its verifier.

use crate::batches::Batch;
use crate::configurations::{
    PARAMETERS, Parameters, keccak, keccak_kernels, poseidon2, poseidon2_kernels, stock_keccak,
    stock_poseidon2,
};
use p3_batch_stark::{ProverData, StarkInstance, prove_batch, verify_batch};
use proofmill_testing::for_each_pool;

/// Proves with Plonky3's kernels and with ours, compares the proofs' JSON, and verifies the second with Plonky3's kernels. Several threads may
/// find different witnesses of work.
macro_rules! same_proofs {
    ($stock:ident, $ours:ident, $batch:expr) => {
        for parameters in PARAMETERS {
            let parameters = Parameters { num_queries: 5, ..parameters };
            let batch = $batch;
            for_each_pool(&[1, 2, 5], |threads| {
                let (stock, ours) = ($stock::config(parameters), $ours::config(parameters));
                let traces: Vec<_> = batch.traces.iter().collect();
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&ours, &instances).expect("data");
                let proof = prove_batch(&ours, &instances, &data).expect("a proof");
                let json = serde_json::to_string(&proof).expect("JSON");
                let instances = StarkInstance::new_multiple(&batch.airs, &traces, &batch.public_values);
                let data = ProverData::from_instances(&stock, &instances).expect("data");
                if threads == 1 || parameters.grinding == 0 {
                    let expected = prove_batch(&stock, &instances, &data).expect("a proof");
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
