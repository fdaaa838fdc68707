//! Kernels in lanes are faster than portable code. A kernel that is not inlined gives right answers slowly; this finds it.

use crate::for_each_kernels;
use proofmill_sha256::{Kernels, hash_pairs};
use std::{hint::black_box, time::Instant};

/// The least speed-up over `portable` in a test build; a Zen 5 reaches at least twice as much.
const FACTORS: [(&str, f64); 4] = [("ssse3", 1.2), ("avx2", 2.0), ("avx512", 6.0), ("sha-ni", 2.5)];

#[test]
fn many_messages() {
    let pairs = [[7; 64]; 1024];
    let mut digests = [[0; 32]; 1024];
    let mut least = |kernels| {
        let mut seconds = || {
            let start = Instant::now();
            hash_pairs(kernels, black_box(&pairs), black_box(&mut digests));
            start.elapsed().as_secs_f64()
        };
        (0..20).map(|_| seconds()).fold(f64::INFINITY, f64::min)
    };
    let portable = least(Kernels::PORTABLE);
    for_each_kernels(|kernels| {
        let ratio = portable / least(kernels);
        println!("{kernels} is {ratio:.1} times faster than portable");
        if let Some((name, factor)) = FACTORS.iter().find(|(name, _)| *name == kernels.name()) {
            assert!(ratio >= *factor, "{name} is {ratio:.2} times faster than portable, not {factor} times");
        }
    });
}
