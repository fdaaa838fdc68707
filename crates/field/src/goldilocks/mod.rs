//! The field of p = 2^64 - 2^32 + 1, "Goldilocks": single elements, vectors of elements, bulk operations.
//!
//! `2^64 = 2^32 - 1` and `2^96 = -1` modulo p, so products are reduced with shifts and sums; 2 has order 192, so
//! roots of unity of order up to 64 are powers of two.

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub mod basic;
mod element;
mod engine;
mod extension;
mod gaussian;
mod u64s;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use element::Goldilocks;
#[cfg(target_arch = "aarch64")]
pub use engine::Assembly;
pub use engine::GoldilocksEngine;
pub use extension::{CubicExtension, Extension, ExtensionField, QuadraticExtension};
pub use gaussian::{Factor, Gaussian, Twiddle};
pub use u64s::{Bitwise, U64s, U64x1, mul_byte_by_wide};
pub use vector::{GoldilocksLanes, GoldilocksVector, Planes, constant_planes};

/// The modulus.
pub const MODULUS: u64 = 0xffff_ffff_0000_0001;

/// `2^64 mod p`.
pub(crate) const EPSILON: u64 = 0xffff_ffff;
