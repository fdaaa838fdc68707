//! The transcript: what is in it, and that of Poseidon over BN254. Those that Plonky3 has are compared with it in `proofmill-p3`.

mod chain;
mod challenges;
mod constants;
mod poseidon_bn254;
mod recorder;
