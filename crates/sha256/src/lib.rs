//! SHA-256 (FIPS 180-4) with kernels chosen at run time by the CPU's features.
//!
//! * [`digest`] hashes one message, [`Sha256`] one that is given in parts, both with the fastest kernel for one message.
//! * [`hash_pairs`] hashes many messages of 64 bytes, the nodes of a tree, and [`hash_rows`] many of one length: in the lanes
//!   of vectors or with the CPU's SHA-256 instructions, whichever is faster for that number.
//! * [`Kernels`] is the choice of kernels, by level or by name.
//! * [`Hmac`], [`hkdf_extract`] and [`hkdf_expand`] are HMAC (RFC 2104) and HKDF (RFC 5869).
//!
//! No kernel branches on the bytes of a message or uses them as an address: running time depends only on lengths.
//!
//! ```
//! use proofmill_sha256::{Kernels, digest, hash_pairs};
//!
//! let [left, right] = [digest(b"left"), digest(b"right")];
//! let mut pair = [0; 64];
//! pair[..32].copy_from_slice(&left);
//! pair[32..].copy_from_slice(&right);
//! let mut parents = [[0; 32]];
//! hash_pairs(Kernels::best(), &[pair], &mut parents);
//! assert_eq!(parents[0], digest(&pair));
//! ```

#[cfg(target_arch = "aarch64")]
mod arm_sha2;
mod constants;
mod formula;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod instructions;
mod kernels;
mod keyed;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod lanes;
mod many;
mod message;
#[cfg(target_arch = "aarch64")]
mod neon;
mod padding;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use kernels::{KernelError, Kernels};
pub use keyed::{HKDF_MOST, Hmac, hkdf_expand, hkdf_extract};
pub use many::{hash_pairs, hash_rows};
pub use message::{Sha256, digest};
