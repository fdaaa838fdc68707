//! Contracts by any author: their points against those of a key.

use super::{Audit, Circuit, OTHER_CIRCUIT, unknown};
use crate::{
    Error, Result,
    curve::{Affine, Curve, bn254},
    fflonk, groth16, plonk,
};
use proofmill_circom::Text;
use proofmill_groth16::{VerifyingKey, are_small_multiples};
use proofmill_solidity::Constants;
use proofmill_srs::{ceremony_of_alpha, ceremony_of_tau};

/// The points that a contract should have.
#[derive(Default)]
struct Expected {
    g1: Vec<Affine<bn254::G1>>,
    g2: Vec<Affine<bn254::G2>>,
}

impl Expected {
    fn are_in(&self, constants: &Constants) -> bool {
        contains(&constants.g1, &self.g1) && contains(&constants.g2, &self.g2)
    }

    /// How many points of a contract are others than these and the generators.
    fn others(&self, constants: &Constants) -> usize {
        others(&constants.g1, &self.g1) + others(&constants.g2, &self.g2)
    }
}

impl From<&plonk::ProvingKey> for Expected {
    fn from(key: &plonk::ProvingKey) -> Self {
        let key = key.verifying_key();
        Self { g1: key.get().fixed.clone(), g2: vec![key.get().tau] }
    }
}

impl From<&fflonk::ProvingKey> for Expected {
    fn from(key: &fflonk::ProvingKey) -> Self {
        let key = key.verifying_key();
        Self { g1: vec![key.get().c0], g2: vec![key.get().x_2] }
    }
}

/// Examines a contract's source.
pub(super) fn contract(
    text: &Text,
    circuit: Option<&Circuit>,
    key: Option<&groth16::ProvingKey>,
) -> Result<Audit> {
    let constants = Constants::of(&String::from_utf8_lossy(text.bytes()));
    let insecurity =
        insecurity(&constants).map_err(|problem| Error::malformed(Some(text.name()), problem))?;
    let of_tau = constants.g2.iter().find_map(ceremony_of_tau);
    let either_sign = constants.g1.iter().flat_map(|point| [*point, -*point]);
    let ceremony = of_tau.or_else(|| either_sign.into_iter().find_map(|alpha| ceremony_of_alpha(&alpha)));
    let is_groth16 = constants.g2.len() >= 3;
    if !is_groth16 && key.is_some() {
        return Err(Error::malformed(
            Some(text.name()),
            "a contract with a key of Groth16 has three points of G2",
        ));
    }
    let found = Audit { insecurity, ceremony, ..unknown("solidity") };
    if is_groth16 {
        return of_groth16(
            &constants,
            circuit,
            key,
            Audit { delta_is_compared: Some(key.is_some()), ..found },
        );
    }
    let Some(circuit) = circuit else { return Ok(found) };
    let expected = of_plonk(&constants, circuit)?;
    let other_points = Some(expected.as_ref().map_or(0, |expected| expected.others(&constants)));
    Ok(Audit { differs: expected.is_none().then_some(OTHER_CIRCUIT), other_points, ..found })
}

fn of_groth16(
    constants: &Constants,
    circuit: Option<&Circuit>,
    key: Option<&groth16::ProvingKey>,
    found: Audit,
) -> Result<Audit> {
    let fresh = circuit.map(Circuit::groth16).transpose()?.map(|key| key.verifying_key());
    let key = key.map(groth16::ProvingKey::verifying_key);
    let missing = |expected: &VerifyingKey, with_delta: bool| {
        let VerifyingKey { alpha_1, beta_2, gamma_2, delta_2, ic } = expected;
        // gamma of most keys is the generator, which many sources contain elsewhere, too.
        let is_key = |pair: &[_]| is_same(&pair[0], beta_2) && is_same(&pair[1], gamma_2);
        if !contains(&constants.g1, &[*alpha_1]) || !contains(&constants.g2, &[*beta_2]) {
            Some("alpha or beta: it is from other powers of tau")
        } else if !constants.g2.windows(2).any(is_key) {
            Some("gamma, which does not follow beta")
        } else if !contains(&constants.g1, ic) {
            Some("the points of the public signals")
        } else if !are_in_order(&constants.g1, ic) {
            Some("the order or the signs of the points of the public signals")
        } else {
            (with_delta && !contains(&constants.g2, &[*delta_2])).then_some("delta")
        }
    };
    let mut expected = Expected::default();
    for key in fresh.iter().chain(&key) {
        let VerifyingKey { alpha_1, beta_2, gamma_2, delta_2, ic } = key.get();
        expected.g1.extend(ic.iter().chain([alpha_1]));
        expected.g2.extend([beta_2, gamma_2, delta_2]);
    }
    let other_points = match (&fresh, &key) {
        (None, None) => None,
        // One of them is delta, which a circuit does not determine.
        (Some(_), None) => Some(expected.others(constants).saturating_sub(1)),
        _ => Some(expected.others(constants)),
    };
    Ok(Audit {
        differs: fresh.and_then(|fresh| missing(fresh.get(), false)),
        differs_from_key: key.and_then(|key| missing(key.get(), true)),
        other_points,
        ..found
    })
}

/// The points of the circuit's key in one of the systems with powers of tau only, if the contract has them.
fn of_plonk(constants: &Constants, circuit: &Circuit) -> Result<Option<Expected>> {
    let fflonk = fflonk::ProvingKey::setup(&circuit.circuit, &circuit.powers).map(|key| Expected::from(&key));
    // fflonk needs nine times as many powers, which are not there if the key is PLONK's.
    if let Ok(expected) = fflonk
        && expected.are_in(constants)
    {
        return Ok(Some(expected));
    }
    let mut expected = None;
    circuit.plonk(|fresh| {
        let of_key = Expected::from(fresh);
        let is_there = of_key.are_in(constants);
        expected = is_there.then_some(of_key);
        is_there
    })?;
    Ok(expected)
}

/// Why anyone can forge proofs for the contract's key, as far as its points show it; `Err` without points of G2, which every verifier has.
/// Those of Groth16 are beta, gamma and delta, in this order, once or for several keys.
fn insecurity(constants: &Constants) -> std::result::Result<Option<&'static str>, &'static str> {
    let is_generator = |point: &Affine<bn254::G2>| is_same(point, &bn254::G2::GENERATOR);
    let mut points = constants.g2.as_slice();
    if points.is_empty() {
        return Err(
            "found no points of a verification key: expected a verifier over BN254 that contains its key",
        );
    }
    if points.iter().any(Affine::is_infinity) {
        return Ok(Some("one of its points in G2 is infinity"));
    }
    // Older templates of snarkjs have the generator before the key, in code and again in a comment.
    while let [first, rest @ ..] = points
        && rest.len() >= 3
        && is_generator(first)
    {
        points = rest;
    }
    let [beta, _, _, ..] = points else {
        let known = points.iter().all(is_generator);
        return Ok(known.then_some("tau is known: nobody contributed to its powers of tau"));
    };
    if is_generator(beta) {
        return Ok(Some("alpha and beta are known: nobody contributed to its powers of tau"));
    }
    Ok(points.windows(2).find_map(|pair| match pair {
        [gamma, delta] if is_same(gamma, delta) => Some("delta equals gamma: nobody contributed to the key"),
        [gamma, delta] if are_small_multiples(gamma, delta) => {
            Some("one of delta and gamma is a small multiple of the other")
        }
        _ => None,
    }))
}

/// Whether all points but infinity are in a list in their order, all with the same sign, perhaps with others between them.
fn are_in_order<C: Curve>(list: &[Affine<C>], points: &[Affine<C>]) -> bool {
    let with_sign = |sign: fn(Affine<C>) -> Affine<C>| {
        let mut list = list.iter();
        points
            .iter()
            .filter(|point| !point.is_infinity())
            .all(|point| list.any(|other| *other == sign(*point)))
    };
    with_sign(|point| point) || with_sign(|point| -point)
}

fn is_same<C: Curve>(left: &Affine<C>, right: &Affine<C>) -> bool {
    [*left, -*left].contains(right)
}

/// Whether all points but infinity are in a list, with either sign.
fn contains<C: Curve>(list: &[Affine<C>], points: &[Affine<C>]) -> bool {
    points.iter().all(|point| point.is_infinity() || list.iter().any(|other| is_same(point, other)))
}

fn others<C: Curve>(list: &[Affine<C>], expected: &[Affine<C>]) -> usize {
    let is_expected = |point: &&Affine<C>| contains(expected, &[**point]) || is_same(*point, &C::GENERATOR);
    list.iter().filter(|point| !is_expected(point)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::bn254::G2;
    use proofmill_field::bn254::Fr;

    #[test]
    fn forgeable_keys_are_told_from_others() {
        let [one, two, three, five] = [1, 2, 3, 5].map(|factor| 1_000_003 * factor).map(multiple);
        let generator = G2::GENERATOR;
        let reason =
            |g2: &[Affine<G2>]| insecurity(&Constants { g1: vec![], g2: g2.to_vec() }).expect("points");
        let [delta, beta, other] = [7, 11, 13].map(|factor| multiple(factor * 982_451_653));
        for secure in [
            &[beta, generator, delta][..],
            &[generator, beta, generator, delta],
            &[generator, generator, beta, generator, delta],
            &[generator, -generator, generator, generator, beta, generator, delta],
            &[beta, generator, delta, beta, generator, other],
            &[beta, generator, delta, other],
            &[one, generator],
            &[two],
        ] {
            assert_eq!(reason(secure), None);
        }
        let [small, infinity] = [multiple(7), Affine::INFINITY];
        for (insecure, words) in [
            (&[beta, generator, generator][..], "equals gamma"),
            (&[beta, generator, -generator], "equals gamma"),
            (&[beta, delta, delta], "equals gamma"),
            (&[beta, two, one], "small multiple"),
            (&[beta, -three, one], "small multiple"),
            (&[beta, one, five], "small multiple"),
            (&[generator, beta, two, one], "small multiple"),
            (&[beta, generator, delta, beta, other, other], "equals gamma"),
            (&[generator, generator, delta], "alpha and beta"),
            (&[generator, generator, generator, generator, delta], "alpha and beta"),
            (&[small, generator, delta], "small multiple"),
            (&[beta, infinity, delta], "infinity"),
            (&[beta, generator, infinity], "infinity"),
            (&[generator, generator], "tau is known"),
            (&[-generator], "tau is known"),
        ] {
            let found = reason(insecure).expect("it is found");
            assert!(found.contains(words), "{words}: {found}");
        }
    }

    fn multiple(factor: u64) -> Affine<G2> {
        G2::GENERATOR.mul_vartime(&Fr::from(factor)).to_affine()
    }
}
