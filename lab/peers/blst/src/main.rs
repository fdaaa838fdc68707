//! The runner of blst's kernels.

mod affinity;
mod groups;
mod points;
mod signatures;

use peer_protocol::{Task, Work, locked_version, serve};
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(locked_version(include_str!("../../Cargo.lock"), "blst"), |task| {
        affinity::restrict_to(task.threads)?;
        prepare(task)
    })
}

fn prepare(task: &Task) -> Result<Box<dyn Work>, String> {
    // The distribution of the scalars does not change the function that is called.
    let sum = task.kernel.strip_suffix("-equal").or(task.kernel.strip_suffix("-bits"));
    match sum.unwrap_or(&task.kernel) {
        "msm/bls12-381-g1" => groups::g1_sum(task),
        "msm/bls12-381-g2" => groups::g2_sum(task),
        "pairing/bls12-381" => groups::pairing(task),
        "bls12_381/hash-to-g1" => groups::hash_to_g1(task),
        "bls12_381/hash-to-g2" => groups::hash_to_g2(task),
        "bls12_381/decode-g1" => groups::decode_g1(task, true),
        "bls12_381/decode-g2" => groups::decode_g2(task, true),
        "bls12_381/decode-g1-unchecked" => groups::decode_g1(task, false),
        "bls12_381/decode-g2-unchecked" => groups::decode_g2(task, false),
        "bls/public-key" => signatures::public_key(task),
        "bls/sign" => signatures::sign(task),
        "bls/verify" => signatures::verify(task),
        "bls/fast-aggregate-verify" => signatures::fast_aggregate_verify(task),
        "bls/batch-verify" | "bls/batch-verify-one-message" => signatures::batch_verify(task),
        kernel => Err(format!("no kernel {kernel}")),
    }
}
