use crate::serial::{layers, words};
use proofmill_cpu::Level;
use proofmill_field::goldilocks::MODULUS;
use proofmill_merkle::{Digest, Hash, MerkleError, OpeningDocument, RowMajor, Tree, TreeFile, write_tree};
use proofmill_testing::for_each_pool;
use std::io::Cursor;

const TESTED: Hash = Hash::Poseidon;

/// Makes a valid file invalid.
type Edit<'a> = &'a dyn Fn(&mut Vec<u8>);

fn file(hash: Hash, words: &[u64], columns: usize) -> (Vec<u8>, Digest) {
    let mut output = Cursor::new(Vec::new());
    let root =
        write_tree(Level::best(), hash.tree_hash(), &RowMajor::new(words, columns).unwrap(), &mut output)
            .unwrap();
    (output.into_inner(), root)
}

#[test]
fn a_file_has_header_rows_and_nodes() {
    for log_rows in [0, 1, 5, 6, 13] {
        let words = words(3 << log_rows, 2);
        let mut expected = b"pfmerkle\x01\0\0\0\0\0\0\0poseidon\0\0\0\0\0\0\0\0".to_vec();
        expected.extend([1 << log_rows, 3, 0, 0u64].iter().flat_map(|word| word.to_le_bytes()));
        expected.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let layers = layers(TESTED.tree_hash(), &words, 3);
        expected.extend(layers.iter().flatten().flat_map(|digest| digest.to_bytes()));
        for_each_pool(&[1, 2, 5], |_| {
            let (bytes, root) = file(TESTED, &words, 3);
            assert!(bytes == expected, "2^{log_rows}");
            assert_eq!(root, layers[log_rows][0]);
        });
    }
}

#[test]
fn files_open_as_trees_in_memory_do() {
    let words = words(5 << 8, 2);
    let leaves = RowMajor::new(&words, 5).unwrap();
    let (bytes, root) = file(TESTED, &words, 5);
    let tree = Tree::build(Level::best(), TESTED.tree_hash(), &leaves).unwrap();
    let mapped = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(mapped.path(), &bytes).unwrap();
    for file in [TreeFile::from_bytes(bytes).unwrap(), TreeFile::open(mapped.path()).unwrap()] {
        assert_eq!((file.hash(), file.rows(), file.columns()), (Hash::Poseidon, 256, 5));
        assert_eq!(file.root().unwrap(), root);
        for indices in [vec![0], vec![255], vec![1, 2, 3, 100]] {
            let small: Vec<usize> = indices.iter().map(|index| *index as usize).collect();
            let opening = file.open_rows(Level::best(), &indices).unwrap();
            assert_eq!(opening, tree.open(&leaves, &small, 1).unwrap());
        }
        let error = file.open_rows(Level::best(), &[256]).unwrap_err();
        assert!(matches!(error, MerkleError::IndexRange { index: 256, rows: 256 }), "{error}");
    }
}

#[test]
fn no_changed_byte_on_the_way_is_opened() {
    let words = words(2 << 3, 2);
    let (bytes, root) = file(TESTED, &words, 2);
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut wrong = bytes.clone();
            wrong[at] ^= change;
            let opened = TreeFile::from_bytes(wrong).and_then(|file| {
                // Together the two openings read every row and all nodes that are not computed.
                file.open_rows(Level::best(), &[0])?.check(
                    Level::best(),
                    TESTED.tree_hash(),
                    8,
                    2,
                    &[root],
                )?;
                file.open_rows(Level::best(), &[7])?.check(Level::best(), TESTED.tree_hash(), 8, 2, &[root])
            });
            // Rows 1 to 6 are not opened, and nodes on the paths are computed.
            let unread = [64 + 16..64 + 7 * 16, 192..192 + 32 * 15];
            if opened.is_ok() {
                assert!(unread.iter().any(|range| range.contains(&at)), "byte {at}");
            }
        }
    }
}

#[test]
fn damaged_files_are_refused_by_name() {
    let words = words(2 << 3, 2);
    let (bytes, _) = file(TESTED, &words, 2);
    let refused = |edit: Edit<'_>| {
        let mut wrong = bytes.clone();
        edit(&mut wrong);
        let opened = TreeFile::from_bytes(wrong).and_then(|file| file.open_rows(Level::best(), &[3]));
        opened.unwrap_err().to_string()
    };
    let word =
        |wrong: &mut Vec<u8>, at: usize, word: u64| wrong[at..at + 8].copy_from_slice(&word.to_le_bytes());
    let cases: [(&str, Edit<'_>); 16] = [
        ("not a tree", &|w| w[0] ^= 1),
        ("not a tree", &|w| w.clear()),
        ("offset 20: expected a header of 64 bytes, found 20", &|w| w.truncate(20)),
        ("offset 8: expected version 1, found 2", &|w| w[8] = 2),
        ("unknown hash `poseidox`", &|w| w[23] = b'x'),
        ("offset 32: expected a power of two of rows, found 9", &|w| word(w, 32, 9)),
        ("offset 40: expected at least one column", &|w| word(w, 40, 0)),
        ("offset 48: expected zeros", &|w| w[63] = 1),
        ("expected 672 bytes for 8 rows of 2 columns, found 671", &|w| w.truncate(671)),
        ("expected 672 bytes for 8 rows of 2 columns, found 673", &|w| w.push(0)),
        ("found 672", &|w| word(w, 32, 1 << 63)),
        ("found 672", &|w| word(w, 40, u64::MAX)),
        ("found 672", &|w| (word(w, 40, u64::MAX), word(w, 32, 1 << 63)).1),
        ("row 3, column 0 (counted from 0): expected a value below", &|w| word(w, 64 + 3 * 16, MODULUS)),
        ("offset 640: no digest of poseidon", &|w| word(w, 640 + 8, u64::MAX)),
        ("do not hash to the file's root", &|w| w[671 - 7] ^= 1),
    ];
    for (expected, edit) in cases {
        let error = refused(edit);
        assert!(error.contains(expected), "{error}: not {expected}");
        assert!(!error.contains('\n'));
    }
}

/// An output that fails after this many bytes.
struct Full(Cursor<Vec<u8>>, usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.1.checked_sub(bytes.len()) {
            Some(left) => {
                self.1 = left;
                self.0.write(bytes)
            }
            None => Err(std::io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl std::io::Seek for Full {
    fn seek(&mut self, position: std::io::SeekFrom) -> std::io::Result<u64> {
        self.0.seek(position)
    }
}

#[test]
fn a_full_disk_is_said() {
    let words = words(2 << 12, 2);
    for room in [0, 100, 1 << 16, 1 << 17] {
        let output = Full(Cursor::new(Vec::new()), room);
        let error = write_tree(Level::best(), TESTED.tree_hash(), &RowMajor::new(&words, 2).unwrap(), output)
            .unwrap_err();
        assert!(matches!(error, MerkleError::Io(_)), "{error}");
    }
}

/// Files of this version stay readable, and the same rows give the same bytes.
#[test]
fn the_layout_stays() {
    fn check(hash: Hash, tree: &[u8], opening: &[u8]) {
        let words: Vec<u64> = (0..24).map(|word| word * word * word + (word << 40)).collect();
        let (bytes, root) = file(hash, &words, 3);
        assert!(bytes == tree, "{}", hash.name());
        let read = TreeFile::from_bytes(bytes).unwrap().open_rows(Level::best(), &[2, 5]).unwrap();
        assert_eq!(OpeningDocument::new(hash, &read).text().as_bytes(), opening);
        read.check(Level::best(), hash.tree_hash(), 8, 3, &[root]).unwrap();
    }
    check(TESTED, include_bytes!("../data/poseidon.tree"), include_bytes!("../data/poseidon.json"));
    check(Hash::Sha256, include_bytes!("../data/sha256.tree"), include_bytes!("../data/sha256.json"));
}
