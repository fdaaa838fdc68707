//! Each level builds trees faster than `portable`, by a factor well above noise.

use proofmill_merkle::{Hash, RowMajor, root};
use proofmill_testing::assert_levels_win;

#[test]
fn trees_of_poseidon() {
    let words: Vec<u64> = (0..8 << 12).collect();
    // Measured on a Zen 5: 2.0, 3.8 and 5.9.
    assert_levels_win(&[("avx2", 1.2), ("avx512", 2.0), ("avx512ifma", 3.0)], |level| {
        root(level, Hash::Poseidon.tree_hash(), &RowMajor::new(&words, 8).unwrap()).unwrap();
    });
}
