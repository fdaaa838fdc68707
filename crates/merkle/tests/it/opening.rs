use crate::serial::{MOST, words};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::MODULUS;
use proofmill_merkle::{Digest, Hash, MerkleError, Opening, RowMajor, Tree};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::RngCore;

const TESTED: Hash = Hash::Poseidon;

/// Makes a valid opening invalid.
type Edit<'a> = &'a dyn Fn(&mut Opening);

/// A tree and its words.
fn tree(hash: Hash, log_rows: u32, columns: usize) -> (Vec<u64>, Tree) {
    let words = words(columns << log_rows, 7);
    let tree =
        Tree::build(Level::best(), hash.tree_hash(), &RowMajor::new(&words, columns).unwrap()).unwrap();
    (words, tree)
}

fn check(hash: Hash, opening: &Opening, cap: &[Digest]) -> Result<(), MerkleError> {
    opening.check(Level::best(), hash.tree_hash(), opening.rows, opening.columns, cap)
}

/// Up to `most` ascending indices below `rows`.
fn some_indices(rows: usize, most: usize, seed: u64) -> Vec<usize> {
    let mut rng = rng(seed);
    let mut indices: Vec<usize> = (0..most).map(|_| rng.next_u64() as usize % rows).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn every_opening(hash: Hash, most: u32) {
    for log_rows in 0..=most {
        let (words, tree) = tree(hash, log_rows, 3);
        let leaves = RowMajor::new(&words, 3).unwrap();
        let rows = 1 << log_rows;
        let mut sets: Vec<Vec<usize>> = (0..rows).step_by(1 + rows / 32).map(|index| vec![index]).collect();
        sets.extend((1..6).map(|seed| some_indices(rows, 40 * seed as usize, seed)));
        sets.extend([vec![rows - 1], (0..rows.min(300)).collect()]);
        for (at, indices) in sets.iter().enumerate() {
            let height = at as u32 % (log_rows + 1);
            for cap in [tree.layer(log_rows), tree.layer(height)] {
                let opening = tree.open(&leaves, indices, cap.len()).unwrap();
                check(hash, &opening, cap).unwrap();
                let shown: Vec<u64> =
                    indices.iter().flat_map(|row| &words[3 * row..][..3]).copied().collect();
                assert_eq!(opening.values, shown);
            }
        }
    }
}

#[test]
fn openings_lead_to_the_root_and_to_caps() {
    every_opening(TESTED, MOST);
    every_opening(Hash::Poseidon2, 6);
    every_opening(Hash::Sha256, 6);
}

#[test]
fn every_level_checks_alike() {
    let (words, tree) = tree(TESTED, 8, 9);
    let indices = some_indices(256, 50, 1);
    let opening = tree.open(&RowMajor::new(&words, 9).unwrap(), &indices, 1).unwrap();
    let mut wrong = opening.clone();
    wrong.values[100] ^= 1;
    for_each_goldilocks_level(|level| {
        opening.check(level, TESTED.tree_hash(), 256, 9, &[tree.root()]).unwrap();
        assert!(matches!(
            wrong.check(level, TESTED.tree_hash(), 256, 9, &[tree.root()]),
            Err(MerkleError::Rejected)
        ));
    });
}

#[test]
fn shared_nodes_are_there_once() {
    let (words, tree) = tree(TESTED, 10, 1);
    let leaves = RowMajor::new(&words, 1).unwrap();
    let siblings = |indices: &[usize], cap| tree.open(&leaves, indices, cap).unwrap().siblings.len();
    assert_eq!(siblings(&[5], 1), 10);
    assert_eq!(siblings(&[5], 16), 6);
    assert_eq!(siblings(&[4, 5], 1), 9);
    assert_eq!(siblings(&[0, 1023], 1), 18);
    assert_eq!(siblings(&(0..1024).collect::<Vec<_>>(), 1), 0);
}

/// A word with one bit changed, or the other representative of its residue.
fn changed(word: u64, bit: u32) -> u64 {
    if bit == 64 { word.wrapping_add(MODULUS) } else { word ^ (1 << bit) }
}

#[test]
fn an_opening_with_any_bit_changed_is_refused() {
    let (words, tree) = tree(TESTED, 6, 5);
    let leaves = RowMajor::new(&words, 5).unwrap();
    for indices in [vec![11], vec![0, 1, 17, 62]] {
        let opening = tree.open(&leaves, &indices, 1).unwrap();
        let refused = |wrong: &Opening| {
            assert!(
                wrong != &opening
                    && wrong.check(Level::best(), TESTED.tree_hash(), 64, 5, &[tree.root()]).is_err(),
                "{wrong:?}"
            );
        };
        for bit in 0..=64 {
            for value in 0..opening.values.len() {
                let mut wrong = opening.clone();
                wrong.values[value] = changed(wrong.values[value], bit);
                refused(&wrong);
            }
            for index in 0..indices.len() {
                let mut wrong = opening.clone();
                wrong.indices[index] = changed(wrong.indices[index], bit);
                refused(&wrong);
            }
            let mut wrong = opening.clone();
            wrong.rows = changed(wrong.rows, bit);
            refused(&wrong);
            let mut wrong = opening.clone();
            wrong.columns = changed(wrong.columns, bit);
            refused(&wrong);
        }
        for sibling in 0..opening.siblings.len() {
            for byte in 0..32 {
                for change in 1..=255 {
                    let mut bytes = opening.siblings[sibling].to_bytes();
                    bytes[byte] ^= change;
                    let mut wrong = opening.clone();
                    wrong.siblings[sibling] = Digest::from_bytes(&bytes);
                    refused(&wrong);
                }
            }
        }
        let mut root = tree.root().to_bytes();
        root[9] ^= 1;
        let root = Digest::from_bytes(&root);
        assert!(matches!(check(TESTED, &opening, &[root]), Err(MerkleError::Rejected)));
    }
}

#[test]
fn malformed_openings_are_refused_by_name() {
    let (words, tree) = tree(TESTED, 4, 2);
    let leaves = RowMajor::new(&words, 2).unwrap();
    let good = tree.open(&leaves, &[3, 9], 1).unwrap();
    let edited = |edit: Edit<'_>| {
        let mut opening = good.clone();
        edit(&mut opening);
        check(TESTED, &opening, &[tree.root()]).unwrap_err().to_string()
    };
    let cases: [(&str, Edit<'_>); 19] = [
        ("index 3 occurs twice", &|o| o.indices[1] = 3),
        ("index 3 comes after 9", &|o| o.indices.reverse()),
        ("index 16 is out of range: the tree has rows 0 to 15", &|o| o.indices[1] = 16),
        ("index 18446744073709551615 is out of range", &|o| o.indices[1] = u64::MAX),
        ("at least one index", &|o| o.indices.clear()),
        ("expected 6 siblings on the way to the root, found 5", &|o| o.siblings.truncate(5)),
        ("expected 6 siblings on the way to the root, found 7", &|o| o.siblings.push(Digest::default())),
        ("siblings[1]: expected elements below the field's modulus", &|o| o.siblings[1].0[2] = MODULUS),
        ("expected 4 values", &|o| o.values.truncate(3)),
        ("expected 8 values", &|o| o.columns = 4),
        ("expected 18446744073709551615 values", &|o| o.columns = u64::MAX),
        ("expected at least one column", &|o| o.columns = 0),
        ("row 9, column 1 (counted from 0): expected a value below", &|o| o.values[3] = MODULUS),
        ("power of two of rows, found 15", &|o| o.rows = 15),
        ("power of two of rows, found 0", &|o| o.rows = 0),
        ("expected 7 siblings", &|o| o.rows = 32),
        ("expected 65 siblings", &|o| o.rows = 1 << 63),
        ("not in the tree of this root", &|o| o.indices[0] = 2),
        ("not in the tree of this root", &|o| o.siblings.swap(0, 1)),
    ];
    for (expected, edit) in cases {
        let error = edited(edit);
        assert!(error.contains(expected), "{error}: not {expected}");
    }
    let shape = |rows, columns| {
        good.check(Level::best(), TESTED.tree_hash(), rows, columns, &[tree.root()]).unwrap_err().to_string()
    };
    assert_eq!(shape(32, 2), "expected an opening of 32 rows, found one of 16");
    assert_eq!(shape(16, 3), "expected an opening of 3 columns, found one of 2");
    for cap in [0, 3, 32] {
        let error = check(TESTED, &good, &vec![tree.root(); cap]).unwrap_err();
        assert!(matches!(error, MerkleError::CapSize { rows: 16, .. }), "{error}");
    }
}

#[test]
fn what_cannot_be_opened_is_refused_by_name() {
    let (words, tree) = tree(TESTED, 4, 2);
    let leaves = RowMajor::new(&words, 2).unwrap();
    let error = |indices: &[usize], cap| tree.open(&leaves, indices, cap).unwrap_err();
    assert!(matches!(error(&[], 1), MerkleError::NoIndices));
    assert!(matches!(error(&[16], 1), MerkleError::IndexRange { index: 16, rows: 16 }));
    assert!(matches!(error(&[2, 2], 1), MerkleError::DuplicateIndex(2)));
    assert!(matches!(error(&[2, 1], 1), MerkleError::UnsortedIndices { index: 1, before: 2 }));
    assert!(matches!(error(&[2], 5), MerkleError::CapSize { rows: 16, found: 5 }));
}

/// Why a verifier must know the tree's shape: two digests look like a row of eight elements.
#[test]
fn a_node_passes_for_a_row_of_another_tree_only() {
    let (_, tree) = tree(TESTED, 3, 8);
    let nodes = tree.layer(1);
    let forged = Opening {
        rows: 4,
        columns: 8,
        indices: vec![0],
        values: [tree.layer(0)[0].0, tree.layer(0)[1].0].concat(),
        siblings: vec![nodes[1], tree.layer(2)[1]],
    };
    forged.check(Level::best(), TESTED.tree_hash(), 4, 8, &[tree.root()]).unwrap();
    let error = forged.check(Level::best(), TESTED.tree_hash(), 8, 8, &[tree.root()]).unwrap_err();
    assert!(matches!(error, MerkleError::Shape { what: "rows", expected: 8, found: 4 }), "{error}");
}
