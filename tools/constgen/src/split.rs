//! The constants by which scalars are split into short ones for the powers of an endomorphism.

use crate::prime_field::{row, words};
use num_bigint::{BigInt, Sign};

/// The words of a scalar, and those of a reciprocal: scaled by 2 to their bits.
const WORDS: usize = 4;
const RECIPROCAL: usize = 5;

/// The constants of `Split` for the lattice that `basis` spans: rows `b` with `sum b_i eigenvalue^i = 0` modulo the odd `order`.
pub(crate) fn split(name: &str, basis: &[Vec<BigInt>], eigenvalue: &BigInt, order: &BigInt) -> String {
    let parts = basis.len();
    for row in basis {
        let value = row.iter().rev().fold(BigInt::ZERO, |sum, entry| sum * eigenvalue + entry);
        assert!(value % order == BigInt::ZERO, "a vector of the lattice");
    }
    let all = determinant(basis);
    // The largest part, if each coefficient is at most 9/8 away from the exact one, is below 16^digits.
    let largest: Option<BigInt> = (0..parts)
        .map(|j| basis.iter().map(|row| BigInt::from(row[j].magnitude().clone())).sum::<BigInt>())
        .max();
    let largest: BigInt = largest.expect("a basis") * 9 / 8;
    let digits = largest.bits().div_ceil(4);
    // The coefficients of (k, 0, ..) are k times these, by Cramer's rule.
    let cofactor = |i: usize| {
        let mut matrix = basis.to_vec();
        matrix[i] = vec![BigInt::ZERO; parts];
        matrix[i][0] = BigInt::from(1);
        determinant(&matrix)
    };
    let reciprocals: Vec<BigInt> = (0..parts)
        .map(|i| {
            let scaled: BigInt = cofactor(i) << (64 * RECIPROCAL + 1);
            rounded_half(scaled, &all)
        })
        .collect();
    // The parities of coefficients for which all parts are odd.
    let parity = |k: u32| {
        let odd = |bits: &u32| {
            (0..parts).all(|j| {
                let sum: BigInt = (0..parts).filter(|i| bits >> i & 1 == 1).map(|i| &basis[i][j]).sum();
                let part: BigInt = BigInt::from(if j == 0 { k } else { 0 }) - sum;
                part.bit(0)
            })
        };
        (0..1 << parts).find(odd).expect("an odd determinant")
    };
    let array = |width: usize, values: Vec<BigInt>| -> String {
        values.iter().map(|value| row(&twos_complement(value, width)).replace('\n', "\n    ")).collect()
    };
    let negative = reciprocals.iter().enumerate().filter(|(_, r)| r.sign() == Sign::Minus);
    let negative: u32 = negative.map(|(i, _)| 1 << i).sum();
    let rows: Vec<BigInt> = basis.concat();
    let reciprocals: Vec<BigInt> = reciprocals.iter().map(|value| value.magnitude().clone().into()).collect();
    format!(
        "pub(crate) const {name}: Split<{parts}, {}> = Split {{\n    digits: {digits},\n    basis: [\n    {}],\n    \
         reciprocals: [\n    {}],\n    negative: {negative:#06b},\n    parities: [{:#06b}, {:#06b}],\n}};\n",
        rows.len(),
        array(WORDS, rows),
        array(RECIPROCAL, reciprocals),
        parity(0),
        parity(1),
    )
}

/// Half the quotient, rounded.
fn rounded_half(numerator: BigInt, denominator: &BigInt) -> BigInt {
    let quotient = numerator / denominator;
    let bias = if quotient.sign() == Sign::Minus { -1 } else { 1 };
    (quotient + bias) / 2
}

fn twos_complement(value: &BigInt, width: usize) -> Vec<String> {
    let modulus = BigInt::from(1) << (64 * width);
    let value = if value.sign() == Sign::Minus { value + modulus } else { value.clone() };
    words(value.magnitude(), width)
}

fn determinant(matrix: &[Vec<BigInt>]) -> BigInt {
    let Some((first, rest)) = matrix.split_first() else { return BigInt::from(1) };
    let minor = |j: usize| {
        let without = |row: &Vec<BigInt>| [&row[..j], &row[j + 1..]].concat();
        determinant(&rest.iter().map(without).collect::<Vec<_>>())
    };
    (0..first.len()).map(|j| if j % 2 == 0 { &first[j] * minor(j) } else { -&first[j] * minor(j) }).sum()
}
