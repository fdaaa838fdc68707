//! From a level's token to the types that compute with it.

use crate::{Backend, Packed, Prime, ScalarLanes};
use proofmill_simd::Portable;

/// The arithmetic that a level stands for: a backend for scalars and a packed type for lanes.
pub trait Engine: Copy + Send + Sync + 'static {
    /// Instructions of the scalar elements.
    type Backend: Backend;
    /// Eight elements side by side.
    type Packed<P: Prime>: Packed<P>;

    /// The scalar backend's token.
    fn backend(self) -> Self::Backend;

    /// Runs `f` with the level's CPU features enabled for everything inlined into it. Wrap a whole bulk
    /// operation, inside the parallel task, and keep everything hot in it `#[inline(always)]`.
    fn run<R>(self, f: impl FnOnce() -> R) -> R;
}

impl Engine for Portable {
    type Backend = Portable;
    type Packed<P: Prime> = ScalarLanes<P, Portable>;

    #[inline(always)]
    fn backend(self) -> Portable {
        self
    }

    #[inline(always)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "x86_64")]
impl Engine for proofmill_simd::Adx {
    type Backend = Self;
    type Packed<P: Prime> = ScalarLanes<P, Self>;

    #[inline(always)]
    fn backend(self) -> Self {
        self
    }

    #[inline(always)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }
}

#[cfg(target_arch = "x86_64")]
impl Engine for proofmill_simd::Avx512Ifma {
    type Backend = proofmill_simd::Adx;
    type Packed<P: Prime> = crate::x86_64::ifma::IfmaLanes<P>;

    #[inline(always)]
    fn backend(self) -> proofmill_simd::Adx {
        self.adx()
    }

    #[inline(always)]
    fn run<R>(self, f: impl FnOnce() -> R) -> R {
        self.vectorize(f)
    }
}
