//! Contracts by any author: their points, and those of a key.

use super::{Audit, Ceremony, Circuit, OTHER_CIRCUIT, unknown};
use crate::{
    Error, Result,
    curve::{
        Affine, Curve,
        bn254::{G1, G2},
    },
    fflonk, groth16, plonk,
};
use proofmill_circom::Text;
use proofmill_groth16::{VerifyingKey, are_small_multiples};
use proofmill_solidity::{Contract, Form, Place, Role};
use std::collections::BTreeSet;

/// The most bytes of a source; a chain takes contracts of 24 576 bytes.
const LARGEST_SOURCE: usize = 1 << 21;

/// The most pairs of points that are compared in a source.
const MOST_PAIRS: usize = 1 << 12;

/// The points that a contract should have.
#[derive(Default)]
struct Expected {
    g1: Vec<Affine<G1>>,
    g2: Vec<Affine<G2>>,
}

impl Expected {
    fn are_in(&self, key: &Key) -> bool {
        contains(&key.g1, &self.g1) && contains(&key.g2, &self.g2)
    }

    /// The number of points of a contract other than these and the generators.
    fn others(&self, key: &Key) -> usize {
        others(&key.g1, &self.g1) + others(&key.g2, &self.g2)
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

/// The key of a contract, and all other points in its source.
struct Key {
    g1: Vec<Affine<G1>>,
    g2: Vec<Affine<G2>>,
    parts: Parts,
}

/// The parts of a key, by the names of their places.
enum Parts {
    /// Empty lists are parts that were not found. A contract for several keys has several points delta.
    Groth16 { alpha: Vec<Affine<G1>>, beta: Vec<Affine<G2>>, gamma: Vec<Affine<G2>>, delta: Vec<Affine<G2>> },
    /// The points of a key with powers of tau only: tau, perhaps with the generator.
    Powers(Vec<Affine<G2>>),
    /// A list of points whose parts are not named.
    Unknown,
}

impl Key {
    /// The key of a contract whose deltas may be in lists of these libraries, if it has one.
    fn of(contract: &Contract, libraries: &[&Contract]) -> Option<Self> {
        let places = &contract.places;
        let stored = g2_of(places, |place| place.form == Form::Stored);
        let parts = if has_roles(contract) {
            let with_role = |role| g2_of(places, |place| place.role() == Some(role));
            let [beta, gamma, mut delta] = [Role::Beta, Role::Gamma, Role::Delta].map(with_role);
            if delta.is_empty() {
                let lists = [contract].into_iter().chain(libraries.iter().copied());
                delta = lists.flat_map(|contract| g2_of(&contract.places, is_list)).collect();
            }
            let alpha = g1_of(places, |place| place.role() == Some(Role::Alpha));
            Parts::Groth16 { alpha, beta, gamma, delta }
        } else if stored.len() >= 3 && stored.len().is_multiple_of(3) {
            let every_third = |first: usize| stored.iter().skip(first).step_by(3).copied().collect();
            let alpha = g1_of(places, |place| place.form == Form::Stored);
            Parts::Groth16 { alpha, beta: every_third(0), gamma: every_third(1), delta: every_third(2) }
        } else {
            let points = g2_of(places, |place| place.form == Form::Stored || place.is_point);
            let has_g1 = others(&g1_of(places, |_| true), &[]) > 0;
            // A verifier pairs with both tau and the generator, which other sources have without a key, too.
            match (points.len(), others(&points, &[])) {
                (1 | 2, 1) | (2, 0) if has_g1 => Parts::Powers(points),
                _ if others(&g2_of(places, |_| true), &[]) > 0 => Parts::Unknown,
                _ => return None,
            }
        };
        let all = || [contract].into_iter().chain(libraries.iter().copied());
        let g1 = all().flat_map(|contract| g1_of(&contract.places, |_| true)).collect();
        let g2 = all().flat_map(|contract| g2_of(&contract.places, |_| true)).collect();
        Some(Self { g1, g2, parts })
    }

    /// The parts that were not found, without which nothing is known of a key.
    fn missing(&self) -> Vec<&'static str> {
        const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];
        let found = match &self.parts {
            Parts::Groth16 { alpha, beta, gamma, delta } => {
                [!alpha.is_empty(), !beta.is_empty(), !gamma.is_empty(), !delta.is_empty()]
            }
            Parts::Powers(_) => return Vec::new(),
            Parts::Unknown => [false; 4],
        };
        NAMES.into_iter().zip(found).filter(|(_, found)| !found).map(|(name, _)| name).collect()
    }

    /// The number of pairs of points that [`Self::insecurity`] compares.
    fn pairs(&self) -> usize {
        match &self.parts {
            Parts::Groth16 { beta, gamma, delta, .. } => {
                let [beta, gamma, delta] = [beta, gamma, delta].map(|points| distinct(points).len());
                (beta + gamma).saturating_mul(gamma + delta)
            }
            Parts::Powers(points) => points.len(),
            Parts::Unknown => 0,
        }
    }

    /// Why anyone can forge proofs, as far as the points show it.
    fn insecurity(&self) -> Option<&'static str> {
        let is_generator = |point: &Affine<G2>| is_same(point, &G2::GENERATOR);
        match &self.parts {
            Parts::Groth16 { beta, gamma, delta, .. } => {
                let [beta, gamma, delta] = [beta, gamma, delta].map(|points| distinct(points));
                let mut points = beta.iter().chain(&gamma).chain(&delta);
                let some_pair = |holds: fn(&Affine<G2>, &Affine<G2>) -> bool| {
                    gamma.iter().any(|gamma| delta.iter().any(|delta| holds(gamma, delta)))
                };
                if points.any(Affine::is_infinity) {
                    Some("one of its points in G2 is infinity")
                } else if beta.iter().any(is_generator) {
                    Some("alpha and beta are known: nobody contributed to its powers of tau")
                } else if some_pair(is_same) {
                    Some("delta equals gamma: nobody contributed to the key")
                } else if some_pair(are_small_multiples) {
                    Some("one of delta and gamma is a small multiple of the other")
                } else if beta
                    .iter()
                    .any(|beta| gamma.iter().chain(&delta).any(|other| are_small_multiples(beta, other)))
                {
                    Some("beta is a small multiple of gamma or delta, or they are of it")
                } else {
                    None
                }
            }
            Parts::Powers(points) => {
                let is_known = |point: &Affine<G2>| are_small_multiples(point, &G2::GENERATOR);
                if points.iter().any(Affine::is_infinity) {
                    Some("one of its points in G2 is infinity")
                } else if points.iter().all(is_generator) {
                    Some("tau is known: nobody contributed to its powers of tau")
                } else if points.iter().all(is_known) {
                    Some("tau is known: it is a small number")
                } else {
                    None
                }
            }
            Parts::Unknown => None,
        }
    }
}

/// The possible places of the deltas of a contract without deltas, by position: the libraries that it names, and the source outside of
/// contracts.
fn libraries_of(contract: &Contract, all: &[Contract]) -> BTreeSet<usize> {
    let has_list = |contract: &Contract| contract.places.iter().any(is_list);
    let has_delta =
        contract.places.iter().any(|place| place.role() == Some(Role::Delta) && !place.g2.is_empty());
    if !has_roles(contract) || has_delta || has_list(contract) {
        return BTreeSet::new();
    }
    let named = contract.names.iter().copied().chain([0]);
    named.filter(|library| all.get(*library).is_some_and(has_list)).collect()
}

/// Whether names in a contract tell parts of a key.
fn has_roles(contract: &Contract) -> bool {
    contract.places.iter().any(|place| match place.role() {
        Some(Role::Alpha) => !place.g1.is_empty(),
        Some(Role::Beta | Role::Gamma | Role::Delta) => !place.g2.is_empty(),
        None => false,
    })
}

/// Whether a place has a list of points whose parts are not named.
fn is_list(place: &Place) -> bool {
    matches!(place.form, Form::Named(_)) && place.role().is_none() && !place.is_point && !place.g2.is_empty()
}

fn g1_of(places: &[Place], which: impl Fn(&Place) -> bool) -> Vec<Affine<G1>> {
    places.iter().filter(|place| which(place)).flat_map(|place| place.g1.iter().copied()).collect()
}

fn g2_of(places: &[Place], which: impl Fn(&Place) -> bool) -> Vec<Affine<G2>> {
    places.iter().filter(|place| which(place)).flat_map(|place| place.g2.iter().copied()).collect()
}

/// The points of a list, each once.
fn distinct(points: &[Affine<G2>]) -> Vec<Affine<G2>> {
    let mut seen = BTreeSet::new();
    points.iter().filter(|point| seen.insert(point.to_evm())).copied().collect()
}

/// Examines the contracts of a source that have a key.
pub(super) fn contracts(
    text: &Text,
    circuit: Option<&Circuit>,
    key: Option<&groth16::ProvingKey>,
) -> Result<Vec<Audit>> {
    let malformed = |problem: String| Error::malformed(Some(text.name()), problem);
    if let Some(kind) = text.other_than_source() {
        return Err(malformed(format!("expected a key, or the source of a contract, found {kind}")));
    }
    if text.bytes().len() > LARGEST_SOURCE {
        let found = text.bytes().len();
        return Err(malformed(format!(
            "expected a contract of at most {LARGEST_SOURCE} bytes, found {found}"
        )));
    }
    let contracts = Contract::all(&String::from_utf8_lossy(text.bytes()));
    let libraries: Vec<_> = contracts.iter().map(|contract| libraries_of(contract, &contracts)).collect();
    let is_library = |position: usize| libraries.iter().any(|libraries| libraries.contains(&position));
    let (mut audits, mut pairs, mut fresh) = (Vec::new(), 0_usize, None);
    for (position, (contract, libraries)) in contracts.iter().zip(&libraries).enumerate() {
        let libraries: Vec<_> = libraries.iter().filter_map(|library| contracts.get(*library)).collect();
        let Some(found) = Key::of(contract, &libraries) else { continue };
        // The lists of other contracts' deltas are judged there.
        if matches!(found.parts, Parts::Unknown) && is_library(position) {
            continue;
        }
        pairs = pairs.saturating_add(found.pairs());
        if pairs > MOST_PAIRS {
            return Err(malformed("more points gamma and delta than can be compared".to_owned()));
        }
        let audit = Audit {
            contract: Some(contract.name.clone()),
            insecurity: found.insecurity(),
            ceremony: ceremony(&found),
            missing: found.missing(),
            ..unknown("solidity")
        };
        audits.push(compared(text, &found, circuit, key, &mut fresh, audit)?);
    }
    if audits.is_empty() {
        return Err(malformed(
            "found no points of a verification key: expected a verifier over BN254 that contains its key"
                .to_owned(),
        ));
    }
    Ok(audits)
}

fn ceremony(key: &Key) -> Option<Ceremony> {
    let mut either_sign = key.g1.iter().flat_map(|point| [*point, -*point]);
    match &key.parts {
        Parts::Powers(points) => {
            points.iter().flat_map(|point| [*point, -*point]).find_map(|tau| Ceremony::of_tau(&tau))
        }
        Parts::Groth16 { .. } | Parts::Unknown => either_sign.find_map(|alpha| Ceremony::of_alpha(&alpha)),
    }
}

/// An audit with the key of a contract compared. The circuit's key is made once.
fn compared(
    text: &Text,
    found: &Key,
    circuit: Option<&Circuit>,
    key: Option<&groth16::ProvingKey>,
    fresh: &mut Option<groth16::VerifyingKey>,
    audit: Audit,
) -> Result<Audit> {
    match &found.parts {
        Parts::Groth16 { beta, gamma, delta, .. } => {
            let deltas = Some(delta.len());
            let audit = Audit { delta_is_compared: Some(key.is_some()), deltas, ..audit };
            if !audit.missing.is_empty() {
                return Ok(audit);
            }
            if let (Some(circuit), None) = (circuit, &fresh) {
                *fresh = Some(circuit.groth16()?.verifying_key());
            }
            let key = key.map(groth16::ProvingKey::verifying_key);
            Ok(of_groth16(found, [beta, gamma, delta], fresh.as_ref(), key.as_ref(), audit))
        }
        Parts::Unknown => Ok(audit),
        Parts::Powers(_) if key.is_some() => Err(Error::malformed(
            Some(text.name()),
            "a contract with a key of Groth16 has three points of G2",
        )),
        Parts::Powers(_) => {
            let Some(circuit) = circuit else { return Ok(audit) };
            let expected = of_plonk(found, circuit)?;
            let other_points = Some(expected.as_ref().map_or(0, |expected| expected.others(found)));
            Ok(Audit { differs: expected.is_none().then_some(OTHER_CIRCUIT), other_points, ..audit })
        }
    }
}

fn of_groth16(
    found: &Key,
    [beta, gamma, delta]: [&[Affine<G2>]; 3],
    fresh: Option<&groth16::VerifyingKey>,
    key: Option<&groth16::VerifyingKey>,
    audit: Audit,
) -> Audit {
    let are_all =
        |points: &[Affine<G2>], expected: &Affine<G2>| points.iter().all(|point| is_same(point, expected));
    let differs = |expected: &VerifyingKey, with_delta: bool| {
        let VerifyingKey { alpha_1, beta_2, gamma_2, delta_2, ic } = expected;
        if !contains(&found.g1, &[*alpha_1]) || !are_all(beta, beta_2) {
            Some("alpha or beta: it is from other powers of tau")
        } else if !are_all(gamma, gamma_2) {
            Some("gamma")
        } else if !contains(&found.g1, ic) {
            Some("the points of the public signals")
        } else if !are_in_order(&found.g1, ic) {
            Some("the order or the signs of the points of the public signals")
        } else {
            (with_delta && !contains(delta, &[*delta_2])).then_some("delta")
        }
    };
    let mut expected = Expected::default();
    for key in fresh.into_iter().chain(key) {
        let VerifyingKey { alpha_1, beta_2, gamma_2, delta_2, ic } = key.get();
        expected.g1.extend(ic.iter().chain([alpha_1]));
        expected.g2.extend([beta_2, gamma_2, delta_2]);
    }
    let other_points = match (fresh, key) {
        (None, None) => None,
        // One of them is delta, which a circuit does not determine.
        (Some(_), None) => Some(expected.others(found).saturating_sub(1)),
        _ => Some(expected.others(found)),
    };
    Audit {
        differs: fresh.and_then(|fresh| differs(fresh.get(), false)),
        differs_from_key: key.and_then(|key| differs(key.get(), true)),
        other_points,
        ..audit
    }
}

/// The points of the circuit's key in one of the systems with powers of tau only, if the contract has them.
fn of_plonk(key: &Key, circuit: &Circuit) -> Result<Option<Expected>> {
    let fflonk = fflonk::ProvingKey::setup(&circuit.circuit, &circuit.powers).map(|key| Expected::from(&key));
    // fflonk needs nine times as many powers, which are not there if the key is PLONK's.
    if let Ok(expected) = fflonk
        && expected.are_in(key)
    {
        return Ok(Some(expected));
    }
    let mut expected = None;
    circuit.plonk(|fresh| {
        let of_key = Expected::from(fresh);
        let is_there = of_key.are_in(key);
        expected = is_there.then_some(of_key);
        is_there
    })?;
    Ok(expected)
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
    use proofmill_field::bn254::Fr;

    fn multiple<C: Curve<Scalar = Fr>>(factor: u64) -> Affine<C> {
        C::GENERATOR.mul_vartime(&Fr::from(factor)).to_affine()
    }

    /// The audits of a source.
    fn audits(source: &str) -> Result<Vec<Audit>> {
        contracts(&Text::from_bytes("verifier.sol", source.as_bytes().to_vec()), None, None)
    }

    fn in_g1(name: &str, point: &Affine<G1>) -> String {
        format!("uint256 constant {name}x = {}; uint256 constant {name}y = {};\n", point.x, point.y)
    }

    fn literal(point: &Affine<G2>) -> String {
        format!("[{}, {}], [{}, {}]", point.x.c1, point.x.c0, point.y.c1, point.y.c0)
    }

    /// A contract in the form of snarkjs's older template.
    fn verifier(name: &str, [beta, gamma, delta]: [&Affine<G2>; 3]) -> String {
        let alpha = multiple::<G1>(982_451_653);
        format!(
            "contract {name} {{ function verifyingKey() internal pure returns (VerifyingKey memory vk) {{
            vk.alfa1 = Pairing.G1Point({}, {}); vk.beta2 = Pairing.G2Point({});
            vk.gamma2 = Pairing.G2Point({}); vk.delta2 = Pairing.G2Point({}); }} }}\n",
            alpha.x,
            alpha.y,
            literal(beta),
            literal(gamma),
            literal(delta)
        )
    }

    /// The generator as in that template: in code, and again in a comment.
    fn pairing() -> String {
        let generator = literal(&G2::GENERATOR);
        format!(
            "library Pairing {{ function P2() internal pure returns (G2Point memory) {{ return G2Point({generator});
            /* return G2Point({generator}); */ }} }}\n"
        )
    }

    #[test]
    fn forgeable_keys_are_told_from_others() {
        let [one, two, three, five] = [1, 2, 3, 5].map(|factor| 1_000_003 * factor).map(multiple);
        let generator = G2::GENERATOR;
        let [delta, beta, other] = [7, 11, 13].map(|factor| multiple(factor * 982_451_653));
        let small = multiple(7);
        let infinity = Affine::INFINITY;
        for (key, words) in [
            ([beta, generator, delta], None),
            ([beta, delta, other], None),
            ([beta, generator, generator], Some("equals gamma")),
            ([beta, generator, -generator], Some("equals gamma")),
            ([beta, delta, delta], Some("equals gamma")),
            ([beta, two, one], Some("small multiple")),
            ([beta, -three, one], Some("small multiple")),
            ([beta, one, five], Some("small multiple")),
            ([generator, generator, delta], Some("alpha and beta")),
            ([small, generator, delta], Some("beta is a small multiple")),
            ([three, generator, one], Some("beta is a small multiple")),
            ([beta, generator, small], Some("small multiple")),
            ([beta, infinity, delta], Some("infinity")),
            ([beta, generator, infinity], Some("infinity")),
        ] {
            let points = key.each_ref();
            let named = pairing() + &verifier("Verifier", points);
            let coordinates = |Affine { x, y }: &Affine<G2>| [x.c1, x.c0, y.c1, y.c0];
            let alpha = multiple::<G1>(5);
            let values = [alpha.x, alpha.y].into_iter().chain(points.into_iter().flat_map(coordinates));
            let stored: String = values.map(|word| format!("mstore(0x80, {word})\n")).collect();
            let stored = format!("contract Verifier {{ function f() {{ assembly {{ {stored} }} }} }}");
            for source in [named, stored] {
                let found = audits(&source).expect("a key");
                let [Audit { contract, insecurity, missing, .. }] = &found[..] else { panic!("{found:?}") };
                assert_eq!((contract.as_deref(), missing.len()), (Some("Verifier"), 0), "{found:?}");
                match words {
                    None => assert_eq!(*insecurity, None, "{source}"),
                    Some(words) => {
                        assert!(insecurity.is_some_and(|found| found.contains(words)), "{words}: {source}")
                    }
                }
            }
        }
    }

    #[test]
    fn each_contract_is_judged() {
        let [beta, delta] = [11, 7].map(|factor| multiple(factor * 982_451_653));
        let generator = &G2::GENERATOR;
        let source = format!(
            "{}interface IVerifier {{}}\n{}{}",
            pairing(),
            verifier("First", [&beta, generator, &delta]),
            verifier("Second", [&beta, generator, generator])
        );
        let found = audits(&source).expect("keys");
        let found: Vec<_> =
            found.iter().map(|audit| (audit.contract.as_deref(), audit.insecurity.is_some())).collect();
        assert_eq!(found, [(Some("First"), false), (Some("Second"), true)]);
        // Without a key.
        for source in [pairing(), format!("contract C {{}} /* {} */", verifier("D", [generator; 3]))] {
            assert!(
                audits(&source).is_err_and(|error| error.to_string().contains("found no points")),
                "{source}"
            );
        }
    }

    #[test]
    fn parts_in_other_places_are_found_or_missed() {
        let [beta, delta, other] = [11, 7, 13].map(|factor| multiple(factor * 982_451_653));
        let whole = verifier("Verifier", [&beta, &G2::GENERATOR, &delta]);
        let from_list = whole.replace(&literal(&delta), "KEYS[depth][0], KEYS[depth][1]");
        let list = |deltas: &[Affine<G2>]| {
            let deltas: Vec<_> = deltas.iter().map(|delta| format!("[{}]", literal(delta))).collect();
            format!("uint256[2][2][] KEYS = [{}];", deltas.join(", "))
        };
        let in_contract = |list: &str| from_list.replacen('{', &format!("{{ {list}"), 1);
        let in_library = |list: &str| {
            let calls = from_list.replace("KEYS[depth]", "Keys.KEYS[depth]");
            format!("{} library Keys {{ {list} }} {calls}", pairing())
        };
        let one = |source: String| {
            let mut found = audits(&source).expect("a key");
            assert_eq!(found.len(), 1, "{source}");
            found.remove(0)
        };
        for place in [&in_contract as &dyn Fn(&str) -> String, &in_library] {
            let found = one(place(&list(&[delta, other])));
            assert_eq!((found.insecurity, found.missing.len(), found.deltas), (None, 0, Some(2)));
            let found = one(place(&list(&[delta, G2::GENERATOR])));
            assert!(found.insecurity.is_some_and(|reason| reason.contains("equals gamma")));
        }
        // In another file, as Semaphore's, and without the library's name.
        for source in
            [from_list.clone(), format!("{from_list} library Others {{ {} }}", list(&[delta, other]))]
        {
            let found = audits(&source).expect("a key");
            assert_eq!((found[0].insecurity, &found[0].missing[..]), (None, &["delta"][..]));
        }
        let found = one(format!("library Keys {{ {} }}", list(&[delta, other])));
        assert_eq!(found.missing, ["alpha", "beta", "gamma", "delta"]);
        // Names that say nothing.
        let found = one(whole.replace("beta2", "b").replace("gamma2", "c").replace("delta2", "d"));
        assert_eq!(found.missing, ["beta", "gamma", "delta"]);
        let found = one(whole
            .replace("alfa1", "a")
            .replace("beta2", "b")
            .replace("gamma2", "c")
            .replace("delta2", "d"));
        assert_eq!(found.missing.len(), 4);
    }

    #[test]
    fn keys_with_powers_of_tau_only_are_recognised() {
        let fixed = in_g1("Qm", &multiple(982_451_653));
        let in_g2 = |name: &str, point: &Affine<G2>| {
            let Affine { x, y } = point;
            [("x1", x.c0), ("x2", x.c1), ("y1", y.c0), ("y2", y.c1)]
                .map(|(suffix, value)| format!("uint256 constant {name}{suffix} = {value};"))
                .concat()
        };
        let generators = in_g1("G1", &G1::GENERATOR) + &in_g2("G2", &G2::GENERATOR);
        for (tau, reason) in [
            (multiple(1_000_003), None),
            (G2::GENERATOR, Some("tau is known: nobody contributed to its powers of tau")),
            (multiple(2), Some("tau is known: it is a small number")),
        ] {
            let found = audits(&format!("contract Plonk {{ {generators} {fixed} {} }}", in_g2("X2", &tau)));
            let found = found.expect("a key");
            assert_eq!((found[0].insecurity, found[0].missing.len()), (reason, 0));
        }
        assert!(audits(&format!("library Curve {{ {generators} {fixed} }}")).is_err());
    }
}
