//! Tests of `proofmill-curve`: one program, so that what they share is compiled once.

mod arkworks;
mod bls12_381_encoding;
mod bls12_381_hash_to_curve;
mod blst;
mod constant_time;
mod evm;
mod fixed_base;
mod groups;
mod hash_to_curve;
mod msm;
mod multiples;
mod products;
mod subgroup;
