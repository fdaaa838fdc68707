//! From a level's token to the vectors that compute with it.

use super::{Factor, GoldilocksVector, Lanes, Word, Words};
use proofmill_cpu::{Portable, Token};

/// The vectors of a level.
pub trait GoldilocksEngine: Token {
    /// What holds the elements of both vector types.
    type Words: Words<Token = Self>;
    /// For sums and products, loaded and stored as they are.
    type Vector: GoldilocksVector<Token = Self, Words = Self::Words>;
    /// For long chains of products: permutations.
    type Chain: GoldilocksVector<Token = Self, Words = Self::Words>;
    /// For elements in Gaussian form: transforms.
    type Factor: Factor<Self::Words>;
}

impl GoldilocksEngine for Portable {
    type Words = Word;
    type Vector = Lanes<Word>;
    type Chain = Lanes<Word>;
    type Factor = Lanes<Word>;
}

/// Gives tokens their vectors.
macro_rules! engine {
    ($token:ident, $words:ty, $chain:ty, $factor:ty) => {
        impl GoldilocksEngine for proofmill_cpu::$token {
            type Words = $words;
            type Vector = Lanes<$words>;
            type Chain = $chain;
            type Factor = $factor;
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
    use crate::goldilocks::x86_64::{Avx2Words, Avx512Words, IfmaFactor, IfmaLanes};

    engine!(Avx2, Avx2Words, Lanes<Avx2Words>, Lanes<Avx2Words>);
    engine!(Avx512, Avx512Words<Self>, Lanes<Avx512Words<Self>>, Lanes<Avx512Words<Self>>);
    engine!(Avx512Ifma, Avx512Words<Self>, IfmaLanes, IfmaFactor);
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::*;
    use crate::goldilocks::aarch64::NeonWords;

    engine!(Neon, NeonWords<Self>, Lanes<NeonWords<Self>>, Lanes<NeonWords<Self>>);
    // No type of stable Rust holds a vector of unknown length: kernels for these are assembly, and the rest is NEON's.
    engine!(Sve, NeonWords<Self>, Lanes<NeonWords<Self>>, Lanes<NeonWords<Self>>);
    engine!(Sve2, NeonWords<Self>, Lanes<NeonWords<Self>>, Lanes<NeonWords<Self>>);
}
