//! The points in a contract's source, whoever wrote it: snarkjs's templates, gnark's, Proofmill's.
//!
//! A verifier stores the points of its key as integers that follow each other. A pair of integers is taken for a point of G1, and
//! four for one of G2, if they satisfy the curve's equation, which other numbers do with a probability of 2^-254.

use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::bn254::{Fq, Fq2};

/// The least number of digits of a coordinate: shorter integers are addresses, lengths and the like.
const LEAST_DIGITS: usize = 32;

/// The points of a key in the order of a contract's source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// In G1; for Groth16 usually alpha and the points of the public signals.
    pub g1: Vec<Affine<G1>>,
    /// In G2; for Groth16 usually beta, gamma and delta; for PLONK tau, perhaps with the generator. Only those in the subgroup.
    pub g2: Vec<Affine<G2>>,
}

impl Constants {
    /// Finds the points in a source.
    pub fn of(source: &str) -> Self {
        let integers = integers(source);
        let (mut points, mut rest) = (Self::default(), integers.as_slice());
        while let [_, others @ ..] = rest {
            rest = if let Some((point, rest)) = in_g2(rest) {
                points.g2.push(point);
                rest
            } else if let Some((point, rest)) = in_g1(rest) {
                points.g1.push(point);
                rest
            } else {
                others
            };
        }
        points
    }

    /// Why anyone can forge proofs for the contract's key, as far as its points show it; `Err` without points of G2, which every
    /// verifier has.
    ///
    /// # Errors
    /// A source that is not a verifier with its key in it.
    pub fn insecurity(&self) -> Result<Option<&'static str>, &'static str> {
        let same = |left: &Affine<G2>, right: &Affine<G2>| [*left, -*left].contains(right);
        Ok(match self.g2.as_slice() {
            [] => {
                return Err(
                    "found no points of a verification key: expected a verifier over BN254 that contains its key",
                );
            }
            [beta, gamma, delta, ..] => {
                if same(beta, &G2::GENERATOR) {
                    Some("alpha and beta are known: nobody contributed to its powers of tau")
                } else {
                    same(gamma, delta).then_some("delta equals gamma: nobody contributed to the key")
                }
            }
            of_tau => {
                let known = of_tau.iter().all(|point| same(point, &G2::GENERATOR));
                known.then_some("tau is known: nobody contributed to its powers of tau")
            }
        })
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

/// The long integers in a source, decimal or hexadecimal; `None` for those that are no coordinates.
fn integers(source: &str) -> Vec<Option<Fq>> {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = source.split(|letter| !word(letter));
    let integer = |word: &str| match word.strip_prefix("0x") {
        Some(digits) if digits.len() >= LEAST_DIGITS => Some(hexadecimal(digits)),
        None if word.len() >= LEAST_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(word.parse().ok())
        }
        _ => None,
    };
    words.filter_map(integer).collect()
}

fn hexadecimal(digits: &str) -> Option<Fq> {
    let bytes = hex::decode(format!("{digits:0>64}")).ok()?;
    Fq::from_bytes_be(&bytes).ok()
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;
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
    fn sources_of_any_content_are_searched() {
        for source in ["", "0x", "0xzz", "contract {}", &"9".repeat(100), &"é1".repeat(50), &"0x1".repeat(90)]
        {
            assert!(Constants::of(source).insecurity().is_err(), "{source}");
        }
    }

    #[test]
    fn forgeable_keys_are_told_from_others() {
        let [one, two, three] = [1, 2, 3].map(multiple::<G2>);
        let reason =
            |g2: &[Affine<G2>]| Constants { g1: vec![], g2: g2.to_vec() }.insecurity().expect("points");
        for secure in [&[three, one, two][..], &[one, two], &[two]] {
            assert_eq!(reason(secure), None);
        }
        for insecure in [&[three, one, one][..], &[three, one, -one], &[one, one, two], &[one, one], &[-one]]
        {
            assert!(reason(insecure).is_some());
        }
    }
}
