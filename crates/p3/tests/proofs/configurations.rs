//! Configurations of Plonky3 that differ only in the kernels.

use p3_challenger::{DuplexChallenger, HashChallenger, SerializingChallenger64};
use p3_commit::ExtensionMmcs;
use p3_dft::Radix2DitParallel;
use p3_field::{Field, PrimeField64, extension::BinomialExtensionField};
use p3_fri::{FriParameters, TwoAdicFriPcs};
use p3_goldilocks::{Goldilocks, Poseidon2Goldilocks};
use p3_keccak::Keccak256Hash;
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{
    CompressionFunctionFromHasher, PaddingFreeSponge, SerializingHasher, TruncatedPermutation,
};
use p3_uni_stark::StarkConfig;
use proofmill_field::goldilocks::Goldilocks as Element;
use proofmill_p3::{Dft, FriPcs, KeccakF, Poseidon2};
use proofmill_stark::Grinding;
use rand::{SeedableRng, rngs::SmallRng};

pub(crate) type Challenge = BinomialExtensionField<Goldilocks, 2>;

/// Our element.
pub(crate) fn element(value: Goldilocks) -> Element {
    Element::new(value.as_canonical_u64())
}

/// Our elements.
pub(crate) fn elements(values: &[Goldilocks]) -> Vec<Element> {
    values.iter().map(|value| element(*value)).collect()
}

/// Parameters of FRI and of trees.
#[derive(Clone, Copy)]
pub(crate) struct Parameters {
    pub(crate) log_blowup: usize,
    pub(crate) log_final_poly_len: usize,
    pub(crate) max_log_arity: usize,
    pub(crate) cap_height: usize,
    pub(crate) num_queries: usize,
    pub(crate) grinding: usize,
    /// Columns beside each matrix, with blinding.
    pub(crate) random_columns: usize,
}

/// Plonky3's `FriParameters::new_benchmark` without grinding, whose time is chance, and with caps of 8 digests.
pub(crate) const BENCHMARK: Parameters = Parameters {
    log_blowup: 1,
    log_final_poly_len: 0,
    max_log_arity: 1,
    cap_height: 3,
    num_queries: 100,
    grinding: 0,
    random_columns: 0,
};

impl Parameters {
    pub(crate) fn fri<M>(self, mmcs: M) -> FriParameters<M> {
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

    /// Those of our engine of the same meaning.
    pub(crate) fn of_engine(self, extension: u32) -> proofmill_stark::Parameters {
        let bits = self.grinding as u32;
        proofmill_stark::Parameters {
            extension,
            log_blowup: self.log_blowup as u32,
            log_arity: self.max_log_arity as u32,
            log_final_length: self.log_final_poly_len as u32,
            queries: self.num_queries as u32,
            cap_height: self.cap_height as u32,
            grinding: Grinding {
                lookups: bits,
                out_of_domain: bits,
                batching: bits,
                commit: bits,
                query: bits,
            },
            random_columns: self.random_columns as u32,
            ..proofmill_stark::Parameters::PROVEN_100
        }
    }
}

/// Cases: arities of 2 to 16, final polynomials, caps, and with and without proofs of work.
pub(crate) const PARAMETERS: [Parameters; 4] = [
    Parameters {
        log_blowup: 1,
        log_final_poly_len: 0,
        max_log_arity: 1,
        cap_height: 0,
        num_queries: 5,
        grinding: 0,
        random_columns: 0,
    },
    Parameters {
        log_blowup: 2,
        log_final_poly_len: 2,
        max_log_arity: 3,
        cap_height: 2,
        num_queries: 40,
        grinding: 3,
        random_columns: 0,
    },
    Parameters {
        log_blowup: 3,
        log_final_poly_len: 0,
        max_log_arity: 4,
        cap_height: 1,
        num_queries: 5,
        grinding: 1,
        random_columns: 0,
    },
    Parameters {
        log_blowup: 1,
        log_final_poly_len: 1,
        max_log_arity: 2,
        cap_height: 3,
        num_queries: 3,
        grinding: 0,
        random_columns: 0,
    },
];

type StockPcs<M> =
    TwoAdicFriPcs<Goldilocks, Radix2DitParallel<Goldilocks>, M, ExtensionMmcs<Goldilocks, Challenge, M>>;
type KernelsPcs<M> = TwoAdicFriPcs<Goldilocks, Dft, M, ExtensionMmcs<Goldilocks, Challenge, M>>;
type OurPcs<M> = FriPcs<M, ExtensionMmcs<Goldilocks, Challenge, M>>;

/// A commitment scheme with trees of any kind.
trait Scheme<M> {
    fn scheme(mmcs: M, fri: FriParameters<ExtensionMmcs<Goldilocks, Challenge, M>>) -> Self;
}

impl<M, D: Default> Scheme<M> for TwoAdicFriPcs<Goldilocks, D, M, ExtensionMmcs<Goldilocks, Challenge, M>> {
    fn scheme(mmcs: M, fri: FriParameters<ExtensionMmcs<Goldilocks, Challenge, M>>) -> Self {
        Self::new(D::default(), mmcs, fri)
    }
}

impl<M: Clone> Scheme<M> for OurPcs<M> {
    fn scheme(mmcs: M, fri: FriParameters<ExtensionMmcs<Goldilocks, Challenge, M>>) -> Self {
        Self::new(mmcs, fri)
    }
}

/// A module with a configuration of Poseidon2: rows and transcript of one width, nodes of width 8.
macro_rules! with_poseidon2 {
    ($name:ident, $width:literal, $permutation:ident, $pcs:ident, $packed:ty, $hash:ty, $compress:ty, |$rows:ident, $nodes:ident| $hashes:expr) => {
        pub(crate) mod $name {
            use super::*;

            const RATE: usize = $width - 4;
            type Mmcs = MerkleTreeMmcs<$packed, $packed, $hash, $compress, 2, 4>;
            type Pcs = $pcs<Mmcs>;
            type Challenger = DuplexChallenger<Goldilocks, $permutation<$width>, $width, RATE>;
            pub(crate) type Config = StarkConfig<Pcs, Challenge, Challenger>;

            pub(crate) fn config(parameters: Parameters) -> Config {
                let rng = || SmallRng::seed_from_u64(1);
                let $rows = $permutation::<$width>::new_from_rng_128(&mut rng());
                let $nodes = $permutation::<8>::new_from_rng_128(&mut rng());
                let transcript = $rows.clone();
                let (hash, compress) = $hashes;
                let mmcs = Mmcs::new(hash, compress, parameters.cap_height);
                let fri = parameters.fri(ExtensionMmcs::new(mmcs.clone()));
                let pcs = Scheme::scheme(mmcs, fri);
                Config::new(pcs, DuplexChallenger::new(transcript))
                    .with_ood_proof_of_work_bits(parameters.grinding)
                    .with_lookup_proof_of_work_bits(parameters.grinding)
            }
        }
    };
    // Plonky3's, ours in its scheme, and ours.
    ($stock:ident, $kernels:ident, $ours:ident, $width:literal, $rate:literal) => {
        with_poseidon2!(
            $stock,
            $width,
            Poseidon2Goldilocks,
            StockPcs,
            <Goldilocks as Field>::Packing,
            PaddingFreeSponge<Poseidon2Goldilocks<$width>, $width, $rate, 4>,
            TruncatedPermutation<Poseidon2Goldilocks<8>, 2, 4, 8>,
            |rows, nodes| (PaddingFreeSponge::new(rows), TruncatedPermutation::new(nodes))
        );
        with_poseidon2!(
            $kernels,
            $width,
            Poseidon2,
            KernelsPcs,
            Goldilocks,
            Poseidon2<$width>,
            Poseidon2<8>,
            |rows, nodes| (rows, nodes)
        );
        with_poseidon2!(
            $ours,
            $width,
            Poseidon2,
            OurPcs,
            Goldilocks,
            Poseidon2<$width>,
            Poseidon2<8>,
            |rows, nodes| (rows, nodes)
        );
    };
}

with_poseidon2!(stock_poseidon2, poseidon2_kernels, poseidon2, 8, 4);
with_poseidon2!(stock_poseidon2_12, poseidon2_12_kernels, poseidon2_12, 12, 8);

/// A module with a configuration whose trees and transcript are of Keccak.
macro_rules! with_keccak {
    ($name:ident, $pcs:ident, $packed:ty, $words:ty, $hash:ty, $compress:ty, $hashes:expr) => {
        pub(crate) mod $name {
            use super::*;

            type Mmcs = MerkleTreeMmcs<$packed, $words, $hash, $compress, 2, 4>;
            type Pcs = $pcs<Mmcs>;
            type Challenger = SerializingChallenger64<Goldilocks, HashChallenger<u8, Keccak256Hash, 32>>;
            pub(crate) type Config = StarkConfig<Pcs, Challenge, Challenger>;

            pub(crate) fn config(parameters: Parameters) -> Config {
                let (hash, compress) = $hashes;
                let mmcs = Mmcs::new(hash, compress, parameters.cap_height);
                let fri = parameters.fri(ExtensionMmcs::new(mmcs.clone()));
                let pcs = Scheme::scheme(mmcs, fri);
                Config::new(pcs, Challenger::from_hasher(vec![], Keccak256Hash))
                    .with_ood_proof_of_work_bits(parameters.grinding)
                    .with_lookup_proof_of_work_bits(parameters.grinding)
            }
        }
    };
}

type StockSponge = PaddingFreeSponge<p3_keccak::KeccakF, 25, 17, 4>;

with_keccak!(
    stock_keccak,
    StockPcs,
    [Goldilocks; p3_keccak::VECTOR_LEN],
    [u64; p3_keccak::VECTOR_LEN],
    SerializingHasher<StockSponge>,
    CompressionFunctionFromHasher<StockSponge, 2, 4>,
    {
        let sponge = StockSponge::new(p3_keccak::KeccakF);
        (SerializingHasher::new(sponge), CompressionFunctionFromHasher::new(sponge))
    }
);
with_keccak!(keccak_kernels, KernelsPcs, Goldilocks, u64, KeccakF, KeccakF, {
    (KeccakF::default(), KeccakF::default())
});
with_keccak!(keccak, OurPcs, Goldilocks, u64, KeccakF, KeccakF, (KeccakF::default(), KeccakF::default()));

/// With blinding of parameters that have random columns, and the randomness of a seed.
pub(crate) mod hiding {
    use super::*;
    use p3_field::extension::CubicTrinomialExtensionField;
    use p3_fri::HidingFriPcs;
    use p3_goldilocks::default_goldilocks_poseidon2_8;
    use p3_merkle_tree::MerkleTreeHidingMmcs;
    use p3_symmetric::MerkleCap;
    use rand::rngs::StdRng;

    macro_rules! hiding {
        ($name:ident, $challenge:ty, $challenger:ty, $packed:ty, $words:ty, $hash:ty, $compress:ty, $dft:ty, $word:expr, $hashes:expr) => {
            pub(crate) mod $name {
                use super::*;

                type Mmcs = MerkleTreeHidingMmcs<$packed, $words, $hash, $compress, StdRng, 2, 4, 4>;
                type Pcs =
                    HidingFriPcs<Goldilocks, $dft, Mmcs, ExtensionMmcs<Goldilocks, $challenge, Mmcs>, StdRng>;
                pub(crate) type Config = StarkConfig<Pcs, $challenge, $challenger>;

                pub(crate) fn config(parameters: Parameters) -> Config {
                    let rng = |seed| StdRng::seed_from_u64(seed);
                    let (hash, compress, challenger) = $hashes;
                    let mmcs = Mmcs::new(hash, compress, parameters.cap_height, rng(1));
                    let fri = parameters.fri(ExtensionMmcs::new(mmcs.clone()));
                    let pcs = Pcs::new(<$dft>::default(), mmcs, fri, parameters.random_columns, rng(2));
                    Config::new(pcs, challenger)
                        .with_ood_proof_of_work_bits(parameters.grinding)
                        .with_lookup_proof_of_work_bits(parameters.grinding)
                }

                /// Plonky3's commitment of ours.
                #[allow(dead_code, reason = "other tests use it")]
                pub(crate) fn cap(digests: &[proofmill_hash::Digest]) -> p3_uni_stark::Com<Config> {
                    MerkleCap::new(digests.iter().map(|digest| digest.0.map($word)).collect())
                }
            }
        };
    }

    hiding!(
        quadratic,
        Challenge,
        SerializingChallenger64<Goldilocks, HashChallenger<u8, Keccak256Hash, 32>>,
        Goldilocks,
        u64,
        KeccakF,
        KeccakF,
        Dft,
        u64::from,
        {
            let challenger = SerializingChallenger64::from_hasher(vec![], Keccak256Hash);
            (KeccakF::default(), KeccakF::default(), challenger)
        }
    );
    hiding!(
        cubic,
        CubicTrinomialExtensionField<Goldilocks>,
        DuplexChallenger<Goldilocks, Poseidon2Goldilocks<8>, 8, 4>,
        <Goldilocks as Field>::Packing,
        <Goldilocks as Field>::Packing,
        PaddingFreeSponge<Poseidon2Goldilocks<8>, 8, 4, 4>,
        TruncatedPermutation<Poseidon2Goldilocks<8>, 2, 4, 8>,
        Radix2DitParallel<Goldilocks>,
        Goldilocks::new,
        {
            let permutation = default_goldilocks_poseidon2_8();
            let hashes = (
                PaddingFreeSponge::new(permutation.clone()),
                TruncatedPermutation::new(permutation.clone()),
            );
            (hashes.0, hashes.1, DuplexChallenger::new(permutation))
        }
    );
}

/// Plonky3's own kernels with its default permutations.
pub(crate) mod defaults {
    use super::*;
    use p3_field::extension::CubicTrinomialExtensionField;
    use p3_goldilocks::{default_goldilocks_poseidon2_8, default_goldilocks_poseidon2_12};

    macro_rules! defaults {
        ($name:ident, $challenge:ty, $width:literal, $rate:literal, $permutation:ident) => {
            pub(crate) mod $name {
                use super::*;

                type Packed = <Goldilocks as Field>::Packing;
                type Sponge = PaddingFreeSponge<Poseidon2Goldilocks<$width>, $width, $rate, 4>;
                type Compress = TruncatedPermutation<Poseidon2Goldilocks<$width>, 2, 4, $width>;
                type Mmcs = MerkleTreeMmcs<Packed, Packed, Sponge, Compress, 2, 4>;
                type Pcs = TwoAdicFriPcs<
                    Goldilocks,
                    Radix2DitParallel<Goldilocks>,
                    Mmcs,
                    ExtensionMmcs<Goldilocks, $challenge, Mmcs>,
                >;
                pub(crate) type Config = StarkConfig<
                    Pcs,
                    $challenge,
                    DuplexChallenger<Goldilocks, Poseidon2Goldilocks<$width>, $width, $rate>,
                >;

                pub(crate) fn config(parameters: Parameters) -> Config {
                    let permutation = $permutation();
                    let hash = Sponge::new(permutation.clone());
                    let mmcs = Mmcs::new(hash, Compress::new(permutation.clone()), parameters.cap_height);
                    let fri = parameters.fri(ExtensionMmcs::new(mmcs.clone()));
                    Config::new(
                        Pcs::new(Radix2DitParallel::default(), mmcs, fri),
                        DuplexChallenger::new(permutation),
                    )
                    .with_ood_proof_of_work_bits(parameters.grinding)
                    .with_lookup_proof_of_work_bits(parameters.grinding)
                }
            }
        };
    }

    defaults!(quadratic_8, Challenge, 8, 4, default_goldilocks_poseidon2_8);
    defaults!(cubic_8, CubicTrinomialExtensionField<Goldilocks>, 8, 4, default_goldilocks_poseidon2_8);
    defaults!(quadratic_12, Challenge, 12, 8, default_goldilocks_poseidon2_12);
}
