//! The Pedersen hash is its definition.

use proofmill_curve::{Jacobian, grumpkin::Grumpkin};
use proofmill_field::{Field, PrimeField, bn254::Fr};
use proofmill_hash::pedersen::{GENERATORS, ORIGIN, pedersen, start, window_tables};
use proofmill_testing::rng;

/// Edges and random elements.
fn pairs() -> Vec<[Fr; 2]> {
    let mut rng = rng(1);
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(u64::MAX)];
    let mut pairs: Vec<_> = edges.iter().flat_map(|a| edges.map(|b| [*a, b])).collect();
    pairs.extend((0..16).map(|_| [Fr::random(&mut rng), Fr::random(&mut rng)]));
    pairs
}

#[test]
fn windows_add_up_to_the_hash() {
    for inputs @ [a, b] in pairs() {
        let products =
            inputs.iter().zip(GENERATORS).map(|(input, point)| point.mul_words_vartime(&input.to_words()));
        let expected = products.sum::<Jacobian<Grumpkin>>().add_affine(&ORIGIN).to_affine();
        assert_eq!(pedersen(a, b), expected.x);
        for (width, windows) in [(2, 127), (10, 26)] {
            let mut sum = Jacobian::from(start(width * windows as u32));
            for (generator, input) in inputs.iter().enumerate() {
                let words = input.to_words();
                for (k, table) in window_tables(generator, width, windows).iter().enumerate() {
                    let bits = (0..width as usize).rev().map(|i| k * width as usize + i);
                    let bit =
                        |bit: usize| words.get(bit / 64).map_or(0, |word| (word >> (bit % 64) & 1) as usize);
                    sum = sum.add_affine(&table[bits.fold(0, |digit, i| digit << 1 | bit(i))]);
                }
            }
            assert_eq!(sum.to_affine(), expected);
        }
    }
}
