//! x86-64 vectors.

mod avx2;
mod avx512;
mod ifma;

pub(super) use avx2::U64x4;
pub(super) use avx512::U64x8;
pub(super) use ifma::{IfmaChain, IfmaFactor};

/// The word, but unknown to the compiler, which would replace a product with a known one by several other instructions.
#[inline(always)]
fn hidden(mut word: u64) -> u64 {
    // SAFETY: there are no instructions.
    unsafe { std::arch::asm!("/* {} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}
