//! The binary as a process: arguments, output files, exit statuses, and bad input.

#[path = "../../src/alias.rs"]
#[allow(dead_code, reason = "the binary expands, the tests read the list")]
mod alias;
mod arguments;
mod artefacts;
mod audit;
mod batch;
mod bls;
mod ceremony;
mod curves;
mod day;
mod debug;
mod dev;
mod habits;
mod insecure;
mod malformed;
mod merkle;
mod ntt;
mod outputs;
mod pipes;
mod powers;
mod process;
mod programs;
mod prover;
mod prover_memory;
mod sha256;
mod srs;
mod stark;
mod verdicts;
mod witness;
