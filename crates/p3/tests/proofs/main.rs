//! Proofs of Plonky3 and of our engine against each other. One program: Plonky3's generics take minutes to compile in each. They do not depend
//! on the architecture, on which only the kernels do: those have a program of their own.

mod airs;
mod batch;
mod batch_verifier;
mod batches;
mod blinded_proofs;
#[allow(dead_code, reason = "benchmarks use the others")]
mod configurations;
mod engine;
mod kernels_in_plonky3;
mod mutations;
mod openings;
mod verifier;
