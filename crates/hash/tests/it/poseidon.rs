//! Poseidon against the known answers of Polygon's C++ library (0xPolygonHermez/goldilocks, scalar path), and of plonky2 1.1
//! (written by `plonky2_answers` in `lab/peers/plonky2`).

use proofmill_cpu::Level;
use proofmill_field::goldilocks::Goldilocks;
use proofmill_hash::{
    Digest, Permutation, Poseidon, Poseidon2, Sponge, TreeHash, permute, sponge::linear_hash,
};
use proofmill_testing::{for_each_goldilocks_level, rng};
use serde_json::Value;

fn known_answers() -> Value {
    serde_json::from_str(include_str!("../data/hermez-kat.json")).expect("JSON")
}

fn elements(list: &Value) -> Vec<Goldilocks> {
    let element =
        |word: &Value| u64::from_str_radix(word.as_str()?, 16).ok().and_then(Goldilocks::from_canonical);
    list.as_array().expect("a list").iter().map(|word| element(word).expect("an element")).collect()
}

#[test]
fn permutation() {
    let answers = known_answers();
    let cases = answers["permutation"].as_array().unwrap();
    assert_eq!(cases.len(), 24);
    for case in cases {
        let mut state = elements(&case["in"]);
        permute::<Poseidon>(&mut state);
        assert_eq!(state, elements(&case["out"]));
    }
}

/// Edges and random elements; a node of plonky2 is the first digest of the permutation of two digests and zeros.
#[test]
fn plonky2_agrees() {
    let answers: Value = serde_json::from_str(include_str!("../data/plonky2-poseidon.json")).expect("JSON");
    let cases = |kind: &str| -> Vec<[Vec<Goldilocks>; 2]> {
        let cases = answers[kind].as_array().expect("cases");
        assert_eq!(cases.len(), 40);
        cases.iter().map(|case| [elements(&case["in"]), elements(&case["out"])]).collect()
    };
    for [mut state, permuted] in cases("permutation") {
        permute::<Poseidon>(&mut state);
        assert_eq!(state, permuted);
    }
    let nodes = cases("nodes");
    let digest =
        |elements: &[Goldilocks]| Digest(Goldilocks::as_words(elements).try_into().expect("a digest"));
    let children: Vec<_> = nodes.iter().flat_map(|[children, _]| children.chunks(4).map(digest)).collect();
    let expected: Vec<_> = nodes.iter().map(|[_, parent]| digest(parent)).collect();
    for_each_goldilocks_level(|level| {
        let mut parents = vec![Digest::default(); nodes.len()];
        Sponge(Poseidon).hash_pairs(level, &children, &mut parents);
        assert!(parents == expected, "{level}");
    });
}

#[test]
fn linear_hash_at_every_level() {
    let answers = known_answers();
    let cases = answers["linear_hash"].as_array().unwrap();
    assert_eq!(cases.len(), 40);
    for case in cases {
        let (row, digest) = (elements(&case["in"]), elements(&case["out"]));
        let digest = Goldilocks::as_words(&digest);
        assert_eq!(linear_hash::<Poseidon>(&row).0[..], *digest, "{} elements", row.len());
        for_each_goldilocks_level(|level| {
            // More rows than lanes, so that one tile is not full.
            for rows in [1, 3, 33] {
                let words = Goldilocks::as_words(&row).repeat(rows);
                let mut digests = vec![Digest::default(); rows];
                Sponge(Poseidon).hash_rows(level, &words, row.len(), &mut digests);
                assert!(digests.iter().all(|hash| hash.0 == digest), "{level}, {rows} rows");
            }
        });
    }
}

/// Different rows in each lane, including the edges of the field.
fn rows(columns: usize, count: usize) -> Vec<u64> {
    let mut rng = rng(columns as u64);
    let edges = [0, 1, (1 << 32) - 1, 1 << 32, !0 << 32, u64::MAX << 33];
    let edge = |i: usize| Goldilocks::new(edges[i % edges.len()]);
    let element = |i: usize| if i.is_multiple_of(3) { edge(i / 3) } else { Goldilocks::random(&mut rng) };
    (0..columns * count).map(element).map(Goldilocks::to_canonical).collect()
}

fn check_levels<P: Permutation>(permutation: P)
where
    Sponge<P>: TreeHash,
{
    for columns in [0, 1, 4, 5, 8, 12, 16, 17, 40] {
        let count = 75;
        let words = rows(columns, count);
        let reference: Vec<Digest> = (0..count)
            .map(|row| linear_hash::<P>(Goldilocks::from_words(&words[row * columns..][..columns]).unwrap()))
            .collect();
        let transposed: Vec<Vec<u64>> = (0..columns)
            .map(|column| (0..count).map(|row| words[row * columns + column]).collect())
            .collect();
        let transposed: Vec<&[u64]> = transposed.iter().map(Vec::as_slice).collect();
        for_each_goldilocks_level(|level| {
            let mut digests = vec![Digest::default(); count];
            Sponge(permutation).hash_rows(level, &words, columns, &mut digests);
            assert!(digests == reference, "{level}, {columns} columns");
            digests.fill(Digest::default());
            Sponge(permutation).hash_columns(level, &transposed, &mut digests);
            assert!(digests == reference, "{level}, {columns} columns, column-major");
        });
    }
}

#[test]
fn every_level_hashes_alike() {
    check_levels(Poseidon);
    check_levels(Poseidon2::<8>);
    check_levels(Poseidon2::<12>);
}

#[test]
fn a_node_is_the_hash_of_its_childrens_elements() {
    let words = rows(8, 20);
    let children: Vec<_> = words.as_chunks().0.iter().map(|words| Digest(*words)).collect();
    let mut parents = vec![Digest::default(); 20];
    Sponge(Poseidon).hash_pairs(Level::best(), &children, &mut parents);
    for (parent, row) in parents.iter().zip(words.chunks(8)) {
        assert_eq!(*parent, linear_hash::<Poseidon>(Goldilocks::from_words(row).unwrap()));
    }
}

#[test]
fn digests_round_trip_as_bytes() {
    let digest = linear_hash::<Poseidon>(&[Goldilocks::from(7)]);
    let bytes = digest.to_bytes();
    assert_eq!(Sponge(Poseidon).digest(&bytes), Some(digest));
    let mut large = bytes;
    large[16..24].fill(0xff);
    assert_eq!(Sponge(Poseidon).digest(&large), None);
}
