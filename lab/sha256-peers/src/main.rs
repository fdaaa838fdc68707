//! Times SHA-256 of many pairs, of single messages and of trees, for every kernel of this CPU and of the
//! peers, on one core: `taskset -c 1 cargo run --release -- [--csv] [--all] [pairs] [messages] [tree]`. With
//! `--all`, every batch size up to 64 and every kernel; otherwise some sizes and the best kernel.

#[path = "../../peers/programs/records.rs"]
mod records;

use proofmill_sha256::{Kernels, hash_pairs};
use proofmill_testing::rng;
use rand::RngCore;
use records::Records;
use std::{env, hint::black_box};

/// Pairs hashed in a run, for every batch size.
const PAIRS: usize = 1 << 16;

/// hashtree's kernels, which its crate links but does not declare. Parameters: digests, blocks of 64 bytes,
/// number of blocks.
mod hashtree {
    pub(crate) type Kernel = unsafe extern "C" fn(*mut u8, *const u8, u64);

    unsafe extern "C" {
        pub(crate) fn hashtree_sha256_sse_x1(digests: *mut u8, blocks: *const u8, count: u64);
        pub(crate) fn hashtree_sha256_avx_x4(digests: *mut u8, blocks: *const u8, count: u64);
        pub(crate) fn hashtree_sha256_avx2_x8(digests: *mut u8, blocks: *const u8, count: u64);
        pub(crate) fn hashtree_sha256_avx512_x16(digests: *mut u8, blocks: *const u8, count: u64);
        pub(crate) fn hashtree_sha256_shani_x2(digests: *mut u8, blocks: *const u8, count: u64);
    }
}

/// hashtree's kernels that this CPU supports.
fn hashtree_kernels() -> Vec<(&'static str, hashtree::Kernel)> {
    let mut kernels: Vec<(&str, hashtree::Kernel)> = Vec::new();
    let ours: Vec<&str> = Kernels::available().into_iter().map(Kernels::name).collect();
    let all: [(&str, &str, hashtree::Kernel); 5] = [
        ("ssse3", "hashtree-sse", hashtree::hashtree_sha256_sse_x1),
        ("avx2", "hashtree-avx", hashtree::hashtree_sha256_avx_x4),
        ("avx2", "hashtree-avx2", hashtree::hashtree_sha256_avx2_x8),
        ("avx512", "hashtree-avx512", hashtree::hashtree_sha256_avx512_x16),
        ("sha-ni", "hashtree-shani", hashtree::hashtree_sha256_shani_x2),
    ];
    for (needs, name, kernel) in all {
        if ours.contains(&needs) {
            kernels.push((name, kernel));
        }
    }
    kernels
}

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let has = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let all = env::args().any(|word| word == "--all");
    let mut records = Records::new();
    // Forces linking of the library: the declarations above have no link attribute.
    hashtree_rs::init();
    if has("pairs") {
        pairs(&mut records, all);
    }
    if has("messages") {
        messages(&mut records);
    }
    if has("tree") {
        tree(&mut records);
    }
}

fn bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rng(5).fill_bytes(&mut bytes);
    bytes
}

/// Batches of pairs. The ratio is the time of hashtree's best kernel divided by Proofmill's.
fn pairs(records: &mut Records, all: bool) {
    let blocks = bytes(64 * 4096);
    let blocks = blocks.as_chunks::<64>().0;
    let mut digests = vec![[0; 32]; blocks.len()];
    let mut batches =
        vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 20, 24, 32, 48, 64, 100, 256, 1024, 4096];
    if all {
        batches = (1..=64).chain([100, 256, 1024, 4096]).collect();
    }
    for batch in batches {
        let name = format!("{PAIRS} pairs by {batch}");
        let runs = PAIRS.div_ceil(batch);
        let mut best: Option<(&str, f64)> = None;
        for (peer, kernel) in hashtree_kernels() {
            let seconds = records.record(&name, peer, 1, None, || {
                for run in 0..runs {
                    let first = run * batch % (blocks.len() - batch + 1);
                    let blocks = black_box(&blocks[first..][..batch]);
                    let digests = black_box(&mut digests[..batch]);
                    // SAFETY: both buffers have the given number of items, and this CPU supports the kernel.
                    unsafe { kernel(digests.as_mut_ptr().cast(), blocks.as_ptr().cast(), blocks.len() as u64) };
                }
            });
            if best.is_none_or(|(_, least)| seconds < least) {
                best = Some((peer, seconds));
            }
        }
        let mut ours = vec![("best", Kernels::best())];
        if all {
            ours.extend(Kernels::available().into_iter().map(|kernels| (kernels.name(), kernels)));
        }
        for (name_of_ours, kernels) in ours {
            records.record(&name, name_of_ours, 1, best, || {
                for run in 0..runs {
                    let first = run * batch % (blocks.len() - batch + 1);
                    hash_pairs(
                        kernels,
                        black_box(&blocks[first..][..batch]),
                        black_box(&mut digests[..batch]),
                    );
                }
            });
        }
    }
}

/// Single messages. The ratio is the best peer's time divided by Proofmill's.
fn messages(records: &mut Records) {
    use sha2_10::Digest as _;
    for (length, count) in [(32, 1 << 16), (64, 1 << 15), (128, 1 << 14), (1000, 1 << 12), (5_000_000, 1)] {
        let name = format!("{count} messages of {length}");
        let message = bytes(length);
        let mut best: Option<(&str, f64)> = None;
        let mut measure = |peer: &'static str, digest: &dyn Fn(&[u8]), ours: bool| {
            let against = if ours { best } else { None };
            let seconds = records.record(&name, peer, 1, against, || {
                for _ in 0..count {
                    digest(black_box(&message));
                }
            });
            if !ours && best.is_none_or(|(_, least)| seconds < least) {
                best = Some((peer, seconds));
            }
        };
        measure("sha2-0.10", &|message| _ = black_box(sha2_10::Sha256::digest(message)), false);
        measure(
            "sha2-0.11",
            &|message| _ = black_box(<sha2_11::Sha256 as sha2_11::Digest>::digest(message)),
            false,
        );
        measure(
            "ring",
            &|message| _ = black_box(ring::digest::digest(&ring::digest::SHA256, message)),
            false,
        );
        measure("best", &|message| _ = black_box(proofmill_sha256::digest(message)), true);
        for kernels in Kernels::available() {
            if kernels.name() == kernels.single_name() {
                measure(kernels.name(), &|message| _ = black_box(kernels.digest(message)), true);
            }
        }
    }
}

/// All nodes of a tree over 2^20 chunks, layer by layer.
fn tree(records: &mut Records) {
    let leaves = bytes(32 << 20);
    let mut nodes = vec![[0; 32]; 1 << 20];
    let name = "tree of 2^20 chunks";
    let mut best: Option<(&str, f64)> = None;
    let mut layers = |mut hash: Box<dyn FnMut(&[[u8; 64]], &mut [[u8; 32]])>| {
        let (mut below, mut rest) = (leaves.as_chunks::<64>().0, &mut nodes[..]);
        while !below.is_empty() {
            let (layer, others) = rest.split_at_mut(below.len());
            hash(below, layer);
            (below, rest) = (layer.as_flattened().as_chunks::<64>().0, others);
        }
    };
    for (peer, kernel) in hashtree_kernels() {
        let seconds = records.record(name, peer, 1, None, || {
            layers(Box::new(move |blocks, digests| {
                // SAFETY: both buffers have the given number of items, and this CPU supports the kernel.
                unsafe { kernel(digests.as_mut_ptr().cast(), blocks.as_ptr().cast(), blocks.len() as u64) };
            }));
        });
        if best.is_none_or(|(_, least)| seconds < least) {
            best = Some((peer, seconds));
        }
    }
    for kernels in [Kernels::best()].into_iter().chain(Kernels::available()) {
        let name_of_ours = if kernels == Kernels::best() { "best" } else { kernels.name() };
        records.record(name, name_of_ours, 1, best, || {
            layers(Box::new(move |blocks, digests| kernels.pairs(blocks, digests)));
        });
    }
}
