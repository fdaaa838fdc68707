//! Options for the storage of a proving key.

use clap::Args;
use proofmill::Memory;
use std::path::PathBuf;

/// The amount of a proving key that is kept, and its place.
#[derive(Args, Clone, Debug)]
pub struct StorageOptions {
    /// Parts of the proving key to keep: fast (all forms of its polynomials), balanced (coefficients and values) or low
    /// (coefficients only, as always for snarkjs's keys)
    #[arg(long, value_name = "MODE", default_value_t = Memory::default())]
    pub memory: Memory,
    /// Keep polynomials and powers of tau in temporary files in this folder, which the operating system writes out when memory
    /// is short; they have no names and are removed when the command ends [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}
