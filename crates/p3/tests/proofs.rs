//! Proofs with Proofmill's kernels: the same bytes as with Plonky3's, accepted by its verifier.

mod airs;

use airs::{Fibonacci, Powers, RoundConstants};
use p3_challenger::{DuplexChallenger, HashChallenger, SerializingChallenger64};
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::{Field, PrimeCharacteristicRing, extension::BinomialExtensionField};
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_goldilocks::{Goldilocks, Poseidon2Goldilocks};
use p3_keccak::Keccak256Hash;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{
    CompressionFunctionFromHasher, PaddingFreeSponge, SerializingHasher, TruncatedPermutation,
};
use p3_uni_stark::{StarkConfig, prove, verify};
use proofmill_p3::{Dft, LANES, Poseidon2};
use proofmill_testing::for_each_pool;
use rand::{SeedableRng, rngs::SmallRng};

type Challenge = BinomialExtensionField<Goldilocks, 2>;

/// What differs between configurations of the same hash.
#[derive(Clone, Copy)]
struct Parameters {
    log_blowup: usize,
    log_final_poly_len: usize,
    max_log_arity: usize,
    cap_height: usize,
    grinding: usize,
}

const PARAMETERS: [Parameters; 3] = [
    Parameters { log_blowup: 1, log_final_poly_len: 0, max_log_arity: 1, cap_height: 0, grinding: 0 },
    Parameters { log_blowup: 2, log_final_poly_len: 2, max_log_arity: 3, cap_height: 2, grinding: 3 },
    Parameters { log_blowup: 3, log_final_poly_len: 0, max_log_arity: 4, cap_height: 1, grinding: 1 },
];

impl Parameters {
    fn fri<M>(self, mmcs: M) -> FriParameters<M> {
        FriParameters {
            log_blowup: self.log_blowup,
            log_final_poly_len: self.log_final_poly_len,
            max_log_arity: self.max_log_arity,
            num_queries: 5,
            batch_proof_of_work_bits: self.grinding,
            commit_proof_of_work_bits: self.grinding,
            query_proof_of_work_bits: self.grinding,
            mmcs,
        }
    }
}

/// A module with a configuration whose trees and transcript are of Poseidon2 of width 8.
macro_rules! with_poseidon2 {
    ($name:ident, $permutation:ty, $dft:ty, $packed:ty) => {
        mod $name {
            use super::*;

            type Hash = PaddingFreeSponge<$permutation, 8, 4, 4>;
            type Compress = TruncatedPermutation<$permutation, 2, 4, 8>;
            type Mmcs = MerkleTreeMmcs<$packed, $packed, Hash, Compress, 2, 4>;
            type Pcs = TwoAdicFriPcs<Goldilocks, $dft, Mmcs, ExtensionMmcs<Goldilocks, Challenge, Mmcs>>;
            pub(super) type Config =
                StarkConfig<Pcs, Challenge, DuplexChallenger<Goldilocks, $permutation, 8, 4>>;

            pub(super) fn config(parameters: Parameters) -> Config {
                let permutation = <$permutation>::new_from_rng_128(&mut SmallRng::seed_from_u64(1));
                let (hash, compress) = (Hash::new(permutation.clone()), Compress::new(permutation.clone()));
                let mmcs = Mmcs::new(hash, compress, parameters.cap_height);
                let fri = parameters.fri(ExtensionMmcs::new(mmcs.clone()));
                let pcs = Pcs::new(<$dft>::default(), mmcs, fri);
                Config::new(pcs, DuplexChallenger::new(permutation))
                    .with_ood_proof_of_work_bits(parameters.grinding)
            }
        }
    };
}

with_poseidon2!(
    stock_poseidon2,
    Poseidon2Goldilocks<8>,
    Radix2DitParallel<Goldilocks>,
    <Goldilocks as Field>::Packing
);
with_poseidon2!(poseidon2, Poseidon2<8>, Dft, [Goldilocks; LANES]);

/// A module with a configuration whose trees and transcript are of Keccak.
macro_rules! with_keccak {
    ($name:ident, $keccak:ty, $make:expr, $dft:ty, $lanes:expr) => {
        mod $name {
            use super::*;

            type Hash = PaddingFreeSponge<$keccak, 25, 17, 4>;
            type Compress = CompressionFunctionFromHasher<Hash, 2, 4>;
            type Mmcs =
                MerkleTreeMmcs<[Goldilocks; $lanes], [u64; $lanes], SerializingHasher<Hash>, Compress, 2, 4>;
            type Pcs = TwoAdicFriPcs<Goldilocks, $dft, Mmcs, ExtensionMmcs<Goldilocks, Challenge, Mmcs>>;
            type Challenger = SerializingChallenger64<Goldilocks, HashChallenger<u8, Keccak256Hash, 32>>;
            pub(super) type Config = StarkConfig<Pcs, Challenge, Challenger>;

            pub(super) fn config(parameters: Parameters) -> Config {
                let hash = Hash::new($make);
                let mmcs =
                    Mmcs::new(SerializingHasher::new(hash), Compress::new(hash), parameters.cap_height);
                let fri = parameters.fri(ExtensionMmcs::new(mmcs.clone()));
                let pcs = Pcs::new(<$dft>::default(), mmcs, fri);
                Config::new(pcs, Challenger::from_hasher(vec![], Keccak256Hash))
                    .with_ood_proof_of_work_bits(parameters.grinding)
            }
        }
    };
}

with_keccak!(stock_keccak, p3_keccak::KeccakF, p3_keccak::KeccakF, Radix2DitParallel<Goldilocks>, {
    p3_keccak::VECTOR_LEN
});
with_keccak!(keccak, proofmill_p3::KeccakF, proofmill_p3::KeccakF::default(), Dft, LANES);

/// Proves with both configurations; compares the proofs' JSON, which has every field; verifies ours with Plonky3's.
macro_rules! same_proofs {
    ($stock:ident, $ours:ident, $air:expr, $trace:expr, $public:expr) => {
        for parameters in PARAMETERS {
            let (air, trace, public): (_, _, Vec<Goldilocks>) = ($air, $trace, $public);
            let stock = $stock::config(parameters);
            let expected = prove(&stock, &air, trace.clone(), &public).expect("a proof");
            let expected = serde_json::to_string(&expected).expect("JSON");
            for_each_pool(&[1, 2, 5], |threads| {
                let proof = prove(&$ours::config(parameters), &air, trace.clone(), &public).expect("a proof");
                assert!(serde_json::to_string(&proof).expect("JSON") == expected, "{threads} threads");
            });
            let proof = serde_json::from_str(&expected).expect("a proof");
            verify(&$ours::config(parameters), &air, &proof, &public).expect("our kernels verify");
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
