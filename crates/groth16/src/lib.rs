//! Groth16: setup, prove, verify.
