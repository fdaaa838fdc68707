//! Merkle trees and hashes.

use crate::{machines, refused};
use proofmill::{
    hash,
    merkle::{Digest, Hash, Opening, Rows, Tree, TreeFile, root, ssz},
};

#[test]
fn trees_open_their_rows_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<u64> = (0..96).map(|i| i * i).collect();
    let file = folder.path().join("rows.bin");
    std::fs::write(&file, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()).unwrap();
    for hash in Hash::ALL {
        let expected = root(hash, &Rows::new(&words, 3).unwrap()).unwrap();
        assert_eq!(
            Digest::from_hex(hash, &format!("0x{}", expected.to_string().to_uppercase())).unwrap(),
            expected
        );
        assert_eq!(Digest::from_bytes(hash, expected.to_bytes()).unwrap(), expected);
        for machine in machines() {
            machine.run(|| {
                let rows = Rows::open(&file, 3).unwrap();
                assert_eq!((rows.rows(), rows.columns()), (32, 3));
                let tree = Tree::build(hash, &rows).unwrap();
                assert_eq!((tree.root(), root(hash, &rows).unwrap()), (expected, expected), "{hash}");
                let path = folder.path().join("rows.tree");
                let written = TreeFile::build(&path, hash, &rows).unwrap();
                assert_eq!((written.root().unwrap(), written.hash()), (expected, hash));

                let opening = tree.open(&rows, &[2, 30]).unwrap();
                assert_eq!(opening.to_json(), written.open_rows(&[2, 30]).unwrap().to_json());
                let opening = Opening::from_json(opening.to_json()).unwrap();
                opening.verify(32, 3, &expected).unwrap();
                assert_eq!((opening.indices(), opening.row(1)), (&[2, 30][..], &words[90..93]));

                refused(opening.verify(16, 3, &expected), "mismatch", "32");
                let other = root(hash, &Rows::new(&words[..32], 1).unwrap()).unwrap();
                refused(opening.verify(32, 3, &other), "rejected", "");
                let other_hash =
                    Hash::ALL[(Hash::ALL.iter().position(|each| *each == hash).unwrap() + 1) % 7];
                let other = root(other_hash, &rows).unwrap();
                refused(opening.verify(32, 3, &other), "mismatch", hash.name());
                refused(tree.open(&rows, &[32]), "malformed", "32");
                refused(tree.open(&Rows::new(&words[..48], 3).unwrap(), &[0]), "mismatch", "16");
            });
        }
    }
}

#[test]
fn rows_and_files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(Rows::new(&[0; 9], 3), "malformed", "power of two");
    refused(Rows::new(&[0; 8], 3), "malformed", "rows");
    refused(Rows::new(&[0; 8], 0), "malformed", "column");
    refused(root(Hash::Poseidon, &Rows::new(&[u64::MAX; 2], 1).unwrap()), "malformed", "row 0");
    refused(Rows::open(folder.path().join("absent"), 1), "io", "absent");
    refused(TreeFile::open(folder.path().join("absent")), "io", "absent");
    refused(Opening::from_json("{}"), "malformed", "");
    refused(Digest::from_hex(Hash::Poseidon, "12"), "malformed", "64");
    refused(Digest::from_bytes(Hash::Poseidon, [255; 32]), "malformed", "below the modulus");
}

#[test]
fn hashes_do_not_depend_on_the_level() {
    let pairs: Vec<[u8; 64]> = (0..40).map(|byte| [byte; 64]).collect();
    let elements: Vec<_> = (0..60u64).map(proofmill::field::Fr::from).collect();
    let expected = (hash::sha256_pairs(&pairs), hash::poseidon_many(3, &elements));
    assert_eq!(expected.0[7], hash::sha256(&pairs[7]));
    assert_eq!(expected.1[1], hash::poseidon(&elements[3..6]));
    let two: Vec<_> = elements.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
    let chunks: Vec<_> = pairs.iter().map(|pair| *pair.first_chunk::<32>().unwrap()).collect();
    let tree_root = ssz::hash_tree_root(&chunks, Some(64)).unwrap();
    for machine in machines() {
        machine.run(|| {
            assert_eq!((hash::sha256_pairs(&pairs), hash::poseidon_many(3, &elements)), expected);
            assert_eq!(hash::pedersen_many(&two)[5], hash::pedersen(two[5][0], two[5][1]));
            assert_eq!(ssz::SszTree::new(chunks.clone(), 64).unwrap().root(), tree_root);
        });
    }
    refused(ssz::hash_tree_root(&chunks, Some(39)), "malformed", "39");
}
