//! From a level's token to the types that compute with it.

use crate::{Backend, Fp, Packed, Prime, ScalarLanes, Single, Vector};
use proofmill_cpu::{Portable, Token};

/// The arithmetic that a level stands for: a backend for scalars and a packed type for lanes.
pub trait Engine: Token {
    /// Instructions of the scalar elements.
    type Backend: Backend;
    /// As many elements side by side as the level's vector instructions take.
    type Vector<P: Prime>: Vector<P, Token = Self>;
    /// Eight elements side by side.
    type Packed<P: Prime>: Packed<P, Token = Self>;
    /// One element, for a formula that runs once.
    type Single<P: Prime>: Single<P, Token = Self>;

    /// The scalar backend's token.
    fn backend(self) -> Self::Backend;

    /// Which first and which second words of a vector's pairs are odd, bit i for pair i.
    #[inline(always)]
    fn odd_words(self, pairs: &[[u32; 2]]) -> [u8; 2] {
        let mut odd = [0; 2];
        for (i, pair) in pairs.iter().enumerate() {
            odd[0] |= ((pair[0] & 1) as u8) << i;
            odd[1] |= ((pair[1] & 1) as u8) << i;
        }
        odd
    }
}

impl Engine for Portable {
    type Backend = Portable;
    type Vector<P: Prime> = Fp<P, Portable>;
    type Packed<P: Prime> = ScalarLanes<P, Portable>;
    type Single<P: Prime> = Fp<P, Portable>;

    #[inline(always)]
    fn backend(self) -> Portable {
        self
    }
}

#[cfg(target_arch = "x86_64")]
impl Engine for proofmill_cpu::Adx {
    type Backend = Self;
    type Vector<P: Prime> = Fp<P, Self>;
    type Packed<P: Prime> = ScalarLanes<P, Self>;
    type Single<P: Prime> = Fp<P, Self>;

    #[inline(always)]
    fn backend(self) -> Self {
        self
    }
}

#[cfg(target_arch = "x86_64")]
impl Engine for proofmill_cpu::Avx512Ifma {
    type Backend = proofmill_cpu::Adx;
    type Vector<P: Prime> = crate::x86_64::ifma::IfmaLanes<P>;
    type Packed<P: Prime> = crate::x86_64::ifma::IfmaLanes<P>;
    type Single<P: Prime> = crate::x86_64::single52::Single52<P>;

    #[inline(always)]
    fn backend(self) -> proofmill_cpu::Adx {
        self.adx()
    }

    #[inline(always)]
    fn odd_words(self, pairs: &[[u32; 2]]) -> [u8; 2] {
        crate::x86_64::ifma::odd_words(self, pairs)
    }
}
