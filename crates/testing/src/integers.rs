//! Integers that break carry chains.

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// A generator of reproducible test inputs.
pub fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Whether `a < b`; both have the same number of words.
pub fn is_below(a: &[u64], b: &[u64]) -> bool {
    assert_eq!(a.len(), b.len());
    a.iter().rev().lt(b.iter().rev())
}

/// The grid of edge cases for a modulus p, each as long as p: 0, 1, p - 1, p, p + 1, (p - 1)/2, (p + 1)/2, 2^k and 2^k - 1 for
/// every k that fits, p - 2^k for every k with 2^k < p, and all ones. Not all of them are below p.
pub fn edge_integers(modulus: &[u64]) -> Vec<Vec<u64>> {
    let words = modulus.len();
    let small = |value: u64| {
        let mut integer = vec![0; words];
        integer[0] = value;
        integer
    };
    let one = small(1);
    let half = halve(&subtract(modulus, &one));
    let mut edges = vec![
        small(0),
        subtract(modulus, &one),
        modulus.to_vec(),
        add(modulus, &one),
        add(&half, &one),
        half,
        vec![u64::MAX; words],
    ];
    for k in 0..words * 64 {
        let mut power = vec![0; words];
        power[k / 64] = 1 << (k % 64);
        if is_below(&power, modulus) {
            edges.push(subtract(modulus, &power));
        }
        edges.push(subtract(&power, &one));
        edges.push(power);
    }
    edges
}

/// An integer of alternating runs of ones and zeros, each 1 to 128 bits long.
pub fn bit_runs(rng: &mut impl RngCore, words: usize) -> Vec<u64> {
    let mut integer = vec![0; words];
    let mut bit: bool = rng.random();
    let mut left = 0u32;
    for k in 0..words * 64 {
        if left == 0 {
            left = rng.random_range(1..=128);
            bit = !bit;
        }
        left -= 1;
        integer[k / 64] |= u64::from(bit) << (k % 64);
    }
    integer
}

/// A uniform integer below the modulus, by rejection sampling. The modulus's top word must not be zero.
pub fn uniform(rng: &mut impl RngCore, modulus: &[u64]) -> Vec<u64> {
    let mask = modulus.last().map_or(0, |top| u64::MAX >> top.leading_zeros());
    loop {
        let mut integer: Vec<u64> = modulus.iter().map(|_| rng.next_u64()).collect();
        if let Some(top) = integer.last_mut() {
            *top &= mask;
        }
        if is_below(&integer, modulus) {
            return integer;
        }
    }
}

/// Operands below the modulus: all such [`edge_integers`], then `random` pairs of a [`bit_runs`] integer and a [`uniform`] one.
pub fn operands(rng: &mut impl RngCore, modulus: &[u64], random: usize) -> Vec<Vec<u64>> {
    let mut operands = edge_integers(modulus);
    operands.retain(|integer| is_below(integer, modulus));
    for _ in 0..random {
        let mut runs = bit_runs(rng, modulus.len());
        while !is_below(&runs, modulus) {
            runs = halve(&runs);
        }
        operands.push(runs);
        operands.push(uniform(rng, modulus));
    }
    operands
}

fn add(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut carry = 0;
    let sum = |(a, b): (&u64, &u64)| {
        let wide = u128::from(*a) + u128::from(*b) + carry;
        carry = wide >> 64;
        wide as u64
    };
    a.iter().zip(b).map(sum).collect()
}

/// `a - b` modulo `2^(64 a.len())`.
fn subtract(a: &[u64], b: &[u64]) -> Vec<u64> {
    let complement: Vec<u64> = b.iter().map(|word| !word).collect();
    let mut one = vec![0; a.len()];
    one[0] = 1;
    add(&add(a, &complement), &one)
}

fn halve(a: &[u64]) -> Vec<u64> {
    let above = a.iter().skip(1).chain(&[0]);
    a.iter().zip(above).map(|(word, above)| word >> 1 | above << 63).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_a_small_modulus() {
        let edges = edge_integers(&[13, 1]);
        for integer in [[0, 0], [1, 0], [12, 1], [13, 1], [14, 1], [11, 1], [u64::MAX, 0], [0, 1 << 63]] {
            assert!(edges.contains(&integer.to_vec()), "{integer:?}");
        }
        // (2^64 + 13 - 1) / 2 = 2^63 + 6.
        assert!(edges.contains(&vec![(1 << 63) + 6, 0]) && edges.contains(&vec![(1 << 63) + 7, 0]));
    }

    #[test]
    fn operands_are_below_the_modulus_and_reproducible() {
        let modulus = [0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029];
        let first = operands(&mut rng(7), &modulus, 50);
        assert!(first.iter().all(|integer| is_below(integer, &modulus)));
        assert_eq!(first, operands(&mut rng(7), &modulus, 50));
        assert_ne!(first, operands(&mut rng(8), &modulus, 50));
    }
}
