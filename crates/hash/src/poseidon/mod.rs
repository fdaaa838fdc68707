//! Poseidon over Goldilocks, width 12: the instance of plonky2 and of Polygon Hermez.
//!
//! S-box x^7, 8 full and 22 partial rounds (Grassi, Khovratovich, Rechberger, Roy, Schofnegger, eprint 2019/458).

mod constants;
mod linear;
mod permutation;
mod round_constants;

pub use permutation::{Poseidon, permute};
