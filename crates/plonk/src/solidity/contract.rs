//! The text of a contract around its formulas.

use super::{
    trace::{InputWord, Traced, record},
    yul::{Compiled, compile},
};
use crate::{
    Cell, Column, VerifyingKey,
    linearisation::{Known, Linearisation},
    summand::Challenges,
    summand::Parameters,
};
use proofmill_curve::{
    Affine, Curve,
    bn254::{G1, G2},
};
use proofmill_field::{Algebra, Invert, bn254::Fr};
use proofmill_solidity::{
    ARGUMENTS, Body, MEMORY, Verifier, coordinate_modulus, literal, scalar_modulus, word,
};

/// Words of memory at fixed addresses (first byte).
mod memory {
    pub(super) const ETA: usize = super::MEMORY;
    pub(super) const BETA: usize = 0xa0;
    pub(super) const GAMMA: usize = 0xc0;
    pub(super) const DELTA: usize = 0xe0;
    pub(super) const EPSILON: usize = 0x100;
    pub(super) const ALPHA: usize = 0x120;
    pub(super) const XI: usize = 0x140;
    pub(super) const V: usize = 0x160;
    pub(super) const U: usize = 0x180;
    /// `xi^n`.
    pub(super) const XI_N: usize = 0x1a0;
    pub(super) const FIRST_LAGRANGE: usize = 0x1c0;
    pub(super) const PUBLIC_INPUT: usize = 0x1e0;
    /// A sum of points, a point to add and its factor: 5 words.
    pub(super) const SUM: usize = 0x200;
    pub(super) const POINT: usize = 0x240;
    pub(super) const FACTOR: usize = 0x280;
    /// Two points of G1, each with one of G2: 12 words.
    pub(super) const PAIRS: usize = 0x2a0;
    /// Values of the formulas.
    pub(super) const VALUES: usize = 0x420;
}
use memory::*;

/// A part of a hash's input.
enum Part {
    /// The value of an expression.
    Word(String),
    /// A range of bytes of the arguments.
    Calldata { begin: usize, length: usize },
}

/// A point to add.
enum Source {
    Calldata(usize),
    Constant(Affine<G1>),
}

/// A contract under construction.
pub(super) struct Contract<'a> {
    key: &'a VerifyingKey,
    /// The witness columns, in the order of their commitments.
    rounds: [Vec<Column>; 3],
    program: Compiled,
    /// The columns in the sum of points; their factors are the first roots of the program.
    columns: Vec<Column>,
    /// The statements of the function.
    body: Body,
}

impl<'a> Contract<'a> {
    pub(super) fn new(key: &'a VerifyingKey) -> Self {
        let rounds = key.system.rounds();
        let mut contract =
            Self { key, rounds, program: compile(&[], &[], VALUES), columns: vec![], body: Body::default() };
        let ((columns, roots), nodes) = record(|| contract.factors());
        contract.columns = columns;
        contract.program = compile(&nodes, &roots, VALUES);
        contract
    }

    fn witness_columns(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// The first byte of point `index`.
    fn point(index: usize) -> usize {
        ARGUMENTS + 64 * index
    }

    /// The index of Wxi; Wxiw is the next and last one.
    fn opening(&self) -> usize {
        self.witness_columns() + self.key.system.parts()
    }

    fn evaluations_begin(&self) -> usize {
        Self::point(self.opening() + 2)
    }

    fn public_begin(&self) -> usize {
        self.evaluations_begin() + 32 * self.key.system.opened().len()
    }

    fn public(&self) -> usize {
        self.key.public as usize
    }

    /// The factors of the points in the sum that the pairing checks, as traced values: of columns, of the
    /// quotient's parts, of Wxi, of Wxiw, and of the generator, as in [`verify`](crate::verify).
    fn factors(&self) -> (Vec<Column>, Vec<Traced>) {
        let system = &self.key.system;
        let in_memory = |byte| Traced::input(InputWord::Memory(byte));
        let [xi, v, u, eta] = [XI, V, U, ETA].map(in_memory);
        let begin = self.evaluations_begin();
        let evaluations: Vec<Traced> = (0..system.opened().len())
            .map(|index| Traced::input(InputWord::Calldata(begin + 32 * index)))
            .collect();
        let known = Known {
            xi,
            xi_n: in_memory(XI_N),
            first_lagrange: in_memory(FIRST_LAGRANGE),
            public_input: in_memory(PUBLIC_INPUT),
        };
        let linearisation = Linearisation::of_values(system, &self.parameters(), known, &evaluations);
        let Linearisation { columns, quotient, constant } =
            linearisation.with_openings(system, &evaluations, v, u, eta);
        let root = Traced::constant(self.root());
        let (columns, factors): (Vec<Column>, Vec<Traced>) = columns.into_iter().unzip();
        let all = factors.into_iter().chain(quotient).chain([xi, u * xi * root, constant]);
        (columns, all.collect())
    }

    /// The parameters of the formulas, with challenges from memory.
    fn parameters(&self) -> Parameters<Traced> {
        let key = self.key;
        // Provides the constants and the number of powers.
        let pattern = key.system.parameters(&Challenges::default(), key.multipliers);
        let [eta, beta, gamma, delta, epsilon, alpha] =
            [ETA, BETA, GAMMA, DELTA, EPSILON, ALPHA].map(|byte| Traced::input(InputWord::Memory(byte)));
        let powers = std::iter::successors(Some(Traced::one(())), |power| Some(*power * alpha));
        let powers = powers.take(pattern.alpha.len()).collect();
        Parameters {
            beta,
            gamma,
            beta_multipliers: key.multipliers.map(|multiplier| beta * Traced::constant(multiplier)),
            eta,
            delta,
            epsilon,
            alpha: powers,
            ..pattern.map(Traced::constant)
        }
    }

    /// The domain's generator. A key that was checked has one.
    fn root(&self) -> Fr {
        Fr::root_of_unity(self.key.log_n).unwrap_or_default()
    }

    /// Where the input of a hash is assembled: after everything else.
    fn buffer(&self) -> usize {
        self.program.end
    }

    fn line(&mut self, line: impl Into<String>) {
        self.body.line(line);
    }

    fn text(&mut self, text: &str) {
        self.body.text(text);
    }

    fn store(&mut self, begin: usize, words: &[u8]) {
        self.body.store(begin, words);
    }

    /// The source of the contract.
    pub(super) fn source(mut self) -> String {
        self.check_arguments();
        self.line("if valid {");
        self.draw_challenges();
        self.evaluate_public_inputs();
        self.line("// The formulas of the circuit's constraints, at xi.");
        let statements = std::mem::take(&mut self.program.statements);
        statements.into_iter().for_each(|line| self.line(line));
        self.add_points();
        self.pair();
        self.line("}");
        let words = (self.public_begin() - ARGUMENTS) / 32;
        let mut arguments = vec![format!("uint256[{words}]")];
        if self.public() > 0 {
            arguments.push(format!("uint256[{}]", self.public()));
        }
        Verifier {
            name: "PlonkVerifier",
            system: "PLONK",
            insecurity: self.key.insecurity(),
            comment: self.comment(),
            arguments,
            body: self.body,
        }
        .source()
    }

    /// The comment that describes the arguments.
    fn comment(&self) -> Vec<String> {
        let columns = self.rounds.iter().flatten().map(Column::to_string);
        let parts = (1..=self.key.system.parts()).map(|part| format!("t{part}"));
        let points: Vec<String> = columns.chain(parts).chain(["Wxi".into(), "Wxiw".into()]).collect();
        let value = |cell: &Cell| format!("{}{}", cell.column, if cell.next { "'" } else { "" });
        let values: Vec<String> = self.key.system.opened().iter().map(value).collect();
        let mut comment = vec![
            "The first argument is a proof: two words x, y for each of the points".to_owned(),
            points.join(" "),
            "and then the values, at xi or (') at xi omega, of".to_owned(),
            values.join(" "),
        ];
        if self.public() > 0 {
            comment.push("The second one is the public inputs.".to_owned());
        }
        comment
    }

    /// Checks that numbers are below their moduli and points are on the curve. Otherwise a precompiled
    /// contract would fail, which costs the caller all gas.
    fn check_arguments(&mut self) {
        let (values, end) = (self.evaluations_begin(), self.public_begin() + 32 * self.public());
        let (r, q) = (scalar_modulus(), coordinate_modulus());
        self.text(&format!(
            "let r := {r}
            valid := 1
            {{
            let q := {q}
            for {{ let i := {ARGUMENTS} }} lt(i, {values:#x}) {{ i := add(i, 0x40) }} {{
            let x := calldataload(i)
            let y := calldataload(add(i, 0x20))
            let onCurve := eq(mulmod(y, y, q), addmod(mulmod(mulmod(x, x, q), x, q), 3, q))
            valid := and(valid, and(and(lt(x, q), lt(y, q)), or(onCurve, iszero(or(x, y)))))
            }}
            for {{ let i := {values:#x} }} lt(i, {end:#x}) {{ i := add(i, 0x20) }} {{
            valid := and(valid, lt(calldataload(i), r))
            }}
            }}"
        ));
    }

    /// Stores a challenge at `target`.
    fn challenge(&mut self, target: usize, parts: impl IntoIterator<Item = Part>) {
        let begin = self.buffer();
        let mut end = begin;
        for part in parts {
            match part {
                Part::Word(expression) => {
                    self.line(format!("mstore({end:#x}, {expression})"));
                    end += 32;
                }
                Part::Calldata { length: 0, .. } => {}
                Part::Calldata { begin, length } => {
                    self.line(format!("calldatacopy({end:#x}, {begin:#x}, {length:#x})"));
                    end += length;
                }
            }
        }
        let length = end - begin;
        self.line(format!("mstore({target:#x}, mod(keccak256({begin:#x}, {length:#x}), r))"));
    }

    /// Draws the challenges, from the same bytes as in [`Challenges`].
    fn draw_challenges(&mut self) {
        let key = self.key;
        let standard = key.system.is_standard();
        let [first, second, third] = [0, 1, 2].map(|round| self.round(round));
        let points = |begin: usize, count: usize| Part::Calldata { begin, length: 64 * count };
        let stored = |byte: usize| Part::Word(format!("mload({byte:#x})"));
        let public = Part::Calldata { begin: self.public_begin(), length: 32 * self.public() };
        let of_key: Vec<Part> = if standard {
            let words = key.fixed.iter().flat_map(Affine::<G1>::to_evm).collect::<Vec<u8>>();
            words.chunks(32).map(|bytes| Part::Word(word(bytes))).collect()
        } else {
            vec![Part::Word(literal(key.digest()))]
        };
        self.line("// The challenges.");
        let has_lookups = key.system.lookup().is_some();
        let before_first = of_key.into_iter().chain([public, first]);
        self.challenge(if has_lookups { ETA } else { BETA }, before_first);
        if has_lookups {
            self.challenge(BETA, [stored(ETA), second]);
        }
        self.challenge(GAMMA, [stored(BETA)]);
        let mut drawn = vec![stored(BETA), stored(GAMMA)];
        if has_lookups {
            self.challenge(DELTA, [stored(GAMMA)]);
            self.challenge(EPSILON, [stored(DELTA)]);
            drawn.extend([stored(DELTA), stored(EPSILON)]);
        }
        self.challenge(ALPHA, drawn.into_iter().chain([third]));
        let parts = points(Self::point(self.witness_columns()), key.system.parts());
        self.challenge(XI, [stored(ALPHA), parts]);
        let values =
            Part::Calldata { begin: self.evaluations_begin(), length: 32 * key.system.opened().len() };
        self.challenge(V, [stored(XI), values]);
        let openings = points(Self::point(self.opening()), 2);
        let before = (!standard).then(|| stored(V));
        self.challenge(U, before.into_iter().chain([openings]));
    }

    /// The commitments of a round.
    fn round(&self, round: usize) -> Part {
        let before = self.rounds.iter().take(round).map(Vec::len).sum();
        let count = self.rounds.get(round).map_or(0, Vec::len);
        Part::Calldata { begin: Self::point(before), length: 64 * count }
    }

    /// Computes `xi^n`, `L_1(xi)` and `PI(xi)`. One inversion of a product gives the inverses of all
    /// `xi - omega^i`.
    fn evaluate_public_inputs(&mut self) {
        let (begin, root) = (self.buffer(), self.root());
        let end = begin + 32 * self.public().max(1);
        let [inverse_root, inverse_size] = [root, Fr::from(1 << self.key.log_n)]
            .map(|value| literal(value.invert_vartime().unwrap_or_default()));
        self.text(&format!(
            "// L_1 and the public inputs' polynomial at xi; if xi is in the domain they say nothing.
            {{
            let xi := mload({XI:#x})
            let power := xi"
        ));
        for _ in 0..self.key.log_n {
            self.line("power := mulmod(power, power, r)");
        }
        let exponent = literal(-Fr::from(2));
        let root = literal(root);
        let input = match (self.public(), begin.checked_sub(self.public_begin())) {
            (0, _) => String::new(),
            (_, Some(distance)) => format!("sub(i, {distance:#x})"),
            (_, None) => format!("add(i, {:#x})", self.public_begin() - begin),
        };
        let add_input = match input.as_str() {
            "" => String::new(),
            input => format!("sum := addmod(sum, mulmod(lagrange, calldataload({input}), r), r)"),
        };
        let operands: Vec<String> = ["0x20", "0x20", "0x20", "product", exponent.as_str(), "r"]
            .iter()
            .enumerate()
            .map(|(index, value)| format!("mstore({:#x}, {value})", PAIRS + 32 * index))
            .collect();
        self.text(&format!(
            "mstore({XI_N:#x}, power)
            let vanishing := addmod(power, sub(r, 1), r)
            let product := 1
            let root := 1
            for {{ let i := {begin:#x} }} lt(i, {end:#x}) {{ i := add(i, 0x20) }} {{
            mstore(i, product)
            product := mulmod(product, addmod(xi, sub(r, root), r), r)
            root := mulmod(root, {root}, r)
            }}
            {operands}
            valid := staticcall(gas(), 5, {PAIRS:#x}, 0xc0, {PAIRS:#x}, 0x20)
            valid := and(valid, iszero(iszero(vanishing)))
            let inverse := mulmod(mload({PAIRS:#x}), mulmod(vanishing, {inverse_size}, r), r)
            let sum := 0
            for {{ let i := {end:#x} }} gt(i, {begin:#x}) {{ }} {{
            i := sub(i, 0x20)
            root := mulmod(root, {inverse_root}, r)
            let lagrange := mulmod(mulmod(inverse, mload(i), r), root, r)
            inverse := mulmod(inverse, addmod(xi, sub(r, root), r), r)
            {add_input}
            mstore({FIRST_LAGRANGE:#x}, lagrange)
            }}
            mstore({PUBLIC_INPUT:#x}, sub(r, sum))
            }}",
            operands = operands.join("\n"),
        ));
    }

    /// Adds a point times a factor to the sum.
    fn add_point(&mut self, source: &Source, factor: &str) {
        match source {
            Source::Constant(point) if point.is_infinity() => return,
            _ if factor == "0" => return,
            Source::Calldata(begin) => self.line(format!("calldatacopy({POINT:#x}, {begin:#x}, 0x40)")),
            Source::Constant(point) => {
                let bytes = point.to_evm();
                self.store(POINT, &bytes);
            }
        }
        self.line(match factor {
            "1" => "valid := and(plus(), valid)".to_owned(),
            _ => format!("valid := and(plusMultiple({factor}), valid)"),
        });
    }

    /// Sets the sum to infinity.
    fn clear_sum(&mut self) {
        self.store(SUM, &[0; 64]);
    }

    /// Copies the sum to the pairing's input.
    fn move_sum(&mut self, target: usize) {
        for offset in [0, 32] {
            self.line(format!("mstore({:#x}, mload({:#x}))", target + offset, SUM + offset));
        }
    }

    /// Computes the two sums of points.
    fn add_points(&mut self) {
        let key = self.key;
        self.text(&format!(
            "// Both openings: Wxi + u Wxiw, and what they are of.
            function plus() -> ok {{
            ok := staticcall(gas(), 6, {SUM:#x}, 0x80, {SUM:#x}, 0x40)
            }}
            function plusMultiple(factor) -> ok {{
            mstore({FACTOR:#x}, factor)
            ok := staticcall(gas(), 7, {POINT:#x}, 0x60, {POINT:#x}, 0x40)
            ok := and(plus(), ok)
            }}"
        ));
        let openings = [self.opening(), self.opening() + 1].map(|index| Source::Calldata(Self::point(index)));
        let [opening, shifted_opening] = &openings;
        self.clear_sum();
        self.add_point(opening, "1");
        self.add_point(shifted_opening, &format!("mload({U:#x})"));
        self.move_sum(PAIRS);
        self.clear_sum();
        let witness: Vec<Column> = self.rounds.iter().flatten().copied().collect();
        let source = |column: &Column| match witness.iter().position(|other| other == column) {
            Some(index) => Source::Calldata(Self::point(index)),
            None => Source::Constant(key.commitment(*column)),
        };
        let mut sources: Vec<Source> = self.columns.iter().map(source).collect();
        let parts = witness.len()..witness.len() + key.system.parts();
        sources.extend(parts.map(|index| Source::Calldata(Self::point(index))));
        sources.extend(openings);
        sources.push(Source::Constant(G1::GENERATOR));
        let factors = std::mem::take(&mut self.program.roots);
        for (source, factor) in sources.iter().zip(&factors) {
            self.add_point(source, factor);
        }
        self.move_sum(PAIRS + 192);
    }

    /// Checks `e(Wxi + u Wxiw, -tau G2) e(sum, G2) = 1`.
    fn pair(&mut self) {
        self.line("// The pairing.");
        self.store(PAIRS + 64, &(-self.key.tau).to_evm());
        self.store(PAIRS + 256, &G2::GENERATOR.to_evm());
        self.line(format!("valid := and(staticcall(gas(), 8, {PAIRS:#x}, 0x180, 0, 0x20), valid)"));
        self.line("valid := and(valid, eq(mload(0), 1))");
    }
}
