//! The extension of the Node package `proofmill`: a thin layer over the crate `proofmill`.
//!
//! Every function copies its arguments, returns a promise, and works on threads of its own: [`work`]. Files are paths or bytes:
//! [`source`]. JavaScript (`index.js`) translates the arguments and results of snarkjs.

pub mod ceremony;
mod source;
pub mod systems;
pub mod witness;
pub mod work;
