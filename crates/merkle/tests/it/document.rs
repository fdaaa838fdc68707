use crate::serial::words;
use proofmill_cpu::Level;
use proofmill_merkle::{
    Digest, Hash, MerkleError, OpeningDocument, RowMajor, Tree, digest_from_hex, digest_to_hex,
};
use serde_json::{Value, json};

const TESTED: Hash = Hash::Poseidon;

/// Makes a valid document invalid.
type Edit<'a> = &'a dyn Fn(&mut Value);

/// A document, and the root of its tree.
fn document(hash: Hash) -> (String, Digest) {
    let words = words(2 * 64, 3);
    let leaves = RowMajor::new(&words, 2).unwrap();
    let tree = Tree::build(Level::best(), hash.tree_hash(), &leaves).unwrap();
    let opening = tree.open(&leaves, &[5, 40, 41], 1).unwrap();
    let document = OpeningDocument::new(hash, &opening);
    assert_eq!(document.opening(hash).unwrap(), opening);
    (document.text(), tree.root())
}

fn check(hash: Hash, text: &[u8], root: Digest) -> Result<(), MerkleError> {
    let opening = OpeningDocument::parse(text)?.opening(hash)?;
    opening.check(Level::best(), hash.tree_hash(), opening.rows, opening.columns, &[root])
}

#[test]
fn documents_round_trip() {
    let (text, root) = document(TESTED);
    check(TESTED, text.as_bytes(), root).unwrap();
    let (text, root) = document(Hash::Sha256);
    check(Hash::Sha256, text.as_bytes(), root).unwrap();
    assert!(matches!(check(TESTED, text.as_bytes(), Default::default()), Err(MerkleError::WrongHash { .. })));
}

#[test]
fn no_changed_byte_of_a_document_is_accepted() {
    let (text, root) = document(TESTED);
    let original: Value = serde_json::from_str(&text).unwrap();
    for at in 0..text.len() {
        for change in 1..=255 {
            let mut wrong = text.clone().into_bytes();
            wrong[at] ^= change;
            // White space between values is free.
            if serde_json::from_slice::<Value>(&wrong).is_ok_and(|value| value == original) {
                assert!(text.as_bytes()[at].is_ascii_whitespace() && wrong[at].is_ascii_whitespace());
                continue;
            }
            assert!(check(TESTED, &wrong, root).is_err(), "{}", String::from_utf8_lossy(&wrong));
        }
    }
}

#[test]
fn malformed_documents_are_refused_by_name() {
    let (text, root) = document(TESTED);
    let edited = |edit: Edit<'_>| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        edit(&mut value);
        check(TESTED, value.to_string().as_bytes(), root).unwrap_err().to_string()
    };
    let digest = |first: &str| format!("{first}{}", &"0".repeat(64)[first.len()..]);
    let cases: [(&str, Edit<'_>); 17] = [
        ("format: expected \"proofmill merkle opening\"", &|d| d["format"] = json!("opening")),
        ("version: expected 1, found 2", &|d| d["version"] = json!(2)),
        ("unknown hash `md5`, expected one of poseidon", &|d| d["hash"] = json!("md5")),
        ("expected hash poseidon, found sha256", &|d| d["hash"] = json!("sha256")),
        ("openings[1].row: expected 2 values, found 1", &|d| d["openings"][1]["row"] = json!(["1"])),
        ("openings[0].row[1]: expected the decimal digits", &|d| d["openings"][0]["row"][1] = json!("+1")),
        ("openings[0].row[1]: expected the decimal digits", &|d| d["openings"][0]["row"][1] = json!("01")),
        ("openings[0].row[0]: expected the decimal digits", &|d| {
            d["openings"][0]["row"][0] = json!("18446744073709551616")
        }),
        ("row 5, column 0", &|d| d["openings"][0]["row"][0] = json!("18446744069414584321")),
        ("siblings[2]: expected 64 hexadecimal digits", &|d| d["siblings"][2] = json!("0".repeat(63))),
        ("siblings[2]: expected 64 hexadecimal digits", &|d| d["siblings"][2] = json!(digest("A"))),
        ("siblings[2]: expected 4 elements of 16 digits below", &|d| {
            d["siblings"][2] = json!(digest("ffffffff00000001"))
        }),
        ("index 64 is out of range", &|d| d["openings"][2]["index"] = json!(64)),
        ("index 40 occurs twice", &|d| d["openings"][2]["index"] = json!(40)),
        ("unknown field `extra`", &|d| d["extra"] = json!(1)),
        ("invalid value", &|d| d["rows"] = json!(-1)),
        ("missing field `siblings`", &|d| drop(d.as_object_mut().unwrap().remove("siblings"))),
    ];
    for (expected, edit) in cases {
        let error = edited(edit);
        assert!(error.contains(expected), "{error}: not {expected}");
    }
    for text in ["", "[]", "{", "\u{0}", &"[".repeat(100_000)] {
        assert!(matches!(OpeningDocument::parse(text.as_bytes()), Err(MerkleError::Json(_))));
    }
}

#[test]
fn digests_as_text() {
    let root = document(TESTED).1;
    let text = digest_to_hex(TESTED.tree_hash(), &root);
    assert_eq!(u64::from_str_radix(&text[16..32], 16).unwrap(), root.0[1]);
    assert_eq!(digest_from_hex(TESTED.tree_hash(), &text, "").unwrap(), root);
    // Digests of bytes keep the order of bytes.
    let digest = Digest::from_bytes(&std::array::from_fn(|at| at as u8));
    assert!(digest_to_hex(Hash::Sha256.tree_hash(), &digest).starts_with("000102"));
    assert_eq!(
        digest_from_hex(Hash::Sha256.tree_hash(), &digest_to_hex(Hash::Sha256.tree_hash(), &digest), "")
            .unwrap(),
        digest
    );
}

#[test]
fn hashes_are_read_by_their_names() {
    for hash in Hash::ALL {
        assert_eq!(hash.name().parse::<Hash>().unwrap(), hash);
    }
}
