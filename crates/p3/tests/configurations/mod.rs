//! Configurations of Plonky3 that differ only in the kernels.

use p3_challenger::{DuplexChallenger, HashChallenger, SerializingChallenger64};
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::{Field, extension::BinomialExtensionField};
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_goldilocks::{Goldilocks, Poseidon2Goldilocks};
use p3_keccak::Keccak256Hash;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{
    CompressionFunctionFromHasher, PaddingFreeSponge, SerializingHasher, TruncatedPermutation,
};
use p3_uni_stark::StarkConfig;
use proofmill_p3::{Dft, LANES, Poseidon2};
use rand::{SeedableRng, rngs::SmallRng};

type Challenge = BinomialExtensionField<Goldilocks, 2>;

/// Parameters of FRI and of trees.
#[derive(Clone, Copy)]
pub(crate) struct Parameters {
    pub(crate) log_blowup: usize,
    pub(crate) log_final_poly_len: usize,
    pub(crate) max_log_arity: usize,
    pub(crate) cap_height: usize,
    pub(crate) num_queries: usize,
    pub(crate) grinding: usize,
}

impl Parameters {
    fn fri<M>(self, mmcs: M) -> FriParameters<M> {
        FriParameters {
            log_blowup: self.log_blowup,
            log_final_poly_len: self.log_final_poly_len,
            max_log_arity: self.max_log_arity,
            num_queries: self.num_queries,
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
        pub(crate) mod $name {
            use super::*;

            type Hash = PaddingFreeSponge<$permutation, 8, 4, 4>;
            type Compress = TruncatedPermutation<$permutation, 2, 4, 8>;
            type Mmcs = MerkleTreeMmcs<$packed, $packed, Hash, Compress, 2, 4>;
            type Pcs = TwoAdicFriPcs<Goldilocks, $dft, Mmcs, ExtensionMmcs<Goldilocks, Challenge, Mmcs>>;
            pub(crate) type Config =
                StarkConfig<Pcs, Challenge, DuplexChallenger<Goldilocks, $permutation, 8, 4>>;

            pub(crate) fn config(parameters: Parameters) -> Config {
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
        pub(crate) mod $name {
            use super::*;

            type Hash = PaddingFreeSponge<$keccak, 25, 17, 4>;
            type Compress = CompressionFunctionFromHasher<Hash, 2, 4>;
            type Mmcs =
                MerkleTreeMmcs<[Goldilocks; $lanes], [u64; $lanes], SerializingHasher<Hash>, Compress, 2, 4>;
            type Pcs = TwoAdicFriPcs<Goldilocks, $dft, Mmcs, ExtensionMmcs<Goldilocks, Challenge, Mmcs>>;
            type Challenger = SerializingChallenger64<Goldilocks, HashChallenger<u8, Keccak256Hash, 32>>;
            pub(crate) type Config = StarkConfig<Pcs, Challenge, Challenger>;

            pub(crate) fn config(parameters: Parameters) -> Config {
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
