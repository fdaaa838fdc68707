//! Montgomery multiplication by MULX, ADCX and ADOX.

use crate::{Backend, limbs::Limbs};
use proofmill_simd::Adx;

impl Backend for Adx {
    #[inline(always)]
    fn mul_mont<L: Limbs>(a: &L, b: &L, p: &L, inv: u64) -> L {
        // SAFETY: elements with this backend are made only where an `Adx` token was shown.
        unsafe { a.mul_mont_adx(b, p, inv) }
    }
}

#[inline(always)]
pub(crate) unsafe fn mul_mont_4(a: &[u64; 4], b: &[u64; 4], p: &[u64; 4], inv: u64) -> [u64; 4] {
    a.mul_mont_portable(b, p, inv)
}

#[inline(always)]
pub(crate) unsafe fn mul_mont_6(a: &[u64; 6], b: &[u64; 6], p: &[u64; 6], inv: u64) -> [u64; 6] {
    a.mul_mont_portable(b, p, inv)
}
