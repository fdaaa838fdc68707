//! The points in a contract's source, whoever wrote it: snarkjs's templates, gnark's, Proofmill's.
//!
//! A verifier stores the points of its key as integers that follow each other. A pair of integers is taken for a point of G1, and
//! four for one of G2, if they satisfy the curve's equation, which other numbers do with a probability of 2^-254.

use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field,
    bn254::{Fq, Fq2},
};

/// The least number of digits of a coordinate: shorter integers are addresses, lengths and the like.
const LEAST_DIGITS: usize = 32;

/// Infinity in G2, as Ethereum encodes it.
const ZEROS: [Option<Fq>; 4] = [Some(Fq::ZERO); 4];

/// The points of a key in the order of a contract's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// In G1; for Groth16 usually alpha and the points of the public signals.
    pub g1: Vec<Affine<G1>>,
    /// In G2; for Groth16 usually beta, gamma and delta; for PLONK tau, perhaps with the generator. Only those in the subgroup. Four zeros
    /// that are the next coordinates after another one, or after the first point of G1, are infinity.
    pub g2: Vec<Affine<G2>>,
}

impl Constants {
    /// Finds the points in a source.
    pub fn of(source: &str) -> Self {
        let integers = integers(source);
        let (mut points, mut rest) = (Self::default(), integers.as_slice());
        // Whether a point of G2 may follow: after another one, and after the first point of all, which is alpha.
        let mut in_key = false;
        while let [_, others @ ..] = rest {
            (in_key, rest) = if let Some((point, rest)) = in_g2(rest) {
                points.g2.push(point);
                (true, rest)
            } else if let Some((point, rest)) = in_g1(rest) {
                points.g1.push(point);
                (points.g1.len() == 1, rest)
            } else if let (true, Some(rest)) = (in_key, rest.strip_prefix(&ZEROS)) {
                points.g2.push(Affine::INFINITY);
                (true, rest)
            } else {
                (false, others)
            };
        }
        points
    }
}

/// The first two coordinates as a point, and the others.
fn in_g1(rest: &[Option<Fq>]) -> Option<(Affine<G1>, &[Option<Fq>])> {
    let ([x, y], rest) = rest.split_first_chunk()?;
    let point = Affine { x: (*x)?, y: (*y)? };
    (point.is_on_curve() && !point.is_infinity()).then_some((point, rest))
}

/// The first four coordinates as a point, in either order of the coefficients, and the others.
fn in_g2(rest: &[Option<Fq>]) -> Option<(Affine<G2>, &[Option<Fq>])> {
    let ([x0, x1, y0, y1], rest) = rest.split_first_chunk()?;
    let [x0, x1, y0, y1] = [(*x0)?, (*x1)?, (*y0)?, (*y1)?];
    let point = |x: [Fq; 2], y: [Fq; 2]| Affine::<G2> {
        x: Fq2 { c0: x[0], c1: x[1] },
        y: Fq2 { c0: y[0], c1: y[1] },
    };
    let mut candidates = [point([x0, x1], [y0, y1]), point([x1, x0], [y1, y0])].into_iter();
    let point = candidates.find(|point| point.is_on_curve() && !point.is_infinity())?;
    point.is_in_subgroup().then_some((point, rest))
}

/// The long integers in a source, decimal or hexadecimal; `None` for those that are no coordinates. Zeros are left out, but four that follow
/// each other, as infinity has: templates write zero with any number of digits.
fn integers(source: &str) -> Vec<Option<Fq>> {
    let source = without_offsets(source);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = source.split(|letter| !is_letter(letter));
    // The zeros since the last other integer.
    let (mut integers, mut zeros) = (Vec::new(), 0);
    for word in words.filter(|word| is_number(word)) {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        if digits.bytes().all(|digit| digit == b'0') {
            zeros += 1;
            if zeros % ZEROS.len() == 0 {
                integers.extend(ZEROS);
            }
            continue;
        }
        zeros = 0;
        if digits.len() >= LEAST_DIGITS {
            let is_decimal = digits.len() == word.len();
            integers.push(if is_decimal { word.parse().ok() } else { hexadecimal(digits) });
        }
    }
    integers
}

fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
}

/// A source without the offsets of `mstore(OFFSET, VALUE)`, which stand between the coordinates of a point.
fn without_offsets(source: &str) -> String {
    const STORE: &str = "mstore(";
    let value = |call: &str| match call.split_once(',') {
        Some((offset, value)) if is_number(offset.trim()) => value.to_owned(),
        _ => call.to_owned(),
    };
    let mut parts = source.split(STORE);
    let first = parts.next().unwrap_or_default().to_owned();
    std::iter::once(first).chain(parts.map(value)).collect::<Vec<_>>().join(STORE)
}

fn hexadecimal(digits: &str) -> Option<Fq> {
    let bytes = hex::decode(format!("{digits:0>64}")).ok()?;
    Fq::from_bytes_be(&bytes).ok()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
    use proofmill_curve::Curve;
    use proofmill_field::bn254::Fr;

    fn multiple<C: Curve<Scalar = Fr>>(factor: u64) -> Affine<C> {
        C::GENERATOR.mul_vartime(&Fr::from(factor)).to_affine()
    }

    #[test]
    fn points_are_found_in_every_notation() {
        let (alpha, beta) = (multiple::<G1>(5), multiple::<G2>(7));
        let decimal = format!(
            "uint256 constant r = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
            uint256 constant alphax = {}; uint256 constant alphay={};
            vk.beta2 = Pairing.G2Point([{},{}], [{},\n{}]);",
            alpha.x, alpha.y, beta.x.c1, beta.x.c0, beta.y.c1, beta.y.c0
        );
        let words: Vec<String> = [alpha.to_evm().as_slice(), &beta.to_evm()]
            .concat()
            .chunks(32)
            .enumerate()
            .map(|(index, word)| format!("mstore({:#x}, 0x{})", 128 + 32 * index, hex::encode(word)))
            .collect();
        for source in [decimal, words.join("\n")] {
            assert_eq!(Constants::of(&source), Constants { g1: vec![alpha], g2: vec![beta] }, "{source}");
        }
    }

    #[test]
    fn infinity_is_found_among_points() {
        let [beta, delta] = [5, 7].map(multiple::<G2>);
        let point = |point: &Affine<G2>| {
            let Affine { x, y } = point;
            format!("G2Point([{}, {}], [{}, {}]);", x.c1, x.c0, y.c1, y.c0)
        };
        let found = |source: String| Constants::of(&source).g2;
        let zero = "G2Point([0, 0], [0, 0]);";
        let source = |gamma: &str| {
            format!(
                "vk.beta2 = {} vk.gamma2 = {gamma} vk.delta2 = {} vk.IC[0] = 1",
                point(&beta),
                point(&delta)
            )
        };
        assert_eq!(found(source(zero)), [beta, Affine::INFINITY, delta]);
        // In calls with offsets, and with different numbers of digits.
        let stored = |words: [String; 4]| {
            let call = |(index, word): (usize, &String)| format!("mstore({:#x}, {word})\n", 32 * index);
            words.iter().enumerate().map(call).collect::<String>()
        };
        let coordinates =
            |point: &Affine<G2>| [point.x.c1, point.x.c0, point.y.c1, point.y.c0].map(|c| c.to_string());
        let zeros = ["0", "0x00", "0", &format!("0x{}", "0".repeat(64))].map(str::to_owned);
        let calls = [coordinates(&beta), zeros, coordinates(&delta)].map(stored).concat();
        assert_eq!(found(calls), [beta, Affine::INFINITY, delta]);
        // Points of G1 at infinity, after one that is not the first.
        let (alpha, input) = (multiple::<G1>(3), multiple::<G1>(4));
        let source_of_g1 =
            format!("{} {} {} {} 0 0 0 0 {}", alpha.x, alpha.y, input.x, input.y, point(&beta));
        assert_eq!(Constants::of(&source_of_g1), Constants { g1: vec![alpha, input], g2: vec![beta] });
        assert_eq!(
            found(source(&format!("0x{0}, 0x{0}, 0x{0}, 0x{0}", "0".repeat(64)))),
            [beta, Affine::INFINITY, delta]
        );
        assert_eq!(found(format!("{}{zero} vk.IC[0]", point(&beta))), [beta, Affine::INFINITY]);
        // As in snarkjs's older templates, after the field's modulus.
        let modulus = "21888242871839275222246405745257275088696311157297823662689037894645226208583";
        let negate = format!("uint q = {modulus}; if (p.X == 0 && p.Y == 0) return G1Point(0, 0);");
        assert_eq!(found(negate + &point(&beta)), [beta]);
        assert_eq!(found(format!("{} f(0, 1, 0, 0, 0) {}", point(&beta), point(&delta))), [beta, delta]);
    }

    #[test]
    fn sources_of_any_content_are_searched() {
        for source in ["", "0x", "0xzz", "contract {}", &"9".repeat(100), &"é1".repeat(50), &"0x1".repeat(90)]
        {
            assert_eq!(Constants::of(source), Constants::default(), "{source}");
        }
    }
}
