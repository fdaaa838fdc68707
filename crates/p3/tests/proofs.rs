//! Proofs with Proofmill's kernels: the same bytes as with Plonky3's, accepted by its verifier.

mod airs;
mod configurations;

use airs::{Fibonacci, Powers, RoundConstants};
use configurations::{Parameters, keccak, poseidon2, stock_keccak, stock_poseidon2};
use p3_goldilocks::Goldilocks;
use p3_uni_stark::{prove, verify};
use proofmill_testing::for_each_pool;

const PARAMETERS: [Parameters; 3] = [
    Parameters {
        log_blowup: 1,
        log_final_poly_len: 0,
        max_log_arity: 1,
        cap_height: 0,
        num_queries: 5,
        grinding: 0,
    },
    Parameters {
        log_blowup: 2,
        log_final_poly_len: 2,
        max_log_arity: 3,
        cap_height: 2,
        num_queries: 5,
        grinding: 3,
    },
    Parameters {
        log_blowup: 3,
        log_final_poly_len: 0,
        max_log_arity: 4,
        cap_height: 1,
        num_queries: 5,
        grinding: 1,
    },
];

/// Proves with both configurations; compares the proofs' JSON, which has every field; verifies ours with Plonky3's verifier
/// on its own kernels and on ours. Several threads may find different witnesses of work, and then other challenges.
macro_rules! same_proofs {
    ($stock:ident, $ours:ident, $air:expr, $trace:expr, $public:expr) => {
        for parameters in PARAMETERS {
            let (air, trace, public): (_, _, Vec<Goldilocks>) = ($air, $trace, $public);
            for_each_pool(&[1, 2, 5], |threads| {
                let (stock, ours) = ($stock::config(parameters), $ours::config(parameters));
                let proof = prove(&ours, &air, trace.clone(), &public).expect("a proof");
                let proof = serde_json::to_string(&proof).expect("JSON");
                if threads == 1 || parameters.grinding == 0 {
                    let expected = prove(&stock, &air, trace.clone(), &public).expect("a proof");
                    let expected = serde_json::to_string(&expected).expect("JSON");
                    assert!(proof == expected, "{threads} threads");
                }
                let (for_stock, for_ours) = (serde_json::from_str(&proof), serde_json::from_str(&proof));
                verify(&stock, &air, &for_stock.expect("a proof"), &public).expect("Plonky3 verifies");
                verify(&ours, &air, &for_ours.expect("a proof"), &public).expect("our kernels verify");
            });
        }
    };
}

#[test]
fn a_fibonacci_sequence() {
    for log_rows in [3, 6, 9] {
        let (trace, public) = Fibonacci::trace(log_rows);
        same_proofs!(stock_poseidon2, poseidon2, Fibonacci, trace.clone(), public.to_vec());
        same_proofs!(stock_keccak, keccak, Fibonacci, trace.clone(), public.to_vec());
    }
}

#[test]
fn a_wide_trace_of_high_degree() {
    let air = Powers { columns: 37, degree: 3 };
    same_proofs!(stock_poseidon2, poseidon2, air, air.trace(6), vec![]);
    same_proofs!(stock_keccak, keccak, air, air.trace(6), vec![]);
}

#[test]
fn periodic_columns() {
    let air = RoundConstants;
    same_proofs!(stock_poseidon2, poseidon2, air, air.trace(5), vec![]);
}
