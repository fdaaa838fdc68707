//! Which instructions multiply scalar elements.

use crate::{Prime, limbs::Limbs};
use proofmill_simd::Portable;
use std::fmt::Debug;

/// The instructions behind a scalar element's multiplication: the second parameter of [`Fp`](crate::Fp).
///
/// Elements of a backend other than [`Portable`] come from [`Fp::with_backend`](crate::Fp::with_backend) and
/// its slice kin, which ask for the token; code generic over a backend is entered through
/// [`dispatch!`](proofmill_simd::dispatch).
pub trait Backend: Copy + Debug + PartialEq + Eq + Send + Sync + 'static {
    /// `a * b / 2^(64 LEN) mod p` for canonical operands.
    fn mul_mont<P: Prime>(a: &P::Limbs, b: &P::Limbs) -> P::Limbs;
}

impl Backend for Portable {
    #[inline(always)]
    fn mul_mont<P: Prime>(a: &P::Limbs, b: &P::Limbs) -> P::Limbs {
        a.mul_mont_portable(b, &P::MODULUS, P::INV)
    }
}
