//! Structured reference strings on BN254: the powers of a tau that nobody is to know, from which KZG's commitments are
//! made (Kate, Zaverucha, Goldberg, "Constant-size commitments to polynomials and their applications", 2010).
//!
//! An [`Srs`] is opened from a snarkjs `.ptau` of any size, from transcripts of Aztec's Ignition ceremony, or from
//! what [`write_insecure`] wrote, itself a `.ptau` of fewer sections. Files are mapped: what a sum does not need is
//! not read, and what it needs is decoded and checked on the way into [`Srs::msm`]. Every file may be hostile; its
//! answer is a string or an [`SrsError`]. That the powers belong together is only known after [`Srs::check`].
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod check;
mod error;
mod insecure;
mod string;
mod transcript;

pub use error::SrsError;
pub use insecure::{SPARE, write_insecure};
pub use string::{Srs, SrsBases, SrsKind};
