//! Arbitrary bytes as openings and trees, and checks of those that can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proofmill_cpu::Level;
use proofmill_merkle::{OpeningDocument, TreeFile};

fuzz_target!(|bytes: &[u8]| {
    let level = Level::best();
    if let Ok(document) = OpeningDocument::parse(bytes)
        && let Ok(hash) = document.hash()
        && let Ok(opening) = document.opening(hash)
    {
        // Not the root of any tree.
        let root = [Default::default()];
        drop(opening.check(level, hash.tree_hash(), opening.rows, opening.columns, &root));
        // An opening that can be read can be written and read again.
        let again = OpeningDocument::parse(OpeningDocument::new(hash, &opening).text().as_bytes());
        assert!(again.and_then(|document| document.opening(hash)).is_ok());
    }
    let Ok(tree) = TreeFile::from_bytes(bytes.to_vec()) else { return };
    let last = tree.rows() as u64 - 1;
    for indices in [&[0][..], &[last]] {
        if let (Ok(root), Ok(opening)) = (tree.root(), tree.open_rows(level, indices)) {
            let (rows, columns) = (tree.rows() as u64, tree.columns() as u64);
            assert!(opening.check(level, tree.hash().tree_hash(), rows, columns, &[root]).is_ok());
        }
    }
});
