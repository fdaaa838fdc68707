//! Kernels for SVE and SVE2: the library's own formulas, evaluated on a type that records operations, and compiled to
//! assembly.
//!
//! Stable Rust has no type for vectors whose length is known only at run time, so a compiled formula would load and store
//! each operand. Here the formula is evaluated once, at development time, and the recorded operations become straight-line
//! code for vectors of any length.

mod elementwise;
mod function;
mod instructions;
mod ntt;
mod poseidon;
mod poseidon2;
mod select;
mod trace;

pub(crate) use elementwise::basic_functions;
pub(crate) use ntt::ntt;
pub(crate) use poseidon::poseidon;
pub(crate) use poseidon2::poseidon2;
