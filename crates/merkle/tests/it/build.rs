use crate::serial::{MOST, layers, words};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::MODULUS;
use proofmill_files::MappedFile;
use proofmill_merkle::{ColumnMajor, Digest, Hash, MerkleError, RowMajor, Tree, digest_to_hex, root};
use proofmill_testing::{for_each_goldilocks_level, for_each_pool};
use serde_json::Value;
use std::io::Write;

const TESTED: Hash = Hash::Poseidon;

/// Every layer of the tree, and the root computed without a tree, match the definition.
fn check(hash: Hash, most: u32, columns: usize) {
    for log_rows in 0..=most {
        let words = words(columns << log_rows, log_rows.into());
        let expected = layers(hash.tree_hash(), &words, columns);
        let transposed: Vec<Vec<u64>> = (0..columns)
            .map(|column| words.iter().copied().skip(column).step_by(columns).collect())
            .collect();
        let transposed: Vec<&[u64]> = transposed.iter().map(Vec::as_slice).collect();
        for_each_goldilocks_level(|level| {
            for_each_pool(&[1, 2, 5], |threads| {
                let case = || format!("{} 2^{log_rows} x {columns}, {level}, {threads} threads", hash.name());
                let leaves = RowMajor::new(&words, columns).unwrap();
                let tree = Tree::build(level, hash.tree_hash(), &leaves).unwrap();
                for (height, layer) in (0..).zip(&expected) {
                    assert!(tree.layer(height) == layer, "{}, layer {height}", case());
                }
                assert_eq!(tree.root(), expected[log_rows as usize][0]);
                assert_eq!(root(level, hash.tree_hash(), &leaves).unwrap(), tree.root(), "{}", case());
                let leaves = ColumnMajor::new(&transposed).unwrap();
                assert_eq!(
                    root(level, hash.tree_hash(), &leaves).unwrap(),
                    tree.root(),
                    "{}, by columns",
                    case()
                );
            });
        });
    }
}

#[test]
fn poseidon_is_the_definitions_tree() {
    check(TESTED, MOST, 3);
    check(TESTED, 7, 13);
}

#[test]
fn poseidon2_is_the_definitions_tree() {
    check(Hash::Poseidon2, 9, 9);
    check(Hash::Poseidon2Width8, 9, 5);
    check(Hash::Poseidon2NarrowNodes, 9, 9);
}

#[test]
fn narrow_nodes_are_of_both_widths() {
    let words = words(64, 1);
    let level = Level::best();
    let leaves = RowMajor::new(&words, 8).unwrap();
    let layer = |height| {
        Tree::build(level, Hash::Poseidon2NarrowNodes.tree_hash(), &leaves).unwrap().layer(height).to_vec()
    };
    assert_eq!(layer(0), Tree::build(level, Hash::Poseidon2.tree_hash(), &leaves).unwrap().layer(0));
    let mut nodes = [Digest::default(); 4];
    Hash::Poseidon2Width8.tree_hash().hash_pairs(level, &layer(0), &mut nodes);
    assert_eq!(layer(1), nodes);
}

#[test]
fn keccak_is_the_definitions_tree() {
    check(Hash::Keccak, 9, 19);
}

#[test]
fn sha256_is_the_definitions_tree() {
    check(Hash::Sha256, 12, 3);
}

#[test]
fn poseidon_over_bn254_is_the_definitions_tree() {
    check(Hash::PoseidonBn254, 6, 7);
}

#[test]
fn known_answers() {
    let answers: Value =
        serde_json::from_str(include_str!("../../../hash/tests/data/hermez-kat.json")).unwrap();
    let cases = answers["merkle"].as_array().unwrap();
    assert_eq!(cases.len(), 48);
    for case in cases {
        let [rows, columns] = ["rows", "columns"].map(|key| case[key].as_u64().unwrap() as usize);
        let mut state = u64::from_str_radix(case["xorshift_seed"].as_str().unwrap(), 16).unwrap();
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % MODULUS
        };
        let words: Vec<u64> = (0..rows * columns).map(|_| next()).collect();
        let expected: String =
            case["root"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        for_each_goldilocks_level(|level| {
            let found = root(level, TESTED.tree_hash(), &RowMajor::new(&words, columns).unwrap()).unwrap();
            assert_eq!(digest_to_hex(TESTED.tree_hash(), &found), expected, "{rows} x {columns}, {level}");
        });
    }
}

#[test]
fn other_shapes_are_refused() {
    let words = [1; 24];
    for columns in [1, 2, 4, 8] {
        let error = RowMajor::new(&words, columns).unwrap_err();
        assert!(matches!(error, MerkleError::RowCount(rows) if rows as usize == 24 / columns), "{error}");
    }
    assert!(matches!(RowMajor::new(&[], 1), Err(MerkleError::RowCount(0))));
    assert!(matches!(RowMajor::new(&words, 0), Err(MerkleError::NoColumns)));
    assert!(matches!(RowMajor::new(&words, 5), Err(MerkleError::RowSize { row: 5, found: 24, .. })));
    assert!(matches!(ColumnMajor::new(&[]), Err(MerkleError::NoColumns)));
    assert!(matches!(ColumnMajor::new(&[&words]), Err(MerkleError::RowCount(24))));
    let unequal: [&[u64]; 3] = [&words[..8], &words[..8], &words[..4]];
    let error = ColumnMajor::new(&unequal).unwrap_err();
    assert!(matches!(error, MerkleError::ColumnLength { column: 2, expected: 8, found: 4 }), "{error}");
}

#[test]
fn the_first_word_that_is_no_element_is_named() {
    let mut words = words(3 << 13, 0);
    for row in [8000, 5000, 5001] {
        words[3 * row + 2] = MODULUS;
    }
    let columns: Vec<Vec<u64>> =
        (0..3).map(|column| words[column..].iter().copied().step_by(3).collect()).collect();
    let columns: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
    for_each_pool(&[1, 5], |_| {
        let level = Level::best();
        let rows = RowMajor::new(&words, 3).unwrap();
        let errors = [
            Tree::build(level, TESTED.tree_hash(), &rows).map(drop),
            root(level, TESTED.tree_hash(), &rows).map(drop),
            root(level, TESTED.tree_hash(), &ColumnMajor::new(&columns).unwrap()).map(drop),
        ];
        for error in errors {
            let error = error.unwrap_err();
            let text = "row 5000, column 2 (counted from 0): expected a value below 18446744069414584321, found \
                        18446744069414584321";
            assert_eq!(error.to_string(), text);
        }
        // SHA-256 accepts any word.
        root(level, Hash::Sha256.tree_hash(), &rows).unwrap();
    });
}

#[test]
fn mapped_files_have_the_tree_of_their_words() {
    let words = words(1 << 18, 1);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    let mapped = MappedFile::open(file.path()).unwrap();
    let level = Level::best();
    for columns in [1, 8, 1 << 12, 1 << 17] {
        let expected = root(level, TESTED.tree_hash(), &RowMajor::new(&words, columns).unwrap()).unwrap();
        for_each_pool(&[1, 2, 5], |_| {
            let found =
                root(level, TESTED.tree_hash(), &RowMajor::of_file(&mapped, columns).unwrap()).unwrap();
            assert_eq!(found, expected);
        });
    }
    let error = RowMajor::of_file(&mapped, 7).unwrap_err();
    assert!(matches!(error, MerkleError::RowSize { row: 56, found: 0x20_0000, unit: "bytes" }), "{error}");
    assert!(RowMajor::of_file(&mapped, usize::MAX).is_err());
}
