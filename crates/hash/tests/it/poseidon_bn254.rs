//! Poseidon over BN254's scalar field against circomlib's.

use proofmill_field::{Algebra, Field, bn254::Fr};
use proofmill_hash::{Digest, PoseidonBn254, PoseidonBn254Sponge, TreeHash, poseidon_bn254::poseidon};
use proofmill_testing::{for_each_level, rng};
use serde_json::Value;

/// Results of circomlibjs 0.1.7 (`buildPoseidon`) for three lists at each width: 1, 2, ...; r - 1, r - 2, ...; hashes.
#[test]
fn circomlib_agrees_at_every_width() {
    let answers: Value = serde_json::from_str(include_str!("../data/circomlib-poseidon.json")).expect("JSON");
    let element = |value: &Value| value.as_str().expect("text").parse::<Fr>().expect("an element");
    let cases = answers.as_array().expect("cases");
    assert_eq!(cases.len(), 3 * 16);
    for (i, case) in cases.iter().enumerate() {
        let inputs: Vec<Fr> = case["in"].as_array().expect("a list").iter().map(element).collect();
        assert_eq!(inputs.len(), i / 3 + 1);
        assert_eq!(poseidon(&inputs), element(&case["out"]), "{} inputs", inputs.len());
    }
}

/// The answers in circomlib's and iden3's own tests (circomlibjs `test/poseidon.js`, go-iden3-crypto
/// `poseidon/poseidon_test.go`).
#[test]
fn answers_of_their_tests() {
    let cases: [(&[u64], &str); 5] = [
        (&[1], "18586133768512220936620570745912940619677854269274689475585506675881198879027"),
        (&[1, 2], "7853200120776062878684798364095072458815029376092732009249414926327459813530"),
        (&[1, 2, 3, 4], "18821383157269793795438455681495246036402687001665670618754263018637548127333"),
        (&[1, 2, 0, 0, 0], "1018317224307729531995786483840663576608797660851238720571059489595066344487"),
        (
            &[1, 2, 3, 4, 5, 6],
            "20400040500897583745843009878988256314335038853985262692600694741116813247201",
        ),
    ];
    for (inputs, expected) in cases {
        let inputs: Vec<Fr> = inputs.iter().map(|x| Fr::from(*x)).collect();
        assert_eq!(poseidon(&inputs).to_string(), expected);
    }
}

/// The parameters as circuits use them: rounds with all constants and the whole matrix.
#[test]
fn parameters_make_the_permutation() {
    for width in 2..=17 {
        let parameters = PoseidonBn254::of_width(width);
        let rounds = 8 + parameters.partial_rounds();
        assert_eq!(parameters.round_constants().len(), rounds * width);
        assert_eq!(parameters.matrix().len(), width * width);
        // Inverses of sums x + y.
        assert!(parameters.matrix().iter().all(|entry| !entry.is_zero()));
        let inputs: Vec<Fr> = (1..width as u64).map(Fr::from).collect();
        let mut state = [&[Fr::ZERO], &inputs[..]].concat();
        for (round, constants) in parameters.round_constants().chunks(width).enumerate() {
            for (i, (element, constant)) in state.iter_mut().zip(constants).enumerate() {
                *element += *constant;
                if i == 0 || parameters.is_full(round) {
                    *element = element.pow_vartime(&[5]);
                }
            }
            let rows = parameters.matrix().chunks(width);
            let products = |row: &[Fr]| row.iter().zip(&state).fold(Fr::ZERO, |sum, (m, x)| sum + *m * *x);
            state = rows.map(products).collect();
        }
        assert_eq!(state[0], poseidon(&inputs));
    }
}

#[test]
fn many_are_hashed_as_one_is() {
    let mut rng = rng(1);
    for width in [2, 3, 5, 17] {
        let inputs: Vec<Fr> = (0..35 * (width - 1)).map(|_| Fr::random(&mut rng)).collect();
        let expected: Vec<Fr> = inputs.chunks(width - 1).map(poseidon).collect();
        for_each_level(|level| {
            for count in [0, 1, 8, 15, 16, 17, 35] {
                let hashes = PoseidonBn254::of_width(width).hash_many(level, &inputs[..count * (width - 1)]);
                assert!(hashes == expected[..count], "{count} of {width} at {level}");
            }
        });
    }
}

#[test]
#[should_panic(expected = "width 2 to 17")]
fn nothing_to_hash() {
    poseidon(&[]);
}

#[test]
#[should_panic(expected = "width 2 to 17")]
fn too_much_to_hash() {
    poseidon(&[Fr::ONE; 17]);
}

/// Rows of 1 to 13 words, and six zeros, hashed with circomlibjs 0.1.7: `buildPoseidonReference()(packs, c, 3)[0]` is the next c.
#[test]
fn rows_are_hashed_by_a_sponge_over_circomlibs_permutation() {
    let answers: Value =
        serde_json::from_str(include_str!("../data/poseidon-bn254-rows.json")).expect("JSON");
    let cases = answers.as_array().expect("cases");
    assert_eq!(cases.len(), 9);
    for case in cases {
        let words =
            case["in"].as_array().expect("words").iter().map(|word| word.as_str().expect("text").parse());
        let words: Vec<u64> = words.collect::<Result<_, _>>().expect("words");
        let (columns, expected) = (words.len(), case["out"].as_str().expect("text").parse::<Fr>());
        let expected = Digest(expected.expect("an element").to_canonical());
        for_each_level(|level| {
            // More rows than are hashed together: the last one has other words.
            for count in [1, 2, 17, 33] {
                let mut rows = words.repeat(count);
                rows[columns * count - 1] ^= 1;
                let by_column = |column| rows.iter().skip(column).step_by(columns).copied().collect();
                let transposed: Vec<Vec<u64>> = (0..columns).map(by_column).collect();
                let transposed: Vec<&[u64]> = transposed.iter().map(Vec::as_slice).collect();
                let mut digests = [vec![Digest::default(); count], vec![Digest([1; 4]); count]];
                PoseidonBn254Sponge.hash_rows(level, &rows, columns, &mut digests[0]);
                PoseidonBn254Sponge.hash_columns(level, &transposed, &mut digests[1]);
                assert_eq!(digests[0], digests[1], "{columns} words, {count} rows, {level}");
                assert_eq!(digests[0][..count - 1], vec![expected; count - 1], "{columns} words, {level}");
                assert_ne!(digests[0][count - 1], expected);
            }
        });
    }
}

#[test]
fn nodes_are_hashes_of_two_elements() {
    let mut rng = rng(5);
    let children: Vec<Fr> = (0..66).map(|_| Fr::random(&mut rng)).collect();
    let digest = |element: Fr| Digest(element.to_canonical());
    let expected: Vec<_> = children.chunks(2).map(|pair| digest(poseidon(pair))).collect();
    let children: Vec<_> = children.into_iter().map(digest).collect();
    for_each_level(|level| {
        let mut parents = vec![Digest::default(); 33];
        PoseidonBn254Sponge.hash_pairs(level, &children, &mut parents);
        assert_eq!(parents, expected, "{level}");
        let mut bytes = parents[0].to_bytes();
        assert_eq!(PoseidonBn254Sponge.digest(&bytes), Some(parents[0]));
        bytes[31] = 255;
        assert_eq!(PoseidonBn254Sponge.digest(&bytes), None);
    });
}

#[test]
fn states_are_permuted_alike_alone_and_in_lanes() {
    for width in [2, 3, 17] {
        let mut rng = rng(6);
        let permutation = PoseidonBn254::of_width(width);
        let states: Vec<Fr> = (0..19 * width).map(|_| Fr::random(&mut rng)).collect();
        let mut expected = states.clone();
        expected.chunks_mut(width).for_each(|state| permutation.permute(state));
        for_each_level(|level| {
            let mut states = states.clone();
            permutation.permute_states(level, &mut states);
            assert_eq!(states, expected, "width {width}, {level}");
        });
    }
}
