//! The binary from outside: arguments, output files, exit statuses, and what it makes of bad input.

mod arguments;
mod bench;
mod bls;
mod day;
mod malformed;
mod merkle;
mod ntt;
mod outputs;
mod process;
mod sha256;
mod srs;
mod verdicts;
