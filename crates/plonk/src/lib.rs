//! PLONK: setup, prove, verify.
