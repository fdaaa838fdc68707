//! Bit-reversed order.

/// The lowest `log_len` bits of `index`, reversed.
#[inline(always)]
pub(crate) fn reverse_bits(index: usize, log_len: u32) -> usize {
    if log_len == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - log_len) }
}
