//! Hashing to BLS12-381's groups and decoding their points at every level beside blst, on one core:
//! `cargo bench -p proofmill-curve --bench bls12_381 [-- --csv] [LEVEL...]`.

#[path = "../tests/blst/mod.rs"]
mod blst;

use blst::Blst;
use proofmill_cpu::Level;
use proofmill_curve::{
    Affine, Jacobian,
    bls12_381::{G1, G2, Subgroup, decode_compressed},
    hash_to_curve::{hash_to_g1, hash_to_g2},
};
use proofmill_testing::Records;

/// Ethereum's tag of signatures.
const DST: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// Operations that one sample times, in calls of 1, 8 and 128.
const OPERATIONS: usize = 128;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        let mut records = Records::new();
        hash(&mut records, "hash to G1", hash_to_g1);
        hash(&mut records, "hash to G2", hash_to_g2);
        decode::<G1>(&mut records);
        decode::<G2>(&mut records);
    });
}

fn levels() -> Vec<Level> {
    let mut levels = proofmill_field::prime_field_levels();
    let named: Vec<Level> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    levels.retain(|level| named.is_empty() || named.iter().any(|named| named.name() == level.name()));
    levels
}

/// Points of messages under a tag.
type Hash<C> = fn(Level, &[&[u8]], &[u8]) -> Vec<Affine<C>>;

fn hash<C: Blst>(records: &mut Records, name: &str, hash: Hash<C>) {
    let messages: Vec<[u8; 32]> = (0..OPERATIONS).map(|i| [i as u8; 32]).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let name = |count: usize| format!("{OPERATIONS} {name} by {count}");
    // To affine coordinates, as ours.
    let theirs = || messages.iter().for_each(|message| C::hash_only(message, DST));
    let peer = ("blst", records.record(&name(1), "blst", 1, None, theirs));
    for level in levels() {
        for count in [1, 8, OPERATIONS] {
            let ours = || messages.chunks(count).for_each(|messages| drop(hash(level, messages, DST)));
            records.record(&name(count), level.name(), 1, Some(peer), ours);
        }
    }
}

fn decode<C: Blst>(records: &mut Records) {
    let mut multiple = Jacobian::from(C::GENERATOR);
    let points: Vec<Affine<C>> = (0..OPERATIONS)
        .map(|_| {
            multiple = multiple.double().add_affine(&C::GENERATOR);
            multiple.to_affine()
        })
        .collect();
    let encodings: Vec<C::Compressed> = points.iter().map(Affine::to_compressed).collect();
    for subgroup in [Subgroup::Unchecked, Subgroup::Checked] {
        let name = |count: usize| {
            let checked = if subgroup == Subgroup::Checked { " checked" } else { "" };
            format!("{OPERATIONS} decode {}{checked} by {count}", &C::NAME[10..])
        };
        let theirs = || {
            for bytes in &encodings {
                assert!(C::decode_only(bytes.as_ref(), subgroup == Subgroup::Checked));
            }
        };
        let peer = ("blst", records.record(&name(1), "blst", 1, None, theirs));
        for level in levels() {
            let ours = || {
                for bytes in &encodings {
                    let _ = std::hint::black_box(Affine::<C>::from_compressed(level, bytes, subgroup));
                }
            };
            records.record(&name(1), level.name(), 1, Some(peer), ours);
            for count in [8, OPERATIONS] {
                let ours = || {
                    encodings
                        .chunks(count)
                        .for_each(|chunk| drop(decode_compressed::<C>(level, chunk, subgroup)))
                };
                records.record(&name(count), level.name(), 1, Some(peer), ours);
            }
        }
    }
}
