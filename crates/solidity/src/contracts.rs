//! The contracts in a source, and the points in each. The source may be from any template: snarkjs's, gnark's, Proofmill's.
//!
//! A verifier stores the points of its key as integers that follow each other. A pair of integers is taken for a point of G1, and
//! four integers for a point of G2, if they satisfy the curve's equation. Other numbers do so with a probability of 2^-254. The
//! name that a point is assigned to tells its role, as in `vk.delta2 = Pairing.G2Point(…)` or `constant deltax1 = …`.

use crate::tokens::{Lexeme, tokens};
use proofmill_curve::{
    Affine,
    bn254::{G1, G2},
};
use proofmill_field::{
    Field,
    bn254::{Fq, Fq2},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

/// The least number of digits of a coordinate among other integers: shorter ones are addresses, lengths and the like.
const LEAST_DIGITS: usize = 32;

/// The most tokens of an expression that is skipped: an index, or the address of an `mstore`.
const LONGEST_EXPRESSION: usize = 64;

/// Infinity in G2, as Ethereum encodes it.
const ZEROS: [Option<Fq>; 4] = [Some(Fq::ZERO); 4];

/// A contract, a library or an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The name; empty for what is outside of all contracts.
    pub name: String,
    /// The places with points, in the order of the source.
    pub places: Vec<Place>,
    /// The contracts that it names, such as libraries that it calls, by their positions in the list.
    pub names: BTreeSet<usize>,
}

/// Points that are written in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The form in which they are written.
    pub form: Form,
    /// Whether the place has the coordinates of one point, and nothing else.
    pub is_point: bool,
    /// The points of G1.
    pub g1: Vec<Affine<G1>>,
    /// The points of G2 that are in the subgroup. Four zeros are infinity where a point of G2 is expected: at a name with a role,
    /// and directly after another point of G2 or the first point of G1.
    pub g2: Vec<Affine<G2>>,
}

/// The form in which points are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Assigned to a variable or a constant of this name, which has dots but no indices. Constants for the coordinates of a point are one
    /// place, whose name lacks the coordinate.
    Named(String),
    /// Written to memory by `mstore` one after the other.
    Stored,
    /// Something else, such as the arguments of a call.
    Loose,
}

/// A part of a key of Groth16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In G1.
    Alpha,
    /// In G2.
    Beta,
    /// In G2.
    Gamma,
    /// In G2.
    Delta,
}

impl Role {
    /// The role that a name tells; the last one if it contains several.
    fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let words = [
            ("alpha", Self::Alpha),
            ("alfa", Self::Alpha),
            ("beta", Self::Beta),
            ("gamma", Self::Gamma),
            ("delta", Self::Delta),
        ];
        let found = words.iter().filter_map(|(word, role)| Some((name.rfind(word)?, *role)));
        found.max_by_key(|(at, _)| *at).map(|(_, role)| role)
    }
}

impl Place {
    /// The role by the name, if it has one.
    pub fn role(&self) -> Option<Role> {
        self.form.role()
    }
}

impl Form {
    fn role(&self) -> Option<Role> {
        match self {
            Self::Named(name) => Role::of(name),
            Self::Stored | Self::Loose => None,
        }
    }
}

impl Contract {
    /// The contracts of a source, in its order; what is outside of them comes first. Any text is taken, and needs up to 100 times its size in
    /// memory.
    pub fn all(source: &str) -> Vec<Self> {
        let parts = split(tokens(source));
        let positions: BTreeMap<String, usize> =
            parts.iter().enumerate().map(|(position, (name, _))| (name.clone(), position)).collect();
        let contract = |(name, tokens): (String, Vec<Lexeme<'_>>)| {
            let position = |token: &Lexeme<'_>| match token {
                Lexeme::Word(word) => positions.get(*word).copied(),
                _ => None,
            };
            let names = tokens.iter().filter_map(position).collect();
            Self { places: places(&tokens), name, names }
        };
        parts.into_iter().map(contract).collect()
    }
}

/// The tokens outside of contracts, under an empty name, and those inside of the braces of each.
fn split(tokens: Vec<Lexeme<'_>>) -> Vec<(String, Vec<Lexeme<'_>>)> {
    let (mut outside, mut contracts) = (Vec::new(), Vec::new());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_contract = matches!(token, Lexeme::Word("contract" | "library" | "interface"));
        match tokens.peek() {
            Some(Lexeme::Word(name)) if is_contract => {
                let name = (*name).to_owned();
                let mut depth = 0_usize;
                let inside =
                    tokens.by_ref().skip_while(|token| *token != Lexeme::Sign("{")).take_while(|token| {
                        match token {
                            Lexeme::Sign("{") => depth += 1,
                            Lexeme::Sign("}") => depth -= 1,
                            _ => {}
                        }
                        depth > 0
                    });
                contracts.push((name, inside.collect()));
            }
            _ => outside.push(token),
        }
    }
    contracts.insert(0, (String::new(), outside));
    contracts
}

/// A literal integer.
#[derive(Clone, Copy)]
struct Integer {
    /// `None` for what is no coordinate.
    value: Option<Fq>,
    is_long: bool,
}

impl Integer {
    fn of(literal: &str) -> Self {
        let literal = literal.replace('_', "");
        let digits = literal.strip_prefix("0x");
        let is_long = digits.unwrap_or(&literal).len() >= LEAST_DIGITS;
        match digits {
            Some(digits) => {
                let bytes = hex::decode(format!("{digits:0>64}")).unwrap_or_default();
                Self { is_long, ..Self::of_word(&bytes) }
            }
            None => Self { value: literal.parse().ok(), is_long },
        }
    }

    fn of_word(bytes: &[u8]) -> Self {
        let word = <&[u8; 32]>::try_from(bytes).ok();
        Self { value: word.and_then(|word| Fq::from_bytes_be(word).ok()), is_long: true }
    }

    fn is_zero(self) -> bool {
        self.value == Some(Fq::ZERO)
    }
}

/// The integers of a place.
struct Literals {
    form: Form,
    integers: Vec<Integer>,
}

/// The places in a contract that have points.
fn places(tokens: &[Lexeme<'_>]) -> Vec<Place> {
    // Whether a point of G2 may follow: after another one, and after the first point of all, which is alpha.
    let (mut in_key, mut has_g1) = (false, false);
    let place = |Literals { form, integers }: Literals| {
        let values: Vec<_> = integers.iter().map(|integer| integer.value).collect();
        let (mut g1, mut g2, mut is_point) = (Vec::new(), Vec::new(), false);
        if let (Form::Named(_), Some((point, []))) = (&form, in_g1(&values)) {
            (g1, is_point) = (vec![point], true);
        } else if let (Form::Named(_), Some((point, []))) = (&form, in_g2(&values)) {
            (g2, is_point) = (vec![point], true);
        } else if form.role().is_some() && values == ZEROS {
            (g2, is_point) = (vec![Affine::INFINITY], true);
        } else {
            in_key &= !matches!(form, Form::Named(_));
            let coordinates = coordinates(&integers);
            let mut rest = coordinates.as_slice();
            while let [_, others @ ..] = rest {
                (in_key, rest) = if let Some((point, rest)) = in_g2(rest) {
                    g2.push(point);
                    (true, rest)
                } else if let Some((point, rest)) = in_g1(rest) {
                    g1.push(point);
                    (!mem::replace(&mut has_g1, true), rest)
                } else if let (true, Some(rest)) = (in_key, rest.strip_prefix(&ZEROS)) {
                    g2.push(Affine::INFINITY);
                    (true, rest)
                } else {
                    (false, others)
                };
            }
        }
        Place { form, is_point, g1, g2 }
    };
    let places = merge(literals(tokens)).into_iter().map(place);
    places.filter(|place| !place.g1.is_empty() || !place.g2.is_empty()).collect()
}

/// Joins the coordinates of a point that are assigned one by one.
fn merge(all: Vec<Literals>) -> Vec<Literals> {
    let mut merged: Vec<Literals> = Vec::new();
    for literals in all {
        let point = match &literals.form {
            Form::Named(name) => without_coordinate(name).map(str::to_owned),
            Form::Stored | Form::Loose => None,
        };
        let Some(point) = point else {
            merged.push(literals);
            continue;
        };
        let form = Form::Named(point);
        match merged.last_mut() {
            Some(last)
                if last.form == form && last.integers.len() + literals.integers.len() <= ZEROS.len() =>
            {
                last.integers.extend(literals.integers);
            }
            _ => merged.push(Literals { form, ..literals }),
        }
    }
    merged
}

/// The name of a point whose coordinate has this name: `delta` of `deltax1`, `DELTA_NEG` of `DELTA_NEG_X_0`, `vk.delta2` of `vk.delta2.X`.
fn without_coordinate(name: &str) -> Option<&str> {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end_matches('_');
    let name = name.strip_suffix(['x', 'X', 'y', 'Y'])?.trim_end_matches(['_', '.']);
    (!name.is_empty()).then_some(name)
}

/// The integers in a contract by their places.
fn literals(tokens: &[Lexeme<'_>]) -> Vec<Literals> {
    let (mut scan, mut depth, mut position) = (Scan::default(), 0_usize, 0);
    while let Some(token) = tokens.get(position) {
        position += 1;
        match token {
            Lexeme::Word("mstore") => {
                let Some(value) = value_of_store(tokens, position) else { continue };
                position = value;
                if let Some([Lexeme::Number(number), Lexeme::Sign(")")]) = tokens.get(value..value + 2) {
                    scan.store(Integer::of(number));
                    position += 2;
                } else {
                    scan.begin(Form::Loose);
                    // The parenthesis that was skipped.
                    depth += 1;
                }
            }
            Lexeme::Sign("=") => {
                scan.drop_target();
                scan.begin(Form::Named(name_before(tokens, position - 1)));
            }
            Lexeme::Sign(":=") => scan.begin(Form::Named(name_before(tokens, position - 1))),
            Lexeme::Sign("(" | "[") => depth += 1,
            Lexeme::Sign(")" | "]") => depth = depth.saturating_sub(1),
            Lexeme::Sign(";") => scan.begin(Form::Loose),
            Lexeme::Sign("{" | "}") if depth == 0 => scan.begin(Form::Loose),
            Lexeme::Number(number) => scan.add([Integer::of(number)]),
            Lexeme::Bytes(bytes) => scan.add(bytes.chunks_exact(32).map(Integer::of_word)),
            Lexeme::Word(_) | Lexeme::Sign(_) => {}
        }
    }
    scan.all
}

/// Collects the integers of a contract.
#[derive(Default)]
struct Scan {
    all: Vec<Literals>,
    /// The form of the next integer if it begins a place; `None` if it belongs to the last place, which is not stored.
    next: Option<Form>,
}

impl Scan {
    fn begin(&mut self, form: Form) {
        self.next = Some(form);
    }

    fn add(&mut self, integers: impl IntoIterator<Item = Integer>) {
        let next = self.next.take();
        match (self.all.last_mut(), next) {
            (Some(last), None) if last.form != Form::Stored => last.integers.extend(integers),
            (_, next) => self.all.push(Literals {
                form: next.unwrap_or(Form::Loose),
                integers: integers.into_iter().collect(),
            }),
        }
    }

    fn store(&mut self, integer: Integer) {
        // What is between two stores without a literal does not separate them.
        match self.all.last_mut() {
            Some(last) if last.form == Form::Stored => last.integers.push(integer),
            _ => self.all.push(Literals { form: Form::Stored, integers: vec![integer] }),
        }
        self.next = Some(Form::Loose);
    }

    /// Forgets the integers of an assignment's left side: its type and its indices.
    fn drop_target(&mut self) {
        if self.next.is_none() && self.all.last().is_some_and(|last| last.form == Form::Loose) {
            self.all.pop();
        }
    }
}

/// The position of the second argument of the `mstore` before `position`.
fn value_of_store(tokens: &[Lexeme<'_>], position: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let arguments = tokens.iter().enumerate().skip(position).take(LONGEST_EXPRESSION);
    for (at, token) in arguments {
        match token {
            Lexeme::Sign("(") => depth += 1,
            Lexeme::Sign(")") => depth = depth.checked_sub(1)?,
            Lexeme::Sign(",") if depth == 1 => return Some(at + 1),
            _ => {}
        }
        if depth == 0 {
            return None;
        }
    }
    None
}

/// The variable that the assignment at `position` assigns to, without indices; empty if it is not a variable.
fn name_before(tokens: &[Lexeme<'_>], position: usize) -> String {
    let mut words = Vec::new();
    let (mut depth, mut is_complete) = (0_usize, false);
    for token in tokens.iter().take(position).rev().take(LONGEST_EXPRESSION) {
        match token {
            Lexeme::Sign("]") => depth += 1,
            Lexeme::Sign("[") if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            Lexeme::Word(word) if !is_complete => {
                words.push(*word);
                is_complete = true;
            }
            Lexeme::Sign(".") if is_complete => is_complete = false,
            _ => break,
        }
    }
    words.reverse();
    words.join(".")
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

/// The long integers of a place; `None` for those that are no coordinates. Zeros are left out, but four that follow each other, as infinity
/// has: templates write zero with any number of digits.
fn coordinates(integers: &[Integer]) -> Vec<Option<Fq>> {
    // The zeros since the last other integer.
    let (mut coordinates, mut zeros) = (Vec::new(), 0);
    for integer in integers {
        if integer.is_zero() {
            zeros += 1;
            if zeros % ZEROS.len() == 0 {
                coordinates.extend(ZEROS);
            }
            continue;
        }
        zeros = 0;
        if integer.is_long {
            coordinates.push(integer.value);
        }
    }
    coordinates
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;
    use proofmill_curve::Curve;
    use proofmill_field::bn254::Fr;

    fn multiple<C: Curve<Scalar = Fr>>(factor: u64) -> Affine<C> {
        C::GENERATOR.mul_vartime(&Fr::from(factor)).to_affine()
    }

    fn coordinates_of(point: &Affine<G2>) -> [String; 4] {
        [point.x.c1, point.x.c0, point.y.c1, point.y.c0].map(|coordinate| coordinate.to_string())
    }

    /// As in snarkjs's older templates.
    fn call(point: &Affine<G2>) -> String {
        let [x1, x0, y1, y0] = coordinates_of(point);
        format!("Pairing.G2Point([{x1},\n {x0}], [{y1}, uint256({y0})])")
    }

    /// As in snarkjs's newer templates.
    fn constants(name: &str, point: &Affine<G2>) -> String {
        let [x1, x0, y1, y0] = coordinates_of(point);
        [("x1", x1), ("x2", x0), ("y1", y1), ("y2", y0)]
            .map(|(suffix, value)| format!("uint256 constant {name}{suffix} = {value};\n"))
            .concat()
    }

    fn stores(words: &[String]) -> String {
        let store = |(index, word)| format!("mstore({:#x}, {word})\n", 128 + 32 * index);
        words.iter().enumerate().map(store).collect()
    }

    /// The roles of a contract's points in G2.
    fn roles(contract: &Contract) -> Vec<(Option<Role>, &[Affine<G2>])> {
        contract.places.iter().map(|place| (place.role(), place.g2.as_slice())).collect()
    }

    /// The points in G2 of the code of a contract.
    fn g2(code: &str) -> Vec<Affine<G2>> {
        let contracts = Contract::all(&format!("contract C {{ {code} }}"));
        contracts[1].places.iter().flat_map(|place| place.g2.clone()).collect()
    }

    #[test]
    fn points_have_the_roles_of_their_names() {
        let (alpha, [beta, gamma, delta]) = (multiple::<G1>(5), [7, 11, 13].map(multiple::<G2>));
        let older = format!(
            "vk.alfa1 = Pairing.G1Point({}, {}); vk.beta2 = {}; vk.gamma2 = {}; vk.delta2 = {};
            vk.IC = new Pairing.G1Point[](15);",
            alpha.x,
            alpha.y,
            call(&beta),
            call(&gamma),
            call(&delta)
        );
        let newer = format!(
            "uint256 constant r = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
            uint256 constant alphax = {}; uint256 constant alphay={}; {}{}{} uint16 constant pVk = 0;",
            alpha.x,
            alpha.y,
            constants("beta", &beta),
            constants("gamma", &gamma),
            constants("delta", &delta)
        );
        let gnark =
            newer.replace("alpha", "ALPHA_").replace("beta", "BETA_NEG_").replace("delta", "DELTA_NEG_");
        let [x1, x0, y1, y0] = coordinates_of(&delta);
        let by_coordinates = format!(
            "{} vk.delta2.X[0] = {x1}; vk.delta2.X[1] = {x0}; vk.delta2.Y = [{y1}, {y0}];",
            &older[..older.find("vk.delta2").expect("it is there")]
        );
        for code in [older, newer, gnark, by_coordinates] {
            let contracts =
                Contract::all(&format!("contract Verifier is A, B {{ function f() {{ {code} }} }}"));
            let expected = [
                (Some(Role::Alpha), &[][..]),
                (Some(Role::Beta), &[beta]),
                (Some(Role::Gamma), &[gamma]),
                (Some(Role::Delta), &[delta]),
            ];
            assert_eq!(contracts[1].name, "Verifier");
            assert_eq!(roles(&contracts[1]), expected, "{code}");
            assert_eq!(contracts[1].places[0].g1, [alpha]);
            assert!(contracts[1].places.iter().all(|place| place.is_point));
        }
    }

    #[test]
    fn contracts_are_separate() {
        let [first, second] = [3, 5].map(multiple::<G2>);
        let source = format!(
            "{}// contract No {{\nlibrary Points {{ function p() {{ return {}; }} }}
            abstract contract A is B {{ uint delta = {}; }} interface I {{}} contract B {{ f = Points.p; }}",
            constants("gamma", &first),
            call(&first),
            call(&second)
        );
        let contracts = Contract::all(&source);
        let names: Vec<_> = contracts.iter().map(|contract| contract.name.as_str()).collect();
        assert_eq!(names, ["", "Points", "A", "I", "B"]);
        assert_eq!(roles(&contracts[0]), [(Some(Role::Gamma), &[first][..])]);
        assert_eq!((&contracts[1].places[0].form, &contracts[1].places[0].g2), (&Form::Loose, &vec![first]));
        assert_eq!(roles(&contracts[2]), [(Some(Role::Delta), &[second][..])]);
        assert_eq!((contracts[3].places.len(), contracts[4].places.len()), (0, 0));
        assert_eq!(contracts[4].names, BTreeSet::from([1]));
    }

    #[test]
    fn keys_in_arrays_and_bytes_are_found() {
        let keys: Vec<(Affine<G2>, Affine<G1>)> = (2..5).map(|n| (multiple(n), multiple(7 * n))).collect();
        let lists = keys.iter().map(|(delta, ic)| {
            let [x1, x0, y1, y0] = coordinates_of(delta);
            format!("[[{x1},{x0}],[{y1},{y0}],[{},{}]]", ic.x, ic.y)
        });
        let list = format!("uint256[2][3][3] VK_POINTS = [{}];", lists.collect::<Vec<_>>().join(",\n"));
        let bytes: Vec<u8> =
            keys.iter().flat_map(|(delta, ic)| [&delta.to_evm()[..], &ic.to_evm()].concat()).collect();
        let rows: Vec<_> = bytes.chunks(48).map(|row| format!("hex\"{}\"", hex::encode(row))).collect();
        let bytes = format!("bytes private constant VK_POINTS =\n{};", rows.join("\n"));
        for code in [list, bytes] {
            let contracts = Contract::all(&format!("library L {{ {code} }}"));
            let [Place { form, is_point: false, g1, g2 }] = &contracts[1].places[..] else {
                panic!("{contracts:?}")
            };
            assert_eq!(*form, Form::Named("VK_POINTS".to_owned()));
            assert_eq!(*g2, keys.iter().map(|(delta, _)| *delta).collect::<Vec<_>>());
            assert_eq!(*g1, keys.iter().map(|(_, ic)| *ic).collect::<Vec<_>>());
        }
    }

    #[test]
    fn points_in_memory_are_found() {
        let (alpha, beta) = (multiple::<G1>(5), multiple::<G2>(7));
        let words = [alpha.to_evm().as_slice(), &beta.to_evm()].concat();
        let words: Vec<_> = words.chunks(32).map(|word| format!("0x{}", hex::encode(word))).collect();
        let (first, second) = words.split_at(2);
        let code = format!("{} mstore(add(p, 32), mod(sub(q, 5), q)) {}", stores(first), stores(second));
        for code in [stores(&words), code.replace("sub(q, 5)", "q")] {
            let contracts = Contract::all(&format!("contract C {{ assembly {{ {code} }} }}"));
            let expected = Place { form: Form::Stored, is_point: false, g1: vec![alpha], g2: vec![beta] };
            assert_eq!(contracts[1].places, [expected], "{code}");
        }
    }

    #[test]
    fn infinity_is_found_among_points() {
        let [beta, delta] = [5, 7].map(multiple::<G2>);
        let zeros = "Pairing.G2Point([0, 0], [0x00, uint256(0)])";
        let code = |gamma: &str| {
            format!("vk.beta2 = {}; vk.gamma2 = {gamma}; vk.delta2 = {};", call(&beta), call(&delta))
        };
        assert_eq!(g2(&code(zeros)), [beta, Affine::INFINITY, delta]);
        assert_eq!(g2(&constants("delta", &Affine { y: Fq2::ZERO, x: Fq2::ZERO })), [Affine::INFINITY]);
        // In memory, with different numbers of digits.
        let words = ["0", "0x00", "0", &format!("0x{}", "0".repeat(64))].map(str::to_owned);
        let words = [coordinates_of(&beta), words, coordinates_of(&delta)].concat();
        assert_eq!(g2(&stores(&words)), [beta, Affine::INFINITY, delta]);
        let (before, behind) = words.split_at(8);
        assert_eq!(
            g2(&format!("{} calldatacopy(0x2c0, 4, 0x40) {}", stores(before), stores(behind))).len(),
            3
        );
        // Four zeros elsewhere are none.
        assert_eq!(
            g2(&format!("vk.beta2 = {}; uint256[4] memory input = [0, 0, 0, 0];", call(&beta))),
            [beta]
        );
        assert_eq!(g2(&format!("vk.beta2 = {}; f(0, 1, 0, 0, 0);", call(&beta))), [beta]);
        // Points of G1 at infinity, after one that is not the first.
        let (alpha, input) = (multiple::<G1>(3), multiple::<G1>(4));
        let words = [&alpha.x, &alpha.y, &input.x, &input.y].map(ToString::to_string);
        let words = [&words[..], &["0", "0", "0", "0"].map(str::to_owned), &coordinates_of(&beta)].concat();
        assert_eq!(g2(&stores(&words)), [beta]);
    }

    #[test]
    fn sources_of_any_content_are_searched() {
        let brackets = "[".repeat(1 << 12) + "= mstore(" + &"mstore(".repeat(1 << 12);
        for source in [
            "",
            "0x",
            "0xzz",
            "contract {}",
            "contract A",
            "contract A { } } } uint delta =",
            &"9".repeat(100),
            &"é1".repeat(50),
            &"0x1".repeat(90),
            "= ; a.[0]. = 1; .=2; ]] = 3; hex\"00\" = 4",
            &brackets,
        ] {
            assert!(Contract::all(source).iter().all(|contract| contract.places.is_empty()), "{source}");
        }
    }
}
