//! From a level's token to the level's vectors.

use super::{Factor, GoldilocksLanes, GoldilocksVector, U64s, U64x1};
use proofmill_cpu::{Portable, Token};

/// The vectors of a level.
pub trait GoldilocksEngine: Token {
    /// The words that hold the elements of both vector types.
    type U64s: U64s<Token = Self>;
    /// The vector for sums and products; loaded and stored without conversion.
    type Vector: GoldilocksVector<Token = Self, U64s = Self::U64s>;
    /// The vector for long chains of products, as in permutations.
    type Chain: GoldilocksVector<Token = Self, U64s = Self::U64s>;
    /// The vector for elements in Gaussian form, as in transforms.
    type Factor: Factor<Self::U64s>;

    /// The edition of SVE whose assembly kernels replace the compiled vector code, if any: stable Rust has no type for
    /// vectors of unknown length.
    #[cfg(target_arch = "aarch64")]
    #[inline(always)]
    fn assembly(self) -> Option<Assembly> {
        None
    }
}

/// An edition of SVE with assembly kernels; its token proves it.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
pub enum Assembly {
    /// SVE.
    Sve(proofmill_cpu::Sve),
    /// SVE2.
    Sve2(proofmill_cpu::Sve2),
}

#[cfg(target_arch = "aarch64")]
impl Assembly {
    /// The argument for this edition.
    #[inline(always)]
    pub fn choose<K>(self, sve: K, sve2: K) -> K {
        match self {
            Self::Sve(_) => sve,
            Self::Sve2(_) => sve2,
        }
    }

    /// The number of 64-bit words in a vector.
    #[inline(always)]
    pub fn words(self) -> usize {
        match self {
            Self::Sve(token) => token.words(),
            Self::Sve2(token) => token.sve().words(),
        }
    }
}

impl GoldilocksEngine for Portable {
    type U64s = U64x1;
    type Vector = GoldilocksLanes<U64x1>;
    type Chain = GoldilocksLanes<U64x1>;
    type Factor = GoldilocksLanes<U64x1>;
}

/// Implements [`GoldilocksEngine`] for tokens.
macro_rules! engine {
    ($token:ident, $words:ty, $chain:ty, $factor:ty $(, $assembly:ident)?) => {
        impl GoldilocksEngine for proofmill_cpu::$token {
            type U64s = $words;
            type Vector = GoldilocksLanes<$words>;
            type Chain = $chain;
            type Factor = $factor;

            $(
                #[inline(always)]
                fn assembly(self) -> Option<Assembly> {
                    Some(Assembly::$assembly(self))
                }
            )?
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
    use crate::goldilocks::x86_64::{IfmaChain, IfmaFactor, U64x4, U64x8};

    engine!(Avx2, U64x4, GoldilocksLanes<U64x4>, GoldilocksLanes<U64x4>);
    engine!(Avx512, U64x8<Self>, GoldilocksLanes<U64x8<Self>>, GoldilocksLanes<U64x8<Self>>);
    engine!(Avx512Ifma, U64x8<Self>, IfmaChain, IfmaFactor);
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::*;
    use crate::goldilocks::aarch64::U64x2;

    engine!(Neon, U64x2<Self>, GoldilocksLanes<U64x2<Self>>, GoldilocksLanes<U64x2<Self>>);
    engine!(ArmSha3, U64x2<Self>, GoldilocksLanes<U64x2<Self>>, GoldilocksLanes<U64x2<Self>>);
    // Functions without assembly kernels use NEON's.
    engine!(Sve, U64x2<Self>, GoldilocksLanes<U64x2<Self>>, GoldilocksLanes<U64x2<Self>>, Sve);
    engine!(Sve2, U64x2<Self>, GoldilocksLanes<U64x2<Self>>, GoldilocksLanes<U64x2<Self>>, Sve2);
}
