//! The binary as a process: arguments, output files, exit statuses, and bad input.

mod arguments;
mod audit;
mod bench;
mod bls;
mod day;
mod insecure;
mod malformed;
mod merkle;
mod ntt;
mod outputs;
mod pipes;
mod process;
mod sha256;
mod srs;
mod verdicts;
