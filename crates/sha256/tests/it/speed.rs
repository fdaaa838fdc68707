//! Kernels in lanes are faster than portable code. A kernel that is not inlined gives right answers slowly; this finds it.

use crate::all_kernels;
use proofmill_sha256::{Kernels, hash_pairs};
use proofmill_testing::assert_faster;
use std::hint::black_box;

/// The least speed-up over `portable` in a test build; a Zen 5 reaches at least twice as much.
const FACTORS: [(&str, f64); 4] = [("ssse3", 1.2), ("avx2", 2.0), ("avx512", 6.0), ("sha-ni", 2.5)];

#[test]
fn many_messages() {
    let pairs = [[7; 64]; 4096];
    let others: Vec<_> = all_kernels()
        .into_iter()
        .filter_map(|kernels| {
            let (_, factor) = FACTORS.iter().find(|(name, _)| *name == kernels.name())?;
            Some((kernels, *factor))
        })
        .collect();
    assert_faster(Kernels::PORTABLE, &others, |kernels| {
        hash_pairs(kernels, black_box(&pairs), black_box(&mut [[0; 32]; 4096]));
    });
}
