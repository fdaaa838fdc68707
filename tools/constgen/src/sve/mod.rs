//! Kernels for SVE and SVE2: the library's own formulas, run on a type that records them, compiled to assembly.
//!
//! Stable Rust has no type for a vector whose length is known at run time only, so that a formula in it would load and store
//! each operand. Here it runs once, at development time, and what it did becomes straight-line code for vectors of any
//! length.

mod elementwise;
mod kernels;
mod ntt;
mod poseidon2;
mod registers;
mod trace;

pub(crate) use elementwise::basic_functions;
pub(crate) use kernels::poseidon;
pub(crate) use ntt::ntt;
pub(crate) use poseidon2::poseidon2;
