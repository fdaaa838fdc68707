//! The types of each level.

#[cfg(target_arch = "x86_64")]
use super::x86_64::{
    fma::{FmaLanes, row::Row48},
    ifma::{self, IfmaLanes},
    row52::Row52,
    single::Single,
};
use super::{Engine, Fp, Prime, scalar_lanes::ScalarLanes};
#[cfg(target_arch = "aarch64")]
use proofmill_cpu::Neon;
use proofmill_cpu::Portable;
#[cfg(target_arch = "x86_64")]
use proofmill_cpu::{Adx, Avx2, Avx512Ifma};

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
impl Engine for Adx {
    type Backend = Self;
    type Vector<P: Prime> = Fp<P, Self>;
    type Packed<P: Prime> = ScalarLanes<P, Self>;
    type Single<P: Prime> = Fp<P, Self>;

    #[inline(always)]
    fn backend(self) -> Self {
        self
    }
}

#[cfg(target_arch = "aarch64")]
impl Engine for Neon {
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
impl Engine for Avx2 {
    type Backend = Adx;
    type Vector<P: Prime> = FmaLanes<P>;
    type Packed<P: Prime> = FmaLanes<P>;
    type Single<P: Prime> = Single<P, Row48>;

    // Hashing to G2 in lanes takes 4.8 times as long as for a single message, on a Zen 5; at `avx512ifma` 1.9 times.
    const FEW: usize = 4;

    #[inline(always)]
    fn backend(self) -> Adx {
        self.adx()
    }
}

#[cfg(target_arch = "x86_64")]
impl Engine for Avx512Ifma {
    type Backend = Adx;
    type Vector<P: Prime> = IfmaLanes<P>;
    type Packed<P: Prime> = IfmaLanes<P>;
    type Single<P: Prime> = Single<P, Row52>;

    #[inline(always)]
    fn backend(self) -> Adx {
        self.adx()
    }

    #[inline(always)]
    fn odd_lanes<P: Prime>(lanes: Self::Vector<P>) -> u8 {
        lanes.odd_lanes()
    }

    #[inline(always)]
    fn odd_words(self, pairs: &[[u32; 2]]) -> [u8; 2] {
        ifma::odd_words(self, pairs)
    }
}
