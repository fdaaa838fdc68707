//! Proofs with Proofmill's kernels: the same bytes as with Plonky3's, accepted by its verifier.

use crate::airs::{Example, Fibonacci, Powers, Preprocessed, RoundConstants};
use crate::configurations::{
    PARAMETERS, Parameters, keccak, keccak_kernels, poseidon2, poseidon2_kernels, stock_keccak,
    stock_poseidon2,
};
use p3_goldilocks::Goldilocks;
use p3_matrix::{Matrix, dense::RowMajorMatrix};
use p3_uni_stark::{setup_preprocessed, verify_with_preprocessed};
use proofmill_testing::for_each_pool;

/// Proves with Plonky3's kernels, with ours, and with our scheme; compares the proofs' JSON, which has every field; verifies them with
/// Plonky3's verifier on its own kernels and on ours. Several threads may find different witnesses of work, and then other challenges.
macro_rules! same_proofs {
    ($stock:ident, $kernels:ident, $ours:ident, $air:expr, $trace:expr, $public:expr) => {
        for parameters in PARAMETERS {
            let parameters = Parameters { num_queries: 5, ..parameters };
            let (air, trace, public): (_, &RowMajorMatrix<Goldilocks>, &[Goldilocks]) =
                ($air, $trace, $public);
            for_each_pool(&[1, 2, 5], |threads| {
                let (stock, kernels) = ($stock::config(parameters), $kernels::config(parameters));
                let ours = $ours::config(parameters);
                let log_height = trace.height().ilog2() as usize;
                let (for_stock, for_verifier) =
                    setup_preprocessed(&stock, &air, log_height).expect("a set-up").unzip();
                let (for_kernels, _) =
                    setup_preprocessed(&kernels, &air, log_height).expect("a set-up").unzip();
                let (for_ours, for_our_verifier) =
                    setup_preprocessed(&ours, &air, log_height).expect("a set-up").unzip();
                macro_rules! json_with {
                    ($config:expr, $key:expr) => {{
                        let (trace, key) = (trace.clone(), $key.as_ref());
                        let proof = p3_uni_stark::prove_with_preprocessed($config, &air, trace, public, key);
                        serde_json::to_string(&proof.expect("a proof")).expect("JSON")
                    }};
                }
                let json = [json_with!(&kernels, for_kernels), json_with!(&ours, for_ours)];
                if threads == 1 || parameters.grinding == 0 {
                    let expected = json_with!(&stock, for_stock);
                    for (json, scheme) in json.iter().zip(["Plonky3's scheme", "ours"]) {
                        assert!(*json == expected, "{scheme}, {threads} threads");
                    }
                }
                for json in json {
                    let proof = serde_json::from_str(&json).expect("a proof");
                    verify_with_preprocessed(&stock, &air, &proof, public, for_verifier.as_ref())
                        .expect("Plonky3 verifies");
                    let proof = serde_json::from_str(&json).expect("a proof");
                    verify_with_preprocessed(&ours, &air, &proof, public, for_our_verifier.as_ref())
                        .expect("our kernels verify");
                }
            });
        }
    };
}

fn same_proofs_of_poseidon2(air: Example, trace: &RowMajorMatrix<Goldilocks>, public: &[Goldilocks]) {
    same_proofs!(stock_poseidon2, poseidon2_kernels, poseidon2, air, trace, public);
}

fn same_proofs_of_keccak(air: Example, trace: &RowMajorMatrix<Goldilocks>, public: &[Goldilocks]) {
    same_proofs!(stock_keccak, keccak_kernels, keccak, air, trace, public);
}

#[test]
fn a_fibonacci_sequence() {
    for log_rows in [3, 6, 9] {
        let (trace, public) = Fibonacci::trace(log_rows);
        same_proofs_of_poseidon2(Example::Fibonacci(Fibonacci), &trace, &public);
        same_proofs_of_keccak(Example::Fibonacci(Fibonacci), &trace, &public);
    }
}

#[test]
fn a_wide_trace_of_high_degree() {
    let air = Powers { columns: 37, degree: 3 };
    same_proofs_of_poseidon2(Example::Powers(air), &air.trace(6), &[]);
    same_proofs_of_keccak(Example::Powers(air), &air.trace(6), &[]);
}

#[test]
fn periodic_columns() {
    same_proofs_of_poseidon2(Example::RoundConstants(RoundConstants), &RoundConstants.trace(5), &[]);
}

#[test]
fn preprocessed_columns() {
    same_proofs_of_poseidon2(
        Example::Preprocessed(Preprocessed { log_rows: 5 }),
        &Preprocessed::trace(5),
        &[],
    );
    same_proofs_of_keccak(Example::Preprocessed(Preprocessed { log_rows: 5 }), &Preprocessed::trace(5), &[]);
}

#[test]
fn keccaks_permutation() {
    let inputs = vec![std::array::from_fn(|i| i as u64)];
    let trace = p3_keccak_air::generate_trace_rows::<Goldilocks>(inputs, 0);
    same_proofs!(stock_keccak, keccak_kernels, keccak, p3_keccak_air::KeccakAir {}, &trace, &[]);
}
