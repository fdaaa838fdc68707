//! Poseidon2 against Plonky3's (p3-goldilocks 0.9, its default instances): `plonky3_answers` in `lab/peers/plonky3`
//! writes the known answers.

use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::{Digest, Permutation, Poseidon2, Sponge, TreeHash, permute, sponge::linear_hash};
use proofmill_testing::for_each_goldilocks_level;
use serde_json::Value;

/// The inputs and outputs of one kind; asserts their number.
fn cases(width: usize, kind: &str, count: usize) -> Vec<[Vec<Goldilocks>; 2]> {
    let answers: Value = serde_json::from_str(include_str!("../data/plonky3-poseidon2.json")).expect("JSON");
    let element =
        |word: &Value| u64::from_str_radix(word.as_str()?, 16).ok().and_then(Goldilocks::from_canonical);
    let elements = |list: &Value| -> Vec<Goldilocks> {
        list.as_array().expect("a list").iter().map(|word| element(word).expect("an element")).collect()
    };
    let cases = answers[format!("width_{width}")][kind].as_array().expect("cases");
    assert_eq!(cases.len(), count);
    cases.iter().map(|case| [elements(&case["in"]), elements(&case["out"])]).collect()
}

fn permutation<P: Permutation>() {
    for [mut state, permuted] in cases(P::WIDTH, "permutation", 33) {
        permute::<P>(&mut state);
        assert_eq!(state, permuted);
    }
}

/// All nodes at once, so that lanes differ, and several times, so that one tile is not full.
fn nodes<P: Permutation>(permutation: P)
where
    Sponge<P>: TreeHash,
{
    let cases = [(); 5].map(|()| cases(P::WIDTH, "nodes", 8)).concat();
    let digests = |elements: &[Goldilocks]| -> Vec<Digest> {
        elements.as_chunks().0.iter().map(|elements| Digest(elements.map(Goldilocks::to_canonical))).collect()
    };
    let children: Vec<Digest> = cases.iter().flat_map(|[children, _]| digests(children)).collect();
    let expected: Vec<Digest> = cases.iter().flat_map(|[_, parent]| digests(parent)).collect();
    for_each_goldilocks_level(|level| {
        let mut parents = vec![Digest::default(); cases.len()];
        Sponge(permutation).hash_pairs(level, &children, &mut parents);
        assert!(parents == expected, "{level}, width {}", P::WIDTH);
    });
}

fn rows<P: Permutation>(permutation: P)
where
    Sponge<P>: TreeHash,
{
    for [row, digest] in cases(P::WIDTH, "rows", 24) {
        let digest = Goldilocks::as_words(&digest);
        assert_eq!(linear_hash::<P>(&row).0[..], *digest, "{} elements", row.len());
        for_each_goldilocks_level(|level| {
            for rows in [1, 3, 33] {
                let words = Goldilocks::as_words(&row).repeat(rows);
                let mut digests = vec![Digest::default(); rows];
                Sponge(permutation).hash_rows(level, &words, row.len(), &mut digests);
                assert!(digests.iter().all(|hash| hash.0 == digest), "{level}, {rows} rows");
            }
        });
    }
}

#[test]
fn permutations() {
    permutation::<Poseidon2<8>>();
    permutation::<Poseidon2<12>>();
}

#[test]
fn nodes_at_every_level() {
    nodes(Poseidon2::<8>);
    nodes(Poseidon2::<12>);
}

#[test]
fn rows_at_every_level() {
    rows(Poseidon2::<8>);
    rows(Poseidon2::<12>);
}
