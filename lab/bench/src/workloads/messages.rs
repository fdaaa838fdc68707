//! SHA-256.

use super::{
    adaptor::{KernelEntry, KernelFunctions, KernelLevels},
    encoding::encoded,
    inputs::{arrays, bytes},
};
use proofmill_sha256::{Kernels, hash_pairs};
use std::hint::black_box;

pub(crate) fn table() -> Vec<KernelEntry> {
    vec![message(), pairs()]
}

/// SHA-256 of one message of `size` bytes.
fn message() -> KernelEntry {
    KernelFunctions::new(
        |rng, size| Ok(bytes(rng, size)),
        |_, level| Ok((Kernels::at(level), [0; 32])),
        |message, (kernels, digest), _, _| {
            *digest = kernels.digest(black_box(message));
            Ok(())
        },
        |(_, digest)| digest.to_vec(),
    )
    .for_peers(Vec::clone)
    .entry("sha256/message", KernelLevels::Sha256)
}

/// SHA-256 of `size` messages of 64 bytes.
fn pairs() -> KernelEntry {
    KernelFunctions::new(
        |rng, size| Ok(arrays::<64>(rng, size)),
        |pairs, _| Ok(vec![[0; 32]; pairs.len()]),
        |pairs, digests, level, _| {
            hash_pairs(Kernels::at(level), pairs, digests);
            Ok(())
        },
        |digests| encoded(&digests[..]),
    )
    .for_peers(|pairs| encoded(&pairs[..]))
    .entry("sha256/pairs", KernelLevels::Sha256Many)
}
