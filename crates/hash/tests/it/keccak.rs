//! Keccak against the `sha3` and `keccak` crates.

use proofmill_cpu::Portable;
use proofmill_field::goldilocks::{U64s, U64x1};
use proofmill_hash::{Digest, Keccak, Keccak256, TreeHash, keccak_f, keccak_f_states};
use proofmill_testing::{for_each_goldilocks_level, rng};
use rand::RngCore;
use sha3::Digest as _;

/// Plonky3's `PaddingFreeSponge<KeccakF, 25, 17, 4>`.
fn sponge(row: &[u64]) -> Digest {
    let mut state = [0; 25];
    for block in row.chunks(17) {
        state[..block.len()].copy_from_slice(block);
        keccak::f1600(&mut state);
    }
    Digest([state[0], state[1], state[2], state[3]])
}

#[test]
fn the_permutation_of_zeros_and_of_ones() {
    for word in [0, u64::MAX] {
        let (mut lanes, mut expected) = ([U64x1::splat(Portable, word); 25], [word; 25]);
        keccak_f(&mut lanes);
        keccak::f1600(&mut expected);
        for (lane, expected) in lanes.into_iter().zip(expected) {
            assert_eq!(lane, U64x1::splat(Portable, expected));
        }
    }
}

fn states_side_by_side<const STATES: usize>() {
    let mut rng = rng(STATES as u64);
    let states: [[u64; STATES]; 25] = std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64()));
    for_each_goldilocks_level(|level| {
        let mut permuted = states;
        keccak_f_states(level, permuted.as_flattened_mut());
        for state in 0..STATES {
            let mut expected = states.map(|word| word[state]);
            keccak::f1600(&mut expected);
            assert_eq!(permuted.map(|word| word[state]), expected, "{level}, state {state} of {STATES}");
        }
    });
}

#[test]
fn any_number_of_states_is_permuted() {
    states_side_by_side::<1>();
    states_side_by_side::<3>();
    states_side_by_side::<8>();
    states_side_by_side::<13>();
}

/// Every length up to several blocks, in one piece and in pieces that cross words and blocks.
#[test]
fn messages_of_every_length() {
    let mut message = [0; 700];
    rng(1).fill_bytes(&mut message);
    let mut hasher = Keccak256::default();
    for len in 0..=message.len() {
        let message = &message[..len];
        let expected: [u8; 32] = sha3::Keccak256::digest(message).into();
        assert_eq!(Keccak256::digest(message), expected, "{len} bytes");
        for piece in [1, 3, 8, 13, 135, 136, 137] {
            message.chunks(piece).for_each(|bytes| hasher.update(bytes));
            assert_eq!(hasher.finalize_reset(), expected, "{len} bytes by {piece}");
        }
    }
}

/// Row lengths around the rate's multiples, numbers of rows that leave lanes unused.
#[test]
fn rows_and_nodes_at_every_level() {
    let mut rng = rng(2);
    for_each_goldilocks_level(|level| {
        for columns in [0, 1, 3, 16, 17, 18, 33, 34, 35, 100] {
            for rows in [0, 1, 2, 7, 8, 9, 33] {
                let words: Vec<u64> = (0..rows * columns).map(|_| rng.next_u64()).collect();
                let mut digests = vec![Digest([1; 4]); rows];
                Keccak.hash_rows(level, &words, columns, &mut digests);
                let expected: Vec<_> =
                    (0..rows).map(|row| sponge(&words[row * columns..][..columns])).collect();
                assert_eq!(digests, expected, "{rows} rows of {columns}, {level}");

                let by_columns: Vec<Vec<u64>> = (0..columns)
                    .map(|column| words.iter().copied().skip(column).step_by(columns).collect())
                    .collect();
                let by_columns: Vec<&[u64]> = by_columns.iter().map(Vec::as_slice).collect();
                digests.fill(Digest([1; 4]));
                Keccak.hash_columns(level, &by_columns, &mut digests);
                assert_eq!(digests, expected, "{columns} columns of {rows}, {level}");
            }
        }
        for parents in [0, 1, 5, 8, 19] {
            let children: Vec<_> =
                (0..2 * parents).map(|_| Digest([(); 4].map(|()| rng.next_u64()))).collect();
            let mut digests = vec![Digest([1; 4]); parents];
            Keccak.hash_pairs(level, &children, &mut digests);
            let expected: Vec<_> = children
                .as_chunks::<2>()
                .0
                .iter()
                .map(|pair| sponge(pair.map(|child| child.0).as_flattened()))
                .collect();
            assert_eq!(digests, expected, "{parents} parents, {level}");
        }
    });
}

#[test]
fn digests_are_little_endian_bytes() {
    let bytes = std::array::from_fn(|i| i as u8);
    let digest = Digest::from_bytes(&bytes);
    assert_eq!(digest.0[0], 0x0706050403020100);
    assert_eq!(digest.to_bytes(), bytes);
}
